"""What is hot twelve months after a talk: LoCoMo, no model, default settings, a sleep pass every night.

    SLOWWAVE_DATA=... python bench/nights.py [nights.json …] [--read]

Each file lists conversations, each with the ids of messages that a person marked: 40 "lasts" (still worth knowing in a year) and
40 "passing" (a meal, a mood, a weekend). By default it is bench/nights.json. The talk is lived through session by
session with a sleep pass after each, then 365 nights follow. lasting: marked messages with a hot fact, or whose fact or
text is in a hot summary. passing: the same of those marked "passing". distilled: those with any fact, hot or
cold. The second row asks five of the talk's questions a month, and records what their contexts show as used. `--read`
prints the facts, and where each marked message is: in hot facts, in a summary, or archived. The last line is JSON.
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from forgetting import Now, Talk, talks
from slowwave import AgentMemory
from slowwave.model.memory import SUMMARY, Memory

NIGHTS = 365
ASKED_EVERY = 6
"""In the second row, a question is asked every so many days: five a month."""
TOKENS = 1000


@dataclass(frozen=True)
class Marked:
    """The ids of messages that a person marked, of one conversation."""

    conversation: str
    lasts: frozenset[str]
    passing: frozenset[str]


def marked(path: Path) -> list[Marked]:
    return [
        Marked(found["conversation"], frozenset(found["lasts"]), frozenset(found["passing"]))
        for found in json.loads(path.read_text())
    ]


def lived(talk: Talk, *, asked: bool) -> AgentMemory:
    clock = Now(talk.sessions[0][0].at)
    memory = AgentMemory.open(":memory:", llm=None, clock=clock)
    for number, session in enumerate(talk.sessions, 1):
        clock.at = session[-1].at
        memory.add_messages(session, conversation=f"{talk.name}-{number}")
        clock.at += timedelta(hours=8)
        memory.sleep()
    for night in range(NIGHTS):
        clock.at += timedelta(days=1)
        if asked and night % ASKED_EVERY == 0:
            question, _ = talk.questions[night // ASKED_EVERY % len(talk.questions)]
            memory.record_retrieval(memory.context(question, budget_tokens=TOKENS))
        memory.sleep()
    return memory


def refs(facts: Iterable[Memory]) -> set[str]:
    """The ids of the messages that these facts rest on."""
    return {source.ref for fact in facts for source in fact.sources}


def gathered(memory: AgentMemory) -> set[str]:
    """The ids of the messages that hot summaries contain, themselves or by their facts."""
    hot = [one for one in memory.get_all(kinds=[SUMMARY]) if one.is_searchable and not one.is_cascade]
    found: set[str] = set()
    for summary in hot:
        for member in map(memory.get, summary.members):
            found |= {source.ref for source in member.sources} | ({member.ref} if member.ref else set())
    return found


def main() -> None:
    data = os.environ.get("SLOWWAVE_DATA")
    if not data:
        raise SystemExit("SLOWWAVE_DATA names no folder with locomo/locomo-dev.json")
    known = {talk.name: talk for talk in talks(Path(data) / "locomo" / "locomo-dev.json")}
    files = [Path(one) for one in sys.argv[1:] if not one.startswith("-")]
    result: dict[str, object] = {}
    paths = files or [Path(__file__).with_name("nights.json")]
    for labels in (one for path in paths for one in marked(path)):
        for asked in (False, True):
            with lived(known[labels.conversation], asked=asked) as memory:
                every = memory.get_all(phases=["active", "core", "cold", "superseded"])
                hot = [one for one in every if one.is_searchable and one.kind != SUMMARY]
                shown, ever = refs(hot), refs(every)
                listed = gathered(memory)
                figures = {
                    "lasting": len(labels.lasts & (shown | listed)),
                    "lasting distilled": len(labels.lasts & ever),
                    "passing": len(labels.passing & (shown | listed)),
                    "passing distilled": len(labels.passing & ever),
                    "hot facts": len(hot),
                    "core": sum(one.phase == "core" for one in hot),
                    "facts": len(every),
                }
                result[f"{labels.conversation}{', asked' if asked else ''}"] = figures
                print(f"{labels.conversation}{', five questions a month' if asked else ''}: {figures}")
                if "--read" in sys.argv:
                    read(every, labels)
                    places(memory, labels, shown)
    print(json.dumps(result))


def read(facts: Iterable[Memory], labels: Marked) -> None:
    for fact in sorted(facts, key=lambda one: (one.phase, one.text)):
        said = {source.ref for source in fact.sources}
        mark = "L" if said & labels.lasts else "p" if said & labels.passing else " "
        print(
            f" {mark} {fact.phase:10} {fact.reason or '':9} {fact.category}/{fact.kind} {fact.importance:.2f} {fact.accesses} {fact.text}"
        )


def places(memory: AgentMemory, labels: Marked, shown: Iterable[str]) -> None:
    """Print where each marked message is."""
    listed: dict[str, list[str]] = {}
    for one in memory.get_all(kinds=[SUMMARY]):
        for member in map(memory.get, one.members) if one.is_searchable and not one.is_cascade else ():
            for ref in {*refs([member]), member.ref}:
                listed.setdefault(ref or "", []).append(one.ref or "summary")
    for mark, ids in (("L", labels.lasts), ("p", labels.passing)):
        for ref in sorted(ids):
            found = [*(["fact"] if ref in shown else []), *listed.get(ref, [])]
            print(f" {mark} {ref:8} {', '.join(dict.fromkeys(found)) or 'archived'}")


if __name__ == "__main__":
    main()
