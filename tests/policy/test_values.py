"""Changed values: what a text counts, when an older value is outdated for a question, and when not to say so."""

import ast
import json
import math
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.growth import growth

from slowwave.policy.comparison.asked_quantity import asked_quantity
from slowwave.policy.comparison.values import (
    ValuePair,
    asks_for_history,
    asks_for_present,
    asks_for_value,
    mentions,
    newest_above_outdated,
    older_value_hits,
    value_changed,
)
from slowwave.policy.text.tokens import terms


def rare(_: str) -> float:
    return 4.0


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("The API answers in 250ms now", "250ms", {"ms"}),
        ("the gallery has 8 cards and a footer", "8", {"card"}),
        ("the gallery has eight cards and a footer", "8", {"card"}),
        ("the quota of 1,200 API calls a day", "1200", {"api", "call"}),
        ("coverage reached 78%", "78%", {"percent"}),
        ("coverage reached 78 percent", "78%", {"percent"}),
        ("rent went up to $1,450", "$1450", {"money"}),
        ("scoring 8/10 correct", "8/10", {"fraction"}),
        ("the deadline is April 1st, 2024", "april 1 2024", {"date"}),
        ("the deadline is 1 April", "april 1", {"date"}),
        ("the deadline is 2024-04-01", "april 1 2024", {"date"}),
        ("we meet every Tuesday", "tuesday", {"weekday"}),
        ("we meet at 10:30 am", "10:30am", {"clock"}),
        ("we started in 2019", "2019", {"year"}),
    ],
)
def test_a_value_has_a_normal_form_and_a_unit(text: str, value: str, unit: set[str]) -> None:
    (found,) = mentions(text)
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    "text",
    [
        "Bootstrap 5.3.0 and version 3 and v2.6 and issue #12 and HTTP 401",
        "```\nx = 8 cards\n```",
        "see `8 cards` or https://a.example/8cards",
        "I have 8.",
        "no value here",
        "one card",
    ],
)
def test_versions_code_and_bare_numbers_are_not_values(text: str) -> None:
    assert mentions(text) == ()


def test_a_pasted_table_is_read_in_bounded_time() -> None:
    table = "The dashboard API response time is now 3 cards. " * 50_000
    assert len(mentions(table)) < 500
    assert (
        older_value_hits(
            "What is the response time of the dashboard API?", [(table, 1), (table + "4", 2)], lambda _: 4.0
        )
        == []
    )


def test_context_stays_in_its_sentence_and_a_cue_must_be_near() -> None:
    first, second = mentions("The dashboard improved to 250ms. My flat has 3 rooms.")
    assert (first.context, first.cue) == ({"dashboard", "improv"}, True)
    assert (second.context, second.cue) == ({"flat"}, False)
    assert mentions("The team is no longer at 8 people")[0].cue
    assert mentions("It went from 8 cards to 10 cards")[0].cue


QUESTION = "What is the average response time of the dashboard API?"
OLD = "The dashboard API has an average response time of 800ms."
NEW = "The dashboard API response time recently improved to 250ms."


def test_an_older_value_is_outdated_by_a_newer_one() -> None:
    assert older_value_hits(QUESTION, [(OLD, 1), ("Nice weather.", 2), (NEW, 3)], rare) == [
        ValuePair(
            newer=2,
            older=0,
            new_value="250ms",
            old_value="800ms",
            stale=True,
            because="A later message says 250ms where this one says 800ms.",
        )
    ]


def test_time_decides_not_rank() -> None:
    (pair,) = older_value_hits(QUESTION, [(NEW, 3), (OLD, 1)], rare)
    assert (pair.newer, pair.older) == (0, 1)


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("Tell me about the dashboard API response", OLD, NEW),
        ("What is the name of my cat?", OLD, NEW),
        (QUESTION, OLD, NEW.replace("250", "800")),
        (QUESTION, OLD, "The dashboard API response time is 250ms."),
        (QUESTION, OLD, NEW.replace("250ms", "40%")),
        (QUESTION, OLD, "The weather recently improved to 250ms."),
        (
            QUESTION,
            "The dashboard API answered 800ms",
            "Our API time recently improved, in words of love and peace to all, to 250ms",
        ),
    ],
)
def test_values_of_other_questions_units_or_subjects_supersede_nothing(question: str, old: str, new: str) -> None:
    assert older_value_hits(question, [(old, 1), (new, 2)], rare) == []


