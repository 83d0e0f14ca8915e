"""Recognises an order to a model in a passage, by the words of 27 languages (`policy/data/orders.toml`).

No sentence is stored. A rule names kinds of words that must stand near each other in one sentence: a verb of setting aside,
a noun for instructions, and a word that says which. Every look around a word has a fixed length, so the time is linear.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Final, TypeAlias

from slowwave.policy.guard.addressees import CLAUSE, is_for_a_team, is_for_people, is_for_pupils, is_mentioned
from slowwave.policy.guard.lexicon import WIDTH, Language, lexicon
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
_PARAGRAPH: Final = lazy_regex(r"\n\s{0,20}\n")
_TO: Final = lazy_regex(r"\bto (?:\w{1,20} ){0,2}$")
_YOU_TO: Final = lazy_regex(
    r"\b(?:you|user|must|have|need|is|are|order\w*|assistant|model|ai|agent|required|ought|sure) to (?:\w{1,20} ){0,2}$"
)
_DESTINATION: Final = lazy_regex(r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bwww\.\w")
_KIND: Final = lazy_regex(
    r"\b(?!existing|preceding|foregoing|standing|operating|conflicting|any|every|guiding|underlying)\w{2,20}ing $"
)
"""A word that says what instructions are for, directly before them: "the soaking instructions"."""
_OF_MODEL: Final = lazy_regex(
    r"system|develop|prompt|safety|user|owner|operator|creator|training|conversation|chat\b|your "
)
_CODE: Final = frozenset("={}()<>|#\\")
_FIRST_UNSPACED: Final = "\u0590"
"""The first letter of the scripts whose words stand without spaces or with prefixes."""
TRIGGERS: Final = ("aside", "void", "be", "secret", "address", "send", "store", "show")
_OBJECTS: Final = {
    "aside": (("orders", "rules", "said"),),
    "void": (("orders", "rules"),),
    "be": (("free",), ("model", "policy", "rules", "orders")),
    "store": (("wanted", "memory"),),
    "show": (("own",),),
    "send": (("private", "every", "user", "copy"),),
}
"""The lists of which a word must be in the text beside the trigger for a rule to apply: of each group one."""
MARKED: Final = tuple(
    dict.fromkeys([*TRIGGERS, *(name for groups in _OBJECTS.values() for group in groups for name in group)])
)
"""The lists whose words have marks (`lexicon.Lexicon`)."""
_WITHOUT_SPACES: Final = ("aside", "secret", "void")
"""The rules that read texts without spaces: their words are long enough not to occur by chance."""


Rules: TypeAlias = tuple[tuple[Language, str], ...]
"""Languages, each with the name of a list whose words are the trigger of a rule."""
_ALL: Final = (1 << WIDTH) - 1


@cache
def _needs() -> tuple[tuple[str, int, tuple[tuple[int, ...], ...]], ...]:
    """Each trigger with the place of its bits in the marks, and the groups of places of which a text must have one each."""
    places = lexicon().places
    return tuple(
        (
            name,
            WIDTH * places[name],
            tuple(tuple(WIDTH * places[each] for each in group) for group in _OBJECTS.get(name, ())),
        )
        for name in TRIGGERS
    )


@cache
def _triggers() -> int:
    """The marks of all triggers."""
    return reduce(or_, [_ALL << place for _, place, _ in _needs()])


@cache
def _letters() -> tuple[tuple[Language, frozenset[str]], ...]:
    return tuple((language, language.letters(TRIGGERS)) for language in lexicon().unspaced)


def order_in(flat: str, rules: Iterable[tuple[Language, str]]) -> str | None:
    """The kind of order to a model that a passage holds; None if there is none.

    Args:
        flat: the passage on one line (`flattened`).
        rules: the languages and triggers to try (`rules_for`).
    """
    for language, name in rules:
        pattern = language.pattern(name)
        for trigger in pattern.finditer(flat) if pattern else ():
            why = _RULES[name](language, flat, trigger)
            if why and not is_mentioned(flat, *trigger.span()):
                return why
    return None


def flattened(text: str) -> str:
    """A text on one line, with a sign where a paragraph ends."""
    return " ".join(_PARAGRAPH.sub(" ¶ ", text).split())


def _names_address(text: str) -> bool:
    """Whether a text may name an address on the network."""
    return "@" in text or "://" in text or "www." in text


def rules_for(text: str, words: frozenset[str]) -> Rules:
    """The languages and triggers whose rule may apply to a folded text with these words: a quick test, which most texts fail."""
    known = lexicon()
    found = []
    marks = known.marks.of(words)
    if marks & _triggers() and _triggered(marks):
        for name, languages in _triggered(known.marks_met(words)):
            if name != "send" or _names_address(text):
                found += [(language, name) for number, language in enumerate(known.spaced) if languages >> number & 1]
    if not text.isascii() and max(text) >= _FIRST_UNSPACED:
        letters = frozenset(text)
        near = [language for language, known in _letters() if not letters.isdisjoint(known)]
        found += [(language, name) for language in near for name in TRIGGERS]
    return tuple(found)


@lru_cache(maxsize=5_000)
def _triggered(marks: int) -> tuple[tuple[str, int], ...]:
    """The triggers that marks allow, each with a bit for each language. Most texts share their marks with others."""
    found = []
    for name, place, groups in _needs():
        languages = marks >> place & _ALL
        for group in groups if languages else ():
            languages &= reduce(or_, [marks >> other & _ALL for other in group], 0)
        if languages:
            found.append((name, languages))
    return tuple(found)


def squashed_rules() -> Rules:
    """The languages and triggers to try on a text without spaces."""
    return tuple((language, name) for language in lexicon().squashed for name in _WITHOUT_SPACES)


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
    before = CLAUSE.split(flat[max(0, start - _REACH) : start])[-1]
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
    if not language.has("giver", rest) and is_for_people(language, flat, *verb.span()):
        return None
    if is_for_pupils(language, rest):
        return None
    if language.has("said", rest):
        return SET_ASIDE
    if not language.verb_last:
        rest = _PAUSE.split(rest)[0]
    for name in ("orders", "rules"):
        pattern = language.pattern(name)
        noun = pattern.search(rest) if pattern else None
        if noun is None or not language.has("earlier", rest[: noun.end() + _NEAR]):
            continue
        if _KIND.search(rest[: noun.start()]):
            continue
        if language.has("every", rest[: noun.start()]) or not _of_its_own(language, rest[noun.end() :]):
            return SET_ASIDE
    return None


def _of_its_own(language: Language, after: str) -> bool:
    """Whether a noun is followed by a subject of its own, such as "for the dishwasher", that is not the model."""
    found = language.own_subject(after)
    return found is not None and not _OF_MODEL.search(after[found.end() : found.end() + 30])


def _declares_void(language: Language, flat: str, predicate: re.Match[str]) -> str | None:
    """Whether the subject directly before the predicate is the instructions of the model."""
    before = CLAUSE.split(flat[max(0, predicate.start() - _REACH) : predicate.start()])[-1]
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
    about = (
        ("model", "policy") if language.lists.get("policy") else ("model", "rules", "orders")
    )  # games have rules and orders as well
    is_model = any(language.has(name, rest) for name in about)
    return PERSONA if is_model and language.has("free", rest) else None


def _demands_secrecy(language: Language, flat: str, found: re.Match[str]) -> str | None:
    return None if _is_report(language, flat, found.start()) else SECRECY


def _addresses_model(language: Language, flat: str, found: re.Match[str]) -> str | None:
    if language.has("crew", found[0]) or is_for_a_team(language, flat, *found.span()):
        return None
    return None if _is_report(language, flat, found.start()) else ADDRESSED


def _sends_away(language: Language, flat: str, verb: re.Match[str]) -> str | None:
    """Whether private words are to be sent to an address, or all of something in the form of a bare order."""
    rest = _after(language, flat, verb, _REACH + _REACH // 2)
    if not _DESTINATION.search(rest) or _is_report(language, flat, verb.start(), 2 * _BEFORE):
        return None
    object_words = rest if language.verb_last else _DESTINATION.split(rest)[0]
    if not _CODE.isdisjoint(object_words.replace("](", "")):
        return None
    sentence = _SENTENCE_END.split(flat[max(0, verb.start() - _REACH) : verb.start()])[-1]
    is_polite = language.has("polite", f"{sentence} {rest}") or language.has("polite", flat[:_REACH])
    is_known = not language.lists.get("holding") or language.has("holding", object_words)
    if language.has("private", object_words) and (is_known or not is_polite):
        return SENT_AWAY
    if is_polite:
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
