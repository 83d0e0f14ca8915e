"""Recognises an order to a model in a reading of a text, by the words of many languages (`policy/data/orders.toml`).

No sentence is stored. A rule names kinds of words that must stand near each other in one sentence: a verb of setting aside,
a noun for instructions, and a word that says which. Every look around a word has a fixed length, so the time is linear.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pkgutil import get_data
from typing import Final

from slowwave.policy.guard.disguises import KEY, Reading, folded
from slowwave.policy.text.lazy_regex import lazy_regex

SET_ASIDE: Final = "earlier instructions are to be set aside"
PERSONA: Final = "another persona for the model"
SECRECY: Final = "secrecy before the user"
ADDRESSED: Final = "new instructions for the model"
SENT_AWAY: Final = "data to be sent away"
STORED: Final = "a memory that the user did not ask for"
OWN_PROMPT: Final = "a request for the model's own instructions"

_REACH: Final = 90
"""Characters around a word in which the other words of its rule must stand."""
_NEAR: Final = 30
"""Characters after a noun in which "above" or "you were given" may stand."""
_BEFORE: Final = 4
"""Words before a verb among which a subject or a negation makes it a report."""
_SENTENCE_END: Final = lazy_regex(r"[!?।؟。¶]|\.(?=[\s\"'”»)]|$)")
_PAUSE: Final = lazy_regex(r"[:;()]|(?<=\w \w),|(?<=\w\w\w),(?= )")
_CLAUSE: Final = lazy_regex(r"[,:;()\"“”„«»。！？…—–\[\]{}<>|•*¶]|[.!?](?= )")
_PARAGRAPH: Final = lazy_regex(r"\n\s{0,20}\n")
_TO: Final = lazy_regex(r"\bto (?:\w{1,20} ){0,2}$")
_YOU_TO: Final = lazy_regex(
    r"\b(?:you|user|must|have|need|is|are|order\w*|assistant|model|ai|agent|required|ought|sure) to (?:\w{1,20} ){0,2}$"
)
_DESTINATION: Final = lazy_regex(r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bwww\.\w")
_QUOTED: Final = lazy_regex(r"[\"“„«‘「『`']([^\"”“»’」』`\n]{3,240})[\"”“»’」』`']")
_AFTER_NOUN: Final = r"(?:\W{1,3}(?:above|below|given|printed|written))?\W{1,3}"
_OF_MODEL: Final = lazy_regex(
    r"system|develop|prompt|safety|user|owner|operator|creator|training|conversation|chat\b|your "
)
_ADDRESS: Final = lazy_regex(r"\S{0,80}(?:@|://|\w\.\w)\S{0,80}")
_MARKUP: Final = frozenset("<>{}=")
_CODE: Final = frozenset("={}()<>|#\\")
_PLACE: Final = 300  # characters before a quotation in which it may be spoken about
_LEAST_AROUND: Final = 3  # words around a quotation that make it part of a sentence
_BY_TRIGGER: Final = ("aside", "void", "be", "secret", "address", "send", "store", "show")
_OBJECTS: Final = {
    "aside": (("orders", "rules", "said"),),
    "void": (("orders", "rules"),),
    "be": (("free",), ("model", "rules", "orders")),
    "store": (("wanted", "memory"),),
    "show": (("own",),),
    "send": (("private", "every", "user", "copy"),),
}
"""The lists of which a word must be in the text for a rule to apply: of each group one."""
_WITHOUT_SPACES: Final = ("aside", "secret", "void")
"""The rules that read texts without spaces: their words are long enough not to occur by chance."""


class Language:
    """The word lists of one language, compiled when they are first needed.

    Args:
        entries: the lists, as the table has them.
        squashed: whether to read texts without spaces: the lists then match without them.
    """

    def __init__(self, entries: Mapping[str, object], *, squashed: bool = False) -> None:
        self.unspaced = squashed or entries.get("unspaced") is True
        self.squashed = squashed
        self.verb_last = self.unspaced or entries.get("verb_last") is True
        self._lists = {
            name: [str(word) for word in found] for name, found in entries.items() if isinstance(found, list)
        }
        self._patterns: dict[str, re.Pattern[str] | None] = {}
        self._about: re.Pattern[str] | None = None

    @cached_property
    def needs(self) -> dict[str, "_Needs"]:
        """What a text must have so that a word of a list can be in it, for the lists that a rule needs."""
        names = {*_BY_TRIGGER, *(name for names in _OBJECTS.values() for each in names for name in each)}
        return {name: _Needs(self._lists.get(name, ())) for name in names}

    @cached_property
    def letters(self) -> frozenset[str]:
        """The first letters of the words by which a rule may apply, for scripts without spaces."""
        words = (folded(word) for name in _BY_TRIGGER for word in self._lists.get(name, ()))
        return frozenset(word[0] for word in words if not word[0].isascii())

    def may_apply(self, name: str, reading: Reading) -> bool:
        """Whether the rule of a trigger may apply to a reading. It passes most texts over without a pattern."""
        needs = self.needs
        for either in _OBJECTS.get(name, ()):  # first, because nouns are rarer than verbs
            if not any(needs[one].met(reading) for one in either):
                return False
        return needs[name].met(reading)

    def pattern(self, name: str) -> re.Pattern[str] | None:
        """The words of a list as one pattern; None if there are none."""
        if name not in self._patterns:
            forms = sorted({self._form(word) for word in self._lists.get(name, ())}, key=len, reverse=True)
            whole = "|".join(forms)
            bounded = whole if self.unspaced else rf"(?<!\w)(?:{whole})(?!\w)"
            self._patterns[name] = re.compile(bounded) if forms else None
        return self._patterns[name]

    def has(self, name: str, text: str) -> bool:
        """Whether a word of a list is in the text."""
        pattern = self.pattern(name)
        return pattern is not None and pattern.search(text) is not None

    def of_its_own(self, name: str, after: str) -> bool:
        """Whether a noun is followed by a subject of its own, such as "for the dishwasher"."""
        if self.squashed or not self._lists.get(name):
            return False
        if self._about is None:
            words = "|".join(self._form(word) for word in self._lists[name])
            earlier = "|".join(self._form(word) for word in self._lists.get("earlier", ()))
            own = r"" if self.unspaced else r"(?!\w)"
            self._about = re.compile(rf"(?:\W{{1,3}}(?:{earlier}))?{_AFTER_NOUN}(?:{words}){own}")
        found = self._about.match(after)
        return found is not None and not _OF_MODEL.search(after[found.end() : found.end() + 30])

    def _form(self, word: str) -> str:
        plain = folded(word)
        if self.squashed:
            return ".{0,24}?".join(re.escape(part.replace(" ", "").rstrip("*")) for part in plain.split(" .. "))
        gap, space = (".{0,24}?", " ") if self.unspaced else (r"(?:\W{1,3}[\w']{1,20}){0,4}?\W{1,3}", r"\W{1,3}")
        return gap.join(
            space.join(re.escape(each).replace(r"\*", r"\w{0,12}") for each in part.split(" "))
            for part in plain.split(" .. ")
        )


class _Needs:
    """The words of a list, as a quick test of whether one of them can be in a text."""

    def __init__(self, entries: Iterable[str]) -> None:
        split = [re.findall(r"[\w*]+", folded(entry)) for entry in entries]
        alone = [words[0] for words in split if len(words) == 1]
        self.words = frozenset(word for word in alone if "*" not in word)
        self.stems = frozenset(_stem(word) for word in alone if "*" in word)
        self.phrases: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {}
        for parts in split:
            if len(parts) > 1:
                words = frozenset(word for word in parts if "*" not in word)
                stems = frozenset(word[:KEY] for word in parts if "*" in word and "*" not in word[:KEY])
                key = _rarest(words, stems)
                self.phrases[key] = (*self.phrases.get(key, ()), (words, stems))
        self.keys = self.stems | {word[:KEY] for word in self.words} | self.phrases.keys()
        self.beginnings = frozenset(self.phrases)

    def met(self, reading: Reading) -> bool:
        """Whether a word of the list can be in a reading."""
        if not reading.words.isdisjoint(self.words) or not reading.keys.isdisjoint(self.stems):
            return True
        return any(
            words <= reading.words and stems <= reading.keys
            for key in reading.keys & self.beginnings
            for words, stems in self.phrases[key]
        )


def _stem(word: str) -> str:
    if "*" in word[:KEY]:
        raise ValueError(f"orders.toml: {word!r} needs {KEY} letters before *")
    return word[:KEY]


def _rarest(words: frozenset[str], stems: frozenset[str]) -> str:
    """The beginning of the longest word of a phrase: the one that is likely the rarest."""
    return max(sorted({*words, *stems}), key=len)[:KEY]


@cache
def _tables() -> tuple[tuple[Language, ...], tuple[Language, ...], Language]:
    """The languages, the same for texts without spaces, and the words by which a text speaks about orders."""
    data = get_data("slowwave.policy", "data/orders.toml")
    assert data is not None, "the package is complete"
    entries = tomllib.loads(data.decode())
    mention = entries.pop("mention")
    languages = tuple(Language(each) for each in entries.values())
    squashed = tuple(Language(each, squashed=True) for each in entries.values() if not each.get("unspaced"))
    return languages, squashed, Language(mention)


@cache
def _spaced() -> tuple[dict[str, tuple[tuple[Language, str], ...]], tuple[Language, ...]]:
    """The languages and their triggers, by the beginnings of words; and the languages without spaces between words."""
    by_key: dict[str, tuple[tuple[Language, str], ...]] = {}
    for language in _tables()[0]:
        for name in () if language.unspaced else _BY_TRIGGER:
            for key in language.needs[name].keys:
                by_key[key] = (*by_key.get(key, ()), (language, name))
    return by_key, tuple(language for language in _tables()[0] if language.unspaced)


@cache
def _beginnings() -> frozenset[str]:
    return frozenset(_spaced()[0])


def order_in(reading: Reading) -> str | None:
    """The kind of order to a model that a reading holds; None if there is none."""
    rules = list(_rules_for(reading))
    flat = " ".join(_PARAGRAPH.sub(" ¶ ", reading.text).split()) if rules else ""
    for language, name in rules:
        pattern = language.pattern(name)
        for found in pattern.finditer(flat) if pattern else ():
            why = _RULES[name](language, flat, found)
            if why and not is_mentioned(flat, *found.span()):
                return why
    return None


def _rules_for(reading: Reading) -> Iterator[tuple[Language, str]]:
    """The languages and the names of the triggers whose rule may apply to a reading."""
    if reading.squashed:
        yield from ((language, name) for language in _tables()[1] for name in _WITHOUT_SPACES)
        return
    by_key, unspaced = _spaced()
    if hit := reading.keys & _beginnings():
        is_addressed = any(mark in reading.text for mark in ("@", "://", "www."))
        for language, name in dict.fromkeys(pair for key in sorted(hit) for pair in by_key[key]):
            if (name != "send" or is_addressed) and language.may_apply(name, reading):
                yield language, name
    if not reading.text.isascii():
        letters = frozenset(reading.text)
        near = (language for language in unspaced if not letters.isdisjoint(language.letters))
        yield from ((language, name) for language in near for name in _BY_TRIGGER)


def is_mentioned(flat: str, start: int, end: int) -> bool:
    """Whether the text speaks about these words and does not say them itself.

    They stand in quotation marks inside a sentence, or a text that names attacks or examples quotes them or puts
    that name before them in the same clause.
    """
    begin = max(0, start - _PLACE)
    mention = _tables()[2]
    place = flat[begin : end + _PLACE]
    before = _ADDRESS.sub("", _CLAUSE.split(flat[begin:start])[-1])
    if mention.has("words", before):
        return True
    for quoted in _QUOTED.finditer(place):
        if not quoted.start() < start - begin < quoted.end():
            continue
        said = _ADDRESS.sub("", place)
        if mention.has("words", said) or mention.has("unspaced", said):
            return True
        lead = _SENTENCE_END.split(place[: quoted.start()])[-1].rstrip()
        around = f"{lead} {_SENTENCE_END.split(place[quoted.end() :])[0]}"
        if lead.endswith(":") or not _MARKUP.isdisjoint(around):
            return False
        words = re.findall(r"\w+", around)
        return len(words) >= _LEAST_AROUND or any(not word.isascii() and len(word) > 1 for word in words)
    return False


def _after(language: Language, flat: str, found: re.Match[str], reach: int = _REACH) -> str:
    """The rest of the sentence after a word; in languages with verbs at the end, the sentence before it as well."""
    after = _SENTENCE_END.split(flat[found.end() : found.end() + reach])[0]
    if not language.verb_last:
        return after
    return f"{_SENTENCE_END.split(flat[max(0, found.start() - reach) : found.start()])[-1]} ¦ {after}"


def _is_report(language: Language, flat: str, start: int, words: int = _BEFORE) -> bool:
    """Whether a subject or a negation stands shortly before a verb, in the same clause: it is a report, not an order."""
    if language.squashed:
        return False
    before = _CLAUSE.split(flat[max(0, start - _REACH) : start])[-1]
    if language.unspaced:
        return language.has("others", before[-6:])
    near = " ".join(before.split(" ")[-words - 1 :])
    if language.has("others", near):
        return True
    return _TO.search(near) is not None and _YOU_TO.search(near) is None


def _sets_aside(language: Language, flat: str, verb: re.Match[str]) -> str | None:
    """Whether the verb's object is the instructions of the model."""
    if _is_report(language, flat, verb.start()):
        return None
    rest = f"{verb[0]} {_after(language, flat, verb)}"
    if language.has("said", rest):
        return SET_ASIDE
    if not language.verb_last:
        rest = _PAUSE.split(rest)[0]
    for name in ("orders", "rules"):
        pattern = language.pattern(name)
        noun = pattern.search(rest) if pattern else None
        if noun is None or not language.has("earlier", rest[: noun.end() + _NEAR]):
            continue
        if language.has("every", rest[: noun.start()]) or not language.of_its_own("about", rest[noun.end() :]):
            return SET_ASIDE
    return None


