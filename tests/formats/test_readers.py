import json
import zipfile
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from slowwave import AgentMemory
from slowwave.errors import InputError
from slowwave.formats import export_records, read
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import ImportedFact, ImportedMessage, Item, SkippedItem
from slowwave.model.memory import Memory


def said(path: Path, named: str = "auto") -> list[ImportedMessage]:
    return [item for item in read(path, named) if isinstance(item, ImportedMessage)]


def skipped(path: Path, named: str = "auto") -> list[SkippedItem]:
    return [item for item in read(path, named) if isinstance(item, SkippedItem)]


def everything(path: Path, named: str = "auto") -> tuple[list[Item], list[str]]:
    """All items, and the texts of the messages in order."""
    items = list(read(path, named))
    return items, [item.message.content for item in items if isinstance(item, ImportedMessage)]


def test_a_chatgpt_conversation_is_the_thread_that_ends_in_the_current_node(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    found = said(written([make.chatgpt()]))
    assert [(one.message.role, one.message.content) for one in found] == [
        ("user", "I keep bees."),
        ("assistant", "How many hives?"),
        ("user", "Four, and a rumour of a fifth."),
    ]
    assert {one.conversation for one in found} == {"conv-bees"}
    assert found[0].message.id == "m-a"
    assert found[0].message.at == datetime.fromtimestamp(1700000000, UTC)
    assert found[0].message.speaker is None


def test_other_branches_hidden_messages_tools_and_pictures_are_skipped_and_counted(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    whole = make.chatgpt()
    nodes = whole["mapping"]
    nodes["b2"] = make.node("b2", "a", "assistant", "Another answer.", 5.0)
    nodes["h"] = make.node("h", "c", "assistant", "secret", 6.0, weight=0.0)
    nodes["t"] = make.node("t", "h", "tool", "42", 7.0)
    thoughts = {"content_type": "thoughts", "parts": []}
    nodes["n"] = make.node("n", "t", "assistant", "", 8.0, content=thoughts)
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "a hive"]}
    nodes["p"] = make.node("p", "n", "user", "", 9.0, content=picture)
    whole["current_node"] = "p"
    path = written([whole])
    assert said(path)[-1].message.content == "a hive"
    reasons = [one.why.split(":")[0] for one in skipped(path)]
    assert sorted(reasons) == sorted(
        [
            "on another branch",
            "hidden in the chat itself",
            "a message to or from a tool",
            "reasoning, code and notes of the app",
            "a picture, sound or file",
        ]
    )


def test_null_times_take_the_time_before_them(written: Callable[..., Path], make: SimpleNamespace) -> None:
    whole = make.chatgpt()
    for key in "abc":
        whole["mapping"][key]["message"]["create_time"] = None
    assert {one.message.at for one in said(written([whole]))} == {datetime.fromtimestamp(1699999999, UTC)}


def test_a_missing_current_node_means_the_newest_leaf(written: Callable[..., Path], make: SimpleNamespace) -> None:
    whole = make.chatgpt(current_node=None)
    whole["mapping"]["late"] = make.node("late", "b", "user", "Five, it is true.", 1800000000.0)
    assert said(written([whole]))[-1].message.content == "Five, it is true."


