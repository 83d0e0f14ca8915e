"""Whether a summary says, sentence by sentence, what its members say: their words, their pairs, their yes and no."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.comparison.negation import contradicts
from slowwave.policy.guard.grounding import (
    content_stems,
    coverage_ratio,
    date_parts,
    strip_dates,
    unsupported_accusations,
)
from slowwave.policy.text import names
from slowwave.policy.text.dates import derivable, exact, mentioned
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

SUPPORTED: Final = 0.5
"""Share of a sentence's content, dates and numbers aside, that the members must hold."""
SUPPORTED_TALK: Final = 0.2
"""The same where many messages become few sentences, in the writer's words."""
REWORDED: Final = 0.7
"""Share of the content of two facts in one that the two must hold."""
_TURNED_TALK: Final = 2
_LONGEST: Final = 64  # words of one group of a sentence; so a long text costs no more than its length
_STRANGERS: Final = 3  # content words that no member has: so many in one clause are a claim of their own
_SENTENCE: Final = lazy_regex(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])\s*|;\s*|\n+")
_CLAUSE: Final = lazy_regex(r"[,:()]\s|\s(?:and|but|or|who|which|while|because)\s|\s[-–—]\s|—")
_WORD: Final = lazy_regex(r"[^\W_]+(?:['’][^\W\d_]+)*")

Owners = frozenset[int]


def unsupported_by_facts(summary: str, members: Sequence[Memory]) -> str | None:
    """Why a summary of facts says something that its members do not; None if nothing is found.

    Of each sentence, most content words must stand in the members, and those of no clause be all its own; what it names
    beside a date or a number must belong to it in one member (lists in the same order do); and it may neither deny what
    they affirm, nor affirm what they deny, nor accuse. Where a word that all members share is lost, none may be new.

    Cut from the members, as a summary without a model is, each sentence passes.
    """
    texts = [member.text for member in members]
    held = frozenset().union(*map(content_stems, texts))
    common = frozenset.intersection(*(content_stems(_plain(text)) for text in texts)) if len(texts) > 1 else frozenset()
    lost = common - content_stems(summary)
    for sentence in _sentences(summary):
        wanted = content_stems(_plain(sentence))
        strangers = wanted - held
        if (
            (wanted and coverage_ratio(wanted, held) < SUPPORTED)
            or (lost and strangers)
            or _strange_clause(sentence, held)
        ):
            return f"no memory says {_first(sentence, strangers or wanted)!r}"
        if value := _mispaired(sentence, members):
            return f"{value!r} stands beside what another memory says"
        if reason := _against(sentence, _nearest(sentence, texts), texts):
            return reason
    return None


def unsupported_rewording(text: str, new: Memory, known: Memory) -> str | None:
    """Why a mind's words may not stand for a new fact in the light of a known one; None if nothing is found.

    Where both have a word, the new fact tells whether it is affirmed; what else is said must stand in one of the two,
    and half of the new fact's content in the words.
    """
    if word := contradicts(text, [new.text], [known.text]):
        return f"one affirms what the other denies: {word!r}"
    both = (new.text, known.text)
    if harm := unsupported_accusations(text, both):
        return f"no memory says {harm[0]!r}"
    wanted, told = content_stems(text), content_stems(new.text)
    if lost := told - wanted if told and coverage_ratio(told, wanted) < SUPPORTED else frozenset():
        return f"{_first(new.text, lost)!r} would be lost"
    held = told | content_stems(known.text)
    if wanted and coverage_ratio(wanted, held) < REWORDED:
        return f"no memory says {_first(text, wanted - held)!r}"
    return None


def unsupported_by_transcript(summary: str, messages: Sequence[Memory]) -> str | None:
    """Why a summary of talk says something that was not said; None if nothing is found. Looser than `unsupported`."""
    texts = [message.text for message in messages]
    held = frozenset().union(*map(content_stems, (*texts, *(m.speaker for m in messages if m.speaker))))
    for sentence in _sentences(summary):
        wanted = content_stems(_plain(sentence))
        if len(wanted) > 1 and coverage_ratio(wanted, held) < SUPPORTED_TALK:
            return f"no message says {_first(sentence, wanted - held)!r}"
        if reason := _against(sentence, texts, texts, turned=_TURNED_TALK):
            return reason
    return None


def omitted_words(text: str, stated: str) -> tuple[str, ...]:
    """The content words of a statement that a text in its place does not have, as written."""
    said = {stem(word) for word in words(text)}
    return tuple(dict.fromkeys(w for w in words(stated) if w not in STOP_WORDS and stem(w) not in said))


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE.split(text) if piece.strip()]


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """A text without its dates and numbers, which others look at."""
    bare = strip_dates(text, mentioned(text))
    return " ".join(word for word in bare.split() if not any(c.isdigit() for c in word))


