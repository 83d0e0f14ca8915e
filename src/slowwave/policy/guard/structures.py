"""Recognises an order to a model by how the text is built: whom it addresses, which role it gives, what is to be obeyed.

The words are in `policy/data/structures.toml`, for ten languages. What the order asks for hardly matters: a text that turns to
the model that reads it, with an order, is data that wants to instruct. Every look around a word has a fixed length, so the
time is linear.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, TypeAlias

from slowwave.policy.guard.addressees import SENTENCE_END, is_for_a_team, is_mentioned, is_reported
from slowwave.policy.guard.directives import ADDRESSED, OWN_PROMPT, PERSONA, SECRECY
from slowwave.policy.guard.disguises import KEY, Reading, folded
from slowwave.policy.guard.lexicon import Language, structures
from slowwave.policy.text.lazy_regex import lazy_regex

_Find: TypeAlias = Callable[[Language, str], str | None]

_BEFORE: Final = 80
"""Characters before a word in which its sentence is read."""
_AFTER: Final = 240
"""Characters after a word in which the rest of its structure may stand."""
_CLAUSE_OF_READING: Final = 90
"""Characters after a reader in which a clause says what it reads."""
_OBJECT: Final = 30
"""Characters around a verb of reading in which its object stands."""
_FIRST: Final = 40
"""Characters after an address in which the order begins."""
_CLOSE: Final = 16
"""Characters between words that belong together."""
_CALL_WORDS: Final = 8
"""Words of a call before the reader that it turns to."""
_BOUNDARY: Final = lazy_regex(r"[.!?]\s|[。！？¶:：;；\"“„«「『{\[(*|<>—–»]|\s-\s")
_CALLED: Final = lazy_regex(r"\s?[,:，：、;—–！!-]\s?")
_CALLED_UNSPACED: Final = lazy_regex(r"(?:へ|宛て?|向け)?(?:の?(?:注意|お知らせ|指示|連絡))?\s?[,:，：、;—–！!-]")
_COLON: Final = lazy_regex(r"[:：;—–]|(?<=\w)[,，、]")
_NAMES: Final = frozenset({"gpt", "chatgpt", "claude", "gemini", "copilot", "assistant", "assistent", "asystent"})
"""Names of speakers in records of talk: a name and a colon begin a turn, no order."""
_PROGRAM: Final = frozenset("={};")
_FIRST_UNSPACED: Final = "\u2e80"


@cache
def _screens() -> dict[str, tuple[tuple[int, frozenset[str]], ...]]:
    """By the beginning of a word: the rules, by their numbers (`_numbered`), that may apply to a text with it and the others."""
    found: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for number, (language, names, _) in enumerate(_numbered()):
        for key, entries in _beginnings(language, names).items():
            found.setdefault(key, []).extend((number, entry) for entry in entries)
    return {key: tuple(entries) for key, entries in found.items()}


@cache
def _numbered() -> tuple[tuple[Language, tuple[str, ...], _Find], ...]:
    """Each rule in each language whose words stand between spaces, with the lists of which it needs a word."""
    return tuple((language, names, rule) for language in structures() if not language.unspaced for names, rule in RULES)


def _beginnings(language: Language, names: tuple[str, ...]) -> dict[str, list[frozenset[str]]]:
    """The entries of lists as the first `KEY` letters of their words, by the longest of them."""
    found: dict[str, list[frozenset[str]]] = {}
    for entry in (entry for name in names for entry in language.lists.get(name, ())):
        parts = re.findall(r"[\w*]+", folded(entry))
        keys = frozenset(part.rstrip("*")[:KEY] for part in parts if "*" not in part[:KEY])
        found.setdefault(max(keys, key=len), []).append(keys)
    return found


def _tried(reading: Reading) -> Iterator[tuple[Language, _Find]]:
    """The rules that may apply to a reading: a quick test by the beginnings of its words."""
    keys, screens = reading.keys, _screens()
    numbers = {number for key in keys & screens.keys() for number, entry in screens[key] if entry <= keys}
    for number in sorted(numbers):
        language, _, rule = _numbered()[number]
        yield language, rule
    if not reading.text.isascii() and max(reading.text) >= _FIRST_UNSPACED:
        for language in structures():
            if language.unspaced:
                yield from ((language, rule) for _, rule in RULES)


def may_have_structure(word: str) -> bool:
    """Whether a word is one by which a rule is looked for (`_tried`)."""
    return word[:KEY] in _screens()


def structure_in(reading: Reading, flat: str) -> str | None:
    """The kind of order to a model that the structure of a text shows; None if it shows none.

    Args:
        reading: the reading.
        flat: its text on one line (`orders.flattened`).
    """
    if reading.squashed:
        return None
    return next((why for language, rule in _tried(reading) if (why := rule(language, flat))), None)


def _has(language: Language, text: str, *names: str) -> bool:
    pattern = language.pattern(*names)
    return pattern is not None and pattern.search(text) is not None


def _before(flat: str, start: int) -> str:
    """What stands before a place in its sentence."""
    return SENTENCE_END.split(flat[max(0, start - _BEFORE) : start])[-1]


def _rest(flat: str, end: int) -> str:
    """What stands after a place in its sentence."""
    return SENTENCE_END.split(flat[end : end + _AFTER])[0]


def _readers(language: Language, flat: str) -> Iterator[tuple[int, int, bool]]:
    """The names of a model: where they begin and end, and whether they can mean nothing else ("agent" can be a person)."""
    pattern = language.pattern("ai", "machine", "helper")
    sure = language.pattern("ai", "machine")
    end = -1
    for found in pattern.finditer(flat) if pattern else ():
        if found.start() < end:
            continue
        end = found.end()
        is_sure = sure is not None and sure.fullmatch(found[0]) is not None
        start = found.start()
        more = pattern.match(flat, end + (not language.unspaced)) if pattern else None
        if more is not None:
            end = more.end()
            is_sure = is_sure or (sure is not None and sure.fullmatch(more[0]) is not None)
        yield start, end, is_sure


def _reads_this(language: Language, after: str, *, any_paper: bool) -> int:
    """Where a clause ends by which a reader reads this text; 0 if there is none."""
    drafts = language.pattern("drafts")
    if drafts is not None and (draft := drafts.search(after[:_CLAUSE_OF_READING])):
        return draft.end()
    pattern = language.pattern("reading", "reads")
    for found in pattern.finditer(after[:_CLAUSE_OF_READING]) if pattern else ():
        near = after[max(0, found.start() - _CLOSE) : found.end() + _OBJECT]
        if _has(language, near, "this", "here") or (any_paper and _has(language, near, "paper")):
            return found.end()
    return 0


def _addresses(language: Language, flat: str) -> str | None:
    """Whether the text turns to a model with an order, or obliges the model that reads it."""
    for start, end, is_sure in _readers(language, flat):
        after = flat[end : end + _AFTER]
        why = _called(language, flat, start, end, after, is_sure=is_sure) or _obliged(
            language, flat, start, end, is_sure=is_sure
        )
        if why and not is_mentioned(flat, start, end) and not is_for_a_team(language, flat, start, end):
            return why
    return None


def _called(language: Language, flat: str, start: int, end: int, after: str, *, is_sure: bool) -> str | None:
    """Whether a reader is called, at the beginning of a sentence or after the words of a note, and ordered to do something."""
    head = _BOUNDARY.split(flat[max(0, start - _BEFORE) : start])[-1].strip(" ,'’-#>/")
    note = _has(language, head + after[:2] if language.unspaced else head, "note")
    is_case = _has(language, head, "if") and not note
    place = _place_of_order(language, after, is_sure=is_sure)
    if not place or len(head.split()) > _CALL_WORDS or (head and not note and not _has(language, head, "any", "if")):
        return None
    name, order = flat[start:end], after[place:]
    is_name = name in _NAMES and not note
    if is_name and ":" in after[:2]:
        return None
    if not _begins_with_order(language, order, at_once=is_case or is_name, anywhere=note and is_sure):
        return None
    is_meant = is_sure or _has(language, after[:place], "drafts") or _has(language, order, *_AFFAIRS)
    return ADDRESSED if is_meant else None


def _begins_with_order(language: Language, order: str, *, at_once: bool, anywhere: bool) -> bool:
    """Whether a verb of an order stands where it must after a call.

    Args:
        language: the language.
        order: what follows the call.
        at_once: whether the verb must be the first word, since the call may be the subject of a report.
        anywhere: whether it may stand in any place, since the call can be nothing else.
    """
    verb = language.pattern(*_COMMANDS)
    if verb is None:
        return False
    if at_once and not language.unspaced:
        return verb.match(order.lstrip()) is not None
    return verb.search(order if anywhere or language.unspaced else order[:_FIRST]) is not None


def _place_of_order(language: Language, after: str, *, is_sure: bool) -> int:
    """Where the words after a reader end that make it a call: a comma, or a clause about what it reads; 0 if there are none."""
    called = _CALLED_UNSPACED.match(after) if language.unspaced else _CALLED.match(after)
    if called is not None:
        return called.end()
    reads = _reads_this(language, after, any_paper=is_sure)
    colon = _COLON.search(after, reads, reads + _OBJECT * 2) if reads else None
    return colon.end() if colon else 0


def _obliged(language: Language, flat: str, start: int, end: int, *, is_sure: bool) -> str | None:
    """Whether the model that reads the text, or any model, is obliged to something that only an attacker asks for."""
    before, rest = _before(flat, start), _rest(flat, end)
    is_any = _has(language, before[-_OBJECT:], "any")
    reads = 0 if _has(language, rest, "drafts") else _reads_this(language, rest, any_paper=is_sure and is_any)
    duty = language.pattern("duty")
    must = duty.search(rest, 0 if language.unspaced else reads) if duty else None
    if reads and must and (is_sure or is_any):
        return ADDRESSED
    if must and not flat.startswith("agent", start) and (reads or _has(language, before[-_CLOSE:], "reading")):
        is_prose = _PROGRAM.isdisjoint(rest)
        return ADDRESSED if is_prose and _has(language, rest, "this") and _has(language, rest, "paper") else None
    if reads and is_sure and is_any and _has(language, rest[reads:], "hide", "omit", "drop", "command"):
        return ADDRESSED
    is_wanted = must is not None and (must.start() <= _FIRST or bool(reads))
    if is_wanted and must is not None:
        asked = rest[must.end() :] if not language.verb_last else rest
        about = rest[max(0, must.start() - _CLOSE) : must.end() + _CLOSE]
        if not _has(language, about, "deny") and _asks_for_harm(language, asked):
            return OWN_PROMPT
    if is_sure and (is_wanted or _has(language, before, "if")) and _hides(language, rest):
        return SECRECY
    return None


def _asks_for_harm(language: Language, asked: str) -> bool:
    """Whether a model is to show its own instructions, or to use a tool without the user's consent."""
    if _has(language, asked, "disclose") and _has(language, asked, "innards"):
        return True
    return _has(language, asked, "harm") and _has(language, asked, "tool") and _has(language, asked, "unasked")


