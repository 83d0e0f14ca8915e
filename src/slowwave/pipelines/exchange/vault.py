"""Exports a memory as a folder of Markdown pages, and imports their edits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from slowwave.errors import ConflictError, InputError
from slowwave.model.codec import content_key
from slowwave.model.counted import counted
from slowwave.model.exchange import VaultLine, VaultOwner
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import FACT_KINDS, HOT, SUMMARY, Memory
from slowwave.model.mind import Fact
from slowwave.model.names import checked_label
from slowwave.model.operations import Add, Change, Operation, Use
from slowwave.model.plan import Plan, in_zone, reversible_run
from slowwave.model.query import Where
from slowwave.pipelines.admin.edit import rewording
from slowwave.pipelines.ingest.change_set import facts_with_key
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import secrets
from slowwave.pipelines.planning import (
    apply_with_retry,
    check_full_trust,
    checked_text,
    new_id,
    single_group_plan,
)
from slowwave.pipelines.recall.core_memory import core_facts
from slowwave.ports import Ports

SHOWN: Final = 3
"""Facts without a line that are named; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultImport:
    """What an import of a vault's edits did; in a dry run, what it would do.

    Attributes:
        updated: id, text before and text after of each fact that was reworded; if only its category changed, the texts
            begin with the category.
        added: the texts of the facts that were added.
        known: how many edited or new lines say what is known already; they change nothing.
        conflicts: why a line was not imported.
        gone: id and text of each fact whose line was removed. It stays in memory: a missing line erases nothing.
        notes: other results, such as which fact a new line replaced, and which pages were kept or not changed.
        run_id: the run, for `undo`; None if nothing changed.
        waiting: how many new facts wait for a model.
        problems: what failed.
        pages: the pages that were written again after the import.
        dry_run: whether nothing was stored.
        confirm: what needs `force`, found by a dry run; empty if nothing does.
    """

    updated: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()
    known: int = 0
    conflicts: tuple[str, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    run_id: str | None = None
    waiting: int = 0
    problems: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    dry_run: bool = True
    confirm: str = ""

    def __str__(self) -> str:
        lines = [f"vault: {self._counts()}"]
        lines += [f"  {before!r} becomes {after!r}" for _, before, after in self.updated]
        lines += [f"  new: {text!r}" for text in self.added]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  not taken: {words}" for words in self.conflicts]
        lines += [f"  problem: {problem}" for problem in self.problems]
        lines += [f"  {self.confirm}"] if self.confirm else []
        lines += [f"  stays in memory: {words!r} ({i}), until `delete` retracts it" for i, words in self.gone[:SHOWN]]
        if self.gone[SHOWN:]:
            lines.append(f"  and {len(self.gone) - SHOWN} more whose lines are gone stay in memory")
        if self.run_id:
            lines.append(f"  {reversible_run(self.run_id)}")
        return "\n".join(lines)

    def _counts(self) -> str:
        change, add = ("would change", "would add") if self.dry_run else ("changed", "added")
        counts = [f"{change} {counted(len(self.updated), 'fact')}"] if self.updated else []
        counts += [f"{add} {len(self.added)}"] if self.added else []
        if not counts:
            counts = ["taken in" if self.run_id else "nothing new" if self.known or self.conflicts else "no edits"]
        counts += [f"{counted(self.known, 'line')} already known"] if self.known else []
        counts += [f"{self.waiting} waiting for a model"] if self.waiting else []
        return ", ".join(counts)


MASS: Final = 0.2
"""The share of the facts above which changes count as a mistake unless they are forced."""
FEW: Final = 5
"""So many changes never count as a mistake."""
BATCH: Final = 200
"""Edited lines of one transaction."""
TOGETHER: Final = 20
"""New lines that are reconciled together, in one call of the mind."""
RUNS: Final = 200
"""How many of the latest runs the sleep log shows."""
LOGGED: Final = ("sleep", "consolidate", "cascade", "edit", "import", "undo", "erase")
"""The causes of the runs that it shows: all but those that only add messages or count uses."""
FACTS: Final = 100_000
"""How many facts, and how many summaries, the pages show."""


def owner(ports: Ports) -> VaultOwner:
    """The owner of a vault. A hash of the secret names the store, so a copy of the store has the same name."""
    name = blake2b(b"vault", key=ports.store.secret, digest_size=8).hexdigest()
    return VaultOwner(store=name, scope=ports.scope)


def check_owner(ports: Ports, found: VaultOwner | None, ids: Sequence[str], *, what: str, force: bool) -> None:
    """Raise InputError if a vault belongs to another scope or, unless forced, to another store.

    A vault without an owner belongs to another store if it shows facts and the store has none of them.
    """
    expected = owner(ports)
    if found and found.scope != expected.scope:
        raise InputError(
            f"{what} shows the scope {found.scope}, not {expected.scope}: name that scope, or another folder"
        )
    foreign = found.store != expected.store if found else bool(ids) and not ports.store.get((ports.scope,), ids)
    if foreign and not force:
        raise InputError(f"{what} was written from another store: name another folder, or take it over with `force`")


def vault_contents(ports: Ports) -> dict[str, Any]:
    """What a vault shows of a scope: hot facts, core facts, summaries in order, the latest runs, and settings."""
    store, scope, config = ports.store, ports.scope, ports.config
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), limit=FACTS)
    stretches = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), cascade=True, order="seq", limit=FACTS)
    facts, summaries = store.select((scope,), where), store.select((scope,), stretches)
    full = [name for name, found in (("facts", facts), ("summaries", summaries)) if len(found) == FACTS]
    runs = {run.id: run for cause in LOGGED for run in store.runs(scope, RUNS, cause)}
    return {
        "owner": owner(ports),
        "facts": facts,
        "core": core_facts(replace(ports, scopes=(scope,))),
        "summaries": summaries,
        "runs": in_zone(sorted(runs.values(), key=lambda run: (run.at, run.id), reverse=True)[:RUNS], ports.zone),
        "settings": {
            "immediate_window": config.immediate_window,
            "recent_window": config.recent_window,
            "summary_profile": config.summary_profile,
        },
        "left_out": [f"the pages show no more than {FACTS:,} {name}: the rest is in memory alone" for name in full],
    }


