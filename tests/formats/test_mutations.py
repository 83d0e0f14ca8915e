"""Sixty ways in which a file can be broken: never a crash, never half a file without saying so."""

import json
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from slowwave.errors import InputError
from slowwave.formats import json_stream, read
from slowwave.model.exchange import ImportedMessage, Item, SkippedItem

Json = Any


def outcome(path: Path, named: str = "auto") -> tuple[list[ImportedMessage], list[SkippedItem], str]:
    """What was read, what was skipped, and the refusal if the whole file was refused."""
    items: list[Item] = []
    refused = ""
    try:
        items += read(path, named)
    except InputError as error:
        refused = str(error)
        assert "\n" not in refused
    return (
        [i for i in items if isinstance(i, ImportedMessage)],
        [i for i in items if isinstance(i, SkippedItem)],
        refused,
    )


def chatgpt_of(make: SimpleNamespace, change: Callable[[dict[str, Json]], object]) -> list[Json]:
    whole = make.chatgpt()
    change(whole)
    return [whole, make.chatgpt(conversation_id="sound")]


def node(whole: dict[str, Json], key: str = "b") -> dict[str, Json]:
    found: dict[str, Json] = whole["mapping"][key]
    return found


CHATGPT: dict[str, Callable[[dict[str, Json]], object]] = {
    "no mapping": lambda w: w.pop("mapping"),
    "mapping null": lambda w: w.update(mapping=None),
    "mapping a list": lambda w: w.update(mapping=[1]),
    "mapping empty": lambda w: w.update(mapping={}),
    "current node missing": lambda w: w.pop("current_node"),
    "current node unknown": lambda w: w.update(current_node="nowhere"),
    "current node a number": lambda w: w.update(current_node=7),
    "current node a list": lambda w: w.update(current_node=["c"]),
    "node null": lambda w: w["mapping"].update(b=None),
    "node a text": lambda w: w["mapping"].update(b="x"),
    "its own parent": lambda w: node(w).update(parent="b"),
    "a circle of two": lambda w: node(w, "a").update(parent="b"),
    "parent unknown": lambda w: node(w).update(parent="nowhere"),
    "parent a list": lambda w: node(w).update(parent=["a"]),
    "message a text": lambda w: node(w).update(message="hello"),
    "content null": lambda w: node(w)["message"].update(content=None),
    "content a text": lambda w: node(w)["message"].update(content="hello"),
    "parts null": lambda w: node(w)["message"]["content"].update(parts=None),
    "parts of nulls": lambda w: node(w)["message"]["content"].update(parts=[None, {}, 3]),
    "content type a list": lambda w: node(w)["message"]["content"].update(content_type=["text"]),
    "author null": lambda w: node(w)["message"].update(author=None),
    "role unknown": lambda w: node(w)["message"].update(author={"role": "oracle"}),
    "role a number": lambda w: node(w)["message"].update(author={"role": 3}),
    "recipient a list": lambda w: node(w)["message"].update(recipient=["all"]),
    "weight null": lambda w: node(w)["message"].update(weight=None),
    "time infinite": lambda w: node(w)["message"].update(create_time=float("inf")),
    "time not a number": lambda w: node(w)["message"].update(create_time=float("nan")),
    "time huge": lambda w: node(w)["message"].update(create_time=1e300),
    "time before all time": lambda w: node(w)["message"].update(create_time=-1e18),
    "time a text": lambda w: node(w)["message"].update(create_time="yesterday"),
    "time a list": lambda w: node(w)["message"].update(create_time=[1]),
    "id null": lambda w: node(w)["message"].update(id=None),
    "id very long": lambda w: node(w)["message"].update(id="i" * 5000),
    "title missing": lambda w: w.pop("title"),
    "conversation id null": lambda w: w.update(conversation_id=None),
    "lone surrogate": lambda w: node(w)["message"]["content"].update(parts=["\ud83d half"]),
    "NUL and controls": lambda w: node(w)["message"]["content"].update(parts=["a\x00b\x1b[2J"]),
    "text of spaces": lambda w: node(w)["message"]["content"].update(parts=["  \n "]),
}


@pytest.mark.parametrize("change", CHATGPT.values(), ids=CHATGPT)
def test_a_broken_conversation_costs_only_itself(
    change: Callable[[dict[str, Json]], object], make: SimpleNamespace, written: Callable[..., Path]
) -> None:
    path = written(chatgpt_of(make, change))
    found, _, refused = outcome(path, "chatgpt")
    assert not refused
    assert len([one for one in found if one.conversation == "sound"]) == 3
    again, _, _ = outcome(path, "chatgpt")
    assert [one.message.id for one in again] == [one.message.id for one in found]


