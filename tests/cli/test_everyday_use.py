"""Names and ids as people type them, errors as JSON, previews, private files, interruptions and closed outputs."""

import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from slowwave import AgentMemory, ImportInterruptedError, InputError, Message, NotFoundError
from slowwave.cli import edit_cmds
from slowwave.cli.app import ALIASES, app
from slowwave.cli.endings import CancelledError
from slowwave.cli.output import wrapped

Run = Callable[..., Any]
PROGRAM = (sys.executable, "-c", "from slowwave.cli import main; main()")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_each_other_name_runs_the_same_command(run: Run) -> None:
    run("add", "I like tea")
    assert run("facts").out == run("get-all").out == run("get_all").out == run("list").out
    assert run("recall", "tea").out == run("search", "tea").out
    context = click.Context(app)
    assert all(app.get_command(context, other) is app.get_command(context, name) for other, name in ALIASES.items())


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("serch", "search"),
        ("forget", "slowwave delete ID"),
        ("forgett", "slowwave delete ID"),
        ("consolidat", "consolidate"),
        ("memories", "did you mean list?"),
        ("stats", "did you mean status?"),
        ("add_fact", "did you mean add?"),
        ("version", "slowwave --version"),
    ],
)
def test_an_unknown_command_suggests_another(run: Run, name: str, suggested: str) -> None:
    done = run(name)
    assert (done.code, done.out) == (2, "")
    assert suggested in done.err


def test_help_shows_the_page_of_a_command_of_a_group_and_of_all(run: Run) -> None:
    assert run("help").out == run("--help").out
    assert run("help", "recall").out == run("search", "--help").out
    assert run("help", "vault", "sync").out == run("vault", "sync", "--help").out
    assert run("help", "serch").code == 2
    assert "it has export, import, sync" in run("help", "vault", "nothing").err


def test_words_need_no_quotation_marks(run: Run) -> None:
    run("add", "Odile", "owns", "the", "ferry")
    run("remember", "I", "like", "tea")
    (fact,) = run("list", "--json").json
    assert fact["text"] == "Odile owns the ferry"
    assert run("update", fact["id"], "Odile", "sold", "the", "ferry").code == 0
    texts = {hit["memory"]["text"] for hit in run("search", "who", "sold", "tea", "--json").json}
    assert texts == {"Odile sold the ferry", "I like tea"}


def test_an_id_may_be_shortened_and_an_ambiguous_beginning_lists_the_candidates(store: Path) -> None:
    with AgentMemory.open(store) as memory:
        first = memory.add("Odile owns the ferry").ids[0]
        second = memory.add("The heron nests in May").ids[0]
        assert memory.find_id(first[:-1]) == memory.find_id(first[-6:]) == first
        assert memory.find_id(second[-6:]) == second
        assert memory.find_id(first) == first
        with pytest.raises(InputError, match="several ids begin") as error:
            memory.find_id(os.path.commonprefix([first, second])[:6])
        assert first in str(error.value)
        assert second in str(error.value)
        with pytest.raises(InputError, match="last 6 characters"):
            memory.find_id(first[:5])
        with pytest.raises(NotFoundError):
            memory.find_id("zzzzzzzz")
        run_id = memory.runs()[0].id
        assert memory.find_run_id(run_id[:-1]) == memory.find_run_id(run_id[-6:]) == run_id


def test_commands_take_shortened_ids(run: Run) -> None:
    added = run("add", "Odile owns the ferry", "--json").json
    short = added["ids"][0][:-1]
    assert run("show", short, "--json").json["memory"]["id"] == added["ids"][0]
    for words in (("pin", short), ("update", short, "Odile sold the ferry"), ("history", short), ("delete", short)):
        assert run(*words).code == 0
    assert run("undo", added["run_id"][:-1], "--cascade").code == 0


def test_with_json_every_error_is_one_value_on_the_error_stream(run: Run) -> None:
    for words, kind in ((("list",), "NotFoundError"), (("lst",), "UsageError"), (("search",), "UsageError")):
        done = run(*words, "--json")
        assert (done.code, done.out) == (2, "")
        value = json.loads(done.err)
        assert value.keys() == {"error", "kind"}
        assert value["kind"] == kind


