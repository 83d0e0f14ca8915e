"""Tombstones: suppressed keys that recognise erased content, so that it is not stored again.

A tombstone is an HMAC-SHA256 of the content key of a text. A plain hash of a short text, such as a PIN, is found by trying
all values. The key is derived from the secret of the store and the scope, and is suppressed itself, so that it goes with
the scope into a copy with another secret. Tombstones of earlier versions are plain hashes; both kinds are recognised.
"""

import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeVar

from slowwave.model.codec import content_key
from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.operations import Operation, Suppress
from slowwave.ports import Ports

T = TypeVar("T")

_PURPOSE = b"slowwave tombstones\n"
_KEY = "tombstone key "
"""Begins the suppressed key that holds the HMAC key of a scope."""
_PLAIN = ("erased ", "asked ")
"""Begin the keys that are hashed with the HMAC key before they are stored."""

SOME = "erased"
"""The key that is suppressed after the first erase of a scope. Without it the scope has no tombstones."""

TELLING = 40
"""The length from which the text alone identifies an erased message; a shorter one, such as "Yes", may occur again."""


def tombstone(text: str) -> str:
    """The key of an erased text: a plain hash, which `with_keyed_tombstones` replaces before it is stored."""
    return f"erased {content_key(text)}"


def said_tombstones(text: str, ref: str | None, at: datetime | None) -> tuple[str, ...]:
    """The keys of a message: of its text if that is long enough, and of its text with the caller's id or with the time."""
    with_id = (tombstone(f"{ref}\n{text}"),) if ref is not None else ()
    with_time = (tombstone(f"{at.astimezone(UTC).isoformat()}\n{text}"),) if at is not None else ()
    return (*((tombstone(text),) if len(text) >= TELLING else ()), *with_id, *with_time)


def title_tombstone(title: str) -> str:
    """The key of an erased title of a conversation, which no import sets again. A text with the same words is not blocked."""
    return tombstone(f"title\n{title}")


def note_tombstone(folder: str | None, name: str | None, text: str) -> str:
    """The key of an erased note: another note may have the same text."""
    return tombstone(f"{folder}\n{name}\n{text}")


def buried(memory: Memory) -> tuple[str, ...]:
    """The keys to suppress when this memory is erased."""
    if memory.kind == MESSAGE:
        return said_tombstones(memory.text, memory.ref, memory.at)
    if memory.kind == NOTE:
        return (note_tombstone(memory.conversation, memory.ref, memory.text),)
    return (tombstone(memory.text),)


def unless_erased(ports: Ports, keys: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The value of `Plan.unless_held` for memories with these keys.

    The store refuses the plan if one of the memories was erased since it was planned, by another process.
    """
    secret = _recorded_key(ports)
    return (SOME,) if secret is None else tuple(form for each in keys for form in _forms(secret, each))


def unerased(ports: Ports, items: Sequence[T], keys: Callable[[T], Iterable[str]]) -> tuple[list[T], tuple[str, ...]]:
    """The items that were not erased, by their keys, and the value of `Plan.unless_held` for a plan that stores them."""
    secret = _recorded_key(ports)
    if secret is None:  # nothing was erased in the scope: no keys need to be computed
        return list(items), (SOME,)
    forms = [_forms(secret, keys(item)) for item in items]
    suppressed = ports.store.suppressed_keys(ports.scope, [form for each in forms for form in each])
    kept = [(item, each) for item, each in zip(items, forms, strict=True) if suppressed.isdisjoint(each)]
    return [item for item, _ in kept], tuple(form for _, each in kept for form in each)


def stored_keys(ports: Ports, keys: Iterable[str]) -> dict[str, str]:
    """The forms in which tombstones may be stored, each with the tombstone; empty if nothing was erased in the scope."""
    return _forms(_recorded_key(ports), keys)


def _forms(secret: str | None, keys: Iterable[str]) -> dict[str, str]:
    return {} if secret is None else {form: key for key in keys for form in (key, _keyed(secret, key))}


def with_keyed_tombstones(ports: Ports, units: Iterable[Iterable[Operation]]) -> list[list[Operation]]:
    """The units of an erase, with keyed tombstones, and the key first."""
    secret = _recorded_key(ports) or _derived_key(ports)
    plain = [list(unit) for unit in units]
    keyed = [[_with_key(secret, operation) for operation in unit] for unit in plain]
    return keyed if keyed == plain else [[Suppress(key=_KEY + secret, because="erased by request")], *keyed]


def _with_key(secret: str, operation: Operation) -> Operation:
    if isinstance(operation, Suppress) and operation.key.startswith(_PLAIN):
        return replace(operation, key=_keyed(secret, operation.key))
    return operation


def _keyed(secret: str, key: str) -> str:
    """The key as it is stored: a prefix tells it from the plain form."""
    return f"hmac {hmac.new(bytes.fromhex(secret), key.encode(), sha256).hexdigest()}"


def _recorded_key(ports: Ports) -> str | None:
    """The HMAC key of the scope, in hex digits; None if nothing was erased in it."""
    own = _derived_key(ports)
    found = ports.store.suppressed_keys(ports.scope, [SOME, _KEY + own])
    if not found or _KEY + own in found:
        return own if found else None
    recorded = ports.store.suppressed_beginning(ports.scope, _KEY)  # a copy has the key of its source
    return recorded[0].removeprefix(_KEY) if recorded else own


def _derived_key(ports: Ports) -> str:
    return hmac.new(ports.store.secret, _PURPOSE + ports.scope.encode("utf-8", "surrogatepass"), sha256).hexdigest()
