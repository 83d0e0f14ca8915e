"""What one text affirms, another may not deny, whatever words both share."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.comparison.negation import NO, OPEN, YES, contradicts, negates, polarities
from slowwave.policy.guard.summary_support import unsupported_accusations

NUTS = "I am allergic to walnuts but I love hazelnuts."
OPPOSITES = [
    ("The user is not allergic to walnuts", NUTS),
    ("The user loves walnuts and hates hazelnuts", NUTS),
    ("The user loves walnuts", NUTS),
    ("Ada likes figs", "Ada hates figs"),
    ("Ada loves the countryside", "I thought of you, but I hate the countryside"),
    ("Ada passed the exam", "I made two attempts and did not pass the exam"),
    ("Ada eats meat", "I have never eaten any meat"),
    ("Ada smokes", "I quit smoking last year"),
    ("Juno never painted the cellar stairs", "Juno painted the cellar stairs white"),
    ("Juno painted the cellar stairs", "Juno didn't paint the cellar stairs"),
    ("Ada no longer owns the boat", "Ada owns the red boat"),
    ("Ada has no siblings", "My whole weekend was lovely"),
    ("Ada never finished the mug", "I finished the mug - want to see it?"),
    ("Ada found a kiln", "I would not have found the kiln, as it rained, otherwise"),
    ("Ada found a kiln", "I must not have found the right kiln"),
    ("Ada has not found a kiln", "I was searching for a kiln and found one"),
    ("Ada has not found a job", "I love my job. I'm searching for a kiln"),
    ("Ada has not bought a kiln", "I'm still searching for a kiln"),
    ("Ada does not search for a kiln", "I'm still searching for a kiln"),
    ("Does Ada never smoke?", "Ada smokes"),
]
AGREEING = [
    ("The user is allergic to walnuts", NUTS),
    ("The user loves hazelnuts and not walnuts", NUTS),
    ("The user is allergic to shellfish", "I can't eat prawns"),
    ("Matteo has a shellfish allergy", "Matteo is allergic to shellfish"),
    ("Matteo has an allergy to shellfish", "Matteo is allergic to shellfish"),
    ("The user is vegetarian", "I don't eat meat"),
    ("Ada dislikes figs", "Ada doesn't like figs"),
    ("Ada no longer smokes", "I quit smoking"),
    ("Ada loves hiking", "I can't wait to go hiking!"),
    ("Ada owns a boat", "I didn't know that Ada owns a boat"),
    ("Ada likes sailing", "Don't you like sailing?"),
    ("Ada eats fish", "I don't eat meat, but I eat fish"),
    ("Ada loves fish", "I don't eat meat and love fish"),
    ("The user does not eat meat", "Ich esse kein Fleisch"),
    ("The user does not eat meat", "我不吃肉"),
    ("Ada is not unhappy", "unusual"),
    ("Ada wants the assistant to skip greetings from now on", "from now on skip greetings"),
    (
        "Ada wants the assistant to use Rust and not Go whenever it shows code",
        "whenever you show code, use Rust and not Go",
    ),
    ("Ada loves the countryside", "I thought I'd hate the countryside, but I love it"),
    ("Ada would take a job in Oslo", "I wouldn't say no to a job in Oslo"),
    ("Ada passed the exam on the second attempt", "It took me two attempts to pass the exam"),
    ("A neighbour helped Ada find a kiln", "A neighbour led me to a kiln that I might not have found otherwise"),
    ("Ada has not found a kiln as of May", "I'm still searching for a kiln"),
    ("Ada hasn't found a kiln", "Looking around for a kiln is tricky, but I'll find one"),
    ("Juno kept the harbour, quay, pier and mole lamps", "Juno did not see the tall grey harbour lamps"),
]


@pytest.mark.parametrize(("claim", "source"), OPPOSITES)
def test_a_claim_with_inverted_polarity_is_detected(claim: str, source: str) -> None:
    assert contradicts(claim, [source])


@pytest.mark.parametrize(("claim", "source"), AGREEING)
def test_a_paraphrase_does_not_contradict(claim: str, source: str) -> None:
    assert contradicts(claim, [source]) is None


def test_neighbouring_texts_may_justify_a_negation_and_contradict_nothing() -> None:
    assert contradicts("Ada has no siblings", ["I grew up alone"], ["Any brothers?", "I never had any"]) is None
    assert contradicts("Ada paints", ["Ada paints"], ["Ada never paints"]) is None


def test_contradictory_sources_contradict_no_claim() -> None:
    assert contradicts("Ada likes figs", ["Ada hates figs", "Ada likes figs"]) is None


def test_a_negation_denies_four_content_words() -> None:
    found = polarities("Ada never painted cellar stairs white green")
    assert found["ada"] == {YES}
    assert found["white"] == {NO}
    assert found["green"] == {OPEN}


def test_a_passive_with_without_in_its_subject_affirms_its_verb() -> None:
    said = "I comforted a little boy without parents at the harbour"
    assert contradicts("A little boy without parents was comforted by Ada", [said]) is None
    assert contradicts("A boy with no shoes was given boots by Ada", ["I gave boots to a boy with no shoes"]) is None
    assert contradicts("A little boy without parents was not comforted by Ada", [said]) == "comforted"
    assert contradicts("A boy with parents was comforted by Ada", [said]) == "parents"


def test_two_negations_affirm() -> None:
    assert polarities("Ada does not dislike figs")["fig"] == {YES}


@given(st.text(max_size=200))
def test_no_text_contradicts_itself(text: str) -> None:
    assert contradicts(text, [text]) is None


@given(st.text(max_size=100))
def test_negates_accepts_any_text(text: str) -> None:
    assert negates(f"{text} never ")


def test_an_accusation_needs_a_source() -> None:
    assert unsupported_accusations("The user wants to poison walnuts", [NUTS]) == ("poison",)
    assert unsupported_accusations("Juno stole the paint and lied", ["Juno steals paint"]) == ("lied",)
    assert unsupported_accusations("Juno painted the stairs", ["Juno painted the stairs"]) == ()
