"""Names of speakers: whatever they are, the checks accept the facts and summaries that the offline rules write about them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.pipelines.statements import SPORTS

from slowwave import AgentMemory, Config, Message
from slowwave.model.memory import SUMMARY, Memory
from slowwave.policy.guard.grounding import invented_details
from slowwave.policy.guard.people import without_people

OTHER = "Bob"
SAID = (
    "I live in Berlin and work at the bakery near the station.",
    "My sister visited me last week, we went to the museum of modern art.",
    "I bought a red bicycle for the summer.",
    "I prefer green tea in the morning, never coffee.",
    "We plan to move to Hamburg on 3 August.",
    "My dog is called Rex and he likes long walks in the forest.",
    "I am learning to play the piano with my neighbour.",
    "I am not allergic to nuts, but my two brothers are.",
    "I paid 300 euros for the flight to Lisbon.",
    "My mother never eats fish on Fridays.",
)
ORDINARY = st.sampled_from(
    [
        *SAID,
        "Nobody told me about the meeting at 10:30.",
        "I ran 12 km yesterday, no more than that!",
        "The thief took my old camera; I do not miss it.",
        "I started at Acme in March 2021 and I still like it.",
        "Can you remind me of the dentist on 5 May?",
        "I have three cats: Tim, Tom and Ada.",
        "No, I never said that I would sell the house.",
        "My flat has 2 rooms, and the rent is $900.",
    ]
)
ODD = (
    "ada99", "user_4711", "U04ABC123", "Agent 007", "2024", "12 March", "7", "Two", "Dr. No", "😀", "R2D2", "3PO", "v1.2.3",
    "a-1-b", "straße7", "Ann 2024", "May 5", "Monday", "yesterday", "10:30", "1st", "5%", "$100", "½", "#7", "[7]", "Mr. 7", "Q3",
    "Seven", "Will", "May", "No", "Never", "not", "Thief", "O'Neil", "Jean-Luc", "A", "Ann: Bob", "ann@x.example", "Ada Lovelace (HR)",
    "Ann 😀", "山田", "Ада", "मीरा", "مريم", "İnci", "x.y.z",
)  # fmt: skip
SHORT = ("ada99", "user_4711", "U04ABC123", "May", "Ann 😀")
NAMES = st.one_of(
    st.sampled_from(ODD),
    st.from_regex(r"[A-Za-z]{1,8}[_.-]?[0-9]{1,5}", fullmatch=True),
    st.from_regex(r"[A-Z][a-z]{1,7} (?:[0-9]{1,4}|[A-Z][a-z]{1,7}|[IVX]{1,4})", fullmatch=True),
    st.text(st.characters(categories=["L", "N", "P", "S", "M"], exclude_characters="\x00"), min_size=1, max_size=12),
)


NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def spoken(name: str, said: Sequence[str] = SAID) -> AgentMemory:
    """A memory in which a person of this name and Bob said these sentences in turn, after facts were extracted."""
    memory = AgentMemory.open(
        ":memory:",
        llm="none",
        embedder="none",
        config=Config(immediate_window=1, recent_window=5),
        clock=lambda: NOW,
    )
    talk = [
        Message(role="user", speaker=name if place % 2 == 0 else OTHER, content=text)
        for place, text in enumerate(text for text in said for _ in range(2))
    ]
    memory.add_messages(talk, conversation="c")
    memory.consolidate("c", force=True)
    return memory


def facts_of(memory: AgentMemory, name: str) -> list[str]:
    """The facts about a person, with "The user" for the name."""
    facts = [row for row in memory.get_all() if row.subject == name and row.kind != SUMMARY]
    return sorted(without_people(fact.text, [name], ["me"]) for fact in facts)


@pytest.fixture(scope="module")
def facts_of_ann() -> list[str]:
    with spoken("Ann") as memory:
        return facts_of(memory, "Ann")


@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in ODD]
)
def test_a_speaker_of_any_name_has_the_same_facts_and_summaries_as_ann(name: str, facts_of_ann: list[str]) -> None:
    with spoken(name) as memory:
        assert memory.refused() == []
        assert len(facts_of_ann) > 3
        assert facts_of(memory, name) == facts_of_ann
        assert memory.compact_conversation("c").problems == ()
        assert [summary.depth for summary in memory.summaries("c")].count(1) == 4


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, said=st.lists(ORDINARY, min_size=2, max_size=4, unique=True))
def test_the_checks_refuse_nothing_that_the_offline_rules_write(name: str, said: list[str]) -> None:
    with spoken(name, said) as memory:
        refused = [(one.text, one.reason) for one in memory.refused() if not one.reason.endswith("facts of one pass")]
        assert refused == []
        assert memory.compact_conversation("c").problems == ()
        assert memory.summaries("c")


@pytest.mark.parametrize("name", ["user_4711", "No", "2024"])
def test_long_conversations_of_a_speaker_of_any_name_have_eras(name: str) -> None:
    config = Config(immediate_window=1, recent_window=2)
    with AgentMemory.open(":memory:", llm=None, embedder="none", config=config, clock=lambda: NOW) as memory:
        for day, text in enumerate(SPORTS, 1):
            at = NOW - timedelta(days=10 - day)
            statement = Message(role="user", speaker=name, content=text, at=at)
            answered = Message(role="user", speaker=OTHER, content="Wow, really?", at=at)
            memory.add_messages([statement, answered], conversation="c")
        assert memory.sleep().problems == ()
        assert memory.compact_conversation("c").problems == ()
        assert {summary.depth for summary in memory.summaries("c")} == {1, 2}


@pytest.mark.parametrize(
    ("speaker", "summary", "invented"),
    [
        ("ada99", "ada99: lives in Berlin with 3 cats", "3"),
        ("7", "7: lives in Berlin with 7 cats", "7"),
        ("2024", "2024: moved to Berlin in 2024", "2024"),
        ("Two", "Two: has seven cats in Berlin", "seven"),
        ("Ann", "Ann: lives in Berlin with Carla", "Carla"),
    ],
)
def test_what_a_summary_says_besides_the_name_is_still_checked(speaker: str, summary: str, invented: str) -> None:
    message = Memory(
        id="m1",
        scope="default",
        kind="message",
        text="I live in Berlin.",
        recorded_at=NOW,
        valid_from=NOW,
        role="user",
        speaker=speaker,
    )
    assert invented_details(summary, [message]) == (invented,)
