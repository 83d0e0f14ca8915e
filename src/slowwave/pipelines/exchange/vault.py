"""Export of a memory as a folder of Markdown pages, and import of their edits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from slowwave.errors import ConflictError, InputError
from slowwave.model.codec import content_key
from slowwave.model.exchange import VaultLine, VaultOwner
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import FACT_KINDS, HOT, SUMMARY, Memory
from slowwave.model.mind import Fact
from slowwave.model.operations import Add, Change, Operation, Use
from slowwave.model.plan import Plan
from slowwave.model.query import Where
from slowwave.pipelines.admin.edit import rewording
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import secrets
from slowwave.pipelines.planning import apply_with_retry, checked_name, checked_text, new_id, single_group_plan
from slowwave.pipelines.recall.core_memory import core_facts
from slowwave.ports import Ports

SHOWN: Final = 3
"""Vanished lines that are named; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultImport:
    """What a vault's edits would be in a dry run, else what really came of them.

    Attributes:
        updated: id, words before and words after of each fact that got new ones, or category and words where it moved.
        added: the words of each fact that was added.
        known: how many changed or new lines say what is known already; they change nothing.
        conflicts: why a line was not taken.
        gone: id and words of each fact whose line vanished; it stays in memory: a vanished line never means erase.
        notes: what else came of it, such as which fact a new line replaced, and which pages were kept or left alone.
        run_id: what undo takes to take all of it back; None if nothing changed.
        waiting: new facts that wait for a mind.
        pages: pages that were written anew after it, where they were.
        confirm: what a dry run found that only `force` does; empty if nothing.
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
        lines += [
            f"  stays in memory: {words!r}; to take it back: slowwave delete {i}" for i, words in self.gone[:SHOWN]
        ]
        if self.gone[SHOWN:]:
            lines.append(f"  and {len(self.gone) - SHOWN} more whose lines are gone stay in memory")
        if self.run_id:
            lines.append(f"  run {self.run_id}, undo all of it with `slowwave undo {self.run_id}`")
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


def counted(number: int, noun: str) -> str:
    """A number of things: "1 line", "2 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


MASS: Final = 0.2
"""Share of the facts above which changes are taken for a mishap, unless they are confirmed."""
FEW: Final = 5
"""So many changes are never a mishap."""
BATCH: Final = 200
"""Edits of one transaction."""
TOGETHER: Final = 20
"""New lines that meet what is known together: a mind sees them at once."""
RUNS: Final = 200
"""Of the latest runs, so many stand in the sleep log."""
LOGGED: Final = ("sleep", "consolidate", "cascade", "edit", "import", "undo", "erase")
"""Causes of the runs that stand there: all that did more than add what was said, or use it."""
FACTS: Final = 100_000


def owner(ports: Ports) -> VaultOwner:
    """Whose a vault is: the store is named by a hash of its secret, which a copy of the store has too."""
    name = blake2b(b"vault", key=ports.store.secret, digest_size=8).hexdigest()
    return VaultOwner(store=name, scope=ports.scope)


def check_owner(ports: Ports, found: VaultOwner | None, ids: Sequence[str], *, what: str, force: bool) -> None:
    """Raise InputError if a vault is of another scope, or unless it is forced, of another store.

    One that does not say whose it is counts as another's if it shows facts and none of them is known here.
    """
    own = owner(ports)
    if found and found.scope != own.scope:
        raise InputError(f"{what} shows the scope {found.scope}, not {own.scope}: name that scope, or another folder")
    foreign = found.store != own.store if found else bool(ids) and not ports.store.get((ports.scope,), ids)
    if foreign and not force:
        raise InputError(f"{what} was written from another store: name another folder, or take it over with --force")


def vault_contents(ports: Ports) -> dict[str, Any]:
    """What a vault shows of a scope: hot facts, those of core, summaries in order, the latest runs, and the windows."""
    store, scope, config = ports.store, ports.scope, ports.config
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), limit=FACTS)
    told = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), cascade=True, order="seq", limit=FACTS)
    facts, summaries = store.select((scope,), where), store.select((scope,), told)
    full = [name for name, found in (("facts", facts), ("summaries", summaries)) if len(found) == FACTS]
    runs = {run.id: run for cause in LOGGED for run in store.runs(scope, RUNS, cause)}
    return {
        "owner": owner(ports),
        "facts": facts,
        "core": core_facts(replace(ports, scopes=(scope,))),
        "summaries": summaries,
        "runs": sorted(runs.values(), key=lambda run: (run.at, run.id), reverse=True)[:RUNS],
        "settings": {
            "immediate_window": config.immediate_window,
            "recent_window": config.recent_window,
            "summary_profile": config.summary_profile,
        },
        "left_out": [f"the pages show no more than {FACTS:,} {name}: the rest is in memory alone" for name in full],
    }


