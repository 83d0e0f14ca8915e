"""Fits the weights of `policy/guard/order_score` and `order_words` on the texts of `tests/policy/orders`.

    python tools/fit_orders.py          # writes order_weights.toml and order_words.json; run tools/write_lexicon.py afterwards
    python tools/fit_orders.py --folds  # prints what weights find in the texts of authors that they are not fitted on

Logistic regression: the score by signs of a text is that of its highest sentence, so the sentences are chosen and the weights
fitted in turn. Only pairs of signs and doubts have weights; a doubt never raises the score. Small weights are left out. The
weights of words are fitted on the passage around that sentence.
"""

import argparse
import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.policy.guard.disguises import folded, words_of
from slowwave.policy.guard.injection import BY_RULE, BY_SIGNS, EDGE, SEVERAL, UNKNOWN, WHOLE, WORDS_GATE, pattern_in
from slowwave.policy.guard.lexicon import scored_codes
from slowwave.policy.guard.order_score import pairs_of, scores_of, sentences, signs_of
from slowwave.policy.guard.order_words import SCALE, USUAL, features, units
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
EARLY: Final = frozenset(PARTS[:5])
"""The parts on which the rules were built: one fold."""
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
Sentences = list[frozenset[str] | None]
Floats = npt.NDArray[np.float64]


class Text(NamedTuple):
    """A text with its part, language, place among the texts of its kind and language, and whether it is an order."""

    part: str
    language: str
    number: int
    is_order: bool
    words: str


def texts() -> list[Text]:
    """The texts of all parts, and messages and documentation, which order nothing."""
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
    for kind, parts in (("messages", messages()), ("documentation", documentation()), ("python", harmless())):
        found += [Text(kind, "en", number // 20, False, part) for number, part in enumerate(parts)]
    return found


def documentation() -> list[str]:
    """Paragraphs of the documentation of the project."""
    pages = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "ARCHITECTURE.md"))]
    paragraphs = (part for page in pages for part in page.read_text(encoding="utf-8").split("\n\n"))
    return [part for part in paragraphs if len(part) > SHORT]


