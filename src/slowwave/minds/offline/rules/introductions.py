"""Recognises how people introduce themselves: their name, and what stands beside it ("I'm Ada, 34, a nurse from Leeds")."""

import re
from collections.abc import Iterator
from typing import Final

from slowwave.minds.offline.rules.claims import SEMANTIC, Claim
from slowwave.minds.offline.rules.morphology import IRREGULAR_BASES, past_base
from slowwave.minds.offline.rules.pronouns import possessive
from slowwave.minds.offline.rules.words import ADVERBS, GENERIC, JOBS, KIN, LASTING_STATES, MOODS, PEOPLES
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_NAME: Final = (
    r"(?P<name>[A-Z][^\W\d_]+(?:[-\s](?:[A-Z]\.|(?:(?:van|de|von|der|da|la|le|bin|al)\s)*[A-Z][^\W\d_'’]+)){0,3})"
)
_NICKNAMED: Final = r"(?i:(?:you can |just |please |but |and )*call me|they call me|(?:my )?(?:friends|people|folks|everyone|everybody|most people)(?: \w+){0,2} calls? me|(?:my )?\w+(?: \w+){0,2} calls me)"
_INTRODUCED: Final = re.compile(
    rf"^(?:(?P<sure>(?i:(?:(?:and )?(?:my|the|full|first) )*name(?: is|['’]s)|(?:I['’]m|I am|I was) (?:really |actually )?(?:called|named)|this is|myself)|{_NICKNAMED})\s+"
    rf"|(?P<maybe>I['’]m|I am)\s+)(?:(?:Dr|Prof|Mr|Mrs|Ms|Mx)\.?\s+)?(?:actually |really |just )?[\"“']?{_NAME}[\"”']?(?P<rest>(?:\s*,|\s+and\b|\s+but\b|\s+so\b|\s*\(|\s+from\b|\s*[-–—]|$).*)$"
)
# "Ada Lund, pleased to meet you", "Ada Lund is the name", "it's Mika, not Mike", "they named me Ada", "to introduce myself: Ada Lund".
_PRESENTED: Final = (
    re.compile(rf"^.{{0,40}}?(?i:\b(?:full|real|given|birth|official) name:?)\s+{_NAME}"),
    re.compile(rf"^(?i:(?:just |let me |allow me )*(?:to )?introduce myself):?,?\s+{_NAME}"),
    re.compile(
        rf"^{_NAME}(?:,\s+(?i:(?:very |so )?(?:pleased|nice|good|lovely|glad|delighted) to (?:meet|know))|(?i:\s+is the name)\b)"
    ),
    re.compile(
        rf"^(?i:they|my (?:parents|mother|mum|mom|father|dad|family|folks)) (?:named|christened|baptised|baptized) me\s+{_NAME}"
    ),
)
_SPELLED: Final = re.compile(
    rf"^(?i:(?:and |oh )*it['’]?s)\s+(?=(?P<initial>[A-Z])){_NAME},?\s+(?:with an? [A-Z]\b|(?i:not)\s+(?P=initial)[a-z]+)"
)
_SHORT_FOR: Final = re.compile(
    rf"^(?:(?P<title>(?:Mrs|Ms|Mr|Miss|Dr|Prof)\.? ){_NAME} (?i:(?:is|['’]s) (?:fine|ok|okay|enough)|will do)|{_NAME.replace('<name>', '<nick>')} (?i:for short|suits me))\b"
)
_ALSO_CALLED: Final = re.compile(rf"{_NICKNAMED} [\"“']?{_NAME}")
_HERE: Final = re.compile(
    rf"^(?:there,\s+)?(?:it['’]s |this is )?{_NAME} (?:here|speaking|typing|again|writing)(?P<rest>(?:,|$).*)$"
)
_CALLED: Final = re.compile(
    r"\b(?:but|and) (?P<rest_of>(?:my (?:\w+ )?name is|I['’]m (?:really |actually )?called|call me|\w+(?: \w+){0,2} calls? me) .+)$"
)
_SHORT_OF: Final = re.compile(rf"\b(?i:(?:it['’]?s|which is|that['’]?s|and is)? ?short for) {_NAME}")
_PART: Final = re.compile(r"\s*(?:,\s*(?:and\s+)?|\band\s+|[-–—]\s+|\()\s*")
_AGE: Final = re.compile(r"^(?:I['’]m |I am |aged? )?(?P<age>\d{1,2})(?: ?(?:years? old|yo|y/o))?$", re.IGNORECASE)
_FROM: Final = re.compile(
    r"^(?:(?:I['’]m |I am )?(?:originally |now )?from|living in|based in) [A-Z][\w' ]+(?: originally)?$|^from [A-Z][\w' ]+(?: originally)?$"
)
_WORKING: Final = re.compile(r"^an? (?:[\w-]+ ){0,4}?[\w-]+(?: .{0,60})?$")
_PRONOUNS: Final = re.compile(
    r"^(?:I (?:go by|use)|(?:please )?use|my pronouns are|pronouns:?) (?P<pronouns>(?:they|she|he)/\w+)", re.IGNORECASE
)
_NO_NAME: Final = (
    STOP_WORDS
    | ADVERBS
    | GENERIC
    | JOBS
    | KIN
    | PEOPLES
    | MOODS
    | LASTING_STATES
    | IRREGULAR_BASES
    | word_set("batman superman spiderman santa satan dracula home single team using gonna")
)


