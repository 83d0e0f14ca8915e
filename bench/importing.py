"""The processor time of an import of short messages, and the share of it that the detector of orders takes.

    python bench/importing.py [--messages 20000] [--profile]

With data the messages are sentences of BEAM and of LongMemEval; without it, they are random common words. Each sentence
occurs once. The embedder is the default one. `--profile` prints the functions that take the most time.
"""

import argparse
import cProfile
import json
import os
import pstats
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import ONE_THREAD, data, number, save, table

os.environ.update(ONE_THREAD)

from slowwave import AgentMemory
from slowwave.pipelines.ingest import review
from slowwave.policy.guard import injection
from slowwave.policy.text.word_frequency import commonest

SHORTEST, LONGEST = 40, 200
"""Characters of a sentence that becomes a message."""
WORDS = 14
"""Words of a message if there is no data."""


def contents() -> Iterator[str]:
    """The texts of conversations; none without data."""
    for chat in sorted(Path(folder).glob("*/*/chat.json")) if (folder := data("beam")) else ():
        for batch in json.loads(chat.read_text(encoding="utf-8")):
            for turn in batch.get("turns", ()):
                yield from (message["content"] for message in turn)
    if path := data("longmemeval-single", "longmemeval_single.json"):
        for question in json.loads(path.read_text(encoding="utf-8")):
            yield from (message["content"] for session in question["haystack_sessions"] for message in session)


def texts(count: int) -> list[str]:
    """Different short texts in a random order that is always the same."""
    chance = random.Random(7)
    found = (part.strip() for content in contents() for part in re.split(r"(?<=[.!?])\s+|\n+", content))
    short = sorted({part for part in found if SHORTEST <= len(part) <= LONGEST})
    chance.shuffle(short)
    common = list(commonest(5000))
    while len(short) < count:
        short.append(" ".join(chance.choices(common, k=WORDS)))
    return short[:count]


def written(folder: Path, messages: list[str]) -> Path:
    """The file to import: conversations of 50 messages, of the user and of an assistant in turn."""
    path = folder / "messages.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for place, text in enumerate(messages):
            role = "assistant" if place % 2 else "user"
            file.write(json.dumps({"conversation": f"c{place // 50}", "role": role, "content": text}) + "\n")
    return path


class Timed:
    """Calls the detector and adds up its processor time, without that of asking for the time."""

    def __init__(self) -> None:
        self.detect = injection.instruction_shaped
        start = time.thread_time()
        for _ in range(10_000):
            time.thread_time()
        self.asking = (time.thread_time() - start) / 10_000
        self.seconds = 0.0
        self.calls = self.characters = self.withheld = 0

    def __call__(self, text: str) -> str | None:
        """What the detector says of a text."""
        start = time.thread_time()
        why = self.detect(text)
        self.seconds += time.thread_time() - start - self.asking
        self.calls += 1
        self.characters += len(text)
        self.withheld += why is not None
        return why


def main() -> None:
    """Import, and print the table."""
    parser = argparse.ArgumentParser(description="The processor time of an import.")
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = written(Path(folder), texts(arguments.messages))
        timed = injection.instruction_shaped = Timed()  # type: ignore[assignment] - the module is asked at each call
        memory = AgentMemory.open(f"{folder}/memory.db", llm=None)
        memory.search("warm up")
        review.suspect("The embedder and the detector read their tables before the import.", "tool")
        timed.seconds, timed.calls, timed.characters, timed.withheld = 0.0, 0, 0, 0
        profile = cProfile.Profile()
        start, wall = time.process_time(), time.perf_counter()
        if arguments.profile:
            profile.runcall(memory.import_, path)
        else:
            memory.import_(path)
        spent, waited = time.process_time() - start, time.perf_counter() - wall
        memory.close()
    spent -= 2 * timed.asking * timed.calls
    result = {
        "messages": arguments.messages,
        "messages per second of processor time": arguments.messages / spent,
        "messages per second": arguments.messages / waited,
        "share of the detector": timed.seconds / spent,
        "detector, ms for 1,000 characters": 1e6 * timed.seconds / timed.characters,
        "withheld": timed.withheld,
    }
    print(table(("what", "measured"), [(name, number(value)) for name, value in result.items()]))
    if arguments.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    save("importing", result)


if __name__ == "__main__":
    main()
