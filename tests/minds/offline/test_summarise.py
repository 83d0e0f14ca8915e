"""Summaries without a model keep what they must and add nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from slowwave.errors import ModelError
from slowwave.minds.offline.mind import OfflineMind
from slowwave.model.memory import Memory
from slowwave.model.mind import SummaryRequest
from slowwave.policy.guard.grounding import invented_details, missing_details
from slowwave.policy.guard.summary_support import unsupported_by_facts

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
HIKES = [
    "User went hiking at Mount Rainier on March 12, 2024",
    "User went kayaking at Lake Washington on March 15, 2024",
    "User ran a 5K in Fremont on March 20, 2024",
    "User went rock climbing at Stone Gardens on March 25, 2024",
    "User joined a cycling club on March 28, 2024",
]


def fact(text: str, days: int = 0) -> Memory:
    at = AT + timedelta(days=days)
    return Memory(id=f"{days}{text[:20]}", scope="s", kind="episodic", text=text, recorded_at=at, valid_from=at)


def message(seq: int, text: str, role: str = "user", speaker: str | None = None) -> Memory:
    at = AT + timedelta(minutes=seq)
    return Memory(
        id=f"m{seq}",
        scope="s",
        kind="message",
        text=text,
        recorded_at=at,
        valid_from=at,
        seq=seq,
        role=role,
        speaker=speaker,
        conversation="c",
    )


def written(*memories: Memory, style: str = "cluster", words: int = 60) -> str:
    return OfflineMind().summarise(SummaryRequest(memories=memories, style=style, words=words)).value.text


def test_a_cluster_is_one_sentence_in_order_of_time_that_names_its_subject_once() -> None:
    text = written(*(fact(h) for h in reversed(HIKES)))
    assert text == (
        "User went hiking at Mount Rainier on March 12, 2024; went kayaking at Lake Washington on March 15, 2024; "
        "ran a 5K in Fremont on March 20, 2024; went rock climbing at Stone Gardens on March 25, 2024; "
        "joined a cycling club on March 28, 2024."
    )


def test_a_negation_is_no_subject_and_is_repeated() -> None:
    said = [fact("Never call Ada before nine"), fact("Never call Bob", 1), fact("No cats in hall 3", 2)]
    text = OfflineMind().summarise(SummaryRequest(memories=tuple(said), style="cluster", words=100)).value.text
    assert text == "Never call Ada before nine. Never call Bob. No cats in hall 3."
    assert unsupported_by_facts(text, said) is None


def test_each_subject_has_its_own_sentence_and_equal_texts_appear_once() -> None:
    members = [
        fact("Ada likes tea", 1),
        fact("The user likes coffee.", 2),
        fact("Ada runs", 3),
        fact("Ada likes tea", 4),
        fact("tea is good", 5),
    ]
    assert written(*members) == "Ada likes tea; runs. The user likes coffee. tea is good."


@given(
    st.lists(
        st.sampled_from(
            [*HIKES, "Bob and others met Ann in Rome", "3 cats live here", "我住在东京", "The deadline is 5 May"]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_cluster_keeps_every_name_number_and_date_and_adds_none(texts: list[str]) -> None:
    members = [fact(t, n) for n, t in enumerate(texts)]
    text = written(*members)
    assert missing_details(text, members) == ()
    assert invented_details(text, members) == ()
    assert unsupported_by_facts(text, members) is None


TALK = [
    message(1, "Hey Jon! I lost my job at Door Dash in January.", speaker="Gina"),
    message(2, "Wow, sorry! I opened a dance studio in Boston last week.", "assistant", "Jon"),
    message(3, "Bye!", speaker="Gina"),
]


def test_a_cascade_selects_dated_clauses_by_speaker_and_drops_chatter() -> None:
    text = written(*TALK, style="cascade", words=40)
    assert (
        text
        == "Gina: I lost my job at Door Dash in January 2026\nJon: I opened a dance studio in Boston in the week before 1 March 2026"
    )
    assert invented_details(text, TALK) == ()


def test_a_cascade_of_cascades_selects_again_from_the_same_words() -> None:
    first = Memory(
        id="s1",
        scope="s",
        kind="summary",
        text=written(*TALK, style="cascade", words=40),
        recorded_at=AT,
        valid_from=AT,
        conversation="c",
        span=(1, 3),
    )
    model = Memory(
        id="s2",
        scope="s",
        kind="summary",
        text="They talked about gardens in Bern and tools.",
        recorded_at=AT,
        valid_from=AT,
        conversation="c",
        span=(4, 6),
    )
    text = written(first, model, style="cascade", words=60)
    assert "Gina: I lost my job at Door Dash in January 2026" in text
    assert "gardens in Bern" in text
    assert invented_details(text, [first, model]) == ()
    assert len(written(first, model, style="cascade", words=8).split()) <= 10


def test_in_a_chat_with_an_assistant_the_user_is_preferred() -> None:
    chat = [
        message(1, "I built a shed near Bern with cedar planks."),
        message(2, "Cedar planks near Bern resist most weather damage.", "assistant"),
    ]
    assert written(*chat, style="cascade", words=9) == "User: I built a shed near Bern with cedar planks"


@pytest.mark.parametrize(
    "scrap", ["I 100% agree, Mel.", "On 23 June 2023.", "Yesterday.", "I'll keep you posted!", "Totally, Mel!"]
)
def test_a_mere_date_and_mere_agreement_are_not_chosen(scrap: str) -> None:
    talk = [
        message(1, f"{scrap} I ran a race in Bern.", speaker="Caroline"),
        message(2, "Well done!", speaker="Melanie"),
    ]
    assert written(*talk, style="cascade", words=40) == "Caroline: I ran a race in Bern"


def test_a_figure_of_speech_gets_no_date() -> None:
    talk = [message(1, "It feels like just yesterday I put this dress on!", speaker="Melanie")]
    assert "2026" not in written(*talk, style="cascade", words=40)


def test_text_without_a_useful_clause_is_cut_to_length() -> None:
    assert written(message(1, "ok ok ok"), style="cascade", words=2) == "ok ok"


@pytest.mark.parametrize("style", ["cluster", "cascade"])
def test_an_empty_request_cannot_be_summarised(style: str) -> None:
    with pytest.raises(ModelError, match="nothing to summarise"):
        written(message(1, "  "), style=style)


@given(st.lists(st.text(max_size=80), min_size=1, max_size=8), st.integers(5, 60))
def test_a_cascade_of_any_talk_adds_nothing(texts: list[str], words: int) -> None:
    chat = [message(n, t) for n, t in enumerate(texts, 1)]
    if not any(t.strip() for t in texts):
        return
    assert invented_details(written(*chat, style="cascade", words=words), chat) == ()
