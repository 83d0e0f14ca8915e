"""Tells whom a sentence is for: a model that reads it, people who know each other, or no reader, because it reports or quotes."""

import re
from typing import Final

from slowwave.policy.guard.lexicon import Language, lexicon
from slowwave.policy.text.lazy_regex import lazy_regex

SENTENCE_END: Final = lazy_regex(r"[!?.।؟。¶！？](?:(?<=[।؟。¶！？])|(?=[\s\"'”»)]|$))")
CLAUSE: Final = lazy_regex(r"[,:;()\"“”„«»。！？…—–\[\]{}<>|•*¶、,;:]|[.!?](?= )")
_QUOTED: Final = lazy_regex(
    r"(?:[\"“„«‘「『`]|(?<!\w)')([^\"”“»’」』`\n]{3,240})(?:[\"”“»’」』`]|'(?!\w))"  # no apostrophe, as in "l'annuncio"
)
_ADDRESS: Final = lazy_regex(r"\S{0,80}(?:@|://|\w\.\w)\S{0,80}")
_MARKUP: Final = frozenset("<>{}=")
_PLACE: Final = 300
"""Characters before a quotation in which it may be spoken about."""
_LEAST_AROUND: Final = 3
"""Words around a quotation that make it part of a sentence."""
_REACH: Final = 160
"""Characters before a verb in which its subject may stand."""
_BESIDE: Final = 24
"""Characters beside a word in which it is part of a name, or a subject follows."""
_GREETING: Final = 60
"""Characters at the beginning of a text in which a greeting may stand."""


def is_mentioned(flat: str, start: int, end: int) -> bool:
    """Whether the text speaks about these words and does not say them itself.

    They stand in quotation marks inside a sentence, or a text that names attacks or examples quotes them or puts
    that name before them in the same clause.
    """
    begin = max(0, start - _PLACE)
    mention = lexicon().mention
    place = flat[begin : end + _PLACE]
    before = _ADDRESS.sub("", CLAUSE.split(flat[begin:start])[-1])
    if mention.has("words", before):
        return True
    for quoted in _QUOTED.finditer(place):
        if not quoted.start() < start - begin < quoted.end():
            continue
        said = _ADDRESS.sub("", place)
        if mention.has("words", said) or mention.has("unspaced", said):
            return True
        lead = SENTENCE_END.split(place[: quoted.start()])[-1].rstrip()
        around = f"{lead} {SENTENCE_END.split(place[quoted.end() :])[0]}"
        if lead.endswith(":") or not _MARKUP.isdisjoint(around):
            return False
        words = re.findall(r"\w+", around)
        return len(words) >= _LEAST_AROUND or any(not word.isascii() and len(word) > 1 for word in words)
    return False


def is_for_a_team(language: Language, text: str, start: int, end: int) -> bool:
    """Whether the name of a model is part of the name of people: "the AI team"."""
    crew = language.pattern("crew")
    if crew is None:
        return False
    before, after = text[max(0, start - _BESIDE) : start], text[end : end + _BESIDE]
    return crew.match(after.lstrip(" -")) is not None or any(
        len(before[found.end() :].split()) <= 1 for found in crew.finditer(before)
    )


def is_for_pupils(language: Language, near: str) -> bool:
    """Whether words about what was said are those of a teacher or of talk on a subject: "told about the dough"."""
    if language.has("pupils", near):
        return True
    topic = language.pattern("topic")
    found = topic.search(near) if topic else None
    if found is None:
        return False
    about = (
        near[max(0, found.start() - _BESIDE) : found.start()] if language.unspaced else near[found.end() :][:_BESIDE]
    )
    return not any(language.has(name, about) for name in ("law", "giver", "ai", "helper", "limits", "policy", "served"))


def is_for_people(language: Language, flat: str, start: int, end: int) -> bool:
    """Whether an order to set something aside is for people: a greeting, "my earlier mail", or a condition stands beside it."""
    before = SENTENCE_END.split(flat[max(0, start - _REACH) : start])
    after = SENTENCE_END.split(flat[end : end + _REACH])[0]
    sentence = f"{before[-1]}{flat[start:end]}{after}"
    if language.has("ai", sentence):
        return False
    if language.has("if", before[-1]) or language.has("mine", sentence):
        return True
    if language.has("if", after) and not language.has("every", after):
        return True
    return language.has("people", " ".join((flat[:_GREETING], *before[-2:], sentence)))
