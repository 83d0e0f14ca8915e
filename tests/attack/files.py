"""Hostile files: archives, exports, vaults, settings, plans, databases, pipes and devices, and stores with flipped bits."""

import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Final

from tests.attack.campaign import Place, everything, opened, sound
from tests.attack.values import odd
from tests.formats import shapes

from slowwave import AgentMemory, Message, settings
from slowwave.errors import SlowwaveError, StoreError
from slowwave.policy.guard.trust import trusted

Verb = Callable[[AgentMemory], object]
VERBS: Final[Mapping[str, Verb]] = MappingProxyType(
    {
        "search": lambda m: m.search("who owns the cache?", deep=True),
        "context": lambda m: m.context("who owns the pipeline?", profile="chat"),
        "get_all": lambda m: m.get_all(kinds=["message", "semantic", "note"], phases=["active", "cold", "retracted"]),
        "runs": lambda m: [str(run.plan) for run in m.runs(limit=None, parts="all")],
        "explain": lambda m: [str(m.explain(fact.id)) for fact in m.get_all(limit=3)],
        "conversations": lambda m: [m.messages(found.name) for found in m.conversations()],
        "health": lambda m: (str(m.status()), str(m.health())),
        "plot": lambda m: [m.plot(kind) for kind in ("forgetting", "growth", "sleep")],
        "doctor": lambda m: m.doctor(deep=True, repair=True),
        "export": lambda m: m.export(Path(m.ports.store.name).with_name("e.jsonl"), overwrite=True),
        "add": lambda m: m.add("Carol owns the mail"),
        "consolidate": lambda m: m.consolidate_all(force=True),
        "undo": lambda m: m.undo(m.runs()[0].id, cascade=True),
        "sleep": lambda m: m.sleep(),
        "erase": lambda m: m.erase(text="Rex3"),
    }
)
"""Verbs that read and write every table of a store."""


def filled(path: Path) -> bytes:
    """A store with something in every table, closed; the bytes of its file."""
    with opened(path) as memory:
        for n in range(6):
            statement = f"I live in Oslo since {2000 + n}, and my dog is called Rex{n}."
            memory.add_messages([Message("user", f"{statement} {k}", id=f"m{n}-{k}") for k in range(4)], f"c{n % 2}")
            memory.add(f"Bob owns cache {n}", category="person", metadata={"a": n})
        memory.consolidate_all(force=True)
        memory.note("a", "tea", data={"x": [1, 2]})
        memory.record_retrieval(memory.search("cache"))
        memory.delete(memory.get_all()[3].id)
    return path.read_bytes()


def remove_store(path: Path) -> None:
    """Remove the file of a store and its logs."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def spoiled(data: bytes, chance: Random) -> bytes:
    """Bytes with flipped bits, a hole, a truncation, a copied or an inserted piece."""
    broken = bytearray(data)
    place = chance.randrange(max(1, len(broken)))
    match chance.randrange(7):
        case 0:
            del broken[place:]
        case 1:
            broken[place : place + chance.choice([1, 100, 4096])] = bytes(chance.choice([1, 100, 4096]))
        case 2:
            start = chance.randrange(max(1, len(broken)))
            broken[place : place + 60] = broken[start : start + 60]
        case 3:
            broken[place:place] = chance.choice(
                [b"[" * 9000, b"\xff\xfe", b"\0", b'"', b"{", b"\n", b"9" * 400, b"\xed\xa0\x80"]
            )
        case _:
            for _ in range(chance.choice([1, 1, 1, 5])):
                if broken:
                    broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    return bytes(broken)


def changed(value: Any, chance: Random) -> Any:  # noqa: ANN401, PLR0911 - JSON; a return for each kind of change
    """JSON data in which one value, name or item was replaced, removed or repeated."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(list(value))
        match chance.randrange(8):
            case 0:
                return {one: each for one, each in value.items() if one != name}
            case 1:
                return {one: _json(chance) if one == name else each for one, each in value.items()}
            case 2:
                return value | {chance.choice(["id", "trust", "seq", "members", "flags", "type"]): _json(chance)}
            case _:
                return {one: changed(each, chance) if one == name else each for one, each in value.items()}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        match chance.randrange(5):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return [*value, value[place]] * chance.choice([1, 30])
            case _:
                return [*value[:place], changed(value[place], chance), *value[place + 1 :]]
    return _json(chance)


def _json(chance: Random) -> Any:  # noqa: ANN401 - JSON
    made = chance.choice(
        [
            None, True, -1, 0, 2**40 - 1, 2**63, 10**400, 1e300, float("nan"), float("inf"), "", " ", "\ud83d", "a\0b", "x" * 9000,
            "9999-12-31T23:59:59.999999+00:00", "0001-01-01T00:00:00+00:00", "soon", [], {}, [[]], {"": None}, "user", "../x",
            *(odd(chance) for _ in range(2)),
        ]
    )  # fmt: skip
    try:
        return json.loads(json.dumps(made))
    except (TypeError, ValueError, RuntimeError, RecursionError):
        return None


