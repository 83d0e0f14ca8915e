"""Decides whether a proposed fact is supported by the message that it quotes.

A fact is refused in these cases:

- Its quote is not in the message.
- It has a content word, name, number or date that none of the messages has that it names.
- It says the opposite of the message.
- The message only asks it, supposes it, or says it of somebody else.
- It attributes to one speaker a statement that another speaker made about themselves.

A denial in words whose message has no negation is replaced by the sentence as it was said.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.negation import NO, contradicts, negates, polarities
from slowwave.policy.guard import evidence
from slowwave.policy.guard.people import without_people
from slowwave.policy.guard.support import holders, not_stated, unsupported, written_out
from slowwave.policy.guard.trust import ORDER
from slowwave.policy.text import names as naming
from slowwave.policy.text.clauses import is_question, sentence_runs
from slowwave.policy.text.date_spans import WrittenSpan, span_follows, written_spans
from slowwave.policy.text.dates import WrittenDate, derivable, exact, mentioned, weekdays
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.quotes import QuoteSpan, locate
from slowwave.policy.text.relative_dates import COUNTS
from slowwave.policy.text.tokens import STOP_WORDS, stem, terms

CONTENT_MIN: Final = 0.3
"""The least share of the content words of a summary that its members must contain."""
SUPPORT_MIN: Final = 0.5
"""The least share of a fact's content words that a message must contain to be its source if the mind named none."""
_SUPPORT_TERMS: Final = 2  # the least number of content words of a fact without a quote
_SHORTEST_STEM: Final = 4  # letters by which "Deployment" at the start of a fact matches "deploys" in its source
_MISPLACED_QUOTE: Final = 12  # characters; a shorter quote can occur in another message by chance

# Words by which a mind may describe content; the source need not contain them.
_PARAPHRASE: Final = frozenset(
    terms("user assistant person people prefers wants likes needs goal project preference identity decision finding")
)
_GERMAN: Final = table_words("german_evidence")
_GERMAN_WORDS: Final = 2
_TITLES: Final = MappingProxyType({"dr": "doctor", "prof": "professor", "st": "saint", "mt": "mount"})
_EDGES: Final = ".,:;!?()\"'“”‘’"
_ENDING: Final = lazy_regex(r"(?:ing|ed|e?s)$")
_CLAUSE: Final = lazy_regex(
    r"(?:(?![.!?;:,\n–—]|\s(?:but|and|or|because|although|though|while|whereas|so|which|who)\s).)+", re.IGNORECASE
)
_ORDINAL: Final = lazy_regex(r"\b([1-3]?\d)(?:st|nd|rd|th)\b")
_YEARS: Final = lazy_regex(
    rf"\b(\d{{1,2}}|{'|'.join(word for word in COUNTS if len(word) > len('an'))})\s+years?\b", re.IGNORECASE
)
_ORDINAL_DAYS: Final = 62
"""How many days from a message a bare ordinal ("from the 10th to the 14th") may name a day."""

OPPOSITE: Final = "one affirms what the other denies"
"""How the reason begins of a fact that says the opposite of its message."""
_FIRST_TURNS: Final = 3

RESTS_ON_MAX: Final = 6
"""The most messages that a fact rests on; further ones that it names are ignored."""


def ground(fact: Fact, transcript: Transcript) -> Fact | Rejected:
    """Find the message that supports a proposed fact, or refuse the fact.

    The quote is looked for in the message that the mind named, then, only exactly, in the others. A fact without a quote is
    accepted if one message contains enough of its content words.

    Returns:
        The fact with the numbers of its messages and the quote as the message has it, or the reason of the refusal.
    """
    turns = {turn.number: turn for turn in transcript.turns}
    turn, quote = _locate_quote(fact, turns) if fact.quote.strip() else (None, "")
    if turn is None and fact.quote.strip():
        return Rejected(text=fact.text, reason="no message contains its quote", quote=fact.quote)
    if turn is None:
        return _ground_without_quote(fact, transcript)
    placed = _placed(fact, turn, quote, turns)
    reason = check(placed, turn.memory, lenders(placed, transcript), transcript.speakers)
    if reason and reason.startswith(OPPOSITE) and (said := _as_said(placed, turn.memory)):
        return said
    reason = reason or _unsaid(placed, transcript)
    return Rejected(text=fact.text, reason=reason, quote=fact.quote) if reason else placed


