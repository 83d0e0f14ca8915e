"""A store with one flipped bit shows what was stored, or is reported as damaged: by a read, or by a deep check."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Final

import pytest
from tests.attack.files import filled, remove_store

from slowwave import AgentMemory
from slowwave.errors import CorruptError, SlowwaveError
from slowwave.model.memory import KINDS, PHASES
from slowwave.stores.rows import last_place
from slowwave.testing.builders import every_field

FLIPS: Final = 100
READS: Final[Mapping[str, Callable[[AgentMemory], object]]] = MappingProxyType(
    {
        "memories": lambda memory: sorted(map(every_field, memory.get_all(kinds=KINDS, phases=PHASES))),
        "messages": lambda memory: [every_field(memory.messages(one.name)) for one in memory.conversations()],
        "notes": lambda memory: every_field(memory.notes()),
        "runs": lambda memory: [(str(run), str(run.plan), run.at) for run in memory.runs(limit=None, parts="all")],
        "histories": lambda memory: [str(memory.explain(one.id)) for one in memory.get_all(phases=PHASES)],
        "cursors": lambda memory: every_field(memory.ports.store.conversations(memory.scope)),
        "search": lambda memory: [hit.memory.text for hit in memory.search("who owns the cache?", deep=True)],
        "context": lambda memory: memory.context("where do I live?").text,
    }
)
"""What a store shows, by the verbs that read its tables and indexes."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store with something in every table."""
    return filled(tmp_path_factory.mktemp("store") / "sound.db")


def shown(path: Path) -> dict[str, object]:
    """What a store shows; a read that is refused with an error of the library shows that error."""
    try:
        memory = AgentMemory.open(path, scope="keeper", llm=None, embedder="none")
    except SlowwaveError as error:
        return dict.fromkeys(READS, error)
    with memory:
        return {name: read_or_error(memory, read) for name, read in READS.items()}


def read_or_error(memory: AgentMemory, read: Callable[[AgentMemory], object]) -> object:
    try:
        return read(memory)
    except SlowwaveError as error:
        return error


def problems(path: Path) -> list[str]:
    """What a deep check finds; the error if the store cannot be opened or checked."""
    try:
        with AgentMemory.open(path, scope="keeper", llm=None, embedder="none") as memory:
            return memory.doctor(deep=True)
    except SlowwaveError as error:
        return [str(error)]


def unnoticed(data: bytes, seed: int, number: int, folder: Path) -> list[str]:
    """The flips after which something else is shown than was stored, and neither a read nor the check reports damage."""
    chance, path = Random(seed), folder / "flipped.db"
    path.write_bytes(data)
    stored = shown(path)
    assert not any(isinstance(value, SlowwaveError) for value in stored.values())
    found = []
    for _ in range(number):
        place, bit = chance.randrange(len(data)), chance.randrange(8)
        broken = bytearray(data)
        broken[place] ^= 1 << bit
        remove_store(path)
        path.write_bytes(broken)
        now = shown(path)
        wrong = [name for name, value in now.items() if value != stored[name] and not isinstance(value, SlowwaveError)]
        if wrong and not problems(path):
            found.append(f"byte {place}, bit {bit}: other {', '.join(wrong)}")
    return found


def varint(number: int) -> bytes:
    """A number as SQLite writes the key of a row: seven bits a byte, all bytes but the last with the high bit."""
    rest = [number & 0x7F]
    while number := number >> 7:
        rest.append(number & 0x7F | 0x80)
    return bytes(reversed(rest))


def test_keys_of_rows_that_do_not_increase_end_a_read_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "looped.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        memory.add_messages([{"role": "user", "content": f"Ship {n} left the harbour"} for n in range(9)], "log")
    with closing(sqlite3.connect(path)) as database:
        first, *_, last = (key for (key,) in database.execute("SELECT key FROM memories ORDER BY key"))
    data = path.read_bytes()
    assert varint(last) in data
    remove_store(path)
    path.write_bytes(data.replace(varint(last), varint(first)))
    with AgentMemory.open(path, llm=None, embedder="none") as memory, pytest.raises(CorruptError, match="damaged"):
        memory.erase(text="harbour", dry_run=True)


@pytest.mark.parametrize("places", [[3, 3], [4, 2], [(1, 7), (1, 7)], [(2, 1), (1, 2)]])
def test_places_that_do_not_increase_are_damage(places: list[Any]) -> None:
    with pytest.raises(CorruptError, match="order of a table"):
        last_place(places)
    assert last_place(sorted(set(places))) == max(places)
    assert last_place(sorted(set(places), reverse=True), descending=True) == min(places)


def test_a_read_of_pages_ends_if_the_index_of_ids_names_another_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "twice.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        texts = [f"Ship {n} left the harbour" for n in range(9)]
        for text in texts:
            memory.add(text, metadata={"port": "Linz"})
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP INDEX memories_id")
        database.execute("CREATE INDEX memories_id ON memories (scope, id)")
        database.execute("DROP INDEX facts_content")
        columns = [name for _, name, *_ in database.execute("PRAGMA table_info(memories)") if name != "key"]
        copied = ", ".join(columns)
        database.execute(
            f"INSERT INTO memories (key, {copied}) SELECT key + 100, {copied} FROM memories ORDER BY key LIMIT 1"
        )
        database.commit()
    monkeypatch.setattr("slowwave.stores.reads.PAGE", 2)
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        assert memory.get_all(conversation="log") == []
        found = memory.get_all(where={"port": "Linz"}, limit=100)
        assert [fact.text for fact in found] == [*texts, texts[0]]


def test_a_few_flipped_bits_are_noticed_or_harmless(data: bytes, tmp_path: Path) -> None:
    assert unnoticed(data, 7, 12, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_flipped_bits_are_noticed_or_harmless(seed: int, data: bytes, tmp_path: Path) -> None:
    assert unnoticed(data, seed, FLIPS, tmp_path) == []
