from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from slowwave.errors import InputError
from slowwave.model import message as module
from slowwave.model.message import (
    ROLES,
    Message,
    MessageLike,
    as_messages,
    checked_message,
    checked_time,
    clean,
    listed_messages,
    unstored_fields,
)
from slowwave.model.names import checked_name

GOOD = Message("user", "Hello", speaker="Alice", at=datetime(2026, 1, 1, tzinfo=UTC), id="m-1")


@given(st.text(st.characters(codec=None)))
def test_clean_text_can_be_stored_anywhere_and_stays_clean(text: str) -> None:
    stored = clean(text)
    assert stored.encode().decode() == stored
    assert "\x00" not in stored
    assert clean(stored) == stored


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_text_that_can_be_stored_is_kept_verbatim(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(("text", "stored"), [("a\x00b", "a\ufffdb"), ("a\ud83d", "a\ufffd"), ("\ud83d\ude00", "😀")])
def test_characters_that_cannot_be_stored_are_replaced(text: str, stored: str) -> None:
    assert clean(text) == stored


@pytest.mark.parametrize(("at", "sort"), [("2026-01-01", "str"), (1767225600, "int")])
def test_a_time_of_another_type_is_refused_with_the_type_to_pass(at: object, sort: str) -> None:
    with pytest.raises(InputError, match=f"is of type {sort}: pass a datetime"):
        checked_time(at, "the time")


def test_a_time_outside_the_calendar_is_refused() -> None:
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        checked_time(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))), "the time")


def test_a_time_of_a_subclass_becomes_a_plain_one() -> None:
    class Moment(datetime):
        """Calculates differently, as the times of other libraries do."""

        def __sub__(self, other: object) -> Any:  # noqa: ANN401 - what is tried
            raise AttributeError("no such calculation")

    at = checked_time(Moment(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1), "the time")
    assert type(at) is datetime
    assert at == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("offset", [timedelta(hours=25), "+01:00"])
def test_a_time_zone_without_a_valid_offset_is_refused(offset: Any) -> None:  # noqa: ANN401 - what is tried
    class Zone(tzinfo):
        def utcoffset(self, _: datetime | None, /) -> Any:  # noqa: ANN401 - what is tried
            return offset

    with pytest.raises(InputError, match="the time has a time zone without a valid offset"):
        checked_time(datetime(2026, 1, 1, tzinfo=Zone()), "the time")


def test_a_number_of_an_enumeration_is_an_id_in_digits() -> None:
    class Chat(int, Enum):
        MONDAY = 7

    (message,) = as_messages({"role": "user", "content": "Hello", "id": Chat.MONDAY})
    assert message.id == "7"
    assert checked_name(Chat.MONDAY, "conversation", numbers=True) == "7"


def test_a_good_message_stays_as_it_is() -> None:
    assert checked_message(GOOD) == GOOD
    bare = Message("tool", "42")
    assert checked_message(bare) == bare
    assert [checked_message(Message(role, "x")).role for role in ROLES] == list(ROLES)


def test_the_content_of_a_message_is_cleaned() -> None:
    assert checked_message(Message("user", "a\x00", speaker="b", id="c")) == Message(
        "user", "a\ufffd", speaker="b", id="c"
    )


@pytest.mark.parametrize("name", ["speaker", "id"])
@pytest.mark.parametrize("value", ["b\x00", "b\ud800", "\ud83d\ude00"])
def test_names_that_cannot_be_stored_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"message 3 has the {name} .*NUL or a lone surrogate"):
        checked_message(replace(GOOD, **{name: value}), "message 3")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"role": "robot"}, "role 'robot': use one of user, assistant, system, tool"),
        ({"content": "  \n"}, "has no text: leave empty messages out"),
        ({"content": None}, "has no text"),
        ({"speaker": " "}, "speaker ' ': use 1 to 512 characters, or None"),
        ({"speaker": 7}, "speaker 7"),
        ({"id": "x" * 513}, "has the id"),
        ({"at": "2026-01-01"}, "message 3's time '2026-01-01' is of type str"),
    ],
)
def test_a_bad_message_is_refused_naming_its_place(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match="message 3") as raised:
        checked_message(replace(GOOD, **wrong), "message 3")
    assert words in str(raised.value)