def test_a_date_without_its_year_equals_the_full_date() -> None:
    question = "What is the deadline of the first sprint?"
    texts = [("The sprint deadline is April 1, 2024.", 1), ("The updated sprint deadline is 1 April.", 2)]
    assert older_value_hits(question, texts, rare) == []
    assert older_value_hits(question, [texts[0], ("The updated sprint deadline is 5 April.", 3)], rare)


def test_two_values_stated_at_one_time_do_not_supersede_each_other() -> None:
    assert older_value_hits(QUESTION, [(OLD, 1), (NEW, 1)], rare) == []


def test_a_question_without_idf_mass_outdates_nothing() -> None:
    assert older_value_hits(QUESTION, [(OLD, 1), (NEW, 2)], lambda _: 0.0) == []


@pytest.mark.parametrize(
    "question",
    [
        "How much did my average dashboard API response time improve?",
        "What was the dashboard API response time before the change?",
        "What is the difference of the dashboard API response times between March and May?",
        "What was the first response time of the dashboard API?",
        "What is the original response time of the dashboard API?",
    ],
)
def test_a_question_about_history_marks_nothing(question: str) -> None:
    assert asks_for_value(question)
    assert asks_for_history(question)
    assert [pair.stale for pair in older_value_hits(question, [(OLD, 1), (NEW, 2)], rare)] in ([], [False])


def test_questions_of_purpose_do_not_ask_for_history() -> None:
    assert not asks_for_history("How many problems have I practised to improve my accuracy?")
    assert asks_for_history("How much did I improve?")


def _pair(newer: int, older: int) -> ValuePair:
    return ValuePair(newer=newer, older=older, new_value="", old_value="", stale=True, because="")


@pytest.mark.parametrize(
    ("pairs", "order"),
    [
        ([], [0, 1, 2, 3]),
        ([(3, 1)], [0, 3, 1, 2]),
        ([(0, 2)], [0, 1, 2, 3]),
        ([(2, 0), (3, 0)], [2, 3, 0, 1]),
        ([(3, 2), (2, 0), (3, 0)], [3, 2, 0, 1]),
    ],
)
def test_the_newer_moves_directly_above_the_older_and_nothing_else_moves(
    pairs: list[tuple[int, int]], order: list[int]
) -> None:
    assert newest_above_outdated(4, [_pair(newer, older) for newer, older in pairs]) == order


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]), max_size=8))
def test_reordering_keeps_every_hit(pairs: list[tuple[int, int]]) -> None:
    assert sorted(newest_above_outdated(8, [_pair(newer, older) for newer, older in pairs])) == list(range(8))


def test_two_facts_with_different_values_are_linked_when_much_is_shared() -> None:
    found = value_changed("The API rate limit is now 120 requests", "The API rate limit is 100 requests", rare)
    assert found is not None
    assert (found.new_value, found.old_value) == ("120", "100")
    assert "120" in found.because


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The API rate limit is 120 requests", "The API rate limit is 100 requests"),
        ("The limit is now 120 requests", "The limit is 100 requests"),
        ("The API rate limit is now 120 requests", "The API rate limit is 100 tokens"),
        ("Project 4 now uses port 8004", "Project 3 uses port 8003"),
    ],
)
def test_facts_without_cue_shared_weight_or_unit_are_not_linked(new: str, old: str) -> None:
    assert value_changed(new, old, rare) is None


def _flat(value: object) -> list[str]:
    return [one for item in value for one in _flat(item)] if isinstance(value, list) else [str(value)]