def take(ports: Ports, edits: Iterable[VaultLine], *, gone: Sequence[str], dry_run: bool, force: bool) -> VaultImport:
    """Import what a person changed in a vault, as one run: an edited line updates its fact, a new line states one.

    A line that says what is known already changes nothing and does not count as a use, so an import can be repeated.
    If a fact was changed in the store as well since the export, its line is reported as a conflict.

    Args:
        ports: the store, the mind, the embedder and the settings.
        edits: the lines of the vault.
        gone: the ids of the facts whose lines were removed.
        dry_run: plan, and store nothing.
        force: allow more than five changes that are more than a fifth of the facts.

    Raises:
        InputError: a line cannot be a fact, or there are too many changes; nothing was changed.
        TrustError: these ports have a ceiling below the user; nothing was changed.
    """
    check_full_trust(ports, "import the edits of a vault")
    lines, conflicts = _one_line_per_fact(ports, [_checked(line) for line in edits])
    facts = max(1, len(ports.store.get((ports.scope,), [line.id for line in lines if line.id])))
    edited = [line for line in lines if line.id and _is_edited(line)]
    new = [line for line in lines if line.id is None]
    rewordings = _rewordings(ports, edited)
    unknown = _unknown(ports, new, rewordings.changes)
    known = len(new) - len(unknown) + rewordings.known
    stay = tuple((fact.id, fact.text) for fact in ports.store.get((ports.scope,), gone) if fact.is_searchable)
    changes = len(rewordings.changes) + len(unknown)
    excess = (
        f"{changes} changes in a vault of {counted(facts, 'fact')}" if changes > FEW and changes > MASS * facts else ""
    )
    if excess and not force and not dry_run:
        raise InputError(f"{excess}: check the dry run, then repeat it with `force`")
    run = _ImportRun(ports=ports, parent=new_id(ports.now()), conflicts=list(conflicts), dry_run=dry_run)
    for start in range(0, len(edited), BATCH):
        run.edit(edited[start : start + BATCH])
    if not dry_run:
        unknown = _unknown(ports, new)
    for start in range(0, len(unknown), TOGETHER):
        run.state(unknown[start : start + TOGETHER])
    confirm = f"{excess}: so many are made only with `force`" if excess and not force else ""
    return replace(run.result(), known=known, gone=stay, confirm=confirm)