def _first(sentence: str, stems: frozenset[str]) -> str:
    return next((word for word in words(sentence) if stem(word) in stems), sentence)


def _strange_clause(sentence: str, held: frozenset[str]) -> bool:
    clauses = (content_stems(_plain(clause)) for clause in _CLAUSE.split(sentence))
    return any(len(told - held) >= _STRANGERS and coverage_ratio(told, held) < SUPPORTED for told in clauses)


def _nearest(sentence: str, texts: Sequence[str]) -> list[str]:
    """The texts that have most words of one of its clauses."""
    stems = [content_stems(text) for text in texts]
    drawn: set[int] = set()
    for clause in (sentence, *_CLAUSE.split(sentence)):
        shared = [len(content_stems(clause) & each) for each in stems]
        drawn |= {place for place, count in enumerate(shared) if count == max(shared) > 0}
    return [texts[place] for place in sorted(drawn)]


def _against(sentence: str, near: Sequence[str], texts: Sequence[str], *, turned: int = 1) -> str | None:
    """What a sentence denies, affirms or accuses against what it rests on."""
    if word := contradicts(sentence, near, words=turned):
        return f"one affirms what the other denies: {word!r}"
    harm = unsupported_accusations(sentence, texts)
    return f"no memory says {harm[0]!r}" if harm else None


def _mispaired(sentence: str, members: Sequence[Memory]) -> str | None:
    """A name, number or date of a sentence that stands beside words of other members only; None if there is none."""
    everyone = frozenset(range(len(members)))
    found = [(text, own, value) for text, own, value in _marks(sentence, members) if own and own != everyone]
    values = [mark for mark in found if mark[2]]
    if not values or len(values) == len(found) or reduce(frozenset.__and__, (own for _, own, _ in found)):
        return None
    ends = {0}  # where a run of whole groups may end
    for end in range(1, len(found) + 1):
        if any(n in ends and _belongs(found[n:end]) for n in range(max(0, end - _LONGEST), end)):
            ends.add(end)
    return None if len(found) in ends else values[0][0]


def _belongs(group: Sequence[tuple[str, Owners, bool]]) -> bool:
    """Whether the values of a group have a word of their own member in it: one member's, or two lists in one order."""
    values = [own for _, own, value in group if value]
    others = [own for _, own, value in group if not value]
    if not values:
        return True
    if not others:
        return False
    if reduce(frozenset.__and__, (*values, *others)):
        return True
    if sum(a != b for a, b in pairwise(value for _, _, value in group)) != 1:
        return False
    left, right = _runs(values), _runs(others)
    return len(left) == len(right) and all(a & b for a, b in zip(left, right, strict=True))


def _runs(owners: Iterable[Owners]) -> list[Owners]:
    """Neighbours of one member taken together."""
    runs: list[Owners] = []
    for own in owners:
        if runs and runs[-1] & own:
            runs[-1] &= own
        else:
            runs.append(own)
    return runs


def _marks(sentence: str, members: Sequence[Memory]) -> list[tuple[str, Owners, bool]]:
    """Each date, number, name and content word in order, with the members that have it, and whether it is a value."""
    held = [_held(member.text) for member in members]
    marks: list[tuple[int, str, Owners, bool]] = []
    written = mentioned(sentence)
    for each in written:
        said = sentence[each.start : each.end]
        own = frozenset(n for n, m in enumerate(members) if any(_dated(r, m) for r in each.readings))
        marks.append((each.start, said, own, True))
    called = names.names(sentence)
    named = {*called.inside, *called.opening}
    for token in _WORD.finditer(sentence):
        if any(each.start <= token.start() < each.end for each in written) or token.group().lower() in STOP_WORDS:
            continue
        own = frozenset().union(*(_owners(word, held) for word in words(token.group())))
        value = any(c.isdigit() for c in token.group()) or names.bare(token.group()) in named
        marks.append((token.start(), token.group(), own, value))
    return [(said, own, value) for _, said, own, value in sorted(marks)]


def _owners(word: str, held: Sequence[frozenset[str]]) -> Owners:
    return frozenset(place for place, stems in enumerate(held) if stem(word) in stems)


@lru_cache(maxsize=1024)
def _held(text: str) -> frozenset[str]:
    days = (
        part[1:] for written in mentioned(text) for r in written.readings for part in date_parts(r) if part[0] in "yd"
    )
    return frozenset((*map(stem, words(text)), *days, *names.countable(text)))


def _dated(reading: tuple[int | None, int | None, int | None], member: Memory) -> bool:
    told = (date_parts(r) for written in mentioned(member.text) for r in written.readings)
    return any(date_parts(reading) <= each for each in told) or exact(reading) in derivable(member.text, member.at)
