"""Says which words of a fact no message has that it names, and what a message only asks, supposes, or says of somebody else.

These are the checks that code can do: a word is there or it is not. What a word means is left to the model.
"""

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text import word_frequency
from slowwave.policy.text.clauses import is_question, sentence_runs
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import FUNCTION_WORDS, MODALS, table_lines, table_words
from slowwave.policy.text.tokens import STOP_WORDS, is_unspaced, stem, words

_LIGHT: Final = (
    STOP_WORDS.union(
        FUNCTION_WORDS, *map(table_words, ("quantities", "comparisons", "time_words", "cardinals", "ordinals"))
    )
) | {
    *("user", "assistant", "person", "people", "called", "named", "longer", "long", "once"),
    *("want", "wants", "plans", "intends", "probably", "possibly", "maybe", "perhaps"),
}
"""Words that need no support: grammar, degrees, times, roles. Names, dates and numbers are checked for themselves."""
_DERIVED, _LONGER = 5, 3
"""Letters of a stem that supports a longer one, and the most letters that this one has more: "counsel", "counselor"."""
_CUT, _COMMON = 3, 3_000
"""Letters of a word that is cut short in a message ("edu" for "education"). It is none of so many common words."""
_SHARED: Final = 5
"""First letters by which words of other languages than English are forms of each other."""
_FOREIGN_LEAST: Final = 0.5
"""The share of the words of a fact in another language than English that its messages must have: their forms are not known."""
_REWORDED: Final = 2
"""Content words of a wish of which one may be another word than that of the message."""
_WISHES: Final = frozenset({"wants", "prefers"})
_CURRENCIES: Final = (("€", "euros"), ("$", "dollars"), ("£", "pounds"))
_CAPITALS: Final = lazy_regex(r"\b(?:[A-Z]\.?){2,6}(?!\w)|\b[A-Z][a-z]?[A-Z]{1,3}\b")
_CLAUSE_END: Final = lazy_regex(
    r"[.!?;:,\n–—]|\s-+\s|\s(?:but|and|or|because|although|though|while|whereas|so|which|who)\s"
)
_CONDITION: Final = lazy_regex(r"(?:^|\s)(?:if|unless|suppose|supposing|assuming|whether)\s")
_FIRST: Final = table_words("first_person_singular") | {
    "we",
    "we're",
    "we've",
    "we'd",
    "we'll",
    "our",
    "us",
    "im",
    "ive",
}
_OWN: Final = frozenset({"my", "our"})


def unsupported(text: str, messages: Sequence[Memory], speakers: Collection[str]) -> tuple[str, ...]:
    """The content words of a fact of which no message has the word, another form of it, or an abbreviation.

    Args:
        text: the fact, without its dates.
        messages: those that it names.
        speakers: names of the speakers of the conversation, which are no content.
    """
    found = _holders(text, messages, speakers)
    missing = tuple(word for word, held in found if not held)
    return () if len(missing) == 1 and _is_reworded_wish(text, missing[0], len(found), messages[0]) else missing


def _is_reworded_wish(text: str, word: str, size: int, quoted: Memory) -> bool:
    """Whether a fact says with one other word how its person wants something: "wants concise answers" for "keep answers short".

    The quoted message must have a word in its place, and all other words.
    """
    if size < _REWORDED or _WISHES.isdisjoint(words(text)) or "wants to" in text:
        return False
    stated = frozenset(map(stem, words(text)))
    return any(each not in _LIGHT and each != word and stem(each) not in stated for each in words(quoted.text))


def holders(text: str, messages: Sequence[Memory], speakers: Collection[str]) -> tuple[Memory, ...]:
    """For each content word of a fact the first of the messages that has it, each message once."""
    found = {held[0].id: held[0] for _, held in _holders(text, messages, speakers) if held}
    return tuple(found.values())


def _holders(text: str, messages: Sequence[Memory], speakers: Collection[str]) -> list[tuple[str, list[Memory]]]:
    """Each content word of a fact, with the messages that have it; in another language than English those that any message has, if they are enough."""
    people = {word for name in speakers for word in words(name)}
    content = [word for word in words(text) if word not in _LIGHT | people and not word[0].isdigit()]
    known = [_Words(text, message) for message in messages]
    found = [
        (word, [message for message, each in zip(messages, known, strict=True) if each.has(word, place, content)])
        for place, word in enumerate(content)
    ]
    if any(map(is_unspaced, content)) or not prepare(text).english:
        held = [each for each in found if each[1]]
        return held if len(held) >= _FOREIGN_LEAST * len(found) else found
    return found


@lru_cache(maxsize=256)
def _words_of(text: str, speaker: str) -> tuple[frozenset[str], frozenset[str]]:
    found = frozenset((*words(text), *words(speaker), *(name for sign, name in _CURRENCIES if sign in text)))
    return found, frozenset(map(stem, found))


@cache
def _common() -> frozenset[str]:
    return frozenset(word_frequency.commonest(_COMMON))


class _Words:
    """What supports the words of a fact: the words of a message, their stems, and what its abbreviations write out."""

    __slots__ = ("long", "stems", "words")

    def __init__(self, fact: str, message: Memory) -> None:
        self.words, self.stems = _words_of(message.text, message.speaker or "")
        self.long = written_out(fact, [message.text])

    def has(self, word: str, place: int, content: Sequence[str]) -> bool:
        """Whether the message has the word at a place of the content of a fact, another form of it, or its abbreviation."""
        root = stem(word)
        return (
            root in self.stems
            or any(_is_form(root, other) for other in self.stems)
            or any(_is_cut(word, other) for other in self.words)
            or any(part in self.words for part in _joined(place, content))
            or word in self.long
        )