def test_a_cycle_ends_the_thread_with_a_reason_and_a_missing_parent_is_bridged(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    circle = make.chatgpt()
    circle["mapping"]["a"]["parent"] = "c"
    items, texts = everything(written([circle]))
    assert len(texts) == 3
    assert "cycle" in items[0].why
    orphan = make.chatgpt()
    orphan["mapping"]["b"]["parent"] = "gone"
    items, texts = everything(written([orphan]))
    assert len(texts) == 3
    assert not any(isinstance(item, SkippedItem) for item in items)


def test_shards_in_an_archive_are_read_in_order_and_other_files_are_ignored(
    tmp_path: Path, make: SimpleNamespace
) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", "<p>")
        archive.writestr("data/conversations-001.json", json.dumps([make.chatgpt(conversation_id="second")]))
        archive.writestr("data/conversations-000.json", json.dumps([make.chatgpt(conversation_id="first")]))
    assert list(dict.fromkeys(one.conversation for one in said(path))) == ["first", "second"]


def test_a_claude_conversation_has_no_reasoning(written: Callable[..., Path], make: SimpleNamespace) -> None:
    found = said(written([make.claude()]))
    assert [(one.message.role, one.message.content, one.message.id) for one in found] == [
        ("user", "I keep bees.", "m1"),
        ("assistant", "How many hives?", "m2"),
    ]
    assert found[0].message.at == datetime(2024, 5, 1, 10, 0, 0, 123456, tzinfo=UTC)


def test_claude_messages_without_content_parts_fall_back_to_their_text_and_attachments_are_named(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    whole = make.claude()
    whole["chat_messages"][0] |= {"content": [], "attachments": [{"file_name": "x"}]}
    path = written([whole])
    assert said(path)[0].message.content == "old text"
    assert skipped(path)[0].why.startswith("its attachments")


def test_locomo_sessions_are_conversations_between_two_speakers(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    found = said(written([make.locomo()], "locomo.json"))
    assert [(one.conversation, one.message.role, one.message.speaker, one.message.content) for one in found] == [
        ("conv-1-1", "user", "Ada", "I keep bees."),
        ("conv-1-1", "assistant", "Bo", "Look! [image: a photo of a hive]"),
        ("conv-1-2", "user", "Ada", "They left."),
    ]
    assert found[0].message.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_beam_messages_lose_their_trailer_and_are_dated_by_anchors(tmp_path: Path, make: SimpleNamespace) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "chat.json").write_text(json.dumps([make.beam(), make.beam()]))
    found = said(folder / "chat.json")
    assert found[0].message.content == "I keep bees."
    assert found[0].message.at == datetime(2024, 3, 15, 0, 1, tzinfo=UTC)
    assert found[1].message.at == datetime(2024, 3, 15, 0, 2, tzinfo=UTC)
    assert found[2].message.at == datetime(2024, 3, 15, 0, 3, tzinfo=UTC)
    assert {one.conversation for one in found} == {"7"}


def test_json_lines_hold_messages_facts_and_whole_conversations(written: Callable[..., Path]) -> None:
    lines = [
        {"role": "user", "content": "I keep bees.", "at": "2024-05-01T10:00:00+02:00", "id": "x", "speaker": "Ada"},
        {"role": "ai", "content": [{"type": "text", "text": "How many"}, {"type": "text", "text": "hives?"}]},
        {"conversation": "other", "speaker": "Bo", "text": "Hello."},
        {"messages": [{"role": "user", "content": "In a list."}], "id": "list"},
        {"fact": "Ada keeps bees", "category": "person", "importance": 0.9, "metadata": {"n": [1]}},
    ]
    lines[0]["metadata"] = {"channel": {"name": "mail"}}
    items, texts = everything(written("\n".join(map(json.dumps, lines)), "talk.jsonl"))
    assert texts == ["I keep bees.", "How many\nhives?", "Hello.", "In a list."]
    assert [one.conversation for one in items[:4]] == ["talk", "talk", "other", "list"]
    assert items[0].message.at == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert (items[2].message.role, items[2].message.speaker) == ("user", "Bo")
    assert isinstance(items[4], ImportedFact)
    assert (items[4].fact.text, items[4].fact.category, items[4].fact.importance) == ("Ada keeps bees", "person", 0.9)
    assert (items[0].message.metadata, items[4].fact.metadata) == ({"channel": {"name": "mail"}}, {"n": [1]})


def test_lines_in_one_json_array_are_read_as_lines(written: Callable[..., Path]) -> None:
    assert [one.message.content for one in said(written([{"role": "user", "content": "Hi."}], "talk.jsonl"))] == ["Hi."]


def test_messages_without_ids_get_the_same_ids_at_every_reading_and_repeats_stay_apart(
    written: Callable[..., Path],
) -> None:
    path = written("\n".join([json.dumps({"role": "user", "content": "Yes."})] * 3), "talk.jsonl")
    first, second = ([one.message.id for one in said(path)] for _ in range(2))
    assert first == second
    assert len(set(first)) == 3


def test_the_format_is_detected_from_the_content(written: Callable[..., Path], make: SimpleNamespace) -> None:
    values = {
        "chatgpt": [make.chatgpt()],
        "claude": [make.claude()],
        "locomo": [make.locomo()],
        "beam": [make.beam()],
    }
    for name, value in values.items():
        path = written(value, f"{name}.json")
        assert said(path) == said(path, name)
        assert said(path)


@pytest.mark.parametrize("value", ["", "[null, {}]", "hello", "42", "[1, 2]", '{"a": 1}', "\x00\x01"])
def test_a_file_of_unknown_format_is_refused_with_advice(written: Callable[..., Path], value: str) -> None:
    with pytest.raises(InputError, match="name its format"):
        list(read(written(value, "x.json")))


def test_a_missing_file_a_folder_and_an_unknown_format_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        list(read(tmp_path / "none.json"))
    with pytest.raises(InputError, match="is a folder"):
        list(read(tmp_path))
    with pytest.raises(InputError, match="unknown format 'xml'"):
        list(read(tmp_path / "none.json", "xml"))


def test_a_conversation_named_as_its_file_can_be_read_from_a_windows_export(
    written: Callable[..., Path], make: SimpleNamespace
) -> None:
    path = written(b"\xef\xbb\xbf" + json.dumps([make.claude()]).encode(), "bom.json")
    assert len(said(path)) == 2
    path = written(json.dumps([make.claude()]).encode("utf-16"), "utf16.json")
    assert len(said(path)) == 2


def test_a_large_array_is_read_element_by_element(tmp_path: Path, make: SimpleNamespace) -> None:
    path = tmp_path / "conversations.json"
    text = "x" * 50_000
    conversations = []
    for number in range(60):
        whole = make.claude(uuid=f"c{number}")
        whole["chat_messages"][0]["content"] = [{"type": "text", "text": f"{text} {number}"}]
        conversations.append(whole)
    path.write_text(json.dumps(conversations, indent=1))
    first = next(iter(read(path)))
    assert first.conversation == "c0"
    assert len(said(path)) == 120


def test_every_field_of_a_memory_is_exported_or_computed_by_the_import() -> None:
    names = {one.name for one in fields(Memory)} - {"scope"}
    assert names == {*export_records._CHECKS, *export_records._NOTE_CHECKS} | export_records.PLANNED


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e308, float("inf"), float("nan"), "1e999", "9" * 400])
def test_a_number_that_is_no_time_is_none(value: object) -> None:
    assert instant(value) is None