def test_reading_commands_create_no_store(run: Run, store: Path, tmp_path: Path) -> None:
    for words in (("search", "tea"), ("list",), ("status",), ("export", "x.jsonl"), ("undo", "abcdefg"), ("health",)):
        done = run(*words, "--store", str(tmp_path / "typo.db"))
        assert done.code == 2
        assert "no store at" in done.err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotFoundError):
        AgentMemory.open(store, create=False)
    AgentMemory.open(store, embedder="none").close()
    AgentMemory.open(store, embedder="none", create=False).close()


def test_a_missing_file_creates_no_store(run: Run, tmp_path: Path) -> None:
    done = run("import", "missing.zip", "--store", str(tmp_path / "new.db"))
    assert (done.code, done.out) == (2, "")
    assert "cannot read missing.zip" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_creates_no_store(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "I keep bees.", "id": "1"}\n')
    done = run("import", str(talk), "--dry-run", "--trust", "user", "--store", str(tmp_path / "new.db"), "--json")
    assert (done.code, done.json["messages"], done.json["vouched"], done.json["run_id"]) == (0, 1, 1, "")
    assert list(tmp_path.iterdir()) == [talk]


def test_messages_are_remembered_with_the_time_at_which_they_were_said(run: Run) -> None:
    assert run("remember", "I keep bees.", "--at", "2026-01-05T09:00+01:00", "--json").code == 0
    (hit,) = run("search", "bees", "--json").json
    assert hit["memory"]["valid_from"] == "2026-01-05T09:00:00+01:00"
    refused = run("remember", "I keep hens.", "--at", "soon")
    assert refused.code == 2
    assert "--at 'soon' is not a date" in refused.err


def test_conversations_are_shown_by_their_titles(run: Run) -> None:
    run("remember", "user: I am allergic to walnuts.\nuser: Which cake can I bake?", "--conversation", "9ef7590e")
    run("title", "9ef7590e", "Cakes")
    assert "Cakes: 1 fact, 0 refused" in run("consolidate", "--all").out
    assert "Cakes #2" in run("search", "which cake?").out


def test_a_hit_shows_its_relevance_and_with_why_its_score_too(run: Run) -> None:
    run("add", "Odile owns the ferry")
    hit = run("search", "who owns the ferry", "--json").json[0]
    relevance, score = f"relevance {hit['relevance']:.2f}", f"{hit['score']:.2f}  score"
    shown, with_parts = run("search", "who owns the ferry").out, run("search", "who owns the ferry", "--why").out
    assert (relevance in shown, score in shown) == (True, False)
    assert (relevance in with_parts, score in with_parts) == (True, True)


def test_an_unknown_option_names_what_to_use(run: Run) -> None:
    for words, right in (
        (("context", "tea", "--tokens", "400"), "--budget"),
        (("conversations", "--last", "3"), "--limit"),
    ):
        assert f"there is no option {words[-2]}: use {right}" in " ".join(run(*words).err.split())


def test_unknown_names_in_a_search_are_reported_with_similar_ones(run: Run) -> None:
    run("remember", "I like tea", "--conversation", "kitchen")
    run("add", "Odile owns the ferry", "--category", "person")
    assert "no conversation 'kitchn': there is kitchen" in run("search", "tea", "--conversation", "kitchn").err
    assert "no category 'persn': there is person" in run("search", "tea", "--category", "persn").err
    assert "nothing is stored in scope bob" in run("search", "tea", "--scope", "bob").err
    assert run("search", "tea", "--conversation", "kitchen").err == ""


def test_an_erase_can_be_previewed_and_changes_nothing_then(run: Run, store: Path) -> None:
    run("add", "Elsa likes snow")
    run("remember", "Elsa turned four")
    with AgentMemory.open(store) as memory:
        before = memory.ports.store.sequence(memory.ports.scope)
        preview = memory.erase(text="elsa", dry_run=True)
        assert (preview.dry_run, preview.verified, preview.run_id) == (True, False, "")
        assert len(preview.destroyed) == 2
        assert preview.first_words == ("Elsa likes snow", "Elsa turned four")
        assert memory.ports.store.sequence(memory.ports.scope) == before
        with pytest.raises(NotFoundError):
            memory.erase(conversation="nowhere", dry_run=True)
        with pytest.raises(NotFoundError):
            memory.erase(text="penguins", dry_run=True)
        assert memory.erase(text="elsa").destroyed == preview.destroyed
    assert run("erase", "--text", "penguins", "--dry-run").code == 2
    unknown = run("erase", "zzzzzzzzzzzzzzzzzzzz")
    assert unknown.code == 2
    assert "--yes" not in unknown.err


