"""Detects explicit corrections: a new fact that states that an old one no longer holds ("ended", "changed") or never did."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from slowwave.policy.comparison import vetoes
from slowwave.policy.comparison.alignment import Prepared, expanded, prepare
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import MODALS, NEGATIONS, PREPOSITIONS
from slowwave.policy.text.names import names

Kind = Literal["ended", "changed", "corrected"]

_LONGEST: Final = 400  # characters; a correction is a single sentence
_ANY_MORE: Final = r"\b(?:anymore|any more|any longer)\b"
_NO_LONGER: Final = lazy_regex(
    rf"\bno longer\b|\b(?:(?:do|does|did) )?not\b(?=.+{_ANY_MORE})|{_ANY_MORE}|\b(?:has |have )?(?:stopped|quit|ceased)\b(?=\s+\w+ing\b)",
    re.IGNORECASE,
)
_ACTUALLY: Final = lazy_regex(r"\b(?:actually|in fact)\b,?|\bafter all\b", re.IGNORECASE)
# What a speaker says before a plain denial of what they said earlier.
TAKEN_BACK: Final = lazy_regex(
    r"^(?:sorry|oops|ok(?:ay)?|no)?[\s,.!–—-]*(?:(?:i|the user) (?:lied|was (?:lying|joking|kidding|wrong|mistaken))"
    r"|(?:that|it) was (?:a lie|a joke|wrong|not true)|(?:just )?kidding|turns out(?: that)?|it turns out(?: that)?)\b[\s,:;.!–—-]*",
    re.IGNORECASE,
)
_DENIAL: Final = lazy_regex(r"(?:\b(?:do|does|am|is|are)|['’](?:m|re|s)) not\b", re.IGNORECASE)
_PROGRESSIVE: Final = lazy_regex(r"(?:\b(?:am|is|are)|['’](?:m|re|s)) not\s+\w+ing\b", re.IGNORECASE)
_PERSON: Final = lazy_regex(r"^(?:the user|user|i|we|subject)\b", re.IGNORECASE)
_NOT: Final = lazy_regex(r"\b(?:(?:do|does|did) not|not|never)\b", re.IGNORECASE)
# The rest of a sentence after its main statement: a new clause, a reason, a time.
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
# Relations whose value a change from X to Y replaces. A move does not undo "visited Paris" or "bought a piano".
_STATES: Final = frozenset(
    prepare("uses lives works prefers likes drives studies scheduled set planned based located takes place due").content
)
_NOT_FACTUAL: Final = MODALS | {"going"}
_STOPPING: Final = frozenset({"stop", "stops", "stopped", "stopping", "quit", "quits", "quitting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """How a new fact affects an old one: "ended" and "changed" end its validity, "corrected" says that it was never true."""

    kind: Kind
    because: str


def correction(new: str, old: str, *, called: Collection[str] = ()) -> Correction | None:
    """Whether a newer fact explicitly ends, changes or corrects an older one. Doubtful cases return None.

    Both must be English, with the same subject, relation, numbers and names. Questions, plans and wishes correct nothing; a
    fact that is negative or about the past cannot end. The caller must ensure that `new` is the later one.

    Args:
        new: The newer fact.
        old: The older one.
        called: Names that are known to mean the same subject ("the user", "Matteo").

    Returns:
        The kind of correction and an explanation; None if there is no explicit one.

    >>> correction("Ann no longer lives in Rome", "Ann lives in Rome").kind  # type: ignore[union-attr]
    'ended'
    """
    if max(len(new), len(old)) > _LONGEST:
        return None
    new_text, old_text = _with_one_name(expanded(new), called), _with_one_name(expanded(old), called)
    later, earlier = prepare(new_text), prepare(old_text)
    if not (later.english and earlier.english) or new_text.rstrip().endswith("?"):
        return None
    if frozenset(later.words) & (_NOT_FACTUAL - _STOPPING) or frozenset(earlier.words) & (_NOT_FACTUAL | NEGATIONS):
        return None
    kind = (
        _ended(new_text, old_text)
        or _corrected(new_text, old_text)
        or _denied(new_text, old_text)
        or _changed(new_text, old_text)
    )
    return kind and Correction(kind=kind, because=f"{_REASONS[kind]}: “{new.strip()}”")


_REASONS: Final = {
    "ended": "A later fact says it is no longer so",
    "changed": "A later fact says what took its place",
    "corrected": "A later fact says it was not so",
}


def _with_one_name(text: str, called: Collection[str]) -> str:
    """The text with every name of the subject replaced by the same word."""
    if not called:
        return text
    forms = "|".join(map(re.escape, sorted(called, key=lambda name: (-len(name), name))))
    return re.sub(rf"(?<!\w)(?:{forms})(?!\w)", "Subject", text, flags=re.IGNORECASE)


def _ended(new: str, old: str) -> Kind | None:
    """Detect "no longer", "not … anymore", "stopped …ing": without these words the sentence must equal the old fact."""
    if not _NO_LONGER.search(new) or _NO_LONGER.search(old) or prepare(old).past:
        return None
    statement = _TAIL.sub("", _NO_LONGER.sub(" ", new), count=1)
    return "ended" if _equals(statement, old, allowed=frozenset()) else None


def _corrected(new: str, old: str) -> Kind | None:
    """Detect "actually … not", "not … after all": without these words the sentence must equal the old fact."""
    if not _ACTUALLY.search(new) or len(_NOT.findall(new)) != 1:
        return None
    denied = _TAIL.sub("", _NOT.sub(" ", _ACTUALLY.sub(" ", new)), count=1)
    return "corrected" if _equals(denied, old, allowed=frozenset({"tense"})) else None


def _denied(new: str, old: str) -> Kind | None:
    """Detect a plain denial of what is known about a person: without its "not" the sentence must equal the old fact.

    "I lied, I'm not vegetarian" corrects "I'm vegetarian"; "I'm not vegetarian" ends it. The denial of something in progress
    ends nothing, and neither does that of an unnamed person: "A man is not running" is about another man.
    """
    statement = TAKEN_BACK.sub("", new)
    if len(_DENIAL.findall(statement)) != 1 or len(_NOT.findall(statement)) != 1 or _PROGRESSIVE.search(statement):
        return None
    if not (_PERSON.match(statement) or names(statement).opening):
        return None
    affirmed = _TAIL.sub("", _NOT.sub(" ", statement), count=1)
    if prepare(old).past or not _equals(affirmed, old, allowed=frozenset()):
        return None
    return "corrected" if statement != new else "ended"


def _equals(statement: str, old: str, *, allowed: frozenset[str]) -> bool:
    """Whether a statement equals the old fact, or the old fact without a place or purpose at its end."""
    left, right = prepare(statement), prepare(old)
    if set(left.content) != set(right.content):
        right = _without_tail(right, left, old)
    same = left.content and set(left.content) == set(right.content) and left.content[0] == right.content[0]
    return bool(same) and not set(vetoes.fired(left, right)) - allowed


def _without_tail(sentence: Prepared, other: Prepared, text: str) -> Prepared:
    """The sentence up to its first preposition that the other lacks, unless a name or number would be lost."""
    for match in re.finditer(r"\w+", text):
        if match.group().casefold() in PREPOSITIONS - other.prepositions:
            shorter = prepare(text[: match.start()])
            return shorter if (shorter.capitals, shorter.numbers) == (sentence.capitals, sentence.numbers) else sentence
    return sentence


def _changed(new: str, old: str) -> Kind | None:
    """Detect "moved from X to Y", "switched to Y from X", "replaced X with Y", "Y instead of X": the old fact must state X."""
    right = prepare(old)
    if right.past or NEGATIONS & frozenset(prepare(new).words):
        return None
    if match := _INSTEAD_OF.match(new):
        head = prepare(match["head"])
        return "changed" if _states(match["old"], right, head.content[:1], frozenset(head.content)) else None
    for pattern in _CHANGES:
        if match := pattern.match(new):
            subject = prepare(match["thing"].strip() or match["subject"]).content
            return "changed" if _states(match["old"], right, subject, _STATES) else None
    return None


def _states(value: str, old: Prepared, subject: tuple[str, ...], relations: frozenset[str]) -> bool:
    """Whether the old fact states exactly this value of this subject, by one of these relations."""
    ended = prepare(_TAIL.sub("", value, count=1))
    rest = old.content[len(subject) :]
    return (
        bool(subject and ended.content)
        and old.content[: len(subject)] == subject
        and set(ended.content) <= set(rest)
        and set(rest) - set(ended.content) <= relations
        and ended.numbers == old.numbers
        and ended.literals == old.literals
    )
