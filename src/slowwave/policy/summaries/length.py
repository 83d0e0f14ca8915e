"""Brevity: how long the summary of a stretch may be, and how much of the stretch it holds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.tokens import STOP_WORDS, stem, words

ORDINARY: Final = 0.5
"""The mean importance of a stretch whose summary has the words of its profile, no more and no fewer."""
LEAST, MOST = 0.5, 2.0
"""Bounds of the factor by which importance shortens or lengthens a summary."""
SHORTEST: Final = 12
_HALF: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A way to summarise.

    Attributes:
        words: about how long the summary of an ordinary stretch is.
        era_words: the same for a summary of summaries.
        share: if given, the length is this share of the stretch's words instead.
        topics: whether messages that speak of one thing are summarised together, each topic by itself.
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
    """The profile of a name; a name of one's own is the default's: it may be that of a model."""
    return PROFILES.get(name, PROFILES[SUMMARIZER])


def length(chosen: Profile, *, spoken: int, importance: float) -> int:
    """Words for the summary of a stretch of so many words and of this mean importance, in (0, 1).

    An important stretch gets up to twice the words, chatter half of them; never more than half of what was said.

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
    """How much of what was said a summary holds, 0 to 1: the share of its distinct words, by stem, each by its rarity.

    1.0 where nothing that informs was said.
    """
    said = {stem(word): max(0.0, rarity(word)) for text in texts for word in words(text) if word not in STOP_WORDS}
    held = {stem(word) for word in words(summary)}
    total = sum(said.values())
    return sum(value for root, value in said.items() if root in held) / total if total else 1.0