def _as_said(fact: Fact, message: Memory) -> Fact | None:
    """For a denial that its message does not have in this form: what was said, and who said it; None for another fact.

    It is true whatever it means: "Tim said: I got a no for the job" in place of "Tim did not get the job".
    """
    sentence = _statements_of(fact.quote, message.text)
    if not negates(fact.text) or not sentence:
        return None
    return replace(
        fact, text=f"{message.speaker or 'The user'} said: {sentence}", turns=(fact.turn or 0,), valid_from=message.at
    )


def _statements_of(quote: str, text: str) -> str:
    """The sentences of a message in which a quote stands, without questions, on one line."""
    start = max(0, text.find(quote))
    runs = [run for run in sentence_runs(text) if run.start() < start + len(quote) and start < run.end()]
    return " ".join(" ".join(run.group().split()) for run in runs if not is_question(run.group()))


def _unsaid(fact: Fact, transcript: Transcript) -> str | None:
    """Why the messages that a fact names do not say it; None if they do. Of those beside them only a question counts here."""
    turns = {turn.number: turn.memory for turn in transcript.turns}
    messages = [turns[number] for number in fact.turns]
    quoted = messages[0]
    beside = lenders(fact, transcript)
    lending = [message for message in beside if "?" in message.text or message.speaker == quoted.speaker]
    if day := evidence.wrong_day(fact.text, fact.quote, quoted, messages, lending):
        return f"the date {day!r} does not follow from the source messages"
    if other := evidence.unaddressed_speaker(fact.text, fact.quote, messages, transcript.speakers):
        return f"the fact is about {other}, whom no message that it names says, names or addresses"
    if other := evidence.unheard_speaker(fact.text, messages, transcript.speakers):
        return f"the fact tells what {other} said, and others said the messages that it names"
    if not content_stems(fact.text, transcript.speakers):
        return "it says nothing by itself"
    if missing := unsupported(_undated(fact.text), evidence_for(fact, transcript), transcript.speakers):
        return f"no message that it names has the word {missing[0]!r}"
    return not_stated(fact.text, fact.quote, quoted.text, transcript.speakers)


def _undated(text: str) -> str:
    """A fact without its dates, which follow from the words and the day of a message."""
    return strip_dates(text, _dates(text))


def evidence_for(fact: Fact, transcript: Transcript) -> tuple[Memory, ...]:
    """The messages that a fact names, the quoted one first, and the questions beside it, which an answer such as "Yes" leaves unsaid."""
    turns = {turn.number: turn.memory for turn in transcript.turns}
    named = [turns[number] for number in fact.turns]
    asked = [message for message in lenders(fact, transcript) if "?" in message.text]
    return tuple({message.id: message for message in (*named, *asked)}.values())


def trust_sources(fact: Fact, transcript: Transcript) -> tuple[Memory, ...]:
    """The messages that hold the content of a fact, of several that have a word the most trusted one; the quoted one if none does."""
    messages = evidence_for(fact, transcript)
    ordered = sorted(messages, key=lambda message: ORDER.index(message.trust))
    return holders(_undated(fact.text), ordered, transcript.speakers) or messages[:1]


def lenders(fact: Fact, transcript: Transcript) -> tuple[Memory, ...]:
    """The messages from which a fact may take names, numbers and dates, without the one that it quotes.

    They are those that it names, those beside the quoted one, and for the first turns the messages before the transcript, which
    have no numbers.
    """
    messages = [*transcript.before, *(each.memory for each in transcript.turns)]
    turns = {turn.number: turn.memory for turn in transcript.turns}
    place = messages.index(turns[fact.turn or 0])
    early = place - len(transcript.before) < _FIRST_TURNS
    beside = [
        *(transcript.before if early else ()),
        *messages[max(0, place - 1) : place],
        *messages[place + 1 : place + 2],
    ]
    named = [turns[number] for number in fact.turns if number != fact.turn]
    return tuple({memory.id: memory for memory in (*named, *beside)}.values())


def _placed(fact: Fact, turn: Turn, quote: str, turns: Mapping[int, Turn]) -> Fact:
    """The fact with its quote in this message, which is the first of the messages that it rests on."""
    others = [number for number in dict.fromkeys(fact.turns) if number in turns and number != turn.number]
    return replace(fact, turn=turn.number, turns=(turn.number, *others)[:RESTS_ON_MAX], quote=quote)


