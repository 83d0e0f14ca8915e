"""A summary says sentence by sentence what its members say, or it is refused."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.model.memory import Memory
from slowwave.policy.guard.summary_support import (
    omitted_words,
    unsupported_by_facts,
    unsupported_by_transcript,
    unsupported_rewording,
)

AT = datetime(2026, 3, 20, 9, tzinfo=UTC)
STAIRS = ("cellar", "attic", "porch", "tower", "garden")
FACTS = [f"Juno painted the {stair} stairs white on {day} March 2026" for day, stair in enumerate(STAIRS, 7)]


def said(text: str, speaker: str | None = None) -> Memory:
    return Memory(id=text, scope="s", kind="semantic", text=text, recorded_at=AT, valid_from=AT, speaker=speaker)


MEMBERS = [said(text) for text in FACTS]
PEOPLE = [said("Ada hates walnuts"), said("Bob likes walnuts and rye bread"), said("Cid met Dot twice")]


def turned(joint: str) -> str:
    return joint.join(FACTS[n].replace(STAIRS[n], STAIRS[n - 1]) for n in range(len(FACTS)))


@pytest.mark.parametrize("at", ["8:18 pm", "8 p.m.", "8AM", "20:18"])
def test_a_time_of_day_is_no_word_of_a_conversation_summary(at: str) -> None:
    talk = [said("I love the new harbour lamps", "Ada"), said("They were not lit for me or for us", "Bob")]
    assert unsupported_by_transcript(f"Ada and Bob caught up at {at} on 6 July 2023.", talk) is None
    assert unsupported_by_transcript(f"Ada bought a boat at {at}.", talk) == "no message says 'bought'"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (". ".join(FACTS) + ". Juno stole the paint from a neighbour and lied about it to everyone.", "'stole'"),
        (". ".join(FACTS) + ". Juno bribed everyone.", "'bribed'"),
        (". ".join(FACTS) + " and dined with three captains afterwards.", "'dined'"),
        (". ".join(FACTS) + ". Juno, a criminal, painted the cellar stairs white.", "'criminal'"),
        (". ".join(FACTS).replace("painted", "never painted"), "'painted'"),
        (turned(". "), "'7 March 2026'"),
        (turned(", "), "'7 March 2026'"),
        (f"Juno destroyed {' '.join(STAIRS)} stairs white: 7, 8, 9, 10, 11 March 2026.", "'destroyed'"),
        ("Juno painted the attic, cellar, porch, tower and garden stairs white on 7, 8, 9, 10, 11 March 2026.", "'7'"),
        ("On 7 March 2026 the attic, on 8 March the cellar stairs: white, by Juno, who painted.", "'7 March 2026'"),
        ("On 8 March, and on 9 March, the cellar stairs: painted white by Juno.", "'8 March'"),
    ],
)
def test_unsupported_sentences_are_refused(text: str, why: str) -> None:
    assert why in str(unsupported_by_facts(text, MEMBERS))


@pytest.mark.parametrize(
    "text",
    [
        ". ".join(FACTS),
        "Juno painted the cellar, attic, porch, tower and garden stairs white on 7, 8, 9, 10 and 11 March 2026.",
        "On 7, 8, 9, 10 and 11 March 2026 Juno painted the cellar, attic, porch, tower and garden stairs white.",
        "Juno painted all stairs white on 7, 8, 9, 10 and 11 March 2026.",
        "In March 2026 Juno painted stairs white: the cellar (7 March), attic (8 March), porch (9 March) and others.",
        "On 7 March 2026 Juno painted the cellar stairs white, on 8 March the attic, on 9 March the porch stairs.",
    ],
)
def test_pairs_may_be_stated_in_another_order(text: str) -> None:
    assert unsupported_by_facts(text, MEMBERS) is None


def test_names_must_stay_with_their_statements() -> None:
    assert unsupported_by_facts("Ada hates walnuts; Bob likes walnuts and rye bread; Cid met Dot twice", PEOPLE) is None
    assert unsupported_by_facts("Ada likes rye bread and walnuts; Bob hates walnuts", PEOPLE)


def test_a_date_may_be_derived_from_the_time_of_a_member() -> None:
    members = [said("Juno painted the cellar yesterday"), said("Juno swept the attic on 3 March 2026")]
    assert (
        unsupported_by_facts("Juno painted the cellar on 19 March 2026. Juno swept the attic on 3 March 2026", members)
        is None
    )


def test_a_summary_of_one_member_must_use_its_words() -> None:
    assert unsupported_by_facts("Ada hates walnuts", PEOPLE[:1]) is None
    assert unsupported_by_facts("Ada loves walnuts", PEOPLE[:1])


def test_a_conversation_summary_must_not_contradict_or_accuse() -> None:
    talk = [said("I love the new harbour lamps", "Ada"), said("They were never lit, what a pity", "Bob")]
    assert (
        unsupported_by_transcript("Ada spoke of the harbour lamps. Ada: love the new harbour lamps. Lamps!", talk)
        is None
    )
    assert unsupported_by_transcript("Ada does not love the new harbour lamps.", talk)
    assert unsupported_by_transcript("Ada stole the harbour lamps.", talk) == "no memory says 'stole'"
    assert (
        unsupported_by_transcript("Ada loves harbour lamps. Violet tulips grow everywhere downtown.", talk)
        == "no message says 'violet'"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Ada owns the red boat in hall 3 with a crew", "None"),
        ("With her crew, Ada owns the red boat", "None"),
        ("Ada never owned the red boat in hall 3", "'owned'"),
        ("Ada stole the red boat in hall 3 with a crew", "'stole'"),
        ("Ada owns the red boat and sails fast around islands", "'sails'"),
        ("Ada is in hall 3", "'owns'"),
        ("It is hers", "would be lost"),
    ],
)
def test_a_rewording_must_keep_both_facts(text: str, why: str) -> None:
    new, known = said("Ada owns the red boat in hall 3 with a crew"), said("Ada owns the red boat in hall 3")
    assert why in str(unsupported_rewording(text, new, known))


def test_a_fact_without_content_can_be_reworded() -> None:
    assert unsupported_rewording("It is so", said("It is"), said("It was so")) is None


def test_omitted_words_are_listed_as_written() -> None:
    assert omitted_words("Ada never owned the red boat", "Ada owns the red boat with a crew") == ("crew",)


@given(
    st.lists(
        st.sampled_from([*FACTS, *(m.text for m in PEOPLE), "Ada has no cat.", "Finding 3 is so", "Goal"]),
        min_size=1,
        unique=True,
    )
)
def test_the_joined_members_are_always_supported(texts: Sequence[str]) -> None:
    members = list(map(said, texts))
    assert unsupported_by_facts(". ".join(text.rstrip(".") for text in texts), members) is None
    assert unsupported_by_facts("; ".join(text.rstrip(".") for text in texts), members) is None
    assert unsupported_by_transcript("\n".join(texts), members) is None