def _declares_void(language: Language, flat: str, predicate: re.Match[str]) -> str | None:
    """Whether the subject directly before the predicate is the instructions of the model."""
    before = _CLAUSE.split(flat[max(0, predicate.start() - _REACH) : predicate.start()])[-1]
    for name, which in (("orders", "earlier"), ("rules", "yours")):
        pattern = language.pattern(name)
        for noun in pattern.finditer(before) if pattern else ():
            between = before[noun.end() :].strip()
            earlier = language.pattern("earlier")
            is_near = not between or language.has("yours", between) or (earlier and earlier.fullmatch(between))
            if is_near and language.has(which, before):
                return SET_ASIDE
    return None


def _gives_persona(language: Language, flat: str, found: re.Match[str]) -> str | None:
    """Whether the model is to be another one, without restrictions."""
    if _is_report(language, flat, found.start()):
        return None
    rest = f"{found[0]} {_after(language, flat, found)}"
    is_model = any(language.has(name, rest) for name in _OBJECTS["be"][1])
    return PERSONA if is_model and language.has("free", rest) else None


def _demands_secrecy(language: Language, flat: str, found: re.Match[str]) -> str | None:
    return None if _is_report(language, flat, found.start()) else SECRECY


def _addresses_model(language: Language, flat: str, found: re.Match[str]) -> str | None:
    return None if _is_report(language, flat, found.start()) else ADDRESSED


