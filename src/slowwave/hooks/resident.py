"""The resident process: handles the events of one user's hooks from an open memory, and ends itself when it is idle.

`processes.start_resident` starts it. It prints nothing and writes no log. After any failure it ends, and the hook that waits
for it handles the event itself. Between two events it holds no lock of the store.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import InputError
from slowwave.hooks import channel
from slowwave.hooks.events import HookEvent, parse_event
from slowwave.hooks.hook import handle, respond
from slowwave.hooks.place import project_memory
from slowwave.hooks.processes import END, SERVERS, lock_file, store_address

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

REQUEST_SECONDS: Final = 0.5
"""How long a hook may take to send its event. It sends it as soon as it is connected."""
EVENT_SECONDS: Final = 60.0
"""How long one event may take. The operating system then ends the process, whatever it waits for."""
LOCK_SECONDS: Final = 5.0
"""How long it waits for the lock. The hooks that start it have the lock for a moment each."""
_LOCK_PAUSE: Final = 0.05
WAIT_LONGEST: Final = 86_400.0
"""Seconds of one wait for a hook: a socket takes no time-out of more than 24 days."""
_WAITING: Final = 8
"""Hooks that may wait while another event is handled."""
_REHEARSED: Final = ("Who owns the old ferry?", "I own the old ferry.", "The ferry of Odile sails on Mondays now.")

Stamp = tuple[int, ...]
"""What changes with a file: its device, inode, size and time."""


def main(words: list[str]) -> None:
    """Handle events until the process is idle for the time of the settings, or something has changed.

    Args:
        words: one argument, the task of `processes.start_resident` as JSON.
    """
    task = json.loads(words[0])
    if channel.address(task["options"]) != task["path"]:
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with bound(task["path"]) as server:
        if server is not None:
            _serve(server, task)


@contextmanager
def bound(path: str) -> Iterator[socket.socket | None]:
    """The only socket of a path, None if another process has it. The socket and its lock are removed at the end.

    It does not listen yet, so that a hook that connects is refused at once.
    """
    if not channel.is_private(str(Path(path).parent)):
        yield None
        return
    lock = _lock(path + channel.LOCK)
    if lock is None:
        yield None
        return
    try:
        Path(path).unlink(missing_ok=True)  # of a process that was killed
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            Path(path).chmod(0o600)
            yield server
    finally:
        for name in (path, path + channel.LOCK):
            with suppress(OSError):
                Path(name).unlink()
        os.close(lock)


def _lock(path: str) -> int | None:
    """The descriptor of a lock file that only this process has; None if another one keeps it."""
    ends = time.monotonic() + LOCK_SECONDS
    while (descriptor := lock_file(path)) is None:  # the process that starts this one has it for a moment
        if time.monotonic() > ends:
            return None
        time.sleep(_LOCK_PAUSE)
    with suppress(OSError):
        if Path(path).stat().st_ino == os.fstat(descriptor).st_ino:
            return descriptor
    os.close(descriptor)  # the process that ended has removed the file
    return None


class Watch:
    """Notices that files have changed: the code, the settings, the store. Files that exist no more count as changed."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp | None] = {}

    def include(self, paths: Iterable[str | Path]) -> None:
        """Watch more files from now on, whether they exist or not."""
        for path in map(str, paths):
            if path not in self._stamps:
                self._stamps[path] = _stamp(path)

    def include_code(self) -> None:
        """Watch the files of all modules that are loaded."""
        modules = [*sys.modules.values()]
        self.include(file for module in modules if isinstance(file := getattr(module, "__file__", None), str))

    @property
    def paths(self) -> Collection[str]:
        """The files that are watched."""
        return self._stamps.keys()

    def changed(self) -> bool:
        """Whether any of the files is another one, or has other content, than when it was included."""
        return any(_stamp(path) != stamp for path, stamp in self._stamps.items())


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - faster than pathlib, and each event asks for hundreds of files
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _serve(server: socket.socket, task: Mapping[str, Any]) -> None:
    """Open the memory, and handle events from it until nothing came for the time of the settings."""
    from slowwave import settings  # noqa: PLC0415 - after the socket exists: a second process ends at once
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - as above

    watch = Watch()
    watch.include([settings.file_path()])
    known = settings.read()
    watch.include(settings.vault_files(known))
    store = store_address(task["options"], known)
    with AgentMemory.open(store, create=False, **task["opening"]) as memory:
        project_memory(memory, Path(task["project"])).context(_REHEARSED[0], related_only=True)  # loads the index
        _rehearse()
        watch.include_code()
        handler = Handler(memory, task["options"], watch, store)
        server.listen(_WAITING)
        idle = 60 * known.hook_minutes
        ends = time.monotonic() + idle
        while not handler.ended and (remaining := ends - time.monotonic()) > 0:
            server.settimeout(min(remaining, WAIT_LONGEST))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            with connection:
                if handler.handle(connection):
                    ends = time.monotonic() + idle


