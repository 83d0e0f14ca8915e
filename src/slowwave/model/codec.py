"""Converts memories to flat rows of plain values, which tables, the journal and exports share, and back.

Times are whole microseconds since 1970 in UTC (`zone` is the offset in which a memory is shown), collections are JSON text, and None means "none" or "empty".
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeAlias

from slowwave.model.memory import MESSAGE, NOTE, Memory, SourceRef
from slowwave.model.zone import local, offset_of, offset_text

Scalar: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Scalar, ...]

COLUMNS = (
    *("id", "kind", "text", "recorded_at", "valid_from", "category", "subject", "phase", "reason", "confidence"),
    *("importance", "stability", "pinned", "trust", "valid_to", "expires_at", "due_at", "accesses", "sessions"),
    *("used_at", "last_session", "depth", "conversation", "seq", "role", "speaker", "ref", "span_first", "span_last"),
    *("members", "superseded_by", "sources", "version", "flags", "metadata", "pace", "gist", "zone"),
)
"""The fields of a row, in order: those of a Memory without its scope; a span is two of them.

The metadata of a note is an object with its `metadata` and its `data`: a row has no separate column for data.

The journal stores new memories as lists in this order. A later version may therefore only append names.
"""
_FIRST_COLUMNS = 37
"""The columns of the first schema, which every checksum covers."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SPACES = re.compile(r"\s+")
_decode = json.JSONDecoder().decode