def _sends_away(language: Language, flat: str, verb: re.Match[str]) -> str | None:
    """Whether private words are to be sent to an address, or all of something in the form of a bare order."""
    rest = _after(language, flat, verb, _REACH + _REACH // 2)
    if not _DESTINATION.search(rest) or _is_report(language, flat, verb.start(), 2 * _BEFORE):
        return None
    object_words = rest if language.verb_last else _DESTINATION.split(rest)[0]
    if not _CODE.isdisjoint(object_words.replace("](", "")):
        return None
    if language.has("private", object_words):
        return SENT_AWAY
    sentence = _SENTENCE_END.split(flat[max(0, verb.start() - _REACH) : verb.start()])[-1]
    if language.has("polite", f"{sentence} {rest}") or language.has("polite", flat[:_REACH]):
        return None
    if language.has("user", f"{sentence} {rest}") or language.has("copy", rest):
        return SENT_AWAY
    return SENT_AWAY if not sentence.strip() and language.has("every", rest[:12]) else None


def _stores(language: Language, flat: str, verb: re.Match[str]) -> str | None:
    """Whether something that the user did not state is to be stored as wanted by the user, or anything in the model's memory."""
    if _is_report(language, flat, verb.start()):
        return None
    rest = _after(language, flat, verb)
    return STORED if language.has("wanted", rest) or language.has("memory", rest) else None


def _shows_prompt(language: Language, flat: str, verb: re.Match[str]) -> str | None:
    if _is_report(language, flat, verb.start()):
        return None
    rest = _after(language, flat, verb)
    return OWN_PROMPT if language.has("own", rest[:_REACH] if language.verb_last else rest[: _REACH // 2]) else None


_RULES: Final = {
    "aside": _sets_aside,
    "void": _declares_void,
    "be": _gives_persona,
    "secret": _demands_secrecy,
    "address": _addresses_model,
    "send": _sends_away,
    "store": _stores,
    "show": _shows_prompt,
}
