"""The state of a whole store and of the workers that sleep it, for an operator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slowwave.model.budget import ModelUse
from slowwave.model.counted import counted
from slowwave.model.pass_record import PassRecord
from slowwave.model.proof import PendingProof
from slowwave.model.schema import SchemaState

UNUSED = ModelUse()
ALIVE: int = 60
"""Seconds after the last renewal of its row until a worker counts as ended, and its jobs are cancelled."""
SHOWN: int = 10
"""Dead letters and workers that the text of a `Fleet` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The scopes that are due for a sleep pass: how many, exactly, and since when the oldest is due (None: none is)."""

    due: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningWorker:
    """A worker that runs: machine and process, its version, and the seconds since it last renewed its row."""

    name: str
    version: str
    silent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The state of a whole store.

    Attributes:
        version: of this program.
        schema: of the store, beside that of this program.
        scopes: how many scopes the store has.
        due: how many of them are due for a sleep pass.
        oldest_due_seconds: for how long the oldest of these has been due; 0.0 if none is.
        workers: the workers that run.
        dead: dead letters: scopes whose sleep passes failed again and again, with the reason, the most failures first.
        pending_proofs: erases that wait for a proof of the whole store, the oldest first.
        model_hour, model_day: calls, tokens and money of models in the present hour and day, if the store has a budget.
        paused_models: models that no process calls before a time, because their provider asked for a pause.
        gauges: of this process: connections in use, search indexes in RAM, by the names of `Store.gauges`.
    """

    store: str
    version: str
    schema: SchemaState
    scopes: int
    due: int
    oldest_due_seconds: float
    workers: tuple[RunningWorker, ...] = ()
    dead: Mapping[str, PassRecord] = field(default_factory=dict)
    pending_proofs: tuple[PendingProof, ...] = ()
    model_hour: ModelUse = UNUSED
    model_day: ModelUse = UNUSED
    paused_models: Mapping[str, datetime] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        oldest = f", the oldest for {self.oldest_due_seconds:,.0f} s" if self.due else ""
        lines = [
            f"{self.store}: Slowwave {self.version}",
            f"  schema {self.schema.version} of {self.schema.wanted}"
            + (": run `migrate` as its owner" if self.schema.steps else ""),
            f"  {counted(self.scopes, 'scope')}, {self.due:,} due{oldest}",
            f"  {counted(len(self.workers), 'worker')}" + (":" if self.workers else ""),
        ]
        lines += [f"    {one.name}, version {one.version}, seen {one.silent:.0f} s ago" for one in self.workers[:SHOWN]]
        lines.append(f"  {counted(len(self.dead), 'dead letter')}" + (":" if self.dead else ""))
        lines += [f"    {scope}: {record}" for scope, record in list(self.dead.items())[:SHOWN]]
        if more := len(self.dead) - SHOWN:
            lines += [f"    and {more:,} more"] if more > 0 else []
        if self.pending_proofs:
            since = f"{self.pending_proofs[0].at:%Y-%m-%d %H:%M}"
            waiting = counted(len(self.pending_proofs), "erase waits", "erases wait")
            lines.append(f"  {waiting} for a proof of the whole store, since {since}")
        if self.model_day.calls:
            hour, day = self.model_hour, self.model_day
            lines.append(
                f"  model calls: {hour.calls:,} this hour ({hour.tokens:,} tokens), {day.calls:,} today "
                f"({day.tokens:,} tokens, money {day.money:.2f})"
            )
        lines += [
            f"  model {name} pauses until {until:%Y-%m-%d %H:%M:%S}" for name, until in self.paused_models.items()
        ]
        lines += [f"  {name}: {number:,.0f}" for name, number in self.gauges.items()]
        return "\n".join(lines)
