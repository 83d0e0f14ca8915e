"""Fits the weights of `policy/guard/order_words` by logistic regression and writes `policy/data/order_words.json`.

    python tools/fit_orders.py          # writes the table
    python tools/fit_orders.py --folds  # prints what is found in texts of authors that the weights are not fitted on

The texts are those of `tools/data/orders.jsonl`, which authors of this project wrote in fourteen parts (orders to a model, texts
that look like them, answers of assistants), and as harmless ones the documentation of this project and of Python, long
passages of the descriptions of every second installed package, and the conversations of one question of LongMemEval_S (MIT
licence), which are read from `SLOWWAVE_DATA`. Of a long text the passage with the highest score is fitted, so passages are
chosen and weights fitted in turn.
"""

import argparse
import json
import os
import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.injection import EDGE, passages
from slowwave.policy.guard.order_words import SCALE, USUAL, features

ROOT: Final = Path(__file__).parent.parent
TEXTS: Final = ROOT / "tools" / "data" / "orders.jsonl"
TABLE: Final = ROOT / "src" / "slowwave" / "policy" / "data" / "order_words.json"
LEAST_TEXTS: Final = 4
"""Texts that must have a feature so that it has a weight."""
RIDGE: Final = 0.05
"""The penalty of squared weights."""
HARMLESS: Final = 3.0
"""The weight of a harmless text; that of an order is 1."""
STEPS: Final = 200
ROUNDS: Final = 3
SHORT: Final = 15
"""Characters of a paragraph that is passed over."""
Floats = npt.NDArray[np.float64]
Features = tuple[list[int], int]


class Text(NamedTuple):
    """A text with the part that its author wrote, whether it is an order, and the features of its passages."""

    part: str
    is_order: bool
    passages: list[Features]


def texts() -> list[Text]:
    """All texts."""
    rows = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    found = [(row["part"], row["order"], row["text"]) for row in rows]
    found += [(f"harmless {number % 10}", False, text) for number, text in enumerate(harmless())]
    found += [(f"talk {number % 10}", False, text) for number, text in enumerate(talk())]
    return [
        Text(part, is_order, [features(words) for words in passages(folded(text))]) for part, is_order, text in found
    ]


def talk() -> list[str]:
    """The messages of the conversations of LongMemEval, each line of a long one as a text of its own."""
    path = Path(os.environ.get("SLOWWAVE_DATA", "")) / "longmemeval-single" / "longmemeval_single.json"
    if not path.exists():
        sys.exit(f"set SLOWWAVE_DATA to the folder that has {path.parent.name}/{path.name}")
    questions = json.loads(path.read_text(encoding="utf-8"))
    said = [message["content"] for each in questions for session in each["haystack_sessions"] for message in session]
    parts = [part for text in said for part in text.split("\n\n")]
    return [part for part in dict.fromkeys((*said, *parts)) if len(part) > SHORT]


def harmless() -> list[str]:
    """Paragraphs of documentation, and long passages of the descriptions of every second installed package."""
    pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
    found = [part for page in pages for part in page.read_text(encoding="utf-8").split("\n\n")]
    found += [part for topic in topics.values() for part in re.split(r"\n\s*\n", topic)]
    for package in sorted({package.name for package in metadata.distributions() if package.name != "slowwave"})[::2]:
        text = metadata.metadata(package).get_payload()
        parts = re.split(r"\n\s*\n", text if isinstance(text, str) else "")
        found += ["\n\n".join(parts[start : start + 4]) for start in range(0, len(parts), 4)]
    return [part for part in dict.fromkeys(found) if len(part) > SHORT]


def fit(found: Sequence[Text]) -> tuple[float, dict[int, float]]:
    """The constant and the weight of each feature."""
    wanted = np.array([text.is_order for text in found], dtype=float)
    chosen = [max(text.passages, key=lambda each: each[1]) for text in found]
    constant, weights = solve(chosen, wanted)
    for _ in range(ROUNDS - 1):
        chosen = [max(text.passages, key=lambda each: score(each, constant, weights)) for text in found]
        constant, weights = solve(chosen, wanted)
    return constant, weights


