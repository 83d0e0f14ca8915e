"""Vaults: pages with safe names, only changed ones rewritten, and a person's edits taken back with history."""

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from slowwave import AgentMemory, Message, settings
from slowwave.errors import InputError, SettingsError
from slowwave.formats.vault import files, render

if TYPE_CHECKING:
    from tests.conftest import Says, World

    from slowwave.model.plan import Plan, Receipt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def _filled(world: "World") -> AgentMemory:
    world.mind.summary = "The roses were watered"
    memory = world.open(immediate_window=4, recent_window=4)
    for n in range(20):
        said = Message(role="user", content=f"I watered the roses {n}", at=world.clock())
        memory.add_message(said, conversation="../evil: Garden/ü")
        world.later(seconds=60)
    memory.sleep()
    memory.add("Alice owns the deploy pipeline", category="person")
    memory.add("Matteo\nis lactose \\intolerant ^x1", category="preference")
    memory.pin(memory.add("Answer in short sentences", category="preference").ids[0])
    return memory


def _page(folder: Path, ends: str) -> Path:
    (found,) = [path for path in folder.rglob("*.md") if path.name == ends]
    return found


@given(st.text(max_size=60))
def test_file_names_are_safe_and_distinct(name: str) -> None:
    made = render.safe(name)
    assert made
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(made) <= 50
    assert render.safe(name) == made
    assert render.safe(name + "!") != made
    assert render.safe("con") != "con"


def test_a_vault_shows_facts_core_summaries_and_the_log(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))
    talk = f"summaries/{render.safe('../evil: Garden/ü')}"
    assert names[:5] == [
        "config/memory_compaction.md", "core.md", "facts/person.md", "facts/preference.md", "sleep-log.md",
    ]  # fmt: skip
    assert {f"{talk}/longterm.md", f"{talk}/recent.md"} <= set(names)
    history = [name for name in names if "/recent-2026" in name]
    assert history[0] == f"{talk}/recent-20260301-092000-1-5.md"
    assert len(history) == 3
    assert "Answer in short sentences" in (folder / "core.md").read_text()
    longterm = (folder / talk / "longterm.md").read_text()
    assert longterm.startswith('---\nslowwave: "summary"\nconversation: "../evil: Garden/ü"\n---\n')
    assert "(memories 1-9)" in longterm
    assert "sleep/cascade: " in (folder / "sleep-log.md").read_text()


def test_only_pages_that_changed_are_rewritten(world: "World", folder: Path) -> None:
    memory = _filled(world)
    first = memory.export_vault(folder)
    assert len(first) == len(list(folder.rglob("*.md"))) + 1
    assert memory.export_vault(folder) == ()
    memory.add("Bob owns the billing", category="person")
    assert set(memory.export_vault(folder)) == {"facts/person.md", ".slowwave-vault.json"}