def messages() -> list[str]:
    """What people say of themselves, of the examples of `tests/examples`."""
    rows = (
        json.loads(line)
        for path in sorted((ROOT / "tests" / "examples").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [
        text
        for row in rows
        for text in (row.get("message"), *(one["content"] for one in row.get("messages", ())))
        if text
    ]


def harmless() -> list[str]:
    """Paragraphs of Python's own documentation, and long passages of the descriptions of every second installed package."""
    passages = [part for topic in topics.values() for part in re.split(r"\n\s*\n", topic)]
    for package in sorted({package.name for package in metadata.distributions() if package.name != "slowwave"})[::2]:
        text = metadata.metadata(package).get_payload()
        parts = re.split(r"\n\s*\n", text if isinstance(text, str) else "")
        passages += ["\n\n".join(parts[start : start + 4]) for start in range(0, len(parts), 4)]
    return [part for part in dict.fromkeys(passages) if len(part) > SHORT]


def bag(text: str) -> Sentences:
    """The pairs of signs and the doubts of each sentence of a text; None of one in a language without a table."""
    flat = flattened(folded(text))
    spans = sentences(flat)
    found = (signs for _, signs in signs_of(flat, spans, range(len(spans))))
    return [signs and frozenset({" + ".join(pair) for pair in pairs_of(signs)} | signs.doubts) for signs in found]


def fit(bags: Sequence[Sentences], wanted: Floats) -> dict[str, float]:
    """The weights of the pairs and doubts, and of "" the constant, by the texts in languages with a table."""
    known = [[found for found in each if found is not None] for each in bags]
    counts = Counter(name for each in known for name in frozenset().union(*each))
    names = sorted(name for name, count in counts.items() if count >= LEAST_TEXTS)
    chosen = [max(each, key=len, default=frozenset()) for each in known]
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        weights = solve(chosen, wanted, names)
        chosen = [max(each, key=lambda found: total(found, weights), default=frozenset()) for each in known]
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


def passage(text: str) -> Sequence[str]:
    """The words of a text; of a long one, those around its sentence with the highest score."""
    flat = flattened(folded(text))
    if len(flat) > WHOLE:
        spans = sentences(flat)
        scores = scores_of(flat, spans, range(len(spans)))
        best = max(scores, key=lambda number: scores[number].total)
        flat = flat[spans[max(0, best - 1)][0] : spans[min(len(spans) - 1, best + 1)][1]]
    return units(flat, words_of(flat))


def fit_words(passages: Sequence[Sequence[str]], wanted: Floats) -> tuple[float, dict[int, float]]:
    """The constant and the weight of each feature of `order_words` that several passages have."""
    found = [features(each) for each in passages]
    counts = Counter(feature for each, _ in found for feature in set(each))
    kept = sorted(feature for feature, count in counts.items() if count >= LEAST_WORDS)
    place = {feature: number for number, feature in enumerate(kept)}
    rows = [[place[feature] for feature in each if feature in place] for each, _ in found]
    lengths = np.array([len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.repeat([1 / max(USUAL, size) ** 0.5 for _, size in found], lengths)
    texts_of = np.repeat(np.arange(len(rows)), lengths)
    importance = np.where(wanted == 1, 1.0, HARMLESS_WORDS)

    def scores(weights: Floats) -> Floats:
        return np.bincount(texts_of, weights=weights[columns] * values, minlength=len(rows))

    def gradient(errors: Floats) -> Floats:
        return np.bincount(columns, weights=errors[texts_of] * values, minlength=len(kept))

    largest = np.ones(len(kept))
    for _ in range(8):
        largest = gradient(scores(largest / np.linalg.norm(largest)))
    step = 1 / (0.3 * HARMLESS_WORDS * float(np.linalg.norm(largest)) + RIDGE_WORDS)
    step_constant = 1 / (0.3 * HARMLESS_WORDS * len(rows))
    weights, ahead, momentum = np.zeros(len(kept)), np.zeros(len(kept)), 1.0
    constant = constant_ahead = 0.0
    for _ in range(WORD_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(constant_ahead + scores(ahead), -30, 30)))
        errors = importance * (chance - wanted)
        moved = ahead - step * (gradient(errors) + RIDGE_WORDS * ahead)
        constant_moved = constant_ahead - step_constant * float(errors.sum())
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
        "hashes": b64encode(np.array(kept, dtype="<i4").tobytes()).decode(),
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


def folds_of(found: Sequence[Text]) -> npt.NDArray[np.str_]:
    """The fold of each text: its part; the early parts are one, and harmless passages are spread over all."""
    own = [PARTS[0] if text.part in EARLY else text.part for text in found]
    names = sorted({name for name in own if name in {*PARTS, ANSWERS}})
    return np.array([name if name in names else names[place % len(names)] for place, name in enumerate(own)])


class Place(NamedTuple):
    """A sentence with the features of its words, and of those around it, as `injection.passages_of` reads them."""

    alone: tuple[list[int], int]
    around: tuple[list[int], int]
    taken_around: float
    signs: frozenset[str] | None


def places(text: str, signs: Sentences) -> list[Place]:
    """The sentences of a text with these signs of each."""
    flat = flattened(folded(text))
    spans = sentences(flat)
    words = [units(flat[start:end], words_of(flat[start:end])) for start, end in spans]
    is_short = len(flat) <= WHOLE
    whole = features([word for each in words for word in each])
    near = [
        features([word for each in words[max(0, number - 1) : number + 2] for word in each])
        for number in range(len(spans))
    ]
    return [
        Place(features(words[number]), whole if is_short else near[number], 0.0 if is_short else SEVERAL, found)
        for number, found in enumerate(signs)
    ]


def score_of_words(found: tuple[list[int], int], constant: float, weights: Mapping[int, float]) -> float:
    """The score of the words of a passage with these features."""
    hashes, size = found
    return constant + sum(weights.get(each, 0.0) for each in hashes) / max(USUAL, size) ** 0.5


def print_folds(found: Sequence[Text], bags: Sequence[Sentences], wanted: Floats) -> None:
    """What weights find in the parts that they are not fitted on: with each layer, and by part for several edges."""
    folds = folds_of(found)
    passages = [passage(text.words) for text in found]
    all_places = [places(text.words, signs) for text, signs in zip(found, bags, strict=True)]
    best = np.full((3, len(found)), -np.inf)  # of each text the highest score of words, of signs, and of both
    with_rules = np.full(len(found), np.inf)
    for fold in np.unique(folds):
        used = np.flatnonzero(folds != fold)
        signs = fit_scored([found[number] for number in used], [bags[number] for number in used], wanted[used])
        constant, words = fit_words([passages[number] for number in used], wanted[used])
        for number in np.flatnonzero(folds == fold):
            for place in all_places[number]:
                around = score_of_words(place.around, constant, words) - place.taken_around
                by_words = max(around, score_of_words(place.alone, constant, words) - SEVERAL)
                by_signs = total(place.signs, signs) if place.signs else -np.inf
                both = by_words + (UNKNOWN if place.signs is None else BY_SIGNS * by_signs)
                likely = both if by_words > WORDS_GATE else -np.inf
                best[:, number] = np.maximum(best[:, number], [by_words, by_signs, likely])
                if place.signs:
                    with_rules[number] = max(
                        both + BY_RULE, with_rules[number] if with_rules[number] < np.inf else both
                    )
    rules = np.array([pattern_in(text.words) is not None for text in found])
    likely = np.where(rules, with_rules, best[2])
    parts = np.array([text.part for text in found])
    print_part("rules alone, the later parts", rules, np.isin(parts, PARTS[6:]), wanted)
    print_layers({"words": best[0], "signs": best[1], "words and signs": best[2], "all": likely}, parts, wanted)
    for edge in (EDGE - 0.4, EDGE, EDGE + 0.4):
        print(f"above {edge:.1f}:")
        print_part("the later parts", likely > edge, np.isin(parts, PARTS[6:]), wanted)
        for part in (*PARTS, ANSWERS, "messages", "documentation", "python"):
            print_part(part, likely > edge, parts == part, wanted)


def print_part(name: str, above: npt.NDArray[np.bool_], part: npt.NDArray[np.bool_], wanted: Floats) -> None:
    """How many orders and how many other texts of a part are above an edge."""
    counts = (f"{above[part & (wanted == kind)].sum()} of {(part & (wanted == kind)).sum()}" for kind in (1, 0))
    print(f"  {name}: orders {', look-alikes '.join(counts)}")


def print_layers(layers: Mapping[str, Floats], parts: npt.NDArray[np.str_], wanted: Floats) -> None:
    """The share of the orders of the parts since the seventh that each layer finds where it withholds 2 % of their look-alikes."""
    later = np.isin(parts, PARTS[6:])
    for name, scores in layers.items():
        edge = np.quantile(scores[later & (wanted == 0)], 0.98)
        shares = [(scores[(parts == part) & (wanted == 1)] > edge).mean() for part in PARTS[6:]]
        print(f"{name}: {np.mean(shares):.3f} ({', '.join(f'{share:.2f}' for share in shares)})")


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
    bags = [bag(text.words) for text in found]
    wanted = np.array([text.is_order for text in found], dtype=float)
    if arguments.folds:
        print_folds(found, bags, wanted)
    else:
        TABLE.write_text(written(fit_scored(found, bags, wanted)), encoding="utf-8")
        WORDS.write_text(written_words(*fit_words([passage(text.words) for text in found], wanted)), encoding="utf-8")


if __name__ == "__main__":
    main()
