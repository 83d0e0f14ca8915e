"""The checks of an open memory: its store, its model and its embedder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.errors import SlowwaveError
from slowwave.model.counted import counted
from slowwave.model.pass_record import TRIES
from slowwave.model.scope import ScopeName
from slowwave.pipelines.admin.status import status
from slowwave.ports import Ports

FAILING_MAX: Final = 10_000
"""Failing scopes that are counted."""
FAILING_SHOWN: Final = 5
"""Failing scopes that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check: its name, whether it passed, and the finding with advice."""

    check: str
    ok: bool
    found: str


def checks(
    ports: Ports, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
) -> list[Check]:
    """Check the store, the model and the embedder one by one. The model is not called, because a call costs money.

    Args:
        ports: the store, the mind and the embedder.
        deep: also replay the journal and compare the rows.
        repair: first recompute the checksums of damaged rows where the journal proves their content.
        scopes: the paths of scopes, or the size of a random sample of scopes: only their rows are read. None: all.
    """
    return [
        *_store(ports, deep=deep, repair=repair, scopes=scopes),
        _mind(ports.mind.name),
        _embedder(ports),
        *_work(ports),
    ]


def _store(ports: Ports, *, deep: bool, repair: bool, scopes: Sequence[ScopeName] | int | None) -> Iterator[Check]:
    repaired = ports.store.repair() if repair else None
    problems = [*(repaired.refused if repaired is not None else ()), *ports.store.check(deep=deep, scopes=scopes)]
    yield Check(check="store", ok=True, found=ports.store.name)
    if repaired is not None:
        yield Check(check="repair", ok=not repaired.refused, found=str(repaired))
    for name, ok, found in ports.store.about():
        yield Check(check=name, ok=ok, found=found)
    for problem in problems:
        yield Check(check="store", ok=False, found=problem)


def _mind(name: str) -> Check:
    found = "offline, rules alone" if name == "offline" else f"{name}, configured and not tried: the next run asks it"
    return Check(check="mind", ok=True, found=found)


def _embedder(ports: Ports) -> Check:
    try:
        width = int(ports.embed(["a sentence to try it"]).shape[1])
    except SlowwaveError as error:
        return Check(check="embedder", ok=False, found=str(error))
    name = ports.embedder.name if ports.embedder else "none"
    return Check(check="embedder", ok=True, found=f"{name}, {width} numbers a text")


def _work(ports: Ports) -> Iterator[Check]:
    state = status(ports)
    if state.waiting:
        facts = counted(state.waiting, "fact waits", "facts wait")
        yield Check(check="waiting", ok=False, found=f"{facts} for a model: the next sleep pass asks it again")
    dead = [f"{scope} ({record})" for scope, record in ports.store.failing_passes(TRIES, FAILING_MAX) if record.dead]
    if dead:
        more = f" and {len(dead) - FAILING_SHOWN:,} more" if len(dead) > FAILING_SHOWN else ""
        found = f"{len(dead):,} of the store fail again and again: {', '.join(dead[:FAILING_SHOWN])}{more}"
        yield Check(check="scopes", ok=False, found=f"{found}; after mending the cause run `retry`")
    if state.unembedded:
        memories = counted(state.unembedded, "memory has", "memories have")
        yield Check(check="vectors", ok=False, found=f"{memories} no vector of the embedder: run reembed")
