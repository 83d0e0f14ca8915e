"""Vault: what a person changed in exported pages comes back as edits with history; what vanished there stays here."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from slowwave.errors import ConflictError, InputError
from slowwave.model.fact import Fact
from slowwave.model.memory import FACT_KINDS, HOT, SUMMARY, Memory
from slowwave.model.query import Where
from slowwave.model.vault import Line
from slowwave.pipelines import edit
from slowwave.pipelines.always import always
from slowwave.pipelines.state import checked_fact, state
from slowwave.ports import Ports

MASS = 0.2
"""Share of the facts above which changes are taken for a mishap, unless they are confirmed."""
FEW = 5
"""So many changes are never a mishap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a vault's edits are, or became. `gone` lines are left as they are: a vanished line never means erase."""

    updated: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    gone: int = 0
    runs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    dry_run: bool = True

    def __str__(self) -> str:
        done = "would change" if self.dry_run else "changed"
        lines = [f"vault: {done} {len(self.updated)} facts, {'add' if self.dry_run else 'added'} {len(self.added)}"]
        lines += [f"  {before!r} becomes {after!r}" for _, before, after in self.updated]
        lines += [f"  new: {text!r}" for text in self.added]
        lines += [f"  not taken: {words}" for words in self.conflicts]
        if self.gone:
            lines.append(f"  {self.gone} no longer in the vault stay in memory: slowwave forget takes a fact back")
        lines += [f"  run {run}, undo with `slowwave undo {run}`" for run in self.runs]
        return "\n".join(lines)


RUNS = 200
"""Of the latest runs, so many stand in the sleep log."""
FACTS = 100_000


def shown(ports: Ports) -> dict[str, Any]:
    """What a vault shows of a scope: hot facts, those of core, summaries in order, the latest runs, and the windows."""
    store, scope, config = ports.store, ports.scope, ports.config
    facts = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), limit=FACTS)
    told = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), cascade=True, order="seq", limit=FACTS)
    return {
        "facts": store.select((scope,), facts),
        "core": always(replace(ports, scopes=(scope,))),
        "summaries": store.select((scope,), told),
        "runs": [run for run in store.runs(scope, RUNS) if run.cause.startswith(("sleep", "cascade", "consolidate"))],
        "settings": {
            "immediate_window": config.immediate_window,
            "recent_window": config.recent_window,
            "summary_profile": config.summary_profile,
        },
    }


def take(ports: Ports, wishes: Iterable[Line], *, gone: int, dry_run: bool, force: bool) -> Taken:
    """Take back what a person changed: an edited line is an update with history, a new line a stated fact.

    A fact that changed here since the export as well is not touched, and told.

    Raises:
        InputError: more than a fifth of the facts would change, and `force` does not confirm it.
    """
    wishes = list(wishes)
    known = {memory.id: memory for memory in ports.store.get((ports.scope,), [one.id for one in wishes if one.id])}
    fresh = [one for one in wishes if one.id is None]
    edited = [one for one in wishes if one.id and one.text != one.exported]
    conflicts = [words for one in edited if (words := _conflict(one, known.get(one.id or "")))]
    clear = [
        one for one in edited if not _conflict(one, known.get(one.id or "")) and one.text != known[one.id or ""].text
    ]
    changes, facts = len(clear) + len(fresh), max(1, len(known))
    if not force and not dry_run and changes > FEW and changes > MASS * facts:
        raise InputError(f"{changes} of {facts} facts would change: look at the dry run, then confirm with force")
    updated = tuple((str(one.id), known[str(one.id)].text, one.text) for one in clear)
    added = tuple(one.text for one in fresh)
    runs: list[str] = []
    problems: list[str] = []
    if not dry_run:
        for one in clear:
            try:
                receipt = edit.update(ports, str(one.id), one.text)
            except ConflictError as error:
                conflicts.append(str(error))
                continue
            runs += [receipt.run_id] if receipt.applied else []
            problems += receipt.problems
        if fresh:
            facts_told = tuple(checked_fact(Fact(text=one.text, category=one.category)) for one in fresh)
            receipt = state(ports, facts_told)
            runs += [receipt.run_id] if receipt.applied else []
            problems += receipt.problems
    return Taken(
        updated=updated,
        added=added,
        conflicts=tuple(conflicts),
        gone=gone,
        runs=tuple(runs),
        problems=tuple(problems),
        dry_run=dry_run,
    )


def _conflict(wish: Line, memory: Memory | None) -> str:
    """Why an edited line cannot be taken; empty if it can."""
    if memory is None or not memory.hot:
        return f"{wish.text!r}: the fact {wish.id} is no longer in use"
    if wish.exported is not None and memory.text not in {wish.exported, wish.text}:
        return f"{wish.text!r}: the fact {wish.id} was changed here too, to {memory.text!r}"
    return ""