def _checked(line: VaultLine) -> VaultLine:
    """The line with a valid text and category, or InputError. A category as it was exported is valid."""
    text = checked_text(line.text, "a line")
    is_exported = line.category == line.exported_category
    return replace(line, text=text, category=line.category if is_exported else checked_label(line.category, "category"))


def _is_edited(line: VaultLine) -> bool:
    return line.text != line.exported or line.exported_category not in {None, line.category}


def _one_line_per_fact(ports: Ports, lines: Iterable[VaultLine]) -> tuple[list[VaultLine], tuple[str, ...]]:
    """One line for each fact, and the conflicts where several lines of a fact have different edits.

    A line is no edit if it is as it was exported, or if it has an earlier text of the fact: then an older copy of the
    page is in the folder.
    """
    by_id: dict[str | None, list[VaultLine]] = {}
    for line in lines:
        by_id.setdefault(line.id, []).append(line)
    single, conflicts = by_id.pop(None, []), []
    for identity, same in by_id.items():
        earlier = _earlier_texts(ports, str(identity)) if len(same) > 1 else frozenset()
        edits = {(line.text, line.category): line for line in same if _is_edited(line) and line.text not in earlier}
        if len(edits) > 1:
            texts = " and ".join(repr(line.text) for line in edits.values())
            conflicts.append(f"{texts}: the lines of {identity} differ; leave one of them")
        else:
            unchanged = [line for line in same if not _is_edited(line)] or same
            single += list(edits.values()) or unchanged[:1]
    return single, tuple(conflicts)


def _earlier_texts(ports: Ports, identity: str) -> frozenset[str]:
    """The texts of a fact before each of its changes."""
    operations = (event.operation for event in ports.store.history(ports.scope, identity))
    changes = [operation for operation in operations if isinstance(operation, Change)]
    return frozenset(change.before.text for change in changes if change.before.text != change.after.text)


