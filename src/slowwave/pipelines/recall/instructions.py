"""The standing instructions of the user ("always include version numbers"), which are in every context."""

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from slowwave.model.memory import HOT, MESSAGE, Memory
from slowwave.model.query import Where
from slowwave.pipelines.recall.lines import context_line
from slowwave.policy.guard.trust import trusted
from slowwave.policy.ranking.packing import Line
from slowwave.policy.retention.policies import has_ended
from slowwave.ports import Ports

MOST: Final = 150
"""The most tokens that instructions take of a context."""
LOOKED_AT: Final = 20
"""How many instructions are read, the newest first."""
CATEGORIES: Final = frozenset({"instruction", "preference"})
"""The categories of procedural facts that say how to answer. Others say how something is done."""


INSTRUCTIONS: Final = Where(
    kinds=frozenset({"procedural"}),
    phases=frozenset(HOT),
    categories=CATEGORIES,
    trusts=frozenset({"user"}),
    order="newest",
    limit=LOOKED_AT,
)
"""What standing instructions are selected by."""


def instruction_lines(ports: Ports, near: Sequence[str], tokens: float, newest: Sequence[Memory]) -> list[Line]:
    """The instructions that fit, oldest first: of the user only, without older ones that a newer one replaces.

    If not all fit, those that the question is nearest to are taken, then the newest. Facts of less trusted sources are never
    among them: a tool or a pasted text could otherwise tell the model how to answer.

    Args:
        ports: the store.
        near: the ids of the hits of the question, best first.
        tokens: what all lines may cost.
        newest: the memories that `INSTRUCTIONS` selects.
    """
    known = _current(ports, newest)
    lines = {fact.id: _line(fact, said) for fact, said in zip(known, _said(ports, known), strict=True)}
    order = dict.fromkeys((*(identity for identity in near if identity in lines), *lines))
    taken: set[str] = set()
    for one in order:
        if lines[one].cost <= tokens:
            taken.add(one)
            tokens -= lines[one].cost
    return [lines[fact.id] for fact in reversed(known) if fact.id in taken]


def _current(ports: Ports, found: Sequence[Memory]) -> list[Memory]:
    """The instructions that hold, newest first."""
    now = ports.now()
    facts = sorted(
        (fact for fact in found if not has_ended(fact, now)), key=lambda fact: (fact.at, fact.id), reverse=True
    )
    replaced = {older.id for newer, older in combinations(facts, 2) if _replaces(newer.text, older.text)}
    by_id = {fact.id: fact for fact in facts}
    for link in ports.store.links(ports.scope, list(by_id), ["conflict?", "value changed?"]) if by_id else ():
        if link.source in by_id and link.target in by_id:
            replaced.add(min((by_id[link.source], by_id[link.target]), key=lambda fact: (fact.at, fact.id)).id)
    return [fact for fact in facts if fact.id not in replaced]


def _replaces(newer: str, older: str) -> bool:
    from slowwave.policy.comparison.instructions import replaces_instruction  # noqa: PLC0415 - few users give any
    from slowwave.policy.comparison.succession import supersedes  # noqa: PLC0415 - as above

    return replaces_instruction(newer, older) or supersedes(newer, older) is not None


def _said(ports: Ports, facts: Sequence[Memory]) -> list[Memory | None]:
    """The message of the user that each fact rests on alone, if there is one."""
    wanted = [fact.sources[0].memory if len(fact.sources) == 1 else "" for fact in facts]
    found = {memory.id: memory for memory in ports.store.get(ports.scopes, [each for each in wanted if each])}
    return [found.get(each) for each in wanted]


def _line(fact: Memory, said: Memory | None) -> Line:
    """An instruction in the user's own words, if these are shorter than the fact."""
    words = fact.text
    if said and said.kind == MESSAGE and said.role == "user" and trusted(said.trust, "user"):
        words = min(words, said.visible_text, key=len)
    return context_line(words, fact, "always in view: standing instruction", always=True)
