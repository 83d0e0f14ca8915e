"""Reads a summary out of what a model said: plain text, without thoughts, wrapping or preface; anything else is refused."""

import re
from collections import Counter
from typing import Final

from slowwave.errors import ModelError
from slowwave.minds.foreign import Content
from slowwave.minds.scanning import spoken
from slowwave.model.fact import Brief
from slowwave.model.message import tidy
from slowwave.policy.segment import STOP_WORDS, words

_SHORTEST: Final = 8  # characters; below that it is a word, no summary
_ROOM: Final = (
    30,
    500,
)  # characters for each word asked for, and besides: five times what is meant, then it is refused
_SENTENCE_SHORTEST: Final = 12  # characters; shorter ones ("Yes.") may come back
_TIMES_SAID: Final = 3

_PREFACE: Final = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|below is|the following)\b[^.\n]{0,120}:\s*\n"
    r"|\**(?:summary|zusammenfassung|résumé|resumen|摘要|总结)\**\s*[:：]\**\s*)+",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"^(?:(?:i['’]m |i am |we are )?(?:very |so |really )?sorry\b|i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t)|i['’]m (?:not able|unable)"
    r"|as an? (?:ai|language model)|unfortunately)[^.!?\n]*?"
    r"\b(?:help|assist|comply|provide|summari[sz]e|fulfil|process|complete|do that|answer|generate|create|request)",
    re.IGNORECASE,
)
_ECHO: Final = re.compile(r"Task: summarise|slowwave-memory-|SUMMARY:", re.IGNORECASE)
_CLOSING: Final = re.compile(
    r"(?<=[.!?。])\s+(?:i hope (?:this|that|it)|let me know|feel free|would you like|is there anything)\b[^.!?]*[.!?]*$",
    re.IGNORECASE,
)
_YAML: Final = re.compile(r"^-\s+\w+:\s")
_ENDS: Final = ".!?…。！？"
_AFTER_END: Final = "\"')]”’»*"
_LITERALS: Final = frozenset({"null", "true", "false", "None", "True", "False"})
_SENTENCE: Final = re.compile(r"[^.!?。！？]+")
_FENCED: Final = re.compile(r"(?:```|~~~)[^\n]*\n(.*?)(?:```|~~~|\Z)", re.DOTALL)


def summary(content: Content, brief: Brief) -> str:
    """The summary of an answer, on one line.

    Raises:
        ModelError: empty, a refusal, data instead of prose, the prompt again, endless, or going in circles.
    """
    if not isinstance(content, str):
        raise ModelError("data instead of a text in plain words")
    longest = _ROOM[0] * brief.words + _ROOM[1]
    begin, end = spoken(content, ())
    text = tidy(_PREFACE.sub("", _plain(content[begin:end].strip())))
    if len(text) > longest:
        raise ModelError(f"{len(text):,} characters where about {brief.words} words were asked for")
    if len(text) < _SHORTEST or not any(character.isalpha() for character in text):
        raise ModelError(f"{text!r} is no summary" if text else "no text at all")
    if _YAML.match(text):
        raise ModelError(f"data instead of a text in plain words: {text[:80]!r}")
    if _REFUSAL.match(text):
        raise ModelError(f"a refusal: {text[:200]!r}")
    if _ECHO.search(text):
        raise ModelError("the prompt again instead of a summary")
    said = Counter(one.strip().casefold() for one in _SENTENCE.findall(text) if len(one) > _SENTENCE_SHORTEST)
    if max(said.values(), default=0) >= _TIMES_SAID:
        raise ModelError("a text that goes in circles")
    return _whole(_CLOSING.sub("", text), brief)


def _whole(text: str, brief: Brief) -> str:
    """The text up to its last whole sentence. One sentence without its end may lack nothing but the dot, or be cut off."""
    bare = text.rstrip(_AFTER_END)
    last = words(bare)[-1:]
    if bare.endswith(tuple(_ENDS)) or not all(character.lower() != character.upper() for character in "".join(last)):
        return text  # many scripts write no dots
    end = max(bare.rfind(f"{mark} ") for mark in _ENDS)
    if end >= _SHORTEST:
        return bare[: end + 1]
    known = {word for memory in brief.memories for word in words(memory.text)} - STOP_WORDS
    if not known.issuperset(last):
        raise ModelError(f"a text that breaks off: {text[-80:]!r}")
    return text


def _plain(said: str) -> str:
    """The words themselves: out of a fence, out of quotation marks; JSON, markup and tables are no plain words."""
    if fences := [inside.strip() for inside in _FENCED.findall(said)]:
        said = fences[-1]
    if said.startswith('"') and said.endswith('"'):
        said = said[1:-1]
    said = said.lstrip("\ufeff")
    if said.startswith(("{", "[", "<", "|", "(")) or said in _LITERALS:
        raise ModelError(f"data instead of a text in plain words: {said[:80]!r}")
    return said
