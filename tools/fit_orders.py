"""Fits the weights of `policy/guard/order_score` on the texts of `tests/policy/orders`, and writes `order_weights.toml`.

    python tools/fit_orders.py                          # writes the weights; run tools/write_lexicon.py afterwards
    python tools/fit_orders.py --held sixth,seventh     # prints what weights find in parts that they are not fitted on

Logistic regression: the score of a text is that of its highest window, so the windows are chosen and the weights fitted
in turn. The weight of a sign is at least 0, that of a doubt at most 0. Small weights are left out.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.injection import pattern_in
from slowwave.policy.guard.order_score import windows_of
from slowwave.policy.guard.orders import flattened

ROOT = Path(__file__).parent.parent
TEXTS = ROOT / "tests" / "policy" / "orders"
TABLE = ROOT / "src" / "slowwave" / "policy" / "data" / "order_weights.toml"
PARTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
RIDGE = 4.0
"""The penalty of squared weights."""
HARMLESS = 1.5
"""The weight of a harmless text; that of an order is 1."""
LEAST_TEXTS = 4
"""Texts of which a sign must be one so that it has a weight."""
SHORT = 15
"""Characters of a paragraph that is passed over."""
SMALL = 0.05
STEPS = 250
ROUNDS = 4

Windows = list[frozenset[str]]
Floats = npt.NDArray[np.float64]


def read(part: str) -> list[tuple[bool, str]]:
    """The texts of a part, each with whether it is an order."""
    name = "" if part == "first" else f"_{part}"
    found = []
    for kind in ("orders", "lookalikes"):
        with (TEXTS / f"{kind}{name}.jsonl").open(encoding="utf-8") as lines:
            found += [(kind == "orders", json.loads(line)["text"]) for line in lines]
    return found


def harmless() -> list[str]:
    """The paragraphs of the documentation: much of it is about models, memories and instructions, and orders nothing."""
    pages = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "ARCHITECTURE.md"))]
    return [part for page in pages for part in page.read_text(encoding="utf-8").split("\n\n") if len(part) > SHORT]


def fit(bags: Sequence[Windows], wanted: Floats) -> dict[str, float]:
    """The weights of the signs, and of "" the constant."""
    counts = Counter(sign for bag in bags for sign in frozenset().union(*bag))
    names = sorted(sign for sign, count in counts.items() if count >= LEAST_TEXTS)
    chosen = [max(bag, key=len, default=frozenset()) for bag in bags]
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        weights = solve(chosen, wanted, names)
        chosen = [max(bag, key=lambda signs: total(signs, weights), default=frozenset()) for bag in bags]
    return weights


def total(signs: frozenset[str], weights: dict[str, float]) -> float:
    """The score of a window with these signs."""
    return weights[""] + sum(weights.get(sign, 0.0) for sign in signs)


def solve(chosen: Sequence[frozenset[str]], wanted: Floats, names: Sequence[str]) -> dict[str, float]:
    """The weights for one window of each text, by projected gradient descent with momentum."""
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(chosen), len(names) + 1))
    table[:, -1] = 1
    for row, signs in enumerate(chosen):
        table[row, [place[sign] for sign in signs if sign in place]] = 1
    importance = np.where(wanted == 1, 1.0, HARMLESS)
    low = np.array([-np.inf if name.startswith("doubt") else 0.0 for name in names] + [-np.inf])
    high = np.array([0.0 if name.startswith("doubt") else np.inf for name in names] + [np.inf])
    penalty = np.array([RIDGE] * len(names) + [0.0])
    step = 1 / (0.25 * HARMLESS * np.linalg.norm(table, 2) ** 2 + RIDGE)
    weights, ahead, momentum = np.zeros(len(low)), np.zeros(len(low)), 1.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-table @ ahead))
        moved = np.clip(ahead - step * (table.T @ (importance * (chance - wanted)) + penalty * ahead), low, high)
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead, weights, momentum = moved + (momentum - 1) / faster * (moved - weights), moved, faster
    return {name: float(weight) for name, weight in zip([*names, ""], weights, strict=True)}


def written(weights: dict[str, float]) -> str:
    """The table of weights, without small ones."""
    lines = [
        "# Written by `tools/fit_orders.py`: the weight of each sign of `policy/guard/order_score.py` in the score of a window.",
        "# H: a name that can be a person's (assistant, agent); S: one that cannot (chatbot). A doubt lowers the score.",
        f"constant = {weights['']:.2f}",
        "",
        "[weights]",
    ]
    kept = {name: weight for name, weight in weights.items() if name and abs(weight) >= SMALL}
    lines += [f'"{name}" = {weight:.2f}' for name, weight in sorted(kept.items(), key=lambda item: -item[1])]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fits the weights, or measures them on parts that are held back."""
    parser = argparse.ArgumentParser(description="Fits the weights of order_score.")
    parser.add_argument("--held", default="", help="parts to hold back, with commas")
    held = parser.parse_args().held.split(",")
    texts = {part: read(part) for part in PARTS}
    texts["documentation"] = [(False, text) for text in harmless()]
    bags = {part: [list(windows_of(flattened(folded(text)))) for _, text in found] for part, found in texts.items()}
    for out in held if held != [""] else [""]:
        used = [part for part in texts if part != out]
        wanted = np.array([is_order for part in used for is_order, _ in texts[part]], dtype=float)
        weights = fit([bag for part in used for bag in bags[part]], wanted)
        if not out:
            TABLE.write_text(written(weights), encoding="utf-8")
            continue
        scores = np.array([max((total(signs, weights) for signs in bag), default=-9.0) for bag in bags[out]])
        fired = np.array([pattern_in(text) is not None for _, text in texts[out]])
        orders = np.array([is_order for is_order, _ in texts[out]])
        for bonus in (0.0, 2.0, 2.5, 3.0):
            above = scores + bonus * fired
            rates = (f"{edge}: {(above[orders] > edge).mean():.2f}/{(above[~orders] > edge).mean():.2f}" for edge in (0.5, 1, 1.5, 2, 2.5))  # fmt: skip
            print(f"{out}, {bonus} for a pattern: ", *rates)


if __name__ == "__main__":
    main()
