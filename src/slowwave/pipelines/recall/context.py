"""Builds contexts: core facts, summaries, hits and the latest messages, packed into a token budget and fenced as data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slowwave.errors import InputError
from slowwave.model.context import Scene
from slowwave.model.memory import HOT, MESSAGE, NOTE, SUMMARY, Memory
from slowwave.model.names import optional_conversation
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.pipelines.conversations import NEWEST_SUMMARIES, conversation_summaries, latest_conversation
from slowwave.pipelines.recall.chat import chat_messages, with_blocks
from slowwave.pipelines.recall.core_memory import context_line, core_lines
from slowwave.pipelines.recall.search import Search, search
from slowwave.policy.comparison.values import PERHAPS
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.guard.grounding import missing_details
from slowwave.policy.guard.labels import short_name
from slowwave.policy.guard.trust import trusted
from slowwave.policy.ranking.layout import CHAT, LAYOUTS, Layout, shortened
from slowwave.policy.ranking.packing import Offer, Packed, estimate, pack
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.policy.text.features import is_small_talk
from slowwave.ports import Ports

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALLEST = 64
"""The smallest budget in tokens: below it nothing useful fits beside the fence."""
LARGEST = 10**9
"""The largest budget; a larger one counts as this one."""
RELATED = 2
"""How many summaries of other stretches of conversation are shown as past experiences."""
HITS = 200
"""The most hits that a context is filled with; `injection_top_k` limits the facts among them."""
HIT_TOKENS = 12
"""Tokens that a hit costs at least: a search asks for no more hits than fit."""
IN_FULL = 2
"""How many of the best hits are shown as the message with its facts; the others are shown as their facts alone.

