"""The command line names what it shows and changes: ids of facts, what was deleted, runs, conversations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, InputError

Run = Callable[..., Any]


@pytest.fixture
def fact(run: Run) -> str:
    """The id of a fact that was extracted from a message."""
    run("remember", "I am allergic to walnuts.", "--conversation", "c1")
    run("consolidate", "--all")
    (fact,) = run("list", "--json").json
    return str(fact["id"])


def test_a_fact_and_its_message_are_printed_as_two_hits_with_their_ids(run: Run, fact: str) -> None:
    hits = {hit["memory"]["kind"]: hit for hit in run("search", "what am I allergic to", "--json").json}
    out = run("search", "what am I allergic to").out
    assert f" · {fact}\n" in out
    assert f" · {hits['message']['memory']['id']}\n" in out
    assert [source["memory"] for source in hits["semantic"]["sources"]] == [hits["message"]["memory"]["id"]]


def test_deleting_the_id_of_a_hit_removes_the_fact_and_prints_its_words(run: Run, fact: str) -> None:
    deleted = run("delete", fact)
    assert deleted.out.startswith("fact: I am allergic to walnuts\ndeleted by hand")
    assert fact not in run("list").out
    assert run("revive", fact).out.startswith("fact: I am allergic to walnuts\n")


def test_deleting_a_message_says_that_it_is_one(run: Run, fact: str) -> None:
    assert fact
    hits = run("search", "what am I allergic to", "--json").json
    (said,) = (hit["memory"]["id"] for hit in hits if hit["memory"]["kind"] == "message")
    assert run("delete", said).out.startswith("message: I am allergic to walnuts.\n")


def test_limit_is_another_name_of_top_k(run: Run) -> None:
    for name in ("Odile", "Matteo", "Alice"):
        run("remember", f"{name} owns a ferry")
    assert len(run("search", "ferry", "--limit", "2", "--json").json) == 2
    assert len(run("search", "ferry", "-k", "1", "--json").json) == 1


def test_the_first_run_of_the_list_after_a_sleep_pass_is_the_pass(run: Run, fact: str) -> None:
    assert fact
    run("sleep")
    first, *rest = run("runs", "--json").json
    assert (first["cause"], first["parent"]) == ("sleep", None)
    assert all(other["parent"] is None for other in rest)
    assert {one["parent"] for one in run("runs", "--cause", "sleep/duplicates", "--json").json} == {first["id"]}


def test_undo_of_the_last_run_needs_no_id(run: Run, fact: str) -> None:
    run("delete", fact)
    undone = run("undo", "--last")
    assert undone.code == 0
    assert fact in run("list").out


def test_undo_without_a_run_names_the_latest_and_undoes_nothing_where_nobody_can_be_asked(run: Run, fact: str) -> None:
    run("delete", fact)
    latest = run("runs", "--json").json[0]["id"]
    refused = run("undo")
    assert refused.code == 2
    assert f"--last for the latest, run {latest} (delete, " in refused.err
    assert fact not in run("list").out
    assert run("undo", latest, "--last").code == 2


def test_undo_in_a_store_without_runs_says_so(run: Run, empty: object) -> None:
    assert empty
    assert "nothing happened yet" in run("undo", "--last").err


def test_runs_have_the_names_of_the_commands_that_made_them(run: Run, fact: str) -> None:
    run("title", "c1", "Food")
    for words in (["pin"], ["unpin"], ["update", "The user is allergic to peanuts"], ["delete"], ["revive"]):
        run(words[0], fact, *words[1:])
    names = [line.split()[3] for line in run("runs").out.splitlines() if not line.startswith(" ")]
    made = ["revive:", "delete:", "update:", "unpin:", "pin:", "title:", "consolidate:", "remember:"]
    assert names == made
    assert "remember: 1 added" in run("runs", "--cause", "remember").out


def test_a_consolidation_that_finds_nothing_says_that_it_read_the_messages(run: Run) -> None:
    run("remember", "hm ok", "--conversation", "one")
    run("remember", "oh well", "--conversation", "two")
    run("consolidate", "--all")
    assert "consolidate: messages read, nothing to keep in 2 parts" in run("runs").out


@pytest.fixture
def titled(run: Run) -> None:
    """Three conversations, two of them with a title."""
    for name, title in (("4f2a9c1e-77", "Plans for the kitchen"), ("4f2a9c1e-88", "Plans for the garden"), ("x", "")):
        run("remember", f"This is {name}", "--conversation", name)
        if title:
            run("title", name, title)


def test_a_conversation_is_found_by_its_name_its_title_or_a_beginning(run: Run, titled: None) -> None:
    assert titled is None
    for name in ("4f2a9c1e-77", "Plans for the kitchen", "4f2a9c1e-7", "Plans for the k"):
        assert "This is 4f2a9c1e-77" in run("messages", name).out
        (hit,) = run("search", "this", "--conversation", name, "--json").json
        assert hit["memory"]["conversation"] == "4f2a9c1e-77"
    assert run("title", "Plans for the garden", "Plans for the beds").code == 0
    assert "Plans for the beds" in run("conversations").out
    assert "4f2a9c1e-77" in run("erase", "--conversation", "Plans for the kitchen", "--dry-run").out


def test_a_beginning_of_several_conversations_lists_them(run: Run, titled: None) -> None:
    assert titled is None
    refused = run("messages", "Plans for")
    assert refused.code == 2
    assert "4f2a9c1e-77 (Plans for the kitchen)" in refused.err
    assert "4f2a9c1e-88 (Plans for the garden)" in refused.err
    assert "no conversation '4f2'" in run("messages", "4f2").err


def test_an_erase_without_a_question_takes_no_beginning(run: Run, titled: None) -> None:
    assert titled is None
    assert run("erase", "--conversation", "4f2a9c1e-7", "--yes").code == 2
    assert run("erase", "--conversation", "Plans for the kitchen", "--yes").code == 0
    assert "4f2a9c1e-77" not in run("conversations").out


def test_a_name_after_consolidate_is_refused_with_the_option_that_takes_it(run: Run) -> None:
    refused = run("consolidate", "kitchen", "talk")
    assert refused.code == 2
    assert "--conversation 'kitchen talk', or read every conversation with --all" in refused.err


@pytest.mark.parametrize(
    ("tried", "right"), [("--threshold", "--min-relevance"), ("--n-results", "--top-k"), ("--user", "--scope")]
)
def test_an_unknown_option_names_the_one_to_use(run: Run, tried: str, right: str) -> None:
    refused = run("search", "tea", tried, "1")
    assert refused.code == 2
    assert f"there is no option {tried}: use {right}\n" in refused.err


@pytest.mark.parametrize("port", ["abc", "0", "65536", "80.5"])
def test_a_port_is_a_whole_number_from_1_to_65535(run: Run, port: str) -> None:
    refused = run("serve", "--port", port)
    assert refused.code == 2
    assert f"{port!r} is not a whole number from 1 to 65535." in refused.err


def test_a_file_called_like_the_output_is_refused_by_the_library_and_means_the_output_here(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("add", "Tea is green")
    assert '"text": "Tea is green"' in run("export", "-").out
    with AgentMemory.open(store) as memory:
        with pytest.raises(InputError, match="'-' names no file: pass an open stream of text"):
            memory.export("-")
        with pytest.raises(
            InputError, match="exactly one way: id, source, conversation, text, or scope for everything"
        ):
            memory.erase()
    assert not (tmp_path / "-").exists()
