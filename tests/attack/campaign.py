"""What every class of attack shares: a round, its place, and how a store is opened and checked."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

from slowwave import AgentMemory
from slowwave.model.memory import KINDS, PHASES, Memory

SHORT, LONG = 0.2, 1.0
TURNS_SECONDS = 60.0
"""Seconds after which a round begins no further turn."""


@dataclass
class Place:
    """Where one round of an attack works. Everything that it chooses comes from `chance`, so that its seed repeats it.

    Args:
        chance: of this round.
        folder: empty, for this round alone.
        database: makes the address of an empty Postgres database; None: there is no server.
        size: 1 for a round of the campaign, less for one in the tests.
    """

    chance: Random
    folder: Path
    database: Callable[[], str] | None = None
    size: float = LONG

    def __post_init__(self) -> None:
        self._numbers = count()

    def times(self, number: int) -> Iterator[int]:
        """So many turns in a round of the campaign, at least one; fewer if a busy machine needs a minute for them."""
        ends = time.monotonic() + TURNS_SECONDS
        for turn in range(max(1, round(number * self.size))):
            if turn and time.monotonic() > ends:
                return
            yield turn

    def new(self, ending: str = "") -> Path:
        """A path that nothing has yet."""
        return self.folder / f"{next(self._numbers)}{ending}"

    def store(self) -> str:
        """The address of an empty store: a file, or a database in every third round."""
        if self.database is not None and self.chance.random() < 1 / 3:
            return self.database()
        return str(self.new(".db"))


Round = Callable[[Place], int]
"""Attacks once. Returns how many things were tried, and raises an exception for what the library did wrong."""


def opened(address: str | Path, scope: str = "keeper", **options: Any) -> AgentMemory:  # noqa: ANN401 - those of `open`
    """A memory without a model and without vectors, unless the options name some."""
    return AgentMemory.open(address, scope=scope, **({"llm": None, "embedder": "none"} | options))


def everything(memory: AgentMemory) -> dict[str, Memory]:
    """All memories of a scope, in every phase, by id."""
    return {one.id: one for one in memory.get_all(kinds=KINDS, phases=PHASES)}


def words(of: str, chance: Random, letters: int = 12) -> str:
    """A word that stands nowhere else."""
    return of + "".join(chance.choices("bcdfghjklmnpqrstvwxz", k=letters))


def lines(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sound(memory: AgentMemory) -> None:
    """A replay of the journal equals the tables, and nothing is damaged."""
    found = memory.doctor(deep=True)
    assert found == [], found


MIXED: Final = ("the", "deploy", "pipeline", "Berlin", "since", "2021", "invoice", "Ada", "garden", "cache", "tea")


def sentence(chance: Random, *more: str) -> str:
    """A sentence of a few plain words and these."""
    return " ".join((*chance.choices(MIXED, k=chance.randrange(2, 7)), *more)) + "."
