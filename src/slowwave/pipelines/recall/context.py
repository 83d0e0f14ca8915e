"""Builds contexts: core facts, summaries, hits and the latest messages, packed into a token budget and fenced as data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from slowwave.errors import InputError, shown
from slowwave.model.context import Scene
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.names import optional_conversation, optional_name
from slowwave.model.plain_text import clean
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.pipelines.conversations import (
    NEWEST_MESSAGE,
    NEWEST_SUMMARIES,
    conversation_summaries,
    latest_conversation,
    summaries_of,
)
from slowwave.pipelines.recall.chat import chat_messages, with_blocks
from slowwave.pipelines.recall.core_memory import CORE, context_line, core_lines
from slowwave.pipelines.recall.forms import REPEATED, Fixed, HitForms, origin
from slowwave.pipelines.recall.instructions import INSTRUCTIONS, MOST, SHARE, instruction_lines
from slowwave.pipelines.recall.places import without_repeats
from slowwave.pipelines.recall.reading import Asked, asked
from slowwave.pipelines.recall.search import (
    QUESTION_LONGEST,
    RELATED as RELATED_COSINE,
    Search,
    announce,
    search,
)
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.guard.trust import trusted
from slowwave.policy.ranking.layout import CHAT, LAYOUTS, Layout, shortened
from slowwave.policy.ranking.packing import Forms, Offer, Packed, estimate, pack
from slowwave.policy.ranking.relevance import is_near
from slowwave.policy.retention.importance import name_stems
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.policy.text.features import is_small_talk
from slowwave.policy.text.tokens import content_terms, words
from slowwave.ports import Ports

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARTS = ("core", "less trusted core", "older", "recent", "within", "related", "immediate")
"""The parts of a context that do not come from the hits for its question."""
SMALLEST = 64
"""The smallest budget in tokens: below it nothing useful fits beside the fence."""
LARGEST = 10**9
"""The largest budget; a larger one counts as this one."""
RELATED = 2
"""How many summaries of other stretches of conversation are shown as past experiences."""
HITS = 200
"""The most hits that a context is filled with; `injection_top_k` limits the facts among them."""
FILLING = 20
"""The most hits below the floor of relevance that fill the room that is left."""
HIT_TOKENS = 12
"""Tokens that a hit costs at least: a search asks for no more hits than fit."""
SUMMARY_SHORTEST = 60
"""Tokens below which a summary is left out rather than shortened."""
HEADING = 10
"""Tokens reserved for a heading."""
INSTRUCTIONS_HEADING = 20
"""Tokens of the heading of the instructions, and of the words that except them from the notice of the fence."""
SUMMARY_FRAME = 10
"""Tokens of the span and the label of a summary."""
CHARACTERS_A_TOKEN = 4
SAID_SHORTEST = 6
"""Tokens below which a message is left out rather than shortened."""
NEWEST = 0.25
"""The share of a context that its newest message may take before it is shortened, whatever the layout says."""
NEWEST_LEAST = 40
"""Tokens that the newest message may take of the smallest context."""
NEWEST_ASKED = 0.1
"""The same share if the context is to answer a question.

Measured on LoCoMo, evidence in 150 tokens: 42 % on the conversation that it was chosen on and 44 % on two others with messages
only, 49 % and 54 % with facts. With a quarter 29 % and 34 %, 43 % and 53 %. Above 500 tokens there is no difference.
"""
NEWEST_ASKED_LEAST = 20
"""Tokens that the newest message may take of the smallest context that is to answer a question."""

Summaries: TypeAlias = tuple[list[Memory], list[Memory], list[Memory]]
"""The latest eras of a conversation, the stretches of an era that is not full, and those after all eras."""


class Announced(NamedTuple):
    """What was read before the hits.

    Attributes:
        latest: what the latest messages are selected by, or None.
        summaries: the summaries of the conversation.
        instructions: the newest standing instructions.
    """

    latest: Where | None
    summaries: Summaries
    instructions: list[Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. The layout "s4" puts the texts of `scene` before and after the memories.

    With `related_only` it contains hits for the question that reach the floor of relevance and are not of `conversation`, and
    nothing else. Messages and summaries of `except_conversation` are left out; with it and without `conversation`, no
    conversation's latest messages are shown.
    """

    question: str
    conversation: str | int | None
    budget_tokens: int
    profile: str = "plain"
    scene: Scene = field(default_factory=Scene)
    related_only: bool = False
    except_conversation: str | int | None = None


