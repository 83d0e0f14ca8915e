"""Decides whether a proposed fact is supported by the messages it quotes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.alignment import prepare, stem as verb_stem
from slowwave.policy.comparison.negation import contradicts
from slowwave.policy.text import names as naming, word_frequency
from slowwave.policy.text.dates import WrittenDate, derivable, exact, mentioned, weekdays
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.quotes import QuoteSpan, locate
from slowwave.policy.text.tokens import STOP_WORDS, stem, terms, words

# Crimes, cruelties and insults. Words that mean something harmless as well (hit, beat, shoot) are left out.


@cache
def _roots() -> frozenset[str]:
    return frozenset(map(verb_stem, table_words("accusations")))


def unsupported_accusations(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The harmful words of a text that no source has, as written; in another form (theft, thief) they are others.

    >>> charges("The user wants to poison walnuts", ["I am allergic to walnuts"])
    ('poison',)
    """
    found = {word: root for word in words(text) if (root := verb_stem(word)) in _roots()}
    if not found:
        return ()
    said = {verb_stem(word) for source in sources for word in words(source)}
    return tuple(word for word, root in found.items() if root not in said)


CONTENT_MIN: Final = 0.3
"""Share of a fact's content that its source must hold where capitals do not tell names (Chinese, German), and of a
summary's that its members must."""
SUPPORT_MIN: Final = 0.5
"""Share of a fact's content that a message must hold to be taken for its source when the mind named none."""
_SUPPORT_TERMS: Final = 2
_SHORTEST_STEM: Final = 4  # "Deployment" opens a fact drawn from "deploys"
_TELLING_QUOTE: Final = 2  # content words; a shorter quote ("Thanks.") proves nothing by itself
_MISPLACED_QUOTE: Final = 12  # characters; a shorter one may stand anywhere by chance

# What a mind may call things by; none of it has to stand in the source.
_PARAPHRASE: Final = frozenset(
    terms("user assistant person people prefers wants likes needs goal project preference identity decision finding")
)
_GERMAN: Final = table_words("german_evidence")
_GERMAN_WORDS: Final = 2
_MYSELF: Final = table_words("first_person_singular")
_NOT_ALONE: Final = table_words("other_pronouns")
_EDGES: Final = ".,:;!?()\"'“”‘’"
_ENDING: Final = lazy_regex(r"(?:ing|ed|e?s)$")
_SENTENCE: Final = lazy_regex(r"[^.!?。！？\n]+[.!?。！？]*")


def ground(fact: Fact, transcript: Transcript) -> Fact | Rejected:
    """Tie a proposed fact to the message it rests on, or refuse it.

    The quote is looked for in the message the mind named, then, word for word, in the others; a fact that names no
    quote is kept only if a message supports it by itself.

    Returns:
        The fact with the number of its message and the quote as it stands there, or what is wrong with it.
    """
    turns = {turn.number: turn for turn in transcript.turns}
    turn, quote = _place(fact, turns) if fact.quote.strip() else (None, "")
    if turn is None and fact.quote.strip():
        return Rejected(text=fact.text, reason="its quote stands in no message", quote=fact.quote)
    if turn is None:
        return _supported(fact, transcript)
    placed = replace(fact, turn=turn.number, quote=quote)
    reason = check(placed, turn.memory, _around(turn, transcript), transcript.speakers)
    return Rejected(text=fact.text, reason=reason, quote=fact.quote) if reason else placed


def check(fact: Fact, turn: Memory, around: Sequence[Memory] = (), speakers: Collection[str] = ()) -> str | None:
    """Say why a fact cannot rest on a message; None if it can.

    Args:
        fact: What was proposed, with its quote; without one the whole message is the quote.
        turn: The message.
        around: The messages before and after it, which may lend names, numbers and dates.
        speakers: Names that anyone in the conversation bears.
    """
    if fact.quote and locate(fact.quote, turn.text) is None:
        return "its quote does not stand in the message"
    near = (turn, *around)
    if invented := _invented(fact, near, speakers):
        return invented
    if not _shares_content(fact, near, speakers):
        return "its quote says nothing of it"
    if opposite := _denied(fact, turn, near):
        return f"one affirms what the other denies: {opposite!r}"
    other = _swapped(fact, turn, speakers)
    return f"{turn.speaker} says it of themselves, and it tells of {other}" if other else None


