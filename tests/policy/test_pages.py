"""Tests of the form of topic pages, of their entries, and of the choice of pages and lines for a question."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from slowwave.model.memory import PAGE, SUMMARY, Memory, SourceRef
from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.page_choice import best_page, lines_for, wants_page
from slowwave.policy.summaries.page_entries import (
    PageEntry,
    current_lines,
    fact_entries,
    fact_line,
    merged_lines,
    message_entries,
)
from slowwave.policy.summaries.pages import PageLine, lines_of, page_key, page_text
from slowwave.policy.summaries.topics import topics_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COMMON = Frequencies(documents=0, frequency=lambda _: 0)


def line(text: str, day: int, member: str = "", until: int | None = None) -> PageLine:
    end = date(2026, 2, until) if until else None
    return PageLine(text=text, day=date(2026, 1, day), member=member or text, until=end)


def page(subject: str, topic: str, *lines: PageLine) -> Memory:
    return Memory(
        id=page_key(subject, topic),
        scope="s",
        kind=SUMMARY,
        category=PAGE,
        subject=subject,
        ref=page_key(subject, topic),
        depth=1,
        text=page_text(subject, topic, lines),
        members=tuple(one.member for one in lines),
        recorded_at=NOW,
        valid_from=NOW,
    )


def message(text: str, **values: object) -> Memory:
    fields = {"role": "user", "speaker": "Ines", "conversation": "c", "seq": 1} | values
    return Memory(id="m", scope="s", kind="message", text=text, recorded_at=NOW, valid_from=NOW, **fields)  # type: ignore[arg-type]


def fact(text: str, **values: object) -> Memory:
    fields = {"subject": "Ines", "sources": (SourceRef(memory="m", ref="m"),)} | values
    return Memory(id="f", scope="s", kind="semantic", text=text, recorded_at=NOW, valid_from=NOW, **fields)  # type: ignore[arg-type]


def members(found: Sequence[tuple[Memory, PageLine]]) -> list[str]:
    return [one.member for _, one in found]


def test_the_lines_of_a_page_are_read_as_they_were_written() -> None:
    lines = (line("Ines rows on the lake", 3), line("she swims (a lot)", 5, until=7), line("a: b - c", 9))
    assert lines_of(page("Ines", "sports", *lines)) == lines


def test_a_page_that_was_edited_out_of_its_form_has_no_lines() -> None:
    whole = page("Ines", "sports", line("Ines rows", 3))
    assert lines_of(replace(whole, text=f"{whole.text}\nand more")) == ()
    assert lines_of(replace(whole, category="summary")) == ()


@pytest.mark.parametrize(
    "line", ["- 2023-13-08: a", "- 0000-01-08: a", "- 2023-05-08: a (until 2023-02-30)", "Ines: a"]
)
def test_a_page_with_one_line_out_of_its_form_has_no_lines(line: str) -> None:
    kept = PageLine(text="Ines swims", day=date(2023, 5, 8), member="m1")
    whole = page("Ines", "sports", kept, replace(kept, text="Ines rows", member="m2"))
    assert lines_of(replace(whole, text=f"{whole.text.rpartition(chr(10))[0]}\n{line}")) == ()


def test_a_message_gives_each_topic_its_clauses() -> None:
    text = (
        "Good morning! I adopted a puppy from the shelter, and my sister cooked lasagna for dinner. Do you like soup?"
    )
    found = {entry.topic: entry.line.text for entry in message_entries(message(text), frequencies=COMMON)}
    assert "puppy" in found["pets"]
    assert "lasagna" in found["food"]
    assert not any("soup" in said or "morning" in said for said in found.values())
    assert "lasagna" not in found["pets"]


@pytest.mark.parametrize(
    "said",
    [
        message("You cook wonderful lasagna for dinner, your recipe wins."),
        message("I cook lasagna for dinner.", role="assistant", speaker=None, trust="assistant"),
        message("I cook lasagna for dinner.", phase="retracted"),
        message("I cook lasagna for dinner.", role="tool", trust="tool"),
    ],
)
def test_praise_and_words_of_machines_are_no_entries(said: Memory) -> None:
    assert message_entries(said, frequencies=COMMON) == []


def test_a_user_without_a_name_has_pages_too() -> None:
    (entry, *_) = message_entries(message("I cook lasagna for dinner.", speaker=None), frequencies=COMMON)
    assert (entry.subject, entry.topic) == ("The user", "food")


def test_no_text_can_pass_for_an_outdated_line() -> None:
    (entry, *_) = message_entries(message("I cook lasagna for dinner (until 2026-01-01)"), frequencies=COMMON)
    assert lines_of(page("Ines", "food", entry.line)) == (entry.line,)


def test_a_fact_of_somebody_who_does_not_talk_stands_on_both_pages() -> None:
    entries = fact_entries(fact("Rui cooks lasagna", subject="Rui"), speaker="Ines", speakers=["Ines"])
    assert [(entry.subject, entry.topic) for entry in entries] == [("Rui", "in general"), ("Ines", "food")]


def test_a_replaced_fact_is_marked_and_a_withdrawn_one_is_not_listed() -> None:
    old = fact(
        "Ines works as a nurse", phase="superseded", reason="replaced", valid_to=datetime(2026, 4, 2, tzinfo=UTC)
    )
    marked = fact_line(old)
    assert marked is not None
    assert marked.until == date(2026, 4, 2)
    assert fact_line(fact("Ines works as a nurse", phase="retracted")) is None
    now = current_lines([line("x", 1, "f"), line("y", 1, "gone")], {"f": old})
    assert now == (replace(line("x", 1, "f"), until=date(2026, 4, 2)),)


def entry(text: str, topic: str) -> PageEntry:
    """The entry of a fact that rests on the message "m"."""
    return PageEntry(subject="Ines", topic=topic, line=line(text, 1, "f"), trust="user", covers=frozenset({"m"}))


def test_a_fact_replaces_the_line_of_its_message() -> None:
    said = line("I bought a red kayak yesterday", 2, "m")
    stated = entry("Ines bought a red kayak on 1 January 2026", "sports")
    assert merged_lines([said], [stated], limit=9, worth=len) == (stated.line,)
    late = PageEntry(subject=stated.subject, topic=stated.topic, line=said, trust="user")
    covers = {stated.line.member: stated.covers}
    assert merged_lines([stated.line], [late], limit=9, worth=len, covers=covers) == (stated.line,)


def test_over_the_limit_what_ended_goes_first_and_then_what_says_least() -> None:
    lines = [line("long long line", 1), line("a", 2), line("longest line of all", 3, until=4), line("middle", 4)]
    assert [one.text for one in merged_lines(lines, [], limit=2, worth=len)] == ["long long line", "middle"]


@pytest.mark.parametrize(
    "question",
    [
        "What are all of Ines's hobbies?",
        "Which instruments does Rui play?",
        "How many times did I visit the dentist?",
        "In which order did I bring up the rooms?",
        "How has my diet changed?",
        "Summarise what we planned for the garden",
        "What has Ines painted?",
    ],
)
def test_lists_orders_counts_and_changes_want_a_page(question: str) -> None:
    assert wants_page(question)


@pytest.mark.parametrize(
    "question",
    [
        "When does Ines fly to Oslo?",
        "What is the name of Rui's dog?",
        "How many days until the exam?",
        "Who did Ines have lunch with on 3 May?",
        "What Rui thinks the ideal workshop should look like?",
        "What did Ines make a set of?",
        "What does the choir make her?",
        "What was the name of the cat that Rui had to give away?",
    ],
)
def test_a_question_for_one_thing_wants_no_page(question: str) -> None:
    assert not wants_page(question)


def test_a_question_chooses_the_page_of_its_person_and_topic() -> None:
    pages = [
        page("Ines", "food", line("I bake bread", 1)),
        page("Ines", "sports", line("I row", 1)),
        page("Rui", "sports", line("I box", 1)),
    ]
    assert best_page("Which sports does Ines do?", pages) == pages[1]
    assert best_page("Which sports does Rui do?", pages) == pages[2]
    assert best_page("Which stamps does Ines own?", pages) is None


def test_a_question_without_a_name_is_answered_from_the_pages_of_everybody() -> None:
    pages = [page("Ines", "sports", line("I row", 1, "a")), page("Rui", "sports", line("I box", 1, "b"))]
    assert members(lines_for("What sports have they done?", pages)) == ["a", "b"]


def test_a_phrase_whose_words_are_of_another_topic_alone_does_not_name_that_topic() -> None:
    assert "sports" not in topics_of("Ines was late three times in a row", least=1)
    assert "sports" not in topics_of("Ines is running for mayor", least=1)
    assert "sports" in topics_of("Ines rows and runs", least=1)


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Ines started a food drive", {"community"}),
        ("Ines works at the food bank", {"community", "work"}),
        ("Ines ran a toy drive for kids in need", {"community", "sports"}),
        ("We saved a family from a burning barn", set()),
        ("Ines saw to it after helping another poor family", set()),
        ("Ines comes from a big family", {"family"}),
        ("Ines helps her family", {"family", "community"}),
        ("Ines is staying active", {"sports"}),
    ],
)
def test_charity_and_families_that_are_helped_are_not_food_home_or_the_own_family(text: str, topics: set[str]) -> None:
    assert set(topics_of(text, 9, least=1)) == topics


@pytest.mark.parametrize(
    "text",
    [
        "Ines listens to My Brother, My Brother and Me",
        'Ines watched "The Sister of My Mother"',
        "Ines likes “Family Guy”",
    ],
)
def test_the_title_of_a_work_tells_no_topic(text: str) -> None:
    assert "family" not in topics_of(text, 3, least=1)
    assert "family" in topics_of(f"{text} with her sister", 3, least=1)


def test_a_quoted_remark_and_a_name_tell_topics() -> None:
    assert "family" in topics_of('Ines said "my sister is here"', 3, least=1)
    assert "family" in topics_of("My Brother is called Tom Hale", 3, least=1)


def test_only_lines_with_words_of_the_question_answer_it_and_ended_ones_come_last() -> None:
    lines = [
        line("I row", 1, "a"),
        line("I mend walls", 2, "b"),
        line("I swim", 3, "c"),
        line("I mend", 4, "d", until=5),
        line("I mend on Mondays", 5, "e"),
        line("I fence", 6, "f"),
    ]
    pages = [page("Ines", "in general", *lines)]
    assert members(lines_for("What has Ines mended?", pages, {"c": 0.9, "e": 0.05})) == ["e", "b", "d"]
    assert lines_for("Which cities has Ines visited?", pages, {"c": 0.9}) == []


def test_a_line_of_another_page_answers_a_question_for_its_topic() -> None:
    travel = [line("In 2022 Ines took a solo trip to Spain", 1, "spain"), line("Ines keeps bees", 2, "bees")]
    pages = [page("Ines", "life", *travel), page("Ines", "work", line("Ines flew to the airport of Rome", 3, "rome"))]
    assert members(lines_for("Which European countries has Ines seen?", pages)) == ["spain", "rome"]
    assert best_page("Which European countries has Ines seen?", pages) == pages[1]


def test_a_member_on_two_pages_is_listed_once() -> None:
    rowed = line("I rowed with my sister", 1, "a")
    pages = [page("Ines", topic, rowed) for topic in ("sports", "family")]
    assert members(lines_for("What has Ines rowed?", pages)) == ["a"]


def test_all_lines_answer_a_question_for_the_topic_of_their_page() -> None:
    lines = [line("I row", 1, "a"), line("I climb walls", 2, "b")]
    sports = page("Ines", "sports", *lines)
    assert members(lines_for("Which sports does Ines do?", [sports])) == ["b", "a"]
    assert lines_for("Which cities has Ines visited?", [sports]) == []
    assert best_page("Which cities has Ines visited?", [sports], {"a": 0.5, "b": 0.4}) is None


def test_a_word_of_most_lines_answers_only_a_question_without_another() -> None:
    lines = [line(f"I {verb} in the barn", day, verb) for day, verb in enumerate(("sing", "hum", "whistle"), start=1)]
    barn = page("Ines", "in general", *lines)
    assert len(lines_for("What has Ines done in the barn?", [barn])) == 3
    assert members(lines_for("What has Ines whistled in the barn?", [barn])) == ["whistle"]
    assert lines_for("Which tins has the barn of Ines got?", [barn]) == []


@pytest.mark.parametrize(
    "text",
    [
        "[image: a photo of a dog on a sofa]",
        "Let's keep the garden club together!",
        "Your sister cooks wonderful lasagna.",
        "Losing a dog is tough.",
        "Keep up the good work at the hospital!",
        "I'm glad the pottery class was fun.",
        "which helped me with my asthma",
        "We should all cook more soup.",
        "I've been busy at the office since we last talked!",
        "There's something I want to tell my boss.",
        "I want to help make that work.",
        "My sister rocks, her support is a good show of life.",
    ],
)
def test_what_is_not_told_of_the_own_life_is_no_entry(text: str) -> None:
    found = message_entries(message(text), frequencies=COMMON)
    assert [entry.topic for entry in found if entry.topic != "family"] == []


def test_a_caption_stands_beside_words_about_the_same() -> None:
    text = "I carved a wooden spoon in my pottery shed. [image: a photo of a carved wooden spoon]"
    (entry,) = (found for found in message_entries(message(text), frequencies=COMMON) if found.topic == "hobbies")
    assert entry.line.text.endswith("[a photo of a carved wooden spoon]") or "[" not in entry.line.text
    other = "I baked bread in my new oven. [image: a photo of a lighthouse in the fog]"
    assert all("[" not in found.line.text for found in message_entries(message(other), frequencies=COMMON))


def test_the_name_of_a_pet_stands_on_its_page() -> None:
    text = "I adopted a puppy from the pound in June! Her name is Biscuit. The weather was fine."
    (entry,) = (found for found in message_entries(message(text), frequencies=COMMON) if found.topic == "pets")
    assert "Biscuit" in entry.line.text
    assert "weather" not in entry.line.text


def test_the_name_of_a_pet_that_was_asked_for_is_listed_once_with_what_it_names() -> None:
    said = message("Her name is Biscuit! She sleeps all day.")
    found = message_entries(said, frequencies=COMMON, asked="So cute, another dog! What's her name?")
    assert [entry.line.text for entry in found if entry.topic == "life"] == ["names of pets: Biscuit"]


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("I hope you have a good trip", False),
        ("Sounds like a plan!", False),
        ("I wanted to feel closer to the sea", False),
        ("I want to make sure that I understand it", False),
        ("I want to know whether this is right", False),
        ("I want to see Porto", True),
        ("Ines is planning to row across the lake", True),
        ("Ines wants to become a glazier", True),
        ("Ines moves to Porto next month", True),
    ],
)
def test_a_plan_has_a_verb_of_planning_or_a_future_time(text: str, planned: bool) -> None:
    assert ("plans" in topics_of(text, 3)) is planned


def test_an_ambiguous_word_alone_is_no_topic() -> None:
    assert topics_of("They run for the rock show on the table") == ()
    assert "sports" in topics_of("They run and train for it")
    assert fact_entries(fact("Ines runs every morning"), speaker="Ines", speakers=["Ines"])[0].topic == "sports"


def test_a_fact_replaces_only_the_clause_that_it_tells() -> None:
    said = line("I bought a red kayak yesterday; my brother rows on Sundays", 2, "m")
    stated = entry("Ines bought a red kayak on 1 January 2026", "sports")
    assert [one.text for one in merged_lines([said], [stated], limit=9, worth=len)] == [
        stated.line.text,
        "my brother rows on Sundays",
    ]


def test_an_expired_fact_is_marked_before_it_is_archived() -> None:
    due = fact("Ines has a fair coming up", expires_at=datetime(2026, 2, 20, tzinfo=UTC))
    assert end_of(due, datetime(2026, 2, 10, tzinfo=UTC)) is None
    assert end_of(due, NOW) == NOW.date()


def test_a_plan_ends_when_its_words_end_and_not_on_the_day_on_which_it_was_stated() -> None:
    plan = fact("Ines is going to Rome on 5 May 2026", phase="cold", reason="expired")
    assert end_of(plan) == date(2026, 5, 7)


def test_a_fact_whose_time_to_live_is_over_has_not_ended() -> None:
    assert end_of(fact("Ines works on a bridge", category="project_status", phase="cold", reason="expired")) is None


def end_of(one: Memory, now: datetime | None = None) -> date | None:
    found = fact_line(one, now)
    assert found is not None
    return found.until


@pytest.mark.parametrize(
    "question", ["What do you know about Ines?", "Tell me about Ines.", "Sum up Ines's life story.", "The life of Ines"]
)
def test_a_question_for_a_life_finds_its_page_with_all_lines(question: str) -> None:
    lines = [line(f"I {verb} in the choir", day, verb) for day, verb in enumerate(("sing", "hum", "whistle"), start=1)]
    life, hobbies = page("Ines", "life", *lines), page("Ines", "hobbies", *lines)
    assert wants_page(question)
    assert best_page(question, [hobbies, life]) == life
    assert len(lines_for(question, [life])) == 3


def test_what_two_people_have_in_common_is_looked_for_in_both_lives() -> None:
    lives = [page(name, "life", line("I sing in the choir", 1, name)) for name in ("Ines", "Rui", "Odile")]
    question = "What do Ines and Rui have in common?"
    assert wants_page(question)
    assert members(lines_for(question, lives)) == ["Ines", "Rui"]


def test_the_page_of_a_life_comes_after_a_page_of_one_topic_that_answers() -> None:
    lines = [line(f"I {verb} in the choir", day, verb) for day, verb in enumerate(("sing", "hum", "whistle"), start=1)]
    life, hobbies = page("Ines", "life", *lines), page("Ines", "hobbies", *lines)
    other = page("Ines", "food", line("I cook soup", 1, "soup"))
    question = "What has Ines done in the choir?"
    assert best_page(question, [life, hobbies]) == hobbies
    assert best_page(question, [life, other]) == life


def test_a_question_about_one_thing_of_a_life_wants_no_page() -> None:
    life = page("The user", "life", line("I sing", 1, "sing"))
    assert best_page("Tell me about cooking", [life]) is None
    assert best_page("What do you know about cooking?", [life]) is None
    assert best_page("What do you know about me?", [life]) == life
    assert not wants_page("When did Ines begin her new job?")


def test_a_caption_does_not_stay_without_the_words_it_shows() -> None:
    said = line("I took my kids to a pottery workshop; [a photo of children making pots]", 2, "m")
    stated = entry("Ines took Ines's kids to a pottery workshop", "hobbies")
    assert merged_lines([said], [stated], limit=9, worth=len) == (stated.line,)
