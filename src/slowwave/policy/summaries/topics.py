"""Assigns texts to topics by a table of words. A topic is the second half of the name of a page: "Anna: hobbies"."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.lexicon import table_lines
from slowwave.policy.text.tokens import stem, words

IN_GENERAL: Final = "in general"
"""The topic of the one page of a person or thing that does not talk itself."""


@cache
def _topics_by_stem() -> Mapping[str, tuple[str, ...]]:
    """Stem -> the topics that it indicates. Each line of the table is a topic, a colon, and its words."""
    found: dict[str, dict[str, None]] = {}
    for name, *topic_words in table_lines("topics"):
        topic = name.rstrip(":").replace("_", " ")
        for word in (part for written in topic_words for part in words(written)):
            found.setdefault(stem(word), {})[topic] = None
    return MappingProxyType({root: tuple(topics) for root, topics in found.items()})


def topic_counts(text: str) -> Mapping[str, int]:
    """Topic -> how many distinct stems of the text indicate it; topics without any are left out.

    >>> dict(topic_counts("I baked a cake for my sister"))
    {'hobbies': 1, 'food': 2, 'family': 1}
    """
    known = _topics_by_stem()
    roots = {stem(word): None for word in words(text)}
    counts = Counter(topic for root in roots for topic in known.get(root, ()))
    return {topic: counts[topic] for topic in sorted(counts, key=_order().index)}


def topics_of(text: str, most: int = 2) -> tuple[str, ...]:
    """The topics that most words of a text indicate, the strongest first.

    >>> topics_of("I baked a cake for my sister")
    ('food', 'hobbies')
    """
    counts = topic_counts(text)
    return tuple(sorted(counts, key=lambda topic: -counts[topic])[:most])


@cache
def _order() -> list[str]:
    return [name.rstrip(":").replace("_", " ") for name, *_ in table_lines("topics")]