def take(ports: Ports, wishes: Iterable[VaultLine], *, gone: Sequence[str], dry_run: bool, force: bool) -> VaultImport:
    """Take back what a person changed, as one run: an edited line is an update with history, a new one a stated fact.

    A line that says what is known already changes nothing and is no use of the fact, so that an import can be repeated.
    A fact that changed here since the export as well is not touched, and told; `gone` are the ids whose lines vanished.

    Raises:
        InputError: a line cannot be a fact, or more than five changes are more than a fifth of the facts, and `force`
            does not confirm it; nothing was changed.
    """
    lines, twofold = _single(ports, [_checked(one) for one in wishes])
    facts = max(1, len(ports.store.get((ports.scope,), [one.id for one in lines if one.id])))
    edited = [one for one in lines if one.id and _is_edited(one)]
    new = [one for one in lines if one.id is None]
    planned = _rewordings(ports, edited)
    fresh = _unknown(ports, new, planned.changes)
    known = len(new) - len(fresh) + planned.known
    stay = tuple((fact.id, fact.text) for fact in ports.store.get((ports.scope,), gone) if fact.is_searchable)
    changes = len(planned.changes) + len(fresh)
    many = (
        f"{changes} changes in a vault of {counted(facts, 'fact')}" if changes > FEW and changes > MASS * facts else ""
    )
    if many and not force and not dry_run:
        raise InputError(f"{many}: look at the dry run, then confirm with --force")
    taking = _Taking(ports=ports, parent=new_id(ports.now()), conflicts=list(twofold), dry_run=dry_run)
    for start in range(0, len(edited), BATCH):
        taking.edit(edited[start : start + BATCH])
    if not dry_run:
        fresh = _unknown(ports, new)
    for start in range(0, len(fresh), TOGETHER):
        taking.state(fresh[start : start + TOGETHER])
    confirm = f"{many}: so many are made only with --force" if many and not force else ""
    return replace(taking.taken(), known=known, gone=stay, confirm=confirm)


def _checked(line: VaultLine) -> VaultLine:
    """The line with clean words, or InputError saying which cannot be a fact."""
    return replace(line, text=checked_text(line.text, "a line"), category=checked_name(line.category, "category"))


def _is_edited(line: VaultLine) -> bool:
    return line.text != line.exported or line.exported_category not in {None, line.category}


def _single(ports: Ports, lines: Iterable[VaultLine]) -> tuple[list[VaultLine], tuple[str, ...]]:
    """One line for each id, and why those of an id that stands on several lines with different words are not taken.

    What stands as it was written is no edit, nor are words that the fact had once: they stand in an older copy.
    """
    by_id: dict[str | None, list[VaultLine]] = {}
    for line in lines:
        by_id.setdefault(line.id, []).append(line)
    single, conflicts = by_id.pop(None, []), []
    for identity, same in by_id.items():
        had = _wordings(ports, str(identity)) if len(same) > 1 else frozenset()
        edits = {(one.text, one.category): one for one in same if _is_edited(one) and one.text not in had}
        if len(edits) > 1:
            words = " and ".join(repr(one.text) for one in edits.values())
            conflicts.append(f"{words}: the lines of {identity} differ; leave one of them")
        else:
            unchanged = [one for one in same if not _is_edited(one)] or same
            single += list(edits.values()) or unchanged[:1]
    return single, tuple(conflicts)


def _wordings(ports: Ports, identity: str) -> frozenset[str]:
    """What a fact said before each change."""
    moved = (event.operation for event in ports.store.history(ports.scope, identity))
    changes = [one for one in moved if isinstance(one, Change)]
    return frozenset(one.before.text for one in changes if one.before.text != one.after.text)


