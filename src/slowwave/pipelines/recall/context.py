"""Builds contexts: standing orders, core facts, facts and messages for the question, summaries and the latest messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from slowwave.errors import InputError, shown
from slowwave.model.context import Scene
from slowwave.model.memory import HOT, MESSAGE, Memory
from slowwave.model.names import optional_conversation, optional_name
from slowwave.model.plain_text import clean
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.pipelines.conversations import (
    IDLE,
    NEWEST_MESSAGE,
    NEWEST_SUMMARIES,
    conversation_summaries,
    summaries_of,
)
from slowwave.pipelines.recall.asked import Search, Stage
from slowwave.pipelines.recall.chat import chat_messages, is_bare
from slowwave.pipelines.recall.core_memory import CORE, core_facts, core_line
from slowwave.pipelines.recall.instructions import INSTRUCTIONS, MOST, instruction_lines
from slowwave.pipelines.recall.lines import context_line, hit_line, origin
from slowwave.pipelines.recall.reading import asked
from slowwave.pipelines.recall.search import QUESTION_LONGEST, found
from slowwave.pipelines.recall.stages.related import related
from slowwave.pipelines.recall.stages.told import told
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.ranking.layout import CHAT, LAYOUTS, Layout
from slowwave.policy.ranking.packing import SHORTEST, Line, Room, estimate, weight
from slowwave.policy.ranking.relevance import FAIR
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.policy.text.tokens import STOP_WORDS, words
from slowwave.ports import Ports, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STAGES: Final[tuple[tuple[str, Stage], ...]] = (("related", related), ("told", told))
"""The stages of a context by name, in order, after those of a search."""
SMALLEST: Final = 64
"""The smallest budget in tokens: below it nothing useful fits beside the fence."""
LARGEST: Final = 10**9
"""The largest budget; a larger one counts as this one."""
HITS: Final = 200
"""The most hits that a context is filled with."""
HIT_TOKENS: Final = 8
"""Tokens that a hit costs at least."""
RELATED: Final = 2
"""How many summaries of other stretches of conversation are shown."""
SUMMARIES_FROM: Final = 1500
"""The budget from which on a context for a question has summaries."""
LONG: Final = 1 / 3
"""The share of the room above which a message is cut at a sentence."""
REPEATS: Final = 0.9
"""The share of the words of one text that another has if it says the whole of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. The layout "agent" puts the texts of `scene` before and after the memories.

    With `related_only` it contains hits for the question of fair or strong relevance that are not of `conversation`, and
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


class Talk(NamedTuple):
    """The conversation that a context continues.

    Attributes:
        name: its name; None if there is none.
        goes_on: whether its latest messages are shown.
        last: the number of its last message, if that was read already.
    """

    name: str | None
    goes_on: bool
    last: int | None = None


def context(ports: Ports, wanted: ContextRequest) -> Context:
    """The parts that fit into the budget, in the order of the profile; each item names its source.

    Raises:
        InputError: for a budget in which nothing fits, an unknown profile, or a question or conversation that is not
            text.
    """
    layout, wanted = _checked(wanted)
    now = ports.now()
    ports, question = replace(ports, clock=lambda: now), clean(wanted.question)[:QUESTION_LONGEST]
    name = None if wanted.conversation is None else str(wanted.conversation)
    with asked(ports, question, _selections(wanted), name) as (reading, vector):
        return _context(ports, wanted, layout, question, reading, vector)


