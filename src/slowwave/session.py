"""MemorySession: the state of one open memory, which all methods and threads of its facade share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slowwave import forks
from slowwave.errors import ClosedError, InputError, NotFoundError, PortError
from slowwave.model.config import Config
from slowwave.model.names import checked_name
from slowwave.model.plan import Receipt
from slowwave.ports import Ports

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.background import BackgroundSleeper
    from slowwave.pipelines.sleep.compact_now import Background
    from slowwave.pipelines.sleep.night import SleepState
    from slowwave.pipelines.sleep.report import SleepReport

DEFAULT_CONVERSATION: Final = "default"
"""The conversation of messages that are stored before any conversation was named."""
NAMES_SHOWN: Final = 10
"""Names of conversations that an error lists."""


class MemorySession:
    """Holds the ports of an open memory, its background work, and what it remembers between two sleep passes.

    Threads may share a session. A forked child gets a sleep state, locks and connections of its own (`forks`).

    Args:
        ports: the store, mind, embedder, clock and config, for one scope.
        strict: raise PortError for a failure of a model or embedder, instead of reporting it in the result.
        parent: the session that owns the store, for a session with other ports of the same open store.
    """

    def __init__(self, ports: Ports, *, strict: bool = False, parent: "MemorySession | None" = None) -> None:
        self._ports = ports
        self._parent = parent
        self._strict = strict
        self._closed = False
        self.sleeper: BackgroundSleeper | None = None

    @property
    def ports(self) -> Ports:
        """The ports.

        Raises:
            ClosedError: the session was closed.
        """
        if self._closed or (self._parent is not None and self._parent._closed):  # noqa: SLF001 - of the same class
            raise ClosedError("this memory is closed: open it again with AgentMemory.open(...)")
        return self._ports

    @property
    def store_name(self) -> str:
        """The path or address of the store, also after the session was closed."""
        return self._ports.store.name

    @property
    def scope(self) -> str:
        """The scope, also after the session was closed."""
        return self._ports.scope

    @forks.CachedProperty
    def sleep_state(self) -> "SleepState":
        """What the session remembers between two sleep passes."""
        from slowwave.pipelines.sleep.night import SleepState

        return SleepState()

    @forks.CachedProperty
    def background(self) -> "Background":
        """The thread that writes summaries of conversations in the background."""
        from slowwave.pipelines.sleep.compact_now import Background

        return self._parent.background if self._parent is not None else Background()

    def view(self, ports: Ports) -> "MemorySession":
        """Another session of the same open store. Closing it leaves the store open."""
        return MemorySession(ports, strict=self._strict, parent=self._parent or self)

    def close(self) -> None:
        """Stop the background work and close the store. Idempotent."""
        if self._closed or self._parent is not None:
            self._closed = True
            return
        if self.sleeper:
            self.sleeper.stop()
        if "background" in vars(self):  # the cached property was used
            self.background.close()
        self._closed = True
        self._ports.store.close()

    def start_sleeper(self, pause: float) -> None:
        """Run a sleep pass every `pause` seconds on a thread of its own, until the session is closed."""
        from slowwave.pipelines.sleep.background import BackgroundSleeper

        self.sleeper = BackgroundSleeper(self._sleep_pass, pause)

    def replace_config(self, values: Mapping[str, object]) -> None:
        """Use these fields of Config from now on; the other fields stay as they are."""
        if values:
            current = {field.name: getattr(self._ports.config, field.name) for field in fields(Config)}
            self._ports = replace(self._ports, config=Config.from_mapping({**current, **values}))

    def conversation_name(self, name: str | None) -> str:
        """The checked name; for None the conversation written to last, else "default"."""
        if name is not None:
            return checked_name(name, "conversation", numbers=True)
        ports = self.ports
        names = (conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name)
        return next(names, DEFAULT_CONVERSATION)

    def check_conversation(self, name: str | None) -> None:
        """Raise NotFoundError for a conversation without messages; the error lists those that exist."""
        ports = self.ports
        if name is None or ports.store.conversation(ports.scope, name) is not None:
            return
        names = [conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name]
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        listed = ", ".join(map(repr, names[:NAMES_SHOWN])) + more
        verb = "is" if len(names) == 1 else "are"
        raise NotFoundError(f"no conversation {name!r} in scope {ports.scope}: there {verb} {listed or 'none'}")

    def after_write(self, receipt: Receipt) -> Receipt:
        """Run a sleep pass once `sleep_every_ingests` writes were stored; on the sleeper's thread if there is one."""
        from slowwave.pipelines.planning import with_notes

        ports = self.ports
        every = ports.config.sleep_every_ingests
        if every is None or not receipt.applied or ports.store.ingests(ports.scope) < every:
            return self.checked(receipt)
        if self.sleeper and self.sleeper.wake():
            return self.checked(receipt)
        report = self._sleep_pass()
        return self.checked(with_notes(receipt, notes=("slept",), problems=report.problems))

    def checked(self, receipt: Receipt) -> Receipt:
        """The receipt; a strict session raises its problems."""
        self.raise_if_strict(receipt.problems)
        return receipt

    def raise_if_strict(self, problems: Sequence[str]) -> None:
        """Raise PortError if the session is strict and there are problems."""
        if self._strict and problems:
            raise PortError("; ".join(problems))

    def _sleep_pass(self) -> "SleepReport":
        from slowwave.pipelines.sleep.night import sleep

        return sleep(self.ports.start_run(), self.sleep_state)


def refuse_unknown_arguments(unknown: Mapping[str, object], function: Callable[..., object]) -> None:
    """Raise InputError if there are unknown keyword arguments; it says where fields of Config belong."""
    if not unknown:
        return
    if {field.name for field in fields(Config)}.issuperset(unknown):
        values = ", ".join(f"{name}={value!r}" for name, value in unknown.items())
        raise InputError(f"{', '.join(unknown)} belongs to Config: pass config=Config({values})")
    parameters = signature(function).parameters.values()
    names = ", ".join(parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD)
    raise InputError(f"no argument {', '.join(unknown)}: use {names}, and config=Config(...) for fields of Config")


def refuse_open_store(path: str | Path) -> None:
    """Raise InputError if a path is a file of an open store, before it is opened as an ordinary file.

    Closing a second descriptor of the file would release every lock of this process on the store. Another process
    could then destroy the store's log.
    """
    from slowwave.stores.sqlite.identity import belongs_to_open_store

    if belongs_to_open_store(str(path)):
        raise InputError(f"{path} is the file of the open store: name another file to read")
