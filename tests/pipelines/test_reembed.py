"""A change of embedder: whole texts and what is left of them get vectors of the new one, batch by batch."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from slowwave import Message
from slowwave.errors import EmbedderError
from slowwave.pipelines.ingest.reembed import BATCH, without_vector

if TYPE_CHECKING:
    from tests.conftest import World

SAID = (
    "We adopted a greyhound called Biscuit in May, and we went straight to the beach in Cascais with her.",
    "My grandmother sold a bakery in Porto, which smelled of cinnamon, and bought a fishing boat with the money.",
)


class Other:
    """Another embedder. `fails` says for which texts."""

    name = "other-8"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = ""

    def embed(self, texts: Sequence[str], /) -> "np.ndarray[Any, np.dtype[np.float32]]":
        if self.fails and any(self.fails in text for text in texts):
            raise ConnectionError("no such word")
        self.asked += texts
        rows = [np.array([sum(map(ord, text[n::8])) % 97 + 1 for n in range(8)], dtype=np.float32) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows])


def trimmed(world: "World") -> list[str]:
    """Two messages of which only some words are left; these words."""
    memory = world.open(embedder="static", hot_words_max=14)
    messages = [Message(role="user", content=text, at=world.clock()) for text in SAID]
    memory.add_messages(messages, conversation="c")
    world.later(days=40)
    memory.sleep()
    left = [one.visible_text for one in memory.get_all(kinds=["message"]) if one.gist]
    assert left
    return left


def test_the_trimmed_text_of_a_message_is_embedded_again(world: "World") -> None:
    left = trimmed(world)
    other = Other()
    memory = world.open(embedder=other, hot_words_max=14)
    assert memory.status().unembedded == 2
    assert memory.reembed() == 2 + len(left)
    assert other.asked[1:] == [*SAID, *left]  # after the text by which it learns the width
    assert without_vector(memory.ports) == []
    assert memory.reembed() == 0
    assert all("meaning" in hit.parts for hit in memory.search("Biscuit the greyhound"))


def test_a_night_does_it_by_itself(world: "World") -> None:
    left = trimmed(world)
    other = Other()
    memory = world.open(embedder=other, hot_words_max=14)
    memory.add("Mia loves tea")
    memory.sleep()
    assert set(left) <= set(other.asked)
    assert memory.status().unembedded == 0


def test_a_text_that_is_refused_does_not_keep_others_from_their_vectors(world: "World") -> None:
    class Picky(Other):
        def embed(self, texts: Sequence[str], /) -> "np.ndarray[Any, np.dtype[np.float32]]":
            if any("My gr" in text for text in texts):
                raise ValueError("no such person")
            return super().embed(texts)

    before = world.open(embedder="static")
    before.add_messages([Message(role="user", content=text, at=world.clock()) for text in SAID[::-1]], conversation="c")
    memory = world.open(embedder=Picky())
    with pytest.raises(EmbedderError, match="no such person"):
        memory.reembed()
    assert [one.text for one in without_vector(memory.ports)] == [SAID[1]]


def test_an_embedder_failure_at_one_text_is_reported_and_stops_the_run(world: "World") -> None:
    trimmed(world)
    other = Other()
    other.fails = "Cascais"
    memory = world.open(embedder=other, hot_words_max=14)
    with pytest.raises(EmbedderError, match="no such word"):
        memory.reembed()
    assert memory.status().unembedded == 2
    assert any("vector" in str(one) for one in memory.health().findings)


def test_it_ends_while_another_program_embeds_the_same_texts_with_another_embedder(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open(embedder="static")
    memory.add_messages([Message(role="user", content=text, at=world.clock()) for text in SAID], conversation="c")
    memory.close()
    memory = world.open(embedder=Other())
    batches: list[int] = []

    def index(_scope: str, entries: Mapping[str, object], **_: bool) -> int:  # the other program has replaced them
        batches.append(len(entries))
        assert len(batches) < 10
        return len(entries)

    monkeypatch.setattr(memory.ports.store, "index", index)
    memory.reembed()
    assert sum(batches) <= 2 * len(SAID) + BATCH
    assert batches
