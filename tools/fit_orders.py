"""Fits the weights of `policy/guard/order_score` and `order_words` on the texts of `tests/policy/orders`.

    python tools/fit_orders.py          # writes order_weights.toml and order_words.json; run tools/write_lexicon.py afterwards
    python tools/fit_orders.py --folds  # prints what weights find in the fifth of the texts that they are not fitted on

Logistic regression: the score by signs of a text is that of its highest sentence, so the sentences are chosen and the weights
fitted in turn. Only pairs of signs and doubts have weights; a doubt never raises the score. Small weights are left out. The
weights of words are fitted on the passage around that sentence.
"""

import argparse
import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.injection import pattern_in
from slowwave.policy.guard.lexicon import scored_codes
from slowwave.policy.guard.order_score import pairs_of, passage_of, scores_of, signs_of
from slowwave.policy.guard.order_words import SCALE, USUAL, features
from slowwave.policy.guard.orders import flattened

ROOT: Final = Path(__file__).parent.parent
TEXTS: Final = ROOT / "tests" / "policy" / "orders"
WORDS: Final = ROOT / "src" / "slowwave" / "policy" / "data" / "order_words.json"
TABLE: Final = ROOT / "src" / "slowwave" / "policy" / "data" / "order_weights.toml"
PARTS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
)
ANSWERS: Final = "answers"
"""The part with what assistants answer, which has no orders."""
FOLDS: Final = 5
RIDGE: Final = 6.0
"""The penalty of squared weights."""
GENERAL: Final = frozenset(
    [
        *(
            "an order",
            "several orders",
            "a harm",
            "several harms",
            "many harms",
            "a rule for later",
            "must",
            "user",
            "conceal",
        ),
        *("a reader is addressed", "a reader is mentioned", "model called", "assistant called", "note to a reader"),
        *("favour", "when asked", "called to do", "reader must", "reader processes"),
    ]
)
"""Signs that many texts have: a pair of two of them has a quarter of the penalty."""
HARMLESS: Final = 1.5
"""The weight of a harmless text; that of an order is 1."""
LEAST_TEXTS: Final = 4
"""Texts of which a pair must be one so that it has a weight."""
LEAST_WORDS: Final = 3
"""Texts of which a feature of words must be one so that it has a weight."""
RIDGE_WORDS: Final = 0.05
"""The penalty of squared weights of words."""
HARMLESS_WORDS: Final = 3.0
"""The weight of a harmless text for the weights of words."""
WORD_STEPS: Final = 200
LEAST_WEIGHT: Final = 1
"""The least weight of a feature of words, as it is stored."""
SHORT: Final = 15
"""Characters of a paragraph that is passed over."""
SMALL: Final = 0.02
STEPS: Final = 250
ROUNDS: Final = 4
BY_RULE: Final = 4.5
"""What a rule adds to the likelihood of an order, as in `policy/guard/injection`."""
BY_SIGNS: Final = 0.4
"""The part of the score by signs in it, as there."""
GATE: Final = -2.2
"""The score by signs up to which a text is no order, as there."""

Sentences = list[frozenset[str]]
Floats = npt.NDArray[np.float64]


class Text(NamedTuple):
    """A text with its part, language, place among the texts of its kind and language, and whether it is an order."""

    part: str
    language: str
    number: int
    is_order: bool
    words: str


