"""Context: what was found, plus core and summaries, packed into a token budget and fenced as data."""

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave.errors import InputError
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.pipelines.recall import Search, search
from slowwave.policy.categories import REGISTRY
from slowwave.policy.core import rank
from slowwave.policy.fence import escape, marker, render
from slowwave.policy.packing import Offer, estimate, pack
from slowwave.ports import Ports

SMALLEST = 64
"""Tokens below which nothing useful fits beside the fence."""

_HEADINGS = {
    "core": "Always true",
    "older": "Older memories (summary)",
    "recent": "Recent past (summary)",
    "relevant": "Relevant memories",
    "related": "Related past experiences",
    "immediate": "Most recent messages",
}
_SHARES = {"core": 0.15, "older": 0.1, "recent": 0.1, "relevant": 0.4, "related": 0.1, "immediate": 0.15}
PROTECTED = frozenset(name for name, category in REGISTRY.items() if category.protected)
RELATED = 2
"""How many past experiences, summaries of stretches of conversation, are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a context is for."""

    question: str
    conversation: str | None
    budget_tokens: int


def context(ports: Ports, wanted: Wanted) -> Context:
    """The sections that fit, in an order that caches well: what changes with every turn comes last.

    Raises:
        InputError: for a budget in which nothing fits.
    """
    if not isinstance(wanted.budget_tokens, int) or wanted.budget_tokens < SMALLEST:
        raise InputError(f"a context of {wanted.budget_tokens!r} tokens holds nothing: give at least {SMALLEST}")
    name = wanted.conversation or _last(ports)
    core = always(ports)[: ports.config.injection_top_k]
    hits = _relevant(ports, wanted.question, taken={memory.id for memory in core})
    hits = hits[: max(0, ports.config.injection_top_k - len(core))]
    shown = {hit.memory.id for hit in hits}
    summaries = _summaries(ports, name)
    sections = {
        "core": [_item(memory.text, memory, "always in view") for memory in core],
        "older": [_spanned(memory) for memory in summaries if memory.depth == 2],  # noqa: PLR2004 - eras
        "recent": [_spanned(memory) for memory in summaries if memory.depth == 1],
        "relevant": [_found(hit) for hit in hits],
        "related": [_spanned(hit.memory) for hit in _experiences(ports, wanted.question, summaries)],
        "immediate": [_said(memory) for memory in _immediate(ports, name) if memory.id not in shown],
    }
    mark = marker(ports.store.secret, ports.scope, name)
    offers = [
        Offer(
            section=Section(name=_HEADINGS[part], items=tuple(items)),
            share=_SHARES[part],
            heading=estimate(f"## {_HEADINGS[part]}\n"),
            ending=part in {"immediate", "older", "recent"},
        )
        for part, items in sections.items()
    ]
    packed = pack(offers, wanted.budget_tokens, overhead=estimate(render((), mark)) + 1)
    text = render(packed.sections, mark) if packed.sections else ""
    return Context(sections=packed.sections, text=text, tokens=packed.tokens, left=packed.left)


def _last(ports: Ports) -> str | None:
    return next((found.name for found in ports.store.conversations(ports.scope) if found.name), None)


def always(ports: Ports) -> list[Memory]:
    """What use has promoted, what a person pinned, and what is protected, in the ranking of core memory."""
    facts, hot = frozenset(FACT_KINDS), frozenset(HOT)
    found = {
        memory.id: memory
        for where in (
            Where(kinds=facts, phases=frozenset({"core"})),
            Where(kinds=facts, phases=hot, pinned=True),
            Where(kinds=facts, phases=hot, categories=PROTECTED),
        )
        for memory in ports.store.select(ports.scopes, where)
    }
    return rank(found.values(), ports.config, ports.now(), top_k=len(found))


def _relevant(ports: Ports, question: str, taken: set[str]) -> list[Hit]:
    if not question.strip():
        return []
    wanted = Search(text=question, top_k=ports.config.injection_top_k + len(taken))
    hits = search(ports, wanted)
    return [hit for hit in hits if hit.memory.id not in taken and not hit.memory.is_cascade and not hit.deep]


def _summaries(ports: Ports, name: str | None) -> list[Memory]:
    """The eras of a conversation, and the summaries since the last era, oldest first."""
    if name is None:
        return []
    where = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), conversation=name, cascade=True, order="seq")
    found = ports.store.select((ports.scope,), where)
    covered = max((m.span[1] for m in found if m.span and m.depth > 1), default=0)
    return [m for m in found if m.span and (m.depth > 1 or m.span[0] > covered)]


def _experiences(ports: Ports, question: str, shown: Sequence[Memory]) -> list[Hit]:
    if not question.strip():
        return []
    known = {memory.id for memory in shown}
    found = search(ports, Search(text=question, kinds=(SUMMARY,), top_k=RELATED + len(known)))
    return [hit for hit in found if hit.memory.is_cascade and hit.memory.id not in known][:RELATED]


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


def _found(hit: Hit) -> Item:
    """A hit as a line: the facts it is shown with say it shortest; what is outdated says so."""
    memory = hit.memory
    day = f"{memory.at:%Y-%m-%d}"
    words = "; ".join(fact.text for fact in hit.facts) or memory.wording
    who = "" if hit.facts or memory.kind != MESSAGE else f"{memory.speaker or memory.role}: "
    stale = " (outdated)" if hit.stale else ""
    return _item(f"[{day}] {who}{words}{stale}", memory, hit.because or f"score {hit.score:.2f}")


def _said(memory: Memory) -> Item:
    return _item(f"{memory.speaker or memory.role}: {memory.wording}", memory, f"message {memory.seq}")


def _spanned(memory: Memory) -> Item:
    first, last = memory.span or (0, 0)
    return _item(f"{memory.text} (messages {first}-{last})", memory, f"summary of depth {memory.depth}")


def _item(text: str, memory: Memory, because: str) -> Item:
    return Item(text=text, tokens=estimate(f"- {escape(text)}\n"), memory=memory, because=because)
