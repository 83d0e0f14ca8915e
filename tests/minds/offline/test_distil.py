"""What the rules take for a fact, in whose words, and what they leave alone."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from slowwave.minds.offline.distil import ONCE, SURE, distil
from slowwave.minds.offline.mind import OfflineMind
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Transcript, Turn
from slowwave.policy.guard.grounding import ground
from slowwave.policy.retention.categories import REGISTRY

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday


def said(number: int, text: str, role: str = "user", speaker: str | None = None, at: datetime = AT) -> Memory:
    return Memory(
        id=f"m{number}",
        scope="s",
        kind="message",
        text=text,
        recorded_at=at,
        valid_from=at,
        role=role,
        speaker=speaker,
        seq=number,
        conversation="c",
    )


def transcript(*memories: Memory, most: int = 20) -> Transcript:
    turns = tuple(Turn(number=n, memory=m) for n, m in enumerate(memories, 1))
    speakers = frozenset(m.speaker for m in memories if m.speaker)
    return Transcript(conversation="c", turns=turns, most=most, speakers=speakers)


def facts(*lines: str | tuple[str, str]) -> tuple[Fact, ...]:
    """What is distilled of messages to an assistant: texts of the user, or (role, text)."""
    pairs = [("user", line) if isinstance(line, str) else line for line in lines]
    return distil(transcript(*(said(n, text, role) for n, (role, text) in enumerate(pairs, 1))))[0]


def texts(*lines: str | tuple[str, str]) -> list[str]:
    return [fact.text for fact in facts(*lines)]


@pytest.mark.parametrize(
    ("message", "text", "category", "confidence"),
    [
        ("My name is Ida Brandt, by the way.", "My name is Ida Brandt", "identity", SURE),
        ("Ich heiße Jonas und suche Hilfe.", "Ich heiße Jonas", "identity", SURE),
        ("Eu me chamo Lia.", "Eu me chamo Lia", "identity", SURE),
        ("I'm allergic to walnuts, can you suggest a cake?", "I'm allergic to walnuts", "identity", SURE),
        (
            "I don't eat meat, but I eat fish on Fridays.",
            "I don't eat meat, but I eat fish on Fridays",
            "identity",
            SURE,
        ),
        ("I teach chemistry in Graz and I'm so tired of it.", "I teach chemistry in Graz", "person", ONCE),
        ("btw my sister Nora lives in Oslo", "my sister Nora lives in Oslo", "person", ONCE),
        ("I keep bees.", "I keep bees", "person", ONCE),
        ("I prefer trains to planes.", "I prefer trains to planes", "preference", ONCE),
        ("We moved to Leipzig last month.", "We moved to Leipzig last month [February 2026]", "person", ONCE),
        ("Please remember that the boiler is serviced in May.", "the boiler is serviced in May", "other", SURE),
        ("The Q3 release deadline is Oct 14.", "The Q3 release deadline is Oct 14 [14 October 2026]", "goal", ONCE),
        ("Alice owns the deploy pipeline.", "Alice owns the deploy pipeline", "person", ONCE),
        ("Dentist appointment tomorrow at 9.", "Dentist appointment tomorrow [5 March 2026] at 9", "goal", ONCE),
        ("not the Golf any more. a Skoda", "not the Golf any more. a Skoda", "other", ONCE),
    ],
)
def test_a_plain_statement_is_stored_as_it_was_said(message: str, text: str, category: str, confidence: float) -> None:
    (fact,) = facts(message)
    assert (fact.text, fact.category, fact.confidence, fact.subject) == (text, category, confidence, "The user")
    assert fact.quote in message


@pytest.mark.parametrize(
    "order",
    [
        "Always answer in metric units, except in recipes.",
        "no tables pls, ever. from now on plain text. except for prices",
        "Antworte ab jetzt immer auf Deutsch. Außer wenn ich Code schicke.",
        "Réponds-moi toujours en français, sauf pour les devis.",
        "De ahora en adelante usa solo el sistema métrico.",
        "Responda sempre em português, menos quando eu colar um contrato.",
        "please answer me in Dutch from now on, I need practice, but English for anything medical",
    ],
)
def test_a_standing_order_keeps_all_its_sentences(order: str) -> None:
    (fact,) = facts(order)
    assert (fact.text, fact.kind, fact.category) == (order, "procedural", "preference")


@pytest.mark.parametrize(
    "message",
    [
        "Make this shorter, please.",
        "You always help me so much.",
        "My boss never answers my mails.",
        "I always answer in English.",
        "Can you explain why it never ends?",
    ],
)
def test_a_request_for_one_answer_or_a_habit_is_no_order(message: str) -> None:
    assert not [fact for fact in facts(message) if fact.kind == "procedural"]


@pytest.mark.parametrize(
    "message",
    [
        "I'm on the bus, one moment.",
        "I'm married to my work.",
        "Oh wonderful, I just adore being on hold.",
        "If I lived in Rome, I would cycle.",
        "I wish I had a garden.",
        "I dreamt that I own a bakery.",
        "Maybe I have asthma.",
        "My neighbour says I am a terrible cook.",
        "I love it.",
        "Do I need a visa for Peru?",
        'The letter says "I live in Basel and I am a widow".',
        "```\nI am a comment and I live in code\n```",
        "Fix the grammar: I lives in Basel with my two son.",
        "name: Anke\nrole: admin\ncity: Delft",
        "Ich wohne in Bern und habe zwei Töchter.",
        "Vivo en Madrid con mi hermana.",
    ],
)
def test_what_is_doubtful_or_of_somebody_else_gives_no_fact(message: str) -> None:
    assert texts(message) == []


@pytest.mark.parametrize(
    "opening",
    [
        "Let's do a role play: you are the doctor.",
        "Pretend to be an innkeeper.",
        "Write a story about a knight with me.",
        "Spielen wir ein Rollenspiel?",
        "on fait un jeu de rôle",
    ],
)
def test_a_scene_holds_until_the_user_ends_it(opening: str) -> None:
    lines = [opening, ("assistant", "As you wish."), "I live in a castle and I am allergic to iron."]
    assert texts(*lines) == []
    assert texts(*lines, "ok stop. I'm allergic to walnuts.") == ["I'm allergic to walnuts"]


def test_a_scene_ends_after_six_hours() -> None:
    later = AT + timedelta(hours=7)
    chat = transcript(said(1, "Pretend you are a pirate."), said(2, "I teach chemistry in Graz.", at=later))
    assert [fact.text for fact in distil(chat)[0]] == ["I teach chemistry in Graz"]


def test_a_draft_ends_when_the_user_accepts_it_and_takes_orders() -> None:
    lines = ["Write a cover letter. I am a nurse from Trier.", ("assistant", "Dear team, ...")]
    assert texts(*lines, "Thanks! I teach chemistry in Graz.") == ["I teach chemistry in Graz"]
    assert texts(*lines, "Never use exclamation marks in my letters.") == ["Never use exclamation marks in my letters."]


@pytest.mark.parametrize(
    "lines",
    [
        ["Don't remember this: I have a tattoo."],
        ["Off the record, I work at Roche."],
        ["I have two sons.", "please don't save that"],
        ["das bitte nicht speichern: mein Name ist Ole"],
    ],
)
def test_what_a_person_asks_not_to_remember_is_not_stored(lines: Sequence[str]) -> None:
    assert texts(*lines) == []


def test_a_short_answer_is_stored_with_its_question() -> None:
    (fact,) = facts(("assistant", "Happy to help. Any allergies?"), "Peanuts.")
    assert (fact.text, fact.quote, fact.confidence) == ("Any allergies? Peanuts.", "Peanuts.", SURE)
    assert texts(("assistant", "Shall I send it?"), "Tomorrow morning.") == []
    assert texts(("assistant", "Any allergies?"), "no") == []


def test_people_who_talk_to_one_another_are_both_read_and_give_no_orders() -> None:
    chat = transcript(
        said(1, "I play the clarinet. Always tell me everything!", speaker="Mel"),
        said(2, "I ran a race last Saturday.", "assistant", speaker="Caro"),
    )
    found = [(fact.subject, fact.text) for fact in distil(chat)[0]]
    assert found == [
        ("Mel", "Mel: I play the clarinet"),
        ("Caro", "Caro: I ran a race last Saturday [28 February 2026]"),
    ]


def test_orders_and_what_is_sure_stay_where_a_pass_has_too_many_facts() -> None:
    lines = ["I teach chemistry in Graz.", "I play the clarinet.", "My name is Ida.", "Always answer in French."]
    chat = transcript(*(said(n, text) for n, text in enumerate(lines, 1)), most=2)
    kept, over = distil(chat)
    assert [fact.text for fact in kept] == ["My name is Ida", "Always answer in French."]
    assert len(over) == 2
    assert all("over the 2 facts" in each.reason for each in over)


@given(st.text(max_size=300))
def test_any_text_gives_grounded_facts_of_known_categories(text: str) -> None:
    chat = transcript(said(1, f"{text} I'm allergic to walnuts. {text}"))
    for fact in OfflineMind().distil(chat).value:
        assert fact.category in REGISTRY
        assert isinstance(ground(fact, chat), Fact)


def test_an_until_with_a_day_is_the_end_of_the_fact() -> None:
    (fact,) = facts("I am on parental leave until 12 June 2026.")
    assert fact.expires_at == datetime(2026, 6, 13, tzinfo=UTC)
    (fact,) = facts("I teach chemistry in Graz.")
    assert fact.expires_at is None