def test_a_question_that_is_not_answered_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(edit_cmds.sys, "stdin", Terminal())
    for cause, code in ((KeyboardInterrupt, 130), (EOFError, 1)):

        def end(*_: object, cause: type[BaseException] = cause, **__: object) -> bool:
            try:
                raise cause
            except (KeyboardInterrupt, EOFError):
                raise click.Abort from None

        monkeypatch.setattr(edit_cmds.click, "confirm", end)
        with pytest.raises(CancelledError, match="nothing was changed") as error:
            edit_cmds.confirm("Erase?", yes=False)
        assert error.value.exit_code == code
    monkeypatch.setattr(edit_cmds.click, "confirm", lambda *_, **__: False)
    with pytest.raises(CancelledError):
        edit_cmds.confirm("Erase?", yes=False)


def test_new_stores_exports_and_folders_are_private_and_old_ones_keep_their_permissions(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "Odile owns the ferry")
    assert mode(store) == 0o600
    with AgentMemory.open(store) as memory:
        memory.add("The heron nests in May")
        assert {mode(path) for path in tmp_path.glob("memory.db*")} == {0o600}
    store.chmod(0o644)
    run("add", "Ferries are slow")
    assert mode(store) == 0o644
    run("export", str(tmp_path / "all.jsonl"))
    assert mode(tmp_path / "all.jsonl") == 0o600
    monkeypatch.delenv("SLOWWAVE_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert run("add", "Odile owns the ferry").code == 0
    assert mode(tmp_path / "data" / "slowwave") == 0o700


def test_an_export_writes_the_target_of_a_link_and_no_device(run: Run, tmp_path: Path) -> None:
    run("add", "Odile owns the ferry")
    target, link = tmp_path / "backup.jsonl", tmp_path / "link.jsonl"
    target.write_text("old")
    link.symlink_to(target)
    assert run("export", str(link)).code == 2
    assert run("export", str(link), "--overwrite").code == 0
    assert link.is_symlink()
    assert "Odile owns the ferry" in target.read_text(encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for place in ("/dev/null", str(tmp_path / "pipe"), str(tmp_path)):
        refused = run("export", place, "--overwrite")
        assert (refused.code, "not a regular file" in refused.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "--file"),
        ("import",),
        ("import", "--format", "text"),
        ("apply",),
        ("mcp", "--profile", "graph", "--import"),
        ("eval", "retrieval"),
    ],
    ids=" ".join,
)
def test_no_command_reads_a_device_or_a_pipe_that_is_named_as_a_file(
    run: Run, empty: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in ("/dev/null", str(tmp_path / "pipe"), "/dev/zero"):
        refused = run(*words, place)
        assert (refused.code, refused.out) == (2, "")
        assert f"cannot read {place}" in refused.err
        assert "not a regular file" in refused.err
    assert empty.exists()


def test_an_export_to_the_output_is_imported_from_the_input(run: Run) -> None:
    run("add", "Odile owns the ferry — œuvre")
    exported = run("export", "-")
    assert exported.code == 0
    assert len(exported.out.splitlines()) == 3
    assert "exported 1 record" in exported.err
    assert run("import", "-", "--scope", "other", "--trust-export", input=exported.out).code == 0
    assert run("list", "--scope", "other", "--json").json[0]["text"] == "Odile owns the ferry — œuvre"


@pytest.mark.parametrize(
    ("content", "options"),
    [("", ()), ("hello", ()), ("PK\x03\x04", ()), ('{"memory": "Likes tea", "user_id": "ana"}', ("--user", "bob"))],
    ids=["empty", "unknown", "cut off", "another user"],
)
def test_an_error_of_an_import_from_the_input_names_no_other_file(
    run: Run, content: str, options: tuple[str, ...]
) -> None:
    refused = run("import", "-", *options, input=content)
    assert refused.code == 2
    assert "standard input" in refused.err
    assert "/stdin" not in refused.err


def test_an_input_that_cannot_be_saved_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    refused = run("import", "-", input="hello")
    assert refused.code == 2
    assert "standard input cannot be saved" in refused.err
    assert "No space left" in refused.err


def test_the_present_time_of_a_command_can_be_set(run: Run) -> None:
    run("add", "Odile owns the ferry", "--now", "2026-01-31T09:00Z")
    (fact,) = run("list", "--json", "--now", "2026-02-28").json
    assert fact["recorded_at"] == "2026-01-31T09:00:00+00:00"
    assert 0 < fact["strength"] < 1


def test_an_undo_of_many_runs_has_one_id_that_takes_all_of_them_back(run: Run, tmp_path: Path) -> None:
    lines = [
        json.dumps({"role": "user", "content": f"Bed {n} has roses", "id": str(n), "conversation": f"bed {n}"})
        for n in range(8)
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines))
    imported = run("import", str(tmp_path / "talk.jsonl"), "--json").json["run_id"]
    (undone,) = run("undo", imported, "--json").json
    assert undone["did"] == "8 changed"
    parent = undone["run_id"]
    assert run("search", "roses", "--json").json == []
    assert run("undo", parent).code == 0
    assert len(run("search", "roses", "-k", "9", "--json").json) == 8