@pytest.mark.parametrize("wrong", ["hello", 7, None, ["user", "hello"]])
def test_another_type_than_a_message_is_refused_with_the_class_to_use(wrong: object) -> None:
    with pytest.raises(InputError, match=r"pass slowwave\.Message\(role=\.\.\., content=\.\.\.\), or a mapping"):
        as_messages(wrong)


def test_a_message_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 10)
    with pytest.raises(InputError, match="11 characters, more than 10: cut it into parts"):
        checked_message(Message("user", "x" * 11))


@pytest.mark.parametrize(
    ("one", "role", "content", "speaker"),
    [
        ({"role": "user", "content": "Hi"}, "user", "Hi", None),
        ({"role": "human", "content": "Hi"}, "user", "Hi", None),
        ({"role": "USER", "content": "Hi"}, "user", "Hi", None),
        ({"role": "ai", "content": "Hi"}, "assistant", "Hi", None),
        ({"role": "model", "content": "Hi"}, "assistant", "Hi", None),
        ({"role": "CHATBOT", "content": "Hi"}, "assistant", "Hi", None),
        ({"role": "bot", "content": "Hi"}, "assistant", "Hi", None),
        ({"role": "developer", "content": "Hi"}, "system", "Hi", None),
        ({"role": "function", "name": "weather", "content": "Rain"}, "tool", "Rain", "weather"),
        ({"role": "user", "content": "Hi", "speaker": "Ada", "name": "ada_1"}, "user", "Hi", "Ada"),
        ({"role": "user", "content": ["One", {"type": "input_text", "text": "Two"}]}, "user", "One\nTwo", None),
        ({"role": "user", "content": [{"text": "Hi"}]}, "user", "Hi", None),
        ({"role": "user", "content": [{"text": "Hi", "functionality": {"a": 1}}]}, "user", "Hi", None),
        ({"role": "user", "content": {"type": "text", "text": "Hi"}}, "user", "Hi", None),
        ({"role": "user", "content": [{"type": "input_audio"}, {"type": "file"}]}, "user", "[audio]\n[file]", None),
        ({"role": "assistant", "content": None, "refusal": "I cannot"}, "assistant", "I cannot", None),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]}, "assistant", "No", None),
        (
            {"role": "assistant", "content": [{"type": "thinking", "text": "Hm"}, {"type": "text", "text": "Yes"}]},
            "assistant",
            "Yes",
            None,
        ),
        ({"role": "tool", "content": [{"type": "tool_result", "content": [{"text": "42"}]}]}, "tool", "42", None),
        (Message("developer", "Hi"), "system", "Hi", None),
    ],
)
def test_each_form_of_a_message_gives_its_role_and_text(
    one: MessageLike, role: str, content: str, speaker: str | None
) -> None:
    (message,) = as_messages(one)
    checked = checked_message(message)
    assert (checked.role, checked.content, checked.speaker) == (role, content, speaker)