def _rehearse() -> None:
    """Handle events in a memory in RAM, so that the modules and the patterns that events need are loaded before the first."""
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - as in `_serve`

    with AgentMemory.open(":memory:", scope="rehearsal", llm=None, embedder="none") as memory:
        for number, text in enumerate((*_REHEARSED, _REHEARSED[0])):
            for name in ("SessionStart", "UserPromptSubmit", "Stop"):
                session = str(number)
                handle(HookEvent(name=name, session=session, folder=Path("/"), prompt=text, reply=text), memory)


class Handler:
    """Handles what arrives on connections.

    Args:
        memory: the open memory of the user.
        options: those of the hooks.
        watch: the files on which answers depend.
        store: the address of the store.

    Attributes:
        ended: whether the process must end: something has changed, or it was asked to.
    """

    def __init__(self, memory: "AgentMemory", options: Mapping[str, str], watch: Watch, store: str) -> None:
        self.ended = False
        self._memory = memory
        self._options = options
        self._watch = watch
        self._file = None if store.startswith(SERVERS) else store
        self._state = self._store_state()

    def handle(self, connection: socket.socket) -> bool:
        """Answer one connection. Returns whether an event was handled.

        Raises:
            SlowwaveError: the event was taken and cannot be handled. The process ends, and the hook tries it itself.
        """
        try:
            request = channel.receive(connection, REQUEST_SECONDS) if channel.is_own(connection) else None
            if request is None:
                return False
            if request.get(END):
                connection.detach()  # the operating system closes it when the process has ended
                self.ended = True
                return False
            self.ended = self._watch.changed() or self._store_state() != self._state
            event, folder, turn = request.get("event"), request.get("folder"), request.get("turn")
            if self.ended or not (isinstance(event, str) and isinstance(folder, str) and isinstance(turn, str)):
                connection.sendall(channel.REFUSED)
                return False
            os.chdir(folder)  # relative paths of an event are those of its hook
            connection.sendall(channel.TAKEN)  # fails if the hook does not wait any more
        except (OSError, ValueError):  # ValueError: no folder can have this name
            return False
        signal.setitimer(signal.ITIMER_REAL, EVENT_SECONDS)
        reply = self._reply(event, turn)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.chdir("/")
        self._watch.include_code()
        with suppress(OSError):
            channel.send(connection, reply)
        return True

    def _reply(self, text: str, turn: str) -> dict[str, str]:
        """What the hook prints: on stdout the answer, on stderr why there is none."""
        try:
            answer = respond(parse_event(text, turn), lambda: nullcontext(self._memory), self._options)
        except InputError as error:
            return {"out": "", "err": f"slowwave: {error}\n"}
        return {"out": f"{answer}\n" if answer else "", "err": ""}

    def _store_state(self) -> tuple[object, ...]:
        """What changes if the file of the store is replaced, or another version of Slowwave migrates it."""
        if self._file is None:
            return ()
        stamp = _stamp(self._file)
        return stamp and stamp[:2], self._memory.ports.store.schema_state().version


if __name__ == "__main__":
    main(sys.argv[1:])
