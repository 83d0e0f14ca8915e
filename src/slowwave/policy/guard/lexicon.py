"""The words of orders to a model, by language (`policy/data/orders.toml` and `directives.toml`), as patterns and as signs.

The signs of a text are a number for each list, with a bit for each language of which a word may be in the text. A rule that
needs words of several lists is ruled out by a few operations on these numbers, before any pattern is tried.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Final, NamedTuple, TypeAlias, TypeVar

from slowwave.policy.guard.disguises import KEY, Reading, folded
from slowwave.policy.text import word_frequency
from slowwave.policy.text.languages import function_words
from slowwave.policy.text.tokens import STOP_WORDS

_WIDTH: Final = 32
"""Bits of a list in the signs of a text: one for each language whose words are separated by spaces."""
_BYTES: Final = _WIDTH // 8
_COMMON: Final = 2000
"""English words whose frequency is known: a phrase is looked for by its rarest word."""
_REFINING: Final = frozenset(
    [
        "subject",
        "and",
        "people",
        "if",
        "mine",
        "script",
        "others",
        "about",
        "polite",
        "yours",
        "call",
        "deny_after",
        "crew",
        "pupils",
        "topic",
        "when",
    ]
)
"""Lists that only refine a rule: no rule is ruled out because a text has no word of them."""
_ALL: Final = (1 << _WIDTH) - 1
_FIRST_UNSPACED: Final = "\u2e80"
"""The first letter of the scripts whose words stand without spaces."""
Signs: TypeAlias = Sequence[int]
"""For each list a number with a bit for each language of which a word may be in a text."""
_AFTER_NOUN: Final = r"(?:\W{1,3}(?:above|below|given|printed|written))?\W{1,3}"


class Language:
    """The word lists of one language, compiled when they are first needed.

    Args:
        entries: the lists, as the tables have them.
        squashed: whether to read texts without spaces: the lists then match without them.
    """

    def __init__(self, entries: Mapping[str, object], *, squashed: bool = False) -> None:
        self.unspaced = squashed or entries.get("unspaced") is True
        self.squashed = squashed
        self.verb_last = self.unspaced or entries.get("verb_last") is True
        self.lists = {
            name: tuple(str(word) for word in found) for name, found in entries.items() if isinstance(found, list)
        }
        self._patterns: dict[tuple[str, ...], re.Pattern[str] | None] = {}
        self._about: re.Pattern[str] | None = None
        self._by_word: tuple[dict[str, list[tuple[str, _Sign]]], dict[str, list[tuple[str, _Sign]]]] | None = None
        self.function_words = frozenset(self.lists.get("function_words", ()))

    def letters(self, names: Iterable[str]) -> frozenset[str]:
        """The first letters of the words of some lists, for scripts without spaces."""
        words = (folded(word) for name in names for word in self.lists.get(name, ()))
        return frozenset(word[0] for word in words if not word[0].isascii())

    def pattern(self, *names: str) -> re.Pattern[str] | None:
        """The words of these lists as one pattern; None if there are none."""
        if names not in self._patterns:
            words = (word for name in names for word in self.lists.get(name, ()))
            forms = sorted({self._bounded(word) for word in words}, key=len, reverse=True)
            whole = "|".join(forms)
            bounded = whole if self.unspaced or names == ("unspaced",) else rf"(?<!\w)(?:{whole})(?!\w)"
            self._patterns[names] = re.compile(bounded) if forms else None
        return self._patterns[names]

    def has(self, name: str, text: str) -> bool:
        """Whether a word of a list is in the text."""
        pattern = self.pattern(name)
        return pattern is not None and pattern.search(text) is not None

    def lists_in(self, words: frozenset[str], keys: frozenset[str]) -> frozenset[str]:
        """The lists of which an entry may be among these words; a list that is not here has none.

        Args:
            words: the words of a text whose language has spaces between them.
            keys: the first `KEY` letters of each.
        """
        if self._by_word is None:
            self._by_word = self._index()
        whole, beginnings = self._by_word
        found: set[str] = set()
        for word, (name, sign) in _near(words, keys, whole, beginnings):
            if name not in found and word.startswith(sign.stem) and sign.words <= words and sign.stems <= keys:
                found.add(name)
        return frozenset(found)

    def _index(self) -> tuple[dict[str, list[tuple[str, "_Sign"]]], dict[str, list[tuple[str, "_Sign"]]]]:
        """The entries of all lists, by a whole word and by the beginning of a word."""
        whole: dict[str, list[tuple[str, _Sign]]] = {}
        beginnings: dict[str, list[tuple[str, _Sign]]] = {}
        for name, entries in self.lists.items():
            for sign in map(sign_of, entries if name != "function_words" else ()):
                (beginnings if sign.stem else whole).setdefault(sign.key, []).append((name, sign))
        return whole, beginnings

    def own_subject(self, after: str) -> re.Match[str] | None:
        """The words by which a noun is followed by a subject of its own, such as "for the dishwasher"."""
        if self.squashed or not self.lists.get("about"):
            return None
        if self._about is None:
            words = "|".join(self._form(word) for word in self.lists["about"])
            earlier = "|".join(self._form(word) for word in self.lists.get("earlier", ()))
            own = r"" if self.unspaced else r"(?!\w)"
            self._about = re.compile(rf"(?:\W{{1,3}}(?:{earlier}))?{_AFTER_NOUN}(?:{words}){own}")
        return self._about.match(after)

    def _form(self, word: str) -> str:
        plain = folded(word)
        if self.squashed:
            return ".{0,24}?".join(re.escape(part.replace(" ", "").rstrip("*")) for part in plain.split(" .. "))
        gap, space = (".{0,24}?", " ") if self.unspaced else (r"(?:\W{1,3}[\w']{1,20}){0,4}?\W{1,3}", r"\W{1,3}")
        return gap.join(
            space.join(re.escape(each).replace(r"\*", r"\w{0,12}") for each in part.split(" "))
            for part in plain.split(" .. ")
        )

    def _bounded(self, word: str) -> str:
        """A word as a pattern; Latin letters among letters of another script are a word of their own ("ai", not "email")."""
        form = self._form(word)
        return rf"(?<![a-z0-9]){form}(?![a-z0-9])" if self.unspaced and not self.squashed and word.isascii() else form


ANCHORS: Final = frozenset(
    [
        "served",
        "task",
        "lasting",
        "holding",
        "told",
        "law",
        "gone",
        "here",
        "admin",
        "bare",
        "decode",
        "reads",
        "prior",
        "ai",
        "does",
        "orders",
        "rules",
        "said",
        "void",
        "free",
        "secret",
        "address",
        "wanted",
        "memory",
        "own",
    ]
)
"""Rare lists: every rule needs a word of one of them, but those that need an address on the network."""


class _Sign(NamedTuple):
    """How an entry of a list is found: by a key, the longest known beginning of a word, and what else must be in the text."""

    key: str
    stem: str
    words: frozenset[str]
    stems: frozenset[str]


class _Entry(NamedTuple):
    """Entries of lists by one of their words: the signs, and what else must be among the words of a text."""

    bits: int
    stem: str
    words: frozenset[str]
    stems: frozenset[str]

    def is_met(self, word: str, words: frozenset[str], stems: frozenset[str]) -> bool:
        """Whether a text with these words, among them the one by which the entry was found, can have the entry."""
        return word.startswith(self.stem) and self.words <= words and self.stems <= stems


class Lexicon(NamedTuple):
    """All languages.

    Attributes:
        spaced: those whose words are separated by spaces, in the order of their bits in the signs.
        unspaced: the others.
        squashed: those of `spaced`, for texts without spaces.
        mention: the words by which a text speaks about orders.
        places: the place of each list in the signs.
        words: the entries by a whole word.
        stems: the entries by the first `KEY` letters of a word.
        anchors: the entries of the lists `ANCHORS`, by a whole word and by the beginning of a word.
    """

    spaced: tuple[Language, ...]
    unspaced: tuple[Language, ...]
    squashed: tuple[Language, ...]
    mention: Language
    places: dict[str, int]
    words: dict[str, tuple[_Entry, ...]]
    stems: dict[str, tuple[_Entry, ...]]
    anchors: tuple[dict[str, tuple[_Entry, ...]], dict[str, tuple[_Entry, ...]]]


_Key = TypeVar("_Key")


def _near(
    words: frozenset[str],
    keys: frozenset[str],
    whole: Mapping[str, Sequence[_Key]],
    beginnings: Mapping[str, Sequence[_Key]],
) -> Iterator[tuple[str, _Key]]:
    """The words of a text that are keys of entries, or begin like one, each with these entries."""
    for word in words & whole.keys():
        for entry in whole[word]:
            yield word, entry
    known = keys & beginnings.keys()
    if known:
        for word in words:
            if word[:KEY] in known:
                for entry in beginnings[word[:KEY]]:
                    yield word, entry


@cache
def lexicon() -> Lexicon:
    """The tables, read once for a process."""
    entries = _table("orders")
    mention = entries.pop("mention")
    for name, lists in _table("directives").items():
        entries[name] = {**entries.get(name, {}), **lists}
    spaced = [each for each in entries.values() if not each.get("unspaced")]
    assert len(spaced) <= _WIDTH, "each language has a bit of its own"
    languages = tuple(Language(each) for each in spaced)
    places: dict[str, int] = {}
    rows: list[dict[str, dict[_Sign, int]]] = [{}, {}]
    for number, language in enumerate(languages):
        for name, found in language.lists.items():
            if name in _REFINING:
                continue
            bit = 1 << (places.setdefault(name, _WIDTH * len(places)) + number)
            for sign in map(sign_of, found):
                row = rows[bool(sign.stem)].setdefault(sign.key, {})
                row[sign] = row.get(sign, 0) | bit
    anchoring = sum(_ALL << places[name] for name in ANCHORS if name in places)
    return Lexicon(
        spaced=languages,
        unspaced=tuple(Language(each) for each in entries.values() if each.get("unspaced")),
        squashed=tuple(Language(each, squashed=True) for each in spaced),
        mention=Language(mention),
        places=places,
        words=_entries(rows[0]),
        stems=_entries(rows[1]),
        anchors=(_entries(rows[0], anchoring), _entries(rows[1], anchoring)),
    )


@cache
def structures() -> tuple[Language, ...]:
    """The languages of `structures.toml`, each with its lists of `directives.toml` as well; read once for a process."""
    directives = _table("directives")
    return tuple(Language({**directives[name], **lists}) for name, lists in _table("structures").items())


_STARTS: Final = ("ai", "machine", "helper", "robot", "served", "user", "now", "renounce", "pose", "address", "label")
"""Lists of which a sentence must have a word so that it can be scored (`order_score`)."""
_TABLES: Final = ("orders", "directives", "structures", "signs")
_FUNCTION_WORDS: Final = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
}
_LEAST_VOTES: Final = 2
"""Function words of a sentence that tell its language."""


@cache
def scored() -> tuple[Language, ...]:
    """The languages of `signs.toml`, each with its lists of all tables; read once for a process."""
    tables = [_table(name) for name in _TABLES]
    return tuple(Language(_joined_lists([table.get(code, {}) for table in tables], code)) for code in tables[-1])


def _joined_lists(parts: Iterable[Mapping[str, object]], code: str) -> dict[str, object]:
    """The lists of a language of several tables, and its function words."""
    joined: dict[str, object] = {}
    for part in parts:
        for name, found in part.items():
            known = joined.get(name)
            joined[name] = [*known, *found] if isinstance(known, list) and isinstance(found, list) else found
    words = STOP_WORDS if code == "en" else function_words([_FUNCTION_WORDS[code]] if code in _FUNCTION_WORDS else [])
    joined["function_words"] = [folded(word) for word in words]
    return joined


@cache
def _starts() -> tuple[dict[str, tuple[_Entry, ...]], dict[str, tuple[_Entry, ...]]]:
    """The entries of the lists `_STARTS`, by a whole word and by the beginning of a word, with a bit for each language."""
    rows: list[dict[str, dict[_Sign, int]]] = [{}, {}]
    for number, language in enumerate(scored()):
        for entry in (entry for name in _STARTS for entry in language.lists.get(name, ()) if not language.unspaced):
            sign = sign_of(entry)
            row = rows[bool(sign.stem)].setdefault(sign.key, {})
            row[sign] = row.get(sign, 0) | 1 << number
    return _entries(rows[0]), _entries(rows[1])


def starting_languages(reading: Reading) -> tuple[Language, ...]:
    """The languages in which a sentence may address a model: of those in which it has a word for it, the likeliest."""
    words, keys = reading.words, reading.keys
    bits = 0
    for word, entry in _near(words, keys, *_starts()):
        if entry.is_met(word, words, keys):
            bits |= entry.bits
    found = [language for number, language in enumerate(scored()) if bits >> number & 1]
    votes = [len(words & language.function_words) for language in found]
    most = max(votes, default=0)
    if most >= _LEAST_VOTES:
        found = [language for language, count in zip(found, votes, strict=True) if count == most]
    if reading.text.isascii() or max(reading.text) < _FIRST_UNSPACED:
        return tuple(found)
    unspaced = (language for language in scored() if language.unspaced and _starts_unspaced(language, reading.text))
    return (*found, *unspaced)


def likeliest_languages(reading: Reading) -> tuple[Language, ...]:
    """The languages of which a sentence has the most function words, or the script."""
    spaced = [language for language in scored() if not language.unspaced]
    votes = [len(reading.words & language.function_words) for language in spaced]
    most = max(votes)
    if most >= _LEAST_VOTES:
        return tuple(language for language, count in zip(spaced, votes, strict=True) if count == most)
    if reading.text.isascii() or max(reading.text) < _FIRST_UNSPACED:
        return ()
    return tuple(language for language in scored() if language.unspaced and language.has("script", reading.text))


def _starts_unspaced(language: Language, text: str) -> bool:
    pattern = language.pattern(*_STARTS)
    return language.has("script", text) and pattern is not None and pattern.search(text) is not None


def _entries(rows: Mapping[str, Mapping[_Sign, int]], lists: int = -1) -> dict[str, tuple[_Entry, ...]]:
    """The entries by their keys, of all lists or of those whose bits are set."""
    found = {
        key: tuple(_Entry(bits, *sign[1:]) for sign, bits in row.items() if bits & lists) for key, row in rows.items()
    }
    return {key: entries for key, entries in found.items() if entries}


def is_anchored(words: frozenset[str], stems: frozenset[str]) -> bool:
    """Whether a word of a list of `ANCHORS` may be among these words: the quickest test, which most texts fail."""
    return any(entry.is_met(word, words, stems) for word, entry in _near(words, stems, *lexicon().anchors))


def signs(words: frozenset[str], stems: frozenset[str] | None = None) -> Signs:
    """The lists, by language, of which a word may be among these words.

    A phrase is counted as present with its words in any order; so a bit that is not set rules a list out, and one that is set
    does not prove it.

    Args:
        words: the words of a text.
        stems: the first `KEY` letters of each, if they are known already.
    """
    known = lexicon()
    if stems is None:
        stems = frozenset([word[:KEY] for word in words])
    found = 0
    for word, entry in _near(words, stems, known.words, known.stems):
        if entry.is_met(word, words, stems):
            found |= entry.bits
    return memoryview(found.to_bytes(len(known.places) * _BYTES, "little")).cast("I")


class Need:
    """Groups of lists of which a rule needs a word of each group, as a test of signs."""

    def __init__(self, groups: Iterable[Iterable[str]]) -> None:
        places = lexicon().places
        rows = [[places[name] // _WIDTH for name in group if name in places] for group in groups]
        self._single = tuple(row[0] for row in rows if len(row) == 1)
        self._several = tuple(tuple(row) for row in rows if len(row) != 1)

    def languages(self, found: Signs) -> int:
        """A bit for each language in which the signs have all groups."""
        mask = _ALL
        for place in self._single:
            mask &= found[place]
            if not mask:
                return 0
        if mask:
            for group in self._several:
                some = 0
                for place in group:
                    some |= found[place]
                mask &= some
        return mask


def _table(name: str) -> dict[str, dict[str, object]]:
    data = get_data("slowwave.policy", f"data/{name}.toml")
    assert data is not None, "the package is complete"
    return tomllib.loads(data.decode())


def sign_of(entry: str) -> _Sign:
    """How an entry of a list is found.

    Raises:
        ValueError: no word of it has `KEY` letters before *.
    """
    parts = re.findall(r"[\w*]+", folded(entry))
    known = [part for part in parts if "*" not in part[:KEY]]
    if not known:
        raise ValueError(f"{entry!r} needs {KEY} letters before *")
    rarest = max(known, key=lambda part: (-_common().get(part.rstrip("*"), 0.0), len(part), part))
    others = [part for part in known if part != rarest]
    is_stem = "*" in rarest
    return _Sign(
        rarest[:KEY] if is_stem else rarest,
        rarest.partition("*")[0] if is_stem else "",
        frozenset(part for part in others if "*" not in part),
        frozenset(part[:KEY] for part in others if "*" in part),
    )


@cache
def _common() -> Mapping[str, float]:
    return word_frequency.commonest(_COMMON)
