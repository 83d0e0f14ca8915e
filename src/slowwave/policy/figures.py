"""Figures of speech: words of time that name no day. "It feels like yesterday" was years ago."""

import re
from typing import Final

from slowwave.policy.patterns import late

_LONGEST: Final = 120  # characters before and after a phrase that may make a figure of it
_BEFORE: Final = late(
    # It feels like (we met) (just) …, as if it were …, remember it like it was …
    r"\b(?:it|that|this|time|still|day|life)\s+(?:\w+\s+)?(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?"
    r"(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|(?:^|[^\w\s]\s*|\b(?:and|but|so)\s+)(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|\b(?:like|as (?:if|though)|seems?|seemed|feels|felt)\s+(?:it\s+(?:was|were|is|happened|had been|all happened)\s+)?"
    r"(?:(?:only|just|but|literally|as recent as|as recently as)\s+)*$"
    r"|\b(?:born|no|another|every|each|any|here today,? (?:and )?gone)\s+$"
    r"|\b(?:who|what|where|how)\s+(?:I['’]?\s?a?m|you['’]?\s?(?:a?re)|s?he['’]?\s?i?s|we['’]?\s?(?:a?re)|they['’]?\s?(?:a?re)|it\s+is)\s+$",
    re.IGNORECASE,
)
_AFTER: Final = late(
    r"\s+(?:is|will be) another day\b|['’]s (?:news|problems?|world|society|youth|generation|kids|standards)\b"
    r"|,? (?:and )?(?:gone|here) (?:today|tomorrow)\b",
    re.IGNORECASE,
)


def figurative(text: str, start: int, end: int) -> bool:
    """Whether the phrase of time at [start, end) only compares or generalises, and so names no day. In doubt it does.

    >>> text = "It feels like just yesterday that we met"
    >>> figurative(text, text.index("yesterday"), text.index(" that"))
    True
    """
    before, after = text[max(0, start - _LONGEST) : start], text[end : end + _LONGEST]
    return bool(_BEFORE.search(before) or _AFTER.match(after))
