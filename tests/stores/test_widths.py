"""An embedder that answers vectors of another width under its name: what is stored, found and repaired."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from slowwave import AgentMemory, Config
from slowwave.composition import copy_store

if TYPE_CHECKING:
    from slowwave.testing.postgres import PostgresServer

CHANGES = pytest.mark.parametrize(("before", "after"), [(64, 96), (64, 32)])
TALK = ["My dog is called Rufus.", "I live in Bern.", "The ferry leaves at noon."]


class Embedder:
    """Vectors of any width under one name; the same text has the same vector."""

    name = "mine"
    is_local = True

    def __init__(self, width: int) -> None:
        self.width = width

    def embed(self, texts: Sequence[str], /) -> "np.ndarray[Any, np.dtype[np.float32]]":
        seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(self.width, dtype=np.float32) for seed in seeds])


@pytest.fixture(params=["sqlite", "postgres", "postgres search"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Config]]:
    """An address, and settings with which the scope is searched in RAM or by the server."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db"), Config()
        return
    server: PostgresServer = request.getfixturevalue("shared_postgres")
    yield server.database(), Config(search_in_ram=0 if request.param.endswith("search") else 50_000)


def opened(place: tuple[str, Config], embedder: Embedder) -> AgentMemory:
    return AgentMemory.open(place[0], llm=None, embedder=embedder, config=place[1])


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def vectors_count(memory: AgentMemory) -> int:
    return sum("meaning" in hit.parts for hit in memory.search("Rufus Bern ferry Mimi", top_k=20))


@CHANGES
@pytest.mark.parametrize("new_message", [True, False])
def test_a_store_works_on_and_reembed_repairs_it(
    place: tuple[str, Config], before: int, after: int, *, new_message: bool
) -> None:
    with opened(place, Embedder(before)) as memory:
        memory.add_messages(said(*TALK), "c")
        memory.add("Carla owns the ferry")
    with opened(place, Embedder(after)) as memory:
        receipt = memory.add_messages(said("My cat is Mimi."), "c") if new_message else None
        if receipt is not None:
            told = [problem for problem in receipt.problems if "reembed" in problem]
            assert len(told) == 1
            assert f"mine answers vectors of {after} numbers" in told[0]
            assert f"of {before}" in told[0]
        assert [hit.text for hit in memory.search("Rufus")][:1] == [TALK[0]]
        assert "Rufus" in str(memory.context("Who is Rufus?"))
        assert memory.add("Bob owns the mill").applied
        memory.consolidate("c", force=True)
        memory.status()
        assert memory.unembedded() >= len(TALK)
        assert memory.doctor(deep=True) == []
    with opened(place, Embedder(after)) as memory:
        assert memory.unembedded() >= len(TALK), "the newest vectors say which width is the present one"
        assert memory.reembed() >= len(TALK)
        assert memory.unembedded() == 0
        assert memory.reembed() == 0
        assert memory.add("Dora owns the bakery").problems == ()
        assert vectors_count(memory) >= len(TALK)


@CHANGES
def test_a_width_that_changes_inside_one_process(place: tuple[str, Config], before: int, after: int) -> None:
    embedder = Embedder(before)
    with opened(place, embedder) as memory:
        memory.add_messages(said(*TALK), "c")
        assert vectors_count(memory) == len(TALK)
        embedder.width = after
        assert memory.reembed() == len(TALK)
        assert vectors_count(memory) == len(TALK)
        embedder.width = before
        memory.add_messages(said("My cat is Mimi."), "c")
        assert [hit.text for hit in memory.search("Rufus")][:1] == [TALK[0]]
        memory.sleep()
        assert memory.unembedded() == 0
        assert vectors_count(memory) == len(TALK) + 1


def test_a_copy_and_an_import_know_the_widths(place: tuple[str, Config], tmp_path: Path) -> None:
    copied, imported = (str(tmp_path / name) for name in ("copied.db", "imported.db"))
    with opened(place, Embedder(64)) as memory:
        memory.add_messages(said(*TALK), "c")
        memory.export(tmp_path / "memory.jsonl")
    copy_store(place[0], copied)
    with opened((copied, place[1]), Embedder(96)) as memory:
        assert [problem for problem in memory.add("Bob owns the mill").problems if "of 64" in problem]
        assert memory.reembed() == len(TALK)
        assert vectors_count(memory) >= len(TALK)
    with opened((imported, place[1]), Embedder(96)) as memory:
        memory.import_(tmp_path / "memory.jsonl", trust_export=True)
        assert memory.unembedded() == 0
        assert vectors_count(memory) == len(TALK)
