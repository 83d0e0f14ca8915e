"""What Slowwave promises through its public API holds on Postgres as it does on SQLite, to a point."""

import json
import os
import runpy
from pathlib import Path
from typing import Any

import psycopg
import pytest

from slowwave.stores.postgres.errors import translated
from slowwave.testing.postgres import PostgresServer

BENCH = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "postgres_checks.py"))
CHECKS = os.environ.get("SLOWWAVE_CHECKS")
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("retrieval", "forgetting", "duplicates", "updates")]


@pytest.mark.skipif(not CHECKS, reason="SLOWWAVE_CHECKS names no folder with programs that check Slowwave from outside")
@pytest.mark.parametrize("name", ["sources", *LONG])
def test_what_a_program_finds_on_sqlite_it_finds_on_postgres(postgres: PostgresServer, name: str) -> None:
    program = Path(str(CHECKS)) / f"{name}.py"
    ours: dict[str, Any] = BENCH["printed"](program, [])
    with BENCH["in_postgres"](postgres):
        theirs = BENCH["printed"](program, [])
    assert [*BENCH["differences"](ours, theirs)] == [], json.dumps(theirs)


def test_a_program_is_run_as_it_is_with_its_stores_in_postgres(postgres: PostgresServer, tmp_path: Path) -> None:
    program = tmp_path / "kept.py"
    program.write_text(
        "from slowwave import AgentMemory\n"
        "for turn in range(2):\n"
        "    with AgentMemory.open('kept.db', scope='judge', embedder='none') as memory:\n"
        "        memory.add(f'Alice owns {turn + 1} boats')\n"
        "        texts = sorted(one.text for one in memory.get_all())\n"
        '        print(\'{"facts": %d, "store": "%s"}\' % (len(texts), type(memory.ports.store).__name__))\n'
    )
    with BENCH["in_postgres"](postgres):
        assert BENCH["printed"](program, []) == {"facts": 2, "store": "PostgresStore"}
    assert not (Path.cwd() / "kept.db").exists()


def test_figures_may_be_a_point_apart_and_counts_may_not() -> None:
    ours = {"R@10": 84.3, "questions": 383, "ms_p50": 1.3, "half": {"hot": 80.0}}
    assert [*BENCH["differences"](ours, {**ours, "R@10": 83.5, "ms_p50": 5.0})] == []
    found = BENCH["differences"](ours, {**ours, "questions": 382, "half": {"hot": 78.0}})
    assert [*found] == ["questions: 383 and 382", "half.hot: 80.0 and 78.0"]


def test_an_error_of_the_server_does_not_quote_a_row(own: str) -> None:
    with psycopg.connect(own) as db:
        db.execute("CREATE TEMPORARY TABLE words (word text UNIQUE)")
        with pytest.raises(psycopg.Error) as failed:
            db.execute("INSERT INTO words VALUES ('quokka'), ('quokka')")
    assert "quokka" in str(failed.value)
    said = str(translated(failed.value, "the store"))
    assert "unique" in said
    assert "quokka" not in said