CLAUDE: dict[str, Callable[[dict[str, Json]], object]] = {
    "no messages": lambda w: w.pop("chat_messages"),
    "messages null": lambda w: w.update(chat_messages=None),
    "message null": lambda w: w["chat_messages"].append(None),
    "sender missing": lambda w: w["chat_messages"][0].pop("sender"),
    "time null": lambda w: w["chat_messages"][0].update(created_at=None),
    "times all null": lambda w: [m.update(created_at=None) for m in w["chat_messages"]],
    "time nonsense": lambda w: w["chat_messages"][0].update(created_at="31 February"),
    "content of numbers": lambda w: w["chat_messages"][0].update(content=[1, None, [2]]),
    "text type a list": lambda w: w["chat_messages"][0].update(content=[{"type": ["text"], "text": "x"}]),
    "uuid missing": lambda w: w.pop("uuid"),
    "files an object": lambda w: w["chat_messages"][0].update(files={"a": 1}),
}


@pytest.mark.parametrize("change", CLAUDE.values(), ids=CLAUDE)
def test_a_broken_claude_conversation_costs_only_itself(
    change: Callable[[dict[str, Json]], object], make: SimpleNamespace, written: Callable[..., Path]
) -> None:
    whole = make.claude()
    change(whole)
    found, _, refused = outcome(written([whole, make.claude(uuid="sound")]), "claude")
    assert not refused
    assert len([one for one in found if one.conversation == "sound"]) == 2


@pytest.mark.parametrize("named", ["locomo", "beam", "jsonl", "chatgpt", "claude"])
@pytest.mark.parametrize(
    "element", [None, 3, "x", [], [[]], {}, {"turns": None}, {"turns": [[None]]}, {"conversation": 3}]
)
def test_elements_of_the_wrong_kind_are_skipped_with_a_reason(
    named: str, element: Json, written: Callable[..., Path]
) -> None:
    found, skipped, refused = outcome(written([element], "x.json"), named)
    assert not refused
    assert not found
    assert skipped
    assert all(one.why and one.where for one in skipped)


def test_a_file_truncated_anywhere_yields_the_complete_items_and_an_error(
    make: SimpleNamespace, written: Callable[..., Path]
) -> None:
    whole = json.dumps([make.chatgpt(conversation_id=f"c{n}") for n in range(4)]).encode()
    for cut in random.Random(7).sample(range(1, len(whole) - 1), 60):
        found, skipped, refused = outcome(written(whole[:cut]), "chatgpt")
        assert not refused
        assert [one.broken for one in skipped if one.broken] == [True]
        assert len(found) % 3 == 0


def test_a_flipped_byte_never_crashes_and_never_hides(make: SimpleNamespace, written: Callable[..., Path]) -> None:
    whole = bytearray(json.dumps([make.claude(uuid=f"c{n}") for n in range(3)]).encode())
    chance = random.Random(11)
    for _ in range(200):
        broken = bytearray(whole)
        broken[chance.randrange(len(broken))] = chance.randrange(256)
        found, skipped, refused = outcome(written(bytes(broken)), "claude")
        assert refused or len(found) == 6 or skipped


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-32"])
def test_the_error_for_another_encoding_names_it(
    encoding: str, make: SimpleNamespace, written: Callable[..., Path]
) -> None:
    whole = make.claude()
    whole["chat_messages"][0]["content"][0]["text"] = "Käse für später"
    data = json.dumps([whole], ensure_ascii=False).encode(encoding)
    found, skipped, _ = outcome(written(data), "claude")
    assert not found
    assert skipped[0].broken


def test_a_bad_line_costs_only_itself(written: Callable[..., Path]) -> None:
    good = json.dumps({"role": "user", "content": "Good."}).encode()
    bad = [b"{", b"\xff\xfe", b"null", b"[]", b"3", b'{"role": "user"}', b'{"role": "x", "content": "y"}', b'"text"']
    bad += [b"[" * 100_000, b'{"content": "nobody says this"}']
    for line in bad:
        found, skipped, refused = outcome(written(good + b"\n" + line + b"\n" + good, "talk.jsonl"))
        assert not refused
        assert len(found) == 2
        assert [one.where for one in skipped] == ["line 2"]


def test_a_line_without_an_end_does_not_fill_the_memory(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.formats.json_stream.LINE_MOST", 1000)
    good = json.dumps({"role": "user", "content": "Good."})
    found, skipped, _ = outcome(written(f"{good}\n{'x' * 10_000}\n{good}", "talk.jsonl"))
    assert len(found) == 2
    assert skipped[0].where == "line 2"


def test_an_element_without_an_end_does_not_fill_the_memory(
    make: SimpleNamespace, written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.formats.json_stream.ELEMENT_MOST", 1 << 20)
    monkeypatch.setattr("slowwave.formats.json_stream.CHUNK", 1 << 16)
    path = written(json.dumps([make.claude()])[:-1] + ', {"uuid": "' + "x" * (4 << 20))
    found, skipped, _ = outcome(path, "claude")
    assert len(found) == 2
    assert "one element is longer" in skipped[0].why


def test_text_after_the_end_is_reported(make: SimpleNamespace, written: Callable[..., Path]) -> None:
    found, skipped, _ = outcome(written(json.dumps([make.claude()]) + "[]"), "claude")
    assert len(found) == 2
    assert "follows the end" in skipped[0].why


def test_deep_nesting_is_refused(written: Callable[..., Path]) -> None:
    _, skipped, _ = outcome(written("[" * 100_000), "claude")
    assert skipped[0].broken


# ---- archives


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"conversations.json": b"[" + b" " * 50_000_000})
    found, skipped, _ = outcome(path, "chatgpt")
    assert not found
    assert "unpacks to more than 100 times" in skipped[0].why


