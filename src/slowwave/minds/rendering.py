"""Writes transcripts, cases and briefs as the lines a model is shown: numbered, dated, and fenced as data."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from slowwave.model.fact import Brief, Case, Transcript
from slowwave.model.memory import Memory
from slowwave.policy.fence import NOTICE, escape, marker
from slowwave.policy.labels import short_name

SHOWN: Final = 24_000  # characters of one text, about 6,000 tokens; the rest is cut, visibly
TOGETHER: Final = 48_000  # characters of all texts of a question about memories, about 12,000 tokens
_FEWEST: Final = 3


def fenced(lines: Iterable[str], task: str) -> str:
    """The lines between marks that none of them can hold, with a line that says they are data."""
    mark = marker(b"", task, None)
    return "\n".join((f"<{mark}>", NOTICE, *lines, f"</{mark}>"))


def conversation(transcript: Transcript) -> list[str]:
    """A transcript, each message under its number, with its own time and speaker."""
    before = [f"[earlier] {_said(memory)}" for memory in transcript.before]
    return [*before, *(f"[{turn.number}] {_said(turn.memory)}" for turn in transcript.turns)]


def how_many(transcript: Transcript) -> str:
    """How many facts are wanted, in words: 3 to the most there may be."""
    if transcript.most <= _FEWEST:
        return f"at most {transcript.most} facts"
    return f"{_FEWEST} to {transcript.most} facts, fewer if fewer are worth it"


def cases(asked: Sequence[Case]) -> list[str]:
    """New facts, each with the memories it may have to do with, under their numbers and with their dates."""
    lines = []
    texts = [
        text for case in asked for text in (case.fact.text, case.fact.quote, *(c.memory.text for c in case.candidates))
    ]
    most = fair_share(map(len, texts))
    for case in asked:
        quote = f' (said: "{_line(case.fact.quote, most)}")' if case.fact.quote else ""
        lines.append(
            f"New fact {case.number} ({_day(case.fact.valid_from or case.at)}): {_line(case.fact.text, most)}{quote}"
        )
        lines += [
            f"  Memory {known.number} ({_day(known.memory.at)}{', fixed' if known.fixed else ''}): "
            f"{_line(known.memory.text, most)}"
            for known in case.candidates
        ]
    return lines


def memories(brief: Brief) -> list[str]:
    """What is to be summarised: messages as they were said, facts and summaries as a numbered list."""
    most = fair_share(len(memory.text) for memory in brief.memories)
    return [
        _said(memory, most)
        if memory.speaker or memory.role
        else f"{place}. [{_day(memory.at)}] {_line(memory.text, most)}"
        for place, memory in enumerate(brief.memories, 1)
    ]


def fair_share(lengths: Iterable[int]) -> int:
    """How many characters of each text are shown, so that all fit together: the short ones whole, the long ones alike.

    >>> fair_share([100, 200]), fair_share([100, 47_000, 90_000]), fair_share([90_000])
    (24000, 23950, 24000)
    """
    room, texts = TOGETHER, sorted(lengths)
    for place, length in enumerate(texts):
        share = room // (len(texts) - place)
        if length > share:
            return min(share, SHOWN)
        room -= length
    return SHOWN


def _said(memory: Memory, most: int = SHOWN) -> str:
    when = memory.at.strftime("%a %Y-%m-%d %H:%M UTC") if memory.at.year > 999 else memory.at.isoformat()  # noqa: PLR2004 - strftime writes years of four digits only
    return f"{when}, {escape(short_name(memory.role, memory.speaker))}: {_line(memory.text, most)}"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.date().isoformat()}"


def _line(text: str, most: int = SHOWN) -> str:
    """A text that can neither end the fence nor pass for another line of it: what follows a line break is indented."""
    shown = text if len(text) <= most else f"{text[:most]} [… {len(text) - most:,} characters more]"
    return "\n      ".join(escape(line) for line in shown.splitlines() if line.strip())
