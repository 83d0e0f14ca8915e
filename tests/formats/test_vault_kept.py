"""No page of a vault is written over or removed while a person's words stand in it that are not in memory."""

import json
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.conftest import Says, World

from slowwave import AgentMemory, Message
from slowwave.errors import InputError, SlowwaveError
from slowwave.pipelines.exchange import vault as pipeline


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def memory(world: World, folder: Path) -> AgentMemory:
    memory = world.open(embedder="none")
    memory.add("Run a marathon", category="goal")
    memory.add("Learn Greek", category="goal")
    memory.add("Alice owns the deploy pipeline", category="person")
    memory.export_vault(folder)
    return memory


def _edited(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    page = folder / name
    text = page.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    page.write_text(text)
    return page


def _kept(folder: Path) -> str:
    return "\n".join(path.read_text() for path in (folder / "kept").glob("*.md"))


def test_prose_on_a_page_of_facts_stays_in_it(memory: AgentMemory, folder: Path) -> None:
    page = _edited(
        folder,
        "facts/goal.md",
        ('category: "goal"', 'category: "goal"\ntags:\n  - mine'),
        ("- Run", "# What I want\n\n- Run"),
        ("- Learn", "Because of the sea.\n\n- Learn"),
    )
    memory.add("Sail to Crete", category="goal")
    for _ in range(2):
        memory.sync_vault(folder)
    text = page.read_text()
    assert text.index("# What I want") < text.index("- Run a marathon") < text.index("- Sail to Crete")
    assert text.index("- Sail to Crete") < text.index("Because of the sea.")
    assert 'category: "goal"\ntags:\n  - mine\n---\n' in text
    assert not (folder / "kept").exists()
    assert memory.export_vault(folder) == ()
    for fact in memory.get_all(categories=["goal"]):
        memory.delete(fact.id)
    memory.sync_vault(folder)
    assert not page.exists()
    assert "Because of the sea." in _kept(folder)


@pytest.mark.parametrize("bullet", ["* ", "+ ", "  - ", "\t- "])
def test_any_bullet_makes_a_line(memory: AgentMemory, folder: Path, bullet: str) -> None:
    page = folder / "facts/goal.md"
    page.write_text(f"{page.read_text()}* * *\n{bullet}Sail to Crete\n")
    assert memory.sync_vault(folder).added == ("Sail to Crete",)
    assert "- Sail to Crete ^" in page.read_text()
    assert "* * *" in page.read_text()


def test_a_page_with_a_byte_order_mark_is_read(memory: AgentMemory, folder: Path) -> None:
    page = _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))
    page.write_text(page.read_text().replace("\n", "\r\n"), encoding="utf-8-sig", newline="")
    taken = memory.sync_vault(folder)
    assert [after for _, _, after in taken.updated] == ["Run two marathons"]
    assert not (folder / "kept").exists()


def test_an_edit_that_is_not_imported_is_copied_and_reported(memory: AgentMemory, folder: Path) -> None:
    _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))
    (fact,) = [one for one in memory.get_all() if "marathon" in one.text]
    memory.update(fact.id, "Run half a marathon")
    taken = memory.sync_vault(folder)
    (copy,) = (folder / "kept").iterdir()
    assert "Run two marathons" in copy.read_text()
    expected_note = f"facts/goal.md held words of yours that are not in memory: kept in kept/{copy.name}"
    assert expected_note in taken.notes
    assert expected_note in str(taken)
    assert f"kept/{copy.name}" in taken.pages
    again = memory.sync_vault(folder)
    assert (again.notes, again.conflicts, again.pages) == ((), (), ())


def test_a_page_with_disputed_lines_stays_unchanged(memory: AgentMemory, folder: Path) -> None:
    copy = folder / "facts/goal (conflict).md"
    copy.write_text((folder / "facts/goal.md").read_text().replace("a marathon", "no marathon"))
    page = _edited(folder, "facts/goal.md", ("a marathon", "two marathons"), ("Greek", "Latin"))
    before = page.read_text()
    for updated in (1, 0):
        taken = memory.sync_vault(folder)
        assert len(taken.updated) == updated
        assert "'Run no marathon' and 'Run two marathons': the lines of" in taken.conflicts[0]
        assert any(note.startswith("facts/goal.md stays as it is: the lines of") for note in taken.notes)
        assert page.read_text() == before
    copy.unlink()
    assert [after for _, _, after in memory.sync_vault(folder).updated] == ["Run two marathons"]
    assert memory.sync_vault(folder).notes == ()
    assert not (folder / "kept").exists()


def test_an_export_keeps_edits_that_were_not_imported(memory: AgentMemory, folder: Path) -> None:
    _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))
    expected_note: list[str] = []
    memory.export_vault(folder, on_progress=expected_note.append)
    assert "Run two marathons" in _kept(folder)
    assert "facts/goal.md held words of yours" in expected_note[0]