def test_an_interrupted_import_says_what_is_stored_and_how_to_continue(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"Bed {n}", "id": str(n)}) for n in range(1200)]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines))

    def stop(done: float, total: float) -> None:
        assert 0 < done <= total
        raise KeyboardInterrupt

    with AgentMemory.open(tmp_path / "memory.db") as memory, pytest.raises(ImportInterruptedError) as stopped:
        memory.import_(tmp_path / "talk.jsonl", on_progress=stop)
    report = stopped.value.report
    assert report.messages == 500
    assert report.run_id
    assert run("import", str(tmp_path / "talk.jsonl"), "--json").json["known"] == 500


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", [("add", "Odile owns the ferry"), ("--help",), ("export", "-")])
def test_an_output_that_cannot_be_written_ends_in_one_sentence(empty: Path, words: tuple[str, ...]) -> None:
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {redirection}', "sh", *PROGRAM, *words, "--store", str(empty)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        *_, error = done.stderr.splitlines()
        assert error.startswith("slowwave: ")
        assert "the output could not be written" in error
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("remember",), ("notes", "put", "tea"), ("import", "-"), ("erase", "--everything")])
def test_a_closed_input_is_read_as_an_empty_one(run: Run, store: Path, words: tuple[str, ...]) -> None:
    run("add", "Odile owns the ferry")
    by_redirection = [
        subprocess.run(
            ["sh", "-c", f'"$@" {redirection}', "sh", *PROGRAM, *words, "--store", str(store)],
            capture_output=True,
            text=True,
            check=False,
        )
        for redirection in ("<&-", "</dev/null")
    ]
    closed, empty = by_redirection
    assert (closed.returncode, closed.stdout) == (empty.returncode, empty.stdout)
    assert closed.stderr.count("\n") <= 1


