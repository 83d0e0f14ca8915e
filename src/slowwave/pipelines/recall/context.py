"""Context: what was found, plus core and summaries, packed into a token budget and fenced as data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slowwave.errors import InputError
from slowwave.model.context import Scene
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.names import optional_conversation
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.pipelines.conversations import latest_conversation
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
"""Tokens below which nothing useful fits beside the fence."""
LARGEST = 10**9
"""More tokens are no more than so many."""
RELATED = 2
"""How many past experiences, summaries of stretches of conversation, are shown."""
HITS = 200
"""How many hits a context is filled with, at most; `injection_top_k` caps the facts among them."""
HIT_TOKENS = 12
"""A hit costs at least about so many: no more are looked for than fit."""
IN_FULL = 2
"""The best so many hits are shown in full, the message with its facts; of the others their facts alone, which are shorter.

Measured on LoCoMo at 800 tokens: contexts hold 82 % of the words of answers so, 78 % with facts alone, and as many of the
turns that questions need; with more in full, fewer turns.
"""
IN_FULL_SHARE = 1 / 6
"""Of a context, what a message beside its facts may take of it."""
SUMMARY_SHORTEST = 60
"""Tokens below which a summary is not cut to fit: it is left out."""
HEADING = 10
"""Tokens of a heading, at most about."""
SUMMARY_FRAME = 10
"""Tokens of the span and the mark around a summary."""
CHARACTERS_A_TOKEN = 4
SAID_SHORTEST = 20
"""Characters below which a message is not cut to fit: it is left out."""
NEWEST = 0.25
"""The share of a context that its newest message may take, whatever the layout gives to the latest ones, before it is cut."""
NEWEST_LEAST = 40
"""Tokens it may take of the smallest context."""
REPEATED = 2
"""A message is left to its facts, where they are shown already, if it is at most so many times as long as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. `scene` is told around the memories where the layout says so ("s4")."""

    question: str
    conversation: str | None
    budget_tokens: int
    profile: str = "plain"
    scene: Scene = field(default_factory=Scene)


def context(ports: Ports, wanted: ContextRequest) -> Context:
    """The parts that fit, in the order of the profile, each item with where it came from.

    Raises:
        InputError: for a budget in which nothing fits, an unknown profile, or a question or conversation that is no text.
    """
    layout = _layout(wanted)
    name = optional_conversation(wanted.conversation)
    wanted = replace(wanted, conversation=name, budget_tokens=min(wanted.budget_tokens, LARGEST))
    ports = _embedding_once(ports)
    name = wanted.conversation or latest_conversation(ports)
    mark = fence_tag(ports.store.secret, ports.scope, name)
    opening, closing = (wanted.scene.opening, wanted.scene.closing) if layout.placed else ("", "")
    frame = estimate(opening + render((), mark) + closing) + 1
    shares = layout.shares(wanted.budget_tokens - frame, ports.config.context_shares)
    rooms = {part: int(share * (wanted.budget_tokens - frame)) - HEADING for part, share in shares.items()}
    if shares["immediate"]:
        room = wanted.budget_tokens - frame
        rooms["immediate"] = max(rooms["immediate"], min(max(int(NEWEST * room), NEWEST_LEAST), room) - HEADING)
    headings = {part: ports.config.context_headings.get(part, told) for part, told in layout.headings.items()}
    parts = _parts(ports, wanted, name, rooms)
    if wanted.profile == CHAT:
        block = estimate(render((Section(name=headings["immediate"], items=()),), mark)) + 1
        parts["immediate"] = with_blocks(parts["immediate"], block)
    space = TokenBudget(tokens=wanted.budget_tokens, frame=frame, shares=shares, headings=headings)
    found = ContextSearch(
        hits=_hits(ports, wanted),
        standing=parts.pop("standing"),
        facts=ports.config.injection_top_k,
        longest=int(IN_FULL_SHARE * wanted.budget_tokens),
    )
    packed = _packed(parts, found, space)
    if not packed.left:  # there is room for what the newest era tells in fewer words
        packed = _packed({**parts, "recent": [*parts["within"], *parts["recent"]]}, found, space)
    sections = _joined([replace(section, name=headings[section.name]) for section in packed.sections])
    text = f"{opening}{render(sections, mark)}{closing}" if sections or layout.placed else ""
    return Context(
        sections=sections,
        text=text,
        tokens=packed.tokens or min(frame, estimate(text)),
        left=packed.left,
        messages=chat_messages(sections, headings["immediate"], mark, parts["immediate"])
        if wanted.profile == CHAT
        else (),
    )


def _layout(wanted: ContextRequest) -> Layout:
    """The layout of a request that can be meant."""
    if not isinstance(wanted.question, str):
        raise InputError(f"a question is text, not {type(wanted.question).__name__}: leave it out if there is none")
    if not isinstance(wanted.budget_tokens, int) or wanted.budget_tokens < SMALLEST:
        raise InputError(f"a context of {wanted.budget_tokens!r} tokens holds nothing: give at least {SMALLEST}")
    layout = LAYOUTS.get(wanted.profile) if isinstance(wanted.profile, str) else None
    if layout is None:
        raise InputError(f"profile={wanted.profile!r}: use one of {', '.join(LAYOUTS)}")
    return layout


def _packed(parts: Mapping[str, Sequence[Item]], found: "ContextSearch", room: "TokenBudget") -> Packed:
    """What fits, each memory once.

    First everything is offered. What is then seen of core, and of the latest messages without a hole, stays; what was
    found is offered again without it.
    """
    offered = {**parts, "relevant": found.lines(parts["core"], ())}
    first = room.pack(offered, {"immediate": 1 if room.shares["immediate"] else 0})
    seen = {section.name: section.items for section in first.sections}
    stays = {part: seen.get(part, ()) for part in ("core", "immediate")}
    kept = {part: len(items) for part, items in stays.items()}
    packed = room.pack({**parts, **stays, "relevant": found.lines(stays["core"], stays["immediate"])}, kept)
    return replace(packed, left=packed.left + sum(len(parts[part]) - number for part, number in kept.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """The budget, what surrounds the memories, and of each part, in order, its share and what its heading costs."""

    tokens: int
    frame: int
    shares: Mapping[str, float]
    headings: Mapping[str, str]

    def pack(self, items: Mapping[str, Sequence[Item]], kept: Mapping[str, int]) -> Packed:
        """What fits, in sections that are named as their parts are."""
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
class ContextSearch:
    """What a search found, best first, how many facts a context may show, and the longest message beside its facts.

    `standing` are the lines of facts that are always in view and trusted less than the user.
    """

    hits: Sequence[Hit]
    standing: Sequence[Item]
    facts: int
    longest: int

    def lines(self, core: Sequence[Item], said: Sequence[Item]) -> list[Item]:
        """The hits that these do not show already, facts up to `facts` with those of core, and messages."""
        first = self.standing[: max(0, self.facts - len(core))]
        known = {item.memory.id for item in (*core, *first) if item.memory}
        shown = known | {item.memory.id for item in said if item.memory}
        room = self.facts - len(core) - len(first)
        lines: list[Item] = []
        for hit in self.hits:
            if hit.memory.id in shown or _repeats(hit, known):
                continue
            if hit.memory.kind != MESSAGE:
                room -= 1
                if room < 0:
                    continue
            lines.append(_found(hit, known, longest=self.longest if len(lines) < IN_FULL else 0))
        return [*first, *lines]


def _repeats(hit: Hit, known: Collection[str]) -> bool:
    """Whether a message says little more than its facts, which are shown already."""
    told = sum(estimate(fact.text) for fact in hit.facts if fact.id in known)
    return all(fact.id in known for fact in hit.facts) and estimate(hit.memory.visible_text) <= REPEATED * told


def _parts(ports: Ports, wanted: ContextRequest, name: str | None, rooms: Mapping[str, float]) -> dict[str, list[Item]]:
    """What wants into each part beside what is found, best or newest first as each needs it."""
    eras, within, since = _summaries(ports, name)
    related = _experiences(ports, wanted.question, [*eras, *since])
    told = {hit.memory.id for hit in related}
    always = core_lines(ports)
    return {
        "core": [item for item in always if _of_user(item)][: ports.config.injection_top_k],
        "standing": [item for item in always if not _of_user(item)],
        "older": _fitted(eras, rooms["older"]),
        "recent": _fitted(since, rooms["recent"]),
        "within": [summary_line(memory) for memory in within if memory.id not in told],
        "related": [summary_line(hit.memory, hit) for hit in related],
        "immediate": _latest(_immediate(ports, name), rooms["immediate"]),
    }


def _of_user(item: Item) -> bool:
    """Whether the user said it, so that it may stand under what is known about the user."""
    return item.memory is not None and trusted(item.memory.trust, "user")


def _joined(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Parts under one heading stand under it together."""
    items: dict[str, tuple[Item, ...]] = {}
    for section in sections:
        items[section.name] = items.get(section.name, ()) + section.items
    return tuple(Section(name=name, items=those) for name, those in items.items())


