"""What is only meant is not done: a claim may not make the one of the other."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.comparison.modality import modality_mismatch
from slowwave.policy.comparison.negation import contradicts

PAINTED = "I painted the cellar stairs white."
MEANT = [
    "Juno planned to paint the stairs",
    "Juno plans to paint the stairs",
    "Juno is planning on painting the stairs",
    "Juno wants to paint the stairs",
    "Juno would like to paint the stairs",
    "Juno hopes to paint the stairs",
    "Juno intends to paint the stairs",
    "Juno tried to paint the stairs",
    "Juno looks forward to painting the stairs",
    "Juno dreams of painting the stairs",
]
UNDONE = ["failed to", "forgot to", "neglected to", "refused to", "declined to", "pretended to", "is failing to"]
NEARLY = ["almost", "nearly", "barely", "hardly", "never"]


@pytest.mark.parametrize("claim", MEANT)
def test_a_completed_action_is_not_an_intention(claim: str) -> None:
    assert modality_mismatch(claim, [PAINTED])
    assert contradicts(claim, [PAINTED])


@pytest.mark.parametrize("claim", MEANT)
def test_an_intention_is_supported_by_an_intention(claim: str) -> None:
    assert modality_mismatch(claim, [claim]) is None
    assert modality_mismatch(claim, ["Next week I'll paint the stairs"]) is None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Juno wants to sail", "The sea was calm"),
        ("Juno took part in a regatta", "I rowed in a regatta. It made me think about taking care of my back."),
        ("John wants to improve education", "I'm passionate about better schools"),
        ("Caroline wants to fight for trans rights", "Fighting for trans rights is my way to spread awareness"),
    ],
)
def test_an_intention_may_be_expressed_in_other_words(claim: str, source: str) -> None:
    assert modality_mismatch(claim, [source]) is None


def test_an_intention_is_not_a_completed_action() -> None:
    assert modality_mismatch("Juno took her aunt to Texel", ["I want to take my aunt to Texel"]) == "took"
    assert modality_mismatch("Juno painted the stairs", ["I want to paint the stairs"]) == "painted"
    assert modality_mismatch("Juno painted the stairs", ["I'm going to paint the stairs"]) == "painted"
    assert modality_mismatch("Juno painted the stairs", ["I want to paint more", PAINTED]) is None
    assert modality_mismatch("Juno painted the stairs", ["I wanted to paint the stairs"]) is None, (
        "it may be done since"
    )
    assert modality_mismatch("Juno painted the stairs", ["I got to paint the stairs"]) is None
    assert modality_mismatch("Juno painted the stairs", ["The stairs are white now"]) is None


@pytest.mark.parametrize("words", UNDONE)
def test_failed_and_forgotten_actions_are_not_done(words: str) -> None:
    assert contradicts(f"Juno {words} paint the cellar stairs", [PAINTED])
    assert contradicts("Juno painted the cellar stairs", [f"I {words} paint the cellar stairs"])
    assert contradicts(f"Juno {words} paint the cellar stairs", [f"I {words} paint the cellar stairs"]) is None


@pytest.mark.parametrize("word", NEARLY)
def test_almost_completed_actions_are_not_done(word: str) -> None:
    assert contradicts(f"Juno {word} painted the cellar stairs", [PAINTED])
    assert contradicts("Juno painted the cellar stairs", [f"I {word} painted the cellar stairs"])


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Juno owns nearly 30 boats", "I own about 30 boats"),
        ("Juno remembers to paint", "Don't forget to paint"),
        ("Juno always manages to paint", "I never fail to paint"),
        ("Juno failed the exam", "I failed my exam"),
        ("Juno forgot the paint", "I forgot the paint at home"),
    ],
)
def test_the_same_words_in_another_sense_deny_nothing(claim: str, source: str) -> None:
    assert contradicts(claim, [source]) is None


def test_verbs_with_equal_present_and_past_are_ignored() -> None:
    assert modality_mismatch("Juno wants to embed it", ["I want to embed it"]) is None


@given(st.text(max_size=100))
def test_no_text_mismatches_itself(text: str) -> None:
    assert modality_mismatch(text, [text]) is None


@given(st.sampled_from([*MEANT, PAINTED]), st.sampled_from([*MEANT, PAINTED]))
def test_a_text_supports_itself_among_other_texts(claim: str, other: str) -> None:
    assert modality_mismatch(claim, [claim, other]) is None
