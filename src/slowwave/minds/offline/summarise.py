"""Summaries without a model: clauses are selected, grouped and joined, never generated."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.errors import ModelError
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.mind import SummaryRequest
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.guard.labels import bare_name
from slowwave.policy.retention.importance import ASSISTANT, Frequencies, importance_cues
from slowwave.policy.summaries.extract import UNIT_CUES, SummaryClause, render, select, split_clauses
from slowwave.policy.text.clauses import SHORTEST, only_a_date
from slowwave.policy.text.dates import exact, mentioned, resolve
from slowwave.policy.text.tokens import STOP_WORDS, terms, words

_LABEL: Final = re.compile(r"(?P<label>[A-Z][^\W\d_]*(?: [A-Z][^\W\d_]*){0,2}): (?P<rest>.+)")
# A negation or condition is no subject: joined, "Never call Ada; call Bob" would reverse the second text.
_SUBJECT: Final = re.compile(
    r"(?!(?:Never|No|Not|None|Nobody|Nothing|Neither|Do|Don['’]t|Without|If|Unless|When)\b)"
    r"(?:The user|[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*?)(?: and [a-z]+)? (?=[a-z])"
)
_DATE_HYPHENS: Final = 2  # of 2026-03-01
_PIECE: Final = "; "
_AGREEMENT: Final = (
    "absolutely agree agreed agreeing already appreciate chat completely couldn't definitely exactly fully glad good great "
    "hear here keep kind know more ok okay posted right same soon sounds sure talk thank thanks totally true wholeheartedly "
    "words wow ya yeah yep yes"
)
_AGREES: Final = frozenset(_AGREEMENT.split())
"""Words that carry a conversation and have no content."""
_PER_CENT: Final = re.compile(r"(?<!\d)\d+ ?%")
_ROLES: Final = {"user": "User", "assistant": "Assistant"}


def cluster(brief: SummaryRequest) -> str:
    """The texts of the members in order of time; texts with the same subject become one sentence that names it once.

    Every name, number and date is kept and none is added, even if the result is longer than requested.

    Raises:
        ModelError: there is nothing to summarise.
    """
    ordered = sorted(brief.memories, key=lambda m: (_when(m), m.id))
    texts = list(dict.fromkeys(_plain(m.text) for m in ordered if m.text.strip()))
    if not texts:
        raise ModelError("nothing to summarise: the memories are empty")
    return _by_subject(texts)


def cascade(brief: SummaryRequest) -> str:
    """The clauses that cover the most informative words, grouped by speaker, in about the requested number of words.

    Raises:
        ModelError: there is nothing to summarise.
    """
    speakers = {m.speaker for m in brief.memories if m.speaker}
    pool = [unit for memory in brief.memories for unit in _units(memory, speakers, alone=not speakers)]
    counts = Counter(term for m in brief.memories for term in set(terms(m.text)))
    frequencies = Frequencies(documents=len(brief.memories), frequency=lambda stem: counts[stem])
    chosen = select(pool, limit=brief.words, rarity=frequencies.rarity, speakers=speakers)
    text = render(chosen) or " ".join(" ".join(m.text for m in brief.memories).split()[: brief.words])
    if not text.strip():
        raise ModelError("nothing to summarise: the messages are empty")
    return text


def _when(memory: Memory) -> str:
    """The first complete date in its text, else the date of the memory, in ISO format."""
    dates = (exact(w.readings[0]) for w in mentioned(memory.text))
    return next(
        (day for day in dates if day[0].isdigit() and day.count("-") == _DATE_HYPHENS), memory.at.date().isoformat()
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(" .;")


def _by_subject(texts: Sequence[str]) -> str:
    """The texts, those with the same subject joined by semicolons after it."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        match = _SUBJECT.match(text)
        subject = match.group() if match else ""
        groups.setdefault(subject or text, []).append(text[len(subject) :])
    return " ".join(f"{head}{_PIECE.join(parts)}." if parts != [head] else f"{head}." for head, parts in groups.items())


def _units(memory: Memory, speakers: set[str], *, alone: bool) -> list[SummaryClause]:
    """The clauses of a message, or of a summary."""
    text = remove_fenced_blocks(memory.text)
    if memory.kind != MESSAGE:
        return _summary_units(memory, text)
    label = bare_name(memory.role, memory.speaker) or _ROLES.get(memory.role or "")
    clauses = split_clauses(resolve(text, memory.at), speaker=label, position=memory.seq, speakers=speakers)
    units = [unit for unit in clauses if _has_content(unit.text, speakers)]
    if memory.role != "assistant" or memory.speaker or not alone:
        return units
    return [replace(unit, cues=unit.cues + ASSISTANT) for unit in units]


def _has_content(text: str, speakers: set[str]) -> bool:
    """Whether a clause has content: it is no fragment, and more than a date or an agreement."""
    if only_a_date(text) or (len(text.split()) < SHORTEST and not any(c.isdigit() for c in text)):
        return False
    called = {word for name in speakers for word in words(name)}
    return any(
        not (word in STOP_WORDS or word in _AGREES or any(name.startswith(word) for name in called))
        for word in words(_PER_CENT.sub("", text))
    )


def _summary_units(memory: Memory, text: str) -> list[SummaryClause]:
    """The units of a summary: the parts of its labelled lines, and the clauses of other lines."""
    position = memory.span[0] if memory.span else memory.seq
    units: list[SummaryClause] = []
    for line in text.splitlines():
        labelled = _LABEL.fullmatch(line)
        if labelled is None:
            units += split_clauses(line, position=position)
            continue
        for piece in labelled["rest"].split(_PIECE):
            weight = UNIT_CUES * sum(importance_cues(piece).values())
            units.append(SummaryClause(text=piece, speaker=labelled["label"], position=position, cues=weight))
    return units
