"""KeyboardInterrupt at any step of a store within a verb: nothing is half done, and the handle is used on."""

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from tests.attack.campaign import Place, everything, opened, sentence, sound, words

from slowwave import AgentMemory, Message
from slowwave.errors import NotFoundError

Verb = Callable[[AgentMemory, str], object]
VERBS: Final[tuple[Verb, ...]] = (
    lambda memory, word: memory.add(f"Bob owns {word}"),
    lambda memory, word: memory.add_messages([Message("user", f"I live in {word} since 2020")], "talk"),
    lambda memory, word: memory.search(f"who owns {word}?", deep=True),
    lambda memory, _: memory.consolidate_all(force=True),
    lambda memory, _: memory.sleep(),
    lambda memory, word: memory.note("list", word),
    lambda memory, _: memory.undo(memory.runs()[0].id, cascade=True),
    lambda memory, _: _erased(memory),
    lambda memory, _: memory.doctor(deep=True),
)
PLACE: Final = "/slowwave/stores/"
STEPS: Final = 3000
"""Steps of the store that a verb takes at most here; most take a few hundred."""


def _erased(memory: AgentMemory) -> object:
    with suppress(NotFoundError):
        return memory.erase(text="Bob owns")
    return None


class Interrupt:
    """Raises KeyboardInterrupt in this thread at a step of the store, counted from the beginning of the block.

    A step is the beginning of a function, or the end of a call of one that is written in C: there Python handles signals.

    Args:
        step: the number of the step; the first is 0.

    Attributes:
        left: how many steps are left; below 0 after the interrupt.
    """

    def __init__(self, step: int) -> None:
        self.left = step

    def __enter__(self) -> None:
        sys.setprofile(self._seen)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _seen(self, frame: FrameType, event: str, _: object) -> None:
        if event not in {"call", "c_return"} or PLACE not in frame.f_code.co_filename:
            return
        self.left -= 1
        if self.left < 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def interrupts(place: Place) -> int:
    """Verbs that are interrupted at a random step, one after the other on one handle."""
    chance, done, kept = place.chance, 0, set[str]()
    with opened(place.store(), embedder=chance.choice(["none", "static"])) as memory:
        memory.add_messages([Message("user", sentence(chance)) for _ in range(5)], "talk")
        for done in place.times(60):  # noqa: B007 - counted
            word = words("o", chance)
            with suppress(KeyboardInterrupt), Interrupt(round(STEPS * chance.random() ** 3)):
                chance.choice(VERBS)(memory, word)
            kept.add(memory.note(word, "tea").ids[0])
            assert memory.search("who owns tea?")
            if chance.random() < 0.1:
                sound(memory)
        assert kept <= everything(memory).keys()
        sound(memory)
    return done + 1
