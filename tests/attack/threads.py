"""Many threads on one memory, while others close it, open further handles, fork, or call it from a model: every call ends."""

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from typing import Any, Final
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from tests.attack.campaign import Place, opened, sound
from tests.attack.writer_process import IN_RAM, WEIGHTS, Writer
from tests.attack.writers import Ledger

from slowwave import AgentMemory
from slowwave.errors import BusyError, ClosedError, SlowwaveError
from slowwave.model.config import Config
from slowwave.stores.search import service

SECONDS: Final = 6.0
"""How long the threads of a round begin new calls."""
ENDS: Final = 60.0
"""A call that takes longer has not ended. On a busy machine a sleep pass beside others takes a few seconds."""
PATIENCE: Final = 4 * ENDS
"""`lock_seconds` of a round: two threads that wait for each other do not get a BusyError before the round has failed."""
SCOPES: Final = ("one", "two")
CALLS_BACK: Final = 0.05
"""The share of the calls of a model or embedder that call the memory."""
SWITCH: Final = (0.005, 0.0001)
"""Seconds after which Python lets another thread run: its own choice, and one that shows more orders."""
STATUS_OF_FAULT: Final = 3
"""The exit status of a forked child that found a fault."""


class CallsBack:
    """A model and an embedder that sometimes call the memory, from the thread that asks them."""

    name = "calls-back"
    model = "calls-back"
    answer = "[]"

    def __init__(self, seed: str) -> None:
        self._chance = Random(seed)
        self._own = threading.local()
        self.memory: AgentMemory | None = None

    def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self._call_back()
        rows = np.array([[1.0, len(text) % 7, text.count("e")] for text in texts], dtype=np.float32).reshape(-1, 3)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def complete(self, *, messages: object) -> str:  # noqa: ARG002 - its answer is always the same
        self._call_back()
        return self.answer

    def _call_back(self) -> None:
        memory = self.memory
        if memory is None or getattr(self._own, "is_called", False) or self._chance.random() > CALLS_BACK:
            return
        self._own.is_called = True
        try:
            self._chance.choice(_BACK)(memory)
        finally:
            self._own.is_called = False


_BACK: Final[tuple[Callable[[AgentMemory], object], ...]] = (
    lambda memory: memory.search("who has the invoice?"),
    lambda memory: memory.within("one").context("tea"),
    lambda memory: memory.within("two").add("The garden has a cache"),
    lambda memory: memory.status(),
)


