"""The offline mind merges, corrects and links; it never supersedes on a guess."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from slowwave.embedders.static import StaticEmbedder
from slowwave.minds.offline.mind import OfflineMind
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.mind import Candidate, Fact, ReconcileCase, Verdict

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def known(
    number: int, text: str, *, at: datetime = AT, kind: str = "semantic", subject: str | None = None, quote: str = ""
) -> Memory:
    sources = (SourceRef(memory="m", ref="m", quote=quote),) if quote else ()
    return Memory(
        id=f"f{number}",
        scope="s",
        kind=kind,
        text=text,
        recorded_at=at,
        valid_from=at,
        subject=subject,
        sources=sources,
    )


def case(
    fact: Fact, *memories: Memory, cosine: float | None = 0.9, at: datetime = AT + timedelta(days=3)
) -> ReconcileCase:
    candidates = tuple(Candidate(number=n, memory=m, cosine=cosine) for n, m in enumerate(memories, 1))
    return ReconcileCase(number=7, fact=fact, at=at, candidates=candidates)


def decided(one: ReconcileCase, mind: OfflineMind | None = None) -> Sequence[Verdict]:
    return (mind or OfflineMind()).decide([one]).value


def test_without_candidates_a_fact_is_added() -> None:
    (verdict,) = decided(case(Fact(text="Alice owns the deploy pipeline")))
    assert (verdict.fact, verdict.op, verdict.memory) == (7, "ADD", None)
    assert verdict.because


def test_a_fact_with_the_same_text_is_a_noop() -> None:
    (verdict,) = decided(case(Fact(text="alice owns the deploy pipeline."), known(1, "Alice owns the deploy pipeline")))
    assert (verdict.op, verdict.memory, verdict.relation) == ("NOOP", 1, "compatible")


def test_of_two_equivalent_facts_the_longer_text_is_kept(embedder: StaticEmbedder) -> None:
    mind = OfflineMind(embedder=embedder)
    short, long = "Alice owns the deploy pipeline", "Alice owns the deploy pipeline at Acme"
    (verdict,) = decided(case(Fact(text=long), known(1, short)), mind)
    assert (verdict.op, verdict.text, verdict.relation) == ("UPDATE", long, "subsumes")
    (verdict,) = decided(case(Fact(text=short), known(1, long)), mind)
    assert (verdict.op, verdict.relation) == ("NOOP", "subsumed")


def test_without_word_vectors_only_the_same_words_merge() -> None:
    (verdict,) = decided(
        case(Fact(text="Alice owns the whole deploy pipeline"), known(1, "Alice owns the deploy pipeline"))
    )
    assert (verdict.op, verdict.relation) == ("LINK", "close")
    (verdict,) = decided(
        case(Fact(text="Alice owns a deploy pipeline"), known(1, "Alice owns the deploy pipeline"), cosine=None)
    )
    assert verdict.op == "NOOP"


def test_word_cosines_can_replace_an_embedder() -> None:
    mind = OfflineMind(word_cosine=lambda rows, columns: [[0.9 for _ in columns] for _ in rows])
    (verdict,) = decided(
        case(Fact(text="Alice owns the release pipeline"), known(1, "Alice owns the deploy pipeline")), mind
    )
    assert verdict.op in {"NOOP", "UPDATE"}


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Matteo no longer uses a standing desk", "Matteo uses a standing desk"),
        ("Matteo moved from Zurich to Bern", "Matteo lives in Zurich"),
    ],
)
def test_a_corrected_fact_is_superseded_by_the_new_text(new: str, old: str) -> None:
    (verdict,) = decided(case(Fact(text=new), known(1, old)))
    assert (verdict.op, verdict.memory, verdict.text, verdict.relation) == ("UPDATE", 1, new, "contradictory")


def test_several_old_facts_may_end_at_once() -> None:
    new = Fact(text="Matteo no longer uses a standing desk")
    first, second = decided(case(new, known(1, "Matteo uses a standing desk"), known(2, "Matteo uses a standing desk")))
    assert (first.op, second.op, second.memory) == ("UPDATE", "DELETE", 2)


def test_a_false_fact_is_retracted_and_its_correction_is_added() -> None:
    added, gone = decided(
        case(Fact(text="Actually Matteo does not live in Zurich"), known(1, "Matteo lives in Zurich"))
    )
    assert (added.op, gone.op, gone.memory, gone.relation) == ("ADD", "DELETE", 1, "contradictory")


def test_the_subjects_two_names_are_one_where_both_facts_know_it() -> None:
    new = Fact(text="The user no longer uses a standing desk", subject="The user")
    (verdict,) = decided(case(new, known(1, "User uses a standing desk", subject="user")))
    assert verdict.op == "UPDATE"
    (verdict,) = decided(case(new, known(1, "Bob uses a standing desk", subject="Bob")))
    assert verdict.op != "UPDATE"


def test_a_correction_that_precedes_the_fact_corrects_nothing() -> None:
    new = Fact(text="Matteo no longer uses a standing desk")
    (verdict,) = decided(case(new, known(1, "Matteo uses a standing desk"), at=AT - timedelta(days=1)))
    assert verdict.op in {"ADD", "LINK"}


def test_an_event_is_not_superseded_by_later_facts() -> None:
    new = Fact(text="Matteo moved from Zurich to Bern")
    (verdict,) = decided(case(new, known(1, "Matteo lives in Zurich", kind="episodic")))
    assert verdict.op in {"ADD", "LINK"}


@pytest.mark.parametrize(("days", "op"), [(3, "UPDATE"), (30, "LINK")])
def test_undated_events_stated_weeks_apart_are_two_events(days: int, op: str) -> None:
    new = Fact(text="John went to the gym", kind="episodic")
    (verdict,) = decided(case(new, known(1, "John went to a gym", kind="episodic"), at=AT + timedelta(days=days)))
    assert verdict.op == op


def test_events_of_different_dates_never_merge(embedder: StaticEmbedder) -> None:
    new = Fact(text="John went to the gym on 3 May 2026", kind="episodic")
    old = known(1, "John went to the gym on 4 May 2026", kind="episodic")
    (verdict,) = decided(case(new, old), OfflineMind(embedder=embedder))
    assert verdict.op in {"ADD", "LINK"}


def test_a_never_against_what_was_done_is_linked_as_a_conflict() -> None:
    new = Fact(text="The user has never deployed Flask apps", quote="I've never deployed Flask apps")
    done = known(1, "The user has deployed two Flask apps to Render", quote="I deployed two Flask apps to Render")
    (verdict,) = decided(case(new, done))
    assert (verdict.op, verdict.relation, verdict.memory) == ("LINK", "conflict?", 1)
    old = known(1, "The user has never deployed Flask apps", quote="I've never deployed Flask apps")
    bare = known(1, "The user has deployed two bakeries to Oslo")
    (verdict,) = decided(case(new, bare, cosine=0.1))
    assert verdict.op == "ADD"
    (verdict,) = decided(case(Fact(text="The user has deployed two Flask apps to Render"), old))
    assert verdict.relation == "conflict?"


def test_a_new_value_of_a_possibly_equal_subject_is_linked_and_replaces_nothing() -> None:
    old = known(1, "For the kitchen renovation Anna set aside a budget of $400")
    new = Fact(text="Anna now has $500 of budget for the kitchen renovation set aside")
    (verdict,) = decided(case(new, old))
    assert (verdict.op, verdict.relation) == ("LINK", "value changed?")
    (verdict,) = decided(case(new, old, at=AT - timedelta(days=1)))
    assert verdict.relation != "value changed?"


def test_an_unrelated_fact_is_added() -> None:
    (verdict,) = decided(case(Fact(text="Alice owns the pipeline"), known(1, "Bob likes tea"), cosine=0.1))
    assert verdict.op == "ADD"


TEXTS = [
    "Alice owns the deploy pipeline",
    "Alice owns it",
    "Bob no longer drinks tea",
    "Bob drinks tea",
    "我喜欢茶",
    "",
]


@given(st.sampled_from(TEXTS), st.lists(st.sampled_from(TEXTS), max_size=4), st.integers(-5, 5))
def test_every_case_gets_one_main_verdict_about_known_numbers(new: str, olds: list[str], days: int) -> None:
    memories = [known(n, text) for n, text in enumerate(olds)]
    verdicts = decided(case(Fact(text=new), *memories, at=AT + timedelta(days=days)))
    assert sum(v.op != "DELETE" for v in verdicts) == 1
    assert all(v.fact == 7 and v.because and (v.memory is None or 1 <= v.memory <= len(olds)) for v in verdicts)


@pytest.mark.parametrize(
    ("text", "quote", "old"),
    [
        ("The user lives in Bristol now", "I live in Bristol now", "The user lives in Leeds"),
        ("The deadline moved to 21 April 2026", "The deadline moved to 21 April", "The deadline is 14 April 2026"),
        ("The deadline is 21 April 2026", "Correction: the deadline is 21 April", "The deadline is 14 April 2026"),
        ("The budget is now $500 for the kitchen", "The budget is now $500", "The budget is $400 for the kitchen"),
    ],
)
def test_a_value_marked_as_new_supersedes_the_old_value(text: str, quote: str, old: str) -> None:
    (verdict,) = decided(case(Fact(text=text, quote=quote), known(1, old)))
    assert (verdict.op, verdict.memory, verdict.relation) == ("UPDATE", 1, "contradictory")
    (verdict,) = decided(case(Fact(text=text, quote=quote), known(1, old, kind="episodic")))
    assert (verdict.op, verdict.relation) == ("LINK", "value changed?")
    (verdict,) = decided(case(Fact(text=text, quote=quote), known(1, old), at=AT - timedelta(days=1)))
    assert verdict.relation != "contradictory"


def test_another_value_that_nothing_announces_points_at_the_latest_one() -> None:
    fact = Fact(text="The deadline is 21 April 2026", quote="The deadline is 21 April")
    older, old = (
        known(1, "The deadline is 7 April 2026"),
        known(2, "The deadline is 14 April 2026", at=AT + timedelta(1)),
    )
    (verdict,) = decided(case(fact, older, old))
    assert (verdict.op, verdict.memory, verdict.relation) == ("LINK", 2, "value changed?")
    (verdict,) = decided(case(fact, old, older))
    assert verdict.memory == 1


@pytest.mark.parametrize(
    ("new", "old", "op"),
    [
        ("The user is not allergic to penicillin after all", "The user is allergic to penicillin", "DELETE"),
        ("The user doesn't work at St James anymore", "The user works at St James", "UPDATE"),
    ],
)
def test_an_explicit_retraction_supersedes_the_fact(new: str, old: str, op: str) -> None:
    verdicts = decided(case(Fact(text=new), known(1, old)))
    assert op in {v.op for v in verdicts}


@pytest.mark.parametrize(
    ("text", "quote", "op", "old"),
    [
        ("The user is not vegetarian", "I lied, I'm not vegetarian", "DELETE", "The user is vegetarian"),
        ("The user is not vegetarian", "I'm not vegetarian", "UPDATE", "The user is vegetarian"),
        ("The user doesn't live in Bern any more", "I don't live in Bern any more", "UPDATE", "The user lives in Bern"),
        ("The user is not vegetarian after all", "I'm not vegetarian after all", "DELETE", "The user is vegetarian"),
        ("Ottilie does not drive a tram", "Kidding! Ottilie doesn't drive a tram", "DELETE", "Ottilie drives a tram"),
    ],
)
def test_a_denial_ends_what_it_names_and_one_after_a_lie_takes_it_back(
    text: str, quote: str, op: str, old: str
) -> None:
    verdicts = decided(case(Fact(text=text, quote=quote), known(1, old), known(2, "The user keeps two goats")))
    assert [(verdict.op, verdict.memory) for verdict in verdicts if verdict.op in {"UPDATE", "DELETE"}] == [(op, 1)]


def test_what_two_people_say_of_themselves_is_no_one_statement() -> None:
    new = Fact(text="Ann: I now live in Rome", subject="Ann")
    (verdict,) = decided(case(new, known(1, "Bob: I live in Bern", subject="Bob")))
    assert verdict.op == "ADD"
    (verdict,) = decided(case(new, known(1, "Ann: I live in Bern", subject="Ann")))
    assert (verdict.op, verdict.memory, verdict.text) == ("UPDATE", 1, "Ann: I now live in Rome")
    (verdict,) = decided(case(new, known(1, "Ann lives in Bern")))
    assert (verdict.op, verdict.memory) == ("UPDATE", 1)
