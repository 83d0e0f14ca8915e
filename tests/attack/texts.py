"""Long texts through every verb that takes a text: the time grows in proportion to the length.

The kinds of text are those of the library's tests, and units that chance puts together.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Final

from tests.attack.campaign import Place

from slowwave import AgentMemory, Message
from slowwave.errors import NotFoundError
from slowwave.formats.vault.parse import sheet
from slowwave.model.names import FACT_LONGEST
from slowwave.pipelines.ingest.notes import WORDS_LONGEST
from slowwave.policy.text.features import LONG
from slowwave.testing.long_texts import KINDS

GROWTH: Final = 2.2
"""The most by which the time may grow when the length doubles."""
MEASURABLE: Final = 0.06
"""Seconds of the processor. What takes less at the longer length is fast enough, and is not compared."""
GATES: Final = (
    " always because my sister would not have asked how many are left, fooBar max_size, I live in Berlin since 2020. "
)
"""Words with which more patterns are tried: many are only tried if the text has a certain character or word."""
TAIL: Final = " again" * (LONG + 1) + GATES
"""Words that every text ends with. A text is embedded a second time, in passages, if it has more than LONG words."""
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
    "added": lambda memory, text, _: memory.add(text[-FACT_LONGEST:]),
    "noted": lambda memory, text, _: memory.note("n", text[-WORDS_LONGEST:]),
    "imported": imported,
    "searched": lambda memory, text, _: memory.search(text),
    "context": lambda memory, text, _: memory.context(text),
    "consolidated": lambda memory, _, __: memory.consolidate("said", force=True),
    "slept": lambda memory, _, __: memory.sleep(),
    "parsed": parsed,
    "erased": erased,
}


def seconds(text: str, folder: Path) -> dict[str, float]:
    """The time of the processor for each verb on a text, in a new memory."""
    text += TAIL
    taken = {}
    with AgentMemory.open(":memory:", llm="none") as memory:
        for name, verb in VERBS.items():
            begun = process_time()
            verb(memory, text, folder)
            taken[name] = process_time() - begun
    return taken


def too_slow(made: Callable[[int], str], longest: int, folder: Path) -> dict[str, float]:
    """The verbs whose time grows faster than the length, and by how much it grows per doubling; the best of six tries.

    Of a fault the time grows as fast in each doubling, also in the one after the longest text. If it grows in some of them only,
    the texts were read in different ways: a longer one has one piece more, or a fact is only found in it.

    Args:
        made: gives a text of a length.
        longest: its length.
        folder: for files.
    """
    long = seconds(made(longest), folder)
    short: dict[str, float] = {}
    for _ in range(6):
        suspects = {name: took for name, took in long.items() if took > MEASURABLE}
        if not suspects:
            return {}
        again = seconds(made(longest // 4), folder)
        short = {name: max(took, short.get(name, 0.0)) for name, took in again.items()}
        growth = {name: (took / max(short[name], MEASURABLE / 16)) ** 0.5 for name, took in suspects.items()}
        if max(growth.values()) <= GROWTH:
            return {}
        long = {name: min(took, long[name]) for name, took in seconds(made(longest), folder).items()}
    middle, twice = (seconds(made(length), folder) for length in (longest // 2, 2 * longest))
    taken = {name: (short[name], middle[name], long[name], twice[name]) for name in growth}
    return {
        name: round(growth[name], 2)
        for name, times in taken.items()
        if all(GROWTH * before < after for before, after in pairwise(times))
    }


PIECES: Final = (
    *"aA1 .,:;-_'\"`(){}[]<>#*/\\|@&%$=+~^!?\n\t\u00a0\u0301\u200bßéя中あ한ا",
    *(
        "the ",
        "I ",
        "my ",
        "is ",
        "not ",
        "and ",
        "Berlin",
        "2021",
        "next Friday",
        "3 days ago",
        "Dr. ",
        "http://",
        "a@b.c",
    ),
    *(
        "password: ",
        "4111 ",
        "```",
        "- ",
        "1. ",
        "user: ",
        "<system>",
        "I live in ",
        "because ",
        "\u202e",
        "😀",
        "ＡＢ",
    ),
    *(
        "how many ",
        "it was really ",
        "practice interview ",
        "Bern my sister ",
        "my husband and ",
        "if we go, ",
        "has ",
        "thought I ",
        "would not have ",
        ", and the last week of January ",
        "I plan to go on 3 May 2030, ",
        "[file ",
        "</Z",
    ),
)
"""What a unit is made of: characters and words that some pattern begins, continues or ends with."""
LENGTHS: Final = (10_000, 60_000)


def long_texts(place: Place) -> int:
    """Some kinds and some new units, at two lengths."""
    seconds(KINDS["statement"](400), place.folder)
    done = 0
    for _ in place.times(8):
        unit = "".join(place.chance.choices(PIECES, k=place.chance.randrange(1, 7)))
        name = place.chance.choice(sorted(KINDS))
        repeated: Callable[[int], str] = lambda length, unit=unit: (unit * (length // len(unit) + 1))[:length]  # type: ignore[misc]  # noqa: E731
        made, shown = place.chance.choice([(KINDS[name], name), (repeated, repr(unit))])
        longest = place.chance.choice(LENGTHS) if place.size >= 1 else LENGTHS[0] // 2
        slow = too_slow(made, longest, place.folder)
        assert slow == {}, f"{shown} at {longest} characters: growth per doubling {slow}"
        done += len(VERBS)
    return done
