from hypothesis import given, strategies as st

from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.trimming import JOINT, scored_notes, spoken_words

COMMON = Frequencies(documents=0, frequency=lambda _: 0)
TEXT = "Hey Ann, I adopted a greyhound called Biscuit in May, and we went straight to the beach. Wow! [image: a dog]"


def test_clauses_become_notes_in_order() -> None:
    found = scored_notes(TEXT, frequencies=COMMON, speakers=["Ann Lee"])
    assert [piece.text for piece in found] == [
        "adopted greyhound called Biscuit in May",
        "we went straight to the beach",
        "dog",
    ]
    assert [piece.words for piece in found] == [6, 6, 1]
    assert found[0].value > found[1].value


def test_only_remaining_clauses_are_returned() -> None:
    (left,) = scored_notes(TEXT, frequencies=COMMON, speakers=["Ann Lee"], left="we went straight to the beach")
    assert left.text == "we went straight to the beach"
    assert scored_notes(TEXT, frequencies=COMMON, left="") == []


def test_the_person_ranks_above_the_assistant() -> None:
    (own,) = scored_notes("The marathon costs 90 euros.", frequencies=COMMON)
    (other,) = scored_notes("The marathon costs 90 euros.", frequencies=COMMON, from_assistant=True)
    assert own.text == other.text
    assert own.value - other.value > 2


@given(st.text(max_size=200))
def test_notes_contain_no_separator_and_no_extra_words(text: str) -> None:
    found = scored_notes(text, frequencies=COMMON)
    assert all(JOINT not in piece.text and piece.text.strip() for piece in found)
    assert all(piece.words == spoken_words(piece.text) for piece in found)
    again = scored_notes(text, frequencies=COMMON, left=JOINT.join(piece.text for piece in found))
    assert again == found