def _said_by_user(chat: Path) -> dict[str, str]:
    turns = [turn for batch in json.loads(chat.read_text()) for turn in batch["turns"]]
    said = [message for turn in turns for message in turn if message["role"] == "user"]
    return {str(m["id"]): re.sub(r"\s*->->.*$", "", m["content"], flags=re.DOTALL) for m in said}


def test_most_real_updates_are_recognised_among_the_evidence() -> None:
    folder = os.environ.get("SLOWWAVE_DATA")
    if not folder or not Path(folder, "beam", "100K").exists():
        pytest.skip("SLOWWAVE_DATA does not point to the development data (beam/100K)")
    right = wrong = total = 0
    for chat in sorted(Path(folder, "beam", "100K").iterdir()):
        said = _said_by_user(chat / "chat.json")
        document_frequency = Counter(term for text in said.values() for term in set(terms(text)))

        def idf(term: str, size: int = len(said), df: Counter[str] = document_frequency) -> float:
            return math.log(1 + (size - df[term] + 0.5) / (df[term] + 0.5))

        for item in json.loads((chat / "probing_questions.json").read_text())["knowledge_update"]:
            gold = item["source_chat_ids"]
            gold = ast.literal_eval(gold) if isinstance(gold, str) else gold
            ids = sorted(set(_flat(list(gold.values()))) & set(said), key=int)
            pairs = older_value_hits(item["question"], [(said[i], int(i)) for i in ids], idf)
            total += 1
            right += any(ids[pair.newer] in _flat(gold["updated_info"]) for pair in pairs)
            wrong += any(ids[pair.older] in _flat(gold["updated_info"]) for pair in pairs)
    assert total == 10
    assert right >= 4
    assert wrong == 0


def test_a_noun_before_its_number_is_the_unit_of_a_number_without_one() -> None:
    assert [(m.value, sorted(m.unit)) for m in mentions("The batch size is 20.")] == [("20", ["size"])]
    assert [(m.value, sorted(m.unit)) for m in mentions("We raised the batch size to 40")] == [("40", ["size"])]
    assert mentions("We went to 40") == ()


def test_a_changed_number_after_its_noun_outdates_the_older_one() -> None:
    ranked = [("The batch size is 20 for the trainer", 1), ("I changed the trainer's batch size to 40 now", 2)]
    (pair,) = older_value_hits("What is the batch size of the trainer?", ranked, lambda _: 3.0)
    assert (pair.newer, pair.older, pair.new_value, pair.old_value) == (1, 0, "40", "20")


COUNTED = "How many jars of honey are on the shelf?"


@pytest.mark.parametrize(
    ("question", "old", "new", "values"),
    [
        (COUNTED, "We keep honey in 8 jars in the cellar", "The honey now fills 10 jars", ("8", "10")),
        (
            COUNTED,
            "The honey fills 8 jars",
            "Thanks to all the bees our jars of honey have now reached 25",
            ("8", "25"),
        ),
    ],
)
def test_a_later_count_of_what_the_question_names_outdates_the_older_one_perhaps(
    question: str, old: str, new: str, values: tuple[str, str]
) -> None:
    (pair,) = older_value_hits(question, [(old, 1), (new, 2)], lambda _: 0.5)
    assert (pair.old_value, pair.new_value, pair.stale, pair.certain) == (*values, True, False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The honey fills 8 jars", "The honey filled 10 jars"),
        ("The honey fills 8 jars", "The pickles now fill 10 jars"),
        ("The honey fills 8 jars", "The honey now costs $10"),
    ],
)
def test_another_count_without_a_word_of_change_or_of_another_thing_outdates_nothing(old: str, new: str) -> None:
    assert older_value_hits(COUNTED, [(old, 1), (new, 2)], lambda _: 0.5) == []