def test_edits_in_core_and_summaries_are_copied(world: World, folder: Path) -> None:
    world.mind.summary = "The roses were watered"
    memory = world.open(immediate_window=4, recent_window=4)
    said = [Message(role="user", content=f"I watered the roses {n}", at=world.clock()) for n in range(20)]
    memory.add_messages(said, conversation="garden")
    memory.compact_memories("garden")
    memory.export_vault(folder)
    core = folder / "core.md"
    core.write_text(core.read_text() + "- My own words on core\n")
    history = sorted((folder / "summaries/garden").glob("recent-*.md"))[0]
    history.write_text(history.read_text() + "My own words on roses\n")
    notes = memory.sync_vault(folder).notes
    assert "My own words on core" in _kept(folder)
    assert "My own words on roses" in _kept(folder)
    assert "My own words" not in core.read_text() + history.read_text()
    assert sum("held words of yours" in note for note in notes) == 2
    history.write_text(history.read_text() + "And other words on roses\n")
    receipt = memory.erase(conversation="garden")
    assert any("vaults (a sync" in one for one in receipt.not_reached)
    assert any("recent-" in note and "kept in kept/" in note for note in memory.sync_vault(folder).notes)
    assert not history.exists()
    assert "And other words on roses" in _kept(folder)


@pytest.mark.parametrize("damage", ["category:", "---\nslowwave"])
def test_a_page_with_a_damaged_head_is_reported_and_unchanged(memory: AgentMemory, folder: Path, damage: str) -> None:
    page = _edited(folder, "facts/goal.md", (damage, "oops" + damage), ("a marathon", "two marathons"))
    text = page.read_text()
    (fact,) = [one for one in memory.get_all() if "Greek" in one.text]
    memory.update(fact.id, "Learn Latin")
    expected_note = str(memory.sync_vault(folder))
    assert "facts/goal.md cannot be read as a page and stays as it is: its head" in expected_note
    assert "stays in memory" not in expected_note
    assert page.read_text() == text
    page.write_text(text.replace("oops", ""))
    taken = memory.sync_vault(folder)
    assert [after for _, _, after in taken.updated] == ["Run two marathons"], "an old line takes nothing back"
    assert "Learn Latin" in page.read_text()


def test_a_file_that_is_no_page_is_reported_and_skipped(memory: AgentMemory, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text('---\ncategory: "goal"\n---\n- Not for memory\n')
    (folder / "facts/link.md").symlink_to(outside)
    (folder / "facts/dangling.md").symlink_to(tmp_path / "none.md")
    (folder / "facts/folder.md").mkdir()
    (folder / "facts/bytes.md").write_bytes(b"\xff\xfe")
    person = folder / "facts/person.md"
    person.unlink()
    person.symlink_to(outside)
    _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))
    memory.add("Bob owns the billing", category="person")
    taken = memory.sync_vault(folder)
    for name in ("link", "dangling", "folder", "bytes", "person"):
        assert any(f"facts/{name}.md cannot be read as a page" in one for one in taken.conflicts)
    assert "facts/person.md stays as it is: it is a link" in taken.notes
    assert person.is_symlink()
    assert "Not for memory" in outside.read_text()
    assert [after for _, _, after in taken.updated] == ["Run two marathons"]
    assert not any("Not for" in fact.text for fact in memory.get_all())
    for fact in memory.get_all(categories=["person"]):
        memory.delete(fact.id)
    memory.export_vault(folder)
    assert person.is_symlink()


def test_a_vault_of_another_store_or_scope_is_refused(memory: AgentMemory, folder: Path, tmp_path: Path) -> None:
    page = _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with AgentMemory.open(tmp_path / "other.db", scope="t", llm=None, embedder="none") as other:
        for act in (other.export_vault, other.import_vault, other.sync_vault):
            with pytest.raises(InputError, match="written from another store: name another folder, or take it over"):
                act(folder)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert other.get_all() == []
        baseline = folder / ".slowwave-vault.json"
        held = json.loads(baseline.read_text())
        baseline.write_text(json.dumps({key: held[key] for key in ("facts", "pages")}))
        with pytest.raises(InputError, match="another store"):
            other.sync_vault(folder)
        assert memory.import_vault(folder).updated, "ids that are known here"
        other.sync_vault(folder, force=True)
        assert "Run two marathons" in _kept(folder)
        assert not page.exists()
    with pytest.raises(InputError, match="another store"):
        memory.export_vault(folder)
    memory.export_vault(folder, force=True)


def test_another_scope_is_refused_even_by_force(memory: AgentMemory, world: World, folder: Path) -> None:
    other = world.open(scope="u", embedder="none")
    for act in (other.export_vault, other.import_vault, other.sync_vault):
        with pytest.raises(InputError, match="shows the scope t, not u: name that scope, or another folder"):
            act(folder, force=True)
    assert memory.export_vault(folder) == ()


