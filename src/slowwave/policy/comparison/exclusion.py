"""Says whether a newer fact can end an older one: they deny each other, or give another value for one thing, or tell a change."""

from collections.abc import Collection
from typing import Final

from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.comparison.corrections import correction
from slowwave.policy.comparison.negation import contradicts, negates
from slowwave.policy.comparison.statements import formed, stems
from slowwave.policy.comparison.succession import supersedes
from slowwave.policy.comparison.values import mentions
from slowwave.policy.comparison.vetoes import opposite
from slowwave.policy.text.lexicon import FORMS_OF_BE, table_words
from slowwave.policy.text.tokens import content_terms, words

_SHARED: Final = 0.5
"""The share of the content words of the shorter fact that two facts with different values must share to be of one quantity."""
_CHANGE: Final = table_words("change_cues") | {"left"}
_SINGLE: Final = frozenset({"live", "work", "role", "from", "report", "study"})
"""Relations with one value at a time, where a mind says that the newer value is the present one."""


def excludes(new: str, old: str, *, called: Collection[str] = ()) -> bool:
    """Whether both facts cannot be so at one time, as far as their words say.

    A list that got shorter, another liking or another person in another office exclude nothing.

    >>> excludes("The user now lives in Rome", "The user lives in Bern"), excludes("The user likes pears", "The user likes apples")
    (True, False)
    """
    if contradicts(new, [old]) or supersedes(new, old, called=called) or correction(new, old, called=called):
        return True
    if not _CHANGE.isdisjoint(words(new)) or (negates(new) and not negates(old)):
        return True
    if not FORMS_OF_BE.isdisjoint(words(new)) and opposite(prepare(new), prepare(old)):
        return True  # it is red, and it is blue; nobody likes only pears
    return _differs_in_numbers(new, old) or _has_other_value(new, old, tuple(called))


def _has_other_value(new: str, old: str, called: tuple[str, ...]) -> bool:
    """Whether two statements give one holder different values for a relation that has one."""
    later, earlier = formed(new, called=called), formed(old, called=called)
    if later is None or earlier is None or later.holder != earlier.holder:
        return False
    return not _SINGLE.isdisjoint(later.relations & earlier.relations) and stems(later.value).isdisjoint(
        stems(earlier.value)
    )


def _differs_in_numbers(new: str, old: str) -> bool:
    """Whether two facts of one quantity have different numbers, days or times."""
    if not any(
        one.value != other.value and (one.unit & other.unit or one.unit == other.unit)
        for one in mentions(new)
        for other in mentions(old)
    ):
        return False
    content = [frozenset(word for word in content_terms(text) if word.isalpha()) for text in (new, old)]
    return len(content[0] & content[1]) >= _SHARED * min(map(len, content))
