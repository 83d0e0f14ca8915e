"""Which known memories a mind that counts tokens compares with a new fact."""

from datetime import UTC, datetime

import pytest

from slowwave.model.memory import Memory
from slowwave.pipelines.ingest.candidates import FEW, Nearness, content_stems, similar_in_content

NEAR = Nearness(related=0.3, matter=0.6, duplicate=0.9)
AT = datetime(2026, 3, 1, tzinfo=UTC)


def equal(stem: str) -> float:  # noqa: ARG001 - as in a scope in which all stems are equally frequent
    """One nat for each stem."""
    return 1.0


def known(text: str, subject: str | None = None) -> Memory:
    return Memory(id=text, scope="s", kind="semantic", text=text, subject=subject, recorded_at=AT, valid_from=AT)


@pytest.mark.parametrize(
    ("new", "old", "cosine", "shown"),
    [
        ("Ottilie lives in Graz", "Ottilie lives in Linz", 0.2, True),
        ("Ottilie moved to Graz", "Ottilie lives in Linz", 0.2, True),
        ("Ottilie opened her bakery shop on 4 May 2024", "Ottilie plans to open a bakery next year", None, True),
        ("Ottilie cancelled the trip to Oslo", "Ottilie plans to fly to Oslo", 0.72, True),
        ("Ottilie bought a red kayak on 3 May 2024", "Ottilie baked two cakes in May 2024", 0.5, False),
        (
            "Ottilie visited the harbour museum on 9 May 2024",
            "Ottilie visited the harbour museum on 3 May 2024",
            0.95,
            False,
        ),
        (
            "Ottilie visited the harbour museum on 9 May 2024",
            "Ottilie visited the harbour museum in May 2024",
            0.95,
            True,
        ),
        ("Ottilie camped in the forest on 9 May 2024", "Ottilie camped in a forest by 12 May 2024", 0.9, True),
        (
            "Ottilie camped in the forest on 9 May 2024",
            "Ottilie camped in a forest in the week of 6 May 2024",
            0.9,
            True,
        ),
        ("Ottilie camped in the forest on 9 May 2024", "Ottilie camped in a forest in 2022", 0.9, False),
        ("The dentist appointment is on 9 May 2026", "The dentist appointment is on 3 May 2026", 0.95, True),
        ("Ottilie sailed home on 9 February 2026", "Ottilie plans to sail home in March 2026", 0.7, True),
        ("Ottilie sailed home on 9 May 2024", "Ottilie plans to sail home on 12 June 2026", 0.7, True),
        ("Ottilie met friends at Storm Abbey", "Ottilie collects films of Storm Abbey", 0.5, False),
        ("Ottilie has a Christmas tree in Malmo Harbour", "Ottilie chatted with a fan in Malmo Harbour", 0.55, False),
        ("Ottilie collects films of Storm Abbey", "Ottilie's collection has all films of Storm Abbey", 0.5, True),
        ("Ottilie hat den Hund im Garten", "Ottilie badet den Hund im Garten mit Seife", 0.5, True),
        ("The user paid 40 euros for a lamp", "The user ran 40 kilometres last week", 0.3, False),
    ],
)
def test_names_dates_and_numbers_alone_make_no_candidate(new: str, old: str, cosine: float | None, shown: bool) -> None:
    assert [memory.text for memory, _ in similar_in_content(known(new), [(known(old), cosine)], NEAR, equal)] == [
        old
    ] * shown


def test_the_few_that_share_most_are_shown() -> None:
    similar = [(known(f"Ottilie paints ships number {n}"), 0.6 + n / 100) for n in range(8)]
    shown = similar_in_content(known("Ottilie paints ships at dawn"), similar, NEAR, equal)
    assert [memory.text[-1] for memory, _ in shown] == ["7", "6", "5", "4"]
    assert len(shown) == FEW


def test_what_two_changes_of_place_imply_counts_as_content() -> None:
    assert "live" in content_stems("Ottilie moved to Graz") & content_stems("Ottilie lives in Linz")


def test_stems_of_every_matter_make_no_candidate() -> None:
    old = known("Noor wants to get a kayak")
    assert similar_in_content(known("Noor wants to get time"), [(old, 0.1)], NEAR, equal) == []
    assert similar_in_content(known("Noor wants to sell the kayak"), [(old, 0.1)], NEAR, equal) == [(old, 0.1)]


def test_frequent_stems_make_no_candidate_and_rare_ones_do() -> None:
    """In a talk about a dance studio "dance" and "studio" are in every second memory."""
    frequent = {"danc": 0.7, "studio": 0.7}
    old = known("Ottilie's dance studio has a floor of oak")
    other = known("Ottilie ordered a floor of oak in Bremen")

    def information(stem: str) -> float:
        return frequent.get(stem, 4.0)

    new = "Ottilie advertised the dance studio on posters"
    assert similar_in_content(known(new), [(old, 0.4)], NEAR, information) == []
    assert similar_in_content(known(new), [(old, 0.4)], NEAR, equal) == [(old, 0.4)]
    ranked = similar_in_content(
        known("The floor of the dance studio is of ash now, not oak"), [(other, 0.4), (old, 0.4)], NEAR, information
    )
    assert ranked[0] == (old, 0.4)


def test_a_short_memory_that_a_new_fact_says_wholly_is_a_candidate_whatever_its_words() -> None:
    old = known("Ottilie has kids")
    new = "Ottilie has a wife and kids; her youngest is a boy named Kasimir"
    assert similar_in_content(known(new), [(old, 0.5)], NEAR, equal) == [(old, 0.5)]


@pytest.mark.parametrize(
    ("new", "subject", "old", "other", "shown"),
    [
        ("Ottilie repairs clocks in Linz", "Ottilie", "Ludwig repairs clocks in Linz", "Ludwig", False),
        ("Ottilie repairs clocks in Linz", "Ottilie", "Ludwig's aunt Ottilie repairs clocks", "Ludwig", True),
        ("Ottilie repairs clocks in Linz", "Ottilie", "The user repairs clocks in Linz", "The user", True),
        ("Ottilie repairs clocks in Linz", "Ottilie", "Clocks are repaired in Linz", None, True),
    ],
)
def test_facts_of_other_people_are_no_candidates(
    new: str, subject: str, old: str, other: str | None, shown: bool
) -> None:
    memory = known(old, other)
    assert bool(similar_in_content(known(new, subject), [(memory, 0.7)], NEAR, equal)) is shown


def test_nearly_the_same_text_in_other_words_is_a_candidate() -> None:
    old = known("Ottilie mends timepieces for a living")
    assert similar_in_content(known("Ottilie is a watchmaker by trade"), [(old, 0.95)], NEAR, equal) == [(old, 0.95)]
    assert similar_in_content(known("Ottilie is a watchmaker by trade"), [(old, 0.5)], NEAR, equal) == []


def test_the_subject_of_a_fact_is_no_content_also_where_it_opens_the_text() -> None:
    assert content_stems("Gina designed her store", "Gina") == content_stems("Maria designed her store", "Maria")


def test_a_shared_place_or_language_is_content() -> None:
    old = known("Ottilie wants to learn Portuguese", "Ottilie")
    new = known("Ottilie started a Portuguese course in Lisbon", "Ottilie")
    assert similar_in_content(new, [(old, 0.65)], NEAR, equal) == [(old, 0.65)]
    assert "portugues" in content_stems(old.text, old.subject)
