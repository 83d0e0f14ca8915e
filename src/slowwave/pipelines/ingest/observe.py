"""Stores messages: they are durable, indexed and searchable before any mind reads them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from slowwave.errors import ConflictError, InputError, SuppressedError
from slowwave.model.memory import MESSAGE, Memory, Role, Trust
from slowwave.model.message import (
    Message,
    MessageLike,
    as_messages,
    checked_message,
    listed_messages,
    unstored_fields,
)
from slowwave.model.names import checked_name
from slowwave.model.operations import Add
from slowwave.model.plan import BATCH_MAX, Group, Plan, Receipt
from slowwave.model.zone import local
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.review import QUARANTINED, suspect
from slowwave.pipelines.ingest.tombstones import SOME, said_tombstones, unerased
from slowwave.pipelines.planning import TRIES, new_id, with_notes
from slowwave.policy.guard.trust import least, trust_of_message
from slowwave.policy.text.features import index_text
from slowwave.ports import Ports

AHEAD = "future"
"""The flag of a message whose time is in the future."""
LISTED = 5
"""How many places or names of fields a note lists."""
FUTURE = timedelta(minutes=5)
"""Clocks of two machines differ; a message further ahead than this is flagged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The source of messages, and the reason why a person vouches for it; "" if none does."""

    through: Trust
    vouched: str

    def reason(self, memory: Memory) -> str:
        """Why a message is stored."""
        return f"said; {self.vouched}" if self.vouched and memory.trust == "user" else "said"


def observe(
    ports: Ports,
    messages: MessageLike | Sequence[MessageLike],
    conversation: str,
    *,
    cause: str = "observe",
    parent: str | None = None,
    through: Trust = "user",
    vouched: str = "",
) -> Receipt:
    """Store a batch of messages, whole or not at all. Known ids with the same content are skipped.

    With an embedder on a server (`Embedder.is_local` is False) the messages are stored first and get their vectors
    afterwards, so that a server that does not answer delays no message. A sleep pass embeds the messages without vectors.

    Messages without text, such as those of an assistant that only calls tools, are not stored, and the receipt says so.

    A message that reads as an instruction to a model, and that does not come from the user directly, is stored under review:
    it is neither found nor distilled until a person releases it.

    Args:
        ports: the store, the embedder and the settings.
        messages: one message or several, in order.
        conversation: its name.
        cause: the cause of the run.
        parent: the run that this one is a part of; an import is one run with a child for each batch.
        through: the source that reports the messages. They are trusted at most as this source.
        vouched: the reason why the words of user and assistant are trusted as their own all the same: a person vouches for
            the source. Empty if no person does.

    Raises:
        InputError: a row cannot be stored; the error names it, and nothing of the batch is stored.
        ConflictError: other writers were faster in every try; nothing of the batch is stored.
    """
    conversation = checked_name(conversation, "conversation", numbers=True)
    messages = listed_messages(messages)
    if len(messages) > BATCH_MAX:
        raise InputError(f"{len(messages):,} messages in one batch, more than {BATCH_MAX:,}: add them in parts")
    now = ports.now()
    single = len(messages) == 1
    placed = [("the message" if single else f"message {n}", message) for n, message in enumerate(messages)]
    spoken = [(place, one) for place, message in placed for one in as_messages(message, place)]
    rows = [checked_message(one, place, conversation=conversation, zone=ports.zone) for place, one in spoken]
    begun = Plan(id=new_id(now), scope=ports.scope, cause=cause, at=now, parent=parent)
    origin = Origin(through=through, vouched=vouched)
    kept, receipt, problems = _stored(ports, begun, rows, conversation, origin)
    left_out = (*_without_text(placed, spoken), *_unstored(messages), *_left_out(rows, kept))
    if not kept:
        return with_notes(receipt, notes=left_out or ("no messages",))
    known = len(kept) - len(receipt.applied)
    notes = (f"{known} already known",) if known and receipt.applied else ()
    return with_notes(
        receipt,
        notes=(*notes, *_replaced([one for _, one in spoken], rows), *left_out, *_under_review(receipt)),
        problems=problems,
    )


def planned(
    ports: Ports, messages: Sequence[Message], conversation: str, *, through: Trust = "user", vouched: str = ""
) -> list[Memory]:
    """The memories that `observe` would store of these messages. Nothing is stored."""
    origin = Origin(through=through, vouched=vouched)
    spoken = [one for message in messages for one in as_messages(message)]
    rows = [checked_message(one, conversation=conversation, zone=ports.zone) for one in spoken]
    return [_memory(ports, row, conversation, ports.now(), origin) for row in rows]


def _stored(
    ports: Ports, begun: Plan, rows: list[Message], conversation: str, origin: Origin
) -> tuple[list[Message], Receipt, tuple[str, ...]]:
    """Store the messages that were not erased. Returns them, the receipt, and problems of the embedder.

    Raises:
        ConflictError: other writers were faster in every try; nothing was stored.
    """
    kept, why = rows, ""
    unless_held: tuple[str, ...] = (SOME,)
    for _ in range(TRIES):
        try:
            receipt, problems = _store(ports, replace(begun, unless_held=unless_held), kept, conversation, origin)
        except SuppressedError:  # something was erased in the scope, perhaps a moment ago: leave it out
            why = "messages were erased meanwhile"
            kept, unless_held = unerased(ports, rows, _tombstones)
            continue
        if not receipt.dropped:
            return kept, receipt, problems
        why = receipt.dropped[0].reason
    raise ConflictError(f"the messages were not stored: other writers were faster {TRIES} times ({why}); try again")


def _store(
    ports: Ports, begun: Plan, rows: Sequence[Message], conversation: str, origin: Origin
) -> tuple[Receipt, tuple[str, ...]]:
    """Embed and store these messages as the only group of a plan. Returns problems of the embedder too."""
    texts = [row.content for row in rows]
    after = getattr(ports.embedder, "is_local", None) is False
    index_entries, problems = ([index_text(text) for text in texts], ()) if after else entries(ports, texts)
    memories = [_memory(ports, row, conversation, begun.at, origin) for row in rows]
    adds = [
        Add(memory=memory, because=origin.reason(memory), entry=entry)
        for memory, entry in zip(memories, index_entries, strict=True)
    ]
    if not adds:
        return Receipt(run_id=begun.id, cause=begun.cause, scope=begun.scope), ()
    because = f"{len(adds)} messages of {conversation}" if len(adds) > 1 else f"a message of {conversation}"
    because = f"{because}; {origin.vouched}" if origin.vouched else because
    group = Group(operations=tuple(adds), because=because, conversations=(conversation,))
    receipt = ports.store.apply(replace(begun, groups=(group,)))
    return receipt, _embedded_after(ports, receipt) if after else problems


def _embedded_after(ports: Ports, receipt: Receipt) -> tuple[str, ...]:
    """Store the vectors of messages that were just stored. Returns problems."""
    stored = [operation.memory for operation in receipt.applied if isinstance(operation, Add)]
    made, problems = entries(ports, [memory.text for memory in stored])
    found = {memory.id: entry for memory, entry in zip(stored, made, strict=True) if entry.embedder}
    if found:
        ports.store.index(ports.scope, found)
    return problems


def _without_text(placed: Sequence[tuple[str, MessageLike]], spoken: Sequence[tuple[str, Message]]) -> tuple[str, ...]:
    kept = {place for place, _ in spoken}
    places = [place for place, _ in placed if place not in kept]
    listed = ", ".join(places[:LISTED]) + (f" and {len(places) - LISTED} more" if len(places) > LISTED else "")
    return (f"not stored, because without text: {listed}",) if places else ()


def _unstored(messages: Sequence[MessageLike]) -> tuple[str, ...]:
    counted = Counter(name for message in messages for name in unstored_fields(message))
    names = ", ".join(f"{name} ({number})" for name, number in counted.most_common(LISTED))
    return (f"fields of messages that are not stored: {names}",) if names else ()


def _replaced(messages: Sequence[Message], rows: Sequence[Message]) -> tuple[str, ...]:
    number = sum([passed.content != row.content for passed, row in zip(messages, rows, strict=True)])
    return (f"NUL or lone surrogates, which no store can hold, became U+FFFD in {number} messages",) if number else ()


def _under_review(receipt: Receipt) -> tuple[str, ...]:
    why = [
        operation.memory.reason or ""
        for operation in receipt.applied
        if isinstance(operation, Add) and operation.memory.phase == QUARANTINED
    ]
    return (f"{len(why)} kept for review ({', '.join(sorted(set(why)))}): see `review`",) if why else ()


def _tombstones(row: Message) -> tuple[str, ...]:
    return said_tombstones(row.content, row.id, row.at)


def _left_out(rows: Sequence[Message], kept: Sequence[Message]) -> tuple[str, ...]:
    gone = len(rows) - len(kept)
    return (f"{gone} left out: erased earlier",) if gone else ()


def _memory(ports: Ports, message: Message, conversation: str, now: datetime, origin: Origin) -> Memory:
    at = message.at or local(now, ports.zone)
    said = trust_of_message(message.role, origin.through, vouched=bool(origin.vouched))
    trust = least((said, ports.ceiling))
    examined = f"{message.speaker}\n{message.content}" if message.speaker else message.content
    why = suspect(examined, least((trust, origin.through)))
    return Memory(
        id=new_id(now),
        scope=ports.scope,
        kind=MESSAGE,
        text=message.content,
        category="message",
        recorded_at=now,
        valid_from=at,
        conversation=conversation,
        role=cast("Role", message.role),  # `checked_message` refuses others
        speaker=message.speaker,
        ref=message.id,
        trust=trust,
        phase=QUARANTINED if why else "active",
        reason=why,
        flags=frozenset({AHEAD}) if at - now > FUTURE else frozenset(),
        metadata=message.metadata,
        reasoning=message.reasoning,
    )
