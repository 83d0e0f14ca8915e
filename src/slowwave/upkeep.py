"""Upkeep: the verbs of a memory that keep it in order: sleeping, undoing, reviewing, erasing, bringing in and out."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.errors import InputError, SlowwaveError
from slowwave.handle import Handle, refuse_open_store
from slowwave.model.config import Config
from slowwave.model.memory import Memory
from slowwave.model.names import checked_count, optional_conversation
from slowwave.model.plan import Plan, Receipt
from slowwave.telemetry import traced

if TYPE_CHECKING:
    from slowwave.pipelines.admin.erase import ErasureReceipt
    from slowwave.pipelines.admin.health import Health
    from slowwave.pipelines.exchange.import_ import ImportReport
    from slowwave.pipelines.exchange.vault import VaultImport
    from slowwave.pipelines.sleep.compact_now import Compaction
    from slowwave.pipelines.sleep.compact_topic import TopicCompaction
    from slowwave.pipelines.sleep.report import SleepReport


class Upkeep(Handle):
    """What maintains a memory; `AgentMemory` adds writing and asking."""

    @traced("upsert_memory")
    def sleep(self, *, dry_run: bool = False, think: bool = True) -> "SleepReport":
        """One maintenance pass. A dry run thinks and plans, and changes nothing; its plan can be applied later."""
        from slowwave.pipelines.sleep.night import sleep

        report = sleep(self._run_ports, self._rest, dry_run=dry_run, think=think)
        self._raise_if_strict(report.problems)
        return report

    tick = sleep

    def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int = 1000,
        told: Callable[[str, "SleepReport"], None] | None = None,
    ) -> dict[str, "SleepReport"]:
        """One night for each scope of the store that is due, not only this one's; returns scope and report.

        For whoever keeps a store. Many machines may do so at once: a scope's lease admits one of them.

        Args:
            think: whether the mind of this handle is asked.
            limit: how many scopes, the longest unslept first.
            told: called with scope and report as each is done.
        """
        from slowwave.pipelines.sleep.all_scopes import sleep_due

        reports: dict[str, SleepReport] = {}
        for scope, report in sleep_due(self._open_ports, think=think, limit=checked_count(limit, "limit")):
            reports[scope] = report
            if told:
                told(scope, report)
        return reports

    @traced("upsert_memory")
    def apply(self, plan: Plan) -> tuple[Receipt, ...]:
        """Execute a plan made earlier, under its version checks."""
        from slowwave.pipelines.sleep.night import apply

        return apply(self._open_ports, plan)

    def save_plan(self, plan: Plan, path: str | Path) -> None:
        """Write a dry run's plan to a new file of JSON, which `load_plan` reads.

        Raises:
            InputError: if the file is there already, or cannot be written.
        """
        from slowwave.formats import plan_file

        plan_file.write(path, plan)

    def load_plan(self, path: str | Path) -> Plan:
        """The plan of a file, to look at or to `apply`.

        Raises:
            InputError: if it is no plan, damaged, or one of another scope.
        """
        from slowwave.formats import plan_file
        from slowwave.pipelines.sleep.night import findable

        refuse_open_store(self._open_ports, path)
        plan = plan_file.read(path)
        if any(one.scope != self._open_ports.scope for one in (plan, *plan.parts)):
            raise InputError(f"{path} plans for scope {plan.scope}, and this is {self._open_ports.scope}")
        return findable(self._open_ports, plan)

    @traced("update_memory")
    def undo(self, run_id: str, *, cascade: bool = False) -> tuple[Receipt, ...]:
        """Take back a run. What rests on it is named, or taken back first with `cascade=True`."""
        from slowwave.pipelines.admin.undo import undo

        return undo(self._open_ports, run_id, cascade=cascade)

    @traced("upsert_memory")
    def compact_memories(self, conversation: str | None = None, *, force: bool = True) -> "Compaction":
        """Summarise now what lies outside the immediate window of a conversation; twice in a row, the second does nothing.

        Args:
            conversation: its name; None means the one written to last.
            force: also a rest shorter than `recent_window`; without, only what is due.
        """
        from slowwave.pipelines.conversations import latest_conversation
        from slowwave.pipelines.sleep.compact_now import compact_conversation

        done = compact_conversation(
            self._run_ports,
            optional_conversation(conversation) or latest_conversation(self._open_ports),
            force=force,
        )
        self._raise_if_strict(done.problems)
        return done

    @traced("upsert_memory")
    def compact(self, topic: str, *, dry_run: bool = False) -> "TopicCompaction":
        """Make one summary, or a few, of the hot facts about a topic now, rather than when they fade.

        What is pinned, core or protected stays as it is. Each summary keeps the names, numbers and dates of its members,
        which it supersedes in the same transaction; `undo` of the run brings them back.

        Args:
            topic: in words, such as "deploys".
            dry_run: think and plan only; the report's `plan` can be applied later.

        Raises:
            InputError: for an empty topic.
        """
        from slowwave.pipelines.sleep.compact_topic import compact_topic

        done = compact_topic(self._run_ports, topic, dry_run=dry_run)
        self._raise_if_strict(done.problems)
        return done

    def command(self, text: str) -> str:
        """Answer "@memory-status" or "@compact-memories", which summarises a long conversation now."""
        from slowwave.pipelines.admin.agent_commands import handle_agent_command

        return handle_agent_command(self._run_ports, text)

    @traced("delete_memory")
    def erase(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the word every caller would use
        source: str | None = None,
        conversation: str | None = None,
        text: str | None = None,
        scope: bool = False,
        rewrite: bool | None = None,
    ) -> "ErasureReceipt":
        """Destroy whole memories and everything derived from them, for good, and prove it.

        Give exactly one: the id of a memory, a source (the caller's own message id), a conversation, a text (whatever
        holds it or ever held it, in any case of its letters), or `scope=True` for all. What an erased summary stood for returns; erased words are kept out of later imports.

        What was erased leaves free space behind, and the proof is that a file, or a server's tables from which it was
        erased, are rewritten; others wait meanwhile. `rewrite`: True however large tables are, False never, None up to 64 MB.
        """
        from slowwave.pipelines.admin.erase import EraseTarget, erase

        choice = EraseTarget(memory_id=id, source=source, conversation=conversation, text=text, scope=scope)
        return erase(self._open_ports, choice, rewrite=rewrite)

    def review(self) -> list[Memory]:
        """What reads as an instruction to a model and was not said by the user; `reason` says what it looks like.

        It is stored, but in no recall, fact, summary or context until a person decides.
        """
        from slowwave.pipelines.ingest.review import review

        return review(self._open_ports)

    def health(self) -> "Health":
        """What a person should look at: contradictions, what waits, what is damaged, what piles up. A pure read.

        `health.ok` says that nothing is wrong and nothing waits for a person; it prints well.
        """
        from slowwave.pipelines.admin.health import health

        return health(self._open_ports, troubles=(self._sleeper.problem,) if self._sleeper else ())

    def plot(self, kind: str = "forgetting", *, text: bool = False) -> str:
        """A picture as SVG, or with `text=True` for a terminal.

        Args:
            kind: "forgetting" (the top facts' strengths and uses), "growth" (facts over time) or "sleep" (its nights).
            text: blocks and words instead of SVG.
        """
        from slowwave.pipelines.admin.plot import plot
        from slowwave.policy.charts import to_svg, to_text

        picture = plot(self._open_ports, kind)
        return to_text(picture) if text else to_svg(picture)

    @traced("update_memory")
    def release(self, memory_id: str) -> Receipt:
        """A person has looked at a memory under review: it is recalled like any other."""
        from slowwave.pipelines.admin.edit import release

        return self._told(release(self._open_ports, memory_id))

    @traced("update_memory")
    def reject(self, memory_id: str) -> Receipt:
        """A person has looked at a memory under review: it is retracted, and not taken in again."""
        from slowwave.pipelines.admin.edit import reject

        return self._told(reject(self._open_ports, memory_id))

    @traced("update_memory")
    def reembed(self) -> int:
        """Give every memory a vector of the current embedder; resumable. Returns how many got one."""
        from slowwave.pipelines.ingest.reembed import reembed

        return reembed(self._open_ports)

    def doctor(self, *, deep: bool = False, repair: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well.

        Args:
            deep: also read every row against its checksum, and replay the journal of every scope.
            repair: first compute the checksums of damaged rows anew, in all scopes, where a replay of the journal proves
                what they hold. The list then begins with what was repaired, if anything was, and why other damaged
                rows were not touched.
        """
        store = self._open_ports.store
        done = store.repair() if repair else None
        told = [*([str(done)] if done else []), *(done.refused if done is not None else ())]
        return [*told, *store.check(deep=deep)]

    def backup(self, path: str | Path) -> None:
        """Write a copy of the whole store, every scope and its journal, into a new file; writing may go on meanwhile.

        The copy has passed the checks of `doctor(deep=True)`, and only its owner can read it. It is opened like any store.

        Args:
            path: a file that does not exist yet.

        Raises:
            InputError: the file exists, or the store is in Postgres: use `pg_dump` or `slowwave copy`.
            StoreError: the copy cannot be written or is not sound; no file is left.
        """
        self._open_ports.store.backup(str(path))

    @traced("upsert_memory")
    def import_(
        self,
        path: str | Path,
        format: str = "auto",  # noqa: A002 - the word of the command line
        *,
        dry_run: bool = False,
        trust_export: bool = False,
        told: Callable[[int], None] | None = None,
    ) -> "ImportReport":
        """Take in the conversations or facts of a file; what is known already stays. One run, taken back by `undo`.

        Args:
            path: the file; archives of ChatGPT and Claude as they were downloaded.
            format: "jsonl", "locomo", "beam", "chatgpt", "claude", "mem0", "letta", or "auto" to look.
            dry_run: count only.
            trust_export: believe an export of another memory of yours fully: trust, pins, phases, uses and flags. An
                export of this scope proves itself; any other is believed no further than an imported file.
            told: called after each batch with how many items were read.
        """
        from slowwave import formats
        from slowwave.pipelines.exchange.import_ import incoming

        ports = self._run_ports
        refuse_open_store(ports, path)
        proof = formats.Proof(secret=ports.store.secret, scopes=ports.scopes)
        items = formats.read(path, format, proof=proof)
        return incoming(ports, items, dry_run=dry_run, trust_export=trust_export, told=told)

    def export(self, path: str | Path, *, overwrite: bool = False) -> int:
        """Write all of this scope to a file of JSON lines, whole or not at all; returns how many records.

        Its last line proves to this store, and to copies of it, that the file is its own and unchanged.
        """
        from slowwave import formats
        from slowwave.pipelines.exchange.export import outgoing

        ports = self._open_ports
        records = outgoing(ports)
        return formats.write(
            path, records, scope=ports.scope, at=ports.now(), secret=ports.store.secret, overwrite=overwrite
        )

    def export_vault(
        self, folder: str | Path, *, force: bool = False, told: Callable[[str], None] | None = None
    ) -> tuple[str, ...]:
        """Write facts, core, summaries and a sleep log as Markdown pages that Obsidian opens; returns those that changed.

        Where a page holds words of a person that are not in memory, it goes to the folder `kept` before it is written
        anew. Nothing else in the folder is touched. Its page `config/memory_compaction.md` holds for this handle from now
        on.

        Args:
            folder: where; made if it is missing.
            force: also where the vault is of another store, whose pages give way to those of this one.
            told: called with each sentence on what was kept or left alone.

        Raises:
            InputError: it is another memory's vault, or cannot be written.
        """
        from slowwave.formats.vault import files, front_matter, render
        from slowwave.pipelines.exchange.vault import vault_contents

        folder = Path(folder)
        self._check_owner(folder, force=force)
        self._as_in(front_matter.compaction(folder))
        return files.write(folder, render.Holding(**vault_contents(self._open_ports)), told=told)

    @traced("upsert_memory")
    def import_vault(self, folder: str | Path, *, dry_run: bool = True, force: bool = False) -> "VaultImport":
        """Take back what a person changed in a vault, as one run: edited lines are updates with history, new lines stated facts.

        A line that says what is known already changes nothing, so an import can be repeated.

        Args:
            folder: where it was exported to.
            dry_run: plan and say what would change, asking the mind as the import itself would; the default.
            force: also when more than five changes are more than a fifth of the facts, or the vault is another store's.

        Raises:
            InputError: there is no vault, it is another memory's, or the changes want confirming.
        """
        from slowwave.formats.vault import files, front_matter
        from slowwave.pipelines.exchange.vault import take

        folder = Path(folder)
        self._check_owner(folder, force=force)
        found = files.read(folder)
        self._as_in(front_matter.compaction(folder))
        taken = take(self._run_ports, found.lines, gone=found.gone, dry_run=dry_run, force=force)
        taken = replace(taken, conflicts=(*taken.conflicts, *found.unread))
        self._raise_if_strict(taken.problems)
        return taken

    def sync_vault(self, folder: str | Path, *, force: bool = False) -> "VaultImport":
        """Take back what a person changed, then write the pages anew. A folder without a vault gets one.

        Raises:
            InputError: as `import_vault` and `export_vault`; nothing was changed.
            SlowwaveError: the edits were taken in, and then the pages could not be written; it tells the run.
        """
        from slowwave.formats.vault import files
        from slowwave.pipelines.exchange.vault import VaultImport

        folder = Path(folder)
        fresh = not folder.is_dir() or not any(folder.iterdir())
        taken, told = VaultImport(dry_run=False), list[str]()
        if not fresh:
            self._check_owner(folder, force=force)
            files.check_writable(folder)
            taken = self.import_vault(folder, dry_run=False, force=force)
        try:
            pages = self.export_vault(folder, force=force, told=told.append)
        except InputError as error:
            if taken.run_id is None:
                raise
            raise SlowwaveError(f"{error}; what you changed was taken in before that, sync again:\n{taken}") from error
        return replace(taken, pages=pages, notes=tuple(dict.fromkeys((*taken.notes, *told))))

    def _check_owner(self, folder: Path, *, force: bool) -> None:
        """Raise InputError if a vault is of another memory."""
        from slowwave.formats.vault import files
        from slowwave.pipelines.exchange.vault import check_owner

        if before := files.baseline(folder):
            ids = tuple(before.facts)
            check_owner(self._open_ports, before.owner, ids, what=f"the vault {folder}", force=force)

    def _as_in(self, settings: Mapping[str, object]) -> None:
        """The numbers of a vault's settings page hold for this handle."""
        if settings:
            known = {f.name: getattr(self._ports.config, f.name) for f in fields(Config)}
            self._ports = replace(self._ports, config=Config.from_mapping({**known, **settings}))
