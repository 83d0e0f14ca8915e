"""Files of every format, each broken in more than 60 ways: success, or one sentence, and nothing stored unsaid."""

import gzip
import json
import warnings
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.formats import shapes
from tests.formats.breakage import broken_bytes, broken_values
from tests.formats.test_other_memories import agent_file, mem0_row

from slowwave import AgentMemory
from slowwave.errors import SlowwaveError
from slowwave.formats import FORMATS, read
from slowwave.model.exchange import Item, SkippedItem
from slowwave.testing import FrozenClock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MARKDOWN = """---
title: Trip
tags:
  - porto
date: 2025-05-04
---
# Porto

## Hotels
140 euros a night.

```
# no heading
```
"""
LINES: Final[dict[str, list[dict[str, Any]]]] = {
    "jsonl": [
        {"role": "user", "content": "I keep bees.", "at": "2024-05-01T10:00:00Z", "id": "x", "speaker": "Ada"},
        {"role": "tool", "content": [{"type": "text", "text": "Four hives."}], "conversation": "talk"},
        {"messages": [{"role": "user", "content": "In a list."}], "id": "list"},
        {"fact": "Ada keeps bees", "category": "person", "importance": 0.9, "metadata": {"n": [1]}},
    ],
    "server-memory": shapes.graph_lines(),
    "langgraph": [shapes.langgraph_item(), shapes.langgraph_item(key="drink", expires_at="2030-01-01T00:00:00Z")],
}
VALUES: Final[dict[str, Any]] = {
    "chatgpt": [shapes.chatgpt_conversation()],
    "claude": [shapes.claude_conversation()],
    "gemini": [shapes.gemini_activity(), shapes.gemini_activity(title="Prompted Four.", time="2025-03-02T10:00:00Z")],
    "mem0": {"results": [mem0_row(), mem0_row(id="2", memory="Has two cats")]},
    "letta": agent_file(),
    "locomo": [shapes.locomo_sample()],
    "beam": [shapes.beam_batch()],
}
TEXTS: Final = {"markdown": ("note.md", MARKDOWN), "text": ("note.txt", "I keep bees.\n\nFour hives.\n")}
SUFFIX: Final = {"jsonl": ".jsonl", "server-memory": ".jsonl", "langgraph": ".jsonl", "letta": ".af"}


@pytest.fixture(scope="module")
def own_export() -> list[dict[str, Any]]:
    """The lines of an export of a scope with something of each kind."""
    with AgentMemory.open(":memory:", llm=None, embedder=None, clock=FrozenClock(NOW)) as memory:
        memory.add("Ada keeps bees", category="person")
        memory.note("list", "milk", folder="home", data={"a": 1})
        memory.add_messages([{"role": "user", "content": "I live in Bern."}], "talk")
        memory.consolidate("talk", force=True)
        memory.set_title("talk", "Bern")
        lines = _exported(memory)
    return [json.loads(line) for line in lines]


def _exported(memory: AgentMemory) -> list[str]:
    found: list[str] = []
    memory.export(SimpleNamespace(write=found.append))  # type: ignore[arg-type]
    return found


