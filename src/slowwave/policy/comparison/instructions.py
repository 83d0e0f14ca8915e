"""Decides whether a newer instruction for the assistant replaces an older one. English only."""

from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import content_terms, stem

_VALUE: Final = lazy_regex(r"\b(?:in|as|me) (?P<name>[A-Z]\w+)|(?P<number>\d[\d.,]*)", 0)
_DENIED: Final = lazy_regex(r"\b(?:never|don['’]?t|do not|does not|no longer|not|stop|avoid|without)\b|n['’]t\b")
_INSTEAD: Final = lazy_regex(r",? (?:and )?(?:no longer|instead of|rather than|not)\b")
_FRAME: Final = frozenset(
    map(stem, word_set("always never please don stop avoid longer now on more anymore again without use using"))
)
_ANSWERS: Final = frozenset(map(stem, ("answer", "answers", "reply", "replies")))


def replaces_instruction(newer: str, older: str) -> bool:
    """Whether both instruct the same thing with another value, or one forbids what the other asks for.

    >>> replaces_instruction("Answer in English, no longer in French", "Always answer in French")
    True
    >>> replaces_instruction("Never use emojis", "Use emojis in answers")
    True
    >>> replaces_instruction("Always state the source", "Always state the unit")
    False
    >>> replaces_instruction("Never use emojis in commit messages", "Use emojis")
    False
    """
    new, old = _asked(newer), _asked(older)
    if _is_denied(new) != _is_denied(old):
        about = _stems(new) - _ANSWERS  # a narrower rule is an exception, which leaves the general one
        return bool(about) and about <= _stems(old)
    values, before = _values(new), _values(old)
    if not values or not before or values == before:
        return False
    one, other = sorted((_stems(_VALUE.sub(" ", new)), _stems(_VALUE.sub(" ", old))), key=len)
    return bool(one) and one <= other


def _asked(text: str) -> str:
    """A text without what it names only as replaced ("…, no longer in French")."""
    found = _INSTEAD.search(text)
    kept = text[: found.start()] if found else text
    return kept if _values(kept) else text


def _is_denied(text: str) -> bool:
    return _DENIED.search(text.lower()) is not None


def _values(text: str) -> frozenset[str]:
    return frozenset(match["name"] or match["number"] for match in _VALUE.finditer(text))


def _stems(text: str) -> frozenset[str]:
    return content_terms(text) - _FRAME
