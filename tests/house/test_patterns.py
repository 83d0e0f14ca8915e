"""No pattern of the library takes exponential time: each is tried on its own words, many times in a row."""

import importlib
import pkgutil
import re
import signal
import sys
from collections.abc import Iterator
from types import FrameType

import slowwave

REPEATS = 30
"""With two ways to read each word, a pattern would try 2 ** 30 readings before it fails."""
SECONDS = 2.0
"""Of the processor."""
WORDS_MOST = 250
NESTED = 3
"""How deep tables of patterns are looked into."""
_REPEATED_GROUP = re.compile(r"\)(?:[+*]|\{\d*,\d*\})")
_NOT_IMPORTED = ("adapters", "server", "testing", "__main__", "workers")


class TooSlowError(Exception):
    """A pattern was not done in time."""


def _patterns() -> Iterator[tuple[str, str, int]]:
    """The name, the text and the flags of each pattern that a module of the library or a table in it holds."""
    for found in pkgutil.walk_packages(slowwave.__path__, "slowwave."):
        if not any(part in found.name for part in _NOT_IMPORTED):
            importlib.import_module(found.name)
    for module, held in sorted(sys.modules.items()):
        if module.startswith("slowwave."):
            for name, value in list(vars(held).items()):
                yield from _in(value, f"{module}.{name}", NESTED)


def _in(value: object, name: str, depth: int) -> Iterator[tuple[str, str, int]]:
    written = getattr(value, "pattern", None)
    if isinstance(written, str) and hasattr(value, "search") and not isinstance(value, type):
        flags = getattr(value, "flags", 0)
        yield name, written, int(flags) if isinstance(flags, int) else 0
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for place, one in enumerate(value):
            yield from _in(one, f"{name}[{place}]", depth - 1)
    elif depth and isinstance(value, dict):
        for key, one in list(value.items()):
            yield from _in(one, f"{name}[{key}]", depth - 1)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def _slow_word(written: str, flags: int) -> str | None:
    """A word of the pattern on which it takes too long, if it is repeated and something else follows."""
    pattern = re.compile(written, flags)
    for word in list(dict.fromkeys(re.findall(r"[a-zäöüß]+", written)))[:WORDS_MOST]:
        text = f"{word} " * REPEATS + "§"
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            for read in (pattern.match, pattern.search):
                read(text)
        except TooSlowError:
            return word
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def test_no_pattern_reads_its_own_words_in_two_ways() -> None:
    before = signal.signal(signal.SIGVTALRM, _stop)
    try:
        repeated = {written: (name, flags) for name, written, flags in _patterns() if _REPEATED_GROUP.search(written)}
        slow = {name: word for written, (name, flags) in repeated.items() if (word := _slow_word(written, flags))}
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert len(repeated) > 100
    assert slow == {}
