"""Imports of plain text, Markdown, folders of notes, exports of several users, and titles."""

import json
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from slowwave import AgentMemory, InputError

NOTE = """---
title: Trip to Porto
date: 2025-05-04
tags:
  - travel
  - family
---
Written on the train.

# Porto
## Hotels
The hotel budget is 140 euros.

It has a pool.
```
# not a heading
```
## Food
No shellfish.
"""


@pytest.fixture
def memory() -> "AgentMemory":
    return AgentMemory.open(":memory:", llm=None, embedder=None)


def test_a_section_of_markdown_is_a_message_with_its_headings_and_front_matter(
    memory: AgentMemory, tmp_path: Path
) -> None:
    path = tmp_path / "porto.md"
    path.write_text(NOTE, "utf-8")
    report = memory.import_(path)
    assert (report.messages, report.facts, report.titles) == (3, 0, {"porto": "Trip to Porto"})
    stored = memory.get_all(kinds=["message"], conversation="porto")
    assert [one.text.splitlines()[0] for one in stored] == ["Written on the train.", "## Hotels", "## Food"]
    assert stored[1].text.endswith("# not a heading\n```")
    assert [one.metadata.get("heading") for one in stored] == [None, "Porto > Hotels", "Porto > Food"]
    assert stored[0].metadata == {"title": "Trip to Porto", "date": "2025-05-04", "tags": "travel, family"}
    assert {(one.role, one.trust, one.at) for one in stored} == {("user", "import", datetime(2025, 5, 4, tzinfo=UTC))}