def check(fact: Fact, turn: Memory, around: Sequence[Memory] = (), speakers: Collection[str] = ()) -> str | None:
    """The reason why a message does not support a fact; None if it does.

    Args:
        fact: The proposed fact with its quote; without a quote the whole message counts as quoted.
        turn: The message.
        around: Its `lenders`. Names, numbers and dates of the fact may come from them.
        speakers: Names of all speakers of the conversation.
    """
    if fact.quote and locate(fact.quote, turn.text) is None:
        return "the message does not contain its quote"
    near = (turn, *around)
    people = {*speakers, *(m.speaker for m in near if m.speaker)}
    claim = replace(fact, text=without_people(fact.text, people, [turn.text]))
    if invented := _unsupported_detail(claim, near, speakers):
        return invented
    if opposite := _contradiction(claim, turn, near):
        return f"{OPPOSITE}: {opposite!r}"
    other = evidence.other_speaker(fact.text, fact.quote or turn.text, turn, speakers)
    return f"{turn.speaker} says it about themselves, and the fact is about {other}" if other else None


def missing_details(summary: str, members: Sequence[Memory]) -> tuple[str, ...]:
    """The names, numbers and dates of the members that a summary does not contain; empty if it contains all.

    Dates are compared by their parts: "March 12", or "12" in a summary that also has "March 2024", keeps "March 12, 2024".
    """
    summary_words, counted = naming.words(summary), naming.countable(summary)
    kept = _date_parts(summary) | {f"d{number}" for number in counted}
    missing: dict[str, None] = {}
    for member in members:
        names = naming.names(member.text)
        missing |= dict.fromkeys(n for n in (*names.inside, *names.opening) if not naming.is_named_in(n, summary_words))
        for written in mentioned(member.text):
            if not any(date_parts(r) <= kept for r in written.readings):
                missing[member.text[written.start : written.end]] = None
        bare = strip_dates(member.text, mentioned(member.text))
        missing |= dict.fromkeys(n for n, forms in naming.numbers(bare).items() if not forms & counted)
        missing |= dict.fromkeys(d for d in weekdays(member.text) - weekdays(summary))
    return tuple(missing)


def invented_details(summary: str, members: Sequence[Memory]) -> tuple[str, ...]:
    """The names, numbers and dates of a summary that no member supports; empty if there are none.

    A date may be derived from the time of a member. "Two" is always accepted: most conversations have two speakers.
    """
    speakers = people_of(members)
    texts = [m.text for m in members]
    summary = without_people(summary, speakers, texts)
    counted = frozenset().union(*map(naming.countable, texts)) | _years_and_days(members)
    numbers = naming.numbers(strip_dates(summary, _dates(summary)))
    return (
        *_foreign_names(summary, _known_words(members, speakers), texts),
        *_foreign_dates(summary, members),
        *(n for n, forms in numbers.items() if not forms & counted and n.casefold() not in {"two", "couple"}),
    )


def people_of(members: Iterable[Memory]) -> frozenset[str]:
    """The names of the speakers and subjects of memories."""
    return frozenset(name for m in members for name in (m.speaker, m.subject) if name)


def shares_content(summary: str, members: Sequence[Memory]) -> bool:
    """Whether a summary shares enough content words with its members, not counting the names of speakers."""
    stems = content_stems(summary, {m.speaker for m in members if m.speaker})
    return (
        not stems
        or coverage_ratio(stems, frozenset().union(*(content_stems(m.text, ()) for m in members))) >= CONTENT_MIN
    )


def strip_dates(text: str, written: Iterable[WrittenDate | WrittenSpan]) -> str:
    """A text without these written dates, which are in order."""
    pieces, place = [], 0
    for each in written:
        pieces.append(text[place : each.start])
        place = each.end
    return " ".join((*pieces, text[place:]))


def _locate_quote(fact: Fact, turns: Mapping[int, Turn]) -> tuple[Turn | None, str]:
    """The message that contains the quote, and the quoted words: the named one, else another with an exact match."""
    named = turns.get(fact.turn or 0)
    if named and (span := locate(fact.quote, named.memory.text)):
        return named, _quoted(named, span)
    if len(fact.quote.strip()) >= _MISPLACED_QUOTE:
        for turn in turns.values():
            span = locate(fact.quote, turn.memory.text)
            if span and span.exact:
                return turn, _quoted(turn, span)
    return None, ""


def _quoted(turn: Turn, span: QuoteSpan) -> str:
    return turn.memory.text[span.start : span.end]