@pytest.mark.parametrize(
    ("question", "stale"),
    [("What is the deadline of the first essay?", True), ("What was the first deadline of the essay?", False)],
)
def test_a_question_with_first_marks_an_older_value_perhaps_unless_it_asks_for_the_past(
    question: str, *, stale: bool
) -> None:
    said = [("The deadline of the essay is April 1", 1), ("The new deadline of the essay is April 5", 2)]
    (pair,) = older_value_hits(question, said, rare)
    assert (pair.stale, pair.certain) == (stale, False)


@pytest.mark.parametrize(
    "question",
    [
        "Which editor did I use before?",
        "When did I switch to the new editor?",
        "What editor did I use to have?",
        "How did my weight change?",
        "What was our previous address?",
        "What was my old number?",
        "Which gym was I formerly at?",
        "What was the rent back then?",
    ],
)
def test_a_question_for_the_past_does_not_ask_for_the_present(question: str) -> None:
    assert not asks_for_present(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which editor do I use?",
        "How old am I?",
        "What is the deadline of the first sprint?",
        "What do I do after work?",
        "What was my half marathon time?",
    ],
)
def test_a_question_for_the_present_is_one_also_with_a_word_of_order(question: str) -> None:
    assert asks_for_present(question)


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("How many rye loaves have I baked?", "I baked 8 barley loaves", "I have now baked 12 rye loaves"),
        ("What is the rate of baked loaves?", "I baked 8 loaves", "I have now baked 12 loaves"),
        (
            "When does the first stage end?",
            "The first stage ends on March 29",
            "Stage 2 now ends on April 19",
        ),
        ("How many loaves have I sold?", "I sold 95 loaves", "I went from 70 to 90 loaves sold, up to now"),
    ],
)
def test_a_value_of_another_thing_item_or_change_outdates_nothing(question: str, old: str, new: str) -> None:
    assert older_value_hits(question, [(old, 1), (new, 2)], lambda _: 0.5) == []


def test_a_value_of_another_item_is_never_the_newer_one() -> None:
    said = [("The first stage ends on March 29", 1), ("Stage 2 now ends on April 19", 2)]
    assert older_value_hits("When does the first stage end?", said, rare) == []


def test_of_several_values_the_one_that_is_asked_for_is_compared() -> None:
    said = [
        ("I reached 70% in 12 rounds of rowing practice", 1),
        ("Now I reached 95% in 15 rounds of rowing practice", 2),
    ]
    (pair,) = older_value_hits("What is my rate after 15 rounds of rowing practice?", said, lambda _: 2.0)
    assert (pair.old_value, pair.new_value, pair.certain) == ("70%", "95%", False)


@pytest.mark.parametrize(
    ("question", "named", "counted", "item"),
    [
        ("How many rye loaves have I baked?", {"rye", "loav"}, True, ""),
        ("What is the daily call quota of my key?", {"daili", "call", "quota"}, False, ""),
        ("When does sprint 2 end?", set(), False, "2"),
        ("When is the final round?", set(), False, "last"),
    ],
)
def test_what_a_question_asks_the_value_of(question: str, named: set[str], item: str, *, counted: bool) -> None:
    asked = asked_quantity(question)
    assert (asked.named, asked.counted, asked.item, asked.is_value) == (named, counted, item, True)


def test_calls_of_a_minute_are_no_calls_of_a_day() -> None:
    asked = asked_quantity("What is the daily call quota of my key?")
    assert asked.fits(frozenset({"call", "daili"}), frozenset())
    assert not asked.fits(frozenset({"call", "minut"}), frozenset())


def test_a_share_answers_no_question_for_a_count() -> None:
    said = [
        ("I practised the rowing rounds at 20% of my strength", 1),
        ("I now practise the rowing rounds at 85% of my strength", 2),
    ]
    assert older_value_hits("How many rowing rounds have I practised?", said, rare) == []
    assert older_value_hits("What is my strength in the rowing rounds?", said, rare) != []


@pytest.mark.parametrize("unit", ["3 May, ", "is 5 "])
def test_many_values_in_one_sentence_take_linear_time(unit: str) -> None:
    assert growth(mentions, lambda length: (unit * length)[:length], (4_000, 16_000), 9) < 9
