"""Health: findings that a person should check, each with examples and a way to fix it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from slowwave.model.counted import counted
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, MESSAGE, SUMMARY, UNRECONCILED, Memory
from slowwave.model.pass_record import PassRecord
from slowwave.model.progress import DISTIL_CURSOR, FAILED_CURSOR, FailedReading
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.model.zone import local
from slowwave.pipelines.conversations import READABLE
from slowwave.pipelines.ingest.chunks import unreadable_messages
from slowwave.pipelines.ingest.reembed import without_vector
from slowwave.pipelines.ingest.review import QUARANTINED
from slowwave.pipelines.sleep.unread import unread
from slowwave.policy.retention.lasting import own_end, tells_of_now
from slowwave.policy.retention.policies import RESTORED, is_expired
from slowwave.ports import Ports

EXAMPLES: Final = 5
LOOKED_AT: Final = 20_000
"""How many hot facts, the newest, are checked one by one."""
JUNK: Final = (0.3, 0.6)
"""A fact that was never used is junk if its importance and its confidence are below these."""
JUNK_SHARE: Final = 0.1
LISTED: Final = 500
"""Hot facts beyond which a person no longer reads the whole list."""
OVERDUE: Final = timedelta(days=7)
"""Age of an unread message after which it is urgent: no sleep pass is run, or each fails to read it."""
STALE: Final = timedelta(days=180)
"""Age of a fact about the present ("currently", a job, an age) after which a person should look at it."""
UNREAD_READ: Final = 1000
"""Conversations with unread messages, those idle longest, whose first unread message is read."""
OUTDATED_SHARE: Final = 0.5
OUTDATED_FEW: Final = 20

_LINKS: Final = {
    "conflict?": ("pairs of facts contradict each other, and neither may end the other", True),
    "value changed?": ("pairs of facts may be an old and a new value of one thing", True),
    "unsure": ("near-identical pairs that the mind could not decide about", True),
    "close": ("pairs of facts say nearly the same", False),
}
_LOOK: Final = "`update` or `delete` one of the two; where both are true, `pin` one of them to say so"
_SHOWN: Final = 100
"""Characters of a memory that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of problem or notice.

    `examples` are ids, two in each for pairs; `shown` are their texts; `memories` are the ids of each example apart, for programs. An `urgent` finding makes `Health.ok` false: something
    is wrong, or a person has to decide. `of` is how many things the examples were taken from, if that is not `count`.
    """

    kind: str
    count: int
    says: str
    fix: str
    urgent: bool = True
    examples: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    memories: tuple[tuple[str, ...], ...] = ()
    of: int | None = None

    def __str__(self) -> str:
        head = f"{'!' if self.urgent else '-'} {self.kind} ({self.count:,}): {self.says}"
        total = self.count if self.of is None else self.of
        more = (f"and {total - EXAMPLES:,} more",) if self.shown and total > EXAMPLES else ()
        return "\n      ".join((head, *self.shown, *more)) + f"\n    → {self.fix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The findings about a scope.

    `left` is the number of hot facts that were not checked one by one; `slept` is when the last sleep pass ended, also one
    that found nothing to do, None if there was none.
    """

    scope: str
    findings: tuple[Finding, ...] = ()
    left: int = 0
    slept: datetime | None = None

    @property
    def ok(self) -> bool:
        """Whether no finding is urgent."""
        return not any(finding.urgent for finding in self.findings)

    def __str__(self) -> str:
        last = f"; last sleep pass {self.slept.isoformat(timespec='minutes')}" if self.slept else ""
        if not self.findings:
            return f"scope {self.scope}: all is well{last}"
        urgent = sum(finding.urgent for finding in self.findings)
        head = f"scope {self.scope}: {urgent} to act on, {len(self.findings) - urgent} worth knowing{last}"
        left = (f"  {self.left:,} older facts were not looked at one by one",) if self.left else ()
        return "\n".join([head, *(f"  {finding}" for finding in self.findings), *left])


def health(ports: Ports, *, troubles: Sequence[str | None] = ()) -> Health:
    """Check a scope. Reads only. `troubles` are the error messages of sleep passes in the background."""
    store, scope = ports.store, ports.scope
    record = store.pass_record(scope)
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), order="newest", limit=LOOKED_AT)
    facts = store.select((scope,), where)
    hot = sum(number for (kind, phase), number in store.count(scope).items() if kind in FACT_KINDS and phase in HOT)
    findings = (
        *_store(ports),
        *_sleep(troubles),
        *_failed(record),
        *_linked(ports),
        *_waiting(ports, facts),
        *_facts(ports, facts),
        *_ending(ports, facts),
        *_outdated(ports, hot),
        *_hidden(ports),
        *_growth(ports, hot),
        *_unread(ports),
        *_held(ports),
    )
    return Health(
        scope=scope,
        findings=findings,
        left=max(0, hot - len(facts)),
        slept=record.ended and local(record.ended, ports.zone),
    )


