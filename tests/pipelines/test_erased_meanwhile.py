"""What another process erases while a plan is made is not written by that plan, and an acknowledged message is stored."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import ConflictError
from slowwave.model.memory import KINDS, PHASES, SourceRef
from slowwave.model.mind import Fact, Transcript
from slowwave.model.operations import Change
from slowwave.model.plan import Dropped, Group, Plan, Receipt
from slowwave.pipelines.admin import erase as erasing
from slowwave.pipelines.ingest import observe
from slowwave.testing import builders

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import World

SECRET = "The code of the garage at the lake house is 4711-2299"
FACT = Fact(text="The code of the garage is 4711-2299", quote=SECRET, turn=1)


def everything(memory: AgentMemory) -> str:
    rows = [one.text for one in memory.get_all(kinds=KINDS, phases=PHASES)]
    return "\n".join([*rows, *(str(run.plan) for run in memory.runs(limit=None, parts="all"))])


def erased_first(world: "World", answer: object, **what: str) -> Callable[[object], object]:
    """An answer of the mind before which another handle of the store erases something, once."""
    left = [what]

    def answered(_: object) -> object:
        while left:
            with world.open() as other:
                other.erase(**left.pop())  # type: ignore[arg-type]  # what erase takes
        return answer

    return answered


def test_no_fact_is_extracted_from_a_message_that_was_erased_while_it_was_read(world: "World") -> None:
    memory = world.open()
    memory.add_messages([Message("user", SECRET, id="m1"), Message("user", "I live in Berlin", id="m2")], "c")
    home = Fact(text="The user lives in Berlin", quote="I live in Berlin", turn=2)

    def read(transcript: Transcript) -> tuple[Fact, ...]:
        turns = {turn.memory.text: turn.number for turn in transcript.turns}
        return tuple(replace(one, turn=turns[one.quote]) for one in (FACT, home) if one.quote in turns)

    erase = erased_first(world, None, source="m1")

    def distil(transcript: Any) -> object:  # noqa: ANN401  # a Transcript
        erase(transcript)
        return read(transcript)

    world.mind.facts = distil
    memory.consolidate("c", force=True)
    memory.consolidate("c", force=True)  # the chunk was due again
    assert "4711" not in everything(memory)
    assert [fact.text for fact in memory.get_all()] == ["The user lives in Berlin"]
    assert memory.doctor(deep=True) == []


def test_no_summary_is_written_of_a_message_that_was_erased_while_it_was_summarised(world: "World") -> None:
    memory = world.open(immediate_window=2, recent_window=4)
    messages = [Message("user", f"I planted tree number {n}", id=f"m{n}") for n in range(30)]
    memory.add_messages([*messages[:3], Message("user", SECRET, id="secret"), *messages[3:]], "c")

    erase = erased_first(world, None, source="secret")

    def answered(request: Any) -> object:  # noqa: ANN401  # a SummaryRequest
        erase(request)
        return " ".join(one.text for one in request.memories)

    world.mind.summary = answered
    memory.sleep()
    assert len(memory.get_all(kinds=["message"])) == 30  # it was erased
    assert "4711" not in everything(memory)
    memory.sleep()
    assert "4711" in " ".join(one.text for one in world.mind.questions("summarise")[0].memories)
    assert memory.doctor(deep=True) == []


def while_erasing(monkeypatch: pytest.MonkeyPatch, done: Callable[[], object]) -> list[int]:
    """Do something once between the planning and the applying of an erase; returns the list of its attempts."""
    applied: Callable[..., object] = erasing._apply
    attempts: list[int] = []

    def late(*arguments: object) -> object:
        attempts.append(1)
        if len(attempts) == 1:
            done()
        return applied(*arguments)

    monkeypatch.setattr(erasing, "_apply", late)
    return attempts


@pytest.mark.parametrize("what", [{"source": "m1"}, {"conversation": "c"}, {"text": "4711-2299"}])
def test_a_fact_that_is_extracted_while_its_message_is_erased_is_erased_too(
    world: "World", monkeypatch: pytest.MonkeyPatch, what: dict[str, str]
) -> None:
    memory = world.open()
    memory.add_messages([Message("user", SECRET, id="m1"), Message("user", "It rains", id="m2")], "c")
    world.mind.facts = [FACT]
    other = world.open()
    attempts = while_erasing(monkeypatch, lambda: other.consolidate("c", force=True))
    receipt = memory.erase(**what)  # type: ignore[arg-type]  # what erase takes
    assert len(attempts) == 2
    assert receipt.verified
    assert "4711" not in everything(memory)
    assert memory.doctor(deep=True) == []


def test_a_summary_that_is_written_while_its_message_is_erased_is_erased_too(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open(immediate_window=2, recent_window=4)
    messages = [Message("user", f"I planted tree number {n}", id=f"m{n}") for n in range(30)]
    memory.add_messages([*messages[:3], Message("user", SECRET, id="secret"), *messages[3:]], "c")
    other = world.open(immediate_window=2, recent_window=4)
    attempts = while_erasing(monkeypatch, other.sleep)
    receipt = memory.erase(source="secret")
    assert len(attempts) == 2
    assert receipt.verified
    assert "4711" not in everything(memory)
    assert memory.doctor(deep=True) == []


def test_a_fact_that_is_replaced_while_its_successor_is_erased_returns(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    old, new = memory.add("The tea is green").ids[0], memory.add("The tea is black and strong").ids[0]
    other = world.open()

    def merged() -> None:
        (before,) = other.ports.store.get(("t",), [old])
        after = replace(before, phase="cold", reason="duplicate", superseded_by=new, version=before.version + 1)
        operation = Change(before=before, after=after, because="the same")
        group = Group(operations=(operation,), because="the same")
        other.ports.store.apply(Plan(id="merged", scope="t", cause="merge", at=before.recorded_at, groups=(group,)))

    attempts = while_erasing(monkeypatch, merged)
    memory.erase(id=new)
    assert len(attempts) == 2
    assert memory.get_all(phases=PHASES) == []  # a duplicate is erased with the fact it was merged into


def test_an_erase_that_others_overtake_each_time_says_that_it_is_not_verified(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    memory.add_messages([Message("user", SECRET, id="m1")], "c")
    (message,) = memory.get_all(kinds=["message"])
    number = iter(range(100))
    applied: Callable[..., object] = erasing._apply

    def late(*arguments: object) -> object:
        memory.ports.store.apply(
            builders.plan(
                builders.add(
                    builders.fact(
                        f"Fact {next(number)} about the garage",
                        scope="t",
                        sources=(SourceRef(memory=message.id, ref="m1"),),
                    )
                ),
                scope="t",
            )
        )
        return applied(*arguments)

    monkeypatch.setattr(erasing, "_apply", late)
    receipt = memory.erase(source="m1")
    assert not receipt.verified
    assert any("derived a memory" in problem for problem in receipt.problems)
    monkeypatch.undo()
    assert memory.erase(source="m1").verified
    assert memory.get_all() == []


def test_a_message_that_was_erased_while_it_was_said_again_is_left_out(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    memory.add_messages([Message("user", SECRET, id="m1"), Message("user", "I live in Berlin", id="m2")], "c")
    memory.erase(source="m2")  # the scope has tombstones
    keys = observe.unerased

    def looked(*given: Any) -> Any:  # noqa: ANN401  # those of `unerased`
        found = keys(*given)
        monkeypatch.setattr(observe, "unerased", keys)
        with world.open() as other:
            other.erase(source="m1")
        return found

    monkeypatch.setattr(observe, "unerased", looked)
    receipt = memory.add_messages([Message("user", SECRET), Message("user", "I work in Potsdam")], "d")
    assert "4711" not in everything(memory)
    assert [one.text for one in memory.get_all(kinds=["message"])] == ["I work in Potsdam"]
    assert receipt.notes == ("1 left out: erased earlier",)


@pytest.mark.parametrize(("name", "tries"), [("export.jsonl", 1), ("talk.jsonl", 2)])
def test_a_record_of_a_file_that_was_erased_while_it_was_imported_is_left_out(
    name: str, tries: int, world: "World", tmp_path: "Path", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    memory.add_messages([Message("user", SECRET, id="m1"), Message("user", "I live in Berlin", id="m2")], "c")
    memory.erase(source="m2")  # the scope has tombstones
    path = tmp_path / name
    with world.open(scope="u") as other:
        other.add_messages([Message("user", SECRET, id="m9"), Message("user", "I work in Potsdam", id="m8")], "d")
        other.export(path)
    if name == "talk.jsonl":
        path.write_text(
            f'{{"role": "user", "content": "{SECRET}"}}\n{{"role": "user", "content": "I work in Potsdam"}}\n'
        )
    apply, writes = memory.ports.store.apply, list[Plan]()

    def applied(plan: Plan) -> Receipt:
        writes.append(plan)
        if len(writes) == tries:  # the first write of a talk is refused, because the scope has tombstones
            with world.open() as other:
                other.erase(conversation="c")
        return apply(plan)

    monkeypatch.setattr(memory.ports.store, "apply", applied)
    memory.import_(path)
    assert len(writes) > tries
    assert [one.text for one in memory.get_all(kinds=["message"])] == ["I work in Potsdam"]
    assert "4711" not in everything(memory)
    assert memory.doctor(deep=True) == []


def test_messages_are_stored_although_another_writer_was_faster_at_first(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    apply, refusals = memory.ports.store.apply, ["a row of another writer"]

    def applied(plan: Plan) -> Receipt:
        if refusals:
            gone = Dropped(group=Group(operations=(), because=""), reason=refusals.pop())
            return Receipt(run_id=plan.id, cause=plan.cause, scope=plan.scope, dropped=(gone,))
        return apply(plan)

    monkeypatch.setattr(memory.ports.store, "apply", applied)
    assert len(memory.add_messages([Message("user", "Hello")], "c").applied) == 1
    assert [one.text for one in memory.get_all(kinds=["message"])] == ["Hello"]
    refusals += ["a row of another writer"] * 8
    with pytest.raises(ConflictError, match="the messages were not stored"):
        memory.add_messages([Message("user", "Hello again")], "c")