@pytest.mark.parametrize(
    "one",
    [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]},
        {"role": "assistant", "tool_calls": [{"id": "call_1"}]},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]},
        {"role": "assistant", "content": []},
        Message("assistant", " \n"),
    ],
)
def test_a_message_that_only_calls_tools_has_no_text(one: MessageLike) -> None:
    assert as_messages(one) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"content": "Hi"}, "has no 'role'"),
        ({"role": "user", "contents": "Hi"}, "has no 'content'"),
        ({"role": "robot", "content": "Hi"}, "has the role 'robot'"),
        ({"role": None, "content": "Hi"}, "has no 'role'"),
        ({"role": "user", "content": 7}, "has content of type int"),
        ({"role": "user", "content": [7]}, "has a part of type int"),
        ({"role": "user", "content": "Hi", "at": "yesterday"}, "has the time 'yesterday': use ISO 8601"),
        ({"role": "user", "content": "Hi", "id": True}, "has the id True"),
        ({"role": "user", "content": "Hi", "name": 7}, "has the speaker 7"),
    ],
)
def test_a_mapping_that_is_no_message_is_refused_naming_its_place(wrong: MessageLike, words: str) -> None:
    with pytest.raises(InputError, match="message 3") as raised:
        [checked_message(message, "message 3") for message in as_messages(wrong, "message 3")]
    assert words in str(raised.value)


RESULT: Any = {"city": "Rome", "temp": 9}


@pytest.mark.parametrize(
    ("role", "part", "text"),
    [
        ("user", {"type": "tool_result", "tool_use_id": "t", "content": "Rome"}, "Rome"),
        ("user", {"type": "tool_result", "content": [{"type": "text", "text": "A"}, {"type": "image", "source": {}}]}, "A\n[image]"),
        ("user", {"type": "tool_result", "content": RESULT}, '{"city": "Rome", "temp": 9}'),
        ("user", {"type": "tool_result", "tool_use_id": "t", "rows": [1]}, '{"rows": [1]}'),
        ("user", {"type": "mcp_tool_result", "content": [RESULT]}, '[{"city": "Rome", "temp": 9}]'),
        ("user", {"toolResult": {"toolUseId": "t", "content": [{"json": RESULT}, {"text": "B"}]}}, '{"city": "Rome", "temp": 9}\nB'),
        ("user", {"functionResponse": {"name": "f", "response": RESULT}}, '{"city": "Rome", "temp": 9}'),
        ("user", {"text": None, "function_response": {"id": None, "response": {"output": "Rome"}}}, '{"output": "Rome"}'),
        ("user", {"type": "function_call_output", "call_id": "c", "output": "Rome"}, "Rome"),
        ("user", {"type": "tool-result", "toolCallId": "c", "output": {"type": "json", "value": RESULT}}, '{"city": "Rome", "temp": 9}'),
        ("assistant", {"type": "mcp_call", "name": "f", "arguments": "{}", "output": "Rome"}, "Rome"),
        ("assistant", {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "9"}}, "9"),
        ("assistant", {"type": "web_search_tool_result", "content": [{"url": "u", "encrypted_content": "x"}]}, '[{"url": "u"}]'),
        ("system", {"part_kind": "tool-return", "content": "Rome"}, "Rome"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("own", ["Thanks", ""])
def test_what_a_tool_returned_is_its_own_word_in_every_envelope(role: str, part: object, text: str, own: str) -> None:
    parts = [part, {"type": "text", "text": own}] if own else [part]
    given = {"role": role, "content": parts, "id": "m", "name": "ada"}
    result, *others = as_messages(given)
    assert (result.role, result.content, result.speaker) == ("tool", text, None)
    assert [(one.role, one.content, one.speaker, one.id) for one in others] == (
        [(role, own, "ada", "m")] if own else []
    )
    assert result.id == ("m#1" if own else "m")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (RESULT, '{"city": "Rome", "temp": 9}'),
        ([RESULT], '[{"city": "Rome", "temp": 9}]'),
        ([1, 2], "[1, 2]"),
        (9.5, "9.5"),
        (["A", "B"], "A\nB"),
        ({"type": "image", "title": "Map"}, '{"type": "image", "title": "Map"}'),
        ({"type": "function", "name": "f"}, '{"type": "function", "name": "f"}'),
        ([{"text": "A", "score": 1}], '[{"text": "A", "score": 1}]'),
    ],
)
def test_any_value_that_a_tool_returns_is_its_text(content: object, text: str) -> None:
    assert [(one.role, one.content) for one in as_messages({"role": "tool", "content": content})] == [("tool", text)]


