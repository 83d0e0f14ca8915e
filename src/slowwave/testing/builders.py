"""Builds memories and plans for tests of stores."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import numpy as np

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.operations import Add, Change, Link, LinkKind, MoveCursor, Operation, Use
from slowwave.model.plan import Group, Plan
from slowwave.policy.text.features import index_text

SCOPE = "acme/alice"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DIM = 8
_numbers = count(1)


def message(text: str, *, conversation: str = "c1", scope: str = SCOPE, **fields: Any) -> Memory:  # noqa: ANN401  # Memory's
    """A message without a sequence number; the store assigns one."""
    identity = fields.pop("id", f"m{next(_numbers)}")
    return Memory(
        **{
            "id": identity,
            "scope": scope,
            "kind": MESSAGE,
            "text": text,
            "recorded_at": NOW,
            "valid_from": NOW,
            "conversation": conversation,
            "role": "user",
            **fields,
        }
    )


def fact(text: str, *, scope: str = SCOPE, **fields: Any) -> Memory:  # noqa: ANN401  # Memory's
    """A fact."""
    identity = fields.pop("id", f"f{next(_numbers)}")
    return Memory(
        **{
            "id": identity,
            "scope": scope,
            "kind": "semantic",
            "text": text,
            "recorded_at": NOW,
            "valid_from": NOW,
            **fields,
        }
    )


def note(name: str, *, folder: str = "", text: str = "", **fields: Any) -> Memory:  # noqa: ANN401  # Memory's
    """A note. Without a text, its name is the text to search."""
    fields = {"category": NOTE, **fields}
    return fact(text or name, kind=NOTE, conversation=folder, ref=name, **fields)


def entry(text: str, embedder: str | None = "test-8") -> IndexEntry:
    """The index entry of a text, with a vector computed from its letters."""
    bare = index_text(text)
    if embedder is None:
        return bare
    vector = np.zeros(DIM, dtype="<f4")
    for place, letter in enumerate(text):
        vector[(ord(letter) + place) % DIM] += 1.0
    return replace(bare, vectors=(vector / np.linalg.norm(vector)).tobytes(), dim=DIM, embedder=embedder)


def add(memory: Memory, because: str = "said") -> Add:
    """An operation that adds a memory, with an index entry."""
    return Add(memory=memory, because=because, entry=entry(memory.text))


def change(before: Memory, because: str = "edited", *, unless_used: bool = False, **fields: Any) -> Change:  # noqa: ANN401  # Memory's
    """An operation that changes a memory, with an index entry for a new text."""
    after = replace(before, **fields, version=before.version + 1)
    words = entry(after.text) if after.text != before.text else None
    return Change(before=before, after=after, because=because, entry=words, unless_used=unless_used)


def use(seen: Memory, because: str = "read", **fields: Any) -> Use:  # noqa: ANN401  # Memory's
    """An operation that records one use of a memory."""
    return Use(used_version=seen, after=replace(seen, accesses=seen.accesses + 1, **fields), because=because)


def link(source: str, target: str, *, before: float = 0.0, weight: float = 1.0, kind: LinkKind = "association") -> Link:
    """An operation that links two memories."""
    return Link(source=source, target=target, kind=kind, weight=weight, before=before, because="go together", at=NOW)


def advance(before: int, after: int) -> MoveCursor:
    """An operation that moves the cursor "distil" of the conversation "c1"."""
    return MoveCursor(conversation="c1", cursor="distil", before=before, after=after, because="read")


def group(operations: Iterable[Operation], because: str = "a test says so") -> Group:
    """A group of operations, which are applied together or not at all."""
    return Group(operations=tuple(operations), because=because)


def plan(*groups: Group | Operation, cause: str = "add", scope: str = SCOPE, **fields: Any) -> Plan:  # noqa: ANN401  # Plan's
    """A plan of groups; single operations become one group."""
    single = [item for item in groups if not isinstance(item, Group)]
    parts = [item for item in groups if isinstance(item, Group)] + ([group(single)] if single else [])
    return Plan(
        **{"id": f"r{next(_numbers)}", "scope": scope, "cause": cause, "at": NOW, "groups": tuple(parts), **fields}
    )


def every_field(value: object) -> str:
    """All fields of values and of the values in them, as text. The `repr` of many types shows only the beginning."""
    if is_dataclass(value):
        return repr({field.name: every_field(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, list | tuple | set | frozenset):
        return repr([every_field(item) for item in value])
    return repr(value)