def context(ports: Ports, wanted: ContextRequest) -> Context:
    """The parts that fit into the budget, in the order of the profile; each item names its source.

    Raises:
        InputError: for a budget in which nothing fits, an unknown profile, or a question or conversation that is not
            text.
    """
    layout = _layout(wanted)
    conversation = optional_conversation(wanted.conversation)
    left_out = optional_name(wanted.except_conversation, "except_conversation", numbers=True)
    if left_out is not None and conversation is not None and (wanted.related_only or left_out == conversation):
        raise InputError(
            f"conversation={shown(conversation)} and except_conversation={shown(left_out)}: pass one of them, or two that differ"
            " without related_only"
        )
    wanted = replace(
        wanted,
        conversation=conversation,
        except_conversation=left_out,
        budget_tokens=min(wanted.budget_tokens, LARGEST),
    )
    ports, question = _in_one_moment(ports), clean(wanted.question)[:QUESTION_LONGEST]
    with asked(ports, question, _selections(wanted), conversation) as of_question:
        return _context(ports, wanted, layout, conversation, of_question)


def _selections(wanted: ContextRequest) -> list[Where]:
    """What a context selects, as far as it is known before the ranking."""
    found = [*CORE, INSTRUCTIONS]
    if _shows_latest(wanted):
        found.append(NEWEST_MESSAGE)
    elif wanted.conversation is not None:
        found.append(summaries_of(str(wanted.conversation), NEWEST_SUMMARIES))
    return found


def _shows_latest(wanted: ContextRequest) -> bool:
    """Whether the conversation that was written to last is shown."""
    return wanted.conversation is None and wanted.except_conversation is None


def _announced(ports: Ports, wanted: ContextRequest, conversation: str | None, question: Asked) -> Announced:
    """What the sections select. All that depends on it, and the searches, are announced, to be read in one round trip."""
    reading = question.reading
    if conversation is not None and wanted.conversation is None:
        reading.select([summaries_of(conversation, NEWEST_SUMMARIES)], conversation)
    where = _latest_where(ports, conversation)
    if where is not None:
        reading.select([where])
    summaries = _summaries(ports, conversation)
    instructions = ports.store.select(ports.scopes, INSTRUCTIONS)
    reading.want(fact.id for fact in instructions)
    if wanted.question.strip():
        announce(ports, _hits_request(ports, wanted), reading, question.vector)
        announce(ports, _experiences_request(ports, wanted, summaries), reading, question.vector)
    return Announced(latest=where, summaries=summaries, instructions=instructions)


def _context(ports: Ports, wanted: ContextRequest, layout: Layout, given: str | None, question: Asked) -> Context:
    conversation = latest_conversation(ports) if _shows_latest(wanted) else given
    announced = _announced(ports, wanted, conversation, question)
    mark = fence_tag(ports.store.secret, ports.scope, conversation or optional_conversation(wanted.except_conversation))
    opening, closing = (wanted.scene.opening, wanted.scene.closing) if layout.placed else ("", "")
    frame = estimate(opening + render((), mark) + closing) + 1
    available = wanted.budget_tokens - frame
    shares = layout.shares(available, ports.config.context_shares)
    headings = {part: ports.config.context_headings.get(part, heading) for part, heading in layout.headings.items()}
    is_asked = layout.focused and bool(wanted.question.strip())
    found = _hits(ports, wanted)
    if wanted.related_only:
        candidates: dict[str, list[Item]] = {part: [] for part in (*PARTS, "instructions")}
    else:
        candidates = _candidates(ports, wanted, announced, _limits(shares, available, is_asked=is_asked))
        instructions = _instructions(ports, wanted.question, available, announced.instructions)
        candidates = _with_instructions(candidates, instructions)
    shares["instructions"] = sum(item.tokens for item in candidates["instructions"]) / max(1, available)
    if wanted.profile == CHAT:
        block = estimate(render((Section(name=headings["immediate"], items=()),), mark)) + 1
        candidates["immediate"] = with_blocks(candidates["immediate"], block)
    budget = TokenBudget(tokens=wanted.budget_tokens, frame=frame, shares=shares, headings=headings)
    hits = ContextHits(
        hits=_relevant(ports, wanted, found),
        less_trusted_core=candidates.pop("less trusted core"),
        facts=ports.config.injection_top_k,
    )
    packed = _pack(candidates, hits, budget)
    if not packed.omitted:  # everything fits: also show the stretches that the newest era summarises
        packed = _pack({**candidates, "recent": [*candidates["within"], *candidates["recent"]]}, hits, budget)
    sections = _merged_sections(packed.sections, headings)
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
        raise InputError(f"a context of {shown(wanted.budget_tokens)} tokens holds nothing: give at least {SMALLEST}")
    layout = LAYOUTS.get(wanted.profile) if isinstance(wanted.profile, str) else None
    if layout is None:
        raise InputError(f"profile={shown(wanted.profile)}: use one of {', '.join(LAYOUTS)}")
    return layout


