"""Each command as text and as JSON, with its exit code."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from slowwave import AgentMemory, cli
from slowwave.cli.app import app
from slowwave.formats import FORMATS
from slowwave.formats.writing import EXPORTS

Run = Callable[..., Any]


def first_id(run: Run) -> str:
    memory_id: str = run("facts", "--json").json[0]["id"]
    return memory_id


def test_add_prints_its_receipt_in_two_lines_and_recall_finds_the_fact(run: Run) -> None:
    done = run("add", "Odile owns the ferry", "--category", "person")
    assert done.code == 0
    first, second = done.out.splitlines()
    assert first == "1 fact added in default"
    assert "slowwave undo" in second
    hit = run("recall", "who owns the ferry?", "--json").json[0]
    assert hit["memory"]["text"] == "Odile owns the ferry"
    assert hit["memory"]["category"] == "person"


def test_the_shared_options_stand_before_or_after_a_command_and_the_latter_wins(run: Run, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    assert run("--store", other, "--scope", "acme/alice", "add", "Alice likes tea").code == 0
    assert run("status", "--store", other, "--scope", "acme/alice", "--json").json["counts"] == {"semantic/active": 1}
    assert run("status").code == 2, "the store of the settings does not exist"
    assert (
        run("--scope", "acme/bob", "status", "--store", other, "--scope", "acme/alice", "--json").json["scope"]
        == "acme/alice"
    )


def test_remember_reads_text_lines_and_roles(run: Run, tmp_path: Path, store: Path) -> None:
    assert run("remember", "I keep bees.", "--conversation", "bees").code == 0
    assert run("remember", "--conversation", "lines", input="One.\n\n  Two.\n").code == 0
    file = tmp_path / "talk.txt"
    file.write_text("﻿user: Hello,\nit goes on.\nAssistant: Yes?\nUSER:   Bye: for now.\n", encoding="utf-8")
    assert run("remember", "--file", str(file), "--conversation", "roles").code == 0
    with AgentMemory.open(store) as memory:
        messages = {
            name: [(m.role, m.content) for m in memory.get_conversation_messages(name)] for name in ("lines", "roles")
        }
    assert messages["lines"] == [("user", "One."), ("user", "Two.")]
    assert messages["roles"] == [("user", "Hello,\nit goes on."), ("assistant", "Yes?"), ("user", "Bye: for now.")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("remember", "  "), "there is no text"),
        (("remember", "a", "--file", "b"), "both a text and --file"),
        (("remember", "--file", "/nowhere/x.txt"), "cannot read"),
        (("recall", "x", "--kinds", "rumour"), "unknown kinds"),
        (("recall", "x", "--since", "soon"), "is not a date"),
        (("explain", "nobody"), "no memory 'nobody'"),
        (("undo", "nothing"), "no run 'nothing'"),
        (("import", "/nowhere.json"), "cannot read"),
        (("import", "/nowhere.json", "--format", "xml"), "unknown format"),
        (("consolidate", "--all", "--conversation", "x"), "give one of them"),
        (("add", "x", "--kind", "rumour"), "kind"),
        (("status", "--scope", "a b"), "is not a scope"),
        (("status", "--embedder", "crystal"), "crystal"),
        (("status", "--llm", "crystal"), "crystal"),
    ],
)
@pytest.mark.usefixtures("empty")
def test_wrong_input_prints_one_sentence_to_stderr_and_exits_with_2(
    run: Run, words: tuple[str, ...], says: str
) -> None:
    done = run(*words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("slowwave: ")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_file_that_is_no_store_exits_with_4(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is not a database at all, but a long enough text" * 20)
    done = run("status", "--store", str(tmp_path / "notes.txt"))
    assert done.code == 4
    assert done.err.startswith("slowwave: ")


def test_verbose_adds_the_traceback_of_an_error(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    done = run("undo", "nothing", "--verbose")
    assert done.code == 2
    assert "Traceback" in done.err + capfd.readouterr().err


def test_recall_why_shows_the_parts_of_a_score_and_they_add_up(run: Run) -> None:
    run("remember", input="user: I keep bees in the garden.\nuser: The permit is due in May.\n")
    assert "words in common" in run("recall", "where are the bees?", "--why").out
    hit = run("recall", "where are the bees?", "--json").json[0]
    assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    assert hit["sources"][0].keys() == {"id", "memory", "quote"}


def test_recall_shows_an_excerpt_of_a_long_message_and_all_of_it_with_verbose(run: Run) -> None:
    run("remember", "Nothing here. " * 100 + "The heron nests on the roof. " + "Nothing there. " * 100)
    short = run("recall", "where does the heron nest?").out
    assert "heron nests" in short
    assert len(short) < 700
    assert len(run("recall", "where does the heron nest?", "--verbose").out) > 2000


def test_control_characters_of_a_file_name_are_not_printed(run: Run, tmp_path: Path) -> None:
    hostile = tmp_path / "bees\x1b[2J\u202e"
    for words in (("import", str(hostile)), ("remember", "--file", str(hostile)), ("vault", "import", str(hostile))):
        done = run(*words)
        assert done.code == 2
        assert "bees\ufffd[2J\ufffd" in done.err
    run("add", "Odile owns the ferry")
    run("vault", "export", str(tmp_path / "vault"))
    (tmp_path / "vault" / "facts" / "\x1b[2J.md").write_bytes(b"---\ncategory: \xff\n---\n")
    for words in (("vault", "import"), ("vault", "sync")):
        done = run(*words, str(tmp_path / "vault"))
        assert "\ufffd[2J.md" in done.out + done.err
        assert "\x1b" not in done.out + done.err


def test_control_characters_of_a_text_are_not_printed(run: Run) -> None:
    run("remember", "bees \x1b[2J\x1b]0;owned\x07 and a bell")
    out = run("recall", "bees").out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_facts_filters_by_category_and_phase_and_shows_refused_facts(run: Run) -> None:
    run("add", "Odile owns the ferry", "--category", "person")
    run("add", "The budget is 900 euros", "--category", "project")
    assert [fact["text"] for fact in run("facts", "--category", "person", "--json").json] == ["Odile owns the ferry"]
    assert "strength" in run("facts").out
    gone = first_id(run)
    assert run("delete", gone).code == 0
    assert run("facts", "--phase", "retracted", "--json").json[0]["id"] == gone
    assert "nothing was refused" in run("facts", "--rejected").out
    talk = "user: I'm allergic to walnuts.\nassistant: Noted.\n"
    run("remember", "--conversation", "a", input=talk)
    run("consolidate", "--conversation", "a", "--force")
    run("remember", "--conversation", "b", input=talk)
    run("delete", next(fact["id"] for fact in run("facts", "--json").json if "walnuts" in fact["text"]))
    run("consolidate", "--conversation", "b", "--force")
    assert "walnuts" in run("facts", "--rejected").out
    assert run("facts", "--rejected", "--json").json[0]["reason"]


def test_edits_are_listed_in_the_history_and_can_be_undone(run: Run) -> None:
    run("add", "Odile owns the ferry")
    memory_id = first_id(run)
    for words in (
        ("pin", memory_id),
        ("unpin", memory_id),
        ("update", memory_id, "Odile owns two ferries"),
        ("delete", memory_id),
        ("revive", memory_id),
    ):
        assert run(*words).code == 0
    causes = [event["cause"] for event in run("history", memory_id, "--json").json]
    assert causes == ["add", "edit", "edit", "edit", "edit", "edit"]
    assert "edited by hand" in run("history", memory_id).out
    assert "Odile owns two ferries" in run("explain", memory_id).out
    assert run("explain", memory_id, "--json").json["memory"]["id"] == memory_id
    runs = run("runs", "--json").json
    assert run("undo", runs[0]["id"]).code == 0
    assert run("facts", "--json").json == []
    refused = run("undo", runs[-1]["id"])
    assert refused.code == 2
    assert "cascade" in refused.err
    assert run("undo", runs[-1]["id"], "--cascade", "--json").code == 0


def test_an_import_can_be_repeated_and_an_export_imported(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "I keep bees.", "id": "1"}\nnonsense\n')
    assert "would import 1 message of" in run("import", str(talk), "--dry-run").out
    done = run("import", str(talk))
    assert done.code == 0
    assert "imported 1 message of 1 conversation," in done.out
    assert "skipped 1: not JSON" in done.out
    assert done.err.startswith("created a new store at ")
    repeated = run("import", str(talk), "--json").json
    assert (repeated["messages"], repeated["known"]) == (0, 1)
    assert run("export", str(tmp_path / "all.jsonl"), "--json").json["records"] == 1
    assert run("export", str(tmp_path / "all.jsonl")).code == 2
    assert run("export", str(tmp_path / "all.jsonl"), "--overwrite").code == 0
    assert run("import", str(tmp_path / "all.jsonl"), "--scope", "other").code == 0
    assert "I keep bees." in run("recall", "bees", "--scope", "other").out


def test_the_error_for_an_unknown_format_is_one_sentence_with_all_formats(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_text("[]")
    refused = run("import", str(talk), "--format", "xml")
    assert refused.code == 2
    assert len(refused.err.strip().splitlines()) == 1
    assert all(name in refused.err for name in FORMATS)
    assert [path.name for path in tmp_path.glob("memory.db*")] == []
    run("add", "Odile owns the ferry")
    refused = run("export", str(tmp_path / "out"), "--format", "xml")
    assert refused.code == 2
    assert all(name in refused.err for name in EXPORTS)
    assert [path.name for path in tmp_path.glob("out*")] == []


def test_an_export_in_another_form_is_written_to_a_file_and_to_the_output(run: Run, tmp_path: Path) -> None:
    run("add", "Odile owns the ferry", "--category", "person")
    path = tmp_path / "facts.json"
    assert run("export", str(path), "--format", "mem0", "--user", "odile", "--json").json["records"] == 1
    assert json.loads(path.read_text())["results"][0]["user_id"] == "odile"
    assert run("import", str(path), "--user", "odile", "--scope", "other", "--json").json["facts"] == 1
    assert "- Odile owns the ferry (" in run("export", "-", "--format", "markdown").out


def test_a_truncated_file_is_imported_in_part_and_exits_with_1(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_text('[{"role": "user", "content": "I keep bees."}, {"role"')
    done = run("import", str(talk), "--format", "jsonl")
    assert done.code == 1
    assert "imported 1 message " in done.out
    assert "breaks off" in done.out


def test_consolidate_all_reads_every_conversation_once(run: Run) -> None:
    for name in ("a", "b"):
        run("remember", "--conversation", name, input=f"user: I'm allergic to {name}-nuts.\nassistant: Noted.\n")
    results = run("consolidate", "--all", "--json").json
    assert [result["conversation"] for result in results] == ["a", "b"]
    assert all(result["facts"] for result in results)
    assert run("consolidate", "--all", "--json").json == []
    assert run("consolidate").out.startswith("0 facts")


def test_a_sleep_pass_without_due_memories_reports_nothing_due(run: Run) -> None:
    run("add", "Odile owns the ferry")
    run("sleep")
    assert "nothing due" in run("sleep", "--dry-run").out
    assert "nothing due" in run("sleep", "--no-think").out
    assert run("sleep", "--json").json["plan"]["cause"] == "sleep"


def test_context_prints_a_prompt_within_its_budget(run: Run) -> None:
    run("add", "Odile owns the ferry")
    prompt = run("context", "who owns the ferry?", "--budget", "200").out
    assert prompt.startswith("<memory-")
    assert "Odile owns the ferry" in prompt
    assert run("context", "who owns the ferry?", "--budget", "200", "--json").json["tokens"] <= 200


def test_a_note_of_a_consolidation_is_printed_below_its_fact(run: Run) -> None:
    run("add", "The user prefers short answers", "--category", "preference")
    run("remember", input="user: I no longer prefer short answers.\nuser: I keep bees in Tartu.\n")
    lines = run("consolidate", "--force").out.splitlines()
    place = lines.index("  + [preference] I no longer prefer short answers")
    assert lines[place + 1] == "      replaced 'The user prefers short answers'"
    assert sum("replaced" in line for line in lines) == 1


@pytest.mark.usefixtures("empty")
def test_core_status_reembed_and_doctor_report_the_state(run: Run) -> None:
    assert "no facts yet" in run("core").out
    run("add", "Odile owns the ferry")
    assert "Odile" in run("core").out
    assert run("core", "--json").json[0]["text"] == "Odile owns the ferry"
    assert "semantic: 1 active" in run("status").out
    assert run("reembed").code == 2
    assert run("reembed", "--embedder", "static", "--json").json == {"reembedded": 1}
    assert run("reembed", "--embedder", "static").out == "0 memories got a vector\n"
    done = run("doctor", "--deep")
    assert done.code == 0
    assert "mind: offline, rules alone" in done.out
    assert "m, configured and not tried" in run("doctor", "--llm", "http://127.0.0.1:9/v1#m").out
    assert {check["check"] for check in run("doctor", "--json").json} >= {
        "python",
        "sqlite",
        "store",
        "mind",
        "embedder",
    }


def test_doctor_reports_a_broken_store_and_exits_with_1(run: Run, store: Path) -> None:
    store.write_bytes(b"not a database" * 1000)
    done = run("doctor")
    assert done.code == 1
    assert "PROBLEM  store" in done.out


def test_an_unreachable_model_leaves_the_work_due_and_exits_with_3(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_KEY", "k")
    run("remember", input="user: I keep bees.\nassistant: How nice.\n")
    done = run("consolidate", "--force", "--llm", "http://127.0.0.1:9/v1#m")
    assert done.code == 3
    assert done.out.count("cannot be reached") == 1
    assert "the rest stays due" in done.out
    assert "problem:" in done.out
    assert run("status", "--json").json["unread"] == 2
    assert run("cost", "--json").json["total"]["calls"] == 0, "no call was sent"


def test_erase_needs_a_confirmation_and_verifies_itself(run: Run) -> None:
    run("add", "Odile owns the ferry")
    memory_id = first_id(run)
    refused = run("erase", memory_id)
    assert refused.code == 2
    assert "--yes" in refused.err
    done = run("erase", memory_id, "--yes", "--json")
    assert done.code == 0
    assert done.json["destroyed"] == [memory_id]
    assert done.json["verified"] is True
    assert run("facts", "--json").json == []


def test_an_erase_without_a_rewrite_keeps_the_size_of_the_file(run: Run, store: Path) -> None:
    run("add", "Odile owns the ferry")
    run("add", "Odette keeps the lighthouse")
    first, second = [fact["id"] for fact in run("facts", "--json").json]
    size = store.stat().st_size
    erased = run("erase", first, "--yes", "--no-rewrite", "--json")
    assert (erased.code, erased.json["rewritten"], store.stat().st_size) == (0, [], size)
    assert run("erase", second, "--yes", "--json").json["rewritten"] == [store.name]
    both = run("erase", second, "--yes", "--rewrite", "--no-rewrite")
    assert (both.code, "give one of them" in both.err) == (2, True)


def test_cost_and_estimate_show_calls_of_models(run: Run) -> None:
    run("remember", input="user: I keep bees.\nassistant: How nice.\n")
    assert "no model is asked" in run("consolidate", "--estimate").out
    assert run("consolidate", "--estimate", "--json").json["messages"] == 2
    assert run("cost").out.startswith("in all")
    assert run("cost", "--since", "2026-01-01", "--json").json["total"]["calls"] == 0


def test_hits_without_common_words_are_announced_as_near_in_meaning(run: Run) -> None:
    run("remember", "Odile owns the ferry", "--embedder", "static")
    assert "nearest in meaning" in run("recall", "boat captain", "--embedder", "static").out


def test_the_help_lists_every_command_with_its_first_sentence(run: Run) -> None:
    listed = " ".join(run("--help").out.split())
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        sentence = " ".join((command.help or "").split()).partition(". ")[0]
        assert f"{name} {sentence}"[:90] in listed


def test_the_table_of_commands_names_every_command_of_every_module() -> None:
    context = click.Context(app)
    listed = {id(app.get_command(context, name)) for name in app.list_commands(context)}
    for path in Path(cli.__file__).parent.glob("*_cmd*.py"):
        module = import_module(f"slowwave.cli.{path.stem}")
        commands = [value for value in vars(module).values() if isinstance(value, click.Command)]
        groups = [command for command in commands if isinstance(command, click.Group)]
        within = {id(command) for group in groups for command in group.commands.values()}
        assert {id(command) for command in commands} <= listed | within, path.name
    for name, path in app.paths.items():
        command = app.get_command(context, name)
        assert command is not None, path
        assert command.name == name


def test_a_usage_error_exits_with_2_and_prints_nothing_to_stdout(run: Run) -> None:
    for words in (
        ("recal", "ferry"),
        ("recall",),
        ("recall", "ferry", "--wherefore"),
        ("recall", "ferry", "--top-k"),
        ("recall", "ferry", "--top-k", "many"),
        ("recall", "ferry", "--why=yes"),
        ("recall", "ferry", "-k", "0"),
        ("recall", "ferry", "--min-relevance", "2"),
        ("add", "The ferry is late", "--importance", "2"),
        ("list", "--order", "size"),
        ("context", "ferry", "--budget", "3"),
        ("--scope",),
        ("--why", "search", "ferry"),
        ("recall", "--since"),
    ):
        result = run(*words)
        assert (result.code, result.out) == (2, "")
        assert "Error: " in result.err


def test_the_shared_options_may_stand_before_the_commands_of_a_group(run: Run, tmp_path: Path) -> None:
    run("--scope", "acme", "add", "Odile owns the ferry")
    pages = run("vault", "--scope", "acme", "export", str(tmp_path / "vault"), "--json").json
    assert "facts/other.md" in pages
    assert "facts/other.md" not in run("vault", "export", str(tmp_path / "other"), "--json").json


def test_an_option_may_be_repeated_and_its_value_joined_by_an_equals_sign(run: Run) -> None:
    run("remember", "The ferry leaves at six.", "--conversation=harbour")
    run("add", "Odile owns the ferry")
    both = run("recall", "ferry", "--kinds", "message", "--kinds=semantic", "-k", "9", "--top-k", "4", "--json").json
    assert {hit["memory"]["kind"] for hit in both} == {"message", "semantic"}


def test_version_prints_the_version(run: Run) -> None:
    assert run("--version").out.startswith("slowwave ")


def test_json_shapes_are_stable(run: Run) -> None:
    receipt = run("add", "Odile owns the ferry", "--json").json
    assert list(receipt) == [
        "run_id",
        "cause",
        "scope",
        "ids",
        "did",
        "dropped",
        "waiting",
        "problems",
        "notes",
    ]
    hit = run("recall", "ferry", "--json").json[0]
    assert list(hit) == ["memory", "score", "relevance", "parts", "sources", "deep", "stale", "because"]
    latest = run("runs", "--json").json[0]
    assert list(latest) == ["id", "scope", "cause", "at", "parent", "did", "because", "parts", "cost"]
    assert json.dumps(run("status", "--json").json)


def test_outdated_and_perhaps_outdated_hits_have_different_marks(run: Run) -> None:
    for fact in (
        "Our choir has 18 singers",
        "Our choir has grown to 25 singers by now",
        "My name is Tom",
        "My name is now Thomas",
    ):
        run("add", fact)
    asked = run("recall", "how many singers does our choir have").out
    assert "  perhaps outdated: a later message says 25 where this one says 18" in asked
    assert " 1  My name is now Thomas" in (names := run("recall", "what is my name", "--deep").out)
    assert "  outdated: replaced" in names


@pytest.mark.usefixtures("empty")
def test_a_receipt_without_changes_has_no_run_id(run: Run) -> None:
    known = {entry["id"] for entry in run("runs", "--json").json}
    (fact,) = run("add", "Odile owns the ferry", "--json").json["ids"]
    assert run("pin", fact, "--json").json["run_id"] not in {None, *known}
    assert run("pin", fact, "--json").json["run_id"] is None


def test_remember_reads_stdin_for_a_dash_and_refuses_the_name_of_a_file(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("I keep bees.\n")
    done = run("remember", str(notes))
    assert done.code == 2
    assert f"{notes} is a file: use --file {notes}" in done.err
    assert run("remember", "-", input="I keep bees.\n").code == 0
    assert "I keep bees." in run("recall", "bees").out
    assert run("remember", "x/" * 3000).code == 0


@pytest.mark.parametrize(
    ("text", "taken", "says"),
    [
        ('{"role": "user", "content": "I keep bees."}\n{"role": "us', 1, "breaks off in line 2"),
        ("nonsense\nmore of it\n", 0, "no line that can be taken in"),
        ("", 0, "no line that can be taken in"),
    ],
)
def test_a_file_with_broken_lines_only_exits_with_1(run: Run, tmp_path: Path, text: str, taken: int, says: str) -> None:
    (tmp_path / "talk.jsonl").write_text(text)
    done = run("import", str(tmp_path / "talk.jsonl"))
    assert done.code == 1
    assert f"imported {taken} message" in done.out
    assert says in done.out


def test_an_update_changes_the_category(run: Run) -> None:
    run("add", "Odile owns the ferry", "--category", "person")
    assert run("update", first_id(run), "Odile owns the ferry", "--category", "project").code == 0
    assert run("facts", "--json").json[0]["category"] == "project"
    refused = run("update", first_id(run), "Odile owns the ferry", "--category", " ")
    assert refused.code == 2
    assert "use 1 to 256 characters" in refused.err


def test_a_receipt_names_the_change(run: Run) -> None:
    assert run("remember", "I keep bees.").out.startswith("1 message stored in default\n")
    run("add", "Odile owns the ferry")
    memory_id = first_id(run)
    assert run("pin", memory_id).out.startswith("fact: Odile owns the ferry\npinned in default\n")
    assert run("pin", memory_id).out.startswith("fact: Odile owns the ferry\nnothing changed in default\n")
    undone = run("undo", run("runs", "--json").json[0]["id"])
    assert undone.out.startswith("undone: 1 changed in default\n")


@pytest.mark.parametrize("words", [("facts",), ("facts", "--rejected"), ("runs",)])
@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_limit_below_one_is_wrong_input(run: Run, words: tuple[str, ...], limit: str) -> None:
    assert run(*words, "--limit", limit).code == 2
    assert run("core", "-k", limit).code == 2


def test_help_shows_no_type_for_a_flag(run: Run) -> None:
    flags = [line for line in run("consolidate", "--help").out.splitlines() if "  --all " in line or "--json" in line]
    assert len(flags) == 2
    assert not any("bool" in line for line in flags)


def test_counts_of_one_are_in_the_singular(run: Run) -> None:
    run("remember", "I'm allergic to walnuts.", "--conversation", "a")
    assert "1 fact from 1 conversation, 0 refused:" in run("consolidate", "--all").out


def test_an_unknown_category_is_named_when_no_fact_has_it(run: Run) -> None:
    run("add", "Odile owns the ferry", "--category", "person")
    assert run("facts", "--category", "foo").out.startswith("no facts match these options")


def test_explain_describes_strength_and_a_pinned_memory_never_fades(run: Run) -> None:
    run("add", "Odile owns the ferry")
    memory_id = first_id(run)
    text = run("explain", memory_id).out
    assert "days ago; untouched it falls to 37 %" in text
    assert "tau_days" not in text
    value = run("explain", memory_id, "--json").json
    assert "tau_days" in value["parts"]
    assert value["fades_at"]
    run("pin", memory_id)
    assert run("explain", memory_id, "--json").json["fades_at"] is None


def test_a_dry_run_of_sleep_shows_some_changes_with_reasons_and_all_with_verbose(run: Run, store: Path) -> None:
    with AgentMemory.open(store, clock=lambda: datetime(2024, 1, 1, tzinfo=UTC)) as memory:
        for name in range(23):
            memory.add(f"{name} walked along the river {name}", kind="episodic", category="observation")
    part = run("sleep", "--dry-run").out
    assert "→" in part
    assert "because " in part
    assert "--verbose shows all" in part
    whole = run("sleep", "--dry-run", "--verbose").out
    assert "--verbose shows all" not in whole
    assert whole.count("because ") > part.count("because ")


def test_recall_warns_of_memories_without_a_vector(run: Run) -> None:
    run("add", "Odile owns the ferry")
    run("add", "The heron nests in May")
    assert run("recall", "who owns the ferry?").err == ""
    result = run("recall", "who owns the ferry?", "--embedder", "static")
    assert result.err == "2 memories have no vector: run slowwave reembed\n"
    run("reembed", "--embedder", "static")
    assert run("recall", "who owns the ferry?", "--embedder", "static").err == ""


def test_a_saved_plan_is_applied_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for colour in ("red", "blue"):
        run("add", f"The {colour} shed holds spades", "--category", "observation")
    settings = tmp_path / "few.toml"
    settings.write_text("hot_facts_max = 1\n")
    plan = str(tmp_path / "plan.json")
    monkeypatch.setenv("SLOWWAVE_CONFIG", str(settings))
    assert "--save needs --dry-run" in run("sleep", "--save", plan).err
    assert f"saved: `slowwave apply {plan}`" in run("sleep", "--dry-run", "--save", plan).out
    assert len(run("facts", "--json").json) == 2
    done = run("apply", plan)
    assert done.code == 0
    assert done.out.startswith("1 changed in default")
    assert len(run("facts", "--json").json) == 1
    stale = run("apply", plan)
    assert stale.code != 0
    assert "memory has changed" in stale.err
    assert "was changed since this was planned): " in stale.err
    assert run("apply", str(tmp_path / "none.json")).code == 2
    whole = json.loads(Path(plan).read_text())["id"]
    assert done.out.splitlines()[-1] == f"run {whole}, undo all of it with `slowwave undo {whole}`"
    assert run("undo", whole).out.startswith("undone: 1 changed")
    assert len(run("facts", "--json").json) == 2