def _unknown(ports: Ports, lines: Sequence[VaultLine], changes: Sequence[Change] = ()) -> list[VaultLine]:
    """The lines that say what no live fact says after these changes; of several with the same content key, one."""
    new_keys = {content_key(change.after.text) for change in changes}
    reworded = {change.before.id for change in changes}
    unknown: dict[str, VaultLine] = {}
    for line in lines:
        key = content_key(line.text)
        if key not in new_keys and all(fact.id in reworded for fact in facts_with_key(ports, key)):
            unknown.setdefault(key, line)
    return list(unknown.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewordings:
    """What edited lines would do.

    `known` counts the lines with the text of a known fact. `conflicts` says why other lines change nothing.
    """

    operations: tuple[Operation, ...]
    known: int
    conflicts: tuple[str, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return _changes(self.operations)

    @property
    def updated(self) -> tuple[tuple[str, str, str], ...]:
        return _updated(self.changes)


def _rewordings(ports: Ports, lines: Sequence[VaultLine], index_entries: Sequence[IndexEntry] = ()) -> _Rewordings:
    """What edited lines would do to the facts as they are now. Without index entries the result is only shown."""
    facts = {fact.id: fact for fact in ports.store.get((ports.scope,), [str(line.id) for line in lines])}
    operations: list[Operation] = []
    conflicts: list[str] = []
    known, keys = 0, set[str]()
    for place, line in enumerate(lines):
        fact, key = facts.get(str(line.id)), content_key(line.text)
        if fact is not None and fact.is_searchable and (fact.text, fact.category) == (line.text, line.category):
            known += 1
        elif fact is None or (conflict := _conflict(line, fact)):
            conflicts.append(f"{line.text!r}: {conflict if fact else f'there is no fact {line.id}'}")
        elif key in keys:
            conflicts.append(f"{line.text!r}: another line says the same")
        else:
            keys.add(key)
            entry = index_entries[place] if index_entries else None
            try:
                operations += rewording(ports, fact, line.text, category=line.category, entry=entry)
            except ConflictError as error:
                conflicts.append(str(error))
    return _Rewordings(operations=tuple(operations), known=known, conflicts=tuple(conflicts))


def _conflict(line: VaultLine, fact: Memory) -> str:
    """Why an edited line cannot be imported; empty if it can."""
    if not fact.is_searchable:
        return f"the fact {fact.id} is no longer in use"
    if fact.kind not in FACT_KINDS or line.exported is None:
        return f"{fact.id} was not written to this vault; take the mark off for a fact of its own"
    if fact.text not in {line.exported, line.text}:
        return f"the fact {fact.id} was changed here too, to {fact.text!r}"
    if line.exported_category not in {None, fact.category} and fact.category != line.category:
        return f"the fact {fact.id} was moved here too, to {fact.category!r}"
    return ""


def _changes(operations: Iterable[Operation]) -> tuple[Change, ...]:
    return tuple(operation for operation in operations if isinstance(operation, Change))


def _updated(changes: Iterable[Change]) -> tuple[tuple[str, str, str], ...]:
    """Id, text before and text after of each fact whose text or category changed."""
    updated: list[tuple[str, str, str]] = []
    for change in changes:
        before, after = change.before, change.after
        if before.category != after.category:
            texts = f"[{before.category}] {before.text}", f"[{after.category}] {after.text}"
            updated.append((before.id, *texts))
        elif before.text != after.text:
            updated.append((before.id, before.text, after.text))
    return tuple(updated)


@dataclass(slots=True, kw_only=True)
class _ImportRun:
    """One import: a run with a child run for each batch, and the result of each; in a dry run, the planned result."""

    ports: Ports
    parent: str
    dry_run: bool
    applied: list[Operation] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waiting: int = 0

    def edit(self, lines: Sequence[VaultLine]) -> None:
        """Reword the facts of these lines."""
        index_entries, problems = ((), ()) if self.dry_run else entries(self.ports, [line.text for line in lines])
        attempts: list[_Rewordings] = []

        def plan() -> Plan:
            attempts.append(_rewordings(self.ports, lines, index_entries))
            because = f"{counted(len(lines), 'line')} edited in a vault"
            return self._child_plan("edit/changed", attempts[-1].operations, because)

        self._apply(plan)
        self.conflicts += attempts[-1].conflicts
        self.problems += problems
        self.notes += secrets(line.text for line in lines)

    def state(self, lines: Sequence[VaultLine]) -> None:
        """Reconcile the facts of these lines. A line in a page is no use of a fact: no use is counted."""
        facts = [Fact(text=line.text, category=line.category) for line in lines]
        attempts: list[ReconcileResult] = []

        def plan() -> Plan:
            attempts.append(reconcile(self.ports, facts, now=self.ports.now(), stated=True))
            operations = [operation for operation in attempts[-1].operations if not isinstance(operation, Use)]
            because = f"{counted(len(lines), 'line')} written into a vault"
            return replace(self._child_plan("edit/stated", operations, because), cost=attempts[-1].cost)

        self._apply(plan)
        result = attempts[-1]
        self.notes += (*result.notes, *secrets(fact.text for fact in facts))
        self.problems += result.problems
        self.waiting += result.waiting

    def result(self) -> VaultImport:
        """What all batches did."""
        return VaultImport(
            updated=_updated(_changes(self.applied)),
            added=tuple(operation.memory.text for operation in self.applied if isinstance(operation, Add)),
            conflicts=tuple(self.conflicts),
            notes=tuple(dict.fromkeys(self.notes)),
            run_id=self.parent if self.applied and not self.dry_run else None,
            waiting=self.waiting,
            problems=tuple(dict.fromkeys(self.problems)),
            dry_run=self.dry_run,
        )

    def _child_plan(self, cause: str, operations: Sequence[Operation], because: str) -> Plan:
        plan = single_group_plan(self.ports, cause, operations, because, now=self.ports.now())
        return replace(plan, parent=self.parent)

    def _apply(self, plan: Callable[[], Plan]) -> None:
        if self.dry_run:
            self.applied += plan().operations
            return
        try:
            self.applied += apply_with_retry(self.ports, plan).applied
        except ConflictError as error:
            self.conflicts.append(str(error))