def _hides(language: Language, rest: str) -> bool:
    """Whether something is to be left out or kept from the person whom the model serves."""
    verb = language.pattern("hide", "omit")
    for found in verb.finditer(rest) if verb else ():
        if not _has(language, rest[max(0, found.start() - _CLOSE) : found.start()], "deny"):
            return _has(language, rest, "person", "served", "task")
    return False


def _gives_role(language: Language, flat: str) -> str | None:
    """Whether the reader is to be another one, or no assistant any more, who breaks rules or tells secrets."""
    pattern = language.pattern("now", "renounce")
    for found in pattern.finditer(flat) if pattern else ():
        after = flat[found.end() : found.end() + _AFTER]
        before = flat[max(0, found.start() - _BEFORE) : found.start()]
        near = f"{before}¦{after}"
        is_model = _has(language, near, "ai", "machine", "policy", "being_kind") or _has(
            language, after[:_BEFORE], "helper"
        )
        is_free = _has(language, after, "bare", "yields")
        is_leak = _has(language, after, "yields") and _tells_secret(language, after, is_model=is_model)
        is_renounced = _has(language, found[0], "renounce")
        is_boundless = _has(language, after, "boundless") and not _has(language, near, "people", "pupils")
        if not (
            is_leak
            or is_boundless
            or (is_free and is_model)
            or (is_renounced and is_model and _has(language, after, "become", "now"))
        ):
            continue
        if not is_reported(language, flat, found.start()) and not is_mentioned(flat, *found.span()):
            return PERSONA
    return None