def test_an_item_without_a_role_is_what_its_type_says() -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "Rome"}]}
    assert as_messages(output) == [Message("tool", "Rome")]
    assert as_messages({"type": "function_call", "name": "f", "arguments": "{}"}) == []
    assert as_messages({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}) == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_use", "input": {"text": "I live in Rome"}, "text": "I live in Rome"},
        {"toolUse": {"input": {"text": "I live in Rome"}}},
        {"functionCall": {"args": {"content": "I live in Rome"}}},
        {"cachePoint": {"type": "default"}},
    ],
)
def test_a_call_of_a_tool_has_no_words(part: object) -> None:
    assert as_messages({"role": "assistant", "content": [part]}) == []
    assert as_messages({"role": "user", "parts": [part, {"text": "Hi"}]}) == [Message("user", "Hi")]


@pytest.mark.parametrize(
    ("text", "words", "thought"),
    [
        ("<think>A</think>\n\nB", "B", "A"),
        ("A\n</think>\nB", "B", "A"),
        ("B\n<thinking>\nA", "B", "A"),
        ("B.<think>A", "B.", "A"),
        ("<think>A", "", "A"),
        ("<think>A</think>B\n<think>C</think>D", "B\nD", "A\nC"),
        ("<think>A <think>B</think> C</think>D", "D", "A <think>B</think> C"),
        ("<think>A</think>B</think>", "B", "A"),
        ("<seed:think>A</seed:think>B", "B", "A"),
        ("◁think▷A◁/think▷B", "B", "A"),
        ("[THINK]A[/THINK]B", "B", "A"),
        ("<|begin_of_thought|>A<|end_of_thought|>B", "B", "A"),
        ("<|START_THINKING|>A<|END_THINKING|>B", "B", "A"),
        ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B", "A"),
        ("Write <think> and </think> around it.", "Write <think> and </think> around it.", None),
        ("Use `<think>`:\n```\n<think>A</think>\n```", "Use `<think>`:\n```\n<think>A</think>\n```", None),
    ],
)
def test_reasoning_of_an_assistant_is_no_part_of_its_words(text: str, words: str, thought: str | None) -> None:
    for one in (Message("ai", text), {"role": "assistant", "content": text}):
        assert [(said.content, said.reasoning) for said in as_messages(one)] == ([(words, thought)] if words else [])
    assert as_messages({"role": "user", "content": text}) == [Message("user", text)]


@pytest.mark.parametrize(
    "given",
    [
        {"content": [{"type": "thinking", "thinking": "A", "signature": "x"}, {"type": "text", "text": "B"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "A"}]}, {"type": "text", "text": "B"}]},
        {"content": [{"reasoningContent": {"reasoningText": {"text": "A", "signature": "x"}}}, {"text": "B"}]},
        {"parts": [{"text": "A", "thought": True}, {"text": "B"}]},
        {"content": "B", "reasoning_content": "A", "reasoning": "A"},
        {"content": "<think>A</think>B"},
    ],
)
def test_reasoning_beside_the_words_is_kept_apart(given: dict[str, object]) -> None:
    assert as_messages({"role": "assistant", **given}) == [Message("assistant", "B", reasoning="A")]


def test_fields_that_are_not_stored_are_named_if_they_contain_something() -> None:
    one = {"role": "user", "content": "Hi", "type": "message", "refusal": None, "annotations": [], "tool_call_id": "1"}
    assert list(unstored_fields(one)) == ["tool_call_id"]


def test_one_message_or_several_are_listed_and_nothing_else() -> None:
    one = {"role": "user", "content": "Hi"}
    assert listed_messages(one) == listed_messages([one]) == listed_messages((one,)) == [one]
    for wrong in ("Hi", b"Hi", 7, None):
        with pytest.raises(InputError, match="pass a list"):
            listed_messages(wrong)