def _checked(wanted: ContextRequest) -> tuple[Layout, ContextRequest]:
    """The layout of a valid request, and the request with its names as text."""
    if not isinstance(wanted.question, str):
        raise InputError(f"a question is text, not {type(wanted.question).__name__}: leave it out if there is none")
    if not isinstance(wanted.budget_tokens, int) or wanted.budget_tokens < SMALLEST:
        raise InputError(f"a context of {shown(wanted.budget_tokens)} tokens holds nothing: give at least {SMALLEST}")
    layout = LAYOUTS.get(wanted.profile) if isinstance(wanted.profile, str) else None
    if layout is None:
        raise InputError(f"profile={shown(wanted.profile)}: use one of {', '.join(LAYOUTS)}")
    conversation = optional_conversation(wanted.conversation)
    left_out = optional_name(wanted.except_conversation, "except_conversation", numbers=True)
    if left_out is not None and conversation is not None and (wanted.related_only or left_out == conversation):
        raise InputError(
            f"conversation={shown(conversation)} and except_conversation={shown(left_out)}: pass one of them, or two that differ"
            " without related_only"
        )
    return layout, replace(
        wanted,
        conversation=conversation,
        except_conversation=left_out,
        budget_tokens=min(wanted.budget_tokens, LARGEST),
    )


def _selections(wanted: ContextRequest) -> list[Where]:
    """What a context selects, as far as it is known before the ranking."""
    if wanted.related_only:
        return []
    chosen = [*CORE, INSTRUCTIONS]
    if wanted.conversation is not None:
        return [
            *chosen,
            *([summaries_of(str(wanted.conversation), NEWEST_SUMMARIES)] if _has_summaries(wanted) else []),
        ]
    return chosen if wanted.except_conversation is not None else [*chosen, NEWEST_MESSAGE]


def _has_summaries(wanted: ContextRequest) -> bool:
    """Whether there is room for summaries: in small contexts for a question they take that of what answers it."""
    return wanted.budget_tokens >= SUMMARIES_FROM or not wanted.question.strip() or wanted.profile != "plain"


def _context(
    ports: Ports,
    wanted: ContextRequest,
    layout: Layout,
    question: str,
    reading: Reading,
    vector: "NDArray[np.float32] | None",
) -> Context:
    talk = _talk(ports, wanted)
    summaries = (
        conversation_summaries(ports, talk.name, NEWEST_SUMMARIES)
        if talk.name is not None and _has_summaries(wanted) and not wanted.related_only
        else []
    )
    hits = _hits(ports, wanted, question, reading, vector)
    left_out = wanted.except_conversation
    mark = fence_tag(ports.store.secret, ports.scope, talk.name or (None if left_out is None else str(left_out)))
    headings = {part: ports.config.context_headings.get(part, heading) for part, heading in layout.headings.items()}
    opening, closing = (wanted.scene.opening, wanted.scene.closing) if layout.placed else ("", "")
    own = Section(name=headings["instructions"], items=(), instructions=True)
    orders = [] if wanted.related_only else ports.store.select(ports.scopes, INSTRUCTIONS)
    frame = weight(opening + render((own,) if orders else (), mark) + "\n" + closing)
    parts = Parts(
        ports=ports,
        wanted=wanted,
        shares={**layout.shares, **ports.config.context_shares},
        available=wanted.budget_tokens - frame,
        room=Room(
            left=wanted.budget_tokens - frame,
            headings={
                part: (name, 0.0 if part == "instructions" else weight(f"## {name}\n"))
                for part, name in headings.items()
            },
        ),
        question=frozenset(words(question)) - STOP_WORDS,
        mark=mark,
        heading=headings["latest"],
    )
    if not wanted.related_only:
        parts.fixed(orders, hits, core_facts(ports))
        if layout.shares["latest"] > LAYOUTS["plain"].shares["latest"]:
            parts.latest(talk)
        if summaries or _has_summaries(wanted):
            parts.summaries(summaries, hits)
    parts.answers(hits)
    if not wanted.related_only and "latest" not in parts.room.taken:
        parts.latest(talk)
    sections = _sections(parts.room.taken, headings)
    text = f"{opening}{render(sections, mark)}{closing}" if sections or layout.placed else ""
    messages: tuple[dict[str, str], ...] = ()
    if wanted.profile == CHAT:
        messages = chat_messages(sections, headings["latest"], mark, parts.room.taken.get("latest", ()))
    tokens = max(estimate(text), sum(estimate(message["content"]) for message in messages))
    return Context(sections=sections, text=text, tokens=tokens, left=parts.room.omitted, messages=messages)