@pytest.mark.parametrize("importance", [10**400, -(10**400), 1e308])
def test_a_great_number_in_an_export_is_skipped(tmp_path: Path, importance: float) -> None:
    with AgentMemory.open(tmp_path / "m.db", llm=None, embedder=None) as memory:
        memory.add("Ada keeps bees")
        memory.export(exported := tmp_path / "export.jsonl")
        lines = [json.loads(line) for line in exported.read_text().splitlines()]
        changed = [line | {"importance": importance} if "importance" in line else line for line in lines]
        assert changed != lines
        exported.write_text("\n".join(map(json.dumps, changed)))
        assert len(memory.import_(exported).skipped) == 1


@pytest.mark.parametrize("name", ["type", "kind", "version", "span"])
def test_a_long_value_of_an_export_is_cut_in_the_reason_why_a_line_is_skipped(tmp_path: Path, name: str) -> None:
    with AgentMemory.open(tmp_path / "m.db", llm=None, embedder=None) as memory:
        memory.add("Ada keeps bees")
        memory.export(exported := tmp_path / "export.jsonl")
        lines = [json.loads(line) for line in exported.read_text().splitlines()]
        long = [1] * 30_000 if name == "span" else "x" * 30_000
        changed = [line | {name: long} if "text" in line or name in line else line for line in lines]
        exported.write_text("\n".join(map(json.dumps, changed)))
        reasons = [item.why for item in read(exported) if isinstance(item, SkippedItem)]
        assert reasons
        assert max(map(len, reasons)) < 300
