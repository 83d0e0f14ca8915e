"""What was acknowledged reads back equal, and so do its copies in the other backend and its export."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.arguments.odd_values import MAKERS

from slowwave import AgentMemory, Message
from slowwave.composition import copy_store
from slowwave.errors import InputError
from slowwave.model.plain_text import PLACE_BYTES, clean
from slowwave.testing import FrozenClock
from slowwave.testing.postgres import PostgresServer

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
LONG = 10_000
"""Longer texts are left out, because the suite must stay fast."""
KINDS = ["message", "episodic", "semantic", "procedural", "note", "summary"]
PHASES = ["quarantined", "active", "core", "cold", "superseded", "retracted"]
ODD = tuple(value for make in MAKERS.values() if isinstance(value := make(), str) and len(value) < LONG)


def odd_writes() -> list[tuple[str, dict[str, Any], str]]:
    """Messages, notes and facts with each of the texts in every place that takes a text."""
    return [
        each
        for place, text in enumerate(ODD)
        for each in (
            ("message", {"role": "user", "content": text, "speaker": text, "metadata": {"a": text}}, text),
            ("message", {"role": "tool", "content": f"{place} {text}", "id": text}, "one"),
            ("message", {"role": "user", "content": f"Both {place}", "id": text}, text),
            ("note", {"name": text, "text": text, "data": {text: [text]}, "folder": text}, ""),
            ("fact", {"text": f"{text} {place}", "category": text, "subject": text, "id": text}, ""),
            ("fact", {"text": f"Bob owns cache {place} {text}", "metadata": {"a": text}}, ""),
        )
    ]


def write(memory: AgentMemory, given_writes: list[tuple[str, dict[str, Any], str]]) -> None:
    """Store what is accepted, and read each acknowledged value back."""
    for kind, values, name in given_writes:
        try:
            if kind == "message":
                memory.add_message(Message(**values), name)
                last = memory.messages(name)[-1] if values["role"] != "tool" else None
                if last is not None and values.get("id") is None and not memory.review():
                    assert last.content == clean(values["content"])
            elif kind == "note":
                memory.note(**values)
                read = memory.read_note(values["name"], folder=values.get("folder", ""))
                assert read is not None
                assert read.text == clean(values.get("text", "")).strip() or read.text == clean(values.get("text", ""))
            else:
                receipt = memory.add(**values)
                for outcome in receipt.outcomes:
                    if outcome.memory_id is not None:
                        assert memory.get(outcome.memory_id).text == outcome.text or outcome.operation != "ADD"
        except InputError:
            continue


def everything(memory: AgentMemory) -> Mapping[str, Any]:
    found = memory.get_all(kinds=KINDS, phases=PHASES)
    return {one.id: one for one in found}


def opened(where: str | Path) -> AgentMemory:
    return AgentMemory.open(where, scope="keeper", llm=None, embedder="none", clock=FrozenClock(START))


def exported(memory: AgentMemory, folder: Path) -> list[tuple[Any, ...]]:
    """The records of an import of this memory's export into an empty store."""
    memory.export(folder / "e.jsonl", overwrite=True)
    for end in ("", "-wal", "-shm"):
        (folder / f"import.db{end}").unlink(missing_ok=True)
    with opened(folder / "import.db") as other:
        report = other.import_(folder / "e.jsonl", trust_export=True)
        assert report.broken == ()
        return said(other)


def said(memory: AgentMemory) -> list[tuple[Any, ...]]:
    """Without names: an import replaces control characters in them."""
    return sorted(
        (one.kind, one.text, str(one.metadata), str(one.data))
        for one in everything(memory).values()
        if one.phase in {"active", "core"}
    )


def test_a_place_as_long_as_is_accepted_fits_the_indexes_of_both_stores(own: str, tmp_path: Path) -> None:
    wide = MAKERS["512 characters that do not compress"]()
    longest = wide[: (PLACE_BYTES - len(wide.encode())) // 4]
    for address in (own, tmp_path / "a.db"):
        with opened(address) as memory:
            memory.add_message(Message("user", "I live in Bern.", id=longest), wide)
            memory.note(longest, "tea", folder=wide)
            for call in (
                lambda: memory.add_message(Message("user", "I live in Rome.", id=wide[:400]), wide),
                lambda: memory.note(wide[:400], "tea", folder=wide),
            ):
                with pytest.raises(InputError, match="more than 2,600: use shorter ones"):
                    call()
            assert [one.content for one in memory.messages(wide)] == ["I live in Bern."]
            assert memory.doctor(deep=True) == []


def test_what_was_acknowledged_reads_back_exports_and_imports(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        write(memory, odd_writes())
        kept = everything(memory)
        assert exported(memory, tmp_path) == said(memory)
    with opened(tmp_path / "a.db") as memory:
        assert everything(memory) == kept
        assert memory.doctor(deep=True) == []


def test_what_was_acknowledged_is_copied_to_the_other_backend_and_back(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with opened(tmp_path / "a.db") as memory:
        write(memory, odd_writes())
        kept = everything(memory)
    assert len(kept) > 3 * len(ODD)
    there = postgres.database()
    copy_store(str(tmp_path / "a.db"), there)
    with opened(there) as memory:
        assert everything(memory) == kept
        assert memory.doctor(deep=True) == []
    copy_store(there, str(tmp_path / "b.db"))
    with opened(tmp_path / "b.db") as memory:
        assert {one: replace(memory) for one, memory in everything(memory).items()} == kept
