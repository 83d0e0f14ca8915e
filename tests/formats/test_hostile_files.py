"""Files that are odd or large are read in linear time, or refused in one sentence."""

import json
import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from slowwave import AgentMemory
from slowwave.errors import InputError
from slowwave.formats import read
from slowwave.formats.vault import files
from slowwave.formats.vault.front_matter import SETTINGS, compaction, front
from slowwave.formats.vault.parse import sheet
from slowwave.pipelines.planning import new_id
from slowwave.policy.charts import escape
from slowwave.testing.builders import NOW, add, fact, plan

DEEP = "[" * 100_000
BASELINE = ".slowwave-vault.json"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgentMemory]:
    with AgentMemory.open(tmp_path / "a.db", scope="t", embedder=None) as opened:
        opened.add("Alice lives in Graz", category="person")
        yield opened


@pytest.fixture
def folder(memory: AgentMemory, tmp_path: Path) -> Path:
    place = tmp_path / "vault"
    memory.export_vault(place)
    return place


def page(folder: Path) -> Path:
    (found,) = (folder / "facts").glob("*.md")
    return found


def test_a_baseline_and_a_page_of_more_than_ten_megabytes_are_read(memory: AgentMemory, folder: Path) -> None:
    written = json.loads((folder / BASELINE).read_text())
    written["facts"]["zzzz"] = ["person", "x" * 10_500_000]
    (folder / BASELINE).write_text(json.dumps(written))
    prose = "x" * 10_500_000
    page(folder).write_text(f"{page(folder).read_text()}\n{prose}\n- Alice has a dog\n")
    assert memory.import_vault(folder).added == ("Alice has a dog",)
    memory.export_vault(folder)
    assert files.baseline(folder) is not None


@pytest.mark.long
def test_a_vault_of_100_000_facts_is_exported_and_imported_again(memory: AgentMemory, tmp_path: Path) -> None:
    scope = memory.ports.scope
    for first in range(0, 99_000, 500):
        texts = [
            f"Machine {n} of the hall {n * 7} has the part {n * 13} since March" for n in range(first, first + 500)
        ]
        facts = [fact(text, scope=scope, id=new_id(NOW)) for text in texts]
        memory.ports.store.apply(plan(*map(add, facts), scope=scope))
    place = tmp_path / "large"
    for _ in range(2):
        memory.export_vault(place)
        assert memory.import_vault(place).added == ()


def test_deep_brackets_in_a_baseline_are_damage(memory: AgentMemory, folder: Path) -> None:
    (folder / BASELINE).write_text(DEEP)
    with pytest.raises(InputError, match="is damaged"):
        memory.import_vault(folder)


def test_deep_brackets_in_the_head_of_a_page_are_refused(memory: AgentMemory, folder: Path) -> None:
    page(folder).write_text(f"---\ncategory: {DEEP}\n---\n\n- Alice has a dog\n")
    with pytest.raises(InputError, match="category"):
        memory.import_vault(folder)
    assert [fact.text for fact in memory.get_all()] == ["Alice lives in Graz"]


def test_deep_brackets_in_the_settings_page_are_an_invalid_value(folder: Path) -> None:
    (folder / SETTINGS).write_text(f"---\nrecent_window: {DEEP}\n---\n")
    with pytest.raises(InputError, match="line 2"):
        compaction(folder)


@pytest.mark.parametrize("line", ["name:{}#", "name: 1{}x", "name: '{}", "name: 'a'{}x", "{}", 'name: "a"{}x', "a:{}"])
def test_long_lines_of_a_head_take_linear_time(line: str) -> None:
    begun = time.process_time()
    front("---\n" + line.format(" " * 60_000) + "\n---\n")
    assert time.process_time() - begun < 0.5, "the square of it takes half a minute"


@pytest.mark.parametrize("line", ["- a{}b", "-{}", "- ^{}a", "{}- a"])
def test_long_lines_of_a_page_take_linear_time(line: str) -> None:
    begun = time.process_time()
    sheet("---\ncategory: person\n---\n" + line.format(" " * 60_000) + "\n", {})
    assert time.process_time() - begun < 0.5


def test_a_hard_link_is_neither_read_nor_written(memory: AgentMemory, folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text("---\ncategory: person\n---\n- The key is under the mat\n")
    page(folder).unlink()
    os.link(private, folder / "facts" / "person.md")
    done = memory.import_vault(folder)
    assert done.added == ()
    assert "is a hard link" in str(done)
    memory.export_vault(folder)
    assert "under the mat" in private.read_text()
    assert not [
        path for path in folder.rglob("*") if path.is_file() and "mat" in path.read_text() and path.stat().st_nlink == 1
    ]


def test_a_pipe_in_a_vault_is_reported(memory: AgentMemory, folder: Path) -> None:
    os.mkfifo(folder / "facts" / "pipe.md")
    assert memory.import_vault(folder).added == ()


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe.jsonl", "pipe.json", "pipe.md"])
def test_devices_and_pipes_are_no_files_to_import(memory: AgentMemory, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    if not place.exists():
        os.mkfifo(place)
    with pytest.raises(InputError):
        memory.import_(place)


def test_a_pipe_in_a_folder_of_notes_is_skipped(memory: AgentMemory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The gate opens at nine")
    os.mkfifo(notes / "b.md")
    assert memory.import_(notes).messages == 1


def test_an_archive_of_ten_thousand_members_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "many.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for n in range(500):
            archive.writestr(f"{n}.jsonl", '{"role": "user", "content": "Hello"}\n')
    opened = []
    first = zipfile.ZipFile.__init__

    def counted(self: zipfile.ZipFile, *arguments: object, **named: object) -> None:
        opened.append(1)
        first(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(zipfile.ZipFile, "__init__", counted)
    assert len(list(read(place))) == 500
    assert len(opened) == 1


def test_a_plot_with_control_characters_is_well_formed() -> None:
    odd = escape("a\x00\x1b\ud800<b>")
    shown = ET.fromstring(f"<text>{odd}</text>").text
    assert shown == "a\ufffd\ufffd\ufffd<b>"
