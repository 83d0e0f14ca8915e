"""Assigns texts to topics by a table of words. A topic is the second half of the name of a page: "Anna: hobbies"."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_lines
from slowwave.policy.text.tokens import stem, words

IN_GENERAL: Final = "in general"
"""The topic of the one page of a person or thing that does not talk itself."""
PLANS: Final = "plans"
LIFE: Final = "life"
"""The topic of the page with what lasts of a person: family, home, work, tastes, main events (`retention.life`)."""
SURE: Final = 2
"""The least sum of a topic of a text: one word that only this topic has (2), or two that other topics may have (1 each)."""

_PLANS: Final = lazy_regex(
    r"\b(?:plan(?:s|ned|ning)? (?:to|on|for)|(?:is|am|are|['’](?:m|re)) (?:[\w]+ )?(?:planning|considering|saving up)|going to (?!the\b|a\b|my\b|our\b)\w+|"
    r"intend(?:s|ing)? to|wants? to (?!(?:make sure|be sure|ensure|confirm|verify|check|double[- ]check|clarify|ask|tell|say|mention|thank|let you know|know)\b)|hop(?:e|es|ing) to|aim\w* to|aspires? to|thinking (?:of|about) \w+ing|looking forward to|"
    r"decided to|about to|(?:dreams?|dreaming) (?:of|is)|goals? (?:is|are)|resolution is|coming up|upcoming|"
    r"tomorrow|next (?:week|weekend|month|year|spring|summer|fall|autumn|winter))\b",
)
_FIGURATIVE: Final = lazy_regex(
    r"\bin a row\b|\br[ua]n(?:s|ning)? for (?:(?:the|a|an|city|school|local|public) )?(?:office|mayor|president|council|board|election|senate|parliament|governor)\b"
    r"|\bon (?:the|[\w'’-]+) way to work\b|\bwork(?:s|ed|ing)? (?:out|well|fine)\b",
    re.IGNORECASE,
)
"""Phrases whose words are of another topic alone: "twice in a row", "to run for mayor"."""
_OF_ANOTHER: Final = (
    (lazy_regex(r"(?<!coding )(?<!science )(?<!software )\bboot ?camps?\b", re.IGNORECASE), "workout"),
    (
        lazy_regex(
            r"\b(?:food|toy|clothing|clothes|book|blood) drives?\b|\bfood (?:bank|pantry)\b|\bsoup kitchen\b",
            re.IGNORECASE,
        ),
        "charity",
    ),
    (lazy_regex(r"\b(?:kids|children|famil(?:y|ies)) in need\b", re.IGNORECASE), "charity"),
    (lazy_regex(r"\b(?:stay|keep|remain)(?:s|ed|ing)? active\b", re.IGNORECASE), "workout"),
    (lazy_regex(r"\b(?:skin and coat|coat health|(?:shiny|shinier|healthy) coat)\b", re.IGNORECASE), "pet"),
)
"""Phrases whose words are of another topic alone, each with a word of its own topic: a boot camp is no travel."""
_OTHER_FAMILY: Final = lazy_regex(
    r"\b(?:sav(?:e[sd]?|ing)|rescu(?:e[sd]?|ing)|help(?:s|ed|ing)?|witness(?:es|ed|ing)?|feed(?:s|ing)?|fed|support(?:s|ed|ing)?)"
    r" (?:an?|another|some|many|other) (?:\w+ )?famil(?:y|ies)\b",
    re.IGNORECASE,
)
"""Families that somebody helps are not the own one."""
_OF_A_PET: Final = lazy_regex(r"\b(?:allerg\w*|asthma\w*|therapy|emotional support)\b", re.IGNORECASE)
"""What a pet does to its owner: any other word speaks of the health of a pet."""

_TITLE: Final = lazy_regex(
    r"[\"“](?:[A-Z][\w'’-]*|[\w'’]{1,3})(?:,? (?:[A-Z][\w'’-]*|[\w'’]{1,3}|&)){0,9}[.!?]?[\"”]"
    r"|(?<=[\w,;:] )(?=(?:[A-Z][\w'’-]*,? |and |of |the |& ){0,5}(?:My|Your|His|Her|Our|Their|You|Me|We|Us)\b)"
    r"[A-Z][\w'’-]*(?:,? (?:(?:and|of|the|a|an|in|to|&) )?[A-Z][\w'’-]*){2,}"
)
"""The title of a work: in quotation marks, or with a pronoun in capitals within a sentence. Its words tell no topic."""


@cache
def _topics_by_stem() -> Mapping[str, Mapping[str, int]]:
    """Stem -> topic -> its weight. Each line of the table is a topic, a colon, and its words; "?" marks ambiguous ones."""
    found: dict[str, dict[str, int]] = {}
    for name, *topic_words in table_lines("topics"):
        topic = name.rstrip(":").replace("_", " ")
        for written in topic_words:
            weight = 1 if written.endswith("?") else SURE
            for word in words(written):
                of_word = found.setdefault(stem(word), {})
                of_word[topic] = max(weight, of_word.get(topic, 0))
    return MappingProxyType(found)


def topic_counts(text: str) -> Mapping[str, int]:
    """Topic -> how many distinct stems of the text indicate it; topics without any are left out.

    >>> dict(topic_counts("I baked a cake for my sister"))
    {'hobbies': 1, 'food': 2, 'family': 1}
    """
    known = _topics_by_stem()
    roots = {stem(word): None for word in words(_worded(text))}
    counts = Counter(topic for root in roots for topic in known.get(root, ()))
    return {topic: counts[topic] for topic in sorted(counts, key=_order().index)}


def topics_of(text: str, most: int = 2, *, least: int = SURE) -> tuple[str, ...]:
    """The topics that a text is about, the strongest first: those with a word of their own, or with two ambiguous words.

    With `least=1` one ambiguous word is enough: a fact is a whole statement, so that its words are less often figurative.
    Plans are statements with a verb of planning or a future time, whatever else they are about.

    >>> topics_of("I baked a cake for my sister")
    ('food', 'hobbies')
    >>> topics_of("I do boot camp on Mondays"), topics_of("My cat has diabetes"), topics_of("I'm allergic to cats")
    (('sports',), ('pets',), ('health', 'pets'))
    >>> topics_of("The show gave me support"), topics_of("I hope to sail next summer")
    ((), ('plans',))
    """
    known = _topics_by_stem()
    sums: Counter[str] = Counter()
    for root in {stem(word): None for word in words(_FIGURATIVE.sub(" ", _worded(text)))}:
        sums.update(known.get(root, {}))
    if sums["pets"] >= SURE and not _OF_A_PET.search(text):
        del sums["health"]
    sums[PLANS] = SURE if _PLANS.search(text) else 0
    sure = [topic for topic in _order() if sums[topic] >= least]
    return tuple(sorted(sure, key=lambda topic: -sums[topic])[:most])


def _worded(text: str) -> str:
    """A text without titles of works and families that are helped, and with a plain word for phrases that mean another topic than their words."""
    text = _OTHER_FAMILY.sub(" ", _TITLE.sub(" ", text))
    for phrase, word in _OF_ANOTHER:
        text = phrase.sub(word, text)
    return text


@cache
def _order() -> list[str]:
    return [name.rstrip(":").replace("_", " ") for name, *_ in table_lines("topics")]
