"""What code needs of the reasons of a run is stored in columns, and filled in where an older version stored only words."""

import ast
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.conftest import START

import slowwave
from slowwave import AgentMemory, Config
from slowwave.model.plan import Run
from slowwave.stores.backfill import fill_reasons
from slowwave.stores.sql import named_statements
from slowwave.testing import FrozenClock
from slowwave.testing.postgres import PostgresServer

DATA = Path(__file__).parent / "data"
"""A store of each backend, written by the last version without these columns."""


@pytest.fixture
def old_sqlite(tmp_path: Path) -> str:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((DATA / "schema_2.db.gz").read_bytes()))
    return str(path)


@pytest.fixture
def old_postgres(postgres: PostgresServer) -> str:
    address = postgres.database()
    with psycopg.connect(address) as db:
        db.execute("CREATE EXTENSION vector")
        db.execute(gzip.decompress((DATA / "schema_5.sql.gz").read_bytes()))
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def migrated(request: pytest.FixtureRequest) -> Iterator[AgentMemory]:
    """An old store, opened by this version."""
    clock = FrozenClock(START.replace(year=2028))
    where = request.getfixturevalue(f"old_{request.param}")
    with AgentMemory.open(where, scope="t", llm=None, embedder=None, clock=clock, config=Config()) as memory:
        yield memory


def by_words(memory: AgentMemory) -> dict[str, Run]:
    return {run.plan.groups[0].because: run for run in memory.runs(None, parts="all") if run.plan.groups}


def test_a_store_without_the_columns_is_migrated_whole(migrated: AgentMemory) -> None:
    assert migrated.doctor(deep=True) == []


def test_the_conversation_of_each_old_reason_is_filled_in(migrated: AgentMemory) -> None:
    named = {
        words.rpartition(": ")[2]: run.plan.groups[0].conversations
        for words, run in by_words(migrated).items()
        if run.plan.groups[0].conversations
    }
    assert {words: names for words, names in named.items() if " of talk" not in words} == {
        "3 messages of mail of 20": ("mail of 20",),
        "2 messages of 20": ("20",),
        "a message of one line": ("one line",),
        "messages 1 to 2 of 20 were distilled": ("20",),
    }
    of_talk = [names for words, names in named.items() if " of talk" in words]
    assert of_talk == [("talk",)] * 9


def test_the_run_that_each_old_undo_took_back_is_filled_in(migrated: AgentMemory) -> None:
    undos = [run for run in reversed(migrated.runs(None, parts="all")) if run.cause == "undo"]
    runs = by_words(migrated)
    stated = runs["User lives in Porto"]
    assert [run.undoes for run in undos] == [runs["3 messages of mail of 20"].id, stated.id, undos[1].id]
    assert all(run.undoes is None for run in migrated.runs(None, parts="all") if run.cause != "undo")


def test_an_erase_in_a_migrated_store_blanks_the_reasons_of_its_conversation_and_no_others(
    migrated: AgentMemory,
) -> None:
    runs = by_words(migrated)
    blanked = {"2 messages of 20", "messages 1 to 2 of 20 were distilled"}
    migrated.erase(conversation="20")
    now = {run.id: run.plan.groups[0].because for run in migrated.runs(None, parts="all") if run.plan.groups}
    assert {words: now[run.id] for words, run in runs.items()} == {
        words: "erased" if words in blanked else words for words in runs
    }
    assert migrated.undo(runs["3 messages of mail of 20"].id)[0].applied == ()
    assert migrated.doctor(deep=True) == []


def filled(*runs: tuple[str, str], names: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
    """What is filled in for runs with these causes and reasons, as JSON, in a scope with these conversations."""
    changes: list[tuple[object, ...]] = []

    def execute(statement: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
        if statement.startswith("UPDATE"):
            changes.append(tuple(values[:2]))
            return []
        if "conversations" in statement:
            return [(name,) for name in names]
        rows = [(key, 1, cause, because) for key, (cause, because) in enumerate(runs)]
        return [row for row in rows if row[0] > int(str(values[0]))]

    fill_reasons(execute)
    return changes


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("3 messages of a", "a"),
        ("1,204 messages of a, less 3 used or changed meanwhile", "a"),
        ("released messages 3, 5 of a were distilled", "a"),
        ("characters 1 to 5,000 of message 3 of a were distilled", "a"),
        ("characters 1 to 5,000 of message 3 of a: the model is down", "a"),
        ("2 eras of a written at last", "a"),
        ("messages 1 to 4 of a of b in fewer words", "a of b"),
        ("undo of x: undo of y: 3 messages of a of b", "a of b"),
        ("a message of nothing that is known", ""),
        ("The owner of a has left", "a"),
    ],
)
def test_each_old_wording_that_names_a_conversation_is_read(words: str, named: str) -> None:
    expected = [(None, f'[{{"conversations":["{named}"]}}]')] if named else []
    assert filled(("observe", f'["{words}"]'), names=("a", "b", "a of b", "message 3")) == expected


def test_old_groups_that_were_split_are_counted_as_one() -> None:
    runs = [("sleep/fade", '["500 faded","7 faded","erased"]'), ("sleep/fade", '["7 faded"]'), ("add", '["7 a","8 b"]')]
    assert filled(*runs) == [(None, '[{"count_of":"faded"},{"count_of":"faded"},{}]')]


def test_the_undone_run_is_read_of_undos_only() -> None:
    runs = [("undo", '["erased","undo of r1: a"]'), ("add", '["undo of r1: a"]'), ("undo", '["erased"]')]
    assert filled(*runs) == [("r1", "[]")]


READS = {
    "startswith",
    "endswith",
    "partition",
    "rpartition",
    "split",
    "find",
    "index",
    "replace",
    "removeprefix",
    "match",
}


def reads_words(node: ast.AST) -> bool:
    """Whether an expression decides by the words of a reason."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr, value=value), args=args):
            return attr in READS and any(is_reason(one) for one in (value, *args))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            words = not all(isinstance(one, ast.Is | ast.IsNot) for one in ops)
            return words and any(is_reason(one) for one in (left, *comparators))
        case _:
            return False


def is_reason(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in {"because", "skipped_reason"}


def test_no_code_but_the_fill_of_older_stores_reads_the_words_of_a_reason() -> None:
    package = Path(slowwave.__file__).parent
    found = [
        f"{file.relative_to(package)}:{node.lineno}"
        for file in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.expr) and reads_words(node)
    ]
    assert [place for place in found if not place.startswith("stores/backfill.py:")] == []


def test_no_statement_compares_the_words_of_a_reason_with_others() -> None:
    texts = [
        (name, body.text) for backend in ("sqlite", "postgres") for name, body in named_statements(backend).items()
    ]
    assert [name for name, text in texts if re.search(r"because (NOT )?(IN|LIKE|=|<>) *\(?'", text)] == []
