"""Stores with a number in a text column are damaged before the repair and sound after it, on both backends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave import AgentMemory
from slowwave.errors import CorruptError
from slowwave.model.codec import COLUMNS, dumps, loads
from slowwave.stores.rows import MEMORY_COLUMNS, checksum, journal_checksum

SESSION = COLUMNS.index("last_session")


@pytest.fixture(params=["sqlite", "postgres"])
def hit_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentMemory]:
    """A memory of two facts, each used once in a session named "42"."""
    path = str(tmp_path / "a.db") if request.param == "sqlite" else request.getfixturevalue("own")
    with AgentMemory.open(path, scope="acme", llm=None, embedder="static") as opened:
        opened.add("Alice owns the deploy pipeline", category="person")
        opened.add("The database is Postgres", category="project")
        for fact in opened.get_all():
            opened.record_retrieval([fact], session="42")
        yield opened


def hit(memory: AgentMemory, identity: str, number: object, stored: str | None) -> None:
    """Write what earlier versions wrote for `session=number`: text in the row, the number under both checksums."""
    store = memory.ports.store
    with store._guard, store._transaction("acme"):
        token = store._tokens.scope("acme")
        (row,) = store._all("memory", (token, identity))
        values = list(row[: len(COLUMNS)])
        values[SESSION] = number
        store._db.execute(
            f"UPDATE memories SET last_session = {store._db.dialect.mark}1, checksum = {store._db.dialect.mark}2 WHERE scope = {store._db.dialect.mark}3 AND id = {store._db.dialect.mark}4",
            (stored, checksum(dumps(values)), token, identity),
        )
        for key, op, one, other, because, payload, _ in store._all("memory_rows", {"scope": token, "id": identity}):
            if op == "use":
                moved = loads(payload)
                moved["last_session"][1] = number
                written = dumps(moved)
                total = journal_checksum(op, one, other, because, written)
                store._db.run("reseal_journal", (written, total, key))


def ids(memory: AgentMemory) -> list[str]:
    return [fact.id for fact in memory.get_all()]


@pytest.mark.parametrize(("number", "stored"), [(42, "42"), (1.5, "1.5"), (True, "1"), (0, "0"), (10**17, str(10**17))])
def test_a_damaged_store_is_sound_after_a_repair(hit_memory: AgentMemory, number: object, stored: str) -> None:
    memory, known = hit_memory, ids(hit_memory)
    hit(memory, known[0], number, stored)
    for verb in (
        memory.get_all,
        lambda: memory.search("who owns the pipeline?"),
        lambda: memory.context("who owns the pipeline?"),
        memory.sleep,
        lambda: memory.update(known[0], "Bob owns the deploy pipeline"),
        lambda: memory.erase(id=known[0]),
    ):
        with pytest.raises(CorruptError, match="slowwave doctor --repair"):
            verb()
    assert any(f"{known[0]} is damaged" in problem for problem in memory.doctor(deep=True))

    problems = memory.doctor(deep=True, repair=True)

    assert len(problems) == 1
    assert problems[0].startswith("rows re-sealed: 1, because")
    assert memory.doctor(deep=True, repair=True) == []
    assert [fact.id for fact in memory.get_all()] == known
    assert memory.get(known[0]).last_session == stored
    assert memory.search("who owns the pipeline?")[0].memory.id == known[0]
    (used,) = [event for event in memory.history(known[0]) if event.cause == "use"]
    assert used.operation.after.last_session == stored
    assert memory.undo(used.run_id)
    assert memory.get(known[0]).accesses == 0
    assert memory.doctor(deep=True) == []
    assert memory.erase(id=known[0]).verified
    assert ids(memory) == known[1:]
    assert memory.doctor(deep=True) == []


def test_a_repair_changes_checksums_and_the_journaled_number_only(hit_memory: AgentMemory) -> None:
    def rows() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        store = hit_memory.ports.store
        with store._guard:
            token = store._tokens.scope("acme")
            low, high = token << 40, ((token + 1) << 40) - 1
            memories = sorted(tuple(row) for row in store._all("every_memory", {"low": low, "high": high}))
            return memories, [tuple(row) for row in store._all("whole_journal", (low, high))]

    known = ids(hit_memory)
    whole = rows()
    hit(hit_memory, known[1], 42, "42")
    spoilt = rows()
    hit_memory.doctor(repair=True)
    assert rows() == whole, "byte for byte what a session of '42' gives"
    moved = [
        place
        for old, new in zip(spoilt[0], whole[0], strict=True)
        for place in range(len(old))
        if old[place] != new[place]
    ]
    assert moved == [MEMORY_COLUMNS.index("checksum")]
    assert sum(old != new for old, new in zip(spoilt[1], whole[1], strict=True)) == 1


def test_a_row_that_the_journal_does_not_confirm_is_reported_and_not_changed(hit_memory: AgentMemory) -> None:
    memory, known = hit_memory, ids(hit_memory)
    hit(memory, known[0], 42, "42")
    store = memory.ports.store
    with store._guard, store._transaction("acme"):
        values = ("The database is SQLite", store._tokens.scope("acme"), known[1])
        mark = store._db.dialect.mark
        store._db.execute(f"UPDATE memories SET text = {mark}1 WHERE scope = {mark}2 AND id = {mark}3", values)
    problems = memory.doctor(deep=True, repair=True)
    assert problems[0].startswith("rows re-sealed: 1, because")
    assert problems[1] == (
        "scope acme: 1 damaged rows were not changed, because the journal has other values: "
        f"{known[1]}; restore a backup"
    )
    assert any(f"{known[1]} is damaged" in problem for problem in problems[2:])
    assert memory.get(known[0]).last_session == "42"
    with pytest.raises(CorruptError):
        memory.get(known[1])


def test_a_number_that_differs_from_the_stored_text_is_not_repaired(hit_memory: AgentMemory) -> None:
    known = ids(hit_memory)
    hit(hit_memory, known[0], 42, "43")
    assert "were not changed" in hit_memory.doctor(repair=True)[0]
    with pytest.raises(CorruptError):
        hit_memory.get(known[0])


def test_nothing_is_repaired_where_the_journal_itself_is_damaged(hit_memory: AgentMemory) -> None:
    known = ids(hit_memory)
    hit(hit_memory, known[0], 42, "42")
    store = hit_memory.ports.store
    with store._guard, store._transaction("acme"):
        store._db.execute(f"UPDATE journal SET because = 'else' WHERE scope = {store._tokens.scope('acme')}")
    assert hit_memory.doctor(repair=True)[0].startswith("scope acme: nothing was repaired, because row ")
    with pytest.raises(CorruptError):
        hit_memory.get(known[0])


def test_a_row_with_a_damaged_checksum_only_is_repaired(hit_memory: AgentMemory) -> None:
    known = ids(hit_memory)
    store = hit_memory.ports.store
    with store._guard, store._transaction("acme"):
        store._db.execute(f"UPDATE memories SET checksum = 1 WHERE scope = {store._tokens.scope('acme')}")
    assert hit_memory.doctor(repair=True)[0].startswith("rows re-sealed: 2, because")
    assert ids(hit_memory) == known
    assert hit_memory.doctor(deep=True) == []


def test_a_sound_store_is_not_written_by_a_repair(hit_memory: AgentMemory) -> None:
    before = hit_memory.ports.store.sequence("acme"), hit_memory.get_all()
    assert hit_memory.doctor(deep=True, repair=True) == []
    assert (hit_memory.ports.store.sequence("acme"), hit_memory.get_all()) == before
    assert str(hit_memory.ports.store.repair()) == "nothing to repair"
