"""An erase by text destroys every spelling of it, in both kinds of stores, and leaves other texts alone."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from slowwave import AgentMemory
from slowwave.composition import copy_store
from slowwave.model.codec import content_key
from slowwave.model.memory import KINDS, PHASES
from slowwave.model.operations import Suppress
from slowwave.model.plan import Group, Plan
from slowwave.model.query import Where
from slowwave.pipelines.ingest.tombstones import SOME, tombstone
from slowwave.pipelines.planning import new_id

TEXT = "Zoë Müller has PIN 4821"
SPELLINGS = [
    *(TEXT, TEXT.casefold(), unicodedata.normalize("NFD", TEXT), TEXT.replace(" ", "  "), TEXT.replace(" ", "\n")),
    *(TEXT.replace(" ", "\u00a0"), TEXT.replace("PIN", "P\u200bI\u00adN"), TEXT.replace("4821", "48 21")),
    *(TEXT.replace("4821", "4-8-2-1"), TEXT.replace("4821", "４８２１"), TEXT.replace("Müller", "M𝐮\u0308ller")),
    *(
        json.dumps({"note": TEXT}),
        f"https://x.example/?q={quote(TEXT)}",
        TEXT.replace("ë", "&euml;").replace(" ", "&nbsp;"),
    ),
    *(TEXT.replace("4821", "**4821**"), TEXT.replace("PIN", "P<b>I</b>N"), TEXT.replace("Müller", "Mül-\nler")),
]
OTHERS = ["Zoë Müller has PIN 4822", "Zoë Müller has paid 48.21", "Zoë Miller has PIN 4821", "Zoë Müller has PIN%4822"]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "a.db") if request.param == "sqlite" else str(request.getfixturevalue("own"))


@pytest.fixture
def memory(place: str) -> Iterator[AgentMemory]:
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


PIN = "The PIN of the gate is 4821"


def held(memory: AgentMemory) -> list[str]:
    return memory.ports.store.suppressed_beginning("t", "")


def test_an_erased_pin_cannot_be_guessed_from_plain_hashes(memory: AgentMemory) -> None:
    memory.add(PIN)
    memory.add_messages([{"role": "user", "content": PIN, "id": "m1"}], "c1")
    memory.erase(text=PIN)
    plain = {content_key(text) for text in (PIN, "4821", f"m1\n{PIN}")}
    assert held(memory)
    assert not [key for key in held(memory) for guess in plain if guess in key]
    assert memory.add_messages([{"role": "user", "content": PIN, "id": "m1"}], "c1").ids == ()
    assert memory.erase(text=PIN).destroyed == (), "the same erase can be repeated"


def test_a_fact_that_was_deleted_before_leaves_no_plain_hash_either(memory: AgentMemory) -> None:
    gate = memory.add(PIN).ids[0]
    memory.delete(gate)
    assert content_key(PIN) in held(memory)
    memory.erase(id=gate)
    assert content_key(PIN) not in held(memory)
    assert memory.ports.store.check(deep=True) == []


def test_plain_tombstones_of_earlier_versions_are_recognised(memory: AgentMemory) -> None:
    now, keys = memory.ports.now(), (SOME, tombstone(f"m1\n{PIN}"))
    group = Group(operations=tuple(Suppress(key=key, because="b") for key in keys), because="b")
    memory.ports.store.apply(Plan(id=new_id(now), scope="t", cause="erase", at=now, groups=(group,)))
    assert memory.add_messages([{"role": "user", "content": PIN, "id": "m1"}], "c1").ids == ()


def test_a_copy_in_a_store_with_another_secret_recognises_what_was_erased(
    memory: AgentMemory, place: str, tmp_path: Path
) -> None:
    memory.add_messages([{"role": "user", "content": PIN, "id": "m1"}, {"role": "user", "content": "Hello"}], "c1")
    memory.erase(source="m1")
    target = str(tmp_path / "target.db")
    with AgentMemory.open(target, scope="another", embedder=None) as other:
        other.add("The gate opens at nine")
        assert other.ports.store.secret != memory.ports.store.secret
    copy_store(place, target)
    with AgentMemory.open(target, scope="t", embedder=None) as copied:
        assert copied.add_messages([{"role": "user", "content": PIN, "id": "m1"}], "c1").ids == ()
        copied.erase(text="Hello")
        assert copied.add_messages([{"role": "user", "content": PIN, "id": "m1"}], "c1").ids == ()
        assert copied.ports.store.check(deep=True) == []


@pytest.mark.parametrize("length", [900, 3_000, 24_000, 400_000])
def test_what_remains_of_a_text_of_any_length_is_found_in_the_file(
    length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(length)
    text = " ".join("".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(length // 8))
    with AgentMemory.open(tmp_path / "a.db", llm=None, embedder=None) as opened:
        (said,) = opened.add_message({"role": "user", "content": text}, "c1").ids
        opened.add("The gate opens at nine")
        store: Any = opened.ports.store
        store._db.pragma("secure_delete", 0)
        monkeypatch.setattr(store, "rewrite_erased", lambda **_: store._emptied() or ())
        receipt = opened.erase(id=said)
        assert not receipt.verified
        assert receipt.problems == ("a.db still holds the bytes of what was erased",)
        monkeypatch.undo()
        assert store.rewrite_erased() == ("a.db",)
        assert store.find_traces([text[at : at + 300] for at in range(0, len(text) - 300, 300)]) == []


def test_the_patterns_of_a_long_text_are_few_and_short(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Zoë met 4821 people at the harbour. " * 10_000
    memory.add_message({"role": "user", "content": text}, "c1")
    store: Any = memory.ports.store
    proves, sought = store.prove_erased, []

    def noted(scope: str, sought_now: list[str], *rest: object, **options: object) -> object:
        sought.extend(sought_now)
        return proves(scope, sought_now, *rest, **options)

    monkeypatch.setattr(store, "prove_erased", noted)
    assert memory.erase(text=text).verified
    assert len(sought) > 10
    assert sum(map(len, sought)) < 2 * len(text), (
        "a spelling of the whole text takes its length, and there are hundreds"
    )