def introductions(text: str, speaker: str, *, opens: bool) -> Iterator[tuple[str, str, Claim]]:
    """The name of the speaker and what stands beside it, as facts; nothing if the text is no introduction.

    Args:
        text: A sentence of the speaker, from its subject on.
        speaker: The name of the speaker, or "The user".
        opens: Whether the sentence is at the start of a conversation; only there "I'm Ada" alone is enough.
    """
    called = _CALLED.search(text)
    match = (
        _INTRODUCED.match(text)
        or _HERE.match(text)
        or (_INTRODUCED.match(text[called.start("rest_of") :]) if called else None)
    )
    if match is None:
        yield from _presented(text, speaker, opens=opens) or _self_description(text, speaker)
        return
    name = match["name"]
    words = [w.lower() for w in re.split(r"[-\s]", name)]
    sure = bool(match.groupdict().get("sure"))
    rest = match["rest"].strip()
    if not sure and any(w in _NO_NAME or past_base(w) for w in words):
        return
    if not sure and rest.startswith("and") and not re.match(r"and (?:I\b|I['’])", rest):
        return
    parts = [part.strip(" .!)") for part in _PART.split(rest) if part.strip(" .!)")]
    described = [fact for part in parts if (fact := _described(part, speaker))]
    calls = re.match(_NICKNAMED, text)
    if not sure and not opens and not described and not re.match(r"but\b", rest):
        return
    yield f"{possessive(speaker)} name is {name}" if not calls else f"{speaker} is called {name}", speaker, _identity()
    yield from described
    if calls and (full := _SHORT_OF.search(rest)):
        yield f"{possessive(speaker)} name is {full['name']}", speaker, _identity()
    if not calls and (other := _ALSO_CALLED.search(rest)):
        yield f"{speaker} is called {other['name']}", speaker, _identity()


def is_own_name(text: str, speaker: str) -> bool:
    """Whether a fact says only that a speaker has the name by which the fact calls them: "Juno's name is Juno".

    >>> is_own_name("Juno's name is Juno", "Juno"), is_own_name("Juno's name is Juno Park", "Juno")
    (True, False)
    """
    match = re.fullmatch(rf"{re.escape(speaker)}(?:'s (?:\w+ )?name is| is called) (?P<name>.+)", text)
    return match is not None and match["name"].casefold() == speaker.casefold()


def _presented(text: str, speaker: str, *, opens: bool) -> list[tuple[str, str, Claim]]:
    """The name of a sentence that gives it in another way; where a name may be somebody else's, only in the first message."""
    match = next((found for pattern in _PRESENTED if (found := pattern.match(text))), None)
    spelled = _SPELLED.match(text) if opens else None
    short = _SHORT_FOR.match(text) if opens else None
    if found := match or spelled:
        stated = f"{possessive(speaker)} name is {found['name']}"
    elif found := short:
        stated = f"{speaker} is called {found['title'] or ''}{found['name'] or found['nick']}"
    if found is None or any(word.lower() in _NO_NAME for word in re.split(r"[-\s]", stated)[-1:]):
        return []
    return [(stated, speaker, _identity())]


def _identity() -> Claim:
    return Claim(category="identity", kind=SEMANTIC, confidence=0.9)


def _described(part: str, speaker: str) -> tuple[str, str, Claim] | None:
    """A part of an introduction: an age, an origin, an occupation, a nationality, pronouns."""
    if age := _AGE.match(part):
        return f"{speaker} is {age['age']} years old", speaker, _identity()
    if _FROM.match(part):
        return f"{speaker} is {re.sub(r'^(?:I[’]m |I am |I.m )', '', part)}", speaker, _identity()
    if pronouns := _PRONOUNS.match(part):
        return f"{speaker} goes by {pronouns['pronouns']}", speaker, _identity()
    if re.fullmatch(r"(?:[A-Z]\w+[- ])?[A-Z]\w+", part) and any(w.lower() in PEOPLES for w in re.split(r"[- ]", part)):
        return f"{speaker} is {part}", speaker, _identity()
    if (
        _WORKING.match(part)
        and not JOBS.isdisjoint(w.lower() for w in part.split()[:6])
        and not re.search(r"\b(?:I|my|you)\b", part)
    ):
        return f"{speaker} is {part}", speaker, _identity()
    return None


def _self_description(text: str, speaker: str) -> Iterator[tuple[str, str, Claim]]:
    """A sentence of such parts without a name: "34, from Halifax originally"."""
    if pronouns := _PRONOUNS.match(text):
        yield f"{speaker} goes by {pronouns['pronouns']}", speaker, _identity()
        rest = text[pronouns.end() :].strip(" ,")
        yield from introductions(re.sub(r"^and\s+", "", rest), speaker, opens=False) if rest else ()
        return
    parts = [part.strip(" .!)") for part in _PART.split(text) if part.strip(" .!)")]
    described = [_described(part, speaker) for part in parts]
    if len(parts) > 1 and all(described):
        yield from (fact for fact in described if fact)
