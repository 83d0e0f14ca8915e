"""After a power failure at any moment, every possible image of the disk opens, is sound, and has all acknowledged writes."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from slowwave.model.operations import Erase, Link, Suppress
from slowwave.stores.migrations import migrations
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, message, plan, use

Recorded = tuple[list[tuple], list[tuple[int, dict[str, int]]]]

STEPS = [
    *migrations("sqlite"),
    (
        len(migrations("sqlite")) + 1,
        "ALTER TABLE memories ADD COLUMN later TEXT; CREATE INDEX i ON memories (scope, later);",
    ),
]


class Recording(apsw.VFS):
    """A VFS that passes all calls on and records every write, truncation, sync and deletion in order."""

    def __init__(self) -> None:
        self.log: list[tuple] = []
        super().__init__("recording", "")

    def xOpen(self, name, flags):  # noqa: N802, ANN001, ANN201  # SQLite's name
        return RecordedFile(self.log, name, flags)

    def xDelete(self, name, sync):  # noqa: N802, ANN001, ANN201
        self.log.append(("delete", Path(name).name))
        super().xDelete(name, sync)


class RecordedFile(apsw.VFSFile):
    def __init__(self, log: list[tuple], name, flags) -> None:  # noqa: ANN001
        self.log = log
        self.name = Path(name.filename() if hasattr(name, "filename") else name).name
        super().__init__("", name, flags)

    def xWrite(self, data, offset):  # noqa: N802, ANN001, ANN201
        self.log.append(("write", self.name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size):  # noqa: N802, ANN001, ANN201
        self.log.append(("truncate", self.name, size))
        super().xTruncate(size)

    def xSync(self, flags):  # noqa: N802, ANN001, ANN201
        self.log.append(("sync", self.name))
        super().xSync(flags)


def carried_out(data: bytearray, operation: tuple) -> None:
    if operation[0] == "truncate":
        del data[operation[2] :]
        return
    _, _, offset, written = operation
    if len(data) < offset + len(written):
        data.extend(bytes(offset + len(written) - len(data)))
    data[offset : offset + len(written)] = written


def image(log: list[tuple], chance: random.Random, folder: Path) -> None:
    """A possible image of the disk after a power failure: about half of the unsynced writes are lost, some are torn."""
    disk: dict[str, bytearray] = {}
    pending: dict[str, list[tuple]] = {}
    for operation in log:
        name = operation[1]
        if operation[0] == "delete":
            disk.pop(name, None)
            pending.pop(name, None)
        elif operation[0] == "sync":
            for one in pending.pop(name, ()):
                carried_out(disk.setdefault(name, bytearray()), one)
        else:
            disk.setdefault(name, bytearray())
            pending.setdefault(name, []).append(operation)
    for name, operations in pending.items():
        for one in operations:
            luck = chance.random()
            if luck < 0.5:
                continue
            if one[0] == "write" and luck < 0.65:
                carried_out(disk[name], (*one[:3], one[3][: chance.randrange(len(one[3]) + 1)]))
            else:
                carried_out(disk[name], one)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in disk.items():
        (folder / name).write_bytes(data)


def workload(path: Path, log: list[tuple]) -> Iterator[tuple[int, dict[str, int]]]:
    """A short history: yields, at each acknowledgement, the length of the log and the least version of each memory."""
    known: dict[str, int] = {}
    store = SqliteStore(str(path), vfs="recording", steps=STEPS[:-1])
    tea = fact("Likes tea", due_at=NOW)
    current = tea
    store.apply(plan(add(tea)))
    known[tea.id] = 1
    yield len(log), dict(known)
    for turn in range(24):
        messages = [message(f"Note {turn}.{n}: " + "words " * 40, ref=f"{turn}.{n}") for n in range(1 + turn % 3)]
        store.apply(plan(*map(add, messages), cause="observe"))
        known |= {one.id: 1 for one in messages}
        yield len(log), dict(known)
        step = change(current, text=f"Likes tea number {turn}")
        store.apply(plan(step, use(current)))
        current = replace(step.after, accesses=turn + 1)
        known[tea.id] = current.version
        yield len(log), dict(known)
        link = Link(
            source=tea.id, target=messages[0].id, kind="close", weight=1.0, before=0.0, because="rests on", at=NOW
        )
        store.apply(plan(link, Suppress(key=f"{turn}", because="undone")))
        if turn % 4 == 1:
            store.index(SCOPE, {messages[0].id: entry("other words")})
        if turn % 5 == 2:
            store.apply(plan(Erase(memory=messages[0].id, because="asked to")))
            del known[messages[0].id]
        if turn % 6 == 3:
            store._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if turn == 12:
            store.close()
            store = SqliteStore(str(path), vfs="recording", steps=STEPS)
        if turn == 18:
            store.rewrite_erased()
        yield len(log), dict(known)
    store.close()
    yield len(log), dict(known)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    recording = Recording()
    acknowledged = list(workload(tmp_path_factory.mktemp("power") / "memory.db", recording.log))
    log = [operation for operation in recording.log if not operation[1].endswith("-shm")]
    assert len(log) == len(recording.log)
    recording.unregister()
    return log, acknowledged


def survives(
    folder: Path, log: list[tuple], upto: int, acknowledged: list[tuple[int, dict[str, int]]], seed: int
) -> None:
    image(log[:upto], random.Random(seed), folder)
    store = SqliteStore(str(folder / "memory.db"), steps=STEPS)
    try:
        assert store.check(deep=True) == []
        promised = next((known for length, known in reversed(acknowledged) if length <= upto), {})
        following = next((known for length, known in acknowledged if length > upto), promised)
        owed = {identity: version for identity, version in promised.items() if identity in following}
        found = {one.id: one.version for one in store.get([SCOPE], owed)}
        assert {identity for identity, version in owed.items() if found.get(identity, 0) < version} == set()
    finally:
        store.close()


def test_power_loss_images_are_intact_and_keep_acknowledged_writes(recorded: Recorded, tmp_path: Path) -> None:
    log, acknowledged = recorded
    syncs = [place for place, operation in enumerate(log, 1) if operation[0] == "sync"]
    chance = random.Random(7)
    moments = syncs + [place - 1 for place in syncs]
    moments += [chance.randrange(1, len(log) + 1) for _ in range(160 - len(moments))]
    for seed, upto in enumerate(moments):
        survives(tmp_path / "image", log, upto, acknowledged, seed)
    assert len(moments) >= 160


@pytest.mark.long
def test_five_thousand_images_at_every_boundary(recorded: Recorded, tmp_path: Path) -> None:
    log, acknowledged = recorded
    moments = [*range(1, len(log) + 1)] * (1 + 5000 // len(log))
    for seed, upto in enumerate(moments):
        survives(tmp_path / "image", log, upto, acknowledged, 1_000_000 + seed)