def _ground_without_quote(fact: Fact, transcript: Transcript) -> Fact | Rejected:
    """Take the message that contains most of a fact's content words, at least half, and its best sentence as the quote."""
    stems = content_stems(fact.text, transcript.speakers)
    best: tuple[float, Turn] | None = None
    for turn in transcript.turns:
        support = coverage_ratio(stems, content_stems(turn.memory.text)) + (0.1 if turn.number == fact.turn else 0)
        if best is None or support > best[0]:
            best = (support, turn)
    if best is None or best[0] < SUPPORT_MIN or len(stems) < _SUPPORT_TERMS:
        return Rejected(text=fact.text, reason="it names no message, and none supports it")
    sentences = [text for run in sentence_runs(best[1].memory.text) if (text := run.group().strip())]
    quote = max(sentences, key=lambda s: coverage_ratio(stems, content_stems(s)))
    placed = _placed(fact, best[1], quote, {turn.number: turn for turn in transcript.turns})
    reason = check(placed, best[1].memory, lenders(placed, transcript), transcript.speakers)
    return Rejected(text=fact.text, reason=reason) if reason else placed


def _known_words(near: Iterable[Memory], speakers: Iterable[str]) -> frozenset[str]:
    texts = [text for m in near for text in (m.text, m.speaker or "")]
    known = frozenset().union(*map(naming.words, (*texts, *speakers)))
    return known | {_TITLES[word] for word in known & _TITLES.keys()}


def _foreign_names(text: str, known: frozenset[str], sources: Sequence[str]) -> list[str]:
    """The names of a text that are not among the known words; none where all nouns have capitals (German)."""
    names = naming.names(text)
    if capitalises_nouns(sources):
        return []
    stems = tuple(begins for word in known if len(begins := _ENDING.sub("", word)) >= _SHORTEST_STEM)
    known_stems = {stem(word) for word in known}  # "Dancing" at the start of a fact matches "dance" in its source
    opening = [
        name
        for name in names.opening
        if not name.casefold().startswith(stems) and stem(name.casefold()) not in known_stems
    ]
    return [name for name in (*names.inside, *opening) if not naming.is_named_in(name, known)]


def capitalises_nouns(sources: Iterable[str]) -> bool:
    """Whether a text is in a language that writes all nouns with capitals (German), so that these mark no names."""
    return any(len(naming.words(text) & _GERMAN) >= _GERMAN_WORDS for text in sources)


def _foreign_dates(text: str, near: Sequence[Memory]) -> list[str]:
    """The dates, spans of dates and weekdays of a text that follow from none of these messages."""
    spans, written = written_spans(text), _yearless(text)
    if not spans and not written and not weekdays(text):
        return []
    allowed = frozenset().union(*(derivable(m.text, m.at) | weekdays(m.text) for m in near))
    foreign = [text[s.start : s.end] for s in spans if not any(_follows(s, m) for m in near)]
    foreign += [text[w.start : w.end] for w in written if not any(exact(r) in allowed for r in w.readings)]
    return [*foreign, *sorted(weekdays(text) - allowed)]


def _follows(span: WrittenSpan, message: Memory) -> bool:
    """Whether a span of a fact follows from a message.

    It follows from its dates, from ordinals near its day ("to the 14th"), or as a year from a number of years ("married for
    five years already").
    """
    if span_follows(span, message.text, message.at):
        return True
    counts, ordinals = _counted_years(message.text), _ordinals(message.text)
    if any(
        (first.month, last.month) == (1, 12) and message.at.year - first.year in counts for first, last in span.readings
    ):
        return True
    return any(
        {first.day, last.day} <= ordinals and abs((first - message.at.date()).days) <= _ORDINAL_DAYS
        for first, last in span.readings
    )


@lru_cache(maxsize=256)
def _counted_years(text: str) -> frozenset[int]:
    """The numbers of years that a text counts: 5 of "married for five years already"."""
    counts = (match[1].lower() for match in _YEARS.finditer(text))
    return frozenset(int(count) if count.isdigit() else COUNTS[count] for count in counts)


@lru_cache(maxsize=256)
def _ordinals(text: str) -> frozenset[int]:
    """The ordinals of a text that can be days of a month."""
    return frozenset(int(match[1]) for match in _ORDINAL.finditer(text))


def _yearless(text: str) -> list[WrittenDate]:
    """The written dates of a text that are in no `written_spans`: those without a year."""
    dated = {place for span in written_spans(text) for place in range(span.start, span.end)}
    return [written for written in mentioned(text) if dated.isdisjoint(range(written.start, written.end))]


def _dates(text: str) -> list[WrittenDate | WrittenSpan]:
    """The written dates and spans of dates of a text, in order."""
    dates: list[WrittenDate | WrittenSpan] = [*written_spans(text), *_yearless(text)]
    return sorted(dates, key=lambda date: date.start)