class Actor(threading.Thread):
    """A thread of a round.

    Attributes:
        verb: what it does now.
        since: when it began to.
        calls: how many calls have ended.
        fault: the exception that no caller should see.
        closing: whether a thread of the round closes the memory.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.closing = threading.Event()
        self.verb, self.since, self.calls = "", time.monotonic(), 0
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            self.act()
        except ClosedError:
            return
        except BaseException as error:  # noqa: BLE001 - the round reports it
            self.fault = error

    def act(self) -> None:
        """What the thread does."""
        raise NotImplementedError

    def call(self, name: str, verb: Callable[[], object]) -> None:
        """Call a verb. Errors of the library are answers, but not that something stayed locked."""
        self.verb, self.since = name, time.monotonic()
        try:
            verb()
        except ClosedError:
            raise
        except BusyError:
            if not self.closing.is_set():  # a store that is being closed waits for no lock any more
                raise
        except SlowwaveError:
            pass
        self.calls += 1
        self.verb = ""


class Using(Actor):
    """Uses random verbs of a memory, as the writers of other classes do."""

    def __init__(self, memory: AgentMemory, writer: Writer, ends: float) -> None:
        super().__init__(writer.name)
        self._writer, self._ends = writer, ends
        writer.memory = memory

    def act(self) -> None:
        while time.monotonic() < self._ends:
            verb = self._writer.next_verb()
            self.call(verb, getattr(self._writer, verb))


class Opening(Actor):
    """Opens the store again and again, uses it, and closes it."""

    def __init__(self, address: str, seed: str, options: dict[str, Any], ends: float) -> None:
        super().__init__("opening")
        self._address, self._chance, self._options, self._ends = address, Random(seed), options, ends

    def act(self) -> None:
        while time.monotonic() < self._ends:
            self.call("open", self._use)

    def _use(self) -> None:
        with opened(self._address, **self._options) as memory:
            for _ in range(self._chance.randrange(4)):
                self._chance.choice(_ELSEWHERE)(memory.within(self._chance.choice(SCOPES)))


_ELSEWHERE: Final[tuple[Callable[[AgentMemory], object], ...]] = (
    lambda memory: memory.search("who has the invoice?"),
    lambda memory: memory.status(),
    lambda memory: memory.sleep(),
)


class Closing(Actor):
    """Closes the memory, at a random moment."""

    def __init__(self, memory: AgentMemory, after: float) -> None:
        super().__init__("closing")
        self._memory, self._after = memory, after

    def act(self) -> None:
        time.sleep(self._after)
        self.closing.set()
        self.call("close", self._memory.close)


class Forking(Actor):
    """Forks again and again; each child uses the memory once, and ends."""

    def __init__(self, memory: AgentMemory, seed: str, ends: float) -> None:
        super().__init__("forking")
        self._memory, self._chance, self._ends = memory, Random(seed), ends

    def act(self) -> None:
        while time.monotonic() < self._ends:
            time.sleep(self._chance.random())
            self.call("fork", self._fork)

    def _fork(self) -> None:
        pid = os.fork()
        if not pid:
            self._live()
        begun = time.monotonic()
        while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
            if time.monotonic() - begun > ENDS:
                os.kill(pid, 6)
                raise AssertionError("a forked child did not end")
            time.sleep(0.02)
        assert ended[1] == 0, f"a forked child ended with {os.waitstatus_to_exitcode(ended[1])}"

    def _live(self) -> None:
        faulthandler.dump_traceback_later(ENDS / 2, file=sys.__stderr__)
        status = 0
        try:
            with suppress(SlowwaveError):
                self._memory.within("one").add("A child was here")
                self._memory.within("two").search("who was here?")
        except BaseException:  # noqa: BLE001 - the parent reports it
            faulthandler.dump_traceback(file=sys.__stderr__)
            status = STATUS_OF_FAULT
        os._exit(status)


def threads(place: Place) -> int:
    """Threads that use random verbs of one memory, over few scopes, while it is closed, opened again and forked."""
    chance = place.chance
    address = IN_RAM if chance.random() < 0.2 else place.store()
    seconds = max(0.7, SECONDS * place.size)
    _load_modules(place)
    with _small_indexes(chance):
        ledgers = {scope: Ledger() for scope in SCOPES}
        options = _options(chance)
        memory = opened(address, **options)
        for part in (options["llm"], options["embedder"]):
            if isinstance(part, CallsBack):
                part.memory = memory
        ends = time.monotonic() + seconds
        actors: list[Actor] = [
            _using(memory, ledgers, place, f"t{number}", address, ends)
            for number in range(3 if place.size < 1 else chance.randrange(3, 7))
        ]
        closes = chance.random() < 0.5
        if closes:
            after = seconds * chance.uniform(0.3, 0.9)
            actors += [Closing(memory, after + chance.choice([0.0, 0.01])) for _ in range(chance.randrange(1, 3))]
        if address != IN_RAM and chance.random() < 0.5:
            actors.append(Opening(address, str(chance.random()), options, ends))
        if place.size >= 1 and chance.random() < 0.5:
            actors.append(Forking(memory, str(chance.random()), ends))
        done = _run(actors, ends)
        if address != IN_RAM:
            memory.close()
            memory = opened(address)
        elif closes:
            return done
        with memory:
            for scope, ledger in ledgers.items():
                view = memory.within(scope)
                ledger.finish_erases(view)
                done += ledger.check(view)
            sound(memory)
    return done


def _using(
    memory: AgentMemory, ledgers: dict[str, Ledger], place: Place, name: str, address: str, ends: float
) -> Using:
    scope = place.chance.choice(SCOPES)
    writer = Writer(
        address, name, str(place.chance.random()), place.folder, ledgers[scope].take, memory=memory.within(scope)
    )
    return Using(memory.within(scope), writer, ends)


def _load_modules(place: Place) -> None:
    """Use every verb once. A forked child cannot load a module that another thread of its parent was loading."""
    with opened(IN_RAM, embedder="static") as memory:
        writer = Writer(IN_RAM, "loads", str(place.chance.random()), place.folder, lambda *_: None, memory=memory)
        for verb in WEIGHTS:
            with suppress(SlowwaveError):
                getattr(writer, verb)()
        memory.status()
        memory.doctor()


def _options(chance: Random) -> dict[str, Any]:
    """The options of `open` that one round uses."""
    calls_back = CallsBack(str(chance.random()))
    return {
        "embedder": chance.choice(["none", "static", calls_back]),
        "llm": chance.choice([None, None, calls_back]),
        "sleep_every": chance.choice([None, None, 0.2]),
        "config": Config(
            lock_seconds=PATIENCE,
            connections=chance.choice([1, 2, 4]),
            search_in_ram=chance.choice([None, 0]),
            cascade_in_background=chance.random() < 0.5,
        ),
    }


@contextmanager
def _small_indexes(chance: Random) -> Iterator[None]:
    """Store and evict indexes of a few memories already, and perhaps let Python change threads more often."""
    before = sys.getswitchinterval()
    with (
        mock.patch.object(service, "WORTH_STORING", 30),
        mock.patch.object(service, "IDLE_SECONDS", 0.3),
        mock.patch.object(service, "MEGABYTE", chance.choice([100, 1024 * 1024])),
    ):
        sys.setswitchinterval(chance.choice(SWITCH))
        try:
            yield
        finally:
            sys.setswitchinterval(before)


def _run(actors: Sequence[Actor], ends: float) -> int:
    """Run the threads, and fail if one does not end or has an exception. Returns how many calls have ended."""
    closing = threading.Event()
    for actor in actors:
        actor.closing = closing
        actor.start()
    for actor in actors:
        actor.join(max(0.0, ends - time.monotonic()) + ENDS)
    if late := [f"{actor.name} in {actor.verb}" for actor in actors if actor.is_alive()]:
        faulthandler.dump_traceback(file=sys.__stderr__)
        raise AssertionError(f"threads did not end within {ENDS:.0f} seconds: {', '.join(late)}")
    for actor in actors:
        if actor.fault is not None:
            raise AssertionError(f"the thread {actor.name} failed in {actor.verb}") from actor.fault
    return sum(actor.calls for actor in actors)