Measured on LoCoMo at 800 tokens: contexts contain 82 % of the words of answers this way, 78 % with facts alone, and as
many of the turns that questions need; with more messages in full, fewer turns.
"""
IN_FULL_SHARE = 1 / 6
"""The share of a context that a message shown with its facts may take."""
SUMMARY_SHORTEST = 60
"""Tokens below which a summary is left out rather than shortened."""
HEADING = 10
"""Tokens reserved for a heading."""
SUMMARY_FRAME = 10
"""Tokens of the span and the label of a summary."""
CHARACTERS_A_TOKEN = 4
SAID_SHORTEST = 20
"""Characters below which a message is left out rather than shortened."""
NEWEST = 0.25
"""The share of a context that its newest message may take before it is shortened, whatever the layout says."""
NEWEST_LEAST = 40
"""Tokens that the newest message may take of the smallest context."""
REPEATED = 2
"""A message whose facts are shown is left out if it is at most this many times as long as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. The layout "s4" puts the texts of `scene` before and after the memories."""

    question: str
    conversation: str | None
    budget_tokens: int
    profile: str = "plain"
    scene: Scene = field(default_factory=Scene)


def context(ports: Ports, wanted: ContextRequest) -> Context:
    """The parts that fit into the budget, in the order of the profile; each item names its source.

    Raises:
        InputError: for a budget in which nothing fits, an unknown profile, or a question or conversation that is not
            text.
    """
    layout = _layout(wanted)
    conversation = optional_conversation(wanted.conversation)
    wanted = replace(wanted, conversation=conversation, budget_tokens=min(wanted.budget_tokens, LARGEST))
    ports = _with_embedding_cache(ports)
    conversation = conversation or latest_conversation(ports)
    mark = fence_tag(ports.store.secret, ports.scope, conversation)
    opening, closing = (wanted.scene.opening, wanted.scene.closing) if layout.placed else ("", "")
    frame = estimate(opening + render((), mark) + closing) + 1
    available = wanted.budget_tokens - frame
    shares = layout.shares(available, ports.config.context_shares)
    headings = {part: ports.config.context_headings.get(part, heading) for part, heading in layout.headings.items()}
    candidates = _candidates(ports, wanted.question, conversation, _limits(shares, available))
    if wanted.profile == CHAT:
        block = estimate(render((Section(name=headings["immediate"], items=()),), mark)) + 1
        candidates["immediate"] = with_blocks(candidates["immediate"], block)
    budget = TokenBudget(tokens=wanted.budget_tokens, frame=frame, shares=shares, headings=headings)
    hits = ContextHits(
        hits=_hits(ports, wanted),
        less_trusted_core=candidates.pop("less trusted core"),
        facts=ports.config.injection_top_k,
        longest=int(IN_FULL_SHARE * wanted.budget_tokens),
    )
    packed = _pack(candidates, hits, budget)
    if not packed.omitted:  # everything fits: also show the stretches that the newest era summarises
        packed = _pack({**candidates, "recent": [*candidates["within"], *candidates["recent"]]}, hits, budget)
    sections = _merged_sections([replace(section, name=headings[section.name]) for section in packed.sections])
    text = f"{opening}{render(sections, mark)}{closing}" if sections or layout.placed else ""
    return Context(
        sections=sections,
        text=text,
        tokens=packed.tokens or min(frame, estimate(text)),
        left=packed.omitted,
        messages=chat_messages(sections, headings["immediate"], mark, candidates["immediate"])
        if wanted.profile == CHAT
        else (),
    )


def _layout(wanted: ContextRequest) -> Layout:
    """The layout of a valid request."""
    if not isinstance(wanted.question, str):
        raise InputError(f"a question is text, not {type(wanted.question).__name__}: leave it out if there is none")
    if not isinstance(wanted.budget_tokens, int) or wanted.budget_tokens < SMALLEST:
        raise InputError(f"a context of {wanted.budget_tokens!r} tokens holds nothing: give at least {SMALLEST}")
    layout = LAYOUTS.get(wanted.profile) if isinstance(wanted.profile, str) else None
    if layout is None:
        raise InputError(f"profile={wanted.profile!r}: use one of {', '.join(LAYOUTS)}")
    return layout


def _limits(shares: Mapping[str, float], available: int) -> dict[str, float]:
    """The tokens of each part below which its newest item is not shortened."""
    limits: dict[str, float] = {part: int(share * available) - HEADING for part, share in shares.items()}
    if shares["immediate"]:
        newest = min(max(int(NEWEST * available), NEWEST_LEAST), available)
        limits["immediate"] = max(limits["immediate"], newest - HEADING)
    return limits


def _pack(candidates: Mapping[str, Sequence[Item]], hits: "ContextHits", budget: "TokenBudget") -> Packed:
    """The items that fit, each memory once.

    The first packing decides which items of core and which latest messages are shown. The second packing fills the rest of the
    budget with other hits.
    """
    offered = {**candidates, "relevant": hits.lines(candidates["core"], ())}
    first = budget.pack(offered, {"immediate": 1 if budget.shares["immediate"] else 0})
    shown = {section.name: section.items for section in first.sections}
    fixed = {part: shown.get(part, ()) for part in ("core", "immediate")}
    kept = {part: len(items) for part, items in fixed.items()}
    packed = budget.pack({**candidates, **fixed, "relevant": hits.lines(fixed["core"], fixed["immediate"])}, kept)
    return replace(
        packed, omitted=packed.omitted + sum(len(candidates[part]) - number for part, number in kept.items())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """The tokens of a context.

    Attributes:
        tokens: the whole budget.
        frame: what the fence and the texts around it cost.
        shares: the share of each part.
        headings: the heading of each part, in the order in which the parts are shown.
    """

    tokens: int
    frame: int
    shares: Mapping[str, float]
    headings: Mapping[str, str]

    def pack(self, items: Mapping[str, Sequence[Item]], kept: Mapping[str, int]) -> Packed:
        """The items that fit, in sections named after their parts."""
        offers = [
            Offer(
                section=Section(name=part, items=tuple(items[part])),
                share=self.shares[part],
                heading=estimate(f"## {heading}\n"),
                ending=part in {"immediate", "older", "recent"},
                kept=kept.get(part, 0),
            )
            for part, heading in self.headings.items()
        ]
        return pack(offers, self.tokens, overhead=self.frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextHits:
    """The results of the search for a context.

    Attributes:
        hits: the hits, best first.
        less_trusted_core: lines of core facts that are trusted less than the user; they are shown among the hits.
        facts: how many facts a context may show, with those of core.
        longest: tokens up to which a message is shown with its facts.
    """

    hits: Sequence[Hit]
    less_trusted_core: Sequence[Item]
    facts: int
    longest: int

    def lines(self, core: Sequence[Item], messages: Sequence[Item]) -> list[Item]:
        """The lines of the hits that these items do not show already."""
        first = self.less_trusted_core[: max(0, self.facts - len(core))]
        known = {item.memory.id for item in (*core, *first) if item.memory}
        shown = known | {item.memory.id for item in messages if item.memory}
        facts_left = self.facts - len(core) - len(first)
        lines: list[Item] = []
        for hit in self.hits:
            if hit.memory.id in shown or _repeats_facts(hit, known):
                continue
            if hit.memory.kind != MESSAGE:
                facts_left -= 1
                if facts_left < 0:
                    continue
            lines.append(_hit_line(hit, known, longest=self.longest if len(lines) < IN_FULL else 0))
        return [*first, *lines]


def _repeats_facts(hit: Hit, known: Collection[str]) -> bool:
    """Whether a message says little more than its facts, and all of these are shown already."""
    tokens = sum(estimate(fact.text) for fact in hit.facts if fact.id in known)
    return all(fact.id in known for fact in hit.facts) and estimate(hit.memory.visible_text) <= REPEATED * tokens


def _candidates(
    ports: Ports, question: str, conversation: str | None, limits: Mapping[str, float]
) -> dict[str, list[Item]]:
    """The items that each part would show, except hits. The order of a part is the one in which it is shown."""
    eras, within, since = _summaries(ports, conversation)
    experiences = _experiences(ports, question, [*eras, *since])
    experience_ids = {hit.memory.id for hit in experiences}
    core = core_lines(ports)
    return {
        "core": [item for item in core if _is_from_user(item)][: ports.config.injection_top_k],
        "less trusted core": [item for item in core if not _is_from_user(item)],
        "older": _summary_lines(eras, limits["older"]),
        "recent": _summary_lines(since, limits["recent"]),
        "within": [summary_line(memory) for memory in within if memory.id not in experience_ids],
        "related": [summary_line(hit.memory, hit) for hit in experiences],
        "immediate": _message_lines(_latest_messages(ports, conversation), limits["immediate"]),
    }


def _is_from_user(item: Item) -> bool:
    """Whether the user said it. Only such lines may be in the section about the user."""
    return item.memory is not None and trusted(item.memory.trust, "user")


def _merged_sections(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, with the items of those that have the same heading in one."""
    items: dict[str, tuple[Item, ...]] = {}
    for section in sections:
        items[section.name] = items.get(section.name, ()) + section.items
    return tuple(Section(name=name, items=merged) for name, merged in items.items())


