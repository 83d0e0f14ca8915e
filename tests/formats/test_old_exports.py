"""Exports with messages without a time, damaged records, broken links and the marks of an app."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from slowwave.errors import InputError
from slowwave.formats import read
from slowwave.model.exchange import ImportedFact, ImportedMessage, SkippedItem

FIRST, SECOND = 1700000001.0, 1700000900.0


def dates(path: Path) -> list[tuple[float, str]]:
    """The time of each message, and where it is from."""
    found = [item for item in read(path) if isinstance(item, ImportedMessage)]
    return [(item.message.at.timestamp() if item.message.at else 0.0, item.time_of) for item in found]


def texts(path: Path) -> list[str]:
    return [item.message.content for item in read(path) if isinstance(item, ImportedMessage)]


def reasons(path: Path) -> list[str]:
    return [item.why for item in read(path) if isinstance(item, SkippedItem)]


def test_an_undated_message_of_chatgpt_has_the_time_of_a_neighbour_its_conversation_or_the_file(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    def conversation(*times: float | None, **fields: object) -> object:
        whole = make.chatgpt(**{"create_time": None, **fields})
        for key, at in zip("abc", times, strict=True):
            whole["mapping"][key]["message"]["create_time"] = at
        return whole

    assert dates(written([conversation(None, FIRST, float("nan"))])) == [
        (FIRST, "a neighbour"),
        (FIRST, ""),
        (FIRST, "a neighbour"),
    ]
    nothing = (None, None, None)
    of_conversation = [(SECOND, "their conversation")] * 3
    assert dates(written([conversation(*nothing, update_time=SECOND)])) == of_conversation
    assert dates(written([conversation(*nothing, create_time=SECOND, update_time=FIRST)])) == of_conversation
    other = conversation(FIRST, FIRST, FIRST, conversation_id="other")
    without = conversation(*nothing, update_time=None)
    assert dates(written([without, other])) == [(FIRST, "a neighbour")] * 3 + [(FIRST, "")] * 3
    assert dates(written([other, without])) == [(FIRST, "")] * 3 + [(FIRST, "a neighbour")] * 3
    path = written([without])
    os.utime(path, (SECOND, SECOND))
    assert dates(path) == [(SECOND, "the file")] * 3


def test_an_undated_message_of_claude_has_the_time_of_a_neighbour(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    whole = make.claude(created_at=None)
    whole["chat_messages"][0]["created_at"] = None
    known = dates(written([make.claude()]))[1][0]
    assert dates(written([whole])) == [(known, "a neighbour"), (known, "")]


@pytest.mark.parametrize("written_at", [None, "", "soon"])
@pytest.mark.parametrize("in_conversation", [False, True])
def test_a_line_without_a_readable_time_is_imported(
    written: Callable[..., Path], written_at: str | None, in_conversation: bool
) -> None:
    rows = [{"role": "user", "content": "A", "at": written_at}, {"role": "user", "content": "B", "at": FIRST}]
    lines = [{"messages": rows, "id": "c"}] if in_conversation else rows
    assert dates(written("\n".join(map(json.dumps, lines)), "x.jsonl")) == [(FIRST, "a neighbour"), (FIRST, "")]


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("form", [int, str, float])
def test_a_number_is_a_time_in_seconds_or_parts_of_them(
    written: Callable[..., Path], unit: int, form: Callable[[int], object]
) -> None:
    row = {"role": "user", "content": "A", "timestamp": form(int(FIRST) * unit)}
    assert dates(written(json.dumps(row), "x.jsonl")) == [(FIRST, "")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It has 545,000 people \ue200cite\ue202turn0search0\ue202turn0search3\ue201.", "It has 545,000 people."),
        ('See \ue200entity\ue202["city","Lisbon",0]\ue201 first.', "See Lisbon first."),
        ('Ask \ue200entity\ue202["people","Ada Stone","a baker"]\ue201 soon', "Ask Ada Stone soon"),
        ('A \ue200product_entity\ue202["turn0product1","red kettle"]\ue201!', "A red kettle!"),
        ("\ue200url\ue202the page\ue202https://a.example/b\ue201 says", "the page says"),
        ('\ue200image_group\ue202{"query":["bees"]}\ue201Bees', "Bees"),
        ("As filed \ue200filecite\ue202turn0file1\ue202L3-L9\ue201", "As filed"),
        ("Cut off \ue200cite\ue202turn0sea", "Cut off"),
        ("As filed【4:2†notes.pdf】, twice", "As filed, twice"),
        ("Kept: 【a title】 and †", "Kept: 【a title】 and †"),
    ],
)
def test_marks_of_chatgpt_become_words_or_nothing(
    written: Callable[..., Path], make: SimpleNamespace, text: str, words: str
) -> None:
    whole = make.chatgpt()
    whole["mapping"]["b"]["message"]["content"]["parts"] = [text]
    assert texts(written([whole]))[1] == words


def test_a_conversation_that_is_not_to_be_remembered_is_left_out_and_counted(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    path = written([make.chatgpt(is_do_not_remember=True), make.chatgpt(conversation_id="other")])
    assert len(texts(path)) == 3
    assert reasons(path) == ["a conversation that its owner asked ChatGPT not to remember"]


@pytest.mark.parametrize("parent", [None, "gone", "itself"])
@pytest.mark.parametrize("has_children", [False, True])
@pytest.mark.parametrize("broken", ["b", "bc", "abc"])
@pytest.mark.parametrize("has_times", [False, True])
def test_messages_of_chatgpt_are_joined_by_the_links_of_either_side(
    written: Callable[..., Path],
    make: SimpleNamespace,
    parent: str | None,
    has_children: bool,
    broken: str,
    has_times: bool,
) -> None:
    whole = make.chatgpt()
    nodes = whole["mapping"]
    after = {node["parent"]: key for key, node in nodes.items()}
    for key, node in nodes.items():
        node["children"] = [after[key]] if has_children and key in after else []
        if key in broken:
            node["parent"] = key if parent == "itself" else parent
        if node["message"] and not has_times:
            node["message"]["create_time"] = None
    path = written([whole])
    assert texts(path) == texts(written([make.chatgpt()], "whole.json"))
    assert reasons(path) == []


def test_an_answer_that_was_made_again_stays_on_its_branch(written: Callable[..., Path], make: SimpleNamespace) -> None:
    whole = make.chatgpt()
    whole["mapping"]["b2"] = make.node("b2", "a", "assistant", "Another answer", FIRST)
    path = written([whole])
    assert "Another answer" not in texts(path)
    assert [why.split(":")[0] for why in reasons(path)] == ["on another branch"]


@pytest.mark.parametrize("first", [None, {}, {"title": "x", "mapping": None}, [], 7])
def test_a_format_is_found_behind_a_damaged_record(
    written: Callable[..., Path], make: SimpleNamespace, first: object
) -> None:
    assert len(texts(written([first, make.chatgpt()]))) == 3
    assert len(texts(written([first, {"chat_messages": None}, make.claude()]))) == 2
    memory = {"id": "x", "memory": "Keeps bees", "user_id": "ada"}
    for value in ([first, memory], {"results": [{"id": "y", "memory": None, "user_id": "ada"}, first, memory]}):
        facts = [item.fact.text for item in read(written(value)) if isinstance(item, ImportedFact)]
        assert facts == ["Keeps bees"]


@pytest.mark.parametrize("value", ["[]", '{"results": []}', '{"items": []}'])
def test_a_file_without_records_holds_nothing(written: Callable[..., Path], value: str) -> None:
    assert reasons(written(value)) == ["it holds nothing to import"]


def test_users_are_told_apart_behind_a_damaged_line(written: Callable[..., Path]) -> None:
    rows = [{"memory": None}, *({"id": name, "memory": "Keeps bees", "user_id": name} for name in ("ada", "bob"))]
    with pytest.raises(InputError, match="2 users"):
        list(read(written("\n".join(map(json.dumps, rows)), "x.jsonl")))


def test_a_line_of_another_program_is_skipped_because_its_format_is_not_known(written: Callable[..., Path]) -> None:
    row = {"type": "user", "message": {"role": "user", "content": "Hi"}, "uuid": "u", "sessionId": "s"}
    assert "its format is not known" in reasons(written(json.dumps(row) + "\n", "x.jsonl"))[0]


def test_a_spoken_note_of_claude_is_words_and_no_call_of_a_tool(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    whole = make.claude()
    whole["chat_messages"][0]["content"] = [{"type": "voice_note", "title": "Bees", "text": "I keep bees."}]
    path = written([whole])
    assert texts(path)[0] == "I keep bees."
    assert reasons(path) == []


def test_a_result_of_a_tool_in_a_line_is_the_tools(written: Callable[..., Path]) -> None:
    row = {"role": "user", "content": [{"type": "tool_result", "content": {"temp": 9}}, {"type": "text", "text": "Hi"}]}
    output = {"type": "function_call_output", "call_id": "c", "output": "Rain"}
    path = written("\n".join(map(json.dumps, (row, output))), "x.jsonl")
    found = [item.message for item in read(path) if isinstance(item, ImportedMessage)]
    assert [(one.role, one.content) for one in found] == [("tool", '{"temp": 9}'), ("user", "Hi"), ("tool", "Rain")]