def test_a_member_larger_than_the_limit_is_refused(
    tmp_path: Path, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.formats.archives.MEMBER_MOST", 100)
    path = archive(tmp_path / "x.zip", {"conversations.json": json.dumps([make.chatgpt()]).encode()})
    found, skipped, _ = outcome(path, "chatgpt")
    assert not found
    assert "unpack it and import the file" in skipped[0].why
    assert skipped[0].broken


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slowwave.formats.archives.MEMBERS_MOST", 3)
    path = archive(tmp_path / "x.zip", {f"{n}.txt": b"" for n in range(5)})
    assert "holds 5 files" in outcome(path)[2]


def test_member_names_with_parent_folders_write_nothing(tmp_path: Path, make: SimpleNamespace) -> None:
    data = json.dumps([make.chatgpt()]).encode()
    inside = tmp_path / "inside"
    inside.mkdir()
    path = archive(inside / "x.zip", {"../../conversations.json": data, "/etc/conversations-1.json": data})
    found, _, refused = outcome(path, "chatgpt")
    assert not refused
    assert len(found) == 6
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["inside", "x.zip"]


def test_an_archive_inside_the_archive_is_reported_and_not_opened(tmp_path: Path, make: SimpleNamespace) -> None:
    inner = archive(tmp_path / "inner.zip", {"conversations.json": json.dumps([make.chatgpt()]).encode()})
    outer = archive(
        tmp_path / "outer.zip",
        {"inner.zip": inner.read_bytes(), "conversations.json": json.dumps([make.chatgpt()]).encode()},
    )
    found, skipped, _ = outcome(outer, "chatgpt")
    assert len(found) == 3
    assert "archive inside the archive" in skipped[0].why


def test_the_error_for_an_archive_without_conversations_names_the_expected_files(tmp_path: Path) -> None:
    assert "holds no conversations" in outcome(archive(tmp_path / "x.zip", {"user.json": b"{}"}))[2]


def test_an_encrypted_member_is_reported(tmp_path: Path, make: SimpleNamespace) -> None:
    path = archive(tmp_path / "x.zip", {"conversations.json": json.dumps([make.chatgpt()]).encode()})
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    flags = struct.unpack_from("<H", data, at + 8)[0]
    struct.pack_into("<H", data, at + 8, flags | 1)
    path.write_bytes(data)
    assert "encrypted" in outcome(path, "chatgpt")[1][0].why


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unknown_compression_and_damaged_bytes_give_a_reason(
    tmp_path: Path, make: SimpleNamespace, method: int
) -> None:
    text = json.dumps([make.chatgpt(conversation_id=f"c{n}") for n in range(50)]).encode()
    path = archive(tmp_path / "x.zip", {"conversations.json": text}, method)
    whole = path.read_bytes()
    chance = random.Random(3)
    for _ in range(60):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        found, skipped, refused = outcome(path, "chatgpt")
        assert refused or len(found) == 150 or skipped


@pytest.mark.parametrize("name", ["conversations.json", "talk.jsonl"])
@pytest.mark.parametrize("named", ["auto", "jsonl", "mem0"])
def test_a_member_whose_checksum_is_wrong_is_reported(tmp_path: Path, name: str, named: str) -> None:
    path = archive(tmp_path / "x.zip", {name: b'{"role": "user", "content": "Good."}\n'}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"Good.", b"Gold."))
    found, skipped, refused = outcome(path, named)
    assert not found
    assert refused or skipped


def test_the_error_for_a_cut_off_archive_says_what_to_do(tmp_path: Path, make: SimpleNamespace) -> None:
    path = archive(tmp_path / "x.zip", {"conversations.json": json.dumps([make.chatgpt()]).encode()})
    path.write_bytes(path.read_bytes()[:-30])
    assert "cut off" in outcome(path)[2]


def test_two_members_of_one_name_are_both_read(tmp_path: Path, make: SimpleNamespace) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("conversations.json", json.dumps([make.chatgpt(conversation_id="one")]))
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("conversations.json", json.dumps([make.chatgpt(conversation_id="two")]))
    assert {one.conversation for one in outcome(path)[0]} == {"one", "two"}


def test_a_cycle_of_a_million_nodes_ends(make: SimpleNamespace, written: Callable[..., Path]) -> None:
    whole = make.chatgpt()
    whole["mapping"] = {str(n): {"parent": str((n + 1) % 100_000), "message": None} for n in range(100_000)}
    whole["current_node"] = "5"
    found, skipped, refused = outcome(written([whole]), "chatgpt")
    assert not found
    assert not refused
    assert "cycle" in skipped[0].why


def test_the_limits_leave_room_for_the_longest_message() -> None:
    assert json_stream.LINE_MOST > 20_000_000 * 3
    assert json_stream.ELEMENT_MOST > json_stream.LINE_MOST
