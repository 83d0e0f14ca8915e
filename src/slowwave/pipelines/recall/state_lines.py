"""The present state of the user: the newest facts that say name, home, work, age, marriage and health."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.query import Item, Where
from slowwave.pipelines.recall.core_memory import context_line
from slowwave.policy.ranking.slots import Slot, SlotStatement, outdated_because, statement
from slowwave.policy.retention.policies import has_ended
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import words
from slowwave.ports import Ports

MOST: Final = 60
"""The most tokens that these lines take."""
LOOKED_AT: Final = 200
"""How many facts of the user are read, the newest first."""
SLOTS: Final = ("name", "home", "work", "job", "marriage", "age")
"""The slots that are shown, the first ones first if not all fit."""

_HEALTH: Final = lazy_regex(
    r"\b(?:allergic|allergy|allergies|intoleran\w+|diagnosed|diabet\w+|asthma\w*|pregnant|coeliac|celiac)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What facts state of the user.

    Attributes:
        facts: by attribute, the newest fact that states it.
        replaced: the ids of facts that state another value, which was true before.
        of_another: the user, if the question is about another person of the talk: lines about the user would mislead.
    """

    facts: Mapping[str, Memory] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    of_another: str = ""


STATED: Final = Where(
    kinds=frozenset(FACT_KINDS),
    phases=frozenset(HOT),
    trusts=frozenset({"user"}),
    order="newest",
    limit=LOOKED_AT,
)
"""What the state of the user is selected by."""


def stated(ports: Ports, question: str, latest: Sequence[Memory]) -> State:
    """What the user's own facts state of the user.

    If the talk is between people and the question names another of them, it has no facts: they would be about the wrong person.

    Args:
        ports: the store.
        question: the question.
        latest: the latest messages, which tell who talks.
    """
    people = {message.speaker for message in latest if message.speaker}
    holder = next((message.speaker or "" for message in reversed(latest) if message.role == "user"), "")
    if _names(question, people - {holder}) and not _names(question, {holder}):
        return State(of_another=holder)
    return _stated(ports, holder.casefold())


def with_state(core: Sequence[Item], state: State, tokens: int) -> list[Item]:
    """Core facts with those of the state, after what is pinned or used often.

    Replaced ones are left out unless pinned; so are those that are there by the category identity, if the question is about another
    person of the talk.

    Args:
        core: the lines of core facts.
        state: the state.
        tokens: the room of core; lines of the state that are not among `core` take at most `MOST` of it.
    """
    known = {item.memory.id: item for item in core if item.memory and not _is_identity(item.memory, state.of_another)}
    left, lines = min(tokens, MOST), dict[str, Item]()
    for why, fact in state.facts.items():
        line = known.get(fact.id) or context_line(fact.text, fact, f"always in view: {why} of the user")
        if line.tokens <= left or fact.id in known:
            lines[fact.id] = line
            left -= line.tokens
    first = [item for item in core if item.memory and (item.memory.pinned or item.memory.phase == "core")]
    shown = {item.memory.id: item for item in first if item.memory} | lines
    return [
        item
        for one, item in (shown | known).items()
        if one not in state.replaced or (item.memory is not None and item.memory.pinned)
    ]


def _is_identity(fact: Memory, user: str) -> bool:
    """Whether a fact is in core for being an identity fact of this user; never if the user is unknown."""
    always = fact.pinned or fact.phase == "core"
    return (
        not always
        and fact.category == "identity"
        and bool(user)
        and (fact.subject or user).casefold() == user.casefold()
    )


def _names(question: str, people: Collection[str]) -> bool:
    asked = set(words(question))
    return any(asked.intersection(words(person)[:1]) for person in people)


def _stated(ports: Ports, holder: str) -> State:
    now = ports.now()
    facts = [fact for fact in ports.store.select(ports.scopes, STATED) if not fact.members and not has_ended(fact, now)]
    facts.sort(key=lambda fact: (fact.at, fact.id), reverse=True)
    found: dict[str, Memory] = {}
    replaced: set[str] = set()
    for name in SLOTS:
        slot = Slot(name=name, holder=holder)
        newer: list[SlotStatement] = []
        for fact in facts:
            if (said := statement(slot, fact.text, by_holder=_by_user(fact, holder))) is None:
                continue
            if outdated_because(newer, said):
                replaced.add(fact.id)
            found.setdefault(name, fact)
            newer.append(said)
    about = ("the user", "i ", "i'm ", "my ") if not holder else (holder,)
    health = (fact for fact in facts if fact.text.lower().startswith(about) and _HEALTH.search(fact.text.lower()))
    if ill := next(health, None):
        found["health"] = ill
    return State(facts=found, replaced=frozenset(replaced) - {fact.id for fact in found.values()})


def _by_user(fact: Memory, holder: str) -> bool:
    """Whether "I" in a fact means the user: not if the talk is between people, whose facts have names."""
    return not holder and (fact.subject or "The user") in {"The user", "user", "I"}
