"""Slowwave: an open store gives the memory of any scope at almost no cost."""

import gc
import os
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import START, NearEmbedder, World
from tests.waiting import until

from slowwave import AgentMemory, Config, Message, Slowwave
from slowwave.compat import InMemoryVectorStore, SemanticMemory
from slowwave.errors import ClosedError, InputError, NotFoundError
from slowwave.testing import FrozenClock, ScriptedLLM

NAMES = ("Alice O'Neil / Köln 🙂", "", "..", "a/b", "a%2Fb", "a b", 42)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Slowwave]:
    """An open store on each backend."""
    address = str(tmp_path / "agent.db") if request.param == "sqlite" else request.getfixturevalue("own")
    with Slowwave.open(address, llm=None, embedder=NearEmbedder(), clock=FrozenClock(START)) as opened:
        yield opened


def test_scopes_of_one_store_are_separate_and_share_connection_embedder_and_mind(store: Slowwave) -> None:
    alice, bob = store.within("acme", "alice"), store.within("acme", "bob")
    alice.add("Alice owns the deploy pipeline")
    bob.add_messages([Message(role="user", content="Bob likes tea")])
    assert (alice.scope, bob.scope) == ("acme/alice", "acme/bob")
    assert [hit.text for hit in alice.search("who owns deploys?")] == ["Alice owns the deploy pipeline"]
    assert [hit.text for hit in bob.search("who owns deploys?")] == ["Bob likes tea"]
    for port in ("store", "embedder", "mind", "config", "clock"):
        assert getattr(alice.ports, port) is getattr(bob.ports, port), port


def test_names_of_any_text_are_scopes_and_are_listed_as_they_were(store: Slowwave) -> None:
    for name in NAMES:
        store.within("users", name).add(f"The user is called {name!r}")
    scopes = store.scopes("users")
    assert {scope.names for scope in scopes} == {("users", str(name)) for name in NAMES}
    assert [scope.facts for scope in scopes] == [1] * len(NAMES)
    for name in NAMES:
        assert [fact.text for fact in store.within("users", name).get_all()] == [f"The user is called {name!r}"]
    assert [scope.path for scope in scopes] == sorted(scope.path for scope in scopes)
    assert [str(scope) for scope in store.scopes(after=scopes[2].path, limit=2)] == [
        scope.path for scope in scopes[3:5]
    ]


def test_listed_scopes_have_the_time_of_their_last_write(store: Slowwave) -> None:
    store.within("acme").add("Alice owns the deploy pipeline")
    (scope,) = store.scopes()
    assert scope.last_written == START


def test_a_memory_is_found_by_its_id_below_a_prefix(store: Slowwave) -> None:
    (identity,) = store.within("acme", "alice").add("Alice owns the deploy pipeline").ids
    for prefix in ("", "acme", "acme/alice"):
        found = store.find(identity, prefix)
        assert (found.scope, found.text) == ("acme/alice", "Alice owns the deploy pipeline")
    for prefix in ("acme/bob", "other"):
        with pytest.raises(NotFoundError, match="at or below"):
            store.find(identity, prefix)
    with pytest.raises(NotFoundError, match="of the store"):
        store.find("unknown")


def test_a_deleted_scope_is_erased_and_those_below_it_stay(store: Slowwave) -> None:
    alice, notes = store.within("acme", "a b"), store.within("acme", "a b", "notes")
    alice.add("Alice owns the deploy pipeline")
    notes.add("Tea is in the kitchen")
    receipt = store.delete_scope("acme/a%20b")
    assert (len(receipt.destroyed), receipt.verified) == (1, True)
    assert alice.get_all() == []
    assert [fact.text for fact in notes.get_all()] == ["Tea is in the kitchen"]
    assert [(scope.names[-1], scope.facts) for scope in store.scopes()] == [("notes", 1)]
    with pytest.raises(NotFoundError):
        store.delete_scope("acme/nobody")
    (below,) = store.scopes("acme/a%20b/notes")
    assert len(store.delete_scope(below).destroyed) == 1, "as `within` takes it"
    assert store.scopes() == []


