"""An erase that Ctrl-C stops says what it destroyed, and the same call finishes it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click
import pytest

from slowwave import AgentMemory, EraseInterruptedError, Message
from slowwave.cli.endings import run_command

if TYPE_CHECKING:
    from tests.conftest import World

P = ParamSpec("P")
R = TypeVar("R")


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request: pytest.FixtureRequest, world: "World") -> Iterator[AgentMemory]:
    """A memory with 600 messages, which take several transactions to erase, on each backend."""
    where = str(world.path) if request.param == "sqlite" else request.getfixturevalue("own")
    with AgentMemory.open(where, scope="t", llm=None, embedder=None, clock=world.clock) as opened:
        for start in range(0, 600, 100):
            texts = [f"The recipe {n} has hazelnuts" for n in range(start, start + 100)]
            opened.add_messages([Message("user", text, id=text) for text in texts], "c1")
        opened.add_message(Message("user", "Tea is fine"), "c1")
        opened.set_title("c1", "About hazelnuts")
        yield opened


def interrupted(function: Callable[P, R], at: int, *, after: bool = False) -> Callable[P, R]:
    """The function, interrupted in its call number `at`, before or after it has done its work."""
    calls: list[None] = []

    def call(*args: P.args, **names: P.kwargs) -> R:
        calls.append(None)
        if len(calls) != at:
            return function(*args, **names)
        if after:
            function(*args, **names)
        raise KeyboardInterrupt

    return call


def messages(memory: AgentMemory) -> int:
    return sum(one.messages for one in memory.conversations())


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2])
def test_it_counts_what_was_destroyed(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch, at: int, *, after: bool
) -> None:
    store = memory.ports.store
    with monkeypatch.context() as patch:
        patch.setattr(store, "_apply_group", interrupted(store._apply_group, at, after=after))  # type: ignore[attr-defined]
        with pytest.raises(EraseInterruptedError) as stopped:
            memory.erase(text="hazelnut")
    gone = 601 - messages(memory)
    receipt = stopped.value.receipt
    assert (len(receipt.destroyed), stopped.value.remaining, receipt.verified) == (gone, 600 - gone, False)
    assert (gone > 0) == (at > 1 or after)
    if gone:
        assert f"destroyed {gone:,} memories for good; still to erase: {600 - gone:,}" in str(stopped.value)
        assert memory.run(receipt.run_id).cause == "erase"
    else:
        assert "no memory and no title was destroyed" in str(stopped.value)
    again = memory.erase(text="hazelnut")
    assert again.verified, again.problems
    assert (len(again.destroyed), again.titles, messages(memory)) == (600 - gone, 1, 1)
    assert memory.doctor(deep=True) == []


def test_it_counts_all_if_only_the_rewrite_was_interrupted(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = memory.ports.store
    with monkeypatch.context() as patch:
        patch.setattr(store, "rewrite_erased", interrupted(store.rewrite_erased, 1))
        with pytest.raises(EraseInterruptedError, match="destroyed 600 memories and 1 title for good") as stopped:
            memory.erase(text="hazelnut")
    assert (stopped.value.remaining, stopped.value.receipt.verified) == (0, False)
    assert memory.erase(text="hazelnut").verified


@pytest.mark.parametrize("through_click", [False, True])
def test_a_command_prints_it(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, through_click: bool
) -> None:
    store = memory.ports.store
    monkeypatch.setattr(store, "rewrite_erased", interrupted(store.rewrite_erased, 1))

    def command() -> None:
        try:
            memory.erase(text="hazelnut")
        except KeyboardInterrupt as stop:
            if through_click:
                raise click.Abort from stop
            raise

    assert run_command(command, json=False, verbose=False) == 130
    assert "destroyed 600 memories and 1 title for good" in capsys.readouterr().err
