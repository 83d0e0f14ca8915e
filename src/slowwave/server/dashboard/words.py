"""The words of the dashboard for names of the library: causes, stages, phases, parts of a score, and what was changed."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from slowwave.model.counted import counted
from slowwave.model.memory import MESSAGE, NOTE, SUMMARY, Memory

CAUSES: Final[Mapping[str, str]] = {
    "add": "Fact stated",
    "add_messages": "Messages stored",
    "observe": "Messages stored",
    "consolidate": "Facts extracted",
    "distil": "Facts extracted",
    "sleep": "Sleep pass",
    "undo": "Undo",
    "import": "Import",
    "erase": "Erase",
    "edit": "Edit",
    "note": "Note",
    "use": "Used",
}
"""The headings of runs by the first part of their cause. A cause that is not listed is shown as it is."""
STAGES: Final[Mapping[str, str]] = {
    "distil": "Facts from unread messages",
    "retry": "Facts that waited for a model",
    "duplicates": "Duplicates",
    "merge": "Merged",
    "compress": "Summaries of fading facts",
    "cascade": "Summaries of conversations",
    "fade": "Faded",
    "expire": "Expired",
    "promote": "Core memory",
    "refresh": "Rescheduled",
    "reembed": "Vectors",
}
"""The headings of the stages of a sleep pass by the second part of their cause."""
PHASES: Final[Mapping[str, str]] = {
    "active": "in use",
    "core": "core memory",
    "cold": "archived",
    "superseded": "replaced",
    "retracted": "deleted",
    "quarantined": "withheld",
}
"""The words for the phases of a memory."""
PARTS: Final[Mapping[str, str]] = {
    "asked": "speaker",
    "user": "speaker",
    "question": "only a question",
    "dated": "has a date",
    "placed": "names a place",
    "cue": "kind of answer",
    "estimated": "estimated meaning",
    "lent": "its facts",
}
"""The words for parts of a score whose own names do not explain themselves."""
LINES: Final[Mapping[str, str]] = {
    **STAGES,
    "hot": "in use",
    "cold": "archived",
    "superseded or retracted": "replaced or deleted",
    "under review": "withheld",
    "cold below": "archived below",
}
"""The words for the lines of charts whose own names are those of the library."""
PAIRS: Final[Mapping[str, str]] = {
    "value changed?": "One may be the newer value of the other.",
    "conflict?": "They may contradict each other.",
    "unsure": "It is not certain whether one replaces the other.",
}
"""What is asked about two facts, by the kind of the finding."""
NOUNS: Final[Mapping[str, str]] = {MESSAGE: MESSAGE, NOTE: NOTE, SUMMARY: SUMMARY}
"""The words for kinds of memories that are not facts."""


def noun_of(memory: Memory) -> str:
    """The word for what a memory is: "message", "note", "summary" or "fact"."""
    return NOUNS.get(memory.kind, "fact")


def cause_title(cause: str) -> str:
    """The heading of a run or a stage.

    >>> cause_title("sleep"), cause_title("sleep/fade"), cause_title("mine")
    ('Sleep pass', 'Faded', 'mine')
    """
    first, _, stage = cause.partition("/")
    return STAGES.get(stage, stage) if stage and first == "sleep" else CAUSES.get(first, cause)


def tell_counts(counts: Mapping[tuple[str, str], int]) -> str:
    """The number of changes by what was changed and how, facts first.

    >>> tell_counts({("summary", "added"): 1, ("fact", "added"): 1, ("fact", "archived"): 4})
    '1 fact added, 4 archived, 1 summary added'
    """
    by_noun: dict[str, Counter[str]] = {}
    for (noun, kind), number in counts.items():
        by_noun.setdefault(noun, Counter())[kind] += number
    ordered = sorted(by_noun, key=lambda noun: noun != "fact")
    parts = []
    for noun in ordered:
        first, *others = by_noun[noun].items()
        parts.append(f"{counted(first[1], noun, 'summaries' if noun == SUMMARY else '')} {first[0]}")
        parts += [f"{number:,} {kind}" for kind, number in others]
    return ", ".join(parts)