def paths(store: Slowwave) -> list[str]:
    """The rows of scopes and the prefixes of keys, as stored."""
    kept: Any = store._session.ports.store
    return [*kept.all_paths(), *(key.prefix for key in store.list_keys())]


def test_no_name_of_a_deleted_scope_stays_and_it_can_be_made_again(store: Slowwave) -> None:
    names = ("users", "zebulon@kestrel.example")
    key = store.add_key("Zebulon's laptop", prefix=names).key
    memory = store.within(*names)
    memory.add("Zebulon owns a kite")
    assert store.delete_scope(*names).verified
    assert not any("zebulon" in path for path in paths(store))
    (revoked,) = store.list_keys()
    assert (revoked.id, revoked.label, revoked.revoked_at is None) == (key.id, "", False)
    assert store.scopes() == []
    file = Path(store._session.name)
    if file.exists():
        assert not any(b"zebulon" in part.read_bytes().lower() for part in file.parent.iterdir())
    assert store.delete_scope(*names).verified, "it can be repeated"
    memory.add("Zebulon owns a boat")
    assert [scope.names for scope in store.scopes()] == [names]
    assert [run.cause for run in memory.runs()][:2] == ["add", "erase"], "the journal goes on"
    assert store.doctor(deep=True) == []


def test_a_scope_in_which_nothing_is_stored_is_not_named(store: Slowwave) -> None:
    memory = store.within("users", "zebulon")
    for fails in (
        lambda: store.delete_scope("users", "zebulon"),
        lambda: memory.erase(text="kite"),
        lambda: memory.erase(conversation="monday"),
        lambda: memory.delete("6b0ke4mdwgzdzgkzw396"),
        lambda: memory.set_title("monday", "A kite"),
        lambda: store.retry(("users", "zebulon")),
    ):
        with pytest.raises(NotFoundError):
            fails()
    memory.sleep()
    assert not any("zebulon" in path for path in paths(store))
    assert store.scopes() == []
    memory.add("Zebulon owns a kite")
    assert [scope.path for scope in store.scopes()] == ["users/zebulon"]


def test_a_scope_is_named_in_every_call_as_within_names_it(store: Slowwave) -> None:
    identity = store.within("users", "Ann / Lee").add("Ann owns a kite").ids[0]
    (scope,) = store.scopes(("users", "Ann / Lee"))
    for given in (scope, scope.path, scope.names, list(scope.names)):
        assert store.scopes(given) == [scope]
        assert store.find(identity, given).id == identity
        assert store.doctor(scopes=[given]) == []
        assert store.retry(given) == []
        assert store.add_key("laptop", prefix=given).key.prefix == scope.path
    with AgentMemory.in_memory(scope=("users", 7), embedder="none") as memory:
        assert memory.scope == "users/7"
    store.within("Bo Li").add("Bo owns a boat")
    assert len(store.delete_scope("Bo Li").destroyed) == 1
    assert len(store.delete_scope("users", "Ann / Lee").destroyed) == 1


def test_closing_a_memory_leaves_the_store_open_and_closing_the_store_closes_all(store: Slowwave) -> None:
    alice, bob = store.within("alice"), store.within("bob")
    with alice:
        alice.add("Alice owns the deploy pipeline")
    with pytest.raises(ClosedError):
        alice.get_all()
    assert len(store.within("alice").get_all()) == 1
    notes = bob.within("notes")
    store.close()
    store.close()
    for memory in (bob, notes):
        with pytest.raises(ClosedError):
            memory.search("deploys")
        memory.close()
    for use in (store.scopes, store.doctor, store.sleep_due, store.__enter__):
        with pytest.raises(ClosedError):
            use()
    with pytest.raises(ClosedError):
        store.within("carol")


