"""Exports in the forms of other programs, and what they give when they are imported again."""

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave import AgentMemory, InputError, Slowwave
from slowwave.testing import FrozenClock

Write = Callable[..., Path]
NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROWS = [
    {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Likes to play cricket on weekends",
        "user_id": "alex",
        "agent_id": "coach",
        "metadata": {"source": "chat"},
        "categories": ["hobbies"],
        "created_at": "2024-07-01T01:30:36.275141-07:00",
        "updated_at": None,
        "expiration_date": "2027-01-01",
    },
    {
        "id": "b0d0c8e2-6a3f-4a37-9a3c-51c4d1c1a111",
        "memory": "Moved to Bern",
        "user_id": "alex",
        "created_at": "2024-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
    },
]


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", scope="bot/ada", llm=None, embedder=None, clock=FrozenClock(NOW)) as opened:
        yield opened


def exported(memory: AgentMemory, format: str, **options: object) -> str:  # noqa: A002 - as there
    stream = io.StringIO()
    memory.export(stream, format, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def facts(memory: AgentMemory) -> list[tuple[object, ...]]:
    found = memory.get_all(order="recorded")
    return sorted(
        (one.text, one.category, one.subject, one.valid_from, one.expires_at, *one.metadata.items()) for one in found
    )


def test_an_export_in_the_form_of_mem0_is_imported_with_the_same_texts_users_and_times(
    written: Write, memory: AgentMemory, tmp_path: Path
) -> None:
    memory.import_(written({"results": ROWS}, "mem0.json"))
    path = tmp_path / "again.json"
    assert memory.export(path, "mem0") == 2
    rows = {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8"))["results"]}
    assert rows.keys() == {row["id"] for row in ROWS}
    first = rows[ROWS[0]["id"]]
    assert (first["user_id"], first["agent_id"], first["run_id"]) == ("alex", "coach", None)
    assert (first["memory"], first["categories"], first["metadata"]) == (
        ROWS[0]["memory"],
        ["hobbies"],
        {"source": "chat"},
    )
    assert datetime.fromisoformat(first["created_at"]) == datetime.fromisoformat(str(ROWS[0]["created_at"]))
    assert first["expiration_date"] == "2027-01-01"
    with AgentMemory.open(":memory:", llm=None, embedder=None, clock=FrozenClock(NOW)) as other:
        assert other.import_(path, user="alex").facts == 2
        assert facts(other) == facts(memory)
        assert other.import_(path).facts == 0


def test_facts_of_slowwave_get_the_user_of_their_scope_or_the_named_one(memory: AgentMemory) -> None:
    memory.add("Ada keeps bees", category="person")
    memory.add("Ada has a boat", expires_at=datetime(2027, 1, 1, 12, tzinfo=UTC))
    memory.note("list", "milk")
    memory.add_messages([{"role": "user", "content": "Hello."}])
    rows = json.loads(exported(memory, "mem0"))["results"]
    assert [row["memory"] for row in rows] == ["Ada keeps bees", "Ada has a boat"]
    assert {row["user_id"] for row in rows} == {"ada"}
    assert rows[1]["expiration_date"] == "2027-01-01T12:00:00+00:00"
    assert {row["user_id"] for row in json.loads(exported(memory, "mem0", user="bo"))["results"]} == {"bo"}


def test_entities_in_a_scope_of_the_interface_of_mem0_are_exported(tmp_path: Path) -> None:
    with Slowwave.open(tmp_path / "a.db", llm=None, embedder=None) as store:
        memory = store.within("acme", "mem0", "user.al/ice", "run.7")
        memory.add("Likes tea")
        (row,) = json.loads(exported(memory, "mem0"))["results"]
    assert (row["user_id"], row["run_id"], row["agent_id"]) == ("al/ice", "7", None)


def test_retracted_and_archived_facts_are_not_in_the_form_of_mem0(memory: AgentMemory) -> None:
    receipt = memory.add("Ada keeps bees")
    memory.delete(receipt.ids[0])
    assert json.loads(exported(memory, "mem0")) == {"results": []}


def test_a_page_of_markdown_has_facts_notes_and_conversations(memory: AgentMemory, tmp_path: Path) -> None:
    memory.add("Ada keeps bees", category="person", at=datetime(2025, 5, 4, tzinfo=UTC))
    memory.note("list", "milk\n# not a heading", folder="home")
    memory.note("data", data={"a": 1})
    at = datetime(2025, 5, 4, 9, 30, tzinfo=UTC)
    memory.add_messages([{"role": "user", "content": "# Hm\n\nHello.", "speaker": "Ada", "at": at}], "talk")
    memory.set_title("talk", "First talk")
    path = tmp_path / "memory.md"
    assert memory.export(path, "markdown") == 4
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("#")] == [
        "# Facts",
        "## person",
        "# Notes",
        "## data",
        "## home/list",
        "# First talk",
    ]
    assert "- Ada keeps bees (2025-05-04)" in lines
    assert lines[-6:] == ["**user (Ada)**, 2025-05-04 09:30", "", "> # Hm", ">", "> Hello.", ""]
    assert path.stat().st_mode & 0o777 == 0o600
    with AgentMemory.open(":memory:", llm=None, embedder=None) as other:
        assert other.import_(path).messages > 0
        assert other.conversations()[0].title == "Memory of bot/ada"


def test_an_empty_scope_is_exported_in_every_format(memory: AgentMemory, tmp_path: Path) -> None:
    assert [memory.export(tmp_path / name, name) for name in ("jsonl", "mem0", "markdown")] == [0, 0, 0]


@pytest.mark.parametrize(("format", "user"), [("xml", None), ("", None), ("markdown", "ada"), ("jsonl", "ada")])
def test_an_unknown_format_and_a_user_without_use_are_refused_before_a_file_is_written(
    memory: AgentMemory,
    tmp_path: Path,
    format: str,  # noqa: A002 - as there
    user: str | None,
) -> None:
    with pytest.raises(InputError, match="mem0"):
        memory.export(tmp_path / "x", format, user=user)
    assert not list(tmp_path.iterdir())


def test_the_own_form_is_unchanged_and_trusted(memory: AgentMemory, tmp_path: Path) -> None:
    memory.add("Ada keeps bees")
    path = tmp_path / "all.jsonl"
    memory.export(path)
    first = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
    assert (first["slowwave"], first["version"], first["scope"]) == ("export", 1, "bot/ada")
    assert memory.import_(path).unproven == 0