def test_a_home_that_cannot_be_made_is_one_sentence(store: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_STORE", "XDG_"))}
    done = subprocess.run(
        [*PROGRAM, "add", "Odile owns the ferry"],
        env={**environment, "HOME": "/proc/nobody"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not store.exists()
    assert done.returncode == 2
    assert "cannot be created" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_fits_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for words in ((), ("search",), ("erase",), ("vault", "sync")):
        lines = run(*words, "--help").out.splitlines()
        assert max(map(len, lines)) <= 40


def test_a_command_in_a_text_is_never_divided() -> None:
    text = "run 6ajrvge41g75qhvc83yf, undo with `slowwave undo 6ajrvge41g75qhvc83yf`; the rest is ordinary text"
    lines = wrapped(text, 30)
    assert "`slowwave undo 6ajrvge41g75qhvc83yf`;" in lines
    assert " ".join(lines).split() == text.split()


def test_a_long_hit_is_shortened_unless_it_is_wanted_whole(run: Run) -> None:
    run("remember", "Nothing here. " * 200 + "The heron nests on the roof.")
    assert len(run("search", "heron").out) < 700
    assert len(run("search", "heron", "--full").out) > 2500


def test_the_shell_completes_names_of_conversations(store: Path) -> None:
    with AgentMemory.open(store) as memory:
        memory.add_message(Message(role="user", content="I like tea"), "kitchen")
    done = subprocess.run(
        [*PROGRAM],
        env={
            **os.environ,
            "_SLOWWAVE_COMPLETE": "bash_complete",
            "COMP_WORDS": "slowwave search --conversation ki",
            "COMP_CWORD": "3",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plain,kitchen"], done.stderr


def test_progress_of_long_work_counts_up_to_all(store: Path) -> None:
    seen: list[tuple[float, float]] = []
    with AgentMemory.open(store, embedder="none") as memory:
        memory.add_messages([Message(role="user", content=f"Bed {n} has roses") for n in range(70)], "garden")
        memory.consolidate("garden", on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (70, 70)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        seen.clear()
        memory.sleep(on_progress=lambda done, total: seen.append((done, total)))
        assert [done for done, _ in seen] == list(range(int(seen[0][1])))
    with AgentMemory.open(store, embedder="static") as memory:
        seen.clear()
        memory.reembed(on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] >= 70


def test_a_consolidation_of_all_conversations_is_one_run(run: Run) -> None:
    for name in ("kitchen", "garden"):
        run("remember", f"I'm allergic to {name} dust.", "--conversation", name)
    done = run("consolidate", "--all")
    (run_id,) = set(re.findall(r"slowwave undo (\w+)", done.out))
    assert "2 facts from 2 conversations" in done.out
    assert len(run("run", run_id, "--json").json["parts"]) == 2
    assert [one["id"] for one in run("runs", "--cause", "consolidate", "--json").json] == [run_id]
    assert run("undo", run_id).code == 0
    assert run("list", "--json").json == []


def test_a_note_is_printed_exactly_as_it_was_piped_in(run: Run) -> None:
    text = "  two spaces\n\n\ttab and a long line " + "x" * 200 + "\n"
    assert run("notes", "put", "log", "-", "--folder", "a/b", input=text).code == 0
    assert run("notes", "show", "log", "--folder", "a/b").out == text
    assert [note["folder"] for note in run("notes", "--json").json] == ["a/b"]
    assert run("notes", "list", "--json").json == []


def test_a_value_of_metadata_is_json_or_else_text(run: Run) -> None:
    run("add", "The mast is 12 metres", "--metadata", "length=12", "--metadata", "ship=Petrel", "--metadata", "a=b=c")
    (fact,) = run("list", "--where", 'length={"$gte": 12}', "--where", "ship=Petrel", "--json").json
    assert fact["metadata"] == {"length": 12, "ship": "Petrel", "a": "b=c"}
    assert run("list", "--where", 'length="12"', "--json").json == []


@pytest.mark.parametrize("where", ["ship", "=Petrel"])
def test_a_filter_without_a_key_or_value_is_refused(run: Run, where: str) -> None:
    run("add", "The mast is 12 metres")
    done = run("list", "--where", where)
    assert (done.code, done.out) == (2, "")
    assert "is not KEY=VALUE" in done.err


def test_scopes_of_a_store_that_does_not_exist_create_no_file(run: Run, tmp_path: Path) -> None:
    done = run("scopes", "--store", str(tmp_path / "typo.db"))
    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "typo.db").exists()


def test_pages_of_scopes_together_list_all_of_them(run: Run) -> None:
    for scope in ("a", "a/b", "c"):
        run("add", "Odile owns the ferry", "--scope", scope)
    first = run("scopes", "--limit", "2", "--json").json
    after = run("scopes", "--after", first[-1]["path"], "--json").json
    assert [one["path"] for one in (*first, *after)] == ["a", "a/b", "c"]
    assert [one["path"] for one in run("scopes", "--prefix", "a", "--json").json] == ["a", "a/b"]