def _hits(ports: Ports, wanted: ContextRequest) -> list[Hit]:
    """What answers the question and says something."""
    if not wanted.question.strip():
        return []
    most = min(HITS, ports.config.injection_top_k + wanted.budget_tokens // HIT_TOKENS)
    return [
        hit
        for hit in search(ports, Search(text=wanted.question, top_k=most))
        if not (
            hit.memory.is_cascade or hit.deep or (hit.memory.kind == MESSAGE and is_small_talk(hit.memory.visible_text))
        )
    ]


def _summaries(ports: Ports, name: str | None) -> tuple[list[Memory], list[Memory], list[Memory]]:
    """The latest eras of a conversation, the stretches that an era not full yet tells of, and those since; oldest first.

    The second are for where there is room: they say more than their era.
    """
    if name is None:
        return [], [], []
    where = Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=2 * ERA_SIZE + 4,
    )
    found = [memory for memory in ports.store.select((ports.scope,), where)[::-1] if memory.span]
    eras = [memory for memory in found if memory.depth > 1]
    covered = max((_end(era) for era in eras), default=0)
    full = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    stretches = sorted((one for one in found if one.depth == 1 and _end(one) > full), key=_end)
    return eras, [one for one in stretches if _end(one) <= covered], [one for one in stretches if _end(one) > covered]


