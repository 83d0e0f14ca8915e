"""Extractive summaries: selects the clauses that cover most informative words within a limit of words. No words are changed."""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.policy.retention.importance import CAPTION, QUESTION, importance_cues, name_stems
from slowwave.policy.text.clauses import clauses, note, trim
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

CAPITAL: Final = 2.0  # weight of a capitalised word inside a clause: a name
NUMBER: Final = 1.5  # weight of a number or a word of time
LENGTH: Final = 0.75  # the value of a clause is divided by this power of its length
TURN_CUES: Final = 0.3
UNIT_CUES: Final = 0.5
_TIMES: Final = table_words("calendar_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryClause:
    """One clause that a summary can contain.

    Args:
        text: Its words, as the summary prints them.
        speaker: The speaker; None for facts and texts without a speaker.
        position: A number that grows with time, such as the sequence number of the message.
        cues: What the cues of later use in the clause and its message add to its value, a natural logarithm.
        question: Whether its sentence is a question.
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
    """The clauses of one message or fact, trimmed; clauses without a content word are left out.

    Args:
        text: The message, verbatim.
        speaker: Who said it.
        position: A number that grows with time, such as its sequence number.
        speakers: Names of the speakers. A name by which somebody is addressed is trimmed.
        brief: Whether clauses become notes (`clauses.note`), which have a quarter fewer words.
    """
    form = note if brief else trim
    others = [name for name in speakers if name != speaker]
    message_cues = sum(importance_cues(text, speakers=speakers).values())
    result: list[SummaryClause] = []
    for clause in clauses(text):
        printed = form(clause.text, names=others)
        if not any(word not in STOP_WORDS for word in words(printed)):
            continue
        own = (
            0.0 if clause.caption else sum(importance_cues(clause.text, speakers=speakers, opens=clause.opens).values())
        )
        result.append(
            SummaryClause(
                text=printed,
                speaker=speaker,
                position=position,
                cues=TURN_CUES * message_cues + UNIT_CUES * own,
                question=clause.question,
                opens=clause.opens,
                caption=clause.caption,
            )
        )
    return tuple(result)


def select(
    candidates: Iterable[SummaryClause], *, limit: int, rarity: Callable[[str], float], speakers: Collection[str] = ()
) -> tuple[SummaryClause, ...]:
    """The clauses of a summary, in order of time, selected greedily by value while they fit into the limit.

    The value of a clause is the sum of the weights of its words that no selected clause has, times exp(cues), times 0.6 for a
    question, divided by words^0.75. The weight of a word is its rarity: doubled for names, 1.5 times for numbers and words of
    time, half in captions, 0 for stop words and the names of speakers. A summary of summaries is selected in the same way.

    Args:
        candidates: What to choose from, of one conversation or topic.
        limit: The most words, labels of speakers not counted.
        rarity: Word -> ln(texts / texts with the word), as `Frequencies.rarity`.
        speakers: Names of those who talk.
    """
    pool = list(candidates)
    ignored = name_stems(speakers)
    weights = [_weights(clause, rarity=rarity, ignored=ignored) for clause in pool]
    lengths = [max(1, len(clause.text.split())) for clause in pool]
    factors = [
        math.exp(clause.cues) * (QUESTION if clause.question else 1.0) / length**LENGTH
        for clause, length in zip(pool, lengths, strict=True)
    ]
    covered: set[str] = set()
    chosen: list[int] = []
    remaining = limit
    # A value only falls while more words are covered: an entry that is still first after its value is updated is the best.
    heap = [(-sum(weights[index].values()) * factors[index], index) for index in range(len(pool))]
    heapq.heapify(heap)
    while heap:
        _, index = heapq.heappop(heap)
        if lengths[index] > remaining:
            continue
        worth = factors[index] * sum(weight for word, weight in weights[index].items() if word not in covered)
        if heap and -worth > heap[0][0]:
            heapq.heappush(heap, (-worth, index))
        elif worth > 0:
            chosen.append(index)
            covered.update(weights[index])
            remaining -= lengths[index]
    return tuple(pool[index] for index in sorted(chosen, key=lambda index: (pool[index].position, index)))


def render(chosen: Sequence[SummaryClause]) -> str:
    """A summary as text: one line per speaker, in order of first appearance, with the clauses in order of time.

    >>> render([SummaryClause(text="ran a charity race", speaker="Mel"), SummaryClause(text="adopted a dog", speaker="Mel")])
    'Mel: ran a charity race; adopted a dog'
    """
    lines: dict[str | None, list[str]] = {}
    for clause in chosen:
        lines.setdefault(clause.speaker, []).append(f"[{clause.text}]" if clause.caption else clause.text.rstrip("."))
    return "\n".join((f"{speaker}: " if speaker else "") + "; ".join(texts) for speaker, texts in lines.items())


def parse(text: str, *, speakers: Collection[str] = (), position: int = 0) -> tuple[SummaryClause, ...]:
    """The clauses of a rendered summary, so that a summary of summaries can select among them.

    Args:
        text: The result of `render`.
        speakers: Names of the speakers. Only these are read as labels.
        position: The position of the summary among others.

    >>> [clause.text for clause in parse("Mel: ran a race; [a medal]", speakers=["Mel"])]
    ['ran a race', 'a medal']
    """
    result: list[SummaryClause] = []
    for line in text.splitlines():
        label, _, rest = line.partition(": ")
        speaker = label if label in speakers else None
        for part in (rest if speaker else line).split("; "):
            caption = part.startswith("[") and part.endswith("]")
            if printed := (part[1:-1] if caption else part).strip():
                result.append(SummaryClause(text=printed, speaker=speaker, position=position, caption=caption))
    return tuple(result)


def _weights(clause: SummaryClause, *, rarity: Callable[[str], float], ignored: Collection[str]) -> dict[str, float]:
    """Stem -> weight, for each distinct word of a clause."""
    capitals = {
        word
        for token in clause.text.split()[1 if clause.opens else 0 :]
        if token[:1].isupper()
        for word in words(token)
    }
    factor = CAPTION if clause.caption else 1.0
    weights: dict[str, float] = {}
    for word in words(clause.text):
        root = stem(word)
        if word in STOP_WORDS or root in ignored:
            continue
        weight = max(0.0, rarity(word)) * factor
        if word in capitals:
            weight *= CAPITAL
        if word in _TIMES or any(letter.isdigit() for letter in word):
            weight *= NUMBER
        weights[root] = max(weight, weights.get(root, 0.0))
    return weights
