"""Fixtures that write small exports to files."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.formats import shapes


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(value: object, name: str = "conversations.json") -> Path:
        path = tmp_path / name
        if isinstance(value, bytes):
            path.write_bytes(value)
        else:
            path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def make() -> SimpleNamespace:
    """The shapes, by name."""
    return SimpleNamespace(
        node=shapes.chatgpt_node,
        chatgpt=shapes.chatgpt_conversation,
        claude=shapes.claude_conversation,
        locomo=shapes.locomo_sample,
        beam=shapes.beam_batch,
        gemini=shapes.gemini_activity,
        langgraph=shapes.langgraph_item,
        graph=shapes.graph_lines,
    )