def broken(named: str, own_export: list[dict[str, Any]]) -> Iterator[tuple[str, bytes]]:
    """The broken files of a format, by what is broken."""
    if named in TEXTS:
        yield from broken_bytes(TEXTS[named][1].encode())
        yield from ((f"{name} repeated", sign.encode() * 500) for name, sign in SIGNS.items())
        return
    lines = own_export if named == "export" else LINES.get(named)
    if lines is None:
        yield from broken_bytes(json.dumps(VALUES[named], ensure_ascii=False).encode())
        yield from ((name, json.dumps(value).encode()) for name, value in _some(broken_values(VALUES[named])))
        return
    yield from broken_bytes("\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode())
    for name, value in _some(broken_values(lines)):
        rows = value if isinstance(value, list) else [value]
        yield name, "\n".join(map(json.dumps, rows)).encode()


def _some(found: Iterator[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """At most about 80 of the broken values, from everywhere in the value."""
    values = list(found)
    return values[:: max(1, len(values) // 80)]


STORED_EACH: Final = 23
"""Of so many broken files, one is also imported."""
SIGNS: Final = {
    "an open head": "---\n",
    "a heading": "# \n",
    "a deep heading": "###### a\n",
    "a fence": "```\n",
    "a list of a head": "- a\n",
    "one line": "a ",
    "an empty line": "\n",
    "a carriage return": "\r",
    "a colon": "a: b\n",
    "a quote": "> ",
    "a link": "[[x]] ",
    "a bracket": "[",
    "a wide character": "\u3000",
    "a line separator": "\u2028",
    "a right-to-left mark": "\u202e",
}


def named_file(folder: Path, named: str) -> Path:
    """The path of a file of a format."""
    if named in TEXTS:
        return folder / TEXTS[named][0]
    suffix = SUFFIX.get(named, ".json")
    return folder / f"conversations{'.jsonl' if named == 'export' else suffix}"


ALL: Final = (*(name for name in FORMATS if name != "auto"), "export")


@pytest.mark.parametrize("named", ALL)
def test_a_broken_file_is_read_the_same_way_twice_or_refused_in_one_sentence(
    named: str, tmp_path: Path, own_export: list[dict[str, Any]]
) -> None:
    count = 0
    path = named_file(tmp_path, named)
    for what, data in broken(named, own_export):
        path.write_bytes(data)
        chosen = "jsonl" if named == "export" else named
        first, detected = _read(path, chosen), _read(path, "auto")
        assert _read(path, chosen) == first, what
        for found in (first, detected):
            assert found, what
            for item in found:
                said = item.why if isinstance(item, SkippedItem) else item if isinstance(item, str) else "fine"
                assert said.strip(), what
                assert "\n" not in said, what
                assert len(said) < 1000, what
        count += 1
    assert count >= 60


def _read(path: Path, named: str) -> list[Item | str]:
    """What a file gives; the sentence of a refusal comes last."""
    items: list[Item | str] = []
    try:
        items += read(path, named)
    except SlowwaveError as error:
        items.append(str(error))
    return items


@pytest.mark.parametrize("named", ALL)
def test_what_is_stored_of_a_broken_file_is_reported_stored_once_and_undone(
    named: str, tmp_path: Path, own_export: list[dict[str, Any]]
) -> None:
    path = named_file(tmp_path, named)
    chosen = "jsonl" if named == "export" else named
    for what, data in [*broken(named, own_export)][::STORED_EACH]:
        path.write_bytes(data)
        with AgentMemory.open(":memory:", llm=None, embedder=None, clock=FrozenClock(NOW)) as memory:
            try:
                report = memory.import_(path, chosen)
            except SlowwaveError:
                assert _stored(memory) == 0, what
                continue
            assert not report.problems, what
            assert _stored(memory) == report.messages + report.facts + report.notes, what
            again = memory.import_(path, chosen)
            assert (again.messages, again.facts, again.notes, again.run_id) == (0, 0, 0, ""), what
            if report.run_id:
                memory.undo(report.run_id)
            assert _stored(memory) == 0, what


def _stored(memory: AgentMemory) -> int:
    """The memories that are not retracted."""
    kinds = ["message", "semantic", "episodic", "procedural", "note"]
    return len(memory.get_all(kinds=kinds, phases=["active", "core", "cold", "quarantined"]))


def _archive(path: Path, *members: tuple[str, bytes], comment: bytes = b"") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of two members with one name
        made.comment = comment
        for name, data in members:
            with made.open(zipfile.ZipInfo(name), "w") as member:  # `writestr` refuses an empty name
                member.write(data)


@pytest.mark.parametrize("named", ["chatgpt", "claude", "gemini", "mem0", "jsonl"])
def test_an_archive_with_odd_members_is_read_or_refused_and_each_member_is_named(named: str, tmp_path: Path) -> None:
    path, name = tmp_path / "export.zip", "a.jsonl" if named == "jsonl" else "conversations.json"
    value = LINES[named][0] if named == "jsonl" else VALUES[named]
    good = (name, json.dumps(value).encode())
    whole = len(_archived(path, good)[0])
    odd_names = [
        "../../up.json",
        "/etc/passwd",
        "a\nb.json",
        "a\x1b[2J.json",
        "x" * 60_000,
        "aux",
        "über.json",
        ".",
        "",
    ]
    assert whole > 0
    for odd in odd_names:
        found, skipped, refused = _archived(path, good, (odd, b"[1]"))
        assert (len(found), refused) == (whole, ""), odd
        assert len(skipped) == 1, odd
        assert "\n" not in skipped[0].where, odd
    for other in (b"", b"\x00" * 100, b"{", b"[]", good[1][: len(good[1]) // 2], gzip.compress(good[1])):
        found, skipped, refused = _archived(path, good, (f"data/conversations-2{Path(name).suffix}", other))
        assert (len(found), refused) == (whole, ""), other[:20]
        assert skipped, other[:20]
    found, skipped, _ = _archived(path, good, good)
    assert len(found) + len(skipped) >= 2 * whole
    assert _archived(path)[2]
    assert len(_archived(path, good, ("conversations.json/", b""))[0]) == whole
    _archive(path, good, comment=b"PK\x05\x06" * 100)
    assert _parts(_read(path, "auto"))[0] or _parts(_read(path, "auto"))[2]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["export.zip"]


def _archived(path: Path, *members: tuple[str, bytes]) -> tuple[list[Item], list[SkippedItem], str]:
    """What an archive with these members gives: what was read, what was skipped, and the refusal."""
    _archive(path, *members)
    return _parts(_read(path, "auto"))


def _parts(items: list[Item | str]) -> tuple[list[Item], list[SkippedItem], str]:
    skipped = [item for item in items if isinstance(item, SkippedItem)]
    found = [item for item in items if not isinstance(item, SkippedItem | str)]
    return found, skipped, next((item for item in items if isinstance(item, str)), "")