def test_an_unwritable_vault_is_detected_before_any_edit_is_imported(
    memory: AgentMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(InputError, match=r"cannot write the vault .*: Permission denied"):
        memory.sync_vault(folder)
    assert not any("two" in fact.text for fact in memory.get_all())


def test_an_error_after_the_import_of_edits_names_the_run(
    memory: AgentMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edited(folder, "facts/goal.md", ("a marathon", "two marathons"))

    def full(path: Path, _: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SlowwaveError, match="No space left on device; what you changed was taken in") as caught:
        memory.sync_vault(folder)
    (run,) = [run for run in memory.runs() if run.cause == "edit"][:1]
    assert f"run {run.id}, which `undo` reverses" in str(caught.value)
    assert caught.value.exit_code == 1
    assert not list(folder.rglob(".slowwave-?*-*"))
    assert [path.name for path in folder.rglob(".slowwave-*")] == [".slowwave-vault.json"]
    _edited(folder, "facts/goal.md", ("two marathons", "two marathons"))
    with pytest.raises(InputError) as caught:
        memory.sync_vault(folder)
    assert caught.value.exit_code == 2, "now nothing was taken"


def test_pages_have_the_default_permissions(memory: AgentMemory, folder: Path) -> None:
    usual = folder / "usual"
    usual.touch()
    assert stat.S_IMODE((folder / "core.md").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert memory.export_vault(folder) == ()


def test_a_dry_run_reports_what_a_new_line_would_replace(
    memory: AgentMemory, world: World, folder: Path, verdict: Says
) -> None:
    page = folder / "facts/person.md"
    page.write_text(page.read_text() + "- Bob now owns the deploy pipeline\n")
    world.mind.verdicts = [verdict("UPDATE", relation="contradictory")]
    before, runs = memory.get_all(), memory.runs(None)
    planned = memory.import_vault(folder)
    assert (memory.get_all(), memory.runs(None)) == (before, runs)
    assert "replaced 'Alice owns the deploy pipeline'" in planned.notes
    taken = memory.import_vault(folder, dry_run=False)
    assert (taken.added, taken.notes) == (planned.added, planned.notes)


def test_the_sleep_log_shows_sleeps_and_edits_among_many_additions(
    memory: AgentMemory, world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "RUNS", 3)
    (fact,) = memory.get_all(categories=["person"])
    memory.update(fact.id, "Alice Costa owns the deploy pipeline")
    world.later(days=1)
    memory.delete(fact.id)
    for n in range(5):
        memory.add(f"Server {n * 7} stands in rack {n * 13}", category="project")
    memory.export_vault(folder)
    log = (folder / "sleep-log.md").read_text()
    assert log.count(" edit: ") == 2
    assert " add: " not in log


def test_incomplete_pages_are_reported(memory: AgentMemory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FACTS", 2)
    assert "the pages show no more than 2 facts: the rest is in memory alone" in memory.sync_vault(folder).notes


def test_a_file_is_no_folder_for_a_vault(memory: AgentMemory, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    for act in (memory.export_vault, memory.sync_vault):
        with pytest.raises(InputError, match="cannot write the vault"):
            act(place)
    assert place.read_text() == "mine"


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["core.md", "facts/goal.md", "facts/person.md", "facts/goal (conflict).md", "sleep-log.md"]),
        st.sampled_from(["- ", "* ", "  - ", "", "# ", "> "]),
        st.sampled_from(["in a line", "above it", "at the end"]),
        st.integers(0, 20),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(EDITS, st.booleans())
def test_text_written_on_a_page_is_in_memory_or_in_the_folder_afterwards(
    edits: list[tuple[str, str, str, int]], sync: bool
) -> None:
    with (
        tempfile.TemporaryDirectory() as place,
        AgentMemory.open(f"{place}/memory.db", scope="t", llm=None, embedder="none") as memory,
    ):
        folder = Path(place, "vault")
        for words, category in (("Learn Greek", "goal"), ("Run a marathon", "goal"), ("Alice rides", "person")):
            memory.add(words, category=category)
        memory.export_vault(folder)
        copy = folder / "facts/goal (conflict).md"
        copy.write_text((folder / "facts/goal.md").read_text())
        for number, (name, bullet, where, at) in enumerate(edits):
            rows = (folder / name).read_text().split("\n")
            row = len(rows) if where == "at the end" else at % len(rows)
            if where == "in a line" and rows[row].startswith("- "):
                rows[row] = rows[row].replace("- ", f"- word{number}word ", 1)
            else:
                rows.insert(row, f"{bullet}New word{number}word")
            (folder / name).write_text("\n".join(rows))
        memory.update(memory.get_all(categories=["person"])[0].id, "Alice walks")
        if sync:
            memory.sync_vault(folder, force=True)
        memory.export_vault(folder)
        held = "".join(path.read_text() for path in folder.rglob("*.md"))
        for number in range(len(edits)):
            assert f"word{number}word" in held or memory.ports.store.mentions("t", f"word{number}word")