def _instructions(ports: Ports, question: str, available: int, found: Sequence[Memory]) -> list[Item]:
    """The standing instructions, in a sixth of a context and at most 150 tokens. A share of 0 in the settings leaves them out."""
    most = min(MOST, int(ports.config.context_shares.get("instructions", SHARE) * available))
    return instruction_lines(ports, question, most - INSTRUCTIONS_HEADING, found)


def _with_instructions(candidates: Mapping[str, list[Item]], instructions: list[Item]) -> dict[str, list[Item]]:
    """The candidates, with instructions that core facts do not repeat."""
    shown = {item.memory.id for item in instructions if item.memory}
    core = {
        part: [item for item in candidates[part] if item.memory and item.memory.id not in shown]
        for part in ("core", "less trusted core")
    }
    return {**candidates, **core, "instructions": instructions}


def _limits(shares: Mapping[str, float], available: int, *, is_asked: bool) -> dict[str, float]:
    """The tokens of each part below which its newest item is not shortened."""
    limits: dict[str, float] = {part: int(share * available) - HEADING for part, share in shares.items()}
    if shares["immediate"]:
        share, least = (NEWEST_ASKED, NEWEST_ASKED_LEAST) if is_asked else (NEWEST, NEWEST_LEAST)
        newest = min(max(int(share * available), least), available)
        limits["immediate"] = max(limits["immediate"], newest - HEADING)
    return limits


