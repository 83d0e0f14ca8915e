"""Erases memories with everything derived from them, restores what they had superseded, and verifies the result.

Nothing else in the package destroys content.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from slowwave.errors import InputError, NotFoundError, StoreError
from slowwave.model.codec import content_key
from slowwave.model.counted import counted
from slowwave.model.json_value import strings
from slowwave.model.memory import KINDS, MESSAGE, NOTE, Memory
from slowwave.model.names import optional_name
from slowwave.model.operations import Erase, Operation, Suppress
from slowwave.model.plan import GROUP_MAX, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.pipelines.admin.erase_plan import BECAUSE, ErasePlan
from slowwave.pipelines.conversations import WITHHELD
from slowwave.pipelines.ingest.tombstones import SOME, unerased, with_keyed_tombstones
from slowwave.pipelines.planning import TRIES, check_full_trust, new_id
from slowwave.policy.text.spellings import spellings
from slowwave.ports import Ports

NOT_REACHED = (
    "backups",
    "exports",
    "vaults (a sync writes their pages again; check the pages that you edited, and those in kept/)",
    "logs of model providers",
)
MIN_SCAN_LENGTH = 12
"""Characters of the shortest text that is searched for in files: a shorter one may occur by chance."""

PIECE, PIECES = 500, 32
"""Characters of the pieces of a longer text that are searched for, and their greatest number. A text that is longer than a page
of a file is nowhere in one piece."""

MAX_LISTED = 10
"""Ids that a receipt prints of the memories that still say what was erased."""

WORDS_SHOWN = 80
"""Characters of each memory that a preview shows."""

EVERY_WORD = ""
"""The empty text: every reason in the journal contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseTarget:
    """What to erase, selected in exactly one way: an id, the caller's message id, a conversation, a text, or all."""

    memory_id: str | None = None
    source: str | None = None
    conversation: str | None = None
    text: str | None = None
    scope: bool = False

    def __post_init__(self) -> None:
        """Raise InputError unless exactly one way is used, and its value is valid."""
        if not isinstance(self.scope, bool) or not isinstance(self.text, str | None):
            raise InputError("the text to erase must be text, and scope True or False")
        for name, numbers in (("memory_id", False), ("source", False), ("conversation", True)):
            checked = optional_name(getattr(self, name), "id" if name == "memory_id" else name, numbers=numbers)
            object.__setattr__(self, name, checked)
        ways = (self.memory_id, self.source, self.conversation, self.text)
        if sum(way is not None for way in ways) + self.scope != 1:
            raise InputError(
                "say what to erase in exactly one way: id, source, conversation, text, or scope for everything"
            )
        if self.text is not None and not self.text.strip():
            raise InputError("an empty text would match everything: give the words to erase, or erase the whole scope")

    @property
    def key(self) -> str:
        """The key under which this erase is held: a hash, so that the same erase can be repeated without its words."""
        ways = (self.memory_id, self.source, self.conversation, self.text, "" if self.scope else None)
        return next(f"asked {place} {content_key(way)}" for place, way in enumerate(ways) if way is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erase destroyed, restored, made due again and could not reach.

    `restored` are memories that an erased one had superseded, and facts that other messages support, which are stored again.
    `still` are memories of this scope with the same content as an erased one, such as its source messages. The caller did not
    choose them, so they are kept. `verified` says that the words are nowhere in the store, or, if `pending` is not empty, in
    no row of the scope. If it is false, repeat the erase when no other process has the file open and no older transaction is
    open on the server. `rewritten` names the file or the tables that were rewritten, while other writers had to wait.

    `pending` says what only a proof of the whole store can show: a database of more than 64 MB is not rewritten for each
    erase. `Slowwave.prove_erased`, or `slowwave erase --prove-pending`, proves all pending erases together.

    `titles` is the number of titles of conversations that were destroyed; later imports do not set them again.

    With `dry_run` nothing was erased: `destroyed`, `titles`, `restored` and `due` are what an erase would do, and `first_words`
    are the beginnings of the first memories of `destroyed`, in the same order.
    """

    run_id: str
    destroyed: tuple[str, ...]
    restored: tuple[str, ...]
    due: tuple[str, ...]
    not_reached: tuple[str, ...]
    verified: bool
    problems: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    dry_run: bool = False
    first_words: tuple[str, ...] = ()
    titles: int = 0

    def __str__(self) -> str:
        if self.dry_run:
            return self._preview()
        back = f", restored {len(self.restored):,}" if self.restored else ""
        lines = [f"erased {self.amount}{back}; {self._proof()}"]
        lines += [f"  still said by {identity}" for identity in self.still[:MAX_LISTED]]
        if more := self.still[MAX_LISTED:]:
            lines.append(f"  and by {len(more)} more: an `erase` by text destroys all that contain the same words")
        lines += [f"  rewritten: {', '.join(self.rewritten)}"] if self.rewritten else []
        lines += [f"  due: {what}" for what in self.due]
        lines += [f"  problem: {problem}" for problem in self.problems]
        lines += [f"  pending: {what}" for what in self.pending]
        lines.append(f"  not reached: {', '.join(self.not_reached)}")
        return "\n".join(lines)

    @property
    def amount(self) -> str:
        """How many memories and titles, in words."""
        titles = f" and {counted(self.titles, 'title')}" if self.titles else ""
        return f"{counted(len(self.destroyed), 'memory', 'memories')}{titles}"

    def _preview(self) -> str:
        number, shown = len(self.destroyed), len(self.first_words)
        back = f", and restore {len(self.restored):,}" if self.restored else ""
        lines = [f"would erase {self.amount}{back}"]
        lines += [f"  {identity}  {words}" for identity, words in zip(self.destroyed, self.first_words, strict=False)]
        lines += [f"  and {number - shown:,} more"] if number > shown else []
        return "\n".join([*lines, *(f"  due: {what}" for what in self.due)])

    def _proof(self) -> str:
        if not self.verified:
            return "NOT verified"
        if not self.still:
            if self.pending:
                return "verified: no row of this scope holds a trace; the free space of the tables is proved later"
            return "verified: no trace is left in this scope; other scopes were left alone"
        still = counted(len(self.still), "memory of this scope still says it", "memories of this scope still say it")
        return f"verified, but {still}"


class EraseInterruptedError(KeyboardInterrupt):
    """An erase was stopped by Ctrl-C. What it destroyed until then cannot be restored.

    The same call again erases the rest, and verifies all of it.

    Attributes:
        receipt: what was destroyed until then; it is not verified.
        remaining: how many memories that were to be erased still exist.
    """

    def __init__(self, receipt: ErasureReceipt, remaining: int) -> None:
        destroyed = "no memory and no title was destroyed"
        if receipt.destroyed or receipt.titles:
            destroyed = f"destroyed {receipt.amount} for good; still to erase: {remaining:,}; nothing was verified"
        super().__init__(f"interrupted; {destroyed}; the same erase again finishes and verifies it")
        self.receipt = receipt
        self.remaining = remaining


@dataclass(slots=True, kw_only=True)
class _Progress:
    """What an erase has done so far. `planned` are the memories of the last plan, and `plan_id` is its run."""

    run_id: str
    plan_id: str = ""
    planned: dict[str, Memory] = field(default_factory=dict)
    destroyed: dict[str, Memory] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)
    due: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    touched: bool = False


def erase(ports: Ports, choice: EraseTarget, *, rewrite: bool | None = None) -> ErasureReceipt:
    """Destroy whole memories that match, and everything derived from them. A repeated erase finishes an interrupted one.

    Args:
        ports: everything it works with.
        choice: what to erase.
        rewrite: whether files or tables may be rewritten, for which other writers wait; None: only small ones.

    Raises:
        NotFoundError: if nothing matches, and no earlier erase of the same is unfinished.
        EraseInterruptedError: Ctrl-C was pressed; it says what was destroyed until then.
        TrustError: these ports have a ceiling below the user.
    """
    check_full_trust(ports, "erase")
    done = _Progress(run_id=new_id(ports.now()))
    try:
        return _erase(ports, choice, done, rewrite=rewrite)
    except KeyboardInterrupt as stop:
        raise _interrupted(ports, done) from stop


def _erase(ports: Ports, choice: EraseTarget, done: _Progress, *, rewrite: bool | None) -> ErasureReceipt:
    repeated = _was_erased_before(ports, choice)
    for _ in range(TRIES):
        sequence = ports.store.sequence(ports.scope)
        if not sequence:  # nothing was ever stored
            break
        receipt = _apply(ports, ErasePlan(ports, _chosen(ports, choice), choice.text), choice, done, sequence)
        done.problems = [dropped.reason for dropped in receipt.dropped]
        if choice.text is not None and ports.store.mentions(ports.scope, choice.text):
            done.problems.append("memories that were stored meanwhile contain the words: erase again")
        if not done.problems:
            break
    if not done.touched and not repeated and not done.problems:
        raise NotFoundError(f"nothing in scope {ports.scope} matches; nothing was erased")
    if (
        done.touched and not done.destroyed
    ):  # only words in the journal were erased, which the plan cannot know beforehand
        holds = with_keyed_tombstones(
            ports, [[Suppress(key=SOME, because=BECAUSE), Suppress(key=choice.key, because=BECAUSE)]]
        )
        now, groups = ports.now(), tuple(_groups(holds))
        ports.store.apply(
            Plan(id=new_id(now), scope=ports.scope, cause="erase", at=now, groups=groups, parent=done.run_id)
        )
    titles, present = _gone_titles(ports, done), _titles(ports)
    first, *others = _pieces(choice.text or "")
    words = [*spellings(first), *others, *sorted(set(titles) - set(present.values()))]
    proof = ports.store.prove_erased(
        ports.scope,
        _needles(words, done.destroyed.values()),
        tuple(done.destroyed),
        rewrite=rewrite,
        again=repeated,
    )
    done.problems += proof.problems
    return ErasureReceipt(
        run_id=done.run_id,
        destroyed=tuple(done.destroyed),
        restored=tuple(done.restored),
        due=tuple(done.due),
        not_reached=(*NOT_REACHED, *ports.store.unreached),
        verified=not done.problems,
        problems=tuple(done.problems),
        still=_still(ports, choice, done.destroyed),
        rewritten=proof.rewritten,
        pending=proof.pending,
        titles=len(titles),
    )


def _interrupted(ports: Ports, done: _Progress) -> EraseInterruptedError:
    """The error of an interrupted erase. The store says what is gone: the last transaction may have been committed."""
    titles: list[str] = []
    problems = ["interrupted"]
    try:
        left = {memory.id for memory in ports.store.get((ports.scope,), done.planned)}
        gone = {identity: memory for identity, memory in done.planned.items() if identity not in left}
        if gone.keys() - done.destroyed.keys():
            done.run_id = done.plan_id
        done.destroyed |= gone
        titles = _gone_titles(ports, done)
    except StoreError as error:
        problems.append(f"what was destroyed could not be counted: {error}")
    receipt = ErasureReceipt(
        run_id=done.run_id,
        destroyed=tuple(done.destroyed),
        restored=tuple(done.restored),
        due=tuple(done.due),
        not_reached=(*NOT_REACHED, *ports.store.unreached),
        verified=False,
        problems=tuple(problems),
        titles=len(titles),
    )
    return EraseInterruptedError(receipt, len(done.planned.keys() - done.destroyed.keys()))


def preview(ports: Ports, choice: EraseTarget) -> ErasureReceipt:
    """What an erase would destroy, restore and leave due. Nothing is changed.

    Titles that contain the words are counted. Words that only the journal holds are not counted: `erase` finds them when it replaces them.

    Raises:
        NotFoundError: nothing matches, and no earlier erase of the same is unfinished.
    """
    plan = ErasePlan(ports, _chosen(ports, choice), choice.text)
    _units(plan, choice)  # fills in what returns, what is due, and the titles
    if not plan.memories and not plan.titles and not choice.scope and not _is_known(ports, choice):
        raise NotFoundError(f"nothing in scope {ports.scope} matches; nothing would be erased")
    first = list(plan.memories.values())[:MAX_LISTED]
    return ErasureReceipt(
        run_id="",
        destroyed=tuple(plan.memories),
        restored=tuple(plan.restored),
        due=tuple(plan.due),
        not_reached=(*NOT_REACHED, *ports.store.unreached),
        verified=False,
        dry_run=True,
        titles=len(plan.titles),
        first_words=tuple(
            WITHHELD if memory.is_withheld and not ports.reviews else " ".join(memory.text.split())[:WORDS_SHOWN]
            for memory in first
        ),
    )


def _is_known(ports: Ports, choice: EraseTarget) -> bool:
    """Whether something of the choice is stored although no memory matches: a conversation without messages, or words in the journal."""
    if choice.conversation is not None and ports.store.conversation(ports.scope, choice.conversation) is not None:
        return True
    if choice.text is not None and ports.store.mentions(ports.scope, choice.text):
        return True
    return _was_erased_before(ports, choice)


def _titles(ports: Ports) -> dict[str, str]:
    """The titles of all conversations of the scope that have one, by name."""
    return {found.name: found.title for found in ports.store.conversations(ports.scope) if found.title is not None}


def _gone_titles(ports: Ports, done: _Progress) -> list[str]:
    """The titles that were to be destroyed and are."""
    present = _titles(ports)
    return [title for name, title in done.titles.items() if present.get(name) != title]


def _units(plan: ErasePlan, choice: EraseTarget) -> list[list[Operation]]:
    """The operations of an erase, in units."""
    units: list[list[Operation]] = plan.units() if plan.memories else []
    if choice.text is not None or choice.scope:
        units.append(plan.words(choice.text or EVERY_WORD))
    if choice.scope:
        units.append([Erase(scope=True, because=BECAUSE)])
    if choice.conversation is not None and not plan.memories:
        units.append(plan.emptied_conversation(choice.conversation))
    known = plan.memories or plan.titles  # otherwise there may be nothing to destroy
    return [[Suppress(key=choice.key, because=BECAUSE)], *units] if known else units


def _apply(ports: Ports, plan: ErasePlan, choice: EraseTarget, done: _Progress, sequence: int) -> Receipt:
    """Apply the plan of an erase that was computed on the scope at `sequence`."""
    units = with_keyed_tombstones(ports, _units(plan, choice))
    now, run = ports.now(), new_id(ports.now())
    done.titles |= plan.titles
    done.planned, done.plan_id = plan.memories, run
    groups = tuple(_groups(units))
    receipt = ports.store.apply(
        Plan(id=run, scope=ports.scope, cause="erase", at=now, groups=groups, sequence=sequence)
    )
    erased = {operation.memory for operation in receipt.applied if isinstance(operation, Erase)}
    done.touched = done.touched or bool(receipt.applied)
    done.run_id = run if receipt.applied else done.run_id
    done.destroyed |= {identity: memory for identity, memory in plan.memories.items() if identity in erased}
    stored = {memory.id for memory in ports.store.get((ports.scope,), plan.restored)}
    done.restored += [identity for identity in plan.restored if identity in stored]
    done.due += [what for what in plan.due if what not in done.due]
    return receipt


def _groups(units: Iterable[Sequence[Operation]]) -> list[Group]:
    """The units in as few groups as possible; only a unit that is larger than a group is split."""
    groups: list[list[Operation]] = [[]]
    for unit in units:
        if groups[-1] and len(groups[-1]) + len(unit) > GROUP_MAX:
            groups.append([])
        groups[-1] += unit
        while len(groups[-1]) > GROUP_MAX:
            groups[-1:] = [groups[-1][:GROUP_MAX], groups[-1][GROUP_MAX:]]
    return [Group(operations=tuple(operations), because=BECAUSE) for operations in groups if operations]


def _chosen(ports: Ports, choice: EraseTarget) -> list[Memory]:
    own = (ports.scope,)
    if choice.memory_id is not None:
        return ports.store.get(own, [choice.memory_id])
    if choice.text is not None:
        return ports.store.get(own, ports.store.mentions(ports.scope, choice.text))
    if choice.source is not None:
        return ports.store.select(own, Where(kinds=frozenset({MESSAGE}), ref=choice.source))
    kinds = frozenset(KINDS) - ({NOTE} if choice.conversation is not None else set())  # of a note it is the folder
    return ports.store.select(own, Where(kinds=kinds, cascade=None, conversation=choice.conversation))


def _was_erased_before(ports: Ports, choice: EraseTarget) -> bool:
    """Whether the same was erased before, so that bytes of it may remain in files."""
    if choice.memory_id is not None:
        events = ports.store.history(ports.scope, choice.memory_id)
        return bool(events) and isinstance(events[-1].operation, Erase)
    return not unerased(ports, [choice], lambda one: [one.key])[0]


def _still(ports: Ports, choice: EraseTarget, destroyed: Mapping[str, Memory]) -> tuple[str, ...]:
    """Ids of memories that say the same as a memory erased by its id: its sources, and those that contain its text."""
    chosen = destroyed.get(choice.memory_id) if choice.memory_id is not None else None
    if chosen is None:
        return ()
    sources = [source.memory for source in chosen.sources]
    mentions = ports.store.mentions(ports.scope, chosen.text) if len(chosen.text) >= MIN_SCAN_LENGTH else []
    return tuple(memory.id for memory in ports.store.get((ports.scope,), list(dict.fromkeys([*sources, *mentions]))))


def _needles(words: Sequence[str], erased: Iterable[Memory]) -> list[str]:
    """The texts to look for in the files: the words of the request, and all texts of the erased memories, in pieces."""
    texts = [*words]
    for memory in erased:
        quotes = (source.quote for source in memory.sources)
        texts += [memory.text, memory.speaker or "", *strings(memory.metadata), *strings(memory.data), *quotes]
        texts += [memory.reasoning] if memory.reasoning else []
    pieces = dict.fromkeys(piece for text in texts for piece in _pieces(text))
    return [piece for piece in pieces if len(piece) >= MIN_SCAN_LENGTH]


def _pieces(text: str) -> list[str]:
    """A text of up to two pieces as it is; of a longer one as many pieces at even distances, the first and last included.

    >>> [(len(piece), piece[:3]) for piece in _pieces("abc" * 400)], _pieces("abc")
    ([(500, 'abc'), (500, 'cab'), (500, 'bca')], ['abc'])
    """
    if len(text) <= 2 * PIECE:
        return [text]
    count = min(PIECES, len(text) // PIECE + 1)
    return [text[at : at + PIECE] for at in (place * (len(text) - PIECE) // (count - 1) for place in range(count))]
