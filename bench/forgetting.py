"""Recall when most of a conversation is cold: LoCoMo replayed session by session, with a sleep pass after each, no model.

    SLOWWAVE_DATA=... python bench/forgetting.py [turns words]

For limits of 50, 25 and 10 % of the turns (`hot_messages_max`) and of the words (`hot_words_max`): R@10 of a normal
search as a share of the full store's; whether a deep search finds exactly what a deep search of the full store finds, at
the same scores; and by how much messages and facts together missed the limit. The last line is JSON.
"""

import json
import os
import re
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slowwave import AgentMemory, Config, Message

SHARES = (0.5, 0.25, 0.1)
LIMITS = {"turns": "hot_messages_max", "words": "hot_words_max"}


@dataclass(frozen=True)
class Talk:
    """A conversation between two people, and its questions."""

    name: str
    sessions: list[list[Message]]
    questions: list[tuple[str, frozenset[str]]]

    def size(self, unit: str) -> int:
        """The number of turns or words."""
        messages = [message for session in self.sessions for message in session]
        return len(messages) if unit == "turns" else sum(len(message.content.split()) for message in messages)


def talks(path: Path) -> list[Talk]:
    found = []
    for sample in json.loads(path.read_text()):
        talk = sample["conversation"]
        numbers = sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
        sessions = []
        for number in numbers:
            at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            sessions.append([said(turn, talk["speaker_a"], at) for turn in talk[f"session_{number}"]])
        known = {message.id for session in sessions for message in session}
        questions = []
        for asked in sample["qa"]:
            cited = re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, asked.get("evidence", []))))
            gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in cited) & known
            if gold and asked["category"] in (1, 2, 3, 4):
                questions.append((str(asked["question"]), gold))
        found.append(Talk(name=sample["sample_id"], sessions=sessions, questions=questions))
    return found


def said(turn: dict[str, str], first: str, at: datetime) -> Message:
    picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    role = "user" if turn["speaker"] == first else "assistant"
    return Message(role=role, speaker=turn["speaker"], content=turn["text"] + picture, at=at, id=turn["dia_id"])


@dataclass
class Now:
    """A clock that the benchmark sets."""

    at: datetime

    def __call__(self) -> datetime:
        """The present setting."""
        return self.at


def replayed(talk: Talk, **limit: int) -> AgentMemory:
    clock = Now(talk.sessions[0][0].at)
    memory = AgentMemory.open(":memory:", clock=clock, config=Config(**limit))
    for number, session in enumerate(talk.sessions, 1):
        clock.at = session[-1].at
        memory.add_messages(session, conversation=f"{talk.name}-{number}")
        clock.at += timedelta(hours=8)
        memory.sleep()
    return memory


def hits(memory: AgentMemory, talk: Talk, *, deep: bool) -> list[list[tuple[str, float]]]:
    return [
        [(str(hit.sources[0]), hit.score) for hit in memory.search(question, top_k=10, deep=deep)]
        for question, _ in talk.questions
    ]


def recall(found: Iterable[list[tuple[str, float]]], talk: Talk) -> list[float]:
    pairs = zip(found, talk.questions, strict=True)
    return [len(gold & {source for source, _ in places}) / len(gold) for places, (_, gold) in pairs]


def hot(memory: AgentMemory, unit: str) -> int:
    hot = [*memory.get_all(kinds=["message"]), *memory.get_all()]
    return len(hot) if unit == "turns" else sum(len(one.visible_text.split()) for one in hot)


def main() -> None:
    data = os.environ.get("SLOWWAVE_DATA")
    if not data:
        raise SystemExit("SLOWWAVE_DATA names no folder with locomo/locomo-dev.json")
    known = talks(Path(data) / "locomo" / "locomo-dev.json")
    stores = [replayed(talk) for talk in known]
    full = [hits(store, talk, deep=False) for store, talk in zip(stores, known, strict=True)]
    deep = [hits(store, talk, deep=True) for store, talk in zip(stores, known, strict=True)]
    most = [recall(found, talk) for found, talk in zip(full, known, strict=True)]
    result: dict[str, object] = {"full R@10": round(100 * statistics.mean(x for one in most for x in one), 1)}
    for unit in sys.argv[1:] or LIMITS:
        for share in SHARES:
            figures, each, over, same = [], [], 0, True
            for talk, whole, best in zip(known, deep, most, strict=True):
                limit = round(share * talk.size(unit))
                memory = replayed(talk, **{LIMITS[unit]: limit})
                figures += (own := recall(hits(memory, talk, deep=False), talk))
                each.append(round(100 * statistics.mean(own) / statistics.mean(best), 1))
                over += max(0, hot(memory, unit) - limit)
                same = same and hits(memory, talk, deep=True) == whole
                memory.close()
            kept = 100 * statistics.mean(figures) / statistics.mean(x for one in most for x in one)
            result[f"{unit} {share:.0%}"] = round(kept, 1)
            print(f"{unit} {share:4.0%}: {kept:.1f} % of full R@10 {each}, {over} over the limit, deep equal: {same}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