def _foreign_numbers(text: str, sources: Iterable[str]) -> list[str]:
    counted = frozenset().union(*map(naming.countable, sources))
    numbers = naming.numbers(strip_dates(text, _dates(text)))
    return [number for number, forms in numbers.items() if not forms & counted]


def _unsupported_detail(fact: Fact, near: Sequence[Memory], speakers: Collection[str]) -> str | None:
    """Why a name, date or number of a fact has no source; None if all have one."""
    texts = [m.text for m in near]
    known = _known_words(near, speakers) | written_out(fact.text, texts)
    if foreign := _foreign_names(fact.text, known, texts):
        return f"no source message contains the name {foreign[0]!r}"
    if foreign := _foreign_dates(fact.text, near):
        return f"the date {foreign[0]!r} does not follow from the source messages"
    if foreign := _foreign_numbers(fact.text, texts):
        return f"no source message contains the number {foreign[0]!r}"
    return None


def _contradiction(fact: Fact, turn: Memory, near: Sequence[Memory]) -> str | None:
    """The word on which a fact says the opposite of the quoted sentences, or of the whole message.

    Clauses that deny something that the fact does not mention are left out.
    """
    beside = [memory.text for memory in near]
    span = locate(fact.quote, turn.text) if fact.quote else None
    if span is None:
        return contradicts(fact.text, [turn.text], beside)
    quote = turn.text[span.start : span.end]
    runs = [run for run in sentence_runs(turn.text) if run.start() < span.end and span.start < run.end()]
    for source in (runs and turn.text[runs[0].start() : runs[-1].end()], turn.text):
        if source and (opposite := contradicts(fact.text, [_concerning(fact.text, quote, source)], beside)):
            return opposite
    return None


def _concerning(claim: str, quote: str, text: str) -> str:
    """A text without the clauses that deny something else than a claim says: "I don't eat meat, and fish is fine".

    Such a clause denies a word that the claim lacks, and the quote supports the claim with words that are not in the clause.
    """
    claimed, quoted = polarities(claim).keys(), polarities(quote).keys()
    kept, place = [], 0
    for start, end, said, denied in _clauses(text):
        if denied & claimed and denied - claimed and (claimed & quoted) - said:
            kept.append(text[place:start])
            place = end
    return "".join((*kept, text[place:]))


@lru_cache(maxsize=64)
def _clauses(text: str) -> tuple[tuple[int, int, frozenset[str], frozenset[str]], ...]:
    """Each clause of a text that denies something: its start and end, its words, and those that it denies."""
    found = []
    for clause in _CLAUSE.finditer(text):
        said = polarities(clause.group())
        if denied := frozenset(word for word, each in said.items() if NO in each):
            found.append((*clause.span(), frozenset(said), denied))
    return tuple(found)


@lru_cache(maxsize=256)
def _has_capitals(text: str) -> bool:
    """Whether most letters of a text belong to a script with upper and lower case."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c.lower() != c.upper() for c in letters) >= len(letters)


def content_stems(text: str, names: Iterable[str] = ()) -> frozenset[str]:
    """The content stems of a text, without stop words, these names, and words by which a mind may describe content."""
    return _content(text) - _PARAPHRASE - {term for name in names for term in terms(name)}


@lru_cache(maxsize=256)  # the facts of one chunk are based on the same few messages
def _content(text: str) -> frozenset[str]:
    bare = " ".join(w for w in text.split() if w.lower().strip(".,!?;:'\"") not in STOP_WORDS)
    return frozenset(terms(bare))


def coverage_ratio(required: frozenset[str], existing: frozenset[str]) -> float:
    """The share of the required stems that are among the existing ones, 0 to 1; 0 if none are required."""
    return len(required & existing) / len(required) if required else 0.0


def date_parts(reading: tuple[int | None, int | None, int | None]) -> frozenset[str]:
    """The parts of a date: y2026, m3, d7."""
    return frozenset(f"{letter}{part}" for letter, part in zip("ymd", reading, strict=True) if part)


def _date_parts(text: str) -> frozenset[str]:
    return frozenset().union(*(date_parts(r) for w in mentioned(text) for r in w.readings))


def _years_and_days(members: Iterable[Memory]) -> frozenset[str]:
    """The years and day numbers of the members' dates, as numbers: "12 and 14 March" names the month only once."""
    return frozenset(part[1:] for m in members for part in _date_parts(m.text) if part[0] in "yd")