def _encoder() -> Callable[[object], str]:
    """A function that writes compact JSON. `JSONEncoder.encode` builds an encoder for each call, which takes longer than a row."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    make_encoder = getattr(json.encoder, "c_make_encoder", None)
    if make_encoder is None:  # not every Python has it
        return encoder.encode
    chunks = make_encoder(None, encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(chunks(value, 0))


_encode = _encoder()


def dumps(value: object) -> str:
    """Compact JSON."""
    return _encode(value)


def loads(text: str) -> Any:  # noqa: ANN401  # JSON is any value; callers know its type
    """The value of a JSON text."""
    return _decode(text)


def content_key(text: str) -> str:
    """The content key of a text, 32 hex digits: two texts with one key count as the same fact.

    Case, compatibility forms, white space and trailing punctuation make no difference.

    >>> content_key("Alice  likes TEA.") == content_key("alice likes tea")
    True
    """
    plain = _SPACES.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    end = len(plain)
    while end and (plain[end - 1] == " " or unicodedata.category(plain[end - 1])[0] == "P"):
        end -= 1
    return blake2b((plain[:end] or plain).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def to_micros(at: datetime) -> int:
    """Microseconds since 1970; exact over the years 1 to 9999."""
    return (at - EPOCH) // _MICROSECOND


def from_micros(micros: int, zone: str | None = None) -> datetime:
    """The instant with the offset of a column `zone`; ValueError if it is not in the years 1 to 9999, as damage can make it."""
    try:
        at = EPOCH + timedelta(0, 0, micros)
    except OverflowError as error:
        raise ValueError(f"{micros} is not a time") from error
    return at if zone is None else local(at, offset_of(zone))


def to_row(memory: Memory) -> Row:
    """The memory as values in the order of COLUMNS."""
    m = memory
    return (
        m.id,
        m.kind,
        m.text,
        (m.recorded_at - EPOCH) // _MICROSECOND,
        (m.valid_from - EPOCH) // _MICROSECOND,
        m.category,
        m.subject,
        m.phase,
        m.reason,
        float(m.confidence),
        float(m.importance),
        float(m.stability),
        int(m.pinned),
        m.trust,
        None if m.valid_to is None else to_micros(m.valid_to),
        None if m.expires_at is None else to_micros(m.expires_at),
        None if m.due_at is None else to_micros(m.due_at),
        m.accesses,
        m.sessions,
        None if m.used_at is None else to_micros(m.used_at),
        m.last_session,
        m.depth,
        m.conversation,
        m.seq or None,
        m.role,
        m.speaker,
        m.ref,
        None if m.span is None else m.span[0],
        None if m.span is None else m.span[1],
        _encode(m.members) if m.members else None,
        m.superseded_by,
        _encode([(s.memory, s.ref, s.quote) for s in m.sources]) if m.sources else None,
        m.version,
        _encode(sorted(m.flags)) if m.flags else None,
        _metadata_text(m),
        m.pace,
        m.gist,
        offset_text(m.valid_from),
    )


def written(row: Row) -> Row:
    """The values of a row that its checksum and the journal cover: without added columns at its end that are empty.

    So the checksum of a row that was written before a column was added stays valid.
    """
    end = len(row)
    while end > _FIRST_COLUMNS and row[end - 1] is None:
        end -= 1
    return row[:end]


def _metadata_text(memory: Memory) -> str | None:
    """The column `metadata`."""
    metadata = dict(sorted(memory.metadata.items())) if memory.metadata else {}
    if memory.kind != NOTE:
        beside = [metadata, memory.reasoning] if memory.reasoning else metadata
        return _encode(beside) if beside else None
    if memory.data is None:
        return _encode({"metadata": metadata}) if metadata else None
    return _encode({"data": memory.data, "metadata": metadata} if metadata else {"data": memory.data})


def numbered(memory: Memory, seq: int) -> Memory:
    """The message with its number. Every message is copied so: it takes a third of the time of `dataclasses.replace`."""
    copy = object.__new__(Memory)
    for put, value in zip(_PUT, _GET(memory), strict=True):
        put(copy, value)
    _PUT_SEQ(copy, seq)
    return copy


def from_row(scope: str, row: Sequence[Any]) -> Memory:
    """The memory of a row of `to_row`; values after the last of COLUMNS are ignored."""
    # Sets the slots one by one: a cold start reads many thousand rows, and the constructor is slower.
    (mid, kind, text, recorded, valid, category, subject, phase, reason, confidence) = row[:10]
    (importance, stability, pinned, trust, until, expires, due, accesses, sessions) = row[10:19]
    (used_at, last_session, depth, conversation, seq, role, speaker, ref, first, last) = row[19:29]
    (members, superseded_by, sources, version, flags, metadata, pace, gist, zone) = row[29:38]
    valid_from, valid_to, expires_at = _instant(valid), _instant(until), _instant(expires)
    if zone is not None:
        valid_from, valid_to, expires_at = (
            at and local(at, offset_of(zone)) for at in (valid_from, valid_to, expires_at)
        )
    data, beside, reasoning = _beside(kind, metadata)
    values = (
        *(mid, scope, kind, text, _instant(recorded), valid_from, category, subject, phase, reason, confidence),
        *(importance, stability, bool(pinned), trust, valid_to, expires_at, _instant(due)),
        *(accesses, sessions, _instant(used_at), last_session, depth, conversation, seq or 0, role, speaker, ref),
        None if first is None else (first, last),
        () if members is None else tuple(_decode(members)),
        superseded_by,
        () if sources is None else _sources(sources),
        version,
        frozenset() if flags is None else frozenset(_decode(flags)),
        beside,
        pace,
        gist,
        data,
        reasoning,
    )
    memory = object.__new__(Memory)
    for put, value in zip(_PUT, values, strict=True):
        put(memory, value)
    return memory


def data_and_metadata(row: Sequence[Any]) -> tuple[Any, Mapping[str, Any]]:
    """The data and the metadata of the memory of a row, without the rest of it: filters read many rows."""
    data, metadata, _ = _beside(row[KIND], row[METADATA])
    return data, metadata


def _beside(kind: str, text: str | None) -> tuple[Any, Mapping[str, Any], str | None]:
    """The data, the metadata and the reasoning in the column `metadata`."""
    beside = {} if text is None else _decode(text)
    if kind == NOTE:
        return beside.get("data"), beside.get("metadata") or {}, None
    return (None, *beside) if isinstance(beside, list) else (None, beside, None)


def _instant(micros: Any) -> datetime | None:  # noqa: ANN401  # an int or None
    return None if micros is None else EPOCH + timedelta(0, 0, micros)


def _sources(text: str) -> tuple[SourceRef, ...]:
    return tuple(SourceRef(memory=memory, ref=ref, quote=quote) for memory, ref, quote in _decode(text))


def row_content(row: Row) -> str | None:
    """The content key of a row, which is unique among the live facts of a scope.

    None for messages, cascade summaries and notes.
    """
    if row[KIND] in _WITHOUT_CONTENT or row[SPAN] is not None:
        return None
    return content_key(str(row[TEXT]))


def used(row: Row, moved: Mapping[str, Sequence[Scalar]]) -> Row:
    """The row after one more use, which may have been planned on an earlier state of it.

    Args:
        row: as stored.
        moved: by name, the value that the use was planned on and the value after it. If the stored value is another
            one, counts and stability (within 0 to 1) change by the difference, the later `used_at` is kept, and any
            other field takes the value after.
    """
    values = list(row)
    for name, (seen, after) in moved.items():
        place = COLUMNS.index(name)
        now = values[place]
        if now == seen:
            values[place] = after
        elif name in _COUNTS:
            values[place] = max(0, now + after - seen)  # type: ignore[operator]  # counts are never None
        elif name == "stability":
            values[place] = min(1.0, max(0.0, now + after - seen))  # type: ignore[operator]
        elif name == "used_at" and after is not None:
            values[place] = after if now is None else max(now, after)
        else:
            values[place] = after
    return tuple(values)


_NAMES = tuple(field.name for field in fields(Memory))
_GET = attrgetter(*_NAMES)
_PUT = tuple(Memory.__dict__[name].__set__ for name in _NAMES)
_PUT_SEQ = Memory.__dict__["seq"].__set__
_WITHOUT_CONTENT = frozenset({MESSAGE, NOTE})
_COUNTS = frozenset({"accesses", "sessions"})
KIND, TEXT, PHASE, SPAN, SEQ, VERSION, METADATA = (
    COLUMNS.index(name) for name in ("kind", "text", "phase", "span_first", "seq", "version", "metadata")
)