def test_a_memory_goes_below_its_own_scope(store: Slowwave) -> None:
    alice = store.within("acme", "alice")
    notes = alice.within("to do", inherit=True)
    assert notes.scope == "acme/alice/to%20do"
    alice.add("Alice owns the deploy pipeline")
    assert notes.get_all() == []
    assert [hit.text for hit in notes.search("who owns deploys?")] == ["Alice owns the deploy pipeline"]
    assert alice.within("to do").search("who owns deploys?") == []


def test_an_opened_memory_owns_its_store(tmp_path: Path) -> None:
    memory = AgentMemory.open(tmp_path / "a.db", scope="acme", embedder="none")
    below = memory.within("notes")
    below.add("Tea is in the kitchen")
    below.close()
    assert memory.get_all() == []
    below = memory.within("notes")
    memory.close()
    with pytest.raises(ClosedError):
        below.get_all()


def test_sleep_due_sleeps_every_scope_that_is_due(store: Slowwave) -> None:
    for name in ("alice", "bob"):
        store.within(name).add("Alice owns the deploy pipeline")
    assert sorted(store.sleep_due()) == ["alice", "bob"]
    assert store.sleep_due() == {}


def test_the_sleeper_of_a_store_sleeps_all_scopes(tmp_path: Path) -> None:
    with Slowwave.open(tmp_path / "a.db", embedder="none", sleep_every=0.01) as store:
        for name in ("alice", "bob"):
            store.within(name).add("Alice owns the deploy pipeline")
        until(lambda: all(store.within(name).status().last_sleep for name in ("alice", "bob")))


def test_a_write_below_a_memory_with_a_sleeper_of_its_own_runs_its_own_pass(tmp_path: Path) -> None:
    config = Config(sleep_every_ingests=1)
    with AgentMemory.open(tmp_path / "a.db", embedder="none", config=config, sleep_every="1d") as memory:
        assert "slept" in memory.within("notes").add("Tea is in the kitchen").notes
        assert "slept" not in memory.add("Alice owns the deploy pipeline").notes


def test_the_whole_store_is_checked_and_copied(tmp_path: Path) -> None:
    with Slowwave.open(tmp_path / "a.db", embedder="none") as store:
        store.within("acme", "alice").add("Alice owns the deploy pipeline")
        assert store.doctor(deep=True) == []
        store.backup(tmp_path / "b.db")
    with Slowwave.open(tmp_path / "b.db", embedder="none") as copy:
        assert [scope.path for scope in copy.scopes()] == ["acme/alice"]


def test_threads_share_a_store(store: Slowwave) -> None:
    def work(number: int) -> None:
        for _ in range(5):
            memory = store.within("users", number)
            memory.add_messages([Message(role="user", content=f"Number {number} likes tea")])
            assert {hit.memory.scope for hit in memory.search("tea")} == {f"users/{number}"}

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [scope.messages for scope in store.scopes("users")] == [5] * 8


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_a_further_scope_costs_no_descriptor_and_a_few_kilobytes(store: Slowwave) -> None:
    store.within("warm").add("Alice owns the deploy pipeline")
    store.within("warm").search("deploys")
    gc.collect()  # what earlier tests left open is closed now, not between the counts
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - as short as can be
    tracemalloc.start()
    memories = [store.within("users", number) for number in range(500)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] / len(memories)
    tracemalloc.stop()
    assert size < 4_000
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - as above
    assert len(memories) == 500


@pytest.mark.parametrize("arguments", [{"prefix": "a b"}, {"after": "a//b"}, {"limit": -1}, {"limit": "3"}])
def test_invalid_arguments_of_scopes_are_refused(tmp_path: Path, arguments: dict[str, object]) -> None:
    with Slowwave.open(tmp_path / "a.db", embedder="none") as store, pytest.raises(InputError):
        store.scopes(**arguments)  # type: ignore[arg-type]


