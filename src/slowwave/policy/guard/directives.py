"""Recognises an order to a model by its parts: in one sentence stand, for example, a verb of hiding and the user.

A rule names groups of word lists (`policy/data/directives.toml`). A sentence matches if it has a word of each group near the
word of the first one, the trigger. No phrase of an order is stored: the lists hold parts that occur in any combination.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from slowwave.policy.guard.addressees import (
    SENTENCE_END,
    is_for_a_team,
    is_for_people,
    is_for_pupils,
    is_mentioned,
    is_reported,
)
from slowwave.policy.guard.disguises import Reading, reading_of
from slowwave.policy.guard.lexicon import Language, Need, Signs, is_anchored, lexicon, signs
from slowwave.policy.text.lazy_regex import lazy_regex

SET_ASIDE: Final = "earlier instructions are to be set aside"
PERSONA: Final = "another persona for the model"
SECRECY: Final = "secrecy before the user"
ADDRESSED: Final = "new instructions for the model"
SENT_AWAY: Final = "data to be sent away"
STORED: Final = "a memory that the user did not ask for"
OWN_PROMPT: Final = "a request for the model's own instructions"
ROLE: Final = "a role tag"

_BEFORE: Final = 200
"""Characters before a trigger in which the other words of its rule may stand, in the same sentence."""
_AFTER: Final = 240
"""Characters after a trigger in which they may stand."""
_BESIDE: Final = 45
"""Characters beside a trigger in which a group with ~ must have a word."""
_NEGATED: Final = 14
"""Characters beside a verb in which a negation belongs to it."""


class _Rule(NamedTuple):
    """A kind of order.

    Attributes:
        why: what to call it.
        groups: names of word lists: a sentence must have a word of one list of each group. The first group is the trigger.
        is_order: whether the trigger is a verb that must be an order, not a report.
        aside: whether the rule is about setting aside, which people ask of each other as well.
        addressed: whether the sentence must name an address on the network.
        object_after: whether the other words must stand after the trigger, where a language has its objects there.
        across: whether they may stand in the next sentence.
    """

    why: str
    groups: tuple[tuple[str, ...], ...]
    is_order: bool = True
    aside: bool = False
    addressed: bool = False
    object_after: bool = False
    across: bool = False


def _groups(written: str) -> tuple[tuple[str, ...], ...]:
    """The groups of a rule, written with blanks between the groups and strokes between the lists of one.

    A group that ends in ~ must stand beside the trigger.
    """
    return tuple(tuple(group.split("|")) for group in written.split())


def _plain(group: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.rstrip("~") for name in group)


_RULES: Final = (
    _Rule(SECRECY, _groups("hide served")),
    _Rule(SECRECY, _groups("tell served deny~")),
    _Rule(SECRECY, _groups("learn served deny~"), is_order=False),
    _Rule(SECRECY, _groups("omit|hide|tell task deny learn person|served")),
    _Rule(SECRECY, _groups("omit|hide task served|learn")),
    _Rule(SECRECY, _groups("tell deny~ task person")),
    _Rule(STORED, _groups("keep lasting served")),
    _Rule(STORED, _groups("keep lasting person grant")),
    _Rule(STORED, _groups("keep served grant")),
    _Rule(SENT_AWAY, _groups("upload holding"), addressed=True),
    _Rule(SET_ASIDE, _groups("drop told"), aside=True, object_after=True),
    _Rule(SET_ASIDE, _groups("drop law giver"), aside=True, object_after=True),
    _Rule(SET_ASIDE, _groups("gone told"), is_order=False, aside=True),
    _Rule(SET_ASIDE, _groups("gone law giver"), is_order=False, aside=True),
    _Rule(SET_ASIDE, _groups("heed only here drop|gone")),
    _Rule(PERSONA, _groups("become admin perform each|here|unasked"), is_order=False, across=True),
    _Rule(PERSONA, _groups("become bare ai|helper|policy"), is_order=False, across=True),
    _Rule(ADDRESSED, _groups("decode does here"), is_order=False),
    _Rule(ADDRESSED, _groups("helper|ai reads unasked"), is_order=False),
    _Rule(OWN_PROMPT, _groups("recite prior law|verbatim")),
)
_BY_LABEL: Final = (
    _groups("limits off each"),
    _groups("perform each request"),
    _groups("admin served off|unasked|each"),
    _groups("unasked served|perform"),
    _groups("become bare"),
    _groups("become admin"),
    _groups("recite prior"),
    _groups("upload holding served|unasked"),
    _groups("drop law"),
    _groups("hide served"),
    _groups("served grant unasked"),
    _groups("heed only here"),
)
_TURNED_TO: Final = (("being", "ai", ""), ("call", "ai", "reads"), ("being", "helper", "reads"))
"""Words that turn to a reader, the reader, and what must follow."""
_SYSTEM: Final = r"(?:system|systeme|sistema|systeem|systemnachricht|systemmeddelande|systemhinweis|система|系统|系統|システム|시스템)"
_SYSTEM_LABEL: Final = lazy_regex(_SYSTEM)
_LABEL: Final = lazy_regex(
    rf"(?:^|\n)[^\w\n]{{0,6}}{_SYSTEM}(?: (?:message|prompt|note|update|notice|alert|command|override|announcement|hinweis|meldung|aviso|avviso|avis))?[^\w\n]{{0,3}}[:\]】)][^\w\n]{{0,4}}([^\n]{{1,400}})"
)
_FIRST_UNSPACED: Final = "\u0590"
"""The first letter of the scripts whose words stand without spaces or with prefixes."""
_DESTINATION: Final = lazy_regex(r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bwww\.\w")
_OPEN_PLACE: Final = lazy_regex(
    r"https?://[^\s)\"']{1,200}[?&/][\w.-]{0,30}=(?:[\s)\"']|$|[{<\[%]|([a-z_ -]{4,60})[)\s\"'])"
)
_DONE: Final = lazy_regex(r"[\"“„«「『]([^\"”“»」』\n]{8,300})[\"”“»」』][\s.。!]{0,3}")
_ANY: Final = lazy_regex(r"\b(?:an?|any|other|une?|un[ao]|um|uma|eine[mnr]?|een|andere\w?)\s$")
_TO_DO: Final = lazy_regex(r"\s(?:to|zu|om te|żeby|aby)\s|\sd[ie]\s\w{1,12}(?:[aei]re|er|ir|ar)\b")
_INTO: Final = lazy_regex(r"\W{1,3}(?:in|into|to|im|ins|dans|en|nel|nella|no|na|w|do)\s")
_URL: Final = lazy_regex(r"https?://[^\s'\"]{1,300}")
_CODE: Final = frozenset("={}()<>|#\\")
_STATEMENT: Final = frozenset("={};()")
_LEAST_MARKS: Final = 5
"""Marks of programs near a trigger from which on the words are those of a program."""
_BRACKETS: Final = frozenset("{};[(")
_CALLED: Final = 20
"""Characters between the words that turn to a reader and the reader."""
_QUOTED_PARTS: Final = ("served", "holding", "law", "ai")
"""Lists of which a quotation must have a word so that its execution is an order to a model."""


@cache
def needs() -> tuple[tuple[_Rule, Need], ...]:
    """The rules, each with the words that a text must have so that it can match."""
    return tuple((rule, Need(map(_plain, rule.groups))) for rule in _RULES)


@cache
def _other_needs() -> tuple[Need, ...]:
    """What a text needs so that it may turn to a reader, or quote an order."""
    turned = (
        Need(((name,), *((each,) for each in (call, follows) if each not in {"", "call"})))
        for call, name, follows in _TURNED_TO
    )
    return (*turned, Need((("does",), _QUOTED_PARTS)))


@cache
def _label_needs() -> tuple[tuple[tuple[tuple[str, ...], ...], Need], ...]:
    return tuple((groups, Need(groups)) for groups in _BY_LABEL)


def _languages(bits: int) -> Iterator[Language]:
    """The languages of a mask (`Need.languages`)."""
    while bits:
        lowest = bits & -bits
        yield lexicon().spaced[lowest.bit_length() - 1]
        bits ^= lowest


def directive_in(reading: Reading, flat: str, found: Signs) -> str | None:
    """The kind of order to a model that a reading holds; None if there is none.

    Args:
        reading: the reading.
        flat: its text on one line, with a sign where a paragraph ends.
        found: its signs (`lexicon.signs`).
    """
    if reading.squashed:
        return None
    is_addressed = any(mark in flat for mark in ("@", "://", "www."))
    rules = [(rule, need) for rule, need in needs() if need.languages(found) and (is_addressed or not rule.addressed)]
    others = any(need.languages(found) for need in _other_needs())
    unspaced = _unspaced(flat)
    for start, end in _sentences(flat) if rules or others or unspaced else ():
        if why := _in_sentence(flat, start, end, rules, unspaced):
            return why
    return (
        (_labelled(reading.text) if _SYSTEM_LABEL.search(flat) else None)
        or _quoted_order(flat, found)
        or _open_place(flat)
    )


def _unspaced(flat: str) -> tuple[Language, ...]:
    """The languages without spaces between words whose letters are in the text."""
    if flat.isascii() or max(flat) < _FIRST_UNSPACED:
        return ()
    return tuple(language for language in lexicon().unspaced if language.has("script", flat))


def _signs_of(flat: str, start: int, end: int, rules: list[tuple[_Rule, Need]]) -> tuple[Signs, Signs] | None:
    """The signs of a sentence, and of it with the beginning of the next; None if it can hold no order."""
    longer = reading_of(flat[start : end + (_AFTER if any(rule.across for rule, _ in rules) else 0)])
    if not is_anchored(longer.words, longer.keys) and not _DESTINATION.search(longer.text):
        return None
    after = signs(longer.words, longer.keys)
    if len(longer.text) <= end - start:
        return after, after
    own = reading_of(flat[start:end])
    return signs(own.words, own.keys), after


def _in_sentence(
    flat: str, start: int, end: int, rules: list[tuple[_Rule, Need]], unspaced: tuple[Language, ...]
) -> str | None:
    """The kind of order in the sentence from `start` to `end`."""
    signed = _signs_of(flat, start, end, rules)
    if signed is None and not unspaced:
        return None
    near, after = signed or (signs(frozenset()),) * 2
    for rule, need in rules:
        for language in _languages(need.languages(after if rule.across else near)):
            if _matches(rule, language, flat, start, end):
                return rule.why
    turned = 0
    for need in _other_needs()[:-1]:
        turned |= need.languages(near)
    if any(_turns_to_reader(language, flat, start, end) for language in (*_languages(turned), *unspaced)):
        return ADDRESSED
    for language in unspaced:
        for rule in _RULES:
            if _matches(rule, language, flat, start, end):
                return rule.why
    return None


_WORD: Final = lazy_regex(r"\w+")


def _sentences(flat: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in SENTENCE_END.finditer(flat):
        yield start, end.end()
        start = end.end()
    if start < len(flat):
        yield start, len(flat)


def _matches(rule: _Rule, language: Language, flat: str, start: int, end: int) -> bool:
    """Whether the sentence from `start` to `end` holds an order of this kind."""
    trigger = language.pattern(*rule.groups[0])
    for found in trigger.finditer(flat, start, end) if trigger else ():
        before = flat[max(start, found.start() - _BEFORE) : found.start()]
        after = flat[found.end() : min(len(flat) if rule.across else end, found.end() + _AFTER)]
        near = (
            after
            if rule.object_after and not language.verb_last and not language.lists.get("deny_after")
            else f"{before}¦{after}"
        )
        if rule.addressed and not _DESTINATION.search(near):
            continue
        if _is_code(near, addressed=rule.addressed):
            continue
        beside = near if language.unspaced else _beside(language, before, after)
        if not all(
            _has(language, _plain(group), beside if group[0].endswith("~") else near) for group in rule.groups[1:]
        ):
            continue
        if rule.why == SECRECY and rule.groups[0] == ("tell",) and not _is_told_of(language, near):
            continue
        if _is_for_authors(rule, language, near, after) or _is_condition(rule, language, before):
            continue
        if rule.is_order and is_reported(language, flat, found.start()):
            continue
        if rule.aside and _asked_of_people(rule, language, flat, found.span(), near):
            continue
        if not is_mentioned(flat, *found.span()):
            return True
    return False


def _is_told_of(language: Language, near: str) -> bool:
    """Whether something is to be kept from the user, not from any user ("to a user"), and not what the user is to do."""
    users = language.pattern("served", "person")
    return users is None or any(
        not _ANY.search(near[: found.start()]) and not _TO_DO.match(near, found.end()) for found in users.finditer(near)
    )


def _is_for_authors(rule: _Rule, language: Language, near: str, after: str) -> bool:
    """Whether the authors of a prompt are asked to write it, or people to solve a puzzle."""
    if rule.why == OWN_PROMPT:
        return _is_placed_in(language, after)
    return rule.groups[0] == ("decode",) and (language.has("people", near) or language.has("pupils", near))


def _is_condition(rule: _Rule, language: Language, before: str) -> bool:
    """Whether somebody else does not know: "must tell the user when it does not know"."""
    users = language.pattern("served")
    if rule.groups[0] != ("learn",) or users is None:
        return False
    return any(language.has("when", before[found.end() :]) for found in users.finditer(before))


def _is_placed_in(language: Language, after: str) -> bool:
    """Whether something is to be written into a prompt, as its authors do, and not the prompt shown."""
    into, prompt = _INTO.match(after), language.pattern("prior")
    return (
        into is not None and prompt is not None and prompt.search(after, into.end(), into.end() + _CALLED) is not None
    )


def _beside(language: Language, before: str, after: str) -> str:
    """The words in which a negation of a verb stands: before it, in some languages after it as well."""
    return f"{before[-_BESIDE:]}¦{after[:_BESIDE]}" if language.lists.get("deny_after") else before[-_BESIDE:]


def _is_code(near: str, *, addressed: bool) -> bool:
    """Whether the words are those of a program, such as a request to a server in JavaScript."""
    if addressed:
        return not _CODE.isdisjoint(_URL.sub("", near).replace("](", ""))
    marks = sum(map(near.count, _STATEMENT))
    return marks >= _LEAST_MARKS or ("=" in near and not _BRACKETS.isdisjoint(near))


def _asked_of_people(rule: _Rule, language: Language, flat: str, span: tuple[int, int], near: str) -> bool:
    """Whether setting aside is forbidden, or asked of people."""
    if rule.is_order and language.has(
        "deny", f"{flat[max(0, span[0] - _NEGATED) : span[0]]}¦{flat[span[1] : span[1] + _NEGATED]}"
    ):
        return True
    if is_for_pupils(language, near):
        return True
    return not language.has("giver", near) and is_for_people(language, flat, *span)


def _has(language: Language, group: tuple[str, ...], text: str) -> bool:
    pattern = language.pattern(*group)
    return pattern is not None and pattern.search(text) is not None


def _labelled(text: str) -> str | None:
    """Whether a line with the label of a system message lifts limits or demands obedience."""
    for line in _LABEL.finditer(text):
        said = line[1]
        found = signs(frozenset(_WORD.findall(said)))
        for groups, need in _label_needs():
            near = (*_languages(need.languages(found)), *lexicon().unspaced)
            if any(all(_has(language, group, said) for group in groups) for language in near):
                return ROLE
    return None


def _quoted_order(flat: str, found: Signs) -> str | None:
    """Whether the text quotes words about the user or the model and then demands that they be carried out."""
    languages = (*_languages(_other_needs()[-1].languages(found)), *_unspaced(flat))
    for quoted in _DONE.finditer(flat) if languages else ():
        after = SENTENCE_END.split(flat[quoted.end() : quoted.end() + 60])[0]
        around = f"{SENTENCE_END.split(flat[max(0, quoted.start() - _BEFORE) : quoted.start()])[-1]} {after}"
        if lexicon().mention.has("words", around) or lexicon().mention.has("unspaced", around):
            continue
        for language in languages:
            if _has(language, ("does",), after) and _has(language, _QUOTED_PARTS, quoted[1]):
                return ADDRESSED
    return None


def _turns_to_reader(language: Language, flat: str, start: int, end: int) -> bool:
    """Whether a sentence turns to a model that reads it: "dear language model", "note to any AI reading this"."""
    sentence = flat[start:end]
    ways = (*_TURNED_TO, ("reads", "ai", "")) if language.verb_last else _TURNED_TO
    for call, name, follows in ways:
        first, reader = language.pattern(call), language.pattern(name)
        if not first or not reader or (follows and not language.has(follows, sentence)):
            continue
        for called in first.finditer(sentence):
            found = reader.search(sentence, called.end(), called.end() + 3 * _CALLED)
            is_near = (
                found is not None
                and found.start() <= called.end() + _CALLED
                and not is_for_a_team(language, sentence, *found.span())
                and not _speaks_of_itself(language, sentence, found.end())
            )
            if is_near and not is_mentioned(flat, start + called.start(), start + called.end()):
                return True
    return False


def _speaks_of_itself(language: Language, sentence: str, end: int) -> bool:
    """Whether a model speaks after its name: "as a language model, I do not have"."""
    comma = sentence.find(", ", end, end + _CALLED)
    speaker = language.pattern("mine", "subject")
    return comma >= 0 and speaker is not None and speaker.match(sentence, comma + 2) is not None


def _open_place(flat: str) -> str | None:
    """Whether an address on the network has a place to be filled with what the model knows."""
    for address in _OPEN_PLACE.finditer(flat) if "://" in flat else ():
        near = flat[max(0, address.start() - _BEFORE) : address.end() + _AFTER]
        is_image = "](" in near
        if not _CODE.isdisjoint(_URL.sub("", near).replace("](", "").replace(")", "")):
            continue
        for language in (*lexicon().spaced, *lexicon().unspaced):
            if language.has("holding", near) and (is_image or language.has("upload", near)):
                return SENT_AWAY
    return None


def demands_execution(text: str) -> bool:
    """Whether a text demands that something be carried out: "run this now", "without confirmation"."""
    found = signs(frozenset(_WORD.findall(text)))
    near = (*_languages(_execution_need().languages(found)), *lexicon().unspaced)
    return any(_has(language, ("does", "unasked"), text) for language in near)


@cache
def _execution_need() -> Need:
    return Need((("does", "unasked"),))