def _end(memory: Memory) -> int:
    return (memory.span or (0, 0))[1]


def _experiences(ports: Ports, question: str, shown: Sequence[Memory]) -> list[Hit]:
    """The summaries of stretches nearest to the question, of any conversation, that are not shown as the past anyway."""
    if not question.strip():
        return []
    known = {memory.id for memory in shown}
    wanted = Search(text=question, kinds=(SUMMARY,), categories=("summary",), top_k=RELATED + len(known))
    return [hit for hit in search(ports, wanted) if hit.memory.is_cascade and hit.memory.id not in known][:RELATED]


def _immediate(ports: Ports, name: str | None) -> list[Memory]:
    found = ports.store.conversation(ports.scope, name) if name is not None else None
    if found is None:
        return []
    where = Where(
        kinds=frozenset({MESSAGE}),
        phases=frozenset(HOT),
        conversation=name,
        after_seq=max(0, found.last_seq - ports.config.immediate_window),
        order="seq",
    )
    return ports.store.select((ports.scope,), where)


def _embedding_once(ports: Ports) -> Ports:
    """The question is looked for twice, and embedded once."""
    known: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> "NDArray[np.float32]":
        if (asked := tuple(texts)) not in known:
            known[asked] = ports.embed(texts)
        return known[asked]

    return replace(ports, embed=embed)


def _found(hit: Hit, taken: Collection[str], longest: int) -> Item:
    """A hit as a line: the facts it is shown with say it shortest; what is outdated says so.

    A message of up to `longest` tokens is shown itself, with those of its facts that name what it does not.
    """
    memory = hit.memory
    facts = [fact for fact in hit.facts if fact.id not in taken]
    words = memory.visible_text
    said = f"{short_name(memory.role, memory.speaker)}: {words}" if memory.kind == MESSAGE else words
    quoted = not facts or estimate(said) <= longest
    if not quoted:
        words = "; ".join(fact.text for fact in facts)
    elif facts := [fact for fact in facts if missing_details(said, [fact])]:
        words = f"{words} ({'; '.join(fact.text for fact in facts)})"
    stale = f" ({PERHAPS if hit.perhaps else 'outdated'})" if hit.stale else ""
    rests = "fact " + ", ".join(fact.id for fact in facts) + " resting on " if facts else ""
    because = f"{rests}{_origin(memory)}, {hit.because or f'score {hit.score:.2f}'}"
    return context_line(f"{words}{stale}", memory, because, facts=facts, quoted=quoted, dated=True)


def _latest(said: Sequence[Memory], room: float) -> list[Item]:
    """The latest messages, oldest first; the newest is cut if it alone is more than the room they have.

    It is left out where nothing of it would be left but who said it.
    """
    items = [_said(memory, memory.visible_text) for memory in said]
    characters = len(said[-1].visible_text) if said else 0
    while items and items[-1].tokens > room > 0 and characters > 1:
        characters = min(characters - 1, int(characters * room / items[-1].tokens))
        items[-1] = _said(said[-1], shortened(said[-1].visible_text, characters))
    return items[:-1] if items and characters < min(SAID_SHORTEST, len(said[-1].visible_text)) else items


def _said(memory: Memory, words: str) -> Item:
    return context_line(words, memory, _origin(memory))


def _fitted(summaries: Sequence[Memory], room: float) -> list[Item]:
    """Summaries as lines; the newest is cut at a clause if it alone is more than the room it has."""
    items = [summary_line(memory) for memory in summaries]
    if items and items[-1].tokens > room >= SUMMARY_SHORTEST:
        items[-1] = summary_line(summaries[-1], characters=int((room - SUMMARY_FRAME) * CHARACTERS_A_TOKEN))
    return items


def summary_line(memory: Memory, hit: Hit | None = None, *, characters: int | None = None) -> Item:
    """A line as S4 shows it: the words, and which memories they stand for."""
    first, last = memory.span or (0, 0)
    words = " ".join(memory.text.split("\n"))
    if characters is not None:
        words = shortened(words, characters)
    score = f", score {hit.score:.2f}" if hit else ""
    return context_line(f"{words} (memories {first}-{last})", memory, f"{_origin(memory)}{score}")


def _origin(memory: Memory) -> str:
    """Where an item came from."""
    if memory.kind == MESSAGE:
        return f"message {memory.seq} of {memory.conversation}"
    if memory.is_cascade:
        first, last = memory.span or (0, 0)
        return f"{'era' if memory.depth > 1 else 'summary'} {memory.id} of messages {first}-{last} of {memory.conversation}"
    return f"{memory.category} fact {memory.id}"