def test_an_edited_line_is_an_update_with_history(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    assert str(memory.import_vault(folder)) == "vault: no edits"
    page = _page(folder, "person.md")
    page.write_text(page.read_text().replace("Alice owns", "Alice Costa owns") + "- Bruno keeps the books\n")
    report = str(memory.import_vault(folder))
    assert "'Alice owns the deploy pipeline' becomes 'Alice Costa owns the deploy pipeline'" in report
    assert "new: 'Bruno keeps the books'" in report
    assert {fact.text for fact in memory.get_all(categories=["person"])} == {"Alice owns the deploy pipeline"}
    taken = memory.import_vault(folder, dry_run=False)
    facts = {fact.text: fact for fact in memory.get_all(categories=["person"])}
    assert set(facts) == {"Alice Costa owns the deploy pipeline", "Bruno keeps the books"}
    assert len(memory.history(facts["Alice Costa owns the deploy pipeline"].id)) == 2
    memory.undo(str(taken.run_id))
    assert {fact.text for fact in memory.get_all(categories=["person"])} == {"Alice owns the deploy pipeline"}


def test_an_import_can_be_repeated_and_does_not_count_as_use_of_a_fact(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    page.write_text(
        page.read_text().replace("Alice", "Alice Costa") + "- Bruno keeps the books\n- bruno keeps  the books.\n"
    )
    first = memory.import_vault(folder, dry_run=False)
    assert (len(first.updated), first.added, first.known) == (1, ("Bruno keeps the books",), 1)
    assert str(first).startswith("vault: changed 1 fact, added 1, 1 line already known\n")
    before, runs = memory.get_all(), memory.runs(None)
    report = "vault: nothing new, 3 lines already known"
    for _ in range(2):
        assert str(memory.import_vault(folder)) == report
        again = memory.import_vault(folder, dry_run=False)
        assert str(again) == report
        assert again.run_id is None
    assert (memory.get_all(), memory.runs(None)) == (before, runs)


def test_a_new_line_that_a_mind_calls_known_does_not_count_as_use(
    world: "World", folder: Path, verdict: "Says"
) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    page.write_text(page.read_text() + "- The deploy pipeline is Alice's\n")
    world.mind.verdicts = [verdict("NOOP", relation="equal")]
    (before,) = memory.get_all(categories=["person"])
    planned = memory.import_vault(folder)
    assert (planned.added, planned.notes) == ((), ("already known: 'Alice owns the deploy pipeline'",))
    taken = memory.import_vault(folder, dry_run=False)
    assert (taken.added, taken.run_id) == ((), None)
    assert "already known: 'Alice owns the deploy pipeline'" in str(taken)
    assert memory.get_all(categories=["person"]) == [before]


def test_undo_of_an_import_undoes_all_its_parts(world: "World", folder: Path, verdict: "Says") -> None:
    memory = _filled(world)
    memory.add("Bob owns the billing", category="person")
    memory.export_vault(folder)
    before = {fact.id: fact.text for fact in memory.get_all()}
    page = _page(folder, "person.md")
    page.write_text(
        page.read_text().replace("Alice", "Alice Costa").replace("billing", "invoices")
        + "- Alice Costa never owns the deploy pipeline\n"
    )
    world.mind.verdicts = [verdict("UPDATE", relation="contradictory")]
    taken = memory.import_vault(folder, dry_run=False)
    assert (len(taken.updated), taken.added) == (2, ("Alice Costa never owns the deploy pipeline",))
    assert "replaced 'Alice Costa owns the deploy pipeline'" in taken.notes
    assert taken.run_id in {run.id for run in memory.runs() if run.cause == "edit"}
    memory.undo(str(taken.run_id))
    assert {fact.id: fact.text for fact in memory.get_all()} == before


def test_a_line_moved_to_another_page_changes_its_category(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    person, preference = _page(folder, "person.md"), _page(folder, "preference.md")
    head, _, line = person.read_text().partition("\n\n")
    person.write_text(f"{head}\n")
    preference.write_text(preference.read_text() + line)
    taken = memory.sync_vault(folder)
    assert "'[person] Alice owns the deploy pipeline' becomes '[preference] Alice owns the deploy pipeline'" in str(
        taken
    )
    assert memory.get_all(categories=["person"]) == []
    assert memory.import_vault(folder).known == 0
    (alice,) = [fact for fact in memory.get_all() if "Alice" in fact.text]
    memory.update(alice.id, alice.text, category="goal")
    preference.write_text(preference.read_text().replace(line, ""))
    _page(folder, "core.md").rename(folder / "facts/core.md")
    (folder / "facts/project.md").write_text(f'---\ncategory: "project"\n---\n{line}')
    assert "moved here too, to 'goal'" in str(memory.import_vault(folder))


def test_conflicting_lines_are_reported(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.add("Bob owns the billing", category="person")
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    text = page.read_text()
    page.write_text(
        text.replace("Alice owns the deploy pipeline", "Both own both").replace("Bob owns the billing", "both own both")
    )
    assert "another line says the same" in str(memory.import_vault(folder))
    page.write_text(text.replace("Alice owns the deploy pipeline", "Bob owns the billing"))
    assert "says the same already" in str(memory.import_vault(folder, dry_run=False))
    bob = memory.search("billing")[0].memory
    said = memory.search("roses", kinds=["message"])[0].memory
    page.write_text(f"{text}- Nobody ^{'0' * 20}\n- No fact ^{said.id}\n")
    report = str(memory.import_vault(folder, dry_run=False))
    assert f"there is no fact {'0' * 20}" in report
    assert f"{said.id} was not written to this vault" in report
    page.write_text(f"{text}- {'long ' * 30_000}\n")
    with pytest.raises(InputError, match="a line of 149,999 characters"):
        memory.import_vault(folder, dry_run=False)
    assert memory.get(bob.id) == bob


def test_a_persistent_concurrent_writer_is_reported(
    world: "World", folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))
    other, (alice,) = world.open(), memory.get_all(categories=["person"])
    real, store = memory.ports.store.apply, memory.ports.store

    def slow(plan: "Plan") -> "Receipt":
        (other.unpin if other.get(alice.id).pinned else other.pin)(alice.id)
        return real(plan)

    monkeypatch.setattr(store, "apply", slow)
    taken = memory.import_vault(folder, dry_run=False)
    assert (taken.updated, taken.run_id) == ((), None)
    assert "8 times in a row" in taken.conflicts[0]


def test_text_that_looks_like_markup_is_read_back_unchanged(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    lines = {line.text: line for line in files.read(folder).lines}
    odd = lines["Matteo\nis lactose \\intolerant ^x1"]
    assert odd.exported == odd.text
    page = _page(folder, "preference.md")
    page.write_text(page.read_text().replace("short sentences", r"C:\temp"))
    assert [after for _, _, after in memory.import_vault(folder).updated] == [r"Answer in C:\temp"]


def test_a_removed_line_or_page_erases_nothing(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    before = memory.get_all()
    _page(folder, "person.md").unlink()
    taken = memory.sync_vault(folder)
    assert (len(taken.gone), taken.updated, memory.get_all()) == (1, (), before)
    (alice,) = memory.get_all(categories=["person"])
    assert f"stays in memory: 'Alice owns the deploy pipeline' ({alice.id})" in str(taken)
    assert "Alice" in _page(folder, "person.md").read_text()


def test_removed_lines_are_named_up_to_a_limit_and_deleted_facts_are_not_reported(world: "World", folder: Path) -> None:
    memory = world.open(embedder="none")
    made = [memory.add(f"Server {n * 7} stands in rack {n * 13}", category="project").ids[0] for n in range(6)]
    memory.export_vault(folder)
    memory.delete(made[0])
    _page(folder, "project.md").unlink()
    report = str(memory.import_vault(folder))
    assert report.count("stays in memory: ") == 3
    assert "and 2 more whose lines are gone stay in memory" in report


def test_a_fact_that_changed_on_both_sides_is_reported_and_unchanged(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    (alice,) = memory.get_all(categories=["person"])
    memory.update(alice.id, "Alice owns the deploys")
    assert memory.import_vault(folder).updated == ()
    page = _page(folder, "person.md")
    page.write_text(page.read_text().replace("Alice owns", "Alice runs"))
    taken = memory.import_vault(folder, dry_run=False)
    assert "was changed here too" in taken.conflicts[0]
    assert memory.get(alice.id).text == "Alice owns the deploys"
    memory.delete(alice.id)
    assert "no longer in use" in memory.import_vault(folder).conflicts[0]


def test_many_changes_at_once_need_a_confirmation(world: "World", folder: Path) -> None:
    memory = world.open(embedder="none")
    for n in range(10):
        memory.add(f"Server {n * 7} stands in rack {n * 13}", category="project")
    memory.export_vault(folder)
    page = _page(folder, "project.md")
    page.write_text(page.read_text().replace("stands", "hangs"))
    planned = memory.import_vault(folder)
    assert (len(planned.updated), planned.confirm) == (
        10,
        "10 changes in a vault of 10 facts: so many are made only with `force`",
    )
    assert planned.confirm in str(planned)
    assert memory.import_vault(folder, force=True).confirm == ""
    with pytest.raises(InputError, match="repeat it with `force`"):
        memory.import_vault(folder, dry_run=False)
    assert not any("hangs" in fact.text for fact in memory.get_all())
    memory.sync_vault(folder, force=True)
    assert all("hangs" in fact.text for fact in memory.get_all())
    assert len({run.id for run in memory.runs() if run.cause == "edit"}) == 1
    assert memory.import_vault(folder).updated == ()


def test_an_empty_page_is_removed_and_files_of_a_person_stay(world: "World", folder: Path) -> None:
    memory = _filled(world)
    kept = [memory.add(text, category="goal").ids[0] for text in ("Run a marathon", "Learn Greek")]
    memory.export_vault(folder)
    mine = folder / "facts/diary.md"
    mine.write_text("Dear diary\n")
    goals, person = _page(folder, "goal.md"), _page(folder, "person.md")
    for identity in kept:
        memory.delete(identity)
    (alice,) = memory.get_all(categories=["person"])
    memory.delete(alice.id)
    person.write_text(person.read_text().replace("Alice", "Alice Costa"))
    changed = memory.sync_vault(folder).pages
    assert "facts/goal.md" in changed
    assert not goals.exists()
    assert mine.read_text() == "Dear diary\n"
    (kept,) = (folder / "kept").iterdir()
    assert "Alice Costa" in kept.read_text(), "what a person wrote is the person's"
    assert not person.exists()
    memory.erase(conversation="../evil: Garden/ü")
    memory.export_vault(folder)
    assert not list((folder / "summaries").glob("*/*"))
    assert memory.export_vault(folder) == ()


def test_a_file_outside_the_vault_that_a_baseline_names_stays(world: "World", folder: Path, tmp_path: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    outside, baseline = tmp_path / "outside.md", folder / ".slowwave-vault.json"
    outside.write_text("mine")
    held = json.loads(baseline.read_text())
    held["pages"]["../outside.md"] = hashlib.blake2b(b"mine", digest_size=16).hexdigest()
    baseline.write_text(json.dumps(held))
    memory.export_vault(folder)
    assert outside.exists()


def test_a_vault_of_an_earlier_version_is_accepted(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    baseline = folder / ".slowwave-vault.json"
    held = json.loads(baseline.read_text())
    baseline.write_text(json.dumps({identity: text for identity, (_, text) in held["facts"].items()}))
    assert str(memory.import_vault(folder)) == "vault: no edits"
    page = _page(folder, "person.md")
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))
    assert len(memory.sync_vault(folder).updated) == 1
    assert "pages" in json.loads(baseline.read_text())


def test_the_settings_page_is_applied(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    page = folder / "config/memory_compaction.md"
    assert page.read_text().startswith('---\nimmediate_window: 4\nrecent_window: 4\nprofile: "summarizer"\n---')
    page.write_text("---\n# S4's own form\nimmediate_window: 2\nrecent_window: 2\nprofile: brief\n---\nMine\n")
    memory.sync_vault(folder)
    assert page.read_text().endswith("Mine\n")
    config = memory.ports.config
    assert (config.immediate_window, config.recent_window, config.summary_profile) == (2, 2, "brief")
    page.write_text("---\nimmediate_window: many\n---\n")
    with pytest.raises(InputError, match="immediate_window='many'"):
        memory.sync_vault(folder)


def test_a_folder_that_leads_elsewhere_is_refused(world: "World", folder: Path, tmp_path: Path) -> None:
    memory = _filled(world)
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.mkdir()
    (folder / "facts").symlink_to(outside, target_is_directory=True)
    with pytest.raises(InputError, match="leads out of the vault"):
        memory.export_vault(folder)
    assert list(outside.iterdir()) == []


def test_a_folder_without_a_vault_and_a_damaged_vault_are_refused(world: "World", folder: Path) -> None:
    memory = _filled(world)
    with pytest.raises(InputError, match="export a vault"):
        memory.import_vault(folder)
    memory.sync_vault(folder)
    (folder / ".slowwave-vault.json").write_text("[]")
    with pytest.raises(InputError, match="damaged"):
        memory.import_vault(folder)
    (folder / ".slowwave-vault.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        memory.import_vault(folder)
    (folder / ".slowwave-vault.json").write_text('{"facts": {"x": 1}, "pages": {}}')
    with pytest.raises(InputError, match="damaged"):
        memory.import_vault(folder)
    (folder / ".slowwave-vault.json").write_text('{"facts": []}')
    with pytest.raises(InputError, match="damaged"):
        memory.import_vault(folder)
    (folder / ".slowwave-vault.json").write_text("{}")
    (folder / "facts/notes.md").write_text("# my own notes\n- not a fact\n")
    (folder / "facts/person.md").write_bytes(b"\xff\xfe")
    assert "facts/person.md cannot be read as a page and stays as it is" in str(memory.import_vault(folder))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_reported(world: "World", folder: Path) -> None:
    memory = _filled(world)
    folder.mkdir(mode=0o500)
    with pytest.raises(InputError, match="cannot write the vault"):
        memory.export_vault(folder)


def test_a_vault_named_in_the_settings_sets_the_windows(world: "World", folder: Path) -> None:
    _filled(world).export_vault(folder)
    found = settings.read({"SLOWWAVE_VAULT": str(folder), "SLOWWAVE_CONFIG": ""})
    assert (found.config.immediate_window, found.config.recent_window) == (4, 4)
    with pytest.raises(SettingsError, match="is not a folder: create it"):
        settings.read({"SLOWWAVE_VAULT": str(folder / "none")})


def test_if_an_id_is_on_two_lines_the_changed_line_is_the_edit(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    copy = folder / "facts/person (conflict).md"
    copy.write_text(page.read_text())
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))
    taken = memory.sync_vault(folder)
    assert ([after for _, _, after in taken.updated], taken.conflicts) == (
        ["Alice Costa owns the deploy pipeline"], (),
    )  # fmt: skip
    again = memory.sync_vault(folder)
    assert (again.updated, again.conflicts) == ((), ()), "an older copy takes nothing back"
    assert "Alice owns" in copy.read_text(), "it is a person's page"


def test_if_both_lines_of_an_id_changed_neither_is_imported_and_other_lines_are(world: "World", folder: Path) -> None:
    memory = _filled(world)
    memory.add("Bob owns the billing", category="person")
    memory.export_vault(folder)
    page = _page(folder, "person.md")
    text = page.read_text().replace("Bob", "Bob Marsh")
    (line,) = [row for row in text.splitlines() if "Alice" in row]
    page.write_text(
        text.replace(line, f"{line.replace('Alice', 'Alice Costa')}\n{line.replace('Alice', 'Alicia Costa')}")
    )
    report = memory.import_vault(folder)
    taken = memory.import_vault(folder, dry_run=False)
    assert report.conflicts == taken.conflicts
    assert "'Alice Costa owns the deploy pipeline' and 'Alicia Costa owns the deploy pipeline'" in taken.conflicts[0]
    assert {fact.text for fact in memory.get_all(categories=["person"])} == {
        "Alice owns the deploy pipeline", "Bob Marsh owns the billing",
    }  # fmt: skip


def test_a_long_category_of_a_file_does_not_stop_the_import_of_edits(world: "World", folder: Path) -> None:
    rows = [{"fact": "Ada keeps bees", "category": "x" * 300, "subject": "y" * 300}]
    (folder.parent / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    when = "2026-01-02T03:04:05+00:00"
    kept = {"type": "fact", "id": "0kept", "kind": "semantic", "text": "Bob keeps ants", "category": "z" * 300}
    lines = [{"slowwave": "export", "version": 1}, kept | {"recorded_at": when, "valid_from": when}]
    lines += [{"type": "end", "records": 1}]
    (folder.parent / "export.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    memory = world.open()
    memory.import_(folder.parent / "rows.jsonl")
    memory.import_(folder.parent / "export.jsonl")
    assert sorted((len(fact.category), len(fact.subject or "")) for fact in memory.get_all()) == [(256, 256), (300, 0)]
    memory.export_vault(folder)
    (page,) = (path for path in (folder / "facts").iterdir() if "Bob keeps ants" in path.read_text())
    page.write_text(page.read_text().replace("Bob keeps ants", "Bob keeps red ants"))
    taken = memory.sync_vault(folder)
    assert [after for _, _, after in taken.updated] == ["Bob keeps red ants"]
