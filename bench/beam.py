"""Evidence found on BEAM's chats with an assistant, by ability: R@10 and NDCG@10 over all messages, with their dates.

    SLOWWAVE_DATA=... python bench/beam.py [--sizes 100K 500K] [--embedder static] [--consolidate]

Chats 1 to 3 of 100K are the half on which the ranking is tuned; chats 4 and 5, and the chats of 500K, are the check.
A hit counts for each message that it rests on. Abstention has no evidence and is left out.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from measuring import save, table
from recall import FIGURES, Bench, Talk, beam

TUNED = 3
"""The number of chats of 100K on which the ranking is tuned."""
SHOWN = ("R@10", "NDCG@10")


def halves(size: str) -> dict[str, list[Talk]]:
    """The chats of a size by half; empty halves are left out."""
    chats = beam(size)
    if size != "100K":
        return {f"{size}, check": chats} if chats else {}
    named = {f"{size} 1-{TUNED}, tuned": chats[:TUNED], f"{size} {TUNED + 1}-, check": chats[TUNED:]}
    return {name: half for name, half in named.items() if half}


def measured(talks: Sequence[Talk], embedder: str, *, distil: bool) -> tuple[list[str], np.ndarray, float]:
    """The ability of each question, its figures in 0..1, and the median milliseconds of a search."""
    with tempfile.TemporaryDirectory() as folder:
        rows, spent = Bench(talks, Path(folder), embedder, distil=distil).ask()
    return [kind for talk in talks for kind in talk.kinds], rows, spent


def by_ability(kinds: Sequence[str], rows: np.ndarray) -> dict[str, dict[str, float]]:
    """R@10 and NDCG@10 in percent of all questions, and of each ability."""
    figures: dict[str, dict[str, float]] = {}
    for ability in ("all", *sorted(set(kinds))):
        own = rows[[ability in {"all", kind} for kind in kinds]]
        shares = {name: round(100 * float(own[:, FIGURES.index(name)].mean()), 1) for name in SHOWN}
        figures[ability] = {**shares, "questions": len(own)}
    return figures


def show(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """A table in Markdown: a row for each ability, R@10 / NDCG@10 for each half."""
    abilities = dict.fromkeys(ability for figures in found.values() for ability in figures)
    rows = [
        (
            ability,
            *(
                "/".join(str(figures[ability][name]) for name in SHOWN) if ability in figures else ""
                for figures in found.values()
            ),
        )
        for ability in abilities
    ]
    return table(("R@10/NDCG@10", *found), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["100K", "500K"], choices=["100K", "500K"])
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--consolidate", action="store_true", help="also distil facts from the chats")
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, float]]] = {}
    both: list[tuple[list[str], np.ndarray]] = []
    for size in options.sizes:
        for name, talks in halves(size).items():
            kinds, rows, spent = measured(talks, options.embedder, distil=options.consolidate)
            found[name] = by_ability(kinds, rows)
            found[name]["all"]["ms"] = round(spent, 2)
            if size == "100K":
                both.append((kinds, rows))
    if not found:
        print(f"skipped: SLOWWAVE_DATA={os.environ.get('SLOWWAVE_DATA', '')!r} has no beam")
        return
    if both:
        found["100K, all"] = by_ability(
            [kind for kinds, _ in both for kind in kinds], np.concatenate([r for _, r in both])
        )
    print(show(found))
    print(json.dumps({name: figures["all"] for name, figures in found.items()}))
    print(f"saved in {save('beam', found)}")


if __name__ == "__main__":
    main()
