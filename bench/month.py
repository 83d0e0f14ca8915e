"""A long conversation replayed on its dates with a sleep pass every night; prints the changes of each pass with their reasons.

    SLOWWAVE_DATA=... python bench/month.py [sample number] [setting=value ...]

Sample 0 is the first conversation of LoCoMo's file; settings are those of Config, such as hot_messages_max=200. Each
session is read by rules once it has ended; then the nights up to the next session are slept, each planned as a dry run
first, which must agree with what the night then does. Every other day somebody asks one of the questions about what was
said so far, and uses the first answer. At the end: what is hot and what is cold, and what health says.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from forgetting import Now, Talk, talks
from measuring import data
from slowwave import AgentMemory, Config
from slowwave.model.operations import Operation
from slowwave.pipelines.sleep.report import describe_operations

NIGHT = timedelta(days=1)
LAST = 45
"""The number of sleep passes after the last session."""
ASKED_EVERY = 2
"""The number of days between two questions."""


def nights(talk: Talk, memory: AgentMemory, clock: Now) -> Iterator[str]:
    """The report, session by session and sleep pass by sleep pass."""
    ends = [session[-1].at for session in talk.sessions]
    known: set[str] = set()
    days = 0
    for number, session in enumerate(talk.sessions, 1):
        name = f"{talk.name}-{number}"
        clock.at = ends[number - 1]
        memory.add_messages(session, conversation=name)
        clock.at += timedelta(minutes=30)
        result = memory.end_conversation(name)
        known |= {message.id for message in session}
        yield f"\n## {clock.at:%d %b %Y}: session {number}, {len(session)} messages, {len(result.facts)} facts"
        yield from (f"   fact {fact.category}/{fact.kind}: {fact.text}" for fact in result.facts)
        yield from (f"   problem {problem}" for problem in result.problems)
        asked = [question for question, gold in talk.questions if gold <= known]
        until = ends[number] if number < len(ends) else clock.at + LAST * NIGHT
        while clock.at + NIGHT < until or (number == len(ends) and clock.at < until):
            clock.at = (clock.at + NIGHT).replace(hour=3, minute=0)
            yield from slept(memory, clock)
            days += 1
            if asked and days % ASKED_EVERY == 0:
                memory.record_retrieval(memory.search(asked[days % len(asked)], top_k=1), session=f"day {days}")


def slept(memory: AgentMemory, clock: Now) -> Iterator[str]:
    """One sleep pass, if anything was due: each change with its reason, from the dry run before it."""
    planned = memory.sleep(dry_run=True)
    report = memory.sleep()
    if str(report) == "sleep: nothing due":
        return
    yield f"\n--- {clock.at:%d %b %Y}, the night"
    yield str(report)
    before, after = (Counter(map(str, map(_told, one.plan.operations))) for one in (planned, report))
    yield from (f"   {line}" for line in after if line != "None")
    yield from (f"!!! only the dry run said: {line}" for line in before - after)


def _told(operation: Operation) -> str | None:
    words = describe_operations(operation, {})
    return words and f"{words}\n      because {operation.because}"


def main() -> None:
    path = data("locomo", "locomo-dev.json")
    if path is None:
        raise SystemExit("SLOWWAVE_DATA names no folder with locomo/locomo-dev.json")
    numbers = [int(one) for one in sys.argv[1:] if one.isdecimal()]
    settings = dict(one.split("=", 1) for one in sys.argv[1:] if "=" in one)
    talk = talks(Path(path))[numbers[0] if numbers else 0]
    clock = Now(talk.sessions[0][0].at)
    config = Config.from_mapping({name: int(value) for name, value in settings.items()})
    with AgentMemory.open(":memory:", llm=None, embedder="static", clock=clock, config=config) as memory:
        for line in nights(talk, memory, clock):
            print(line)
        print("\n## At the end")
        print(memory.status())
        for phase in ("core", "active", "cold", "superseded"):
            found = memory.get_all(phases=[phase])
            print(f"\n# {phase}: {len(found)} facts")
            for fact in found:
                print(f"   {memory.strength(fact.id):.2f} {fact.category}/{fact.kind} [{fact.reason}] {fact.text}")
        print("\n# health")
        print(memory.health())


if __name__ == "__main__":
    main()
