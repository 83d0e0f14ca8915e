"""Summaries without a model: words are selected, grouped and joined, never made up."""

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
# What denies or conditions opens each text anew: "Never call Ada; call Bob" would say the opposite of the second.
_SUBJECT: Final = re.compile(
    r"(?!(?:Never|No|Not|None|Nobody|Nothing|Neither|Do|Don['’]t|Without|If|Unless|When)\b)"
    r"(?:The user|[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*?)(?: and [a-z]+)? (?=[a-z])"
)
_WHOLE: Final = 2  # hyphens of 2026-03-01
_PIECE: Final = "; "
_AGREEMENT: Final = (
    "absolutely agree agreed agreeing already appreciate chat completely couldn't definitely exactly fully glad good great "
    "hear here keep kind know more ok okay posted right same soon sounds sure talk thank thanks totally true wholeheartedly "
    "words wow ya yeah yep yes"
)
_AGREES: Final = frozenset(_AGREEMENT.split())
"""Words that only keep a talk going."""
_PER_CENT: Final = re.compile(r"\d+ ?%")
_ROLES: Final = {"user": "User", "assistant": "Assistant"}


def cluster(brief: SummaryRequest) -> str:
    """The texts of the members in order of time, those with one subject in one sentence that names it once.

    Every name, number and date stays, and none is added; the brief's number of words yields to that.

    Raises:
        ModelError: there is nothing to summarise.
    """
    ordered = sorted(brief.memories, key=lambda m: (_when(m), m.id))
    texts = list(dict.fromkeys(_plain(m.text) for m in ordered if m.text.strip()))
    if not texts:
        raise ModelError("nothing to summarise: the memories are empty")
    return _by_subject(texts)


def cascade(brief: SummaryRequest) -> str:
    """The clauses that cover most informative words, each speaker's together, in about the brief's number of words.

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
    """The first whole date its text tells, else when it was said, in ISO."""
    told = (exact(w.readings[0]) for w in mentioned(memory.text))
    return next((day for day in told if day[0].isdigit() and day.count("-") == _WHOLE), memory.at.date().isoformat())


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(" .;")


def _by_subject(texts: Sequence[str]) -> str:
    """Texts that open with the same subject joined by semicolons, the subject said once."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        found = _SUBJECT.match(text)
        subject = found.group() if found else ""
        groups.setdefault(subject or text, []).append(text[len(subject) :])
    return " ".join(f"{head}{_PIECE.join(parts)}." if parts != [head] else f"{head}." for head, parts in groups.items())


def _units(memory: Memory, speakers: set[str], *, alone: bool) -> list[SummaryClause]:
    """What may be selected of a message, or of a summary that was selected before."""
    text = remove_fenced_blocks(memory.text)
    if memory.kind != MESSAGE:
        return _again(memory, text)
    label = bare_name(memory.role, memory.speaker) or _ROLES.get(memory.role or "")
    cut = split_clauses(resolve(text, memory.at), speaker=label, position=memory.seq, speakers=speakers)
    found = [unit for unit in cut if _tells(unit.text, speakers)]
    if memory.role != "assistant" or memory.speaker or not alone:
        return found
    return [replace(unit, cues=unit.cues + ASSISTANT) for unit in found]


def _tells(text: str, speakers: set[str]) -> bool:
    """Whether a clause says something on its own: no scrap, no mere date, no mere agreement with those who talk."""
    if only_a_date(text) or (len(text.split()) < SHORTEST and not any(c.isdigit() for c in text)):
        return False
    called = {word for name in speakers for word in words(name)}
    return any(
        not (word in STOP_WORDS or word in _AGREES or any(name.startswith(word) for name in called))
        for word in words(_PER_CENT.sub("", text))
    )


def _again(memory: Memory, text: str) -> list[SummaryClause]:
    """The units of an earlier summary: its labelled lines cut where they were joined; a written text by its clauses."""
    position = memory.span[0] if memory.span else memory.seq
    found: list[SummaryClause] = []
    for line in text.splitlines():
        labelled = _LABEL.fullmatch(line)
        if labelled is None:
            found += split_clauses(line, position=position)
            continue
        for piece in labelled["rest"].split(_PIECE):
            weight = UNIT_CUES * sum(importance_cues(piece).values())
            found.append(SummaryClause(text=piece, speaker=labelled["label"], position=position, cues=weight))
    return found