def missing_details(summary: str, members: Sequence[Memory]) -> tuple[str, ...]:
    """List the names, numbers and dates of the members that a summary lost; empty if it keeps them all.

    Dates are compared by their parts: "March 12", or "12" where "March 2024" stands elsewhere, keep "March 12, 2024".
    """
    said, counted, when = naming.words(summary), naming.countable(summary), _date_parts(summary)
    missing: dict[str, None] = {}
    for member in members:
        found = naming.names(member.text)
        missing |= dict.fromkeys(n for n in (*found.inside, *found.opening) if not naming.is_named_in(n, said))
        for written in mentioned(member.text):
            if not any(date_parts(r) <= when | {f"d{n}" for n in counted} for r in written.readings):
                missing[member.text[written.start : written.end]] = None
        bare = strip_dates(member.text, mentioned(member.text))
        missing |= dict.fromkeys(n for n, forms in naming.numbers(bare).items() if not forms & counted)
        missing |= dict.fromkeys(d for d in weekdays(member.text) - weekdays(summary))
    return tuple(missing)


def invented_details(summary: str, members: Sequence[Memory]) -> tuple[str, ...]:
    """List the names, numbers and dates of a summary that no member holds; empty if it invents none.

    Dates may be derived from the members' own times. "Two" may be counted: most talk has two sides.
    """
    speakers = {name for m in members for name in (m.speaker, m.subject) if name}
    texts = [m.text for m in members]
    counted = frozenset().union(*map(naming.countable, texts)) | _years_and_days(members)
    numbers = naming.numbers(strip_dates(summary, mentioned(summary)))
    return (
        *_foreign_names(summary, _known_words(members, speakers), texts),
        *_foreign_dates(summary, members),
        *(n for n, forms in numbers.items() if not forms & counted and n.casefold() not in {"two", "couple"}),
    )


def shares_content(summary: str, members: Sequence[Memory]) -> bool:
    """Whether a summary speaks of its members at all, names aside."""
    wanted = content_stems(summary, {m.speaker for m in members if m.speaker})
    return (
        not wanted
        or coverage_ratio(wanted, frozenset().union(*(content_stems(m.text, ()) for m in members))) >= CONTENT_MIN
    )


def strip_dates(text: str, written: Iterable[WrittenDate]) -> str:
    """A text with its written dates taken out."""
    pieces, place = [], 0
    for each in written:
        pieces.append(text[place : each.start])
        place = each.end
    return " ".join((*pieces, text[place:]))


def _place(fact: Fact, turns: dict[int, Turn]) -> tuple[Turn | None, str]:
    """The message a quote stands in, and its words there: the one named, else an exact match in another."""
    named = turns.get(fact.turn or 0)
    if named and (found := locate(fact.quote, named.memory.text)):
        return named, _cut(named, found)
    if len(fact.quote.strip()) >= _MISPLACED_QUOTE:
        for turn in turns.values():
            found = locate(fact.quote, turn.memory.text)
            if found and found.exact:
                return turn, _cut(turn, found)
    return None, ""


def _cut(turn: Turn, found: QuoteSpan) -> str:
    return turn.memory.text[found.start : found.end]


def _around(turn: Turn, transcript: Transcript) -> tuple[Memory, ...]:
    said = [t.memory for t in transcript.turns]
    before = [*transcript.before[-1:], *said]
    place = before.index(turn.memory)
    return tuple(before[max(0, place - 1) : place] + before[place + 1 : place + 2])