def texts() -> list[Text]:
    """The texts of all parts, and documentation, which orders nothing."""
    found = []
    for part in (*PARTS, ANSWERS):
        for kind in ("orders", "lookalikes")[part == ANSWERS :]:
            name = kind if part == "first" else f"{kind}_{part}"
            numbers = Counter[str]()
            for line in (TEXTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                language = row["language"]
                found.append(Text(part, language, numbers[language], kind == "orders", row["text"]))
                numbers[language] += 1
    pages = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "ARCHITECTURE.md"))]
    parts = (part for page in pages for part in page.read_text(encoding="utf-8").split("\n\n") if len(part) > SHORT)
    found += [Text("documentation", "en", number // 20, False, part) for number, part in enumerate(parts)]
    return [*found, *(Text("python", "en", number // 20, False, part) for number, part in enumerate(harmless()))]


def harmless() -> list[str]:
    """Paragraphs of Python's own documentation, and long passages of the descriptions of every second installed package."""
    passages = [part for topic in topics.values() for part in re.split(r"\n\s*\n", topic)]
    for package in sorted({package.name for package in metadata.distributions() if package.name != "slowwave"})[::2]:
        text = metadata.metadata(package).get_payload()
        parts = re.split(r"\n\s*\n", text if isinstance(text, str) else "")
        passages += ["\n\n".join(parts[start : start + 4]) for start in range(0, len(parts), 4)]
    return [part for part in dict.fromkeys(passages) if len(part) > SHORT]


def sentences(text: str) -> Sentences:
    """The pairs of signs and the doubts of each sentence of a text."""
    found = (signs for _, _, signs in signs_of(flattened(folded(text))) if signs is not None)
    return [frozenset({" + ".join(pair) for pair in pairs_of(signs)} | signs.doubts) for signs in found]


def fit(bags: Sequence[Sentences], wanted: Floats) -> dict[str, float]:
    """The weights of the pairs and doubts, and of "" the constant, by the texts in languages with a table."""
    counts = Counter(name for bag in bags for name in frozenset().union(*bag))
    names = sorted(name for name, count in counts.items() if count >= LEAST_TEXTS)
    chosen = [max(bag, key=len, default=frozenset()) for bag in bags]
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        weights = solve(chosen, wanted, names)
        chosen = [max(bag, key=lambda found: total(found, weights), default=frozenset()) for bag in bags]
    return weights


def total(found: frozenset[str], weights: dict[str, float]) -> float:
    """The score of a sentence with these pairs and doubts."""
    return weights[""] + sum(weights.get(name, 0.0) for name in found)


def penalty(name: str) -> float:
    """The penalty of the squared weight of a pair or doubt."""
    first, _, second = name.partition(" + ")
    return RIDGE * (0.5 if not second else 0.25 if {first, second} <= GENERAL else 1.0)


def solve(chosen: Sequence[frozenset[str]], wanted: Floats, names: Sequence[str]) -> dict[str, float]:
    """The weights for one sentence of each text, by projected gradient descent with momentum."""
    place = {name: number for number, name in enumerate(names)}
    size = len(names) + 1
    rows = [[*(place[name] for name in found if name in place), size - 1] for found in chosen]
    columns = np.array([column for row in rows for column in row])
    lengths = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    importance = np.where(wanted == 1, 1.0, HARMLESS)
    high = np.array([0.0 if name.startswith("doubt") else np.inf for name in names] + [np.inf])
    penalties = np.array([penalty(name) for name in names] + [0.0])

    def scores(weights: Floats) -> Floats:
        return np.add.reduceat(weights[columns], starts)

    def gradient(errors: Floats) -> Floats:
        return np.bincount(columns, weights=np.repeat(errors, lengths), minlength=size)

    largest = np.ones(size)
    for _ in range(8):
        largest = gradient(scores(largest / np.linalg.norm(largest)))
    step = 1 / (0.3 * HARMLESS * float(np.linalg.norm(largest)) + RIDGE)
    weights, ahead, momentum = np.zeros(size), np.zeros(size), 1.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(scores(ahead), -30, 30)))
        moved = np.minimum(ahead - step * (gradient(importance * (chance - wanted)) + penalties * ahead), high)
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead, weights, momentum = moved + (momentum - 1) / faster * (moved - weights), moved, faster
    return {name: float(weight) for name, weight in zip([*names, ""], weights, strict=True)}


def passage(text: str) -> str:
    """The passage of a text around its sentence with the highest score, or around one in an unknown language."""
    flat = flattened(folded(text))
    scores = list(scores_of(flat))
    if not scores:
        return flat
    return passage_of(flat, scores, max(range(len(scores)), key=lambda number: scores[number].total))


def fit_words(passages: Sequence[str], wanted: Floats) -> tuple[float, dict[int, float]]:
    """The constant and the weight of each feature of `order_words` that several passages have."""
    found = [features(each) for each in passages]
    counts = Counter(feature for each in found for feature in each)
    kept = sorted(feature for feature, count in counts.items() if count >= LEAST_WORDS)
    place = {feature: number for number, feature in enumerate(kept)}
    rows = [[place[feature] for feature in each if feature in place] for each in found]
    lengths = np.array([len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.repeat(1 / np.sqrt(np.maximum(USUAL, [len(each) for each in found])), lengths)
    texts_of = np.repeat(np.arange(len(rows)), lengths)
    importance = np.where(wanted == 1, 1.0, HARMLESS_WORDS)
    weights, ahead, momentum = np.zeros(len(kept)), np.zeros(len(kept)), 1.0
    constant = constant_ahead = 0.0
    step = 0.15
    for _ in range(WORD_STEPS):
        scores = constant_ahead + np.bincount(texts_of, weights=ahead[columns] * values, minlength=len(rows))
        errors = importance * (1 / (1 + np.exp(-np.clip(scores, -30, 30))) - wanted)
        slope = np.bincount(columns, weights=errors[texts_of] * values, minlength=len(kept)) + RIDGE_WORDS * ahead
        moved, constant_moved = ahead - step * slope, constant_ahead - 1e-4 * float(errors.sum())
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = moved + (momentum - 1) / faster * (moved - weights)
        constant_ahead = constant_moved + (momentum - 1) / faster * (constant_moved - constant)
        weights, constant, momentum = moved, constant_moved, faster
    return constant, dict(zip(kept, weights.tolist(), strict=True))


def written_words(constant: float, weights: dict[int, float]) -> str:
    """The table of the weights of words, without small ones."""
    whole = {feature: max(-127, min(127, round(weight * SCALE))) for feature, weight in weights.items()}
    kept = sorted(feature for feature, weight in whole.items() if abs(weight) >= LEAST_WEIGHT)
    table = {
        "constant": round(constant, 3),
        "hashes": b64encode(np.array(kept, dtype="<u4").tobytes()).decode(),
        "weights": b64encode(np.array([whole[feature] for feature in kept], dtype=np.int8).tobytes()).decode(),
    }
    return json.dumps(table, indent=1) + "\n"


def written(weights: dict[str, float]) -> str:
    """The table of weights, without small ones."""
    lines = [
        "# Written by `tools/fit_orders.py`: the weight of each pair of signs of `policy/guard/order_score.py`, and of each doubt.",
        f"constant = {weights['']:.2f}",
        "",
        "[weights]",
    ]
    kept = {name: weight for name, weight in weights.items() if name and abs(weight) >= SMALL}
    lines += [f'"{name}" = {weight:.2f}' for name, weight in sorted(kept.items(), key=lambda item: -item[1])]
    return "\n".join(lines) + "\n"


def fold_of(text: Text) -> int:
    """The fold of a text: that of its scene, which parts with ten languages have once in each of them."""
    return (text.number * 3 + len(text.part) + text.is_order) % FOLDS


def print_folds(found: Sequence[Text], bags: Sequence[Sentences], wanted: Floats) -> None:
    """What weights find in the fold that they are not fitted on, by part, for edges above which a text is an order."""
    folds = np.array([fold_of(text) for text in found])
    passages = [passage(text.words) for text in found]
    scores = np.zeros(len(found))
    for fold in range(FOLDS):
        used = np.flatnonzero(folds != fold)
        by_signs = fit_scored([found[number] for number in used], [bags[number] for number in used], wanted[used])
        constant, by_words = fit_words([passages[number] for number in used], wanted[used])
        for number in np.flatnonzero(folds == fold):
            own = max((total(each, by_signs) for each in bags[number]), default=by_signs[""])
            known = features(passages[number])
            words = constant + sum(by_words.get(each, 0.0) for each in known) / max(USUAL, len(known)) ** 0.5
            scores[number] = words + BY_SIGNS * own if own > GATE else -np.inf
    scores += BY_RULE * np.array([pattern_in(text.words) is not None for text in found])
    parts = np.array([text.part if text.language in scored_codes() else "other languages" for text in found])
    for edge in (0.0, 0.3, 0.6, 0.9, 1.2):
        print(f"above {edge}:")
        for part in (*PARTS, ANSWERS, "other languages", "documentation", "python"):
            orders, others = (parts == part) & (wanted == 1), (parts == part) & (wanted == 0)
            share = f"{(scores[orders] > edge).mean():.2f}" if orders.any() else "-"
            print(f"  {part}: orders {share}, look-alikes {(scores[others] > edge).mean():.3f}")


def fit_scored(found: Sequence[Text], bags: Sequence[Sentences], wanted: Floats) -> dict[str, float]:
    """The weights of signs by the texts in languages with a table."""
    used = [number for number, text in enumerate(found) if text.language in scored_codes()]
    return fit([bags[number] for number in used], wanted[used])


def main() -> None:
    """Fits the weights, or measures them on folds."""
    parser = argparse.ArgumentParser(description="Fits the weights of order_score.")
    parser.add_argument("--folds", action="store_true", help="measure on folds instead of writing the weights")
    arguments = parser.parse_args()
    found = texts()
    bags = [sentences(text.words) for text in found]
    wanted = np.array([text.is_order for text in found], dtype=float)
    if arguments.folds:
        print_folds(found, bags, wanted)
    else:
        TABLE.write_text(written(fit_scored(found, bags, wanted)), encoding="utf-8")
        WORDS.write_text(written_words(*fit_words([passage(text.words) for text in found], wanted)), encoding="utf-8")


if __name__ == "__main__":
    main()
