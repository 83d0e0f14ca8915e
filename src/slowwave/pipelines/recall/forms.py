"""The forms in which a context can show a hit, from its facts alone to the whole message, and what each is worth."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.query import Hit, Item
from slowwave.pipelines.recall.core_memory import context_line
from slowwave.policy.comparison.values import PERHAPS
from slowwave.policy.guard.labels import short_name
from slowwave.policy.text.clauses import captions, sentences, trim
from slowwave.policy.text.features import is_small_talk
from slowwave.policy.text.tokens import content_terms

REPEATED = 2
"""A message is left out if other lines say it and it is at most this many times as long as they are."""
MOST_WORDS = 2 / 3
"""The share of the content words of a message that its facts must have to replace it while the message itself would fit."""


@dataclass(frozen=True, kw_only=True)
class Fixed:
    """A line that has one form."""

    full: Item

    @property
    def short(self) -> Item:
        """The same line."""
        return self.full

    @property
    def excerpt(self) -> Item:
        """The same line."""
        return self.full

    @property
    def least(self) -> Item:
        """The same line."""
        return self.full

    @property
    def detailed(self) -> Item:
        """The same line."""
        return self.full


@dataclass(frozen=True, kw_only=True)
class HitForms:
    """The forms of a hit. An outdated hit is marked.

    Attributes:
        hit: the hit.
        asked: the stems of the question without stop words and names of speakers.
        shown: ids of facts that are in the context anyway.
        briefly: whether its only form is the short one.
    """

    hit: Hit
    asked: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    briefly: bool = False

    def without(self, shown: Collection[str]) -> "HitForms":
        """The forms without these facts."""
        facts = frozenset(fact.id for fact in self.hit.facts if fact.id in shown)
        return self if facts == self.shown else replace(self, shown=facts)

    @cached_property
    def short(self) -> Item:
        """A message as its facts, if these say most of it, else its trimmed text; a text that is no message has one form.

        A fact is a clause or two of its message. A short message with one fact would otherwise lose the detail that is asked for.
        """
        memory = self.hit.memory
        if memory.kind != MESSAGE or not (said := trimmed(memory.visible_text)):
            return self.least
        if self._facts and _say_most(self._facts, said):
            return self.least
        return _shorter(self._said(said), self._whole)

    @cached_property
    def excerpt(self) -> Item:
        """The sentences of a message that have a word of the question; its facts, if these have as many of its words."""
        memory = self.hit.memory
        if memory.kind != MESSAGE:
            return self.least
        said = " ".join(part for part in _sentences(memory.visible_text) if self._asked_in(part))
        if self._asked_in(said) > self._asked_in(" ".join(fact.text for fact in self._facts)):
            return _shorter(self._said(said), self._whole)
        return self.least

    def _asked_in(self, text: str) -> int:
        """How many words of the question a text has."""
        return len(self.asked & content_terms(text))

    @cached_property
    def least(self) -> Item:
        """The facts of a message, however little they say of it; without facts the short form."""
        if self._facts:
            stated = "; ".join(fact.text for fact in self._facts)
            return _shorter(_line(self.hit, stated, facts=self._facts, quoted=False), self._whole)
        memory = self.hit.memory
        if memory.kind == MESSAGE and trimmed(memory.visible_text):
            return self.short
        return self._whole

    @property
    def full(self) -> Item:
        """The text."""
        return self.short if self.briefly else self._whole

    @cached_property
    def detailed(self) -> Item:
        """The text, with those of its facts that name details which it does not."""
        memory = self.hit.memory
        text, dating = self._dated(memory.visible_text)
        said = f"{short_name(memory.role, memory.speaker)}: {text}" if memory.kind == MESSAGE else text
        added = [] if self.briefly else [fact for fact in self._facts if _adds_details(said, fact)]
        if not added:
            return self.full
        facts = [fact for fact in self._facts if fact in dating or fact in added]
        return _line(self.hit, f"{text} ({'; '.join(fact.text for fact in added)})", facts=facts, quoted=True)

    @cached_property
    def _whole(self) -> Item:
        return self._said(self.hit.memory.visible_text)

    def _said(self, text: str) -> Item:
        """A line with words of the memory, and with the dates that its facts say for "yesterday" and the like."""
        dated, facts = self._dated(text)
        return _line(self.hit, dated, facts=facts, quoted=True)

    def _dated(self, text: str) -> tuple[str, list[Memory]]:
        """A text of the memory with the dates that its facts have, and these facts."""
        memory = self.hit.memory
        if memory.kind != MESSAGE or not (facts := self._facts):
            return text, []
        from slowwave.policy.text.dates import with_dates  # noqa: PLC0415 - it loads the readers of dates

        dated, having = with_dates(text, memory.at, [fact.text for fact in facts])
        return dated, [facts[place] for place in sorted(having)]

    @property
    def _facts(self) -> list[Memory]:
        return [fact for fact in self.hit.facts if fact.id not in self.shown]


def trimmed(text: str) -> str:
    """A message without greetings, fillers and small talk; captions stay. Empty if no words of the person are left.

    A single word that is left of a longer sentence says nothing: it is the name of whom the greeting was for.
    """
    kept = _sentences(text)
    return " ".join((*kept, *captions(text))) if kept else ""


def _sentences(text: str) -> list[str]:
    """The sentences of a trimmed message."""
    kept = []
    for sentence in sentences(text):
        short = trim(sentence)
        if short and not is_small_talk(short) and (" " in short or " " not in sentence):
            kept.append(short)
    return kept


def _adds_details(said: str, fact: Memory) -> bool:
    """Whether a fact names details that a text does not."""
    from slowwave.policy.guard.grounding import missing_details  # noqa: PLC0415 - it loads the readers of dates

    return bool(missing_details(said, [fact]))


def _say_most(facts: Sequence[Memory], text: str) -> bool:
    """Whether facts have two thirds of the content words of a text."""
    wanted = content_terms(text)
    return len(wanted & content_terms(" ".join(fact.text for fact in facts))) >= MOST_WORDS * len(wanted)


def _shorter(item: Item, other: Item) -> Item:
    return item if item.tokens < other.tokens else other


def _line(hit: Hit, text: str, *, facts: Sequence[Memory], quoted: bool) -> Item:
    mark = f" ({PERHAPS if hit.perhaps else 'outdated'})" if hit.stale else ""
    rests = "fact " + ", ".join(fact.id for fact in facts) + " resting on " if facts else ""
    because = f"{rests}{origin(hit.memory)}, {hit.because or f'score {hit.score:.2f}'}"
    item = context_line(f"{text}{mark}", hit.memory, because, facts=facts, quoted=quoted, dated=True)
    return replace(item, outdated=hit.stale)


def origin(memory: Memory) -> str:
    """The source of an item, in words."""
    if memory.kind == MESSAGE:
        return f"message {memory.seq} of {memory.conversation}"
    if memory.is_cascade:
        first, last = memory.span or (0, 0)
        return f"{'era' if memory.depth > 1 else 'summary'} {memory.id} of messages {first}-{last} of {memory.conversation}"
    return f"{'note' if memory.kind == NOTE else f'{memory.category} fact'} {memory.id}"
