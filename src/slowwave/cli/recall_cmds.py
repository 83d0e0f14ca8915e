"""Commands that answer questions: search, context, list, core."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import (
    POSITIVE,
    READING,
    STORED,
    Command,
    CommonOptions,
    WholeNumber,
    common_options,
    conversation_named,
    conversation_names,
    conversation_option,
    joined,
    parse_time,
    parse_values,
    where_option,
)
from slowwave.cli.output import Output, day, one_line
from slowwave.model.context import Scene
from slowwave.model.counted import counted
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import RejectFact
from slowwave.model.query import Hit
from slowwave.policy.guard.labels import short_name
from slowwave.policy.ranking.layout import CHAT

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

EXCERPT_LENGTH: Final = 320
"""Characters of a long text that are shown around the match; `--full` shows all."""

UNEMBEDDED_MAX: Final = 1000
"""Memories without a vector that every search counts at most; `status` counts them all."""
PART_MIN: Final = 0.005
"""A smaller part of a score would print as 0.00; `--json` has them all."""
ORDERS: Final = ("recorded", "-recorded", "at", "-at", "strength", "-strength")
QUERY_WORD_MIN: Final = 4
"""Characters: shorter words of a question are too common to choose an excerpt by."""

PART_MEANINGS: Final = {
    "words": "words in common, the rarer the better",
    "meaning": "near in meaning",
    "estimated": "it has no vector: guessed from its words",
    "asked": "said by the one you ask about",
    "user": "said by the user, not the assistant",
    "question": "it asks rather than tells",
    "dated": "it says when",
    "placed": "it names a place",
    "opening": "it opens the talk",
    "cue": "it holds the kind of thing you ask for",
    "recent": "you asked for what is current",
    "lent": "a fact that rests on it matches better",
    "outdated": "something newer took its place",
    "importance": "important",
    "recency": "used lately",
    "strength": "how well it is retained",
}


@click.command(
    "search",
    cls=Command,
    examples=("slowwave search who owns the ferry --why", "slowwave search ferry --since 2026-03-01 --kinds message"),
)
@click.argument("query", nargs=-1, required=True)
@click.option("--full", is_flag=True, help="Show long texts whole, not the part around the match.")
@click.option("--why", is_flag=True, help="Show each part of every score.")
@click.option("--deep", is_flag=True, help="Also what is cold, superseded or retracted.")
@click.option("--top-k", "--limit", "-k", "top_k", type=POSITIVE, default=5, show_default=True, help="How many hits.")
@click.option("--kinds", multiple=True, help="Only message, semantic, summary …; may be repeated.")
@click.option("--category", multiple=True, help="Only facts of this category; may be repeated.")
@conversation_option("Only this conversation.")
@click.option(
    "--except-conversation",
    metavar="NAME",
    shell_complete=conversation_names,
    help="Without the messages of this conversation.",
)
@where_option
@click.option(
    "--min-relevance", type=click.FloatRange(0, 1), help="Only hits of at least this relevance, which --why shows."
)
@click.option("--since", metavar="TIME", help="Only what was said or true from this time on.")
@click.option("--until", metavar="TIME", help="Only what was said or true until this time.")
@click.option("--as-of", metavar="TIME", help="What was true at this time.")
@click.option("--known-at", metavar="TIME", help="What this memory knew at this time.")
@common_options(uses=READING)
def search(
    options: CommonOptions,
    query: tuple[str, ...],
    full: bool,
    why: bool,
    deep: bool,
    top_k: int,
    kinds: tuple[str, ...],
    category: tuple[str, ...],
    conversation: str | None,
    except_conversation: str | None,
    where: tuple[str, ...],
    min_relevance: float | None,
    since: str | None,
    until: str | None,
    as_of: str | None,
    known_at: str | None,
) -> None:
    """Find messages and facts. Changes nothing.

    QUERY is a question in plain words, with or without quotation marks. TIME is a date such as 2026-03-14, or
    2026-03-14T09:30+01:00; without an offset it is in `zone`, else UTC. KEY=VALUE is a field of the metadata, such as project=harbour
    or score={"$gte": 2}.
    """
    question = joined(query, "QUERY")
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        except_conversation = conversation_named(memory, except_conversation)
        hits = memory.search(
            question,
            top_k=top_k,
            deep=deep,
            kinds=kinds or None,
            categories=category or None,
            conversation=conversation,
            except_conversation=except_conversation,
            where=parse_values(where, "--where") or None,
            min_relevance=min_relevance,
            since=parse_time(since, "--since"),
            until=parse_time(until, "--until"),
            as_of=parse_time(as_of, "--as-of"),
            known_at=parse_time(known_at, "--known-at"),
        )
        if warning := _warn_unembedded(memory):
            options.warn(warning)
        if conversation is not None or not hits:
            options.warn(*memory.unknown_names(conversation=conversation, categories=category))
        titles = {} if options.json else _titles(memory, hits)
    output = options.output
    if options.json:
        output.write_json(hits)
    elif not hits:
        output.write("nothing found: `slowwave status` shows what is stored")
    else:
        if not any("words" in hit.parts for hit in hits):
            output.write("nothing says it in these words; the nearest in meaning:", style="dim")
        for place, hit in enumerate(hits, 1):
            write_hit(output, hit, place, question, titles, why=why, whole=full or options.verbose)


def _titles(memory: "AgentMemory", hits: Sequence[Hit]) -> dict[str, str]:
    """The titles of the conversations whose messages are among the hits, by name."""
    messages = {hit.memory.conversation: hit.id for hit in hits if hit.memory.kind == MESSAGE}
    return {name: title for found in messages.values() for name, title in memory.explain(found).titles.items()}


def _warn_unembedded(memory: "AgentMemory") -> str:
    """What to do if vector search misses some memories; empty if it misses none."""
    count = memory.unembedded(UNEMBEDDED_MAX)
    least = "at least " if count == UNEMBEDDED_MAX else ""
    return f"{least}{counted(count, 'memory has', 'memories have')} no vector: run slowwave reembed" if count else ""


def _mark(hit: Hit) -> str:
    """Why a hit is marked: it is outdated or perhaps so, it is cold, or it contradicts another."""
    if hit.stale:
        return hit.because if hit.perhaps else f"outdated: {hit.because}"
    return f"cold: {hit.because}" if hit.deep else hit.because


def write_hit(
    output: Output, hit: Hit, place: int, query: str, titles: Mapping[str, str], *, why: bool, whole: bool = False
) -> None:
    """Print one hit, and with `why` its score, the parts of it, and the messages on which a fact rests."""
    memory = hit.memory
    mark = f"  {_mark(hit)}" if hit.because else ""
    style = "bold" if place == 1 else ""
    output.write_row((f"{place:>2}  ", style), (headline(hit, query, whole=whole), style))
    if memory.kind == MESSAGE:
        origin = f"{titles.get(str(memory.conversation), memory.conversation)} #{memory.seq}"
    else:
        origin = f"{memory.kind} · {memory.category}"
    shown = f"relevance {hit.relevance:.2f} · {origin} · {memory.id}"
    output.write(f"{day(memory.at)} · {shown}{mark}", style="dim", indent=4)
    if why:
        meaning = "which orders the hits of one search, and is the sum of"
        output.write(f"{hit.score:5.2f}  {'score':<9} {meaning}", style="cyan", indent=6)
        for name, value in sorted(hit.parts.items(), key=lambda part: -abs(part[1])):
            if abs(value) >= PART_MIN:
                output.write(f"{value:+.2f}  {name:<9} {PART_MEANINGS.get(name, '')}", style="cyan", indent=6)
        for source in hit.sources if memory.kind != MESSAGE else ():
            output.write(f"rests on message {source.memory}", style="dim", indent=6)


def headline(hit: Hit, query: str, *, whole: bool) -> str:
    """The first line of a hit: its text, with the speaker of a message."""
    speaker = f"{short_name(hit.memory.role, hit.memory.speaker)}: " if hit.memory.kind == MESSAGE else ""
    return speaker + (hit.text if whole else excerpt(hit.text, query))


def excerpt(text: str, query: str, length: int = EXCERPT_LENGTH) -> str:
    """The part of a long text that holds most words of the question."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    words = {word for word in query.casefold().split() if len(word) >= QUERY_WORD_MIN}
    starts = range(0, len(line) - length // 2, length // 2)
    matches = Counter(
        {start: sum(word in line[start : start + length].casefold() for word in words) for start in starts}
    )
    best = max(matches, key=lambda start: (matches[start], -start))
    start = line.rfind(" ", 0, best + 1) + 1 if best else 0
    cut = one_line(line[start:], length)
    return f"…{cut}" if start else cut


@click.command(
    "context",
    cls=Command,
    examples=("slowwave context what may I cook --budget 800", "slowwave context --conversation kitchen --explain"),
)
@click.argument("query", nargs=-1)
@click.option("--budget", type=WholeNumber(min=64), default=1500, show_default=True, help="Its size in tokens at most.")
@conversation_option("Whose latest messages to add; by default the conversation written to last.")
@click.option(
    "--profile",
    default="plain",
    show_default=True,
    help="plain; chat: messages, each a line of JSON; or agent: a scene.",
)
@click.option("--explain", is_flag=True, help="Show where each line comes from.")
@click.option("--agent", default="Agent", show_default=True, help="With --profile agent: the name of the agent.")
@click.option("--about", default="", help="With --profile agent: a description of the agent.")
@click.option("--may", multiple=True, help="With --profile agent: a command the agent may use; may be repeated.")
@click.option("--location", default="", help="With --profile agent: where the agent is.")
@click.option("--exit", "exits", multiple=True, help="With --profile agent: an exit of the location; may be repeated.")
@click.option("--also-here", multiple=True, help="With --profile agent: another person there; may be repeated.")
@common_options(uses=READING)
def context(
    options: CommonOptions,
    query: tuple[str, ...],
    budget: int,
    conversation: str | None,
    profile: str,
    explain: bool,
    agent: str,
    about: str,
    may: tuple[str, ...],
    location: str,
    exits: tuple[str, ...],
    also_here: tuple[str, ...],
) -> None:
    """Print the memories that a model needs for a question, within a budget of tokens.

    QUERY is what the model is about to be asked, with or without quotation marks.
    """
    scene = Scene(agent=agent, profile=about, commands=may, location=location, exits=exits, also_here=also_here)
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        result = memory.context(
            " ".join(query), conversation=conversation, budget_tokens=budget, profile=profile, scene=scene
        )
        if conversation is not None:
            options.warn(*memory.unknown_names(conversation=conversation))
    output = options.output
    if options.json:
        output.write_json(result)
    elif explain:
        for section in result.sections:
            output.write(section.name, style="bold")
            for item in section.items:
                output.write(item.text, indent=2)
                output.write(f"{item.because} · {item.tokens} tokens", style="dim", indent=4)
    else:
        if profile == CHAT:
            for message in result.messages:
                output.write_json(message)
        else:
            sys.stdout.write(f"{result}\n")
        if options.verbose:
            sys.stderr.write(f"{result.tokens} of {budget} tokens; {result.left} more memories match the question\n")


@click.command(
    "list",
    cls=Command,
    examples=("slowwave list --category person --category project", "slowwave list --order strength --limit 10"),
)
@click.option("--category", multiple=True, help="Only this category; may be repeated.")
@click.option("--phase", multiple=True, help="Only active, core, cold, superseded, retracted …; may be repeated.")
@click.option("--rejected", is_flag=True, help="Facts that were refused, and why.")
@conversation_option("Only facts from messages of this conversation.")
@where_option
@click.option("--order", type=click.Choice(ORDERS), help="The first ones in this order; by default the newest.")
@click.option("--limit", type=POSITIVE, default=50, show_default=True, help="How many at most.")
@common_options(uses=STORED)
def list_(
    options: CommonOptions,
    category: tuple[str, ...],
    phase: tuple[str, ...],
    rejected: bool,
    conversation: str | None,
    where: tuple[str, ...],
    order: str | None,
    limit: int,
) -> None:
    """List the facts that are known, or those that were refused.

    The orders are: recorded (as they were stored), at (since when they are true) and strength (the weakest first); a
    minus, as in --order=-at, reverses one. KEY=VALUE is a field of the metadata, such as project=harbour.
    """
    with options.memory() as memory:
        if rejected:
            _write_rejected(options, memory.refused(limit))
            return
        conversation = conversation_named(memory, conversation)
        found = memory.get_all(
            categories=category or None,
            phases=phase or None,
            conversation=conversation,
            where=parse_values(where, "--where") or None,
            order=order or "-recorded",
            limit=limit + 1,
        )
        more, found = len(found) > limit, found[:limit]
        if order is None:
            found.reverse()  # the newest facts are nearest to the prompt
        strengths = memory.strengths(found)
        if conversation is not None or not found:
            options.warn(*memory.unknown_names(conversation=conversation, categories=category))
    output = options.output
    if options.json:
        output.write_json(
            [
                {**to_json_value(fact), "strength": round(strength, 4)}
                for fact, strength in zip(found, strengths, strict=True)
            ]
        )
        return
    for fact, strength in zip(found, strengths, strict=True):
        write_fact(output, fact, strength)
    if more:
        output.write(f"{'older' if order is None else 'more'} facts not shown: --limit {2 * limit}", style="dim")
    if not found and (category or phase or conversation or where):
        output.write("no facts match these options: `slowwave list` lists all")
    elif not found:
        output.write("no facts yet: `slowwave consolidate --all` reads the messages, `slowwave add` states a fact")


def write_fact(output: Output, fact: Memory, strength: float) -> None:
    """Print a fact and its state, in two lines."""
    phase = "" if fact.phase == "active" else f" · {fact.phase}{f' ({fact.reason})' if fact.reason else ''}"
    pinned = " · pinned" if fact.pinned else ""
    output.write(fact.text)
    output.write(
        f"{fact.category} · since {day(fact.valid_from)} · strength {strength:.2f}{phase}{pinned} · {fact.id}",
        style="dim",
        indent=2,
    )


def _write_rejected(options: CommonOptions, rejected: Sequence[RejectFact]) -> None:
    output = options.output
    if options.json:
        output.write_json([{"text": fact.text, "quote": fact.quote, "reason": fact.reason} for fact in rejected])
        return
    for fact in rejected:
        output.write(fact.text)
        output.write(f"refused: {fact.reason}", style="dim", indent=2)
    if not rejected:
        output.write("nothing was refused")


@click.command("core", cls=Command, examples=("slowwave core -k 10", "slowwave core --min-retrievals 3"))
@click.option("--top-k", "-k", type=POSITIVE, default=5, show_default=True, help="How many facts.")
@click.option(
    "--min-retrievals", type=WholeNumber(min=0), default=0, help="Only facts that were used at least this often."
)
@common_options(uses=STORED)
def core(options: CommonOptions, top_k: int, min_retrievals: int) -> None:
    """List the facts that matter most now: strong ones and often used ones.

    A context begins with fewer: facts that were promoted by use, are pinned or are protected (see `context --explain`).
    """
    with options.memory() as memory:
        found = memory.core(top_k, min_retrievals)
        strengths = memory.strengths(found)
    output = options.output
    if options.json:
        output.write_json(found)
        return
    for fact, strength in zip(found, strengths, strict=True):
        write_fact(output, fact, strength)
    if not found:
        output.write("no facts yet")
