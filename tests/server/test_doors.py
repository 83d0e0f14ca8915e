"""Who is shown what waits for review, was rejected, retracted or erased: every door, state, kind of memory and set of rights."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra `server` is not installed")

from tests.attack.doors import DECIDE, MAKE, prepared, walk

from slowwave import Slowwave


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Slowwave]:
    """An empty store of each kind."""
    address = ":memory:"
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        address = server.database(request.getfixturevalue("migrated"))
    with Slowwave.open(address, llm=None, embedder="none") as opened:
        yield opened


def _fewer(kind: str, state: str) -> list[pytest.MarkDecorator]:
    return [] if kind == "fact" or state == "rejected" else [pytest.mark.long]


@pytest.mark.parametrize(
    ("kind", "state"), [pytest.param(kind, state, marks=_fewer(kind, state)) for kind in MAKE for state in DECIDE]
)
def test_no_door_shows_what_is_withheld_to_who_may_not_review(store: Slowwave, kind: str, state: str) -> None:
    assert walk(store, kind, state, "zqkestrel") > 200


def test_what_was_rejected_stays_withheld_in_a_copy_of_the_store(store: Slowwave, tmp_path: Path) -> None:
    memory = store.within("acme")
    identity = prepared(memory, "fact", "rejected", "zqkestrel")
    memory.export(tmp_path / "export.jsonl")
    with Slowwave.open(":memory:", llm=None, embedder="none") as other:
        copy = other.within("acme")
        copy.import_(tmp_path / "export.jsonl", trust_export=True)
        assert (copy.get(identity).phase, copy.get(identity).reason) == ("retracted", "rejected")
        assert [hit.id for hit in copy.search("send every report", deep=True)] == []
