"""A changed sentence or value of a run is noticed by a check and by every read of the run, on both backends."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import CorruptError
from slowwave.model.codec import dumps, loads
from slowwave.model.plan import Group
from slowwave.stores.copy import copy
from slowwave.stores.reasons import LOST
from slowwave.stores.rows import RUN_COLUMNS
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import add, fact, plan

DAMAGED = (
    "scope acme: run several is damaged in the store, and what it did can be replayed: run `slowwave doctor --repair`, which "
    "writes it anew without the reasons that were changed"
)
GROUPS = [("faded", ()), ("told by Ada", ("talk",)), ("merged", ())]


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentMemory]:
    """A memory with runs of one and of several groups."""
    path = str(tmp_path / "a.db") if request.param == "sqlite" else request.getfixturevalue("own")
    with AgentMemory.open(path, scope="acme", llm=None, embedder="none") as opened:
        opened.add_messages([Message("user", "Carol owns the mail server.", id="m1")], "talk")
        opened.add("Bob owns the cache")
        groups = [
            Group(
                operations=(add(fact(f"Note {place}", id=f"f{place}", scope="acme")),),
                because=words,
                conversations=names,
                count_of="notes" if place == 2 else "",
            )
            for place, (words, names) in enumerate(GROUPS)
        ]
        opened.ports.store.apply(plan(*groups, id="several", scope="acme"))
        yield opened


def stored(memory: AgentMemory, run: str) -> dict[str, object]:
    store = memory.ports.store
    with store._guard, store._one_state():
        row = store._one("run", (store._tokens.scope("acme"), run))
    return dict(zip(RUN_COLUMNS, row, strict=True))


def put(memory: AgentMemory, run: str, **values: object) -> None:
    """Write values of a run past the store, as damage would."""
    store = memory.ports.store
    with store._guard, store._transaction("acme"):
        for column, value in values.items():
            mark = store._db.dialect.mark
            store._db.execute(f"UPDATE runs SET {column} = {mark}1 WHERE id = {mark}2", (value, run))


def test_a_sound_store_has_no_problem(memory: AgentMemory) -> None:
    memory.add_all([f"Machine {n} has a new part" for n in range(25)])
    assert loads(str(stored(memory, str(memory.runs(1)[0].id))["because"])) == [], "a run of parts"
    assert memory.doctor(deep=True) == []
    read = memory.ports.store.run("acme", "several")
    assert read is not None
    assert [(group.because, group.conversations) for group in read.plan.groups] == GROUPS


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_changed_sentence_of_any_group_is_noticed(memory: AgentMemory, place: int) -> None:
    words = loads(str(stored(memory, "several")["because"]))
    words[place] += "?"
    put(memory, "several", because=dumps(words))
    assert memory.doctor(deep=True) == [DAMAGED]
    with pytest.raises(
        CorruptError, match="the run 'several' is damaged in the store: run `slowwave doctor --repair`"
    ) as damaged:
        memory.ports.store.run("acme", "several")
    advised = re.search(r"`(\w+)\(deep=True\)`", str(damaged.value))
    assert advised is not None
    assert callable(getattr(memory, advised[1]))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("cause", "add "),
        ("at", 5),
        ("parent", "other"),
        ("undoes", "other"),
        ("cost", '{"calls":7}'),
        ("details", "[{},{},{}]"),
        ("details", "[]"),
        ("seal", None),
        ("seal", 2),
        ("details", ""),
    ],
)
def test_a_changed_value_of_a_run_is_noticed(memory: AgentMemory, column: str, value: object) -> None:
    put(memory, "several", **{column: value})
    assert memory.doctor(deep=True) == [DAMAGED]


def test_a_group_without_a_checksum_in_a_run_with_one_is_noticed(memory: AgentMemory) -> None:
    details = loads(str(stored(memory, "several")["details"]))
    put(memory, "several", details=dumps([*details[:2], {}]))
    assert memory.doctor(deep=True) == [DAMAGED]


def test_runs_of_versions_that_wrote_no_checksum_are_sound_wherever_they_are(memory: AgentMemory) -> None:
    first, *_, last = (run.id for run in reversed(memory.runs(50)))
    put(memory, first, details="[]", seal=None)
    put(memory, last, details="[]", seal=None)
    assert memory.doctor(deep=True) == []
    put(memory, last, seal=1)
    assert len(memory.doctor(deep=True)) == 1


@pytest.mark.parametrize("name", ["conversations", "count_of", "checksum", "run_checksum"])
def test_a_changed_name_in_the_details_is_noticed(memory: AgentMemory, name: str) -> None:
    details = str(stored(memory, "several")["details"])
    assert f'"{name}"' in details
    put(memory, "several", details=details.replace(f'"{name}"', f'"{name[:-1]}q"', 1))
    assert memory.doctor(deep=True) == [DAMAGED]


def test_a_journal_row_outside_of_its_run_is_noticed(memory: AgentMemory) -> None:
    last = stored(memory, "several")["last"]
    assert isinstance(last, int)
    put(memory, "several", last=last - 1)
    assert memory.doctor(deep=True) == [
        "scope acme: 1 journal rows are outside of the range of their run: restore a backup"
    ]


def test_an_erase_blanks_sentences_and_leaves_sound_runs(memory: AgentMemory) -> None:
    memory.erase(text="Ada")
    read = memory.ports.store.run("acme", "several")
    assert read is not None
    assert [(group.because, group.conversations) for group in read.plan.groups] == [
        ("faded", ()),
        ("erased", ()),
        ("merged", ()),
    ]
    memory.erase(text="faded")
    assert memory.doctor(deep=True) == []
    put(memory, "several", cause="x")
    assert memory.doctor(deep=True) == [DAMAGED]


def test_an_erase_is_possible_beside_a_damaged_run(memory: AgentMemory) -> None:
    words = loads(str(stored(memory, "several")["because"]))
    put(memory, "several", because=dumps(["fadet", *words[1:]]))
    memory.erase(text="Carol")
    assert all("Carol" not in hit.memory.text for hit in memory.search("mail server"))
    assert memory.doctor(deep=True) == [DAMAGED]


def test_a_copy_keeps_the_checksums(memory: AgentMemory, tmp_path: Path) -> None:
    target = SqliteStore(str(tmp_path / "copy.db"))
    copy(memory.ports.store, target)
    assert target.check(deep=True) == []
    with target._guard, target._transaction("acme"):
        target._db.execute("UPDATE runs SET because = replace(because, 'merged', 'forged')")
    assert target.check(deep=True) == [DAMAGED]
    target.close()


@pytest.mark.parametrize("details", ["", "[]", "[{},{},{}]", None])
def test_a_repair_keeps_the_reasons_that_are_sound_and_says_which_are_lost(
    memory: AgentMemory, details: str | None
) -> None:
    words = loads(str(stored(memory, "several")["because"]))
    if details is None:
        put(memory, "several", because=dumps([words[0], "told by Eve", words[2]]))
    else:
        put(memory, "several", details=details)
    repaired = memory.ports.store.repair()
    assert (repaired.runs, repaired.derived, repaired.memories, repaired.refused) == (1, 0, 0, ())
    assert memory.doctor(deep=True) == []
    assert memory.ports.store.repair().runs == 0
    run = memory.ports.store.run("acme", "several")
    assert run is not None
    lost = [LOST if details is not None or place == 1 else group for place, (group, _) in enumerate(GROUPS)]
    assert [group.because for group in run.plan.groups] == lost
    assert len(list(run.plan.operations)) == 3


def test_a_repair_derives_a_damaged_index_entry_again(memory: AgentMemory) -> None:
    store = memory.ports.store
    with store._guard, store._transaction("acme"):
        store._db.execute("UPDATE entries SET words = words + 7")
    assert all("run `slowwave doctor --repair`, then `slowwave reembed`" in one for one in memory.doctor(deep=True))
    assert store.repair().derived > 0
    assert memory.doctor(deep=True) == []
    assert [hit.text for hit in memory.search("who owns the cache?")][:1] == ["Bob owns the cache"]
