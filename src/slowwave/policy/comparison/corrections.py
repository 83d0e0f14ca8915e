"""Explicit corrections: a new fact that says in so many words that an old one no longer holds, or never did."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from slowwave.policy.comparison import vetoes
from slowwave.policy.comparison.alignment import Prepared, expanded, prepare
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import MODALS, NEGATIONS, PREPOSITIONS

Kind = Literal["ended", "changed", "corrected"]

_LONGEST: Final = 400  # characters; a correction is one plain sentence
_ANY_MORE: Final = r"\b(?:anymore|any more|any longer)\b"
_NO_LONGER: Final = lazy_regex(
    rf"\bno longer\b|\b(?:(?:do|does|did) )?not\b(?=.+{_ANY_MORE})|{_ANY_MORE}|\b(?:has |have )?(?:stopped|quit|ceased)\b(?=\s+\w+ing\b)",
    re.IGNORECASE,
)
_ACTUALLY: Final = lazy_regex(r"\b(?:actually|in fact)\b,?|\bafter all\b", re.IGNORECASE)
_NOT: Final = lazy_regex(r"\b(?:(?:do|does|did) not|not|never)\b", re.IGNORECASE)
_TAIL: Final = lazy_regex(
    r"[,;]\s+(?:the|my|their|they|he|she|it|so)\b.*|[,;(]|[.!](?=\s|$)|\b(?:because|since|as of|when|after|but|and now|now that|due to|instead)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_CHANGED: Final = (
    r"^(?P<subject>.+?)\s+(?:(?:has|have|had|was|were|is|got)\s+)?(?:been\s+)?"
    r"(?:switched|moved|changed|migrated|relocated|shifted|rescheduled|postponed)(?:\s+(?:back|over|away))?\b"
)
_CHANGES: Final = tuple(
    lazy_regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_CHANGED}(?P<thing>.*?)\s+from\s+(?P<old>.+?)\s+to\s+(?P<new>.+)",
        rf"{_CHANGED}(?P<thing>)\s+to\s+(?P<new>.+?)\s+from\s+(?P<old>.+)",
        r"^(?P<subject>.+?)\s+(?:has\s+|have\s+)?replaced(?P<thing>)\s+(?P<old>.+?)\s+(?:with|by)\s+(?P<new>.+)",
    )
)
_INSTEAD_OF: Final = lazy_regex(r"^(?P<head>.+?),?\s+(?:instead of|rather than)\s+(?P<old>.+)", re.IGNORECASE)
# Relations that a change from X to Y is about; nobody undoes "visited Paris" or "bought a piano" by moving.
_STATES: Final = frozenset(
    prepare("uses lives works prefers likes drives studies scheduled set planned based located takes place due").content
)
_ONLY_MEANT: Final = MODALS | {"going"}
_STOPPING: Final = frozenset({"stop", "stops", "stopped", "stopping", "quit", "quits", "quitting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a new fact does to an old one: `ended` and `changed` close its span, `corrected` says it was never so."""

    kind: Kind
    because: str


def correction(new: str, old: str, *, called: Collection[str] = ()) -> Correction | None:
    """Tell whether a newer fact explicitly ends, changes or corrects an older one; precision comes before recall.

    Both must be English, with the same subject, relation, numbers and names. Questions, plans and wishes correct nothing,
    and what is denied or past cannot end. That `new` is the later one is for the caller to know.

    Args:
        new: The newer fact.
        old: The older one.
        called: Names known to mean one and the same subject ("the user", "Matteo").

    Returns:
        How the old fact ends and why, in words; None if the new one does not plainly say so.
    """
    if max(len(new), len(old)) > _LONGEST:
        return None
    said, known = _one_name(expanded(new), called), _one_name(expanded(old), called)
    later, earlier = prepare(said), prepare(known)
    if not (later.english and earlier.english) or said.rstrip().endswith("?"):
        return None
    if frozenset(later.words) & (_ONLY_MEANT - _STOPPING) or frozenset(earlier.words) & (_ONLY_MEANT | NEGATIONS):
        return None
    kind = _ended(said, known) or _corrected(said, known) or _changed(said, known)
    return kind and Correction(kind=kind, because=f"{_REASONS[kind]}: “{new.strip()}”")


_REASONS: Final = {
    "ended": "A later fact says it is no longer so",
    "changed": "A later fact says what took its place",
    "corrected": "A later fact says it was not so",
}


def _one_name(text: str, called: Collection[str]) -> str:
    """Write one name for all that mean the subject."""
    if not called:
        return text
    names = "|".join(map(re.escape, sorted(called, key=lambda name: (-len(name), name))))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", "Subject", text, flags=re.IGNORECASE)


def _ended(new: str, old: str) -> Kind | None:
    """Read "no longer", "not … anymore", "stopped …ing": the statement without these words must be the old one."""
    if not _NO_LONGER.search(new) or _NO_LONGER.search(old) or prepare(old).past:
        return None
    gone = _TAIL.sub("", _NO_LONGER.sub(" ", new), count=1)
    return "ended" if _says(gone, old, allowed=frozenset()) else None


def _corrected(new: str, old: str) -> Kind | None:
    """Read "actually … not", "not … after all": the statement without these words must be the old one."""
    if not _ACTUALLY.search(new) or len(_NOT.findall(new)) != 1:
        return None
    denied = _TAIL.sub("", _NOT.sub(" ", _ACTUALLY.sub(" ", new)), count=1)
    return "corrected" if _says(denied, old, allowed=frozenset({"tense"})) else None


def _says(statement: str, old: str, *, allowed: frozenset[str]) -> bool:
    """Tell whether a statement is the old one, but for a place or purpose the old one adds at its end."""
    left, right = prepare(statement), prepare(old)
    if set(left.content) != set(right.content):
        right = _without_tail(right, left, old)
    same = left.content and set(left.content) == set(right.content) and left.content[0] == right.content[0]
    return bool(same) and not set(vetoes.fired(left, right)) - allowed


def _without_tail(sentence: Prepared, other: Prepared, text: str) -> Prepared:
    """Cut a sentence before its first preposition that the other lacks, unless a name or number would be lost."""
    for match in re.finditer(r"\w+", text):
        if match.group().casefold() in PREPOSITIONS - other.prepositions:
            shorter = prepare(text[: match.start()])
            return shorter if (shorter.capitals, shorter.numbers) == (sentence.capitals, sentence.numbers) else sentence
    return sentence


def _changed(new: str, old: str) -> Kind | None:
    """Read "moved from X to Y", "switched to Y from X", "replaced X with Y", "Y instead of X": the old fact must state X."""
    right = prepare(old)
    if right.past or NEGATIONS & frozenset(prepare(new).words):
        return None
    if found := _INSTEAD_OF.match(new):
        head = prepare(found["head"])
        return "changed" if _states(found["old"], right, head.content[:1], frozenset(head.content)) else None
    for pattern in _CHANGES:
        if found := pattern.match(new):
            subject = prepare(found["thing"].strip() or found["subject"]).content
            return "changed" if _states(found["old"], right, subject, _STATES) else None
    return None


def _states(value: str, old: Prepared, subject: tuple[str, ...], relations: frozenset[str]) -> bool:
    """Tell whether the old fact states this value of this subject, by a known relation and with nothing more."""
    gone = prepare(_TAIL.sub("", value, count=1))
    rest = old.content[len(subject) :]
    return (
        bool(subject and gone.content)
        and old.content[: len(subject)] == subject
        and set(gone.content) <= set(rest)
        and set(rest) - set(gone.content) <= relations
        and gone.numbers == old.numbers
        and gone.literals == old.literals
    )
