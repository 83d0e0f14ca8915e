"""The time of `slowwave hook` for each event of a session, on stores of 1,000 and 10,000 messages.

    python bench/hooks.py [--rounds 9] [--sizes 1000 10000]

Each event is measured twice: "own" without a resident process (`hook_minutes` is 0), and "resident" with one. Wall time is to
the end of the process of the hook, because the agent waits for it. Processor time, user and system, is what a busy machine
disturbs less; it includes what the resident process used for the event. "start of the resident" is the processor time that it
uses before its first event. `import numpy` is measured in the same rounds, as a measure of the machine. The facts of the stored
messages are extracted before, and the process that a SessionEnd starts has ended before the next event. Bar: 300 ms wall for
each event with a resident process.
"""

import argparse
import json
import os
import resource
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from drivers.stub import note
from measuring import ONE_THREAD, save, spread, table, targets
from slowwave import AgentMemory, Message
from slowwave.hooks import channel
from slowwave.hooks.place import project_memory
from slowwave.hooks.processes import end_residents

PYTHON = sys.executable
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
BAR = 300.0
BASES = {"python -c pass": (PYTHON, "-c", "pass"), "import numpy": (PYTHON, "-c", "import numpy")}


def fill(store: Path, project: Path, size: int) -> None:
    """Create a file with a project of this many messages, of which nothing is unread."""
    with AgentMemory.open(store, embedder="static", llm=None) as opened:
        memory = project_memory(opened, project)
        for first in range(0, size, 1000):
            roles = ("user", "assistant")
            batch = [Message(role=roles[n % 2], content=note(n, 1000)) for n in range(first, min(size, first + 1000))]
            memory.add_messages(batch, f"agent/{first}")
        memory.consolidate_all(force=True)
        memory.sleep()


def event_of(name: str, session: str, turn: int, project: Path) -> str:
    return json.dumps(
        {
            "hook_event_name": name,
            "session_id": session,
            "cwd": str(project),
            "prompt_id": f"{session}-{turn}",
            "prompt": f"Which of my notes is about the kubernetes budget, topic {turn % 90}?",
            "last_assistant_message": f"The note about the budget is number {turn}, and it names kubernetes twice.",
            "source": "startup",
        }
    )


def once(command: tuple[str, ...], environment: dict[str, str], given: str = "") -> tuple[float, float]:
    """Milliseconds of wall time and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environment, check=True)
    wall = time.perf_counter() - start
    if done.stderr:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * wall, 1000 * spent


def resident_process(wait: float = 0.0) -> int | None:
    """The id of the resident process, None if there is none after so many seconds."""
    ends = time.monotonic() + wait
    while True:
        for path in Path(channel.folder()).glob(f"*{channel.SOCKET}"):
            with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                return int(struct.unpack("iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
        if time.monotonic() > ends:
            return None
        time.sleep(0.1)


def processor_ms(process: int | None) -> float:
    """User and system time of a process so far, 0 for none."""
    if process is None:
        return 0.0
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def quiet_ms(process: int) -> float:
    """The processor time of a process once it uses no more: 1 s without a change."""
    before, now = -1.0, 0.0
    while before != now:
        time.sleep(1)
        before, now = now, processor_ms(process)
    return now


def settle(store: Path, project: Path) -> None:
    """Wait until the process that extracts facts has read everything."""
    with AgentMemory.open(store, embedder="static", llm=None) as opened:
        memory = project_memory(opened, project)
        while any(memory.ports.store.unread(memory.scope).values()):
            time.sleep(0.2)


def measure(sizes: list[int], rounds: int) -> dict[str, dict[str, list[float]]]:
    """{what: {wall, cpu: one value per round}}, after one round that is not counted."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"wall_ms": [], "cpu_ms": []})
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(ONE_THREAD, SLOWWAVE_LLM="none")
    with tempfile.TemporaryDirectory() as folder:
        environment["XDG_RUNTIME_DIR"] = os.environ["XDG_RUNTIME_DIR"] = folder
        project = Path(folder, "project")
        project.mkdir()
        environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(folder, "bytecode")))
        stores = {size: Path(folder, f"{size}.db") for size in sizes}
        for size, store in stores.items():
            fill(store, project, size)
        for turn in range(rounds + 1):
            measured = {name: once(command, environment) for name, command in BASES.items()}
            for size, store in stores.items():
                for way, minutes in (("own", "0"), ("resident", "15")):
                    environment["SLOWWAVE_HOOK_MINUTES"] = minutes
                    events = session(store, project, environment, turn, stays=minutes != "0")
                    measured |= {f"{name}, {size:,} messages, {way}": figures for name, figures in events.items()}
            for name, (wall, cpu) in measured.items():
                if turn:
                    found[name]["wall_ms"].append(wall)
                    found[name]["cpu_ms"].append(cpu)
    return dict(found)


def session(
    store: Path, project: Path, environment: dict[str, str], turn: int, *, stays: bool
) -> dict[str, tuple[float, float]]:
    """Wall and processor time of each event of a session, after one event that starts the resident process."""
    command = (PYTHON, "-m", "slowwave", "hook", "--store", str(store))
    measured: dict[str, tuple[float, float]] = {}
    process = None
    if stays:
        start = time.perf_counter()
        measured["the event that starts it"] = once(
            command, environment, event_of(EVENTS[0], f"r{turn}", turn, project)
        )
        process = resident_process(wait=10)
        assert process, "no resident process"
        measured["start of the resident"] = 1000 * (time.perf_counter() - start), quiet_ms(process)
    for name in EVENTS:
        before = processor_ms(process)
        wall, cpu = once(command, environment, event_of(name, f"{'r' if stays else 's'}{turn}", turn, project))
        measured[name] = wall, cpu + processor_ms(process) - before
        assert resident_process() == process, f"another resident process after {name}"
    settle(store, project)
    end_residents()
    return measured


def show(found: dict[str, dict[str, list[float]]]) -> str:
    """Medians with their spread, the ratio of the processor times to that of numpy, and the bar."""
    numpy = statistics.median(found["import numpy"]["cpu_ms"])
    rows = [
        (
            name,
            spread(figures["wall_ms"]),
            spread(figures["cpu_ms"]),
            f"{statistics.median(figures['cpu_ms']) / numpy:.1f}×",
        )
        for name, figures in found.items()
    ]
    judged = {
        f"{name}, ms": (statistics.median(figures["wall_ms"]), "<=", BAR)
        for name, figures in found.items()
        if name.endswith("resident") and name.startswith(EVENTS)
    }
    heads = ("event", "wall ms", "processor ms", "of import numpy")
    return table(heads, rows) + "\n\n" + targets(judged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    given = parser.parse_args()
    found = measure(given.sizes, given.rounds)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n\n{show(found)}")
    print(f"\nsaved in {save('hooks', found)}")


if __name__ == "__main__":
    main()
