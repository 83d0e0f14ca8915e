"""Writes and checks the summary of a stretch of messages, or of summaries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from slowwave.errors import EmbedderError, ModelError
from slowwave.model.codec import content_key
from slowwave.model.counted import counted
from slowwave.model.memory import MESSAGE, SUMMARY, Memory
from slowwave.model.mind import SummaryRequest
from slowwave.model.operations import Add
from slowwave.model.plain_text import clean
from slowwave.model.plan import FREE, Cost, cost_of
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.planning import new_id
from slowwave.policy.guard.grounding import invented_details, shares_content
from slowwave.policy.guard.redaction import redact
from slowwave.policy.guard.summary_support import unsupported_by_transcript
from slowwave.policy.guard.trust import least
from slowwave.policy.retention.importance import Frequencies, importance
from slowwave.policy.summaries.length import Profile, coverage, length, profile
from slowwave.policy.summaries.spans import Span
from slowwave.policy.text.clauses import sentences
from slowwave.policy.text.tokens import terms
from slowwave.ports import Ports

RELATED = 0.40
"""The cosine from which two messages have one topic, unless the embedder defines its own."""
TOPIC_SMALLEST = 3
TOPICS = 4
"""How many topics are summarised one by one; the other messages are summarised together."""


@dataclass(slots=True, kw_only=True)
class SummaryWriter:
    """Writes summaries of one conversation, and collects problems and cost.

    With `restoring`, which only a person's command sets, it also writes texts that a person retracted.
    """

    ports: Ports
    now: datetime
    restoring: bool = False
    problems: list[str] = field(default_factory=list)
    cost: Cost = FREE

    def summary(self, memories: Sequence[Memory], span: Span) -> Add | None:
        """A validated summary to store; None if it failed: then the problem is noted, and the stretch stays due."""
        chosen = profile(self.ports.config.summary_profile)
        frequencies = _frequencies(memories)
        depth = 1 + max(memory.depth for memory in memories)
        is_joined = depth > 1 and _words(memories) <= chosen.era_words  # nothing to shorten, so no mind is asked
        try:
            if is_joined:
                texts = [memory.text for memory in memories]
            elif depth == 1 and chosen.topics:
                texts = [self._written(topic, chosen, frequencies) for topic in self._topics(memories)]
            else:
                texts = [self._written(memories, chosen, frequencies)]
        except ModelError as error:
            self.cost += cost_of(error)
            self.problems.append(str(error))
            return None
        text = clean("\n".join(texts)).strip()
        if not is_joined and not (text := self._supported(text, memories, span)):
            return None
        if not self.restoring and self.ports.store.suppressed_keys(self.ports.scope, [content_key(text)]):
            return None  # a person undid this text: the stretch waits for another text, or for a command
        text = redact(text).text  # only the messages keep the secret
        share = coverage(text, [memory.text for memory in memories], frequencies.rarity)
        (entry,), problems = entries(self.ports, [text])
        self.problems += problems
        return Add(
            memory=self._memory(text, memories, span, depth=depth, share=share),
            because=f"{'an era' if depth > 1 else 'messages'} {span[0]} to {span[1]}: contains {share:.0%} of the information",
            entry=entry,
        )

    def _written(self, memories: Sequence[Memory], chosen: Profile, frequencies: Frequencies) -> str:
        if memories[0].depth:
            words = chosen.era_words
        else:
            weighed = [importance(memory.text, frequencies=frequencies) for memory in memories]
            words = length(chosen, spoken=_words(memories), importance=sum(weighed) / len(weighed))
        try:
            proposal = self.ports.mind.summarise(SummaryRequest(memories=tuple(memories), style="cascade", words=words))
        except ModelError as error:
            if not (error.refused or error.cut_off) or len(memories) == 1:
                raise
            self.cost += cost_of(error)
            return self._in_halves(memories, chosen, frequencies, error)
        self.cost += proposal.cost
        self.problems += proposal.problems
        return proposal.value.text

    def _in_halves(
        self, memories: Sequence[Memory], chosen: Profile, frequencies: Frequencies, error: ModelError
    ) -> str:
        """The summaries of both halves of what a mind refuses, without a single memory that it refuses; the error if nothing is left."""
        texts: list[str] = []
        half = len(memories) // 2
        for part in (memories[:half], memories[half:]):
            try:
                texts.append(self._written(part, chosen, frequencies))
            except ModelError as refusal:
                if not (refusal.refused or refusal.cut_off):
                    raise
                self.cost += cost_of(refusal)
                self.problems.append(f"{counted(len(part), 'memory', 'memories')} left out of a summary: {refusal}")
                error = refusal
        if not texts:
            error.cost = FREE  # counted above
            raise error
        return "\n".join(texts)

    def _supported(self, text: str, memories: Sequence[Memory], span: Span) -> str:
        """The text without sentences that the memories do not support; "" if they are more than half of it."""
        what = _untrue(text, memories)
        if what is None:
            return text
        lines = [sentences(line) for line in text.splitlines()]
        kept = [[sentence for sentence in line if _untrue(sentence, memories) is None] for line in lines]
        shorter = "\n".join(" ".join(line) for line in kept if line)
        told, left = (sum(map(len, some)) for some in (lines, kept))
        messages = f"a summary of messages {span[0]} to {span[1]}"
        if 2 * left < told or _untrue(shorter, memories) is not None:
            self.problems.append(f"{messages} was refused: {what}")
            return ""
        self.problems.append(f"{counted(told - left, 'sentence')} of {messages} left out: {what}")
        return shorter

    def _topics(self, memories: Sequence[Memory]) -> list[Sequence[Memory]]:
        """The messages by topic, each in order of time, and those without a topic together."""
        from slowwave.pipelines.ingest.reconcile import similarity  # noqa: PLC0415 - a command needs it only here
        from slowwave.policy.summaries.grouping import groups  # noqa: PLC0415 - imports numpy

        if self.ports.embedder is None:
            return [memories]
        try:
            vectors = self.ports.embed([memory.text for memory in memories])
        except EmbedderError as error:
            self.problems.append(f"summarised without topics: {error}")
            return [memories]
        near = similarity(self.ports, "related", RELATED)
        found = groups(
            vectors,
            keys=[memory.id for memory in memories],
            threshold=near,
            smallest=TOPIC_SMALLEST,
            largest=len(memories),
        )
        places = [sorted(group) for group in sorted(found, key=len, reverse=True)[:TOPICS]]
        rest = sorted(set(range(len(memories))).difference(*places))
        return [[memories[place] for place in group] for group in sorted([*places, *([rest] if rest else [])])]

    def _memory(self, text: str, memories: Sequence[Memory], span: Span, *, depth: int, share: float) -> Memory:
        return Memory(
            id=new_id(self.now),
            scope=self.ports.scope,
            kind=SUMMARY,
            category="summary",
            text=text,
            recorded_at=self.now,
            valid_from=memories[0].valid_from,
            importance=max(memory.importance for memory in memories),
            trust=least(memory.trust for memory in memories),
            conversation=memories[0].conversation,
            depth=depth,
            span=span,
            members=() if memories[0].kind == MESSAGE else tuple(memory.id for memory in memories),
            metadata={
                "coverage": f"{share:.3f}",
                "words": str(len(text.split())),
                "profile": self.ports.config.summary_profile,
            },
        )


def _untrue(text: str, memories: Sequence[Memory]) -> str | None:
    """Why memories do not support a text; None if they do."""
    invented = invented_details(text, memories)
    if invented:
        return f"it invents {', '.join(map(repr, invented[:3]))}"
    if not text or not shares_content(text, memories):
        return "it speaks of something else"
    return unsupported_by_transcript(text, memories)


def _words(memories: Sequence[Memory]) -> int:
    return sum(len(memory.text.split()) for memory in memories)


def _frequencies(memories: Sequence[Memory]) -> Frequencies:
    """The frequencies of words in the stretch itself: a summary needs no index of the scope."""
    counts = Counter(term for memory in memories for term in set(terms(memory.text)))
    return Frequencies(documents=len(memories), frequency=lambda stem: counts[stem])