def _samples(place: Place) -> list[tuple[str, str, bytes]]:
    """A name, a format and the bytes of a file of each kind that an import reads."""
    chance = place.chance
    rows = [{"role": chance.choice(["user", "assistant"]), "content": f"Line {n}", "id": f"r{n}"} for n in range(5)]
    own = place.new(".db")
    filled(own)
    with opened(own) as memory:
        memory.export(export := place.new(".jsonl"))
    made: list[tuple[str, str, Any]] = [
        (
            "conversations.json",
            "chatgpt",
            [shapes.chatgpt_conversation(), shapes.chatgpt_conversation(conversation_id="b")],
        ),
        ("conversations.json", "claude", [shapes.claude_conversation()]),
        ("x.json", "locomo", [shapes.locomo_sample()]),
        ("x.json", "beam", [shapes.beam_batch()]),
        ("x.jsonl", "jsonl", rows),
        (
            "x.json",
            "mem0",
            {"results": [{"id": "1", "memory": "Likes tea", "user_id": "a", "created_at": "2026-01-02"}]},
        ),
        ("export.jsonl", "auto", [json.loads(line) for line in export.read_text().splitlines()]),
    ]
    return [
        (name, kind, _bytes(name, changed(value, chance) if chance.random() < 0.8 else value))
        for name, kind, value in made
    ]


def _bytes(name: str, value: Any) -> bytes:  # noqa: ANN401 - JSON
    if name.endswith(".jsonl") and isinstance(value, list):
        return "".join(json.dumps(row) + "\n" for row in value).encode()
    return json.dumps(value).encode()


def imports(place: Place) -> int:
    """Damaged exports of every format, plain and in archives; then the store works, and what was in it is there."""
    chance, done = place.chance, 0
    samples = _samples(place)
    with opened(place.store()) as memory:
        memory.add("Alice owns the deploy pipeline")
        memory.add_message(Message("user", "The database is Postgres."), "monday")
        kept = everything(memory)
        for _ in place.times(40):
            name, kind, data = chance.choice(samples)
            data = spoiled(data, chance) if chance.random() < 0.5 else data
            path = _file(place, name, data)
            with suppress(SlowwaveError):
                memory.import_(path, chance.choice(["auto", kind]), dry_run=chance.random() < 0.2)
            done += 1
        for pipe in _pipes(place):
            with suppress(SlowwaveError):
                memory.import_(pipe)
                raise AssertionError(f"{pipe} was imported")
        there = everything(memory)
        assert all(there[one].text == memory_.text for one, memory_ in kept.items())
        claimed = [one for one in there.values() if one.id not in kept and trusted(one.trust, "user")]
        assert claimed == [], f"an import is trusted like the user: {claimed[:3]}"
        _works(memory, place)
    return done


def _works(memory: AgentMemory, place: Place) -> None:
    for verb in ("search", "context", "runs", "conversations", "consolidate", "sleep", "plot", "health"):
        VERBS[verb](memory)
    vault = place.new()
    memory.export_vault(vault)
    taken = memory.sync_vault(vault)
    assert (taken.added, taken.updated) == ((), ()), "a page says what the store does not hold"
    memory.export(place.new(".jsonl"))
    sound(memory)


def _file(place: Place, name: str, data: bytes) -> Path:
    folder = place.new()
    folder.mkdir()
    path = folder / name
    if place.chance.random() < 0.7:
        path.write_bytes(data)
        return path
    archive = folder / "export.zip"
    method = place.chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(archive, "w", method) as made:
        for member in {name, place.chance.choice(["../../evil.jsonl", "/etc/x.json", "a" * 200 + ".json", name])}:
            made.writestr(member, data)
        for n in range(place.chance.choice([0, 0, 300])):
            made.writestr(f"{n}.txt", b"")
    if place.chance.random() < 0.4:
        archive.write_bytes(spoiled(archive.read_bytes(), place.chance))
    return archive


def _pipes(place: Place) -> list[Path]:
    pipe = place.new(".jsonl")
    os.mkfifo(pipe)
    loop = place.new(".json")
    loop.symlink_to(loop)
    return [pipe, loop, Path("/dev/zero"), place.folder / "nowhere.json"]


def vaults(place: Place) -> int:
    """Vaults whose pages, baseline and settings were changed by anything; the store works afterwards."""
    chance, done = place.chance, 0
    data = filled(origin := place.new(".db"))
    with opened(origin) as memory:
        memory.export_vault(whole := place.new())
    for _ in place.times(20):
        store = place.new(".db")
        store.write_bytes(data)
        shutil.copytree(whole, folder := place.new())
        pages = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        for page in chance.sample(pages, chance.randrange(1, 4)):
            _hostile_page(page, chance)
        with opened(store) as memory:
            kept = {one.id for one in everything(memory).values()}
            for verb in chance.sample([memory.import_vault, memory.sync_vault, memory.export_vault], 3):
                with suppress(SlowwaveError):
                    verb(folder)
            with suppress(SlowwaveError):
                settings.read({"SLOWWAVE_VAULT": str(folder)})
            assert kept <= everything(memory).keys()
            memory.sleep()
            sound(memory)
        done += 1
    return done


