"""Long texts of many kinds through every verb that takes a text: the time grows in proportion to the length."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Final
from unicodedata import normalize

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import NotFoundError
from slowwave.formats.vault.parse import sheet
from slowwave.testing.long_texts import KINDS

GROWTH: Final = 2.2
"""The most by which the time may grow when the length doubles."""
MEASURABLE: Final = 0.06
"""Seconds of the processor. What takes less at the longer length is fast enough, and is not compared."""
LIMITS: Final = {"consolidated": 3.0}
"""Seconds for 20,000 characters, if more than one: some kinds state hundreds of facts, each of which is read and checked."""
TAIL: Final = " fooBar max_size, I live in Berlin since 2020. "
"""Words that every text ends with: many patterns are only tried if the text has a certain character or word."""
SHORT: Final = frozenset(
    {
        "upper-case hex", "one letter", "hash", "dotted", "long blanks", "days", "opened quotes", "base64 of words",
    }
)  # fmt: skip
EACH: Final = [kind if kind in SHORT else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]

Verb = Callable[[AgentMemory, str, Path], object]


def said(memory: AgentMemory, text: str, _: Path, *, role: str) -> object:
    return memory.add_messages([Message(role=role, content=text)], conversation="said")


def imported(memory: AgentMemory, text: str, folder: Path) -> object:
    path = folder / "rows.jsonl"
    path.write_text(json.dumps({"role": "user", "content": text}) + "\n", encoding="utf-8")
    return memory.import_(path)


def erased(memory: AgentMemory, text: str, _: Path) -> object:
    try:
        return memory.erase(text=text)
    except NotFoundError:
        return None


def parsed(_: AgentMemory, text: str, __: Path) -> object:
    return sheet(f"---\ncategory: person\nother: {text}\n---\n# Facts\n\n- {text}\n{text}\n", {})


# In this order: what is said and added is found, read, summarised and erased by the verbs after it.
VERBS: Final[Mapping[str, Verb]] = {
    **{f"said by {role}": partial(said, role=role) for role in ("user", "assistant", "tool", "system")},
    "added": lambda memory, text, _: memory.add(text),
    "noted": lambda memory, text, _: memory.note("n", text),
    "imported": imported,
    "searched": lambda memory, text, _: memory.search(text),
    "context": lambda memory, text, _: memory.context(text),
    "consolidated": lambda memory, _, __: memory.consolidate("said", force=True),
    "slept": lambda memory, _, __: memory.sleep(),
    "parsed": parsed,
    "erased": erased,
}


def seconds(kind: str, length: int, folder: Path) -> dict[str, float]:
    """The time of the processor for each verb on a text of this kind and length, in a new memory."""
    text = KINDS[kind](length) + TAIL
    taken = {}
    with AgentMemory.open(":memory:", llm="none") as memory:
        for name, verb in VERBS.items():
            begun = process_time()
            verb(memory, text, folder)
            taken[name] = process_time() - begun
    return taken


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile the patterns and load the tables: the first call of each verb does it."""
    for kind in ("statement", "Japanese"):
        seconds(kind, 400, tmp_path_factory.mktemp("warm"))


def too_slow(kind: str, longest: int, folder: Path) -> dict[str, float]:
    """The verbs whose time grows faster than the length, and by how much it grows per doubling; the best of three tries."""
    long = seconds(kind, longest, folder)
    short: dict[str, float] = {}
    for _ in range(3):
        suspects = {name: took for name, took in long.items() if took > MEASURABLE}
        if not suspects:
            return {}
        again = seconds(kind, longest // 4, folder)
        short = {name: max(took, short.get(name, 0.0)) for name, took in again.items()}
        growth = {name: (took / max(short[name], MEASURABLE / 16)) ** 0.5 for name, took in suspects.items()}
        if max(growth.values()) <= GROWTH:
            return {}
        long = {name: min(took, long[name]) for name, took in seconds(kind, longest, folder).items()}
    return {name: round(each, 2) for name, each in growth.items() if each > GROWTH}


@pytest.mark.parametrize("kind", EACH)
def test_the_time_of_every_verb_grows_in_proportion_to_the_length_of_the_text(kind: str, tmp_path: Path) -> None:
    assert too_slow(kind, 5_000, tmp_path) == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_no_verb_takes_a_second_for_twenty_thousand_characters(kind: str, tmp_path: Path) -> None:
    read = len(normalize("NFKC", KINDS[kind](20_000))) / 20_000  # a ligature may be read as 18 letters
    taken = seconds(kind, 20_000, tmp_path)
    assert {name: took for name, took in taken.items() if took > read * LIMITS.get(name, 1.0)} == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", [*sorted(SHORT), "statement", "words", "semicolon", "Japanese", "any code point", "JSON"]
)
def test_the_time_grows_in_proportion_up_to_two_hundred_thousand_characters(kind: str, tmp_path: Path) -> None:
    assert too_slow(kind, 200_000, tmp_path) == {}


def test_each_kind_gives_a_text_of_the_length_that_is_asked_for() -> None:
    assert len(KINDS) >= 100
    assert {kind: len(text(1_000)) for kind, text in KINDS.items()} == dict.fromkeys(KINDS, 1_000)
    assert len({text(1_000) for text in KINDS.values()}) == len(KINDS)