def _talk(ports: Ports, wanted: ContextRequest) -> Talk:
    """The named conversation, else the one written to last; its latest messages are shown if it is named or goes on."""
    if wanted.conversation is not None:
        return Talk(str(wanted.conversation), goes_on=True)
    if wanted.except_conversation is not None or wanted.related_only:
        return Talk(None, goes_on=False)
    newest = ports.store.select((ports.scope,), NEWEST_MESSAGE)
    if not newest:
        return Talk(None, goes_on=False)
    is_open = wanted.profile != "plain" or not wanted.question.strip()
    goes_on = is_open or ports.now() - newest[0].at < IDLE
    return Talk(newest[0].conversation, goes_on=goes_on, last=newest[0].seq)


def _hits(
    ports: Ports, wanted: ContextRequest, question: str, reading: Reading, vector: "NDArray[np.float32] | None"
) -> list[Hit]:
    """The hits for the question after all stages, facts and messages as they rank."""
    if not question.strip():
        return []
    present = (
        wanted.except_conversation if not wanted.related_only else wanted.except_conversation or wanted.conversation
    )
    request = Search(
        text=question,
        top_k=min(HITS, RELATED + wanted.budget_tokens // HIT_TOKENS),
        except_conversation=None if present is None else str(present),
    )
    hits, one = found(ports, request, question, reading, vector)
    for _, stage in STAGES:
        hits = stage(one, hits)
    return [hit for hit in hits if hit.relevance >= FAIR] if wanted.related_only else hits


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Fills the parts of a context one after the other.

    Attributes:
        ports: the store.
        wanted: the request.
        shares: the most that each part may take.
        available: the tokens of all parts together.
        room: what is left, and what was taken.
        question: the words of the question.
        mark: the mark of the fence.
        heading: the heading of the latest messages.
    """

    ports: Ports
    wanted: ContextRequest
    shares: Mapping[str, float]
    available: float
    room: Room
    question: frozenset[str]
    mark: str
    heading: str

    def fixed(self, orders: Sequence[Memory], hits: Sequence[Hit], core: Sequence[Memory]) -> None:
        """The user's standing orders, then what is always known: what is pinned, and a tenth for the rest.

        A fact of a source below the user's trust is a fact among others, and comes first if it is pinned or core. In a talk between
        people a question about one of them wants no facts about another.
        """
        share = self.shares["instructions"]
        most = min(MOST, share * self.available)
        lines = instruction_lines(self.ports, [hit.memory.id for hit in hits], most, orders) if share else []
        self.room.fill("instructions", lines, self.available)
        told = {line.item.memory.id for line in lines if line.item.memory}
        about_one = any(hit.parts.get("asked") for hit in hits)
        core = [fact for fact in core if fact.id not in told]
        own = [fact for fact in core if fact.trust == "user"]
        pinned = [core_line(fact) for fact in own if fact.pinned]
        others = [fact for fact in own if not fact.pinned and (fact.phase == "core" or not about_one)]
        self.room.fill("core", pinned, self.available / 2)
        limit = self.ports.config.injection_top_k
        self.room.fill("core", [core_line(fact) for fact in others[:limit]], self.shares["core"] * self.available)
        less = [core_line(fact) for fact in core if fact.trust != "user" and (fact.pinned or fact.phase == "core")]
        self.room.fill("facts", less, self.shares["core"] * self.available)

    def answers(self, hits: Sequence[Hit]) -> None:
        """Facts for up to half of the room, messages for the rest, and then further facts."""
        known = self._known()
        others = [hit for hit in hits if hit.memory.id not in known and not hit.memory.is_cascade]
        messages = [hit for hit in others if hit.memory.kind == MESSAGE]
        facts = [hit for hit in others if hit.memory.kind != MESSAGE]
        if facts:
            shown = self._first(messages, self.room.left / 2)
            facts = [hit for hit in facts if not _is_said(hit, shown)]
        lines = [hit_line(hit) for hit in facts[: int(self.room.left / SHORTEST)]]
        self.room.fill("facts", lines, self.shares["facts"] * self.room.left)
        told = _words_by_source(item.memory for item in self.room.taken.get("facts", ()))
        self.room.fill("said", self._said([hit for hit in messages if not _tells(told, hit.memory)]), self.room.left)
        rest = self._known()
        self.room.fill(
            "facts", [line for line in lines if line.item.memory and line.item.memory.id not in rest], self.room.left
        )

    def summaries(self, found_summaries: Sequence[Memory], hits: Sequence[Hit]) -> None:
        """Summaries of the conversation, the newest first if not all fit, and of two related stretches."""
        eras, within, since = _by_age(found_summaries)
        known = {memory.id for memory in (*eras, *within, *since)}
        cascades = [hit.memory for hit in hits if hit.memory.is_cascade and hit.relevance >= FAIR]
        near = [memory for memory in cascades if memory.id not in known and not _is_part(memory, eras)][:RELATED]
        most = self.shares["summaries"] * self.available
        for part, memories in (("recent", since), ("older", eras), ("related", near), ("recent", within)):
            newest = sorted(memories, key=_end, reverse=True) if part != "related" else memories
            most -= self.room.fill(part, map(summary_line, newest), most)
        for part in ("recent", "older"):
            self.room.taken.get(part, []).sort(key=lambda item: _end(item.memory) if item.memory else 0)

    def latest(self, talk: Talk) -> None:
        """The latest messages of the conversation, whole, the newest last, as many as follow each other without a gap."""
        if not talk.goes_on or talk.name is None:
            return
        most = min(self.room.left, (self.shares["latest"] if self.question else 1.0) * self.available)
        last = talk.last
        if last is None and (conversation := self.ports.store.conversation(self.ports.scope, talk.name)) is not None:
            last = conversation.last_seq
        window = min(self.ports.config.immediate_window, int(most / SHORTEST))
        if last is None or window < 1:
            return
        where = Where(
            kinds=frozenset({MESSAGE}),
            phases=frozenset(HOT),
            conversation=talk.name,
            after_seq=max(0, last - window),
            order="seq",
        )
        known, taken = self._known(), []
        most -= self.room.headings["latest"][1]
        messages = [memory for memory in self.ports.store.select((self.ports.scope,), where) if memory.id not in known]
        users = _users(messages)
        block = (
            weight(render((Section(name=self.heading, items=()),), self.mark)) + 2 if self.wanted.profile == CHAT else 0
        )
        for memory in reversed(messages):
            line = context_line(memory.visible_text, memory, origin(memory), users=users)
            if block and not is_bare(memory):
                line = Line(line.item, line.cost + block)  # it may be in a fenced block of its own
            most -= line.cost
            if most < 0:
                break
            taken.append(line)
        self.room.omitted += len(messages) - len(taken)
        self.room.fill("latest", reversed(taken), self.room.left)

    def _known(self) -> set[str]:
        """The ids of the memories that are shown so far."""
        return {item.memory.id for items in self.room.taken.values() for item in items if item.memory}

    def _first(self, messages: Sequence[Hit], room: float) -> dict[str, frozenset[str]]:
        """The words of the messages that would be shown in so much room, by id."""
        shown: dict[str, frozenset[str]] = {}
        for hit in messages:
            room -= weight(hit.text) + SHORTEST
            if room < 0:
                break
            shown[hit.memory.id] = frozenset(words(hit.text))
        return shown

    def _said(self, hits: Sequence[Hit]) -> Iterator[Line]:
        """Messages as lines: whole, or cut at a sentence if they are long."""
        most, users = LONG * self.available, _users(hit.memory for hit in hits)
        for hit in hits:
            if self.room.left < SHORTEST:
                return
            yield hit_line(hit, None if weight(hit.text) <= most else self._cut(hit.text, most), users)

    def _cut(self, text: str, tokens: float) -> str:
        """The sentences from the first one with a word of the question on that fit into so many tokens."""
        from slowwave.policy.text.clauses import sentences  # noqa: PLC0415 - most messages are short

        every = sentences(text) or [text]
        start = next((place for place, each in enumerate(every) if not self.question.isdisjoint(words(each))), 0)
        kept: list[str] = []
        for each in every[start:]:
            if kept and weight(" ".join((*kept, each))) > tokens:
                break
            kept.append(each)
        cut = " ".join(kept)
        if weight(cut) > tokens:  # one sentence without an end
            cut = f"{cut[: int(len(cut) * tokens / weight(cut))].rstrip()}"
        return f"{'… ' if start else ''}{cut}{' …' if start + len(kept) < len(every) or cut != ' '.join(kept) else ''}"


def _users(messages: Iterable[Memory]) -> frozenset[str]:
    """The names of the users among the speakers of messages."""
    return frozenset(memory.speaker for memory in messages if memory.role == "user" and memory.speaker)


def _is_said(hit: Hit, shown_messages: Mapping[str, frozenset[str]]) -> bool:
    """Whether a message that is shown says all of a fact that rests on it: the fact has no word of its own but a name."""
    memory = hit.memory
    for source in memory.sources:
        if (said := shown_messages.get(source.memory)) is not None:
            own = set(words(memory.text)) - STOP_WORDS - set(words(memory.subject or ""))
            if len(own & said) >= REPEATS * len(own):
                return True
    return False


def _words_by_source(facts: Iterator[Memory | None] | Sequence[Memory | None]) -> dict[str, set[str]]:
    """The words of the facts that rest on a message, by id of the message."""
    found_words: dict[str, set[str]] = {}
    for fact in facts:
        for source in fact.sources if fact is not None else ():
            found_words.setdefault(source.memory, set()).update(words(fact.text if fact else ""))
    return found_words


def _tells(told_words: Mapping[str, set[str]], message: Memory) -> bool:
    """Whether the facts that are shown of a message say the whole of it."""
    if (of_facts := told_words.get(message.id)) is None:
        return False
    own = set(words(message.visible_text)) - STOP_WORDS
    return len(own & of_facts) >= REPEATS * len(own)


def _sections(taken: Mapping[str, Sequence[Item]], headings: Mapping[str, str]) -> tuple[Section, ...]:
    """The parts under their headings; those that have the same heading are one section."""
    merged: dict[str, Section] = {}
    for part, name in headings.items():
        if not (items := tuple(taken.get(part, ()))):
            continue
        # a section with other lines may not tell a model to follow them
        instructs = part == "instructions" and list(headings.values()).count(name) == 1
        before = merged[name].items if name in merged else ()
        merged[name] = Section(name=name, items=(*before, *items), instructions=instructs)
    return tuple(merged.values())


def _by_age(found_summaries: Sequence[Memory]) -> tuple[list[Memory], list[Memory], list[Memory]]:
    """The latest eras of a conversation, the stretches of an era that is not full, and those after all eras.

    The stretches of an era say more than the era does, unless the era has their whole text.
    """
    spanned = [memory for memory in found_summaries if memory.span]
    eras = [memory for memory in spanned if memory.depth > 1]
    covered = max((_end(era) for era in eras), default=0)
    full = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    stretches = [memory for memory in spanned if memory.depth == 1 and _end(memory) > full]
    within = [memory for memory in stretches if _end(memory) <= covered and not _is_part(memory, eras)]
    return eras, within, [memory for memory in stretches if _end(memory) > covered]


def _is_part(memory: Memory, eras: Sequence[Memory]) -> bool:
    """Whether an era has the whole text of a summary."""
    return any(memory.text in era.text for era in eras)


def _end(memory: Memory) -> int:
    return (memory.span or (0, 0))[1]


def summary_line(memory: Memory) -> Line:
    """A summary as a line: its text, and the numbers of the messages that it summarises."""
    first, last = memory.span or (0, 0)
    return context_line(f"{' '.join(memory.text.split())} (memories {first}-{last})", memory, origin(memory))
