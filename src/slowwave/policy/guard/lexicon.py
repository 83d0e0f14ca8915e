"""The words of orders to a model, by language, as patterns and as signs.

The tables are `orders.toml`, `directives.toml`, `structures.toml` and `signs.toml` in `policy/data`. `tools/write_lexicon.py`
writes them with the signs of their entries to `lexicon.json`, which is read here: reading TOML takes thirty times as long, and a hook of
a coding agent is a new process for each reply that it stores. The signs of a text are a number for each list, with a bit for each language of which a word may be in the text. A rule that
needs words of several lists is ruled out by a few operations on these numbers, before any pattern is tried.
"""

import json
import re
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from slowwave.policy.guard.disguises import KEY, folded
from slowwave.policy.text import word_frequency

WIDTH: Final = 32
"""Bits of a list in the signs of a text: one for each language whose words are separated by spaces."""
_BYTES: Final = WIDTH // 8
_COMMON: Final = 2000
"""English words whose frequency is known: a phrase is looked for by its rarest word."""
REFINING: Final = frozenset(
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
_ALL: Final = (1 << WIDTH) - 1
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
        self.lists: dict[str, tuple[str, ...]] = {
            name: tuple(found) for name, found in entries.items() if isinstance(found, list)
        }
        self._patterns: dict[tuple[str, ...], re.Pattern[str] | None] = {}
        self._about: re.Pattern[str] | None = None

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


class Sign(NamedTuple):
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


class Entries:
    """The entries of lists by a key. Those of a key are made when it is first looked for: a text has few of the keys.

    Args:
        rows: by key, each entry as its bits by number, and the other fields of `_Entry`.
        lists: the bits of the lists whose entries are wanted; all by default.
    """

    def __init__(self, rows: Mapping[str, Sequence[Any]], lists: int = -1) -> None:
        self._rows = rows
        self._lists = lists
        self._made: dict[str, tuple[_Entry, ...]] = {}

    def keys(self) -> KeysView[str]:
        """The keys of all entries, also of those of other lists."""
        return self._rows.keys()

    def __getitem__(self, key: str) -> tuple[_Entry, ...]:
        """The entries of a key; those of other lists are left out."""
        made = self._made.get(key)
        if made is None:
            entries = (
                _Entry(sum(1 << bit for bit in bits), stem, frozenset(words), frozenset(stems))
                for bits, stem, words, stems in self._rows[key]
            )
            made = self._made[key] = tuple(entry for entry in entries if entry.bits & self._lists)
        return made


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
    words: Entries
    stems: Entries
    anchors: tuple[Entries, Entries]


_Row_co = TypeVar("_Row_co", covariant=True)


class _Keyed(Protocol[_Row_co]):
    """What has entries by a key."""

    def keys(self) -> KeysView[str]: ...

    def __getitem__(self, key: str, /) -> Sequence[_Row_co]: ...


def _near(
    words: frozenset[str],
    keys: frozenset[str],
    whole: "_Keyed[_Row_co]",
    beginnings: "_Keyed[_Row_co]",
) -> Iterator[tuple[str, _Row_co]]:
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
    tables = _tables()
    entries = tables["languages"]
    spaced = [each for each in entries.values() if not each.get("unspaced")]
    places: dict[str, int] = tables["places"]
    anchoring = sum(_ALL << places[name] for name in ANCHORS if name in places)
    words, stems = tables["words"], tables["stems"]
    return Lexicon(
        spaced=tuple(Language(each) for each in spaced),
        unspaced=tuple(Language(each) for each in entries.values() if each.get("unspaced")),
        squashed=tuple(Language(each, squashed=True) for each in spaced),
        mention=Language(tables["mention"]),
        places=places,
        words=Entries(words),
        stems=Entries(stems),
        anchors=(Entries(words, anchoring), Entries(stems, anchoring)),
    )


@cache
def structures() -> tuple[Language, ...]:
    """The languages of `structures.toml`, each with its lists of `directives.toml` as well; read once for a process."""
    return tuple(map(Language, _tables()["structures"].values()))


def scored_codes() -> tuple[str, ...]:
    """The languages of `signs.toml`."""
    return tuple(_tables()["scored"])


def scored_lists(code: str) -> Mapping[str, Sequence[str]]:
    """The lists of a language of `signs.toml`, with those of all tables."""
    return {name: found for name, found in _tables()["scored"][code].items() if isinstance(found, list)}


def function_words() -> Mapping[str, Sequence[str]]:
    """The function words of each language whose words stand between spaces, those without a table in `signs.toml` as well."""
    words: Mapping[str, Sequence[str]] = _tables()["function_words"]
    return words


def weights_of_signs() -> tuple[float, Mapping[str, float]]:
    """The constant of the score of orders, and the weight of each sign (`order_weights.toml`)."""
    found = _tables()["weights"]
    return found["constant"], found["weights"]


@cache
def _tables() -> Mapping[str, Any]:
    data = get_data("slowwave.policy", "data/lexicon.json")
    assert data is not None, "the package is complete"
    tables: Mapping[str, Any] = json.loads(data)
    return tables


def is_anchored(words: frozenset[str], stems: frozenset[str]) -> bool:
    """Whether a word of a list of `ANCHORS` may be among these words: the quickest test, which most texts fail."""
    return any(entry.is_met(word, words, stems) for word, entry in _near(words, stems, *lexicon().anchors))


def may_anchor(word: str) -> bool:
    """Whether a word is one by which an entry of the lists of `ANCHORS` is looked for, so that a text with it may be anchored."""
    whole, beginnings = lexicon().anchors
    if {word} & whole.keys() and whole[word]:
        return True
    key = word[:KEY]
    return bool({key} & beginnings.keys()) and any(word.startswith(entry.stem) for entry in beginnings[key])


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
        rows = [[places[name] // WIDTH for name in group if name in places] for group in groups]
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


def sign_of(entry: str) -> Sign:
    """How an entry of a list is found; for `tools/write_lexicon.py`.

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
    return Sign(
        rarest[:KEY] if is_stem else rarest,
        rarest.partition("*")[0] if is_stem else "",
        frozenset(part for part in others if "*" not in part),
        frozenset(part[:KEY] for part in others if "*" in part),
    )


@cache
def _common() -> Mapping[str, float]:
    return word_frequency.commonest(_COMMON)
