"""The start-up time of Slowwave compared with Python and numpy, and the number of installed packages.

    python bench/starting.py [--rounds 9]

Each command runs in a process of its own, rounds interleaved; wall time is to the first line of output (to the end
where there is none), processor time is what a busy machine disturbs least. Bars: `import slowwave` within 60 ms of
`python -c pass`; the first line of `slowwave recall` over 10,000 messages within three times `python -c "import numpy"`;
at most 45 packages.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from drivers.stub import note
from measuring import ONE_THREAD, number, save, spread, table, targets
from slowwave import AgentMemory, Message

MESSAGES = 10_000
PYTHON = sys.executable
COMMAND = str(Path(PYTHON).with_name("slowwave"))
COMMANDS = {
    "python -c pass": (PYTHON, "-c", "pass"),
    "import slowwave": (PYTHON, "-c", "import slowwave"),
    "import numpy": (PYTHON, "-c", "import numpy"),
    "import AgentMemory": (PYTHON, "-c", "from slowwave import AgentMemory"),
    "slowwave --version": (COMMAND, "--version"),
    "slowwave recall, 10 messages": (COMMAND, "recall", "kubernetes budget", "--scope", "small"),
    "slowwave recall, 10,000 messages": (COMMAND, "recall", "kubernetes budget", "--scope", "large"),
    "slowwave context, 10,000 messages": (COMMAND, "context", "kubernetes budget", "--scope", "large"),
}
FIRST = "slowwave recall, 10,000 messages, first after adding"
"""This command builds the index and stores it; later commands read it."""


def fill(store: Path) -> None:
    """Create a file with a small and a large scope."""
    for scope, size in (("small", 10), ("large", MESSAGES)):
        with AgentMemory.open(store, scope=scope, embedder="static", llm=None) as memory:
            for first in range(0, size, 1000):
                batch = [Message(role="user", content=note(n, 1000)) for n in range(first, min(size, first + 1000))]
                memory.add_messages(batch, "bench")
            memory.sleep()


def once(command: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds to the first line of output, and total processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wall = time.perf_counter() - start
        process.stdout.read()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * wall, 1000 * spent


def installed() -> int:
    """The number of packages of a default installation, Slowwave included, by the metadata of the installed packages."""
    seen: set[str] = set()
    waiting = ["slowwave"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        try:
            needed = requires(name) or ()
        except PackageNotFoundError:  # only for another system or Python version
            continue
        seen.add(name)
        waiting += [re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in needed if "extra ==" not in one]
    return len(seen)


def measure(rounds: int) -> dict[str, dict[str, list[float]]]:
    """{command: {wall, cpu: one value per round}}, after one round to warm the page cache; one value for FIRST."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"wall_ms": [], "cpu_ms": []})
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "memory.db")
        fill(store)
        environment = {**os.environ, **ONE_THREAD, "SLOWWAVE_STORE": str(store)}
        wall, cpu = once(COMMANDS["slowwave recall, 10,000 messages"], environment)
        found[FIRST] = {"wall_ms": [wall], "cpu_ms": [cpu]}
        for turn in range(rounds + 1):
            for name, command in COMMANDS.items():
                wall, cpu = once(command, environment)
                if turn:
                    found[name]["wall_ms"].append(wall)
                    found[name]["cpu_ms"].append(cpu)
    return dict(found)


def show(found: dict[str, dict[str, list[float]]], packages: int) -> str:
    """Print medians, ratios to numpy in the same round, and the targets."""
    numpy = found["import numpy"]
    rows = [
        (
            name,
            spread(figures["wall_ms"]),
            spread(figures["cpu_ms"]),
            f"{number(_over(figures['cpu_ms'], numpy['cpu_ms']))}×",
        )
        for name, figures in found.items()
    ]
    recall = found["slowwave recall, 10,000 messages"]
    more = [
        ours - python
        for ours, python in zip(found["import slowwave"]["wall_ms"], found["python -c pass"]["wall_ms"], strict=True)
    ]
    judged = {
        "import slowwave, more than python -c pass, ms": (statistics.median(more), "<=", 60.0),
        "first line of recall over import numpy, wall": (_over(recall["wall_ms"], numpy["wall_ms"]), "<=", 3.0),
        "recall over import numpy, processor time": (_over(recall["cpu_ms"], numpy["cpu_ms"]), "<=", 3.0),
        "packages of a default installation": (packages, "<=", 45.0),
    }
    heads = ("command", "first line, wall ms", "processor ms", "of import numpy")
    return table(heads, rows) + "\n\n" + targets(judged)


def _over(ours: list[float], floor: list[float]) -> float:
    return statistics.median(mine / other for mine, other in zip(ours, floor, strict=False))  # FIRST has one value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    found, packages = measure(parser.parse_args().rounds), installed()
    print(show(found, packages))
    print(f"\nsaved in {save('starting', {**found, 'packages': packages})}")


if __name__ == "__main__":
    main()