def _is_form(root: str, other: str) -> bool:
    """Whether one stem is derived from the other."""
    short, long = sorted((root, other), key=len)
    if len(short) >= _DERIVED and long.startswith(short) and len(long) - len(short) <= _LONGER:
        return True
    return not (root.isascii() and other.isascii()) and len(short) >= _SHARED and root[:_SHARED] == other[:_SHARED]


def _is_cut(word: str, short: str) -> bool:
    """Whether a word of a message is a longer one cut short: "edu", "fam"."""
    return _CUT <= len(short) < len(word) and word.startswith(short) and short.isalpha() and short not in _common()


def _joined(place: int, content: Sequence[str]) -> tuple[str, ...]:
    """The word at a place written together with its neighbours: "roadtrip"."""
    return tuple("".join(content[first : first + 2]) for first in (place - 1, place) if 0 <= first < len(content) - 1)


def written_out(text: str, sources: Sequence[str]) -> frozenset[str]:
    """The words of a text for which a source has an abbreviation whose initials they are, or the code of a place.

    >>> sorted(written_out("Tim met John in New York City, California", ["Met John in NYC, CA"]))
    ['california', 'city', 'new', 'york']
    """
    every = words(text)
    content = [word for word in every if word not in _LIGHT]
    short = {each.replace(".", "").lower() for source in sources for each in _CAPITALS.findall(source)}
    found = {place for code, *places in table_lines("place_codes") if code in short for place in places}
    for each, written in product(short, (content, every)):
        for start in range(len(written) - len(each) + 1):
            part = written[start : start + len(each)]
            if "".join(word[0] for word in part) == each:
                found.update(part)
    return frozenset(found)


def not_stated(fact: str, quote: str, message: str, speakers: Collection[str]) -> str | None:
    """Why the clause that supports a fact states nothing of its subject: it asks, supposes, wishes, or is about somebody else.

    A fact that says so itself ("wishes to …", "used to …", "my colleague says …") is no other statement.

    Args:
        fact: its text.
        quote: the words of the message that it quotes.
        message: the message.
        speakers: names of the speakers of the conversation.

    >>> not_stated("The user lives in Paris", "live in Paris", "I used to live in Paris.", ())
    'its message says it only with "used"'
    """
    start = max(0, message.find(quote))
    end = start + len(quote)
    stated = frozenset(words(fact))
    people = {word for name in speakers for word in words(name)}
    for run in sentence_runs(message):
        if start < run.end() and run.start() < end:
            asked = is_question(run.group())
            if reason := _not_stated(run.group(), start - run.start(), end - run.start(), stated, people, asked=asked):
                return reason
    return None


def _not_stated(
    sentence: str, start: int, end: int, stated: frozenset[str], people: Collection[str], *, asked: bool
) -> str | None:
    """Why no quoted clause of a sentence that has most words of a fact states it; None if one does, or if none has a word."""
    stems = frozenset(map(stem, stated))
    clauses = _clauses(sentence)
    quoted = [clause for clause in clauses if clause[0] < end and start < clause[1]] or clauses
    read = [(clause[1] == clauses[-1][1], words(sentence[clause[0] : clause[1]])) for clause in quoted]
    shared = [[word not in _LIGHT and stem(word) in stems for word in said] for _, said in read]
    most = max(map(sum, shared))
    if not most:
        return None
    reasons = [
        _governed(said[: each.index(True)], stated, stems, people, asked=asked and is_last)
        for (is_last, said), each in zip(read, shared, strict=True)
        if sum(each) == most
    ]
    return None if None in reasons else reasons[0]


def _governed(
    before: Sequence[str], stated: frozenset[str], stems: frozenset[str], people: Collection[str], *, asked: bool
) -> str | None:
    """Why a clause with these words before what it shares with a fact does not state it; None if it does."""
    if asked and stated.isdisjoint({"wants", "want", "asks", "asked"}):
        return "its message only asks it"
    if _CONDITION.search(f" {' '.join(before)} ") and not _CONDITION.search(f" {' '.join(stated)} "):
        return "its message only supposes it"
    for place, word in enumerate(before):
        is_governing = stem(word) in _governing() or (word == "used" and "to" in before)
        if (
            is_governing
            and before[place - 1 : place] != ["you"]
            and stated.isdisjoint({"used", "longer"})
            and _governing().isdisjoint(stems)
        ):
            return f'its message says it only with "{word}"'
    return _of_somebody_else(before, stated, people)


def _clauses(sentence: str) -> list[tuple[int, int]]:
    """Where the clauses of a sentence begin and end; what has no word after the last mark is none."""
    found, place = [], 0
    for mark in _CLAUSE_END.finditer(sentence):
        found.append((place, mark.start()))
        place = mark.end()
    return [*found, (place, len(sentence))] if not found or words(sentence[place:]) else found


@cache
def _governing() -> frozenset[str]:
    """The stems of words that make of what follows a wish, an opinion, a report, a possibility or a beginning."""
    return frozenset(map(stem, MODALS | table_words("opinion_verbs") | {"imagine", "dreamt", "joke"}))


def _of_somebody_else(before: Sequence[str], stated: Collection[str], people: Collection[str]) -> str | None:
    """Why a clause with these words before what it shares with a fact is about somebody whom the fact leaves out."""
    start = max((number for number, word in enumerate(before) if word in _FIRST), default=None)
    if start is None or before[start] not in _OWN:
        return None
    noun = next((word for word in before[start + 1 :] if word not in _LIGHT), None)
    if noun is None or noun in people or any(_is_cut(word, noun) or stem(word) == stem(noun) for word in stated):
        return None
    return f'its message says it of "{before[start]} {noun}"'
