"""The resident process of hooks, with real processes: same answers and same stores, and when it is not used."""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, Where
from slowwave.hooks import channel, delegate
from slowwave.hooks.events import parse_event
from slowwave.hooks.hook import handle
from slowwave.hooks.place import project_memory
from slowwave.hooks.processes import end_residents
from slowwave.hooks.resident import Watch, bound

pytestmark = pytest.mark.skipif(not channel.available(), reason="needs Unix sockets")
FACT = "My sister Odile owns the ferry, which sails on Mondays."
QUESTION = "When does the ferry of my sister sail?"


IMPOSSIBLE = (b'"/a\\u0000b"', b'"/a\\ud800b"', b'"/%s"' % (b"n" * 5000))
"""Names that no folder can have, as JSON."""


@dataclass
class Agent:
    """Calls hooks as a coding agent does.

    Args:
        project: the folder in which it works.
        store: the file of the memory.
        runtime: the folder of the sockets.
    """

    project: Path
    store: Path
    runtime: Path

    @property
    def options(self) -> dict[str, str]:
        return {"store": str(self.store), "embedder": "none", "llm": "none"}

    @property
    def address(self) -> str:
        return channel.address(self.options)

    def start(self, name: str, *, hold: bool = False, **fields: object) -> subprocess.Popen[str]:
        """Start a hook. With `hold` its input is not complete yet."""
        event = {"hook_event_name": name, "session_id": "s1", "cwd": str(self.project), "source": "startup", **fields}
        started = subprocess.Popen(
            [sys.executable, "-m", "slowwave", "hook", *(f"--{key}={value}" for key, value in self.options.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert started.stdin is not None
        started.stdin.write(json.dumps(event))
        if not hold:
            started.stdin.close()
            started.stdin = None
        return started

    def fire(self, name: str, **fields: object) -> tuple[str, str]:
        """What a hook printed on stdout and stderr."""
        return finish(self.start(name, **fields))

    def stay(self) -> int:
        """Start the resident process, and wait until it handles events. Returns its id."""
        started = self.start("Notification")
        process = until(self.resident)
        finish(started)
        assert process is not None
        return process

    def resident(self) -> int | None:
        """The id of the resident process, None if there is none."""
        for path in self.runtime.glob("*.sock"):
            with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                return struct.unpack("iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        return None

    def resident_after_event(self) -> int | None:
        """The id of the resident process. If there is none, an event starts it, but not within 20 seconds of the last start."""
        return self.resident() or (None if self.fire("Notification")[0] else self.resident())

    def told(self) -> list[tuple[str, str, str]]:
        """All messages of the project, with their conversation and role."""
        with AgentMemory.open(self.store, embedder="none", llm=None) as opened:
            memory = project_memory(opened, self.project)
            return [
                (name, message.role, message.content)
                for name in sorted(str(one.name) for one in memory.conversations())
                for message in memory.messages(name)
            ]


def finish(started: "subprocess.Popen[str]") -> tuple[str, str]:
    out, err = started.communicate(timeout=LONGEST)
    assert started.returncode == 0
    return out, err


def ended(process: int) -> bool:
    """Whether a process is gone, or only waits for its parent to notice that it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def agent(tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "15")
    project = tmp_path / "project"
    project.mkdir()
    store = tmp_path / "m.db"
    with AgentMemory.open(store, embedder="none", llm=None) as opened:
        memory = project_memory(opened, project)
        memory.add_message({"role": "user", "content": FACT}, "a")
    return Agent(project, store, runtime)


def _session(agent: Agent) -> list[tuple[str, str]]:
    """What the hooks of a session print, in which everything happens that an answer depends on."""
    answers = [
        agent.fire("SessionStart", session_id="s1"),
        agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1"),
        agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1"),
        agent.fire("Stop", last_assistant_message="On Mondays.\u2028Ahoj, příteli!", prompt_id="p1"),
        agent.fire("UserPromptSubmit", session_id="s2", prompt="I moved to Bergen.", cwd=str(agent.project / "..")),
        agent.fire("UserPromptSubmit", session_id="s2", prompt=QUESTION, cwd="."),
        agent.fire("Stop", session_id="", last_assistant_message="x"),
        agent.fire("Notification"),
        agent.fire("SessionEnd", session_id="s1"),
    ]
    for broken in ("", "[]", "no JSON"):
        words = [
            sys.executable,
            "-m",
            "slowwave",
            "hook",
            *(f"--{key}={value}" for key, value in agent.options.items()),
        ]
        done = subprocess.run(words, input=broken, capture_output=True, text=True, check=True)
        answers.append((done.stdout, done.stderr))
    return answers


def _given(ref: str | None) -> str:
    """The id of a message whose turn has an id of the agent; another turn has a random one."""
    return ref if ref is not None and ref.startswith("p") else ""


def _content(agent: Agent) -> list[tuple[str, ...]]:
    """Every message of the store with its scope, conversation, role, text and the id that the agent gave."""
    with AgentMemory.open(agent.store, embedder="none", llm=None, create=False) as opened:
        store = opened.ports.store
        return sorted(
            (scope.path, str(one.conversation), one.trust, one.text, _given(one.ref))
            for scope in store.scopes("", "", 100)
            for one in store.select([scope.path], Where(kinds=("message",)))
        )


def test_answers_and_stores_equal_those_of_a_process_of_its_own(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(agent, store=tmp_path / "own.db")
    shutil.copy(agent.store, own.store)
    process = agent.stay()
    delegated = _session(agent)
    assert agent.resident() == process
    monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "0")
    alone = _session(own)
    assert delegated == alone
    assert "sails on Mondays" in delegated[1][0]
    assert _content(agent) == _content(own)
    assert len(_content(agent)) == 5


def test_it_sees_what_others_write_and_they_see_what_it_writes(agent: Agent) -> None:
    process = agent.stay()
    with AgentMemory.open(agent.store, embedder="none", llm=None) as opened:
        memory = project_memory(opened, agent.project)
        memory.add_message({"role": "user", "content": "The lighthouse keeper is called Halvard."}, "b")
        told, _ = agent.fire("UserPromptSubmit", prompt="What is the lighthouse keeper called?", prompt_id="p1")
        assert "Halvard" in told
        assert [message.content for message in memory.messages("agent/s1")] == ["What is the lighthouse keeper called?"]
        receipt = memory.erase(text="Halvard")
        assert (receipt.verified, receipt.problems) == (True, ())
        told, _ = agent.fire("UserPromptSubmit", prompt="Who is the keeper of the lighthouse?", prompt_id="p2")
        assert "Halvard" not in told
    assert agent.resident() == process


def test_it_ends_when_it_is_idle_and_leaves_nothing_behind(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "0.05")
    process = agent.stay()
    until(lambda: ended(process))
    assert list(agent.runtime.iterdir()) == []


def test_none_is_started_if_the_setting_is_0(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "0")
    assert "sails on Mondays" in agent.fire("UserPromptSubmit", prompt=QUESTION)[0]
    assert not agent.runtime.exists()


def test_none_is_started_in_a_folder_that_is_switched_off(agent: Agent) -> None:
    (agent.project / ".no-slowwave").touch()
    assert agent.fire("UserPromptSubmit", prompt=QUESTION) == ("", "")
    assert not agent.runtime.exists()


def test_none_is_started_for_a_store_with_a_relative_path(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(agent.store.parent)
    relative = replace(agent, store=Path(agent.store.name))
    assert "sails on Mondays" in relative.fire("UserPromptSubmit", prompt=QUESTION)[0]
    assert not agent.runtime.exists()


def test_none_is_started_at_the_end_of_a_session(agent: Agent) -> None:
    assert agent.fire("SessionEnd") == ("", "")
    assert not agent.runtime.exists()


def test_a_folder_is_switched_off_while_it_runs(agent: Agent) -> None:
    process = agent.stay()
    (agent.project / ".no-slowwave").touch()
    assert agent.fire("UserPromptSubmit", prompt=QUESTION) == ("", "")
    assert agent.told() == [("a", "user", FACT)]
    assert agent.resident() == process


def test_a_long_time_of_the_settings_is_no_error(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "1e300")
    process = agent.stay()
    assert "sails on Mondays" in agent.fire("UserPromptSubmit", prompt=QUESTION)[0]
    assert agent.resident() == process


def test_it_ends_when_the_settings_change(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "slowwave.toml"
    settings.write_text("hook_minutes = 13\n")
    monkeypatch.setenv("SLOWWAVE_CONFIG", str(settings))
    first = agent.stay()
    settings.write_text("hook_minutes = 14\n")
    assert "sails on Mondays" in agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")[0]
    until(lambda: ended(first))
    assert agent.stay() != first
    assert agent.told() == [("a", "user", FACT), ("agent/s1", "user", QUESTION)]


def test_another_environment_has_another_process(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    first = agent.address
    monkeypatch.setenv("SLOWWAVE_SCOPE", "alice")
    assert agent.address != first
    monkeypatch.delenv("SLOWWAVE_SCOPE")
    monkeypatch.setenv("TERM_SESSION_ID", "w0t1")  # nothing of Slowwave depends on it
    assert agent.address == first


def test_it_ends_when_the_store_is_replaced(agent: Agent, tmp_path: Path) -> None:
    shutil.copy(agent.store, tmp_path / "copy.db")
    process = agent.stay()
    (tmp_path / "copy.db").replace(agent.store)
    agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")
    until(lambda: ended(process))
    assert agent.told() == [("a", "user", FACT), ("agent/s1", "user", QUESTION)]


def test_changed_removed_and_created_files_are_noticed(tmp_path: Path) -> None:
    for change in ("write", "remove", "create", "replace"):
        file = tmp_path / change
        if change != "create":
            file.write_text("old")
        watch = Watch()
        watch.include([file])
        assert not watch.changed()
        if change == "remove":
            file.unlink()
        elif change == "replace":
            (tmp_path / "new").write_text("old")
            (tmp_path / "new").replace(file)
        else:
            file.write_text("new text")
        assert watch.changed(), change


def test_the_files_of_loaded_modules_are_watched() -> None:
    watch = Watch()
    watch.include_code()
    assert {channel.__file__, json.__file__} <= set(watch.paths)


def test_two_hooks_at_once_start_one_process_and_lose_nothing(agent: Agent) -> None:
    prompts = [f"Prompt number {number} about the boat house." for number in range(4)]
    for _ in ("started by them", "handled by it"):
        running = [agent.start("UserPromptSubmit", prompt=prompt, prompt_id=prompt) for prompt in prompts]
        assert [finish(one)[1] for one in running] == [""] * len(prompts)
        until(agent.resident_after_event)
        assert len([*agent.runtime.glob("*.sock")]) == 1
    assert sorted(text for _, _, text in agent.told()) == sorted([FACT, *prompts])


def test_a_stopped_process_is_not_waited_for_and_stores_nothing_again(agent: Agent) -> None:
    process = agent.stay()
    os.kill(process, signal.SIGSTOP)
    try:
        answer, _ = agent.fire("UserPromptSubmit", prompt=QUESTION)  # without the id of a turn
    finally:
        os.kill(process, signal.SIGCONT)
    assert "sails on Mondays" in answer
    assert agent.fire("Stop", last_assistant_message="On Mondays.") == ("", "")
    assert agent.resident() == process
    assert agent.told()[1:] == [("agent/s1", "user", QUESTION), ("agent/s1", "assistant", "On Mondays.")]


def test_a_killed_process_is_replaced(agent: Agent) -> None:
    process = agent.stay()
    os.kill(process, signal.SIGKILL)
    until(lambda: ended(process))
    (lock,) = agent.runtime.glob("*.lock")
    os.utime(lock, (time.time() + 60,) * 2)  # it was started a short time ago
    assert "sails on Mondays" in agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")[0]
    assert agent.resident() is None
    os.utime(lock, (time.time() - 60,) * 2)
    assert agent.stay() != process
    assert len(agent.told()) == 2


@contextmanager
def _impostor(agent: Agent, answer: bytes, *, stays: bool = False) -> Iterator[list[bytes]]:
    """A process that listens in place of the resident one. Yields what it received.

    With `stays` it keeps the connection open until the end of the block.
    """
    agent.runtime.mkdir(mode=0o700, exist_ok=True)
    received: list[bytes] = []
    ends = threading.Event()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(agent.address)
        server.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        received.append(connection.recv(1 << 20))
                        connection.sendall(answer)
                        if stays:
                            ends.wait(LONGEST)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield received
        ends.set()
        server.shutdown(socket.SHUT_RDWR)
        thread.join(LONGEST)
    Path(agent.address).unlink()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        channel.REFUSED,
        b"garbage",
        channel.TAKEN + b"\x00\x00\x00\x02[]",
        channel.TAKEN + b"\x00\x00\x00\x02{}",
        channel.TAKEN + b"\x00\x00\x00\x0b" + b'{"out": "x"}',
        channel.TAKEN + b"\x00\x00\x00\x05\xff\xfe{}]",
        channel.TAKEN + b"\x00\x00\x00\x10{}",
        channel.TAKEN + b"\xff\xff\xff\xff{}",
    ],
)
def test_an_answer_that_is_not_whole_is_none(agent: Agent, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delegate, "TAKE_SECONDS", LONGEST)
    monkeypatch.setattr(delegate, "ANSWER_SECONDS", LONGEST)
    with _impostor(agent, answer) as received:
        assert delegate.ask(agent.address, b"{}") is None
    assert len(received) == 1


def test_a_hook_whose_resident_process_ends_in_the_middle_handles_its_event_itself(agent: Agent) -> None:
    with _impostor(agent, channel.TAKEN) as received:
        told, errors = agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")
    assert "sails on Mondays" in told
    assert errors == ""
    assert len(received) == 1
    assert agent.told()[1:] == [("agent/s1", "user", QUESTION)]


def test_an_event_without_an_id_is_stored_once_if_the_process_that_stored_it_ends_before_it_answers(
    agent: Agent,
) -> None:
    with _impostor(agent, channel.TAKEN) as received:
        agent.fire("UserPromptSubmit", prompt=QUESTION)
    sent = json.loads(received[0][4:])
    again = parse_event(sent["event"], sent["turn"])
    with AgentMemory.open(agent.store, embedder="none", llm=None) as opened:
        handle(again, project_memory(opened, agent.project))
    assert agent.told()[1:] == [("agent/s1", "user", QUESTION)]
    agent.fire("UserPromptSubmit", prompt=QUESTION)
    assert agent.told()[1:] == [("agent/s1", "user", QUESTION)] * 2, "a prompt that is repeated is another event"


def test_a_late_answer_is_reported_and_stops_nothing(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delegate, "TAKE_SECONDS", LONGEST)
    monkeypatch.setattr(delegate, "ANSWER_SECONDS", 0.2)
    with _impostor(agent, channel.TAKEN, stays=True):
        reply = delegate.ask(agent.address, b"{}")
    assert reply is not None
    assert reply["out"] == ""
    assert reply["err"].startswith("slowwave: no answer after")


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o720, 0o740, 0o701, 0o702, 0o704])
def test_a_folder_that_the_group_or_others_may_use_is_not_used(agent: Agent, mode: int) -> None:
    with _impostor(agent, channel.TAKEN) as received:
        agent.runtime.chmod(mode)
        told, _ = agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")
        assert "sails on Mondays" in told
        assert received == []
        agent.runtime.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(agent: Agent) -> None:
    with _impostor(agent, channel.TAKEN) as received:
        os.chown(agent.runtime, 12345, 12345)
        agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")
        assert received == []
        os.chown(agent.runtime, 0, 0)
    assert len(agent.told()) == 2


def test_a_link_to_a_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert channel.is_private(str(tmp_path / "folder"))
    assert not channel.is_private(str(tmp_path / "link"))
    assert not channel.is_private(str(tmp_path / "none"))


def test_a_process_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        assert channel.is_own(ours)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        assert not channel.is_own(ours)


def test_what_is_no_event_is_refused_and_the_process_goes_on(agent: Agent) -> None:
    process = agent.stay()
    frames = (
        b"[]",
        b'{"event": "a"}',
        b'{"event": 1, "folder": "/"}',
        b'{"event": "a", "folder": "/nowhere"}',
        *(b'{"event": "a", "turn": "t", "folder": %s}' % folder for folder in IMPOSSIBLE),
        b"\xff",
    )
    broken = (b"", b"garbage", b"\xff\xff\xff\xff", b"\x00\x00\x00\x03")
    for data in (*broken, *(len(frame).to_bytes(4, "big") + frame for frame in frames)):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LONGEST)
            connection.connect(agent.address)
            with suppress(ConnectionResetError):
                connection.sendall(data)
                assert connection.recv(1) in {b"", channel.REFUSED}, data
    assert "sails on Mondays" in agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")[0]
    assert agent.resident() == process


def test_an_event_in_an_impossible_folder_is_reported_and_the_process_goes_on(agent: Agent) -> None:
    process = agent.stay()
    for folder in IMPOSSIBLE:
        event = b'{"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "Hi", "cwd": %s}' % folder
        reply = delegate.ask(agent.address, event)
        assert reply == {"out": "", "err": "slowwave: the cwd of the event cannot be the name of a folder\n"}
    assert agent.resident() == process


def test_an_agent_that_reads_no_answer_gets_no_error(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    process = agent.stay()
    started = agent.start("UserPromptSubmit", prompt=QUESTION, prompt_id="p1", hold=True)
    assert started.stdout is not None
    assert started.stdin is not None
    started.stdout.close()
    started.stdin.close()
    assert started.wait(LONGEST) == 0
    assert started.stderr is not None
    with started.stderr:
        assert started.stderr.read() == ""
    assert agent.told()[1:] == [("agent/s1", "user", QUESTION)]
    assert agent.resident() == process


def test_a_very_long_prompt_is_stored_once(agent: Agent) -> None:
    process = agent.stay()
    prompt = "The boat house has a red door. " * (2 * channel.EVENT_LARGEST // 31)
    assert agent.fire("UserPromptSubmit", prompt=prompt, prompt_id="p1")[1] == ""
    assert agent.told()[1:] == [("agent/s1", "user", prompt)]
    assert agent.resident() == process


def test_no_words_of_a_person_are_outside_of_the_store(agent: Agent) -> None:
    process = agent.stay()
    agent.fire("UserPromptSubmit", prompt=QUESTION, prompt_id="p1")
    shown = Path(f"/proc/{process}/cmdline").read_bytes() + Path(f"/proc/{process}/environ").read_bytes()
    assert b"ferry" not in shown
    streams = {str(Path(f"/proc/{process}/fd/{number}").readlink()) for number in (0, 1, 2)}
    assert streams == {"/dev/null"}
    assert [path.read_bytes() for path in agent.runtime.glob("*.lock")] == [b"1"]
    assert {path.suffix for path in agent.runtime.iterdir()} == {".sock", ".lock"}
    assert {path.stat().st_mode & 0o777 for path in (agent.runtime, *agent.runtime.iterdir())} == {0o700, 0o600}


def test_removing_the_hooks_ends_it(agent: Agent, tmp_path: Path) -> None:
    process = agent.stay()
    patient = f"from slowwave.hooks import processes; processes.END_SECONDS = {LONGEST}; from slowwave.cli import main; main()"
    words = [sys.executable, "-c", patient, "install", "claude-code", "--home", str(tmp_path), "--uninstall"]
    dry = subprocess.run([*words, "--dry-run"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert agent.resident() == process, dry.stdout
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "ended the processes that handled hooks: 1" in done.stdout
    until(lambda: ended(process))
    assert list(agent.runtime.iterdir()) == []
    assert end_residents() == 0


def test_only_one_process_has_the_socket(runtime: Path) -> None:
    runtime.mkdir(mode=0o700)
    path = str(runtime / "a.sock")
    with bound(path) as first:
        assert first is not None
        with bound(path) as second:
            assert second is None
        assert Path(path).exists()
    assert list(runtime.iterdir()) == []
    with bound(path) as third:
        assert third is not None


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["hook"], {}),
        (["--scope", "alice", "hook", "--store=/a/m.db"], {"scope": "alice", "store": "/a/m.db"}),
        (["--scope", "a", "hook", "--scope", "b"], {"scope": "b"}),
        (["--scope", "hook", "hook"], {"scope": "hook"}),
        (["--scope", "hook"], None),
        (["hook", "hook"], None),
        (["hook", "--now", "2026-01-01"], None),
        (["hook", "--help"], None),
        (["hook", "--store"], None),
        (["hook", "--store="], None),
        (["add", "hook"], None),
        (["hook", "store=/a"], None),
        ([], None),
    ],
)
def test_only_plain_calls_of_a_hook_are_passed_on(words: list[str], options: dict[str, str] | None) -> None:
    assert delegate.hook_options(words) == options


def test_a_hook_that_is_passed_on_loads_light_modules_only(agent: Agent) -> None:
    program = (
        f"import sys; from slowwave.hooks import delegate; delegate.TAKE_SECONDS = {LONGEST}; "
        f"from slowwave.cli import main; sys.argv = ['slowwave', 'hook', *{[f'--{key}={value}' for key, value in agent.options.items()]}]; "
        "main(); sys.stderr.write(' '.join(sys.modules))"
    )
    event = json.dumps({"hook_event_name": "Stop", "session_id": "s1", "cwd": str(agent.project)})
    answer = json.dumps({"out": "", "err": ""}).encode()
    with _impostor(agent, channel.TAKEN + len(answer).to_bytes(4, "big") + answer) as received:
        done = subprocess.run([sys.executable, "-c", program], input=event, capture_output=True, text=True, check=True)
    assert len(received) == 1
    loaded = set(done.stderr.split())
    assert "slowwave.hooks.delegate" in loaded
    assert not loaded & {
        "numpy",
        "click",
        "apsw",
        "pathlib",
        "slowwave.settings",
        "slowwave.agent_memory",
        "subprocess",
    }