def _store(ports: Ports) -> Iterator[Finding]:
    if wrong := ports.store.check():
        yield Finding(
            kind="store",
            count=len(wrong),
            says=f"problems: {'; '.join(wrong[:EXAMPLES])}",
            fix="a deep `doctor` lists all of it, and what to do",
        )


def _sleep(troubles: Sequence[str | None]) -> Iterator[Finding]:
    if messages := [trouble for trouble in troubles if trouble]:
        fix = "remove its cause; the next sleep pass tries again"
        yield Finding(kind="sleep", count=len(messages), says=f"failed sleep passes: {'; '.join(messages)}", fix=fix)


def _failed(record: PassRecord) -> Iterator[Finding]:
    if record.failures:
        fix = "remove its cause, and run `retry` for the next pass at once"
        yield Finding(kind="sleep", count=record.failures, says=str(record), fix=fix)


def _linked(ports: Ports) -> Iterator[Finding]:
    links = ports.store.links(ports.scope, None, tuple(_LINKS))
    ends = {end for link in links for end in (link.source, link.target)}
    memories = ports.store.get((ports.scope,), ends)
    # A person who pins a memory has decided that it stays.
    live = {memory.id: memory for memory in memories if memory.is_searchable and not memory.pinned}
    for kind, (says, urgent) in _LINKS.items():
        open_links = [link for link in links if link.kind == kind and {link.source, link.target} <= live.keys()]
        pairs = [(live[link.source], live[link.target]) for link in open_links]
        if pairs:
            yield Finding(
                kind=kind,
                count=len(pairs),
                says=says,
                fix=_LOOK,
                urgent=urgent,
                examples=tuple(f"{first.id} {second.id}" for first, second in pairs[:EXAMPLES]),
                shown=tuple(
                    line for first, second in pairs[:EXAMPLES] for line in (_line(first), f"  {_line(second)}")
                ),
                memories=tuple((first.id, second.id) for first, second in pairs[:EXAMPLES]),
            )


def _line(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    return f"{memory.id}  {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}"


def _waiting(ports: Ports, facts: Sequence[Memory]) -> Iterator[Finding]:
    store, scope = ports.store, ports.scope
    yield from _finding(
        "waiting",
        [fact for fact in facts if UNRECONCILED in fact.flags],
        "facts were stored while no mind could decide about them",
        "check the model, then `sleep`",
    )
    yield from _finding(
        QUARANTINED,
        store.select((scope,), Where(kinds=frozenset(KINDS), phases=frozenset({QUARANTINED}), cascade=None)),
        "memories read as instructions and were not said by the user",
        "look at them with `review`, then `release` or `reject` each",
        count=sum(number for (_, phase), number in store.count(scope).items() if phase == QUARANTINED),
    )
    ahead = store.select((scope,), Where(kinds=frozenset(KINDS), cascade=None, flag="future"))
    yield from _finding(
        "future",
        [memory for memory in ahead if memory.at > ports.now()],
        "messages say they were written in the future",
        "correct the clock of the program that wrote them; times are kept as they were given",
    )
    yield from _finding(
        "unreadable",
        unreadable_messages(ports),
        "messages could not be read for facts by the model, and are passed over",
        "another model reads them; `consolidate` with force asks the same one again; `explain` says what was wrong",
    )
    yield from _finding(
        "unembedded",
        without_vector(ports, LOOKED_AT),
        "memories have no vector of the current embedder, and are found by words only",
        "`reembed` computes them",
    )


def _facts(ports: Ports, facts: Sequence[Memory]) -> Iterator[Finding]:
    junk = [
        fact
        for fact in facts
        if fact.importance < JUNK[0] and fact.confidence < JUNK[1] and not fact.accesses and not fact.pinned
    ]
    if len(junk) > JUNK_SHARE * len(facts):
        yield from _finding(
            "junk",
            junk,
            "facts are neither important nor certain, and were never used",
            "raise `confidence_threshold`; the stored facts fade by themselves, or `delete` it",
            urgent=False,
        )
    sources = {source.memory for fact in facts for source in fact.sources}
    stored = {memory.id for memory in ports.whole.store.get((ports.scope,), sources)}
    yield from _finding(
        "orphans",
        [fact for fact in facts if fact.sources and stored.isdisjoint(source.memory for source in fact.sources)],
        "facts have source messages that are not in the store",
        "import the messages too, or `delete` the unsupported facts",
    )


def _ending(ports: Ports, facts: Sequence[Memory]) -> Iterator[Finding]:
    """Facts whose words say that they end: past their end but protected, or old and never confirmed."""
    now = ports.now()
    over = [
        fact
        for fact in facts
        if (end := fact.expires_at or own_end(fact)) is not None
        and end < now
        and not is_expired(fact, ports.config, now)
    ]
    old = [fact for fact in facts if tells_of_now(fact) and now - fact.last_used_or_recorded > STALE]
    yield from _finding(
        "ended",
        over,
        "facts are past the end that their words say, and a pin or core memory keeps them hot",
        "`update` or `delete` each; `unpin` lets the next `sleep` archive it",
        urgent=False,
    )
    yield from _finding(
        "dated",
        old,
        f"facts say what is so at present, and nothing has confirmed them for {STALE.days} days",
        "`update` those that changed, `delete` those that ended, `pin` those that hold",
        urgent=False,
    )


def _outdated(ports: Ports, hot: int) -> Iterator[Finding]:
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({"superseded", "retracted"}), limit=LOOKED_AT)
    outdated = [memory for memory in ports.store.select((ports.scope,), where) if memory.outdated]
    if len(outdated) >= OUTDATED_FEW and len(outdated) > OUTDATED_SHARE * (hot + len(outdated)):
        yield from _finding(
            "outdated",
            outdated,
            "facts were superseded or retracted: more than are hot",
            "nothing has to be done: they are kept for `as_of`; if facts change to and fro, check their `history`",
            urgent=False,
        )