def _hits(ports: Ports, wanted: ContextRequest) -> list[Hit]:
    """The hits for the question, without summaries of conversations, cold memories and small talk."""
    if not wanted.question.strip():
        return []
    most = min(HITS, ports.config.injection_top_k + wanted.budget_tokens // HIT_TOKENS)
    return [
        hit
        for hit in search(ports, Search(text=wanted.question, top_k=most, min_relevance=ports.config.relevance_floor))
        if not (
            hit.memory.is_cascade or hit.deep or (hit.memory.kind == MESSAGE and is_small_talk(hit.memory.visible_text))
        )
    ]


def _summaries(ports: Ports, name: str | None) -> tuple[list[Memory], list[Memory], list[Memory]]:
    """The latest eras of a conversation, the stretches of an era that is not full, and those after all eras.

    Each is in order, oldest first. The stretches of an era say more than the era does: they are shown if they fit.
    """
    if name is None:
        return [], [], []
    found = [memory for memory in conversation_summaries(ports, name, NEWEST_SUMMARIES) if memory.span]
    eras = [memory for memory in found if memory.depth > 1]
    covered = max((_end(era) for era in eras), default=0)
    full = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    stretches = sorted((memory for memory in found if memory.depth == 1 and _end(memory) > full), key=_end)
    within = [memory for memory in stretches if _end(memory) <= covered]
    return eras, within, stretches[len(within) :]


def _end(memory: Memory) -> int:
    return (memory.span or (0, 0))[1]


def _experiences(ports: Ports, question: str, shown: Sequence[Memory]) -> list[Hit]:
    """The summaries of stretches, of any conversation, that are nearest to the question and not shown anyway."""
    if not question.strip():
        return []
    ids = {memory.id for memory in shown}
    request = Search(
        text=question,
        kinds=(SUMMARY,),
        categories=("summary",),
        top_k=RELATED + len(ids),
        min_relevance=ports.config.relevance_floor,
    )
    return [hit for hit in search(ports, request) if hit.memory.is_cascade and hit.memory.id not in ids][:RELATED]


def _latest_messages(ports: Ports, name: str | None) -> list[Memory]:
    conversation = ports.store.conversation(ports.scope, name) if name is not None else None
    if conversation is None:
        return []
    where = Where(
        kinds=frozenset({MESSAGE}),
        phases=frozenset(HOT),
        conversation=name,
        after_seq=max(0, conversation.last_seq - ports.config.immediate_window),
        order="seq",
    )
    return ports.store.select((ports.scope,), where)


def _with_embedding_cache(ports: Ports) -> Ports:
    """Ports that embed each text once: a context searches twice for the same question."""
    cache: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> "NDArray[np.float32]":
        if (key := tuple(texts)) not in cache:
            cache[key] = ports.embed(texts)
        return cache[key]

    return replace(ports, embed=embed)


def _hit_line(hit: Hit, shown: Collection[str], longest: int) -> Item:
    """A hit as a line of the context.

    A message of up to `longest` tokens is shown with those of its facts that name details it does not. A longer one is
    replaced by its facts, except those that are `shown` already. An outdated hit is marked.
    """
    memory = hit.memory
    facts = [fact for fact in hit.facts if fact.id not in shown]
    words = memory.visible_text
    line = f"{short_name(memory.role, memory.speaker)}: {words}" if memory.kind == MESSAGE else words
    quoted = not facts or estimate(line) <= longest
    if not quoted:
        words = "; ".join(fact.text for fact in facts)
    elif facts := [fact for fact in facts if missing_details(line, [fact])]:
        words = f"{words} ({'; '.join(fact.text for fact in facts)})"
    stale = f" ({PERHAPS if hit.perhaps else 'outdated'})" if hit.stale else ""
    rests = "fact " + ", ".join(fact.id for fact in facts) + " resting on " if facts else ""
    because = f"{rests}{_origin(memory)}, {hit.because or f'score {hit.score:.2f}'}"
    item = context_line(f"{words}{stale}", memory, because, facts=facts, quoted=quoted, dated=True)
    return replace(item, outdated=hit.stale)


def _message_lines(messages: Sequence[Memory], limit: float) -> list[Item]:
    """The latest messages, oldest first; the newest one is shortened if it alone costs more than the limit.

    It is left out if too few of its characters would remain.
    """
    items = [context_line(memory.visible_text, memory, _origin(memory)) for memory in messages]
    if not items:
        return []
    newest = messages[-1]
    characters = len(newest.visible_text)
    while items[-1].tokens > limit > 0 and characters > 1:
        characters = min(characters - 1, int(characters * limit / items[-1].tokens))
        items[-1] = context_line(shortened(newest.visible_text, characters), newest, _origin(newest))
    return items[:-1] if characters < min(SAID_SHORTEST, len(newest.visible_text)) else items


def _summary_lines(summaries: Sequence[Memory], limit: float) -> list[Item]:
    """Summaries as lines; the newest one is shortened at a clause if it alone costs more than the limit."""
    items = [summary_line(memory) for memory in summaries]
    if items and items[-1].tokens > limit >= SUMMARY_SHORTEST:
        items[-1] = summary_line(summaries[-1], characters=int((limit - SUMMARY_FRAME) * CHARACTERS_A_TOKEN))
    return items


def summary_line(memory: Memory, hit: Hit | None = None, *, characters: int | None = None) -> Item:
    """A summary as a line: its text, and the numbers of the messages that it summarises."""
    first, last = memory.span or (0, 0)
    words = " ".join(memory.text.split("\n"))
    if characters is not None:
        words = shortened(words, characters)
    score = f", score {hit.score:.2f}" if hit else ""
    return context_line(f"{words} (memories {first}-{last})", memory, f"{_origin(memory)}{score}")


def _origin(memory: Memory) -> str:
    """The source of an item, in words."""
    if memory.kind == MESSAGE:
        return f"message {memory.seq} of {memory.conversation}"
    if memory.is_cascade:
        first, last = memory.span or (0, 0)
        return f"{'era' if memory.depth > 1 else 'summary'} {memory.id} of messages {first}-{last} of {memory.conversation}"
    return f"{'note' if memory.kind == NOTE else f'{memory.category} fact'} {memory.id}"
