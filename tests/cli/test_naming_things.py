"""The command line names what it shows and changes: ids of facts, what was deleted, runs, conversations."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def fact(run: Run) -> str:
    """The id of a fact that was extracted from a message."""
    run("remember", "I am allergic to walnuts.", "--conversation", "c1")
    run("consolidate", "--all")
    (fact,) = run("list", "--json").json
    return str(fact["id"])


def test_a_hit_that_shows_a_fact_prints_the_id_of_the_fact_and_names_its_source(run: Run, fact: str) -> None:
    (hit,) = run("search", "what am I allergic to", "--json").json
    first, source, last = run("search", "what am I allergic to").out.splitlines()
    assert first == " 1  The user is allergic to walnuts"
    assert source == f"    from c1 #1, message {hit['memory']['id']}: user: I am allergic to walnuts."
    assert last.endswith(f" · fact {fact}")


def test_deleting_the_id_of_a_hit_removes_the_fact_and_prints_its_words(run: Run, fact: str) -> None:
    deleted = run("delete", run("search", "what am I allergic to").out.split()[-1])
    assert deleted.out.startswith("fact: The user is allergic to walnuts\ndeleted by hand")
    assert fact not in run("list").out
    assert run("revive", fact).out.startswith("fact: The user is allergic to walnuts\n")


def test_deleting_a_message_says_that_it_is_one(run: Run, fact: str) -> None:
    assert fact
    (hit,) = run("search", "what am I allergic to", "--json").json
    assert run("delete", hit["memory"]["id"]).out.startswith("message: I am allergic to walnuts.\n")


def test_limit_is_another_name_of_top_k(run: Run) -> None:
    for name in ("Odile", "Matteo", "Alice"):
        run("remember", f"{name} owns a ferry")
    assert len(run("search", "ferry", "--limit", "2", "--json").json) == 2
    assert len(run("search", "ferry", "-k", "1", "--json").json) == 1
