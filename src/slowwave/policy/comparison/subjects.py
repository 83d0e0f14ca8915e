"""Compares the subjects of facts: "The User" and "user" are one subject."""

from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words

_ARTICLE: Final = lazy_regex(r"^(?:the|this|that|a|an)\s+(?=\S)")
NOT_NAMES: Final = table_words("capitalised_non_names")
"""Words that may have a capital after "I'm" or "call me" but are no names: months, nationalities, roles."""


def key(subject: str) -> str:
    """The form in which subjects are compared: lower case, single spaces, no article and no closing punctuation.

    >>> key("  The  User ")
    'user'
    """
    folded = " ".join(subject.casefold().replace("’", "'").split()).strip(" .,;:!?\"'")
    return _ARTICLE.sub("", folded)


def one_subject(new: str | None, old: str | None) -> tuple[str, ...]:
    """The names of the common subject of two facts; empty if their subjects differ or are unknown."""
    if not new or not old or key(new) != key(old):
        return ()
    return tuple(dict.fromkeys((new, old, *(("the user", "user") if key(new) == "user" else ()))))
