"""Any order of adding, correcting, using, sleeping, undoing, reopening and moving the clock keeps the invariants."""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from slowwave import AgentMemory, Config, Message
from slowwave.errors import ConflictError
from slowwave.model.codec import content_key
from slowwave.model.memory import FACT_KINDS, KINDS, PHASES, Memory
from slowwave.testing import FrozenClock

NAMES = ("Ann", "Bert", "Cecilia", "Dan", "Eve", "Frank", "Gina", "Hugo")
THINGS = ("owns the deploy pipeline", "likes green tea", "lives in Bern", "is on leave until Monday")
TEXTS = st.builds("{} {}".format, st.sampled_from(NAMES), st.sampled_from(THINGS))
CATEGORIES = st.sampled_from(("other", "person", "session_state", "observation", "identity"))


class Known(NamedTuple):
    """What the model believes of a fact."""

    text: str
    pinned: bool = False
    deleted: bool = False


class Machine(RuleBasedStateMachine):
    """A memory in a file against a dict."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
        self.facts: dict[str, Known] = {}
        self.said: list[str] = []
        self.memory = self._opened()

    def _opened(self) -> AgentMemory:
        return AgentMemory.open(
            self.folder / "memory.db",
            scope="t",
            llm=None,
            embedder="none",
            clock=self.clock,
            config=Config(hot_facts_max=20, immediate_window=4, recent_window=4),
        )

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.doctor(deep=True) == []
            self.memory.close()
            shutil.rmtree(self.folder)

    def _live(self, text: str) -> Memory | None:
        key = content_key(text)
        live = self.memory.get_all(phases=["active", "core", "cold"])
        return next((fact for fact in live if content_key(fact.text) == key), None)

    @property
    def standing(self) -> list[str]:
        return [one for one, fact in self.facts.items() if not fact.deleted]

    # ---- what a person does

    @rule(text=TEXTS, category=CATEGORIES, episodic=st.booleans())
    def add(self, text: str, category: str, *, episodic: bool) -> None:
        known = self._live(text)
        receipt = self.memory.add(text, category=category, kind="episodic" if episodic else "semantic")
        if known is not None:
            assert receipt.ids == (), "the same words are one memory"
            assert self.memory.get(known.id).is_searchable
        for one in receipt.ids:
            self.facts[one] = Known(text=text)

    @precondition(lambda self: self.standing)
    @rule(data=st.data(), text=TEXTS)
    def correct(self, data: st.DataObject, text: str) -> None:
        one = data.draw(st.sampled_from(self.standing))
        try:
            self.memory.update(one, text)
        except ConflictError:
            assert any(fact.id != one and content_key(fact.text) == content_key(text) for fact in self.memory.get_all())
        else:
            self.facts[one] = self.facts[one]._replace(text=text)

    @precondition(lambda self: self.standing)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.standing))
        self.memory.delete(one)
        self.facts[one] = self.facts[one]._replace(deleted=True)

    @precondition(lambda self: self.standing)
    @rule(data=st.data(), on=st.booleans())
    def pin(self, data: st.DataObject, *, on: bool) -> None:
        one = data.draw(
            st.sampled_from([one for one in self.standing if self.memory.get(one).is_searchable] or self.standing)
        )
        (self.memory.pin if on else self.memory.unpin)(one)
        self.facts[one] = self.facts[one]._replace(pinned=on)

    @rule(text=TEXTS, twice=st.booleans())
    def say(self, text: str, *, twice: bool) -> None:
        message = Message(role="user", content=text, at=self.clock(), id=f"m-{len(self.said)}")
        self.memory.add_message(message, conversation="c")
        self.said.append(text)
        if twice:
            assert self.memory.add_message(message, conversation="c").ids == ()

    # ---- what an application does

    @rule(text=TEXTS, deep=st.booleans())
    def retrieve(self, text: str, *, deep: bool) -> None:
        before = self.memory.ports.store.sequence("t")
        hits = self.memory.search(text, deep=deep)
        assert self.memory.ports.store.sequence("t") == before
        for hit in hits:
            assert hit.memory.phase != "quarantined"
            assert deep or hit.memory.is_searchable
            assert hit.deep == (not hit.memory.is_searchable)
        counts = {hit.memory.id: self.memory.get(hit.memory.id).accesses for hit in hits}
        self.memory.record_retrieval(hits[:2])
        for hit in hits[:2]:
            if hit.memory.phase in {"active", "core", "cold"}:
                assert self.memory.get(hit.memory.id).accesses > counts[hit.memory.id]

    @rule(think=st.booleans())
    def sleep(self, *, think: bool) -> None:
        report = self.memory.sleep(think=think)
        assert report.problems == ()
        if think and not report.left:
            assert self.memory.sleep().receipts == (), "a second pass finds nothing to do"

    @rule()
    def consolidate(self) -> None:
        self.memory.consolidate(force=True)

    @rule(days=st.sampled_from((-30.0, -0.01, 0.01, 1.0, 7.0, 40.0, 400.0)))
    def time_moves(self, days: float) -> None:
        self.clock.advance(days=days)

    @rule()
    def reopen(self) -> None:
        """As after a crash: nothing is written on closing."""
        before = self._shown()
        self.memory.close()
        self.memory = self._opened()
        assert self._shown() == before

    @rule(text=TEXTS, choice=st.sampled_from(("add", "update", "delete", "pin", "sleep", "use", "say")))
    def undo(self, text: str, choice: str) -> None:
        """Whatever is done and undone leaves every memory as it was."""
        before, last = self._shown(), self.memory.runs(1)
        target = next((fact.id for fact in self.memory.get_all()), None)
        done = {
            "add": lambda: self.memory.add(text),
            "update": lambda: target and not self._live(text) and self.memory.update(target, text),
            "delete": lambda: target and self.memory.delete(target),
            "pin": lambda: target and self.memory.pin(target),
            "sleep": self.memory.sleep,
            "use": lambda: self.memory.record_retrieval(self.memory.get_all()),
            "say": lambda: self.memory.add_message(Message(role="user", content=text), conversation="d"),
        }[choice]
        done()
        newest = self.memory.runs(1)
        if newest == last:
            return
        run = newest[0].parent or newest[0].id
        receipts = self.memory.undo(run)
        assert not any(receipt.dropped for receipt in receipts)
        after = self._shown()
        assert {one: after[one] for one in before} == before
        assert all(self.memory.get(one).phase == "retracted" for one in after if one not in before)

    def _shown(self) -> dict[str, tuple[object, ...]]:
        return {
            fact.id: (fact.text, fact.phase, fact.pinned, fact.accesses, fact.superseded_by, fact.valid_to)
            for fact in self.memory.get_all(kinds=KINDS, phases=PHASES)
        }

    # ---- what always holds

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        for one, known in self.facts.items():
            stored = self.memory.get(one)
            assert stored.text == known.text
            assert (stored.phase == "retracted") == known.deleted
            assert known.deleted or stored.is_searchable or not stored.pinned
        assert [message.content for message in self.memory.get_conversation_messages("c")] == (self.said or [])

    @invariant()
    def live_facts_differ_and_strengths_are_sane(self) -> None:
        live = self.memory.get_all()
        assert len({content_key(fact.text) for fact in live}) == len(live)
        for fact in live:
            assert 0 < self.memory.strength(fact.id) <= 1

    @invariant()
    def what_stands_for_another_exists_and_no_chain_is_a_circle(self) -> None:
        every = {fact.id: fact for fact in self.memory.get_all(kinds=FACT_KINDS, phases=PHASES)}
        for fact in every.values():
            seen = set()
            here: Memory | None = fact
            while here is not None and here.superseded_by is not None:
                assert here.id not in seen
                seen.add(here.id)
                here = every[here.superseded_by]


SHORT = settings(
    max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
TestMachine = pytest.mark.filterwarnings("error")(Machine.TestCase)
TestMachine.settings = SHORT
