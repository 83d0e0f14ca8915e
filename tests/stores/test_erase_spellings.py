"""An erase by text destroys every spelling of it, in both kinds of stores, and leaves other texts alone."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave import AgentMemory
from slowwave.model.memory import KINDS, PHASES
from slowwave.model.query import Where

TEXT = "Zoë Müller has PIN 4821"
SPELLINGS = [
    *(TEXT, TEXT.casefold(), unicodedata.normalize("NFD", TEXT), TEXT.replace(" ", "  "), TEXT.replace(" ", "\n")),
    *(TEXT.replace(" ", "\u00a0"), TEXT.replace("PIN", "P\u200bI\u00adN"), TEXT.replace("4821", "48 21")),
    *(TEXT.replace("4821", "4-8-2-1"), TEXT.replace("4821", "４８２１"), TEXT.replace("Müller", "M𝐮\u0308ller")),
]
OTHERS = ["Zoë Müller has PIN 4822", "Zoë Müller has paid 48.21", "Zoë Miller has PIN 4821"]


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentMemory]:
    place = str(tmp_path / "a.db") if request.param == "sqlite" else request.getfixturevalue("own")
    with AgentMemory.open(place, scope="t", llm=None, embedder=None) as opened:
        yield opened


def texts(memory: AgentMemory) -> set[str]:
    where = Where(kinds=frozenset(KINDS), phases=frozenset(PHASES), cascade=None)
    return {one.text for one in memory.ports.store.select((memory.ports.scope,), where)}


def test_an_erase_by_text_destroys_every_spelling_and_nothing_else(memory: AgentMemory) -> None:
    memory.add_messages([{"role": "user", "content": text} for text in (*SPELLINGS, *OTHERS)], "c1")
    memory.add("The gate opens at nine", metadata={"note": TEXT.replace("4821", "48 21"), "deep": ["x", {TEXT: 1}]})
    memory.set_title("c1", f"About {TEXT.upper()}")
    receipt = memory.erase(text=TEXT)
    assert receipt.verified, receipt.problems
    assert texts(memory) == set(OTHERS)
    assert [found.title for found in memory.conversations()] == [None]
    assert memory.ports.store.mentions("t", TEXT) == []


def test_a_name_of_a_column_is_not_a_text_of_a_memory(memory: AgentMemory) -> None:
    gate = memory.add("The gate opens at nine").ids[0]
    memory.update(gate, "The gate opens at ten")
    assert memory.ports.store.mentions("t", "updated_at") == memory.ports.store.mentions("t", "version") == []
