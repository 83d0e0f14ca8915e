"""Commands that ask: recall, context, facts, core."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import CommonOptions
from slowwave.cli.output import Output, day, one_line
from slowwave.errors import InputError
from slowwave.model.context import Scene
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import RejectFact
from slowwave.model.query import Hit
from slowwave.pipelines.conversations import unknown_conversation
from slowwave.policy.guard.labels import short_name
from slowwave.policy.ranking.layout import CHAT

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

room = Room()

PANEL: Final = "Ask"
SCENE: Final = "Where the agent stands (--profile s4)"
SHOWN: Final = 320
"""Characters of a long text that are shown around what matches; `--verbose` shows all."""

MANY: Final = 1000
"""Memories without a vector up to which they are counted on every recall; `status` counts them all."""
TOLD: Final = 0.005
"""A smaller share of a score would read as nothing; `--json` has them all."""

MEANS: Final = {
    "words": "words in common, the rarer the better",
    "meaning": "near in meaning",
    "estimated": "it has no vector: guessed from its words",
    "asked": "said by the one you ask about",
    "user": "said by the user, not the assistant",
    "question": "it asks rather than tells",
    "dated": "it says when",
    "cue": "it holds the kind of thing you ask for",
    "recent": "you asked for what is current",
    "lent": "a fact that rests on it matches better",
    "outdated": "something newer took its place",
    "importance": "important",
    "recency": "used lately",
    "strength": "how well it is retained",
}


def instant(text: str | None, name: str) -> datetime | None:
    """A time as a person writes it, UTC unless it says otherwise."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{name} {text!r} is no time: write 2026-03-14, or 2026-03-14T09:30+01:00") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


@command(room, "recall", PANEL)
def recall(
    given: CommonOptions,
    query: Annotated[str, Argument(help="A question, in words.")],
    why: Annotated[bool, Option("--why", help="Show each term of every score.")] = False,
    deep: Annotated[bool, Option("--deep", help="Also what is cold, superseded or taken back.")] = False,
    top_k: Annotated[int, Option("--top-k", "-k", help="How many.")] = 5,
    kinds: Annotated[list[str] | None, Option(help="Only message, semantic, summary …; may be repeated.")] = None,
    category: Annotated[list[str] | None, Option(help="Only facts of this category; may be repeated.")] = None,
    conversation: Annotated[str | None, Option(help="Only this conversation.")] = None,
    since: Annotated[str | None, Option(help="Said or true from then on.")] = None,
    until: Annotated[str | None, Option(help="Said or true until then.")] = None,
    as_of: Annotated[str | None, Option("--as-of", help="What was true then.")] = None,
    known_at: Annotated[str | None, Option("--known-at", help="What this memory knew then.")] = None,
) -> None:
    """Find what was said and what is known; changes nothing."""
    with given.memory() as memory:
        hits = memory.search(
            query,
            top_k=top_k,
            deep=deep,
            kinds=kinds or None,
            categories=category or None,
            conversation=conversation,
            since=instant(since, "--since"),
            until=instant(until, "--until"),
            as_of=instant(as_of, "--as-of"),
            known_at=instant(known_at, "--known-at"),
        )
        if told := _without_vector(memory):
            sys.stderr.write(f"{told}\n")
    if given.json:
        given.paper.value(hits)
    elif not hits:
        given.paper.say("nothing found; slowwave status shows what there is")
    else:
        paper = given.paper
        if not any("words" in hit.parts for hit in hits):
            paper.say("nothing says it in these words; the nearest in meaning:", style="dim")
        for place, hit in enumerate(hits, 1):
            show_hit(paper, hit, place, query, why=why, whole=given.verbose)


def _without_vector(memory: "AgentMemory") -> str:
    """What to do if some memories are found by their words alone, else nothing."""
    embedder, store = memory.ports.embedder, memory.ports.store
    number = len(store.unembedded(memory.ports.scope, embedder.name, MANY)) if embedder else 0
    least = "at least " if number == MANY else ""
    return f"{least}{number:,} memories have no vector: run slowwave reembed" if number else ""


def _mark(hit: Hit) -> str:
    """Why a hit is marked: it is outdated, or perhaps so, or cold, or stands against another."""
    if hit.stale:
        return hit.because if hit.perhaps else f"outdated: {hit.because}"
    return f"cold: {hit.because}" if hit.deep else hit.because