def _hidden(ports: Ports) -> Iterator[Finding]:
    """Members of a retracted summary: no search finds them."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({"superseded"}), limit=LOOKED_AT)
    superseded = ports.store.select((ports.scope,), where)
    members = [memory for memory in superseded if not memory.outdated and memory.superseded_by]
    successors = ports.store.get((ports.scope,), {str(member.superseded_by) for member in members})
    valid = {memory.id for memory in successors if memory.phase != "retracted" or memory.kind != SUMMARY}
    yield from _finding(
        "hidden",
        [member for member in members if member.superseded_by not in valid],
        "memories were replaced by a summary that was retracted, and no search finds them",
        "`revive` restores one",
    )


def _growth(ports: Ports, hot: int) -> Iterator[Finding]:
    limit = ports.config.hot_facts_max or LISTED
    if hot > limit:
        fix = "set `hot_facts_max`, or a shorter `semantic_decay_days`, or let it sleep more often"
        yield Finding(kind="growth", count=hot, says=f"hot facts, more than {limit:,}", fix=fix, urgent=False)


def _unread(ports: Ports) -> Iterator[Finding]:
    """Messages that the next sleep pass is to read, the oldest first; urgent once the oldest waited for long."""
    counts = ports.store.unread(ports.scope)
    if not counts:
        return
    found = unread(ports, ports.now())
    due = (*found.due, *found.paused)
    if not due:
        return
    first = sorted(
        ((memory, one) for one in due[:UNREAD_READ] if (memory := _first_unread(ports, one)) is not None),
        key=lambda pair: pair[0].at,
    )
    since = f", the oldest since {first[0][0].at:%Y-%m-%d}" if first else ""
    many = counted(len(due), "conversation")
    lines = [
        f"{one.title or one.name}: {counts[one.name]:,} since {memory.at:%Y-%m-%d}{_pause(one)}"
        for memory, one in first
    ]
    yield Finding(
        kind="unread",
        count=sum(counts[one.name] for one in due),
        says=f"messages of {many} are not distilled yet{since}",
        fix="`sleep` reads them, and `consolidate` at once; if they stay, the report of `sleep` names the problem",
        urgent=any(ports.now() - memory.recorded_at > OVERDUE for memory, _ in first),
        examples=tuple(one.name for _, one in first[:EXAMPLES]),
        shown=tuple(lines[:EXAMPLES]),
        of=len(due),
    )


def _pause(conversation: ConversationState) -> str:
    failed = FailedReading.unpack(conversation.cursor(FAILED_CURSOR))
    return (
        f"; the model failed at it {failed.failures} times, next try {failed.until:%Y-%m-%d %H:%M} UTC"
        if failed
        else ""
    )


def _first_unread(ports: Ports, conversation: ConversationState) -> Memory | None:
    """The first message after the cursor that a mind may read."""
    where = Where(
        kinds=frozenset({MESSAGE}),
        phases=READABLE,
        conversation=conversation.name,
        after_seq=conversation.cursor(DISTIL_CURSOR),
        order="seq",
        limit=1,
    )
    return next(iter(ports.store.select((ports.scope,), where)), None)


def _held(ports: Ports) -> Iterator[Finding]:
    config = ports.config
    if (config.hot_facts_max, config.hot_messages_max, config.hot_words_max) == (None,) * 3 and not (
        config.category_tokens_max
    ):
        return
    yield from _finding(
        "held",
        ports.store.select((ports.scope,), Where(kinds=frozenset(KINDS), phases=frozenset(HOT), flag=RESTORED)),
        "memories do not count towards the size targets: an undo or `revive` brought them back",
        "nothing else goes in their place; a use or `update` lets one go, and so does undoing the undo for all of them",
        urgent=False,
    )


def _finding(
    kind: str, memories: Sequence[Memory], says: str, fix: str, *, urgent: bool = True, count: int | None = None
) -> Iterator[Finding]:
    """A finding about memories, if there are any; `count` is their number if the reader is not shown all of them."""
    count = len(memories) if count is None else count
    if count:
        first = memories[:EXAMPLES]
        examples, shown = tuple(memory.id for memory in first), tuple(map(_line, first))
        yield Finding(
            kind=kind,
            count=count,
            says=says,
            fix=fix,
            urgent=urgent,
            examples=examples,
            shown=shown,
            memories=tuple((memory.id,) for memory in first),
        )
