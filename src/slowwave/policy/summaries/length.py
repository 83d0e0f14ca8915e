"""The length of a summary of a span of messages, and the share of the span that it covers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.tokens import STOP_WORDS, stem, words

ORDINARY: Final = 0.5
"""The mean importance of a span whose summary has exactly the words of its profile."""
LEAST, MOST = 0.5, 2.0
"""Bounds of the factor by which importance shortens or lengthens a summary."""
SHORTEST: Final = 12
_HALF: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile of summaries.

    Attributes:
        words: the approximate words of the summary of a span of ordinary importance.
        era_words: the same for a summary of summaries.
        share: if given, the length is this share of the words of the span instead.
        topics: whether messages about the same topic are summarised together, each topic separately.
    """

    words: int = 120
    era_words: int = 300
    share: float | None = None
    topics: bool = False


SUMMARIZER: Final = "summarizer"
PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        SUMMARIZER: Profile(),
        "brief": Profile(words=60, era_words=150),
        "detailed": Profile(share=0.2, era_words=600),
        "topics": Profile(topics=True),
    }
)


def profile(name: str) -> Profile:
    """The profile of this name; the default for other names, which can be names of models."""
    return PROFILES.get(name, PROFILES[SUMMARIZER])


def length(chosen: Profile, *, spoken: int, importance: float) -> int:
    """The words of the summary of a span with this number of words and this mean importance, in (0, 1).

    An important span gets up to twice the words of the profile, an unimportant one half; never more than half of its own words.

    >>> length(Profile(), spoken=1700, importance=0.5), length(Profile(), spoken=1700, importance=0.8)
    (120, 192)
    >>> length(Profile(share=0.2), spoken=1700, importance=0.2), length(Profile(), spoken=64, importance=0.5)
    (340, 32)
    """
    wanted = chosen.words * min(MOST, max(LEAST, importance / ORDINARY))
    if chosen.share is not None:
        wanted = chosen.share * spoken
    return max(SHORTEST, min(round(wanted), spoken // _HALF))


def coverage(summary: str, texts: Iterable[str], rarity: Callable[[str], float]) -> float:
    """The share of the distinct stems of the texts that a summary contains, weighted by rarity, 0 to 1.

    1.0 if the texts have no informative words.
    """
    values = {stem(word): max(0.0, rarity(word)) for text in texts for word in words(text) if word not in STOP_WORDS}
    held = {stem(word) for word in words(summary)}
    total = sum(values.values())
    return sum(value for root, value in values.items() if root in held) / total if total else 1.0