def show_hit(paper: Output, hit: Hit, place: int, query: str, *, why: bool, whole: bool = False) -> None:
    """One place of a ranking: the fact says it shortest, the words it rests on stand below."""
    memory = hit.memory
    mark = f"  {_mark(hit)}" if hit.because else ""
    style = "bold" if place == 1 else ""
    paper.row((f"{place:>2}  ", style), (headline(hit, query, whole=whole), style))
    if hit.facts:
        paper.say(f"from: {quoted(hit, query, whole=whole)}", style="dim", indent=4)
    paper.say(f"{day(memory.at)} · score {hit.score:.2f} · {_sort(memory)} · {memory.id}{mark}", style="dim", indent=4)
    if why:
        for name, value in sorted(hit.parts.items(), key=lambda part: -abs(part[1])):
            if abs(value) >= TOLD:
                paper.say(f"{value:+.2f}  {name:<9} {MEANS.get(name, '')}", style="cyan", indent=6)
    for fact in hit.facts if why else ():
        paper.say(f"fact {fact.id} [{fact.category}] rests on this message", style="dim", indent=6)


def headline(hit: Hit, query: str, *, whole: bool) -> str:
    """What is read first of a hit."""
    if hit.facts:
        return "; ".join(fact.text for fact in hit.facts)
    who = f"{short_name(hit.memory.role, hit.memory.speaker)}: " if hit.memory.kind == MESSAGE else ""
    return who + (hit.text if whole else excerpt(hit.text, query))