def _supported(fact: Fact, transcript: Transcript) -> Fact | Rejected:
    """Find the message that holds most of a fact's content, at least half of it, and take its best sentence as quote."""
    wanted = content_stems(fact.text, transcript.speakers)
    best: tuple[float, Turn] | None = None
    for turn in transcript.turns:
        held = coverage_ratio(wanted, content_stems(turn.memory.text)) + (0.1 if turn.number == fact.turn else 0)
        if best is None or held > best[0]:
            best = (held, turn)
    if best is None or best[0] < SUPPORT_MIN or len(wanted) < _SUPPORT_TERMS:
        return Rejected(text=fact.text, reason="it names no message, and none supports it")
    sentences = [m.group().strip() for m in _SENTENCE.finditer(best[1].memory.text) if m.group().strip()]
    quote = max(sentences, key=lambda s: coverage_ratio(wanted, content_stems(s)))
    placed = replace(fact, turn=best[1].number, quote=quote)
    reason = check(placed, best[1].memory, _around(best[1], transcript), transcript.speakers)
    return Rejected(text=fact.text, reason=reason) if reason else placed


def _known_words(near: Iterable[Memory], speakers: Iterable[str]) -> frozenset[str]:
    texts = [text for m in near for text in (m.text, m.speaker or "")]
    return frozenset().union(*map(naming.words, (*texts, *speakers)))


def _foreign_names(text: str, known: frozenset[str], sources: Sequence[str]) -> list[str]:
    """Names of a text that are no known word. Where nouns have capitals (German), only what no noun could be."""
    found = naming.names(text)
    if _capitalises_nouns(sources):
        return []
    stems = tuple(begins for word in known if len(begins := _ENDING.sub("", word)) >= _SHORTEST_STEM)
    said = {stem(word) for word in known}  # "Dancing" opens a fact drawn from "dance"
    opening = [
        name for name in found.opening if not name.casefold().startswith(stems) and stem(name.casefold()) not in said
    ]
    return [name for name in (*found.inside, *opening) if not naming.is_named_in(name, known)]


def _capitalises_nouns(sources: Iterable[str]) -> bool:
    return any(len(naming.words(text) & _GERMAN) >= _GERMAN_WORDS for text in sources)


def _foreign_dates(text: str, near: Sequence[Memory]) -> list[str]:
    written = mentioned(text)
    if not written and not weekdays(text):
        return []
    allowed = frozenset().union(*(derivable(m.text, m.at) | weekdays(m.text) for m in near))
    dates = [text[w.start : w.end] for w in written if not any(exact(r) in allowed for r in w.readings)]
    return [*dates, *sorted(weekdays(text) - allowed)]


def _foreign_numbers(text: str, sources: Iterable[str]) -> list[str]:
    counted = frozenset().union(*map(naming.countable, sources))
    numbers = naming.numbers(strip_dates(text, mentioned(text)))
    return [number for number, forms in numbers.items() if not forms & counted]


def _shares_content(fact: Fact, near: Sequence[Memory], speakers: Collection[str]) -> bool:
    """Whether fact and source speak of one matter: much shared content where capitals tell nothing, else a telling quote."""
    wanted, held = content_stems(fact.text, speakers), frozenset().union(*(content_stems(m.text, ()) for m in near))
    if not _tells_names(fact.text) or _capitalises_nouns([m.text for m in near]):
        return not wanted or coverage_ratio(wanted, held) >= CONTENT_MIN
    if not any(_tells_names(m.text) for m in near):
        return bool(wanted & held)
    return bool(wanted & held) or len(content_stems(fact.quote or near[0].text, speakers)) >= _TELLING_QUOTE


def _invented(fact: Fact, near: Sequence[Memory], speakers: Collection[str]) -> str | None:
    """The name, date, number or accusation of a fact that no one said."""
    texts, known = [m.text for m in near], _known_words(near, speakers)
    if foreign := _foreign_names(fact.text, known, texts) or _foreign_opening(fact.text, known):
        return f"no one said the name {foreign[0]!r}"
    if foreign := _foreign_dates(fact.text, near):
        return f"the date {foreign[0]!r} does not follow from what was said"
    if foreign := _foreign_numbers(fact.text, texts):
        return f"no one said the number {foreign[0]!r}"
    harm = unsupported_accusations(fact.text, texts)
    return f"no one said {harm[0]!r}" if harm else None


