"""Extractive summaries: the clauses that cover most informative words in a budget of words. Nothing is ever rewritten."""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.policy.retention.importance import importance_cues
from slowwave.policy.text.clauses import clauses, note, trim
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

CAPITAL: Final = 2.0  # weight of a word capitalised inside a unit: a name
NUMBER: Final = 1.5  # and of a number or a word of time
CAPTION: Final = 0.5  # what a picture shows counts half of what is said
QUESTION: Final = 0.6
LENGTH: Final = 0.75  # power of a unit's length its worth is divided by
TURN_CUES: Final = 0.3
UNIT_CUES: Final = 0.5
_TIMES: Final = table_words("calendar_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryClause:
    """One clause that may stand in a summary.

    Args:
        text: The words to be printed.
        speaker: Whose they are; None for facts and texts without a speaker.
        position: Where it stands: any number that grows with time, such as a message's sequence number.
        cues: What the signs of later use in it and in its message add to its worth, a natural logarithm (see `units`).
        question: Whether its sentence asks.
        opens: Whether it begins its sentence.
        caption: Whether it describes a picture or file.
    """

    text: str
    speaker: str | None = None
    position: int = 0
    cues: float = 0.0
    question: bool = False
    opens: bool = True
    caption: bool = False


def split_clauses(
    text: str, *, speaker: str | None = None, position: int = 0, speakers: Collection[str] = (), brief: bool = False
) -> tuple[SummaryClause, ...]:
    """The units of one message or fact: its clauses, safely trimmed, without those of which nothing is left.

    Args:
        text: The message, verbatim.
        speaker: Who said it.
        position: Where it stands, such as its sequence number.
        speakers: Names of all who talk; the one called is trimmed.
        brief: Print notes (see `clauses.note`) instead of clauses as written: a quarter fewer words for the same content.
    """
    form = note if brief else trim
    others = [name for name in speakers if name != speaker]
    of_turn = sum(importance_cues(text, speakers=speakers).values())
    found: list[SummaryClause] = []
    for clause in clauses(text):
        printed = form(clause.text, names=others)
        if not any(word not in STOP_WORDS for word in words(printed)):
            continue
        own = (
            0.0 if clause.caption else sum(importance_cues(clause.text, speakers=speakers, opens=clause.opens).values())
        )
        found.append(
            SummaryClause(
                text=printed,
                speaker=speaker,
                position=position,
                cues=TURN_CUES * of_turn + UNIT_CUES * own,
                question=clause.question,
                opens=clause.opens,
                caption=clause.caption,
            )
        )
    return tuple(found)


def select(
    candidates: Iterable[SummaryClause], *, limit: int, rarity: Callable[[str], float], speakers: Collection[str] = ()
) -> tuple[SummaryClause, ...]:
    """The units of a summary, in order of time: greedily the one that adds most for its length, while they fit.

    Worth = sum of the weights of its words that no chosen unit has yet * exp(cues) * 0.6 if it asks / words^0.75;
    the weight of a word is its rarity, twice for names, 1.5 times for numbers and words of time, 0 for stop words and
    the speakers' names, half in captions. A second level is the same over the units of the first.

    Args:
        candidates: What to choose from, of one conversation or topic.
        limit: Words at most, speakers' labels not counted.
        rarity: Word -> ln(texts / texts with the word), as `Frequencies.rarity`.
        speakers: Names of those who talk.
    """
    pool = list(candidates)
    ignored = frozenset(stem(word) for name in speakers for word in words(name))
    weights = [_weights(unit, rarity=rarity, ignored=ignored) for unit in pool]
    lengths = [max(1, len(unit.text.split())) for unit in pool]
    factors = [
        math.exp(unit.cues) * (QUESTION if unit.question else 1.0) / length**LENGTH
        for unit, length in zip(pool, lengths, strict=True)
    ]
    covered: set[str] = set()
    chosen: list[int] = []
    left = limit
    # Worth only falls while more is covered, so an entry that is still the best after a fresh look is the best of all.
    heap = [(-sum(weights[index].values()) * factors[index], index) for index in range(len(pool))]
    heapq.heapify(heap)
    while heap:
        _, index = heapq.heappop(heap)
        if lengths[index] > left:
            continue
        worth = factors[index] * sum(weight for word, weight in weights[index].items() if word not in covered)
        if heap and -worth > heap[0][0]:
            heapq.heappush(heap, (-worth, index))
        elif worth > 0:
            chosen.append(index)
            covered.update(weights[index])
            left -= lengths[index]
    return tuple(pool[index] for index in sorted(chosen, key=lambda index: (pool[index].position, index)))


def render(chosen: Sequence[SummaryClause]) -> str:
    """A summary as text: one line a speaker, in order of first appearance, each one's units in order of time.

    >>> render([Unit(text="ran a charity race", speaker="Mel"), Unit(text="adopted a dog", speaker="Mel")])
    'Mel: ran a charity race; adopted a dog'
    """
    lines: dict[str | None, list[str]] = {}
    for unit in chosen:
        lines.setdefault(unit.speaker, []).append(f"[{unit.text}]" if unit.caption else unit.text.rstrip("."))
    return "\n".join((f"{speaker}: " if speaker else "") + "; ".join(texts) for speaker, texts in lines.items())


def parse(text: str, *, speakers: Collection[str] = (), position: int = 0) -> tuple[SummaryClause, ...]:
    """The units of a rendered summary, so that a second level can choose among those of the first.

    Args:
        text: What `render` printed.
        speakers: Names of those who talk: only they are taken for labels.
        position: Where the summary stands among others.

    >>> [unit.text for unit in read("Mel: ran a race; [a medal]", speakers=["Mel"])]
    ['ran a race', 'a medal']
    """
    found: list[SummaryClause] = []
    for line in text.splitlines():
        label, _, rest = line.partition(": ")
        speaker = label if label in speakers else None
        for part in (rest if speaker else line).split("; "):
            caption = part.startswith("[") and part.endswith("]")
            if printed := (part[1:-1] if caption else part).strip():
                found.append(SummaryClause(text=printed, speaker=speaker, position=position, caption=caption))
    return tuple(found)


def _weights(unit: SummaryClause, *, rarity: Callable[[str], float], ignored: Collection[str]) -> dict[str, float]:
    """The worth of each distinct word (by stem) of a unit."""
    capitals = {
        word for token in unit.text.split()[1 if unit.opens else 0 :] if token[:1].isupper() for word in words(token)
    }
    factor = CAPTION if unit.caption else 1.0
    found: dict[str, float] = {}
    for word in words(unit.text):
        root = stem(word)
        if word in STOP_WORDS or root in ignored:
            continue
        weight = max(0.0, rarity(word)) * factor
        if word in capitals:
            weight *= CAPITAL
        if word in _TIMES or any(letter.isdigit() for letter in word):
            weight *= NUMBER
        found[root] = max(weight, found.get(root, 0.0))
    return found