def test_unknown_arguments_are_refused_before_anything_is_opened(tmp_path: Path) -> None:
    for facade in (Slowwave, Slowwave.open, AgentMemory, AgentMemory.open):
        with pytest.raises(InputError, match="belongs to Config"):
            facade(tmp_path / "a.db", half_life_days=3)
        with pytest.raises(InputError, match="sleep_every"):
            facade(tmp_path / "a.db", sleep_every="soon")
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_ram_takes_the_arguments_of_open(world: World) -> None:
    options = {"embedder": None, "config": Config(core_top_k=3), "clock": world.clock}
    with Slowwave.in_memory(**options) as store, AgentMemory.in_memory(**options, scope="acme/alice") as memory:
        store.within("acme").add("Alice owns the deploy pipeline")
        assert [scope.path for scope in store.scopes()] == ["acme"]
        assert memory.scope == "acme/alice"
        for opened in (store.within("acme"), memory):
            assert (opened.ports.config.core_top_k, opened.now()) == (3, world.clock())


def test_a_store_in_ram_refuses_what_it_does_not_have() -> None:
    for facade in (Slowwave, AgentMemory):
        with pytest.raises(InputError, match="belongs to Config"):
            facade.in_memory(core_top_k=3)
        with pytest.raises(InputError, match=r"no argument store: use .*llm, embedder"):
            facade.in_memory(store="agent.db")


@pytest.mark.parametrize("names", [(None,), ("acme", None)])
def test_an_invalid_name_of_a_scope_is_refused_by_its_place(world: World, names: tuple[Any, ...]) -> None:
    for opened in (Slowwave(world.path, embedder="none"), world.open()):
        with pytest.raises(InputError, match=rf"^names\[{len(names) - 1}\]=None "):
            opened.within(*names)


def test_a_store_has_a_short_name(tmp_path: Path) -> None:
    with Slowwave.open(tmp_path / "a.db", embedder="none") as store:
        assert repr(store) == f"Slowwave({str(tmp_path / 'a.db')!r})"
        assert repr(store.within("a")) == f"AgentMemory({str(tmp_path / 'a.db')!r}, scope='a')"


# ---- the constructor


def test_the_constructor_opens_a_store_as_open_does(world: World) -> None:
    options = {
        "scope": "acme/alice",
        "llm": None,
        "embedder": "none",
        "clock": world.clock,
        "config": Config(core_top_k=3),
    }
    with AgentMemory(world.path, **options) as memory:
        memory.add("Alice owns the deploy pipeline")
        assert (memory.scope, memory.ports.config.core_top_k) == ("acme/alice", 3)
    with AgentMemory.open(world.path, **options) as memory:
        assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]


def test_a_constructor_without_arguments_opens_the_store_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_STORE", str(tmp_path / "of the settings.db"))
    monkeypatch.setenv("SLOWWAVE_EMBEDDER", "none")
    with AgentMemory() as memory:
        memory.add("Alice owns the deploy pipeline")
    with AgentMemory() as memory:
        assert len(memory.get_all()) == 1


def test_a_constructor_with_knowledge_and_no_store_is_in_ram() -> None:
    for memory in (
        AgentMemory(SemanticMemory(vector_store=InMemoryVectorStore()), embedder="none"),
        AgentMemory(knowledge=SemanticMemory(), embedder="none", llm=ScriptedLLM()),
    ):
        assert memory.knowledge.memory is memory
        assert memory.ports.store.name == ":memory:"
        memory.close()


def test_knowledge_can_be_combined_with_a_store(tmp_path: Path) -> None:
    facts = SemanticMemory()
    with AgentMemory(tmp_path / "a.db", knowledge=facts, embedder="none") as memory:
        assert facts.memory is memory
        assert memory.knowledge is facts
        assert memory.within("notes").knowledge is not facts
