import pytest
from hypothesis import given, strategies as st

from slowwave.policy.summaries.spans import ERA_SIZE, Span, due_eras, due_spans, eras

windows = st.integers(min_value=1, max_value=9)


def spans(last_seq: int, cursor: int = 0, *, force: bool = False) -> tuple[Span, ...]:
    return due_spans(last_seq, cursor, immediate_window=64, recent_window=64, force=force)


def parts(number: int) -> tuple[Span, ...]:
    return spans(129 + 64 * (number - 1))


@pytest.mark.parametrize(
    ("last_seq", "cursor", "due"),
    [
        (0, 0, ()),
        (128, 0, ()),
        (129, 0, ((1, 65),)),
        (192, 65, ()),
        (193, 65, ((66, 129),)),
        (257, 129, ((130, 193),)),
        (321, 193, ((194, 257),)),
        (321, 0, ((1, 65), (66, 129), (130, 193), (194, 257))),
    ],
)
def test_summaries_are_due_at_129_and_then_at_every_64(last_seq: int, cursor: int, due: tuple[Span, ...]) -> None:
    assert spans(last_seq, cursor) == due


def test_force_returns_the_rest_and_afterwards_nothing() -> None:
    assert spans(100, force=True) == ((1, 36),)
    assert spans(100, 36, force=True) == ()
    assert spans(64, force=True) == ()
    assert spans(200, force=True) == ((1, 65), (66, 129), (130, 136))


@given(st.lists(st.tuples(st.integers(min_value=0, max_value=40), st.booleans())), windows, windows)
def test_spans_cover_the_conversation_without_gaps_at_any_time(
    steps: list[tuple[int, bool]], immediate: int, recent: int
) -> None:
    last_seq = cursor = 0
    covered: list[int] = []
    for more, force in steps:
        last_seq += more
        due = due_spans(last_seq, cursor, immediate_window=immediate, recent_window=recent, force=force)
        for first, last in due:
            covered += range(first, last + 1)
            cursor = last
        assert due_spans(last_seq, cursor, immediate_window=immediate, recent_window=recent, force=force) == ()
        assert last_seq - cursor <= immediate + recent
    assert covered == list(range(1, cursor + 1))
    assert not covered or cursor <= last_seq - immediate


@given(st.integers(min_value=0, max_value=2000))
def test_late_and_timely_summaries_have_the_same_spans(last_seq: int) -> None:
    seen: list[Span] = []
    for total in range(0, last_seq + 1, 7):
        seen += spans(total, seen[-1][1] if seen else 0)
    seen += spans(last_seq, seen[-1][1] if seen else 0)
    assert tuple(seen) == spans(last_seq)


def test_the_newest_summary_belongs_to_no_era() -> None:
    assert eras(()) == eras(parts(1)) == ()
    (era,) = eras(parts(2))
    assert (era.span, era.frozen) == ((1, 65), False)


def test_an_era_holds_32_summaries_and_is_then_frozen() -> None:
    (full,) = eras(parts(ERA_SIZE + 1))
    assert (len(full.parts), full.frozen) == (32, True)
    first, second = eras(parts(ERA_SIZE + 3))
    assert first == full
    assert (len(second.parts), second.frozen) == (2, False)
    assert second.span[0] == first.span[1] + 1


@given(st.integers(min_value=0, max_value=100))
def test_only_the_newest_era_is_written_again_as_it_grows(number: int) -> None:
    written = [era.span for era in eras(parts(number))]
    assert due_eras(parts(number), written) == ()
    grown = due_eras(parts(number + 1), written)
    assert grown == eras(parts(number + 1))[-1:] or number == 0
    assert all(era in grown or era.frozen for era in eras(parts(number + 1)))


def test_a_conversation_without_eras_writes_all_of_them() -> None:
    assert due_eras(parts(70), ()) == eras(parts(70))
