"""The parser: every malformed reply, every task, many seeds; and whatever text there is."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from slowwave.errors import ModelError
from slowwave.minds.llm.parse import FACTS, LISTED, VERDICTS, ParsedReply, counted, read
from slowwave.minds.llm.reply_models import FactItem
from slowwave.model.mind import Rejected
from slowwave.model.plain_text import tidy
from slowwave.testing import SHAPES, malformed

SEEDS = range(20)
SHAPE_OF = {"distil": FACTS, "reconcile": VERDICTS}

DECIDED = '{"reviewed": 2, "changes": [{"fact": 1, "op": "ADD"}]}'
UNREADABLE = {"01", "02", "03", "04", "05", "08", "10", "11", "21", "25", "26", "28", "31", "33"}
"""Shapes in which, whatever the seed, no answer stands."""


def objects(reply: object) -> Iterator[dict]:
    """Every object that stands in a reply as it is, wherever and however deep."""
    if isinstance(reply, dict):
        yield reply
        for inner in reply.values():
            yield from objects(inner)
    elif isinstance(reply, list):
        for inner in reply:
            yield from objects(inner)
    elif isinstance(reply, str):
        reply = re.sub(r",(?=\s*[}\]])", " ", reply)  # a comma too many is no part of a value
        decoder = json.JSONDecoder(
            strict=False, parse_int=lambda digits: int(digits) if len(digits) < 19 else float("inf")
        )
        for start, character in enumerate(reply):
            if character == "{":
                try:
                    yield from objects(decoder.raw_decode(reply, start)[0])
                except (ValueError, RecursionError):
                    continue


def stands_in(item: object, reply: object) -> bool:
    names = ("text",) if isinstance(item, FactItem) else ("fact", "op", "memory", "text")
    fields = {name: getattr(item, name) for name in names}
    return any(all(same(value, found.get(name)) for name, value in fields.items()) for found in objects(reply))


def same(read_as: object, written: object) -> bool:
    if isinstance(read_as, str):
        return isinstance(written, str) and read_as.casefold() == tidy(written).casefold()
    return read_as == written or str(read_as) == str(written).strip()


@pytest.mark.parametrize("task", ["distil", "reconcile"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_malformed_reply_yields_only_its_own_content(name: str, task: str) -> None:
    for seed in SEEDS:
        reply = malformed(name, task, seed=seed)
        try:
            reading = read(reply, SHAPE_OF[task])
        except ModelError:
            continue
        assert name[:2] not in UNREADABLE, (seed, reply)
        assert reading.items, "an answer without items is one that says so"
        assert all(stands_in(item, reply) for item in reading.items), (seed, reply)
        assert len(set(reading.items)) == len(reading.items)
        assert all(rejected.reason for rejected in reading.rejected)


@pytest.mark.parametrize("task", ["distil", "reconcile"])
def test_every_item_is_accepted_or_refused_and_none_is_lost(task: str) -> None:
    for name in (
        "12 a null field",
        "13 numbers as text",
        "14 foreign words",
        "35 the same for ever",
        "37 odd ids",
        "38 against itself",
    ):
        for seed in SEEDS:
            reply = malformed(name, task, seed=seed)
            (items,) = json.loads(reply).values()
            reading = read(reply, SHAPE_OF[task])
            assert len(reading.items) + len(reading.rejected) == len(items), (name, seed)


def texts(reply: object) -> list[str]:
    return [item.text for item in read(reply, FACTS).items]


def reasons(reply: object) -> list[str]:
    return [item.reason for item in read(reply, FACTS).rejected]


def test_an_empty_list_is_an_answer() -> None:
    for reply in (
        '{"facts": []}',
        "[]",
        " [] ",
        '```json\n{"facts": []}\n```',
        '<think>hmm {x}</think>{"facts":[]}',
        {"facts": []},
        [],
    ):
        assert read(reply, FACTS) == ParsedReply()


@pytest.mark.parametrize(
    "reply",
    [
        "", "null", "I found nothing []", '{"facts": null}', '{"facts": "none"}', '{"rejected": [{"text": "a"}]}',
        '{"rejected": [{"text": "a"}, {"te', '{"draft": {"facts": [{"text": "a"}]}, "final": {"facts": [{"text": "b"}]}}', "{'facts': [{'text': 'a'}]}",
        '{"facts": {"type": "array"}}', '<think>{"facts": [{"text": "a"}]}', '{"facts": [1, "two", null]}',
        '{"facts": [{"text": "a"}], "facts": [{"text": "b"}]}', 7, None, {"status": "ok"}, [[]], "[" * 100_000, "x" * 1_000_001,
    ],
)  # fmt: skip
def test_no_answer_is_an_error_and_never_an_empty_list(reply: object) -> None:
    with pytest.raises(ModelError):
        read(reply, FACTS)


ONE = '{"facts": [{"text": "one two", "category": "c", "messages": [1], "quote": "q"}]}'
DRAFT = '{"facts": [{"text": "draft", "category": "c", "messages": [1], "quote": "q"}]}'


def call(arguments: object) -> str:
    return json.dumps({"name": "answer", "arguments": arguments})


@pytest.mark.parametrize(
    "reply",
    [
        f'{{"answer": {ONE}}}', f'{{"data": {ONE}, "status": "ok"}}', f'{{"data": [{ONE}]}}', json.dumps(ONE), json.dumps(json.dumps(ONE)),
        json.dumps({"answer": ONE}), json.dumps({"answer": f"```json\n{ONE}\n```"}), json.dumps([{"type": "text", "text": ONE}]),
        json.dumps({"role": "assistant", "content": ONE}), json.dumps({"choices": [{"message": {"content": ONE}}]}),
        f"<tool_call>{call(json.loads(ONE))}</tool_call>", f"<tool_call>\n{call(ONE)}\n</tool_call>", f"<tool_call>{ONE}",
        ONE.replace('"}', '", }'), ONE.replace("}]}", "},\n],\n}"), ONE.replace("[1]", "[1,]"), ONE.replace("[1]", '[["1"]]'),
    ],
)  # fmt: skip
def test_an_answer_is_read_in_what_servers_put_around_it(reply: str) -> None:
    (item,) = read(reply, FACTS).items
    assert (item.text, item.messages, item.quote) == ("one two", (1,), "q")


@pytest.mark.parametrize(
    "reply", [f'{{"answer": {DECIDED}}}', json.dumps(DECIDED), DECIDED.replace('"ADD"}', '"ADD",}')]
)
def test_verdicts_are_read_in_what_servers_put_around_them(reply: str) -> None:
    reading = read(reply, VERDICTS)
    assert ([item.op for item in reading.items], reading.reviewed) == (["ADD"], 2)


REASONED = [
    "<think>{}</think>", "[THINK]{}[/THINK]", "◁think▷{}◁/think▷", "<seed:think>{}</seed:think>", "<|begin_of_thought|>{}<|end_of_thought|>",
    "<|START_THINKING|>{}<|END_THINKING|>", "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel>thought\n{}<channel|>", "<plan>{}</plan>", "[DRAFT]{}[/DRAFT]",
]  # fmt: skip


@pytest.mark.parametrize("marks", REASONED)
def test_a_draft_in_marks_is_no_answer(marks: str) -> None:
    for answer in (ONE, f"<tool_call>{call(json.loads(ONE))}</tool_call>", f"```json\n{ONE}\n```"):
        assert texts(marks.format(f" Maybe {DRAFT}? ") + answer) == ["one two"]


@pytest.mark.parametrize("marks", REASONED[:8])
def test_reasoning_without_an_answer_is_no_answer(marks: str) -> None:
    for reply in (marks.format(DRAFT), marks.partition("{}")[0] + DRAFT):
        with pytest.raises(ModelError):
            read(reply, FACTS)


def test_an_answer_that_an_item_quotes_is_not_read() -> None:
    item = {"text": "one", "category": "c", "messages": [1], "quote": DRAFT}
    assert texts(json.dumps([item])) == texts(json.dumps({"facts": [item]})) == ["one"]


def test_commas_too_many_take_linear_time() -> None:
    started = time.process_time()
    reply = '{"facts": [' + ", ".join('{"text": "one two",}' for _ in range(90)) + "]}"
    assert set(texts(reply)) == {"one two"}
    assert time.process_time() - started < 1


def test_a_truncated_item_is_dropped_and_counted() -> None:
    reply = '{"facts": [{"text": "one"}, {"text": "two"}, {"text": "thr'
    assert texts(reply) == ["one", "two"]
    assert reasons(reply) == ["cut off, garbled or no object"]


def test_an_object_inside_a_broken_item_is_no_item() -> None:
    assert texts('{"facts": [{"text": "one"}, {"text": "two", "sources": [{"text": "inner"}], "con') == ["one"]


def test_one_broken_item_does_not_affect_the_others() -> None:
    reply = '{"facts": [{"text": "one"}, {"text": "two" oops}, {"text": "three"}]}'
    assert texts(reply) == ["one", "three"]
    assert len(reasons(reply)) == 1


@pytest.mark.parametrize(
    ("reply", "cut"),
    [
        ('{"facts": [{"text": "one"}, {"text": "tw', True),
        ('{"facts": [{"text": "one"}', True),
        ('{"facts": [{"text": "one"}, ', True),
        ('{"facts": [{"text": "one", "messages": [1, 2]}, {"text": "two", "messages": [1]', True),
        ('```json\n{"facts": [{"text": "one"}, {"te', True),
        ('{"facts": [{"text": "one"}, {"text": "two" oops}]}', False),
        ('{"facts": [{"text": "one"}, {"text": "two" oops}]\n}\n```', False),
        ('{"facts": [{"text": "one"}]}', False),
        ('{"facts": []}', False),
    ],
)
def test_a_list_that_is_not_closed_is_cut_off(reply: str, *, cut: bool) -> None:
    assert read(reply, FACTS).cut == cut


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "the model answered with an empty text"),
        ("  \n", "the model answered with an empty text"),
        (
            "I'm sorry, but I can't help with that.",
            "the model refused to answer: \"I'm sorry, but I can't help with that.\"",
        ),
        ("Nothing worth noting.", "no complete JSON object"),
    ],
)
def test_no_answer_is_told_in_plain_words(reply: str, said: str) -> None:
    with pytest.raises(ModelError, match=re.escape(said)):
        read(reply, FACTS)


def test_the_complete_items_of_a_truncated_list_are_read() -> None:
    assert texts('```json\n[{"text": "one"}, {"text": "tw') == ["one"]


def test_the_last_block_is_the_answer_and_earlier_text_is_counted() -> None:
    reply = (
        '```json\n{"facts": [{"text": "draft"}]}```\nno, rather\n```json\n{"facts": [{"text": "final"}]}```\nsee [1]'
    )
    assert texts(reply) == ["final"]
    assert reasons(reply) == ["is before the last block"]


def test_marks_inside_a_string_are_words() -> None:
    text = "Uses <think> tags, </think> and ``` fences"
    assert texts(json.dumps({"facts": [{"text": text}]})) == [text]


def test_reasoning_is_no_answer_even_without_its_opening_mark() -> None:
    assert texts('perhaps {"facts": [{"text": "draft"}]} </think> {"facts": [{"text": "final"}]}') == ["final"]


def test_a_duplicate_key_refuses_the_item_unless_both_values_are_equal() -> None:
    assert texts('{"facts": [{"text": "a", "text": "a"}, {"text": "b", "text": "c"}]}') == ["a"]


def test_doubtful_options_fall_back_and_numbers_are_held_to_their_range() -> None:
    fields = {"text": "a b", "message": " 3 ", "confidence": "x", "importance": 7, "kind": "Fakt", "subject": ["x"]}
    (item,) = read({"facts": [{**fields, "valid_from": "soon", "expires_in_hours": -1}]}, FACTS).items
    assert (item.messages, item.confidence, item.importance, item.kind, item.subject) == ((3,), 0.7, None, None, None)
    assert item.valid_from is None
    assert item.expires_in_hours is None
    for given_, kept in (
        (1.7, 1.0),
        (-1, 0.0),
        ("0.25", 0.25),
        (None, 0.7),
        (True, 0.7),
        (float("nan"), 0.7),
        (10**400, 0.7),
    ):
        assert read({"facts": [{"text": "a", "confidence": given_}]}, FACTS).items[0].confidence == kept


@pytest.mark.parametrize(
    ("fields", "numbers"),
    [
        ({"messages": [3, "4", 5.0]}, (3, 4, 5)),
        ({"messages": 2}, (2,)),
        ({"messages": [], "message": 7}, (7,)),
        ({"messages": None}, ()),
        ({}, ()),
    ],
)
def test_numbers_of_messages_are_read_from_a_list_a_number_or_the_older_field(fields: object, numbers: object) -> None:
    assert read({"facts": [{"text": "a b", **fields}]}, FACTS).items[0].messages == numbers


def test_a_date_keeps_its_offset_or_has_none() -> None:
    def instant(written: object) -> str | None:
        (item,) = read({"facts": [{"text": "a", "valid_from": written}]}, FACTS).items
        return item.valid_from and item.valid_from.isoformat()

    assert instant("2026-02-28") == "2026-02-28T00:00:00"
    assert instant("2026-02-28T10:00:00+02:00") == "2026-02-28T10:00:00+02:00"
    assert instant(20260228) is None


def test_texts_are_cleaned_and_bounded() -> None:
    assert texts({"facts": [{"text": "K\x00f\ud83d\n\x07 two"}]}) == ["K\ufffdf\ufffd two"]
    assert reasons({"facts": [{"text": "a"}, {"text": "x" * 1_001}, {"text": "…"}, {"text": "b", "quote": "q" * 4_001}, {"text": "c", "message": "m1"}]}) == [
        "text is longer than 1,000 characters", "text has no words", "quote is longer than 4,000 characters", "message is not a whole number",
    ]  # fmt: skip


def test_many_refusals_are_listed_at_first_and_then_counted() -> None:
    shown = counted([Rejected(text="", reason="repeated")] * (LISTED + 30) + [Rejected(text="", reason="odd")])
    assert len(shown) == LISTED + 2
    assert [item.reason for item in shown[LISTED:]] == ["repeated (30 more)", "odd (1 more)"]


SLOW = [
    '{"facts": [' * 50_000, '{"a' * 200_000, "[1," * 200_000, '{"facts":' * 400 + "1," * 300_000, "<think>{}" * 60_000, "```{}" * 60_000,
    '{"facts": [' + "}{x" * 200_000, '{"facts": [' + '}{"' * 200_000, '"facts": [' * 90_000, "{" + " " * 900_000, "[" + '"' * 900_000,
]  # fmt: skip


def test_reading_stays_fast_on_adversarial_replies() -> None:
    for reply in SLOW:
        begun = time.process_time()
        with pytest.raises(ModelError):
            read(reply, FACTS)
        assert time.process_time() - begun < 3, reply[:20]


PIECES = st.sampled_from(
    ['{"facts": [', '{"text": "a b"}', '{"text": "c", "message": 1}', "]}", "]", "}", "{", ",", '"', "```json\n", "```", "<think>", "</think>",
     "\\", "\n", '{"facts": []}', "prose ", '"text": ', "NaN", "null", "'", "[", '{"text": "torn']
)  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join)))
def test_any_text_is_read_literally_or_refused_with_a_model_error(reply: str) -> None:
    try:
        reading = read(reply, FACTS)
    except ModelError:
        return
    assert all(stands_in(item, reply) for item in reading.items)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(st.sampled_from(["facts", "text", "message", "quote", "x"]), inner)
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=300)
@given(JSON, st.booleans())
def test_any_json_is_read_literally_or_refused_whether_parsed_or_written(data: object, parsed: bool) -> None:
    reply = data if parsed and not isinstance(data, str) else json.dumps(data)
    try:
        reading = read(reply, FACTS)
    except ModelError:
        return
    assert all(stands_in(item, data) for item in reading.items)