def test_long_front_matter_is_stored_once_and_its_short_fields_filter_every_message(
    memory: AgentMemory, tmp_path: Path
) -> None:
    path = tmp_path / "paper.md"
    abstract = "x" * 200_000
    sections = "".join(f"# {n}\nThe harbour has {n} piers.\n" for n in range(100))
    path.write_text(f"---\nabstract: {abstract}\ntags: harbour\nauthor: Ana\n---\n{sections}", "utf-8")
    memory.import_(path)
    first, *others = memory.get_all(kinds=["message"], conversation="paper")
    assert first.metadata == {"abstract": abstract, "tags": "harbour", "author": "Ana", "heading": "0"}
    assert [one.metadata for one in others] == [
        {"tags": "harbour", "author": "Ana", "heading": str(n)} for n in range(1, 100)
    ]
    assert len(memory.get_all(kinds=["message"], where={"tags": "harbour"})) == 100
    memory.export(tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").stat().st_size < 2 * len(abstract)


def test_importing_notes_again_adds_nothing_and_an_edited_section_adds_one_message(
    memory: AgentMemory, tmp_path: Path
) -> None:
    path = tmp_path / "porto.md"
    path.write_text(NOTE, "utf-8")
    memory.import_(path)
    os.utime(path, (0, 0))
    again = memory.import_(path)
    assert (again.messages, again.known, again.run_id) == (0, 3, "")
    path.write_text(NOTE.replace("No shellfish", "No meat"), "utf-8")
    assert memory.import_(path).messages == 1


def test_a_paragraph_of_plain_text_is_a_message(memory: AgentMemory, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("\ufeffFirst line,\r\nsame paragraph.\r\n\r\n# Second\r\n \r\n\r\nThird", "utf-8")
    os.utime(path, (86400, 86400))
    report = memory.import_(path)
    stored = memory.get_all(kinds=["message"], conversation="notes")
    assert [one.text for one in stored] == ["First line,\nsame paragraph.", "# Second", "Third"]
    assert (stored[0].at, report.titles) == (datetime(1970, 1, 2, tzinfo=UTC), {})


def test_plain_text_with_roles_is_a_conversation(memory: AgentMemory, tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_text("\nuser: I live in Graz\nsince May\n\nAssistant : Nice.\nUSER: My dog is called Rex\n", "utf-8")
    memory.import_(file)
    said = [(message.role, message.content) for message in memory.messages("talk")]
    assert said == [("user", "I live in Graz\nsince May"), ("assistant", "Nice."), ("user", "My dog is called Rex")]
    assert memory.import_(file).messages == 0


def test_one_line_that_looks_like_a_role_leaves_plain_text_as_it_is(memory: AgentMemory, tmp_path: Path) -> None:
    file = tmp_path / "terms.txt"
    file.write_text("User: the person who is logged in\n\nAn owner may do more.", "utf-8")
    memory.import_(file)
    assert [message.content for message in memory.messages("terms")] == [
        "User: the person who is logged in",
        "An owner may do more.",
    ]


def test_a_long_section_is_split_into_its_paragraphs(memory: AgentMemory, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("# Log\n" + "\n\n".join(f"Day {n}. " + "word " * 100 for n in range(10)), "utf-8")
    assert memory.import_(path).messages == 10
    assert {one.metadata["heading"] for one in memory.get_all(kinds=["message"])} == {"Log"}


def test_a_folder_of_notes_is_imported_as_one_run(memory: AgentMemory, tmp_path: Path) -> None:
    for name, text in {
        "daily/2025-03-14.md": "Met Bob.",
        "idea.txt": "A boat.",
        ".obsidian/hidden.md": "Not this.",
        "picture.png": "x",
        "broken.md": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "broken.md").write_bytes(b"\xff\xfe")
    seen: list[tuple[int, int | None]] = []
    report = memory.import_(tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    assert {one.name for one in memory.conversations()} == {"daily/2025-03-14", "idea"}
    assert [one.where for one in report.broken] == ["broken.md"]
    assert list(report.skipped.values()) == [1]
    assert seen[-1] == (17, 17)
    assert memory.get_all(kinds=["message"], conversation="daily/2025-03-14")[0].at == datetime(2025, 3, 14, tzinfo=UTC)
    assert [run.id for run in memory.runs()] == [report.run_id]
    memory.undo(report.run_id)
    assert memory.conversations() == []


def test_a_vault_and_another_format_are_refused_as_a_folder_of_notes(memory: AgentMemory, tmp_path: Path) -> None:
    memory.add("Likes tea")
    memory.export_vault(tmp_path / "vault")
    with pytest.raises(InputError, match="import_vault"):
        memory.import_(tmp_path / "vault")
    with pytest.raises(InputError, match="markdown"):
        memory.import_(tmp_path, "chatgpt")
    with pytest.raises(InputError, match=r"cannot read .*none\.md: No such file"):
        memory.import_(tmp_path / "none.md")


def test_titles_of_chats_are_imported_and_set_again_only_where_there_is_none(
    memory: AgentMemory, written: Callable[..., Path], make: SimpleNamespace
) -> None:
    path = written([make.chatgpt()])
    report = memory.import_(path)
    assert report.titles == {"conv-bees": "Bees"}
    assert "Bees" in str(report)
    assert [run.id for run in memory.runs()] == [report.run_id]
    memory.set_title("conv-bees", "My hives")
    assert not memory.import_(path).run_id
    memory.set_title("conv-bees", None)
    assert memory.import_(path).titles == {"conv-bees": "Bees"}
    memory.erase(text="Bees")
    assert memory.import_(path).titles == {}


def test_the_name_of_a_claude_conversation_is_its_title(
    memory: AgentMemory, written: Callable[..., Path], make: SimpleNamespace
) -> None:
    assert memory.import_(written([make.claude()])).titles == {"conv-claude": "Bees"}


def test_an_undone_import_gets_no_title_back(
    memory: AgentMemory, written: Callable[..., Path], make: SimpleNamespace
) -> None:
    path = written([make.chatgpt()])
    memory.undo(memory.import_(path).run_id)
    assert not memory.import_(path).run_id
    assert memory.conversations() == []


def mem0_rows(*users: str) -> list[dict[str, str]]:
    return [{"id": f"m{n}", "memory": f"Likes tea number {n}", "user_id": user} for n, user in enumerate(users)]


@pytest.mark.parametrize("lines", [False, True])
def test_an_export_of_several_users_is_refused_until_one_is_chosen(
    memory: AgentMemory, tmp_path: Path, lines: bool
) -> None:
    path = tmp_path / ("mem0.jsonl" if lines else "mem0.json")
    rows = mem0_rows("nora", "bob", "nora")
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows), "utf-8")
    with pytest.raises(InputError, match=r"2 users \(bob, nora\)"):
        memory.import_(path)
    with pytest.raises(InputError, match="bob, nora"):
        memory.import_(path, user="eve")
    assert memory.runs() == []
    report = memory.import_(path, user="bob")
    assert (report.facts, list(report.skipped.items())) == (1, [("of another user", 2)])
    assert [one.text for one in memory.get_all()] == ["Likes tea number 1"]


def test_an_export_of_one_user_needs_no_choice(memory: AgentMemory, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(mem0_rows("nora", "nora")), "utf-8")
    assert memory.import_(path).facts + memory.import_(path).facts == 2


def test_progress_counts_the_unpacked_bytes_of_an_archive(
    memory: AgentMemory, tmp_path: Path, make: SimpleNamespace
) -> None:
    path, text = tmp_path / "export.zip", json.dumps([make.chatgpt()])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", text)
    seen: list[tuple[int, int | None]] = []
    memory.import_(path, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(text), len(text))