def _pack(candidates: Mapping[str, Sequence[Item]], hits: "ContextHits", budget: "TokenBudget") -> Packed:
    """The items that fit, each memory once.

    The first packing decides which items of core and which latest messages are shown. The second packing fills the rest of the
    budget with other hits.
    """
    lines = candidates["instructions"]
    forms = hits.forms(candidates["core"], lines)
    first = budget.pack(
        candidates,
        forms,
        {
            "instructions": len(candidates["instructions"]),
            "immediate": 1 if budget.shares["immediate"] else 0,
        },
    )
    shown = {section.name: section.items for section in first.sections}
    fixed = {part: shown.get(part, ()) for part in ("instructions", "core", "immediate")}
    kept = {part: len(items) for part, items in fixed.items()}
    packed = budget.pack({**candidates, **fixed}, hits.forms(fixed["core"], [*lines, *fixed["immediate"]]), kept)
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

    def pack(self, items: Mapping[str, Sequence[Item]], relevant: Sequence[Forms], kept: Mapping[str, int]) -> Packed:
        """The items that fit, and the forms of relevant memories, in sections named after their parts."""
        offers = [
            Offer(
                section=Section(name=part, items=tuple(items.get(part, ()))),
                forms=tuple(relevant) if part == "relevant" else (),
                share=self.shares[part],
                heading=INSTRUCTIONS_HEADING + estimate(heading)
                if part == "instructions"
                else estimate(f"## {heading}\n"),
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
        hits: the forms of the hits, best first.
        less_trusted_core: lines of core facts that are trusted less than the user; they are shown among the hits.
        facts: how many facts a context may show, with those of core.
    """

    hits: Sequence["HitForms"]
    less_trusted_core: Sequence[Item]
    facts: int

    def forms(self, core: Sequence[Item], others: Sequence[Item]) -> list[Forms]:
        """The forms of the hits that these items do not show already."""
        first = self.less_trusted_core[: max(0, self.facts - len(core))]
        known = {item.memory.id for item in (*core, *first, *others) if item.memory}
        facts_left = self.facts - len(core) - len(first)
        found: list[Forms] = [Fixed(full=item) for item in first]
        kept = without_repeats([each.hit for each in self.hits], [item.memory for item in others if item.memory])
        once = {hit.memory.id for hit in kept}
        for each in self.hits:
            hit = each.hit
            if hit.memory.id in known or hit.memory.id not in once or _repeats_facts(hit, known):
                continue
            if hit.memory.kind != MESSAGE:
                facts_left -= 1
                if facts_left < 0:
                    continue
            found.append(each.without(known))
        return found


def _repeats_facts(hit: Hit, known: Collection[str]) -> bool:
    """Whether a message says little more than its facts, and all of these are shown already."""
    tokens = sum(estimate(fact.text) for fact in hit.facts if fact.id in known)
    return all(fact.id in known for fact in hit.facts) and estimate(hit.memory.visible_text) <= REPEATED * tokens


def _candidates(
    ports: Ports, wanted: ContextRequest, announced: Announced, limits: Mapping[str, float]
) -> dict[str, list[Item]]:
    """The items that each part would show, except hits. The order of a part is the one in which it is shown."""
    eras, within, since = announced.summaries
    experiences = _experiences(ports, wanted, announced.summaries)
    experience_ids = {hit.memory.id for hit in experiences}
    core, latest = core_lines(ports), _latest_messages(ports, announced.latest)
    of_user = [item for item in core if _is_from_user(item)]
    return {
        "core": of_user[: ports.config.injection_top_k],
        "less trusted core": [item for item in core if not _is_from_user(item)],
        "older": _summary_lines(eras, limits["older"]),
        "recent": _summary_lines(since, limits["recent"]),
        "within": [summary_line(memory) for memory in within if memory.id not in experience_ids],
        "related": [summary_line(hit.memory, hit) for hit in experiences],
        "immediate": _message_lines(latest, limits["immediate"]),
    }


def _is_from_user(item: Item) -> bool:
    """Whether the user said it. Only such lines may be in the section about the user."""
    return item.memory is not None and trusted(item.memory.trust, "user")


def _merged_sections(parts: Sequence[Section], headings: Mapping[str, str]) -> tuple[Section, ...]:
    """The parts under their headings; those that have the same heading are one section."""
    merged: dict[str, Section] = {}
    for part in parts:
        name, instructs = headings[part.name], part.name == "instructions"
        if instructs and name in (heading for other, heading in headings.items() if other != part.name):
            instructs = False  # a section with other lines may not tell a model to follow them
        items = (*(merged[name].items if name in merged else ()), *part.items)
        merged[name] = Section(name=name, items=items, instructions=instructs)
    return tuple(merged.values())


def _hits(ports: Ports, wanted: ContextRequest) -> list[Hit]:
    """The hits for the question, without summaries of conversations, cold memories and small talk, however relevant."""
    if not wanted.question.strip():
        return []
    return without_repeats(
        [
            hit
            for hit in search(ports, _hits_request(ports, wanted))
            if not (
                hit.memory.is_cascade
                or hit.deep
                or (hit.memory.kind == MESSAGE and is_small_talk(hit.memory.visible_text))
            )
        ]
    )


def _hits_request(ports: Ports, wanted: ContextRequest) -> Search:
    request = Search(text=wanted.question, top_k=_most_hits(ports, wanted), min_relevance=0.0)
    present = optional_conversation(wanted.except_conversation)
    if not wanted.related_only:
        return replace(request, except_conversation=present)
    present = present or optional_conversation(wanted.conversation)
    return replace(request, min_relevance=ports.config.relevance_floor, except_conversation=present)


def _relevant(ports: Ports, wanted: ContextRequest, found: Sequence[Hit]) -> list[HitForms]:
    """The hits that a context shows: the relevant ones, best first, then those that fill the room that is left, in short."""
    floor = ports.config.relevance_floor
    related = getattr(ports.embedder, "similarity", {}).get("related", RELATED_COSINE)
    relevant = [hit for hit in found if hit.relevance >= floor]
    named = set(words(wanted.question))
    filling = [
        hit
        for hit in found
        if 0.0 < hit.relevance < floor
        and is_near(hit.parts, related, named=not named.isdisjoint(words(hit.memory.speaker or "")[:1]))
    ]
    filling.sort(key=lambda hit: -hit.relevance)
    if wanted.related_only:
        filling = []
    stems = content_terms(wanted.question) - name_stems({hit.memory.speaker or "" for hit in found})
    forms = [HitForms(hit=hit, asked=stems) for hit in relevant]
    return forms + [HitForms(hit=hit, asked=stems, briefly=True) for hit in filling[:FILLING]]


def _most_hits(ports: Ports, wanted: ContextRequest) -> int:
    """How many hits can fit into a context."""
    return min(HITS, ports.config.injection_top_k + wanted.budget_tokens // HIT_TOKENS)


def _summaries(ports: Ports, name: str | None) -> Summaries:
    """The latest eras of a conversation, the stretches of an era that is not full, and those after all eras.

    Each is in order, oldest first. The stretches of an era say more than the era does: they are shown if they fit, unless the era
    has their whole text.
    """
    if name is None:
        return [], [], []
    found = [memory for memory in conversation_summaries(ports, name, NEWEST_SUMMARIES) if memory.span]
    eras = [memory for memory in found if memory.depth > 1]
    covered = max((_end(era) for era in eras), default=0)
    full = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    stretches = sorted((memory for memory in found if memory.depth == 1 and _end(memory) > full), key=_end)
    within = [memory for memory in stretches if _end(memory) <= covered and not _is_part(memory, eras)]
    return eras, within, [memory for memory in stretches if _end(memory) > covered]


def _is_part(memory: Memory, eras: Sequence[Memory]) -> bool:
    """Whether an era has the whole text of a summary."""
    return any(memory.text in era.text for era in eras)


def _end(memory: Memory) -> int:
    return (memory.span or (0, 0))[1]


def _experiences(ports: Ports, wanted: ContextRequest, summaries: Summaries) -> list[Hit]:
    """The summaries of stretches, of any conversation, that are nearest to the question and not shown anyway."""
    if not wanted.question.strip():
        return []
    eras, _, since = summaries
    shown = {memory.id for memory in since}
    found = [hit for hit in search(ports, _experiences_request(ports, wanted, summaries)) if hit.memory.is_cascade]
    return [hit for hit in found if hit.memory.id not in shown and not _is_part(hit.memory, eras)][:RELATED]


def _experiences_request(ports: Ports, wanted: ContextRequest, summaries: Summaries) -> Search:
    return Search(
        text=wanted.question,
        except_conversation=optional_conversation(wanted.except_conversation),
        kinds=(SUMMARY,),
        categories=("summary",),
        top_k=RELATED + len(summaries[0]) + len(summaries[2]),
        min_relevance=ports.config.relevance_floor,
    )


def _latest_messages(ports: Ports, where: Where | None) -> list[Memory]:
    return [] if where is None else ports.store.select((ports.scope,), where)


def _latest_where(ports: Ports, name: str | None) -> Where | None:
    """What the latest messages of a conversation are selected by; None if there are none."""
    conversation = ports.store.conversation(ports.scope, name) if name is not None else None
    if conversation is None:
        return None
    return Where(
        kinds=frozenset({MESSAGE}),
        phases=frozenset(HOT),
        conversation=name,
        after_seq=max(0, conversation.last_seq - ports.config.immediate_window),
        order="seq",
    )


def _in_one_moment(ports: Ports) -> Ports:
    """Ports whose clock stands still and that embed each text once: a context searches twice for the same question."""
    now = ports.now()
    cache: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> "NDArray[np.float32]":
        if (key := tuple(texts)) not in cache:
            cache[key] = ports.embed(texts)
        return cache[key]

    return replace(ports, embed=embed, clock=lambda: now)


def _message_lines(messages: Sequence[Memory], limit: float) -> list[Item]:
    """The latest messages, oldest first; the newest one is shortened if it alone costs more than the limit.

    It is left out if too few of its characters would remain.
    """
    items = [context_line(memory.visible_text, memory, origin(memory)) for memory in messages]
    if not items:
        return []
    newest = messages[-1]
    characters = len(newest.visible_text)
    while items[-1].tokens > limit > 0 and characters > 1:
        characters = min(characters - 1, int(characters * limit / items[-1].tokens))
        items[-1] = context_line(shortened(newest.visible_text, characters), newest, origin(newest))
    remaining = estimate(newest.visible_text[:characters])
    return items[:-1] if remaining < min(SAID_SHORTEST, estimate(newest.visible_text)) else items


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
    return context_line(f"{words} (memories {first}-{last})", memory, f"{origin(memory)}{score}")