def quoted(hit: Hit, query: str, *, whole: bool) -> str:
    """The message a fact rests on."""
    words = hit.text if whole else excerpt(hit.text, query, SHOWN // 2)
    return f"{short_name(hit.memory.role, hit.memory.speaker)}: {words}"


def excerpt(text: str, query: str, most: int = SHOWN) -> str:
    """The stretch of a long text that has most of the question's words in it."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    asked = {word for word in query.casefold().split() if len(word) > 3}  # noqa: PLR2004 - short words are everywhere
    starts = range(0, len(line) - most // 2, most // 2)
    found = Counter({start: sum(word in line[start : start + most].casefold() for word in asked) for start in starts})
    best = max(found, key=lambda start: (found[start], -start))
    start = line.rfind(" ", 0, best + 1) + 1 if best else 0
    cut = one_line(line[start:], most)
    return f"…{cut}" if start else cut


def _sort(memory: Memory) -> str:
    if memory.kind == MESSAGE:
        return f"{memory.conversation} #{memory.seq}"
    return f"{memory.kind} · {memory.category}"


@command(room, "context", PANEL)
def context(
    given: CommonOptions,
    query: Annotated[str, Argument(help="What the model is about to be asked.")] = "",
    budget: Annotated[int, Option(help="Tokens it may cost.")] = 1500,
    conversation: Annotated[str | None, Option(help="Whose latest messages; else the one written to last.")] = None,
    profile: Annotated[str, Option(help="plain; chat: messages, each a line of JSON; or s4.")] = "plain",
    explain: Annotated[bool, Option("--explain", help="Say where each line came from.")] = False,
    agent: Annotated[str, Option(help="Its name.", panel=SCENE)] = "Agent",
    about: Annotated[str, Option(help="Who it is.", panel=SCENE)] = "",
    may: Annotated[list[str] | None, Option(help="What it may do; may be repeated.", panel=SCENE)] = None,
    location: Annotated[str, Option(help="Where it is.", panel=SCENE)] = "",
    way_out: Annotated[list[str] | None, Option("--exit", help="A way out; may be repeated.", panel=SCENE)] = None,
    also_here: Annotated[list[str] | None, Option(help="Who else is there; may be repeated.", panel=SCENE)] = None,
) -> None:
    """Print what to put before a model for this question, within a budget."""
    scene = Scene(
        agent=agent,
        profile=about,
        commands=tuple(may or ()),
        location=location,
        exits=tuple(way_out or ()),
        also_here=tuple(also_here or ()),
    )
    with given.memory() as memory:
        found = memory.context(query, conversation=conversation, budget_tokens=budget, profile=profile, scene=scene)
        if conversation is not None and memory.ports.store.conversation(memory.ports.scope, conversation) is None:
            sys.stderr.write(f"{unknown_conversation(memory.ports, conversation)}\n")
    if given.json:
        given.paper.value(found)
    elif explain:
        for section in found.sections:
            given.paper.say(section.name, style="bold")
            for item in section.items:
                given.paper.say(item.text, indent=2)
                given.paper.say(f"{item.because} · {item.tokens} tokens", style="dim", indent=4)
    else:
        lines = [json.dumps(one, ensure_ascii=False) for one in found.messages] if profile == CHAT else [str(found)]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        if given.verbose:
            sys.stderr.write(f"{found.tokens} of {budget} tokens; {found.left} more would have fitted the question\n")


@command(room, "facts", PANEL)
def facts(
    given: CommonOptions,
    category: Annotated[list[str] | None, Option(help="Only this category; may be repeated.")] = None,
    phase: Annotated[list[str] | None, Option(help="active, core, cold, superseded, retracted …")] = None,
    rejected: Annotated[bool, Option("--rejected", help="Those that were refused, and why.")] = False,
    limit: Annotated[int, Option(min=1, help="At most so many, the newest.")] = 50,
) -> None:
    """List what is known, or what was refused."""
    with given.memory() as memory:
        if rejected:
            _show_rejected(given, memory.refused(limit))
            return
        found = memory.get_all(categories=category or None, phases=phase or None)
        left = max(0, len(found) - limit)
        found = found[-limit:]
        strengths = _strengths(memory, found)
    if given.json:
        given.paper.value(
            [{**to_json_value(one), "strength": round(strong, 4)} for one, strong in zip(found, strengths, strict=True)]
        )
        return
    paper = given.paper
    for one, strong in zip(found, strengths, strict=True):
        show_fact(paper, one, strong)
    if left:
        paper.say(f"{left:,} older ones: --limit {left + limit}", style="dim")
    if not found and (category or phase):
        asked = " and ".join(filter(None, (" or ".join(category or ()), " or ".join(phase or ()))))
        paper.say(f"no facts are {asked}: slowwave facts lists what there is")
    elif not found:
        paper.say("no facts yet: slowwave consolidate --all reads what was said, slowwave add states one")


def _strengths(memory: "AgentMemory", found: Sequence[Memory]) -> list[float]:
    from slowwave.policy.retention.policies import strength  # noqa: PLC0415 - most questions do without

    now = memory.ports.now()
    return [strength(one, memory.ports.config, now) for one in found]


def show_fact(paper: Output, fact: Memory, strong: float) -> None:
    """A fact and how it stands, in two lines."""
    phase = "" if fact.phase == "active" else f" · {fact.phase}{f' ({fact.reason})' if fact.reason else ''}"
    pinned = " · pinned" if fact.pinned else ""
    paper.say(fact.text)
    paper.say(
        f"{fact.category} · since {day(fact.valid_from)} · strength {strong:.2f}{phase}{pinned} · {fact.id}",
        style="dim",
        indent=2,
    )


def _show_rejected(given: CommonOptions, refused: list[RejectFact]) -> None:
    if given.json:
        given.paper.value([{"text": one.text, "quote": one.quote, "reason": one.reason} for one in refused])
        return
    paper = given.paper
    for one in refused:
        paper.say(one.text)
        paper.say(f"refused: {one.reason}", style="dim", indent=2)
    if not refused:
        paper.say("nothing was refused")


@command(room, "core", PANEL)
def core(
    given: CommonOptions,
    top_k: Annotated[int, Option("--top-k", "-k", min=1, help="How many.")] = 5,
    min_retrievals: Annotated[int, Option("--min-retrievals", min=0, help="Only facts used as often.")] = 0,
) -> None:
    """The facts that matter most now, of all: strong ones and often used ones.

    Every context begins with less: what was promoted by use, pinned, or is protected (see `context --explain`).
    """
    with given.memory() as memory:
        found = memory.core(top_k, min_retrievals)
        strengths = _strengths(memory, found)
    if given.json:
        given.paper.value(found)
        return
    for one, strong in zip(found, strengths, strict=True):
        show_fact(given.paper, one, strong)
    if not found:
        given.paper.say("no facts yet")