def _unknown(ports: Ports, lines: Sequence[VaultLine], changes: Sequence[Change] = ()) -> list[VaultLine]:
    """Those that say, once these changes are made, what no live fact says; each once."""
    said = {content_key(change.after.text) for change in changes}
    reworded = {change.before.id for change in changes}
    fresh: dict[str, VaultLine] = {}
    for line in lines:
        key = content_key(line.text)
        where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), key=key)
        if key not in said and all(fact.id in reworded for fact in ports.store.select((ports.scope,), where)):
            fresh.setdefault(key, line)
    return list(fresh.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewordings:
    """What edited lines come to: operations, how many say what their fact says by now, and why some are not taken."""

    operations: tuple[Operation, ...]
    known: int
    conflicts: tuple[str, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return _changes(self.operations)

    @property
    def updated(self) -> tuple[tuple[str, str, str], ...]:
        return _updated(self.changes)


def _rewordings(ports: Ports, lines: Sequence[VaultLine], made: Sequence[IndexEntry] = ()) -> _Rewordings:
    """What edited lines come to on what stands now; `made` is what recall needs of each, if it is to be applied."""
    facts = {fact.id: fact for fact in ports.store.get((ports.scope,), [str(line.id) for line in lines])}
    operations: list[Operation] = []
    conflicts: list[str] = []
    known, said = 0, set[str]()
    for place, line in enumerate(lines):
        fact, key = facts.get(str(line.id)), content_key(line.text)
        if fact is not None and fact.is_searchable and (fact.text, fact.category) == (line.text, line.category):
            known += 1
        elif fact is None or (trouble := _trouble(line, fact)):
            conflicts.append(f"{line.text!r}: {trouble if fact else f'there is no fact {line.id}'}")
        elif key in said:
            conflicts.append(f"{line.text!r}: another line says the same")
        else:
            said.add(key)
            try:
                operations += rewording(
                    ports, fact, line.text, category=line.category, entry=made[place] if made else None
                )
            except ConflictError as error:
                conflicts.append(str(error))
    return _Rewordings(operations=tuple(operations), known=known, conflicts=tuple(conflicts))


def _trouble(line: VaultLine, fact: Memory) -> str:
    """Why an edited line cannot be taken; empty if it can."""
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
    return tuple(one for one in operations if isinstance(one, Change))


def _updated(changes: Iterable[Change]) -> tuple[tuple[str, str, str], ...]:
    """Id, before and after of each fact whose words, or at least category, changed."""
    pairs = [(one.before.id, *_told(one.before, one.after)) for one in changes]
    return tuple((identity, before, after) for identity, before, after in pairs if before != after)


def _told(before: Memory, after: Memory) -> tuple[str, str]:
    if before.category == after.category:
        return before.text, after.text
    return f"[{before.category}] {before.text}", f"[{after.category}] {after.text}"


@dataclass(slots=True, kw_only=True)
class _Taking:
    """An import under way: one run, a part a batch, and what really came of each; in a dry run what would."""

    ports: Ports
    parent: str
    dry_run: bool
    applied: list[Operation] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waiting: int = 0

    def edit(self, lines: Sequence[VaultLine]) -> None:
        """New words for facts."""
        made, problems = ((), ()) if self.dry_run else entries(self.ports, [line.text for line in lines])
        planned: list[_Rewordings] = []

        def plan() -> Plan:
            planned.append(_rewordings(self.ports, lines, made))
            return self._part(
                "edit/changed", planned[-1].operations, f"{counted(len(lines), 'line')} edited in a vault"
            )

        self._settled(plan)
        self.conflicts += planned[-1].conflicts
        self.problems += problems
        self.notes += secrets(line.text for line in lines)

    def state(self, lines: Sequence[VaultLine]) -> None:
        """New facts meet what is known. What stands in a page is no use of it: nothing is strengthened."""
        facts = [Fact(text=line.text, category=line.category) for line in lines]
        done: list[ReconcileResult] = []

        def plan() -> Plan:
            done.append(reconcile(self.ports, facts, now=self.ports.now(), stated=True))
            operations = [one for one in done[-1].operations if not isinstance(one, Use)]
            made = self._part("edit/stated", operations, f"{counted(len(lines), 'line')} written into a vault")
            return replace(made, cost=done[-1].cost)

        self._settled(plan)
        self.notes += (*done[-1].notes, *secrets(fact.text for fact in facts))
        self.problems += done[-1].problems
        self.waiting += done[-1].waiting

    def taken(self) -> VaultImport:
        """What came of all."""
        return VaultImport(
            updated=_updated(_changes(self.applied)),
            added=tuple(one.memory.text for one in self.applied if isinstance(one, Add)),
            conflicts=tuple(self.conflicts),
            notes=tuple(dict.fromkeys(self.notes)),
            run_id=self.parent if self.applied and not self.dry_run else None,
            waiting=self.waiting,
            problems=tuple(dict.fromkeys(self.problems)),
            dry_run=self.dry_run,
        )

    def _part(self, cause: str, operations: Sequence[Operation], because: str) -> Plan:
        made = single_group_plan(self.ports, cause, operations, because, now=self.ports.now())
        return replace(made, parent=self.parent)

    def _settled(self, plan: Callable[[], Plan]) -> None:
        if self.dry_run:
            self.applied += plan().operations
            return
        try:
            self.applied += apply_with_retry(self.ports, plan).applied
        except ConflictError as error:
            self.conflicts.append(str(error))