def solve(chosen: Sequence[Features], wanted: Floats) -> tuple[float, dict[int, float]]:
    """The weights for one passage of each text, by gradient descent with Nesterov's momentum."""
    counts = Counter(feature for each, _ in chosen for feature in set(each))
    kept = sorted(feature for feature, count in counts.items() if count >= LEAST_TEXTS)
    place = {feature: number for number, feature in enumerate(kept)}
    rows = [[place[feature] for feature in each if feature in place] for each, _ in chosen]
    lengths = np.array([len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.repeat([1 / max(USUAL, size) ** 0.5 for _, size in chosen], lengths)
    texts_of = np.repeat(np.arange(len(rows)), lengths)
    importance = np.where(wanted == 1, 1.0, HARMLESS)

    def scores(weights: Floats) -> Floats:
        return np.bincount(texts_of, weights=weights[columns] * values, minlength=len(rows))

    def gradient(errors: Floats) -> Floats:
        return np.bincount(columns, weights=errors[texts_of] * values, minlength=len(kept))

    largest = np.ones(len(kept))
    for _ in range(8):
        largest = gradient(scores(largest / np.linalg.norm(largest)))
    step = 1 / (0.3 * HARMLESS * float(np.linalg.norm(largest)) + RIDGE)
    step_constant = 1 / (0.3 * HARMLESS * len(rows))
    weights, ahead, momentum = np.zeros(len(kept)), np.zeros(len(kept)), 1.0
    constant = constant_ahead = 0.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(constant_ahead + scores(ahead), -30, 30)))
        errors = importance * (chance - wanted)
        moved = ahead - step * (gradient(errors) + RIDGE * ahead)
        constant_moved = constant_ahead - step_constant * float(errors.sum())
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = moved + (momentum - 1) / faster * (moved - weights)
        constant_ahead = constant_moved + (momentum - 1) / faster * (constant_moved - constant)
        weights, constant, momentum = moved, constant_moved, faster
    return constant, dict(zip(kept, weights.tolist(), strict=True))


def score(found: Features, constant: float, weights: Mapping[int, float]) -> float:
    """The score of a passage with these features."""
    hashes, size = found
    return constant + sum(weights.get(each, 0.0) for each in hashes) / max(USUAL, size) ** 0.5


def written(constant: float, weights: dict[int, float]) -> str:
    """The table of weights, without those that round to nothing."""
    whole = {feature: max(-127, min(127, round(weight * SCALE))) for feature, weight in weights.items()}
    kept = sorted(feature for feature, weight in whole.items() if weight)
    table = {
        "constant": round(constant, 3),
        "hashes": b64encode(np.array(kept, dtype="<i4").tobytes()).decode(),
        "weights": b64encode(np.array([whole[feature] for feature in kept], dtype=np.int8).tobytes()).decode(),
    }
    return json.dumps(table, indent=1) + "\n"


def print_folds(found: Sequence[Text]) -> None:
    """For several edges, how many orders and harmless texts of each part are found by weights fitted on the other parts."""
    highest: dict[int, float] = {}
    parts = sorted({text.part for text in found})
    for fold in range(7):
        held = set(parts[fold::7])
        constant, weights = fit([text for text in found if text.part not in held])
        for number, text in enumerate(found):
            if text.part in held:
                highest[number] = max((score(each, constant, weights) for each in text.passages), default=constant)
    for edge in (EDGE - 0.6, EDGE - 0.3, EDGE, EDGE + 0.3, EDGE + 0.6):
        rows = [(found[number].part.split()[0], found[number].is_order, top > edge) for number, top in highest.items()]
        print(f"above {edge:.1f}:")
        for part in (*sorted({part for part, _, _ in rows}), ""):
            told = [
                f"{sum(hit for name, order, hit in rows if name.startswith(part) and order is kind)} of "
                f"{sum(name.startswith(part) and order is kind for name, order, _ in rows)}"
                for kind in (True, False)
            ]
            print(f"  {part or 'all'}: orders {told[0]}, harmless {told[1]}")


def main() -> None:
    """Fits the weights, or measures them on folds."""
    parser = argparse.ArgumentParser(description="Fits the weights of order_words.")
    parser.add_argument("--folds", action="store_true", help="measure on folds instead of writing the weights")
    found = texts()
    if parser.parse_args().folds:
        print_folds(found)
    else:
        TABLE.write_text(written(*fit(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