def _foreign_opening(text: str, known: frozenset[str]) -> list[str]:
    """The first word of an English fact, if it is no common one and no one said it: whoever it tells of.

    Of 677 facts that a model drew from real talk (LoCoMo's observations) one begins so.
    """
    word = naming.bare(next(iter(text.split()), "")).strip(_EDGES)
    lower = word.casefold()
    if (
        not word.isalpha()
        or not word[0].isupper()
        or lower in word_frequency.probabilities()
        or not prepare(text).english
    ):
        return []
    said = naming.is_named_in(word, known) or stem(lower) in {stem(each) for each in known}
    return [] if said else [word]


def _denied(fact: Fact, turn: Memory, near: Sequence[Memory]) -> str | None:
    """The word on which a fact says the opposite of the sentences of its quote, or of the whole message."""
    said, beside = turn.text, [m.text for m in near]
    if fact.quote and (found := locate(fact.quote, said)):
        cut = [m.group() for m in _SENTENCE.finditer(said) if m.start() < found.end and found.start < m.end()]
        if opposite := contradicts(fact.text, cut, beside):
            return opposite
    return contradicts(fact.text, [said], beside)


def _swapped(fact: Fact, turn: Memory, speakers: Collection[str]) -> str | None:
    """The other speaker that a fact begins with, where the one who spoke says "I", speaks of no one else, and is not in it.

    Of 677 facts that a model drew from real talk (LoCoMo's observations) this refuses 4, of which 3 are wrong indeed;
    with the two speakers exchanged it refuses half of them.
    """
    if (
        not turn.speaker
        or fact.text.startswith(turn.speaker)
        or naming.is_named_in(turn.speaker, naming.words(fact.text))
    ):
        return None
    quote = naming.words(fact.quote or turn.text)
    if not quote & _MYSELF or quote & _NOT_ALONE:
        return None
    others = (name for name in sorted(speakers) if name != turn.speaker and fact.text.startswith(name))
    return next((name for name in others if not naming.is_named_in(name, quote)), None)


def _tells_names(text: str) -> bool:
    """Whether most letters of a text know upper and lower case."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c.lower() != c.upper() for c in letters) >= len(letters)


def content_stems(text: str, names: Iterable[str] = ()) -> frozenset[str]:
    """The stems of a text that tell something: no stop words, none of these names, none that a mind may add."""
    return _telling(text) - _PARAPHRASE - {term for name in names for term in terms(name)}


@lru_cache(maxsize=256)  # the facts of one chunk rest on the same few messages
def _telling(text: str) -> frozenset[str]:
    bare = " ".join(w for w in text.split() if w.lower().strip(".,!?;:'\"") not in STOP_WORDS)
    return frozenset(terms(bare))


def coverage_ratio(wanted: frozenset[str], held: frozenset[str]) -> float:
    """How much of what is wanted is held, 0 to 1."""
    return len(wanted & held) / len(wanted) if wanted else 0.0


def date_parts(reading: tuple[int | None, int | None, int | None]) -> frozenset[str]:
    """A date by its parts: y2026, m3, d7."""
    return frozenset(f"{letter}{part}" for letter, part in zip("ymd", reading, strict=True) if part)


def _date_parts(text: str) -> frozenset[str]:
    return frozenset().union(*(date_parts(r) for w in mentioned(text) for r in w.readings))


def _years_and_days(members: Iterable[Memory]) -> frozenset[str]:
    """The years and day numbers of the members' dates, as numbers: a list of days may share its month."""
    return frozenset(part[1:] for m in members for part in _date_parts(m.text) if part[0] in "yd")
