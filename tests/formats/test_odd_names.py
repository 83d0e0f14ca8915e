"""Names that no store keeps: the line that holds one is skipped and reported, and the import goes on."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import World

GOOD = '{"role": "user", "content": "Alice owns the deploy pipeline", "conversation": "monday"}'
LAST = '{"role": "user", "content": "The database is Postgres", "conversation": "tuesday"}'


@pytest.mark.parametrize(
    "line",
    [
        r'{"role": "user", "content": "Hello", "conversation": "a\ud800"}',
        r'{"role": "user", "content": "Hello", "conversation": "a\u0000b"}',
        r'{"role": "user", "content": "Hello", "speaker": "a\ud800"}',
        r'{"role": "user", "content": "Hello", "id": "a\udfff"}',
        r'{"fact": "Bob owns the cache", "category": "a\ud800"}',
        r'{"fact": "Bob owns the cache", "subject": "a\u0000b"}',
        r'{"conversation": "a\ud800", "messages": [{"role": "user", "content": "Hello"}]}',
    ],
)
def test_a_line_with_such_a_name_is_skipped_and_the_import_goes_on(world: "World", tmp_path: Path, line: str) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(f"{GOOD}\n{line}\n{LAST}\n", encoding="utf-8")
    memory = world.open(llm=None)
    done = memory.import_(file)
    assert [one.where.partition(",")[0] for one in done.examples] == ["line 2"]
    assert "NUL or a lone surrogate" in done.examples[0].why
    assert (done.messages, done.facts) == (2, 0)
    assert {one.name for one in memory.ports.store.conversations("t")} == {"monday", "tuesday"}


def test_a_record_of_an_export_with_such_a_name_is_skipped_and_the_import_goes_on(
    world: "World", tmp_path: Path
) -> None:
    memory = world.open(llm=None)
    memory.add("Alice owns the deploy pipeline", category="person")
    memory.add("The database is Postgres", category="project")
    memory.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").replace('"person"', r'"per\ud800son"')
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    other = world.open(scope="t/other", llm=None)
    done = other.import_(tmp_path / "in.jsonl")
    assert [fact.text for fact in other.get_all()] == ["The database is Postgres"]
    assert "NUL or a lone surrogate" in done.examples[0].why
