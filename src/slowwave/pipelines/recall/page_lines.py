"""The lines of topic pages that a context shows for a question that asks for several things."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.query import Hit, Item
from slowwave.pipelines.recall.core_memory import context_line
from slowwave.pipelines.recall.forms import REPEATED, origin
from slowwave.pipelines.recall.pages import PAGES, scores_of
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.summaries.page_choice import lines_for
from slowwave.policy.summaries.pages import PageLine
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.ports import Ports

if TYPE_CHECKING:
    from datetime import date, datetime

_UNCLEAR: Final = lazy_regex(r"(?:[\w'’-]{1,60} ){0,3}(?:it|they|them|he|she|him|these|those)\b")
"""A clause that begins with a pronoun says nothing without the sentence before it ("I enjoy it after work")."""


def page_items(ports: Ports, question: str, hits: Sequence[Hit], tokens: int, in_context: frozenset[str]) -> list[Item]:
    """The best lines of the topic pages for a question that fit, oldest first, each with the fact or message it rests on.

    Args:
        ports: the store.
        question: the question; most ask for one thing and get no lines.
        hits: the hits of the search for it. A line that rests on one that is marked as outdated is left out.
        tokens: what all lines may cost.
        in_context: ids of memories that the context shows anyway: a line that rests on one of them is left out.
    """
    from slowwave.policy.summaries.page_entries import current_lines  # noqa: PLC0415 - most questions want no page

    left_out = in_context | {memory.id for hit in hits if hit.stale for memory in (hit.memory, *hit.facts)}
    best = lines_for(question, ports.store.select(ports.scopes, PAGES), scores_of(hits))
    members = {memory.id: memory for memory in ports.store.get(ports.scopes, {line.member for _, line in best})}
    now = ports.now()
    shown: dict[str, tuple[date, datetime, Item]] = {}
    for page, line in [(page, line) for page, written in best for line in current_lines((written,), members, now)]:
        member = members[line.member]
        if (
            member.id in shown
            or (member.kind == MESSAGE and _UNCLEAR.match(line.text.lower()))
            or not left_out.isdisjoint((member.id, *(each.memory for each in member.sources)))
            or _is_shown(line, member, [item for _, _, item in shown.values()])
        ):
            continue
        words = _words(page, line, member)
        because = f"line of page {page.ref}, from {origin(member)}"
        item = context_line(words, member, because, facts=(member,), quoted=False, dated=True)
        if item.tokens <= tokens:
            tokens -= item.tokens
            shown[member.id] = line.day, member.at, replace(item, outdated=line.outdated)
    return [item for _, _, item in sorted(shown.values(), key=lambda each: each[:2])]


def _words(page: Memory, line: PageLine, member: Memory) -> str:
    """A line with the topic of its page, and with the person whose words it repeats: "I" and "my" say nothing without them."""
    topic = (page.ref or "").rpartition("/")[2]
    person = f"{page.subject}: " if member.kind == MESSAGE else ""
    return f"({topic}) {person}{line.text}{f' (until {line.until})' if line.until else ''}"


def _is_shown(line: PageLine, member: Memory, shown: Sequence[Item]) -> bool:
    """Whether a fact and a clause of its message that it tells would both be listed."""
    sources = {source.memory for source in member.sources}
    for item in shown:
        other = item.memory
        if other is None:
            continue
        if other.id in sources:
            said, fact = item.text, line.text
        elif any(source.memory == member.id for source in other.sources):
            said, fact = line.text, other.text
        else:
            continue
        if _tells(said, fact):
            return True
    return False


def _tells(said: str, fact: str) -> bool:
    """Whether a part of a line tells what a fact tells."""
    from slowwave.policy.summaries.page_entries import JOINT, is_told  # noqa: PLC0415 - most questions want no page

    return any(is_told(part, fact) for part in said.split(JOINT))


def is_said_by(item: Item) -> bool:
    """Whether a line says most of what its memory says. If not, the memory is shown although the line is."""
    memory = item.memory
    return memory is None or memory.kind != MESSAGE or estimate(memory.visible_text) <= REPEATED * item.tokens
