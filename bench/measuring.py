"""Shared code of the benchmarks: results as JSON, medians with their spread, tables, and the description of the machine."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def machine() -> dict[str, object]:
    """The machine, versions and load that the figures come from."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def save(name: str, result: object) -> Path:
    """Write a result as JSON to the results folder, which is not part of the repository."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), "result": result}, indent=1) + "\n", encoding="utf-8")
    return path


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def number(value: float) -> str:
    """A number with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.0005 else "0"


def spread(values: Sequence[float]) -> str:
    """The median, with the lowest and highest value if there are several."""
    middle = number(statistics.median(values))
    return middle if len(values) < 2 else f"{middle} ({number(min(values))}–{number(max(values))})"


def milliseconds(action: Callable[[], object]) -> float:
    """The time of one call."""
    start = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - start)


def median_ms(action: Callable[[], object], rounds: int) -> float:
    """The median time of several calls."""
    return statistics.median(milliseconds(action) for _ in range(rounds))


def syncs_per_s(folder: Path, rounds: int = 100) -> float:
    """The present number of 4 kB appends with fdatasync per second on this disk."""
    path = folder / "syncs"
    with path.open("wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(rounds):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
        spent = time.perf_counter() - start
    path.unlink()
    return rounds / spent


def data(*parts: str) -> Path | None:
    """A file or folder below SLOWWAVE_DATA, or None if it does not exist."""
    root = os.environ.get("SLOWWAVE_DATA")
    path = Path(root, *parts) if root else None
    return path if path is not None and path.exists() else None


def targets(judged: Mapping[str, tuple[float, str, float]]) -> str:
    """A table of measurements and their targets: {name: (measured, "<=" or ">=", target)}."""
    rows = []
    for name, (measured, sign, target) in judged.items():
        met = measured <= target if sign == "<=" else measured >= target
        rows.append((name, number(measured), f"{sign} {number(target)}", "yes" if met else "**no**"))
    return table(("what", "measured", "target", "met"), rows)