def _tells_secret(language: Language, after: str, *, is_model: bool) -> bool:
    """Whether secrets are spoken of: keys are those of a door unless a model is spoken of."""
    secrets, keys = language.pattern("holding", "innards"), language.pattern("keys")
    return any(
        is_model or keys is None or keys.fullmatch(found[0]) is None
        for found in (secrets.finditer(after) if secrets else ())
    )


def _decodes(language: Language, flat: str) -> str | None:
    """Whether a hidden reading of a text is to be obeyed instead of the reader's task."""
    pattern = language.pattern("cipher")
    for found in pattern.finditer(flat) if pattern else ():
        near = flat[max(0, found.start() - _AFTER) : found.end() + _AFTER]
        if not _has(language, near, "over", "unasked") or _has(language, near, "people", "pupils"):
            continue
        verb = language.pattern("obey", "does")
        start = max(0, found.start() - _AFTER)
        orders = verb.finditer(flat, start, found.end() + _AFTER) if verb else ()
        is_order = any(not is_reported(language, flat, order.start()) for order in orders)
        if is_order and not is_mentioned(flat, *found.span()):
            return ADDRESSED
    return None


def _uses_tool(language: Language, flat: str) -> str | None:
    """Whether a tool is to be used in the user's name, or without a word to the user."""
    pattern = language.pattern("act")
    for found in pattern.finditer(flat) if pattern else ():
        near = (
            flat[found.end() : found.end() + _AFTER]
            if not language.verb_last
            else f"{_before(flat, found.start())}¦{_rest(flat, found.end())}"
        )
        if not _has(language, near[:_BEFORE] if not language.verb_last else near, "tool"):
            continue
        is_silent = _has(language, near, "served") and (
            _has(language, near, "unasked")
            or (_has(language, near, "deny") and _has(language, near, "tell", "learn"))
            or _has(language, near, "behalf")
        )
        is_silent = is_silent or (_has(language, near, "device") and _has(language, near, "unasked", "answering"))
        if not is_silent or is_reported(language, flat, found.start()) or _has(language, near, "people"):
            continue
        if not is_mentioned(flat, *found.span()):
            return ADDRESSED
    return None


_COMMANDS: Final = (
    "command",
    "tell",
    "hide",
    "omit",
    "keep",
    "upload",
    "drop",
    "heed",
    "recite",
    "perform",
    "act",
    "deny",
)
_AFFAIRS: Final = ("served", "prior", "innards", "tool", "unasked", "lasting", "giver")
RULES: Final[tuple[tuple[tuple[str, ...], _Find], ...]] = (
    (("ai", "machine", "helper"), _addresses),
    (("now", "renounce"), _gives_role),
    (("cipher",), _decodes),
    (("served", "device"), _uses_tool),
)
"""The rules, each with the lists of which a text must have a word."""
