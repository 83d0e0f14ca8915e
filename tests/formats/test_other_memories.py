"""What other memory systems kept: their facts come in with their own times, and meet what is known as any fact does."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory
from slowwave.formats import read
from slowwave.model.exchange import ImportedFact, ImportedMessage, Item, SkippedItem
from slowwave.testing import FrozenClock, ScriptedLLM

Write = Callable[..., Path]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def mem0_row(**changes: object) -> dict[str, Any]:
    row = {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Likes to play cricket on weekends",
        "user_id": "alex",
        "hash": "285d07801ae42054732314853e9eadd7",
        "metadata": {"category": "preference", "source": "chat", "deep": {"x": 1}},
        "created_at": "2024-07-01T01:30:36.275141-07:00",
        "updated_at": None,
    }
    return row | changes


def agent_file(**changes: object) -> dict[str, Any]:
    envelope = json.dumps({"type": "user_message", "message": "Book me a table.", "time": "2025-05-01T10:00:00Z"})
    sent = {"function": {"name": "send_message", "arguments": json.dumps({"message": "For how many?"})}}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "You are Sam."}]},
        {"id": "message-1", "role": "user", "content": envelope, "created_at": "2025-05-01T10:00:01Z"},
        {"role": "assistant", "content": [{"type": "text", "text": "thinking"}], "tool_calls": [sent]},
        {"role": "tool", "content": '{"status": "OK"}', "tool_call_id": "1"},
        {"role": "user", "content": json.dumps({"type": "heartbeat", "reason": "tick"})},
        {"role": "user", "content": [{"type": "text", "text": "Four."}], "created_at": "2025-05-01T10:01:00Z"},
        "torn",
    ]
    whole = {
        "agents": [{"name": "sam", "messages": messages, "block_ids": ["block-0"]}, 7],
        "blocks": [
            {"id": "block-0", "label": "human", "value": "# Notes\n- Her name is Ada.\n\n- Vegetarian since 2019\n---"},
            {"id": "block-1", "label": "persona", "value": None},
        ],
        "files": [],
        "tools": [],
    }
    return whole | changes


def facts(items: list[Item]) -> list[str]:
    return [item.fact.text for item in items if isinstance(item, ImportedFact)]


def test_a_memory_of_mem0_keeps_its_owner_times_and_names(written: Write) -> None:
    (item,) = read(written({"results": [mem0_row()]}))
    assert isinstance(item, ImportedFact)
    fact = item.fact
    assert fact.text == "Likes to play cricket on weekends"
    # The trust that the file claims: an import lowers it unless a person vouches for the file.
    assert (fact.subject, fact.category, fact.trust) == ("alex", "preference", "user")
    assert fact.valid_from == datetime(2024, 7, 1, 8, 30, 36, 275141, tzinfo=UTC)
    assert fact.metadata["mem0_id"] == mem0_row()["id"]
    assert (fact.metadata["source"], "deep" in fact.metadata) == ("chat", False)


def test_update_time_category_list_and_expiry_of_mem0_are_imported(written: Write) -> None:
    row = mem0_row(updated_at="2024-08-01T00:00:00Z", categories=["hobbies"], expiration_date="2026-12-31")
    (item,) = read(written([row]))
    assert isinstance(item, ImportedFact)
    assert item.fact.valid_from == datetime(2024, 8, 1, tzinfo=UTC)
    assert item.fact.expires_at == datetime(2026, 12, 31, tzinfo=UTC)
    assert item.fact.category == "hobbies"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"results": [mem0_row()], "relations": []}, "a.json"),
        ({"memories": [mem0_row()]}, "a.json"),
        ([mem0_row(), mem0_row(memory="Has two cats")], "a.json"),
        ("\n".join(json.dumps(mem0_row(memory=text)) for text in ("One thing", "Another thing")), "a.jsonl"),
        (
            [{"id": 7, "payload": {"data": "Likes to play cricket", "hash": "x", "user_id": "alex"}, "vector": []}],
            "q.json",
        ),
    ],
)
def test_every_form_of_a_mem0_export_is_detected(written: Write, value: object, name: str) -> None:
    items = list(read(written(value, name)))
    assert items
    assert all(isinstance(item, ImportedFact) and item.fact.subject == "alex" for item in items)


def test_an_element_without_a_memory_is_skipped_with_its_reason(written: Write) -> None:
    rows = [mem0_row(), mem0_row(memory=" "), mem0_row(memory=3), "torn", mem0_row(memory="x" * 200_000)]
    items = list(read(written({"results": rows, "relations": [{"source": "alex"}]}), "mem0"))
    assert len(facts(items)) == 1
    skipped = [item for item in items if isinstance(item, SkippedItem)]
    assert [item.where for item in skipped] == ["memory 2", "memory 3", "memory 4", "memory 5", "relations"]


def test_an_agent_file_yields_facts_and_messages(written: Write) -> None:
    items = list(read(written(agent_file(), "sam.af")))
    assert facts(items) == ["Her name is Ada.", "Vegetarian since 2019"]
    said = [
        (item.conversation, item.message.role, item.message.content)
        for item in items
        if isinstance(item, ImportedMessage)
    ]
    assert said == [
        ("sam", "user", "Book me a table."),
        ("sam", "assistant", "For how many?"),
        ("sam", "user", "Four."),
    ]
    stated = next(item for item in items if isinstance(item, ImportedFact))
    assert (stated.fact.category, stated.fact.metadata["letta_block"]) == ("person", "human")
    reasons = [item.why for item in items if isinstance(item, SkippedItem)]
    assert len(reasons) == 6
    assert sum("not part of the conversation" in why for why in reasons) == 3


def test_archival_passages_keep_their_times_and_file_passages_are_skipped(written: Write) -> None:
    passages = [
        {
            "id": "passage-1",
            "text": "Ada moved to Bern.",
            "created_at": "2025-01-02T03:04:05Z",
            "tags": ["person"],
            "metadata": {"by": "sam"},
            "archive_id": "archive-1",
            "embedding": None,
        },
        {"text": "page 3 of the manual", "file_name": "manual.pdf", "embedding": None},
        {"text": "taken back", "is_deleted": True},
        {"text": None, "archive_id": "archive-1", "value": None, "label": "x"},
    ]
    first, *others = read(written(passages, "archive.json"))
    assert isinstance(first, ImportedFact)
    assert first.fact.valid_from == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert first.fact.category == "person"
    assert first.fact.metadata == {"by": "sam", "letta_id": "passage-1"}
    assert [type(item) for item in others] == [SkippedItem] * 3


def test_older_agent_files_contain_a_single_agent(written: Write) -> None:
    old = {
        "name": "sam",
        "core_memory": [{"label": "human", "value": "Ada is a vegetarian."}, 3],
        "archival_memory": [{"text": "Ada moved to Bern."}],
        "messages": [
            {"role": "user", "text": "Hello there."},
            {"role": "assistant", "tool_calls": [3, {"function": 1}]},
        ],
    }
    items = list(read(written(old, "sam.af")))
    assert sorted(facts(items)) == ["Ada is a vegetarian.", "Ada moved to Bern."]
    assert [item.message.content for item in items if isinstance(item, ImportedMessage)] == ["Hello there."]


def test_an_element_of_another_shape_is_skipped(written: Write) -> None:
    (item,) = read(written([{"nothing": 1}], "x.json"), "letta")
    assert isinstance(item, SkippedItem)


MOVED = {"fact": 1, "op": "UPDATE", "memory": 1, "relation": "contradictory", "because": "moved"}


def test_imported_facts_are_reconciled_with_their_own_times(written: Write, tmp_path: Path) -> None:
    llm = ScriptedLLM(reconcile={"verdicts": [MOVED]})
    first = written([mem0_row(memory="Ada lives in Zurich", created_at="2025-02-01T00:00:00Z")], "first.json")
    second = written([mem0_row(memory="Ada lives in Bern", created_at="2025-08-01T00:00:00Z")], "second.json")
    with AgentMemory.open(tmp_path / "memory.db", llm=llm, clock=FrozenClock(NOW)) as memory:
        memory.import_(first)
        done = memory.import_(second)
        assert (done.facts, done.waiting) == (1, 0)
        assert "2025-08-01" in llm.asked[0].text
        assert "2025-02-01" in llm.asked[0].text
        (fact,) = memory.get_all()
        assert (fact.text, fact.valid_from) == ("Ada lives in Bern", datetime(2025, 8, 1, tzinfo=UTC))
        assert memory.import_(second).facts == 0, "a second import adds nothing"
        assert [one.id for one in memory.get_all()] == [fact.id]


def test_an_import_does_not_replace_statements_of_a_person(written: Write, tmp_path: Path) -> None:
    file = written([mem0_row(memory="Ada lives in Bern")])
    with AgentMemory.open(tmp_path / "memory.db", llm=ScriptedLLM(reconcile={"verdicts": [MOVED]})) as memory:
        memory.add("Ada lives in Zurich")
        memory.import_(file)
        assert {one.text for one in memory.get_all()} == {"Ada lives in Zurich", "Ada lives in Bern"}


def test_a_sleep_archives_an_imported_fact_after_its_expiry(written: Write, tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    file = written([mem0_row(expiration_date=(NOW + timedelta(days=2)).date().isoformat())])
    with AgentMemory.open(tmp_path / "memory.db", llm=None, clock=clock) as memory:
        memory.import_(file)
        assert len(memory.get_all()) == 1
        clock.advance(days=3)
        memory.sleep()
        assert not memory.get_all()
