"""Elementary questions, and the statements that answer them."""

import pytest

from slowwave.policy.ranking.slots import Slot, outdated_because, slot_of, statement

QUESTIONS = [
    ("What is my name?", "name", ""),
    ("where do I live now?", "home", ""),
    ("Where do I work?", "work", ""),
    ("what do I earn", "pay", ""),
    ("How old am I?", "age", ""),
    ("When is my birthday?", "birthday", ""),
    ("Am I married?", "marriage", ""),
    ("What's my job?", "job", ""),
    ("Where does Ines live?", "home", "ines"),
    ("Remind me, where does my brother work?", "work", "my brother"),
    ("Is there any food that I must avoid?", "diet", ""),
    ("Are there any dishes I can't eat?", "diet", ""),
    ("What should my nephew not drink?", "diet", "my nephew"),
    ("What is Ines allergic to?", "diet", "ines"),
    ("Do I have any dietary restrictions?", "diet", ""),
    ("Which pills does my aunt have to take?", "medicine", "my aunt"),
    ("What medication am I on?", "medicine", ""),
    ("Do I have any pets?", "pet", ""),
    ("How many children does Ines have?", "child", "ines"),
    ("What are the names of Ines's cats?", "pet", "ines"),
    ("Which instruments does Ines play?", "instrument", "ines"),
]


@pytest.mark.parametrize(("question", "name", "holder"), QUESTIONS)
def test_an_elementary_question_has_a_slot_and_a_holder(question: str, name: str, holder: str) -> None:
    assert slot_of(question) == Slot(name=name, holder=holder)


@pytest.mark.parametrize(
    "question",
    [
        "Where is the key?",
        "What did Ines say about my job?",
        "When does it live?",
        "Where do I live up to that?",
        "Is there any food in the fridge?",
        "What should we avoid in Rome?",
        "Are there any things I can't do?",
    ],
)
def test_another_question_has_none(question: str) -> None:
    assert slot_of(question) is None


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("home", "Since March I've been living with my aunt in Porto.", "porto"),
        ("home", "We moved out of Graz to Linz last week", "linz"),
        ("home", "The user moved to Leiden.", "leiden"),
        ("name", "hey, I'm Marta, nice to meet you", "marta"),
        ("name", "Everybody is kind here. People call me Bo", "bo"),
        ("age", "im 27 btw", "27"),
        ("work", "I started at Fairphone on Monday", "fairphone"),
        ("work", "I start at the Fairphone Museum on 2 June", "fairphone museum"),
        ("work", "I've worked at Studio North for six years", "studio north"),
        ("job", "I'm a night nurse in Lund", "night nurse"),
        ("pay", "My salary went up to 48k", "48k"),
        ("birthday", "My birthday is on 3 May", "3 may"),
        ("marriage", "I got divorced in June", "divorced"),
        ("diet", "I'm severely allergic to mussels, sorry", "mussels"),
        ("diet", "We've been vegan since spring", "vegan"),
        ("diet", "I can't eat gluten any more", "gluten"),
        ("diet", "Strawberries give me a rash", "strawberries"),
        ("diet", "My nut allergy is back", "nut allergy"),
        ("medicine", "I take 20 mg of lisinopril every morning", "20 mg of lisinopril"),
        ("medicine", "The GP prescribed me sertraline", "sertraline"),
        ("pet", "We adopted a grey kitten", "kitten"),
        ("instrument", "I'm learning the cello", "cello"),
        ("child", "My little daughter sings all day", "daughter"),
    ],
)
def test_a_plain_statement_gives_the_value(name: str, text: str, value: str) -> None:
    found = statement(Slot(name=name, holder=""), text, by_holder=True)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("home", "He lives in the fridge now."),
        ("work", "I worked at Fairphone"),
        ("work", "I start at nine on Monday"),
        ("diet", "I'm not allergic to anything"),
        ("diet", "I have no allergies"),
        ("diet", "I don't eat out much"),
        ("diet", "Am I allergic to mussels?"),
        ("medicine", "I take the bus at eight"),
        ("child", "I have to kid around"),
        ("home", "If I lived in Porto I would swim every day."),
        ("home", "I don't live in Porto"),
        ("home", "Do I live in Porto?"),
        ("home", "I used to live in Porto."),
        ("home", "I moved the sofa to Room 3"),
        ("name", "I'm tired"),
        ("age", "I'm 20 minutes late"),
        ("job", "I'm a bit worried"),
    ],
)
def test_what_is_asked_doubted_denied_or_of_something_else_is_no_statement(name: str, text: str) -> None:
    assert statement(Slot(name=name, holder=""), text, by_holder=True) is None


def test_i_means_the_holder_only_where_the_holder_speaks() -> None:
    slot = Slot(name="home", holder="ines")
    assert statement(slot, "I live in Porto", by_holder=False) is None
    assert statement(slot, "I live in Porto", by_holder=True) is not None
    assert statement(slot, "Ines moved to Porto", by_holder=False) is not None


def test_a_relative_is_recognised_in_a_message_and_in_a_fact() -> None:
    slot = Slot(name="home", holder="my sister")
    for text in ("My sister Karin moved to Lund", "The user's sister Karin lives in Lund"):
        assert statement(slot, text, by_holder=False) is not None


def test_only_another_value_of_the_same_form_makes_a_statement_outdated() -> None:
    slot = Slot(name="home", holder="")
    old, same, new = (statement(slot, f"I live in {place}", by_holder=True) for place in ("Graz", "Graz", "Linz"))
    assert old is not None
    assert same is not None
    assert new is not None
    assert "linz" in outdated_because([new], old)
    assert outdated_because([same], old) == ""
