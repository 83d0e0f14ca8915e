"""How much of the evidence a context contains: LoCoMo, no model, compared with plain search at the same number of tokens.

    SLOWWAVE_DATA=... python bench/context.py [tokens] [--read N]

Each conversation is lived through session by session, read into facts and slept on; then every question asks for a
context of so many tokens (default 800). evidence: the share of the cited turns that stand in it, themselves or as a fact
that rests on them. answer words: the share of the answer's words in it. plain: the hits of `search` in order, as many as
fit into the tokens the context took. `--read N` prints N contexts to be read by eye. The last line is JSON.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slowwave import AgentMemory, Message
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.query import Hit
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.text.tokens import STOP_WORDS, stem, words
from slowwave.testing import FrozenClock

TOKENS = 800
DEEP = 100
"""The number of hits from which plain search fills its tokens."""


@dataclass(frozen=True)
class Asked:
    """A question, the words of its answer, and the ids of the turns with the evidence."""

    text: str
    answer: frozenset[str]
    gold: frozenset[str]


@dataclass(frozen=True)
class Talk:
    """A conversation by sessions, and its questions."""

    name: str
    sessions: list[tuple[datetime, list[Message]]]
    questions: list[Asked]


def talks(path: Path) -> Iterator[Talk]:
    for sample in json.loads(path.read_text()):
        talk = sample["conversation"]
        numbers = sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
        sessions = []
        for number in numbers:
            at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            sessions.append((at, [said(turn, talk["speaker_a"], at) for turn in talk[f"session_{number}"]]))
        known = {message.id for _, messages in sessions for message in messages}
        questions = []
        for asked in sample["qa"]:
            cited = re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, asked.get("evidence", []))))
            gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in cited) & known
            if gold and asked["category"] in (1, 2, 3, 4):
                questions.append(Asked(str(asked["question"]), content(str(asked.get("answer", ""))), gold))
        yield Talk(sample["sample_id"], sessions, questions)


def said(turn: dict[str, str], first: str, at: datetime) -> Message:
    picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    role = "user" if turn["speaker"] == first else "assistant"
    return Message(role=role, content=turn["text"] + picture, speaker=turn["speaker"], at=at, id=turn["dia_id"])


def content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def lived(memory: AgentMemory, clock: FrozenClock, talk: Talk) -> None:
    for at, messages in talk.sessions:
        clock.now = at
        memory.add_messages(messages, conversation=talk.name)
        while memory.consolidate(talk.name, force=True).run_id:
            pass
        memory.sleep()
    clock.now = talk.sessions[-1][0] + timedelta(days=1)


def refs(memory: Memory) -> set[str]:
    """The ids of the turns that a memory is or has as sources."""
    if memory.kind == MESSAGE:
        return {memory.ref or ""}
    return {source.ref for source in memory.sources}


def plain(hits: list[Hit], tokens: int) -> tuple[set[str], str]:
    """As many hits as fit, in order, as whole messages."""
    found: set[str] = set()
    lines: list[str] = []
    for hit in hits:
        memory = hit.memory
        line = f"- [{memory.at:%Y-%m-%d}] {memory.speaker or memory.role}: {memory.text}\n"
        if estimate("".join([*lines, line])) > tokens:
            break
        lines.append(line)
        found |= refs(memory)
    return found, "".join(lines)


def measure(path: Path, tokens: int, read: int) -> dict[str, float]:
    rows: list[dict[str, float]] = []
    for talk in talks(path):
        with tempfile.TemporaryDirectory() as folder:
            clock = FrozenClock(talk.sessions[0][0])
            with AgentMemory.open(Path(folder, "memory.db"), llm=None, embedder="static", clock=clock) as memory:
                lived(memory, clock, talk)
                for place, asked in enumerate(talk.questions):
                    found = memory.context(asked.text, conversation=talk.name, budget_tokens=tokens)
                    shown = {
                        ref for s in found.sections for item in s.items if item.memory for ref in refs(item.memory)
                    }
                    hits, text = plain(memory.search(asked.text, top_k=DEEP), found.tokens)
                    rows.append(
                        {
                            "evidence": len(asked.gold & shown) / len(asked.gold),
                            "plain_evidence": len(asked.gold & hits) / len(asked.gold),
                            "answer": _share(asked.answer, str(found)),
                            "plain_answer": _share(asked.answer, text),
                            "tokens": found.tokens,
                        }
                    )
                    if read > 0 and place % 29 == 0:
                        read -= 1
                        print(f"=== {asked.text}  [gold {sorted(asked.gold)}]\n{found}\n")
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]} | {"questions": len(rows)}


def _share(answer: frozenset[str], text: str) -> float:
    return len(answer & content(text)) / len(answer) if answer else 1.0


def main() -> None:
    folder = os.environ.get("SLOWWAVE_DATA")
    if not folder:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json")
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    read = numbers.pop() if "--read" in sys.argv else 0
    result = measure(Path(folder, "locomo", "locomo-dev.json"), numbers[0] if numbers else TOKENS, read)
    for name, value in result.items():
        print(f"{name:<16}{value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
