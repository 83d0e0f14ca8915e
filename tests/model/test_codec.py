"""Memories as flat rows, and content keys."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import HealthCheck, given, settings, strategies as st

from slowwave.model.codec import (
    COLUMNS,
    content_key,
    dumps,
    from_micros,
    from_row,
    loads,
    numbered,
    row_content,
    to_micros,
    to_row,
    used,
)
from slowwave.model.memory import KINDS, PHASES, Memory, SourceRef

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001  # bounds are naive
offsets = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
locals_ = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=offsets)  # noqa: DTZ001  # as above
numbers = st.integers(0, 2**40)
shares = st.floats(0, 1)
memories = st.builds(
    Memory,
    id=names,
    scope=st.just("acme"),
    kind=st.sampled_from(KINDS),
    text=texts,
    recorded_at=times,
    valid_from=times | locals_,
    category=names,
    subject=st.none() | names,
    phase=st.sampled_from(PHASES),
    reason=st.none() | names,
    confidence=shares,
    importance=shares,
    stability=shares,
    pinned=st.booleans(),
    trust=names,
    valid_to=st.none() | times,
    expires_at=st.none() | times,
    due_at=st.none() | times,
    accesses=numbers,
    sessions=numbers,
    used_at=st.none() | times,
    last_session=st.none() | names,
    depth=st.integers(0, 2),
    conversation=st.none() | names,
    seq=numbers,
    role=st.none() | names,
    speaker=st.none() | names,
    ref=st.none() | names,
    span=st.none() | st.tuples(numbers, numbers),
    members=st.lists(names, max_size=3).map(tuple),
    superseded_by=st.none() | names,
    sources=st.lists(st.builds(SourceRef, memory=names, ref=names, quote=texts), max_size=3).map(tuple),
    version=st.integers(1, 2**40),
    flags=st.frozensets(names, max_size=3),
    metadata=st.dictionaries(names, texts, max_size=3),
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the first draw loads tables of characters
@given(memories)
def test_a_memory_is_restored_from_its_row_and_from_json(memory: Memory) -> None:
    row = to_row(memory)
    assert len(row) == len(COLUMNS)
    restored = from_row("acme", row)
    assert restored == memory
    assert restored.valid_from.utcoffset() == memory.valid_from.utcoffset()
    assert restored.recorded_at.utcoffset() == timedelta(0)
    assert tuple(loads(dumps(row))) == row


def test_the_journal_can_always_be_read_again_because_columns_are_only_ever_added_at_the_end() -> None:
    assert COLUMNS[:35] == (
        *("id", "kind", "text", "recorded_at", "valid_from", "category", "subject", "phase", "reason", "confidence"),
        *("importance", "stability", "pinned", "trust", "valid_to", "expires_at", "due_at", "accesses", "sessions"),
        *("used_at", "last_session", "depth", "conversation", "seq", "role", "speaker", "ref", "span_first"),
        *("span_last", "members", "superseded_by", "sources", "version", "flags", "metadata"),
    )
    spelled = {"span_first", "span_last", "zone"} | {field.name for field in fields(Memory)} - {
        "scope",
        "span",
        "data",
        "reasoning",
    }
    assert set(COLUMNS) == spelled


@given(times)
def test_an_instant_keeps_its_microsecond(at: datetime) -> None:
    assert from_micros(to_micros(at)) == at


@given(memories, st.integers(1, 2**40))
def test_a_number_changes_nothing_else(memory: Memory, seq: int) -> None:
    assert numbered(memory, seq) == replace(memory, seq=seq)


@given(texts)
def test_case_space_and_trailing_punctuation_do_not_count(text: str) -> None:
    key = content_key(text)
    assert content_key(f"  {text}\n") == key
    assert content_key(content_key(text)) == content_key(key.upper() + " . !")
    assert len(key) == 32


def test_other_words_other_signs_inside_and_other_numbers_count() -> None:
    keys = {
        content_key(text) for text in ("costs 1.5", "costs 15", "costs 1,5", "costs -1.5", "cost 1.5", "", "?", "!")
    }
    assert len(keys) == 8
    assert content_key("ＴＥＡ") == content_key("tea…")
    assert content_key("\ud800") != content_key("\udfff")


def test_only_facts_have_a_content_key() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    tea = Memory(id="f", scope="acme", kind="semantic", text="Likes tea", recorded_at=now, valid_from=now)
    assert row_content(to_row(tea)) == content_key("likes tea")
    assert row_content(to_row(replace(tea, kind="message"))) is None
    assert row_content(to_row(replace(tea, kind="summary", span=(1, 2)))) is None


@given(memories, memories, st.integers(0, 5), times)
def test_an_unchanged_memory_gets_the_planned_result(memory: Memory, other: Memory, more: int, at: datetime) -> None:
    after = replace(
        memory,
        accesses=memory.accesses + more,
        used_at=max(at, memory.used_at) if memory.used_at else at,
        stability=other.stability,
        due_at=other.due_at,
        last_session=other.last_session,
    )
    row, wanted = to_row(memory), to_row(after)
    moved = {name: (row[i], wanted[i]) for i, name in enumerate(COLUMNS) if row[i] != wanted[i]}
    assert used(row, moved) == wanted


def test_uses_of_two_at_once_both_count() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    tea = Memory(
        id="f", scope="acme", kind="semantic", text="Likes tea", recorded_at=now, valid_from=now, stability=0.5
    )

    def planned(**after: object) -> dict[str, tuple[object, object]]:
        row, wanted = to_row(tea), to_row(replace(tea, **after))  # type: ignore[arg-type]
        return {name: (row[i], wanted[i]) for i, name in enumerate(COLUMNS) if row[i] != wanted[i]}

    late = planned(accesses=1, sessions=1, used_at=now + timedelta(2), stability=0.9, due_at=now, last_session="late")
    early = planned(
        accesses=1, sessions=1, used_at=now + timedelta(1), stability=0.8, due_at=None, last_session="early"
    )
    both = from_row("acme", used(used(to_row(tea), late), early))  # type: ignore[arg-type]
    assert (both.accesses, both.sessions, both.used_at) == (2, 2, now + timedelta(2))
    assert (both.stability, both.last_session) == (1.0, "early")
    taken_back = {name: (after, before) for name, (before, after) in late.items()}
    back = from_row("acme", used(to_row(both), taken_back))  # type: ignore[arg-type]
    assert (back.accesses, back.used_at) == (1, None)