def _hostile_page(page: Path, chance: Random) -> None:
    text = page.read_bytes()
    match chance.randrange(6):
        case 0:
            page.unlink()
            os.mkfifo(page)
        case 1:
            page.unlink()
            page.symlink_to("/dev/zero")
        case 2 if page.suffix == ".json":
            with suppress(ValueError):
                page.write_text(json.dumps(changed(json.loads(text), chance)))
        case 3:
            line = chance.choice(
                [b"- Bob has a dog", b"---", b"category: " + b"[" * 9000, b" " * 60_000, b"- ^x", b"# Facts"]
            )
            lines_ = text.split(b"\n")
            lines_.insert(chance.randrange(len(lines_) + 1), line)
            page.write_bytes(b"\n".join(lines_))
        case _:
            page.write_bytes(spoiled(text, chance))


def configuration(place: Place) -> int:
    """Settings files and plan files with anything in them."""
    chance, done = place.chance, 0
    written = b'[slowwave]\nstore = "a.db"\nllm = "none"\nembedder = "static"\nhot_messages_max = 7\n[slowwave.category_ttl_days]\nperson = 3\n'
    with opened(place.new(".db")) as memory:
        memory.add("Alice owns the deploy pipeline", category="session_state")
        memory.save_plan(memory.sleep(dry_run=True).plan, saved := place.new(".json"))
        plan = saved.read_bytes()
        for _ in place.times(60):
            path = place.new(".toml")
            path.write_bytes(spoiled(written, chance))
            with suppress(SlowwaveError):
                settings.read({"SLOWWAVE_CONFIG": str(path), "HOME": str(place.folder)})
            path = place.new(".json")
            path.write_bytes(
                spoiled(plan, chance) if chance.random() < 0.5 else _bytes("", changed(json.loads(plan), chance))
            )
            with suppress(SlowwaveError):
                memory.apply(memory.load_plan(path))
            done += 2
        _works(memory, place)
    return done


def damaged(place: Place) -> int:
    """Stores with flipped bits, holes and truncations, also in the log: every verb ends, and only errors of the library leave it."""
    chance, bad = place.chance, place.new(".db")
    data = filled(place.new(".db"))
    # Half of the bits are flipped in the lines of the tables, where a decoder meets them before SQLite does.
    places = [at for at, byte in enumerate(data) if byte in b'{}[]":,']
    for done in place.times(40):  # noqa: B007 - counted
        remove_store(bad)
        broken = bytearray(data)
        if chance.random() < 0.5:
            broken[chance.choice(places)] ^= 1 << chance.randrange(8)
            bad.write_bytes(broken)
        else:
            bad.write_bytes(spoiled(data, chance))
        if chance.random() < 0.2:
            Path(f"{bad}-wal").write_bytes(chance.randbytes(5000))
        wrong = every_verb(bad)
        assert wrong == [], wrong
    return done + 1


def every_verb(path: Path, verbs: Mapping[str, Verb] = VERBS) -> list[str]:
    """Use every verb on a store. Returns the exceptions that are no errors of the library."""
    try:
        memory = opened(path)
    except SlowwaveError:
        return []
    wrong = []
    for name, verb in verbs.items():
        try:
            verb(memory)
        except SlowwaveError:
            continue
        except Exception as error:  # noqa: BLE001 - what is counted
            wrong.append(f"{name}: {type(error).__name__} {error}")
    with suppress(StoreError):
        memory.close()
    return wrong


def foreign(place: Place) -> int:
    """Files of other programs under the name of a store: refused, and not changed."""
    chance = place.chance
    for done in place.times(30):  # noqa: B007 - counted
        path = place.new(".db")
        mode = chance.choice(["DELETE", "TRUNCATE", "PERSIST", "WAL"])
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id = {chance.choice([0, 7, 2**31 - 1])}")
            db.execute(f"PRAGMA user_version = {chance.choice([0, 1, 7, 99])}")
            db.execute(f"PRAGMA journal_mode = {mode}")
            db.execute(f"CREATE TABLE {chance.choice(['songs', 'memories', 'runs', 'scopes'])} (title TEXT)")
            db.execute("CREATE TABLE other AS SELECT 1 AS x")
        if chance.random() < 0.3:
            remove_store(path)
            path.write_bytes(chance.randbytes(5000))
        before = path.read_bytes()
        try:
            opened(path).close()
        except SlowwaveError:
            assert path.read_bytes() == before, f"{mode}: a refused file was changed"
        else:
            raise AssertionError(f"{mode}: a file of another program was opened as a store")
    return done + 1
