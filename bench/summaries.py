"""How much of a session an extractive summary keeps: LoCoMo, no model, a budget of 20 % of the session's words.

    SLOWWAVE_DATA=... python bench/summaries.py [locomo.json]

answer words: of the questions answered in one session (category 4), the share of the answer's words in its summary.
long-term: the same questions against 600 words chosen from the printed summaries (120 words each) of 64 turns at a time.
evidence touched: the share of the cited turns of which at least one clause is kept. event words: the share of the words
of the data set's own event lists. public_20: the first two by `AgentMemory.compact_memories` and its profile "detailed". The last line is JSON. Of the same sessions a 2023 model's summaries (same length)
keep 47-51 % of the answer words.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slowwave import AgentMemory, Config, Message
from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.extract import SummaryClause, parse, render, select, split_clauses
from slowwave.policy.text.clauses import clauses
from slowwave.policy.text.tokens import STOP_WORDS, stem, terms, words

BUDGET = 0.2


@dataclass(frozen=True)
class Turn:
    """One message, with its picture's caption in brackets."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Session:
    """A range of messages that is summarised, and the later questions about it."""

    conversation: str
    turns: list[Turn]
    frequencies: Frequencies
    speakers: list[str]
    questions: list[tuple[set[str], set[str]]]  # the answer's words, the ids of its turns
    events: set[str]


def content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def sessions(path: Path) -> Iterator[Session]:
    """All sessions, each with document frequencies of the turns up to its end."""
    for sample in json.loads(path.read_text()):
        talk = sample["conversation"]
        counts: Counter[str] = Counter()
        seen = 0
        numbers = sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
        for number in numbers:
            turns = [Turn(t["dia_id"], t["speaker"], _text(t)) for t in talk[f"session_{number}"]]
            for turn in turns:
                counts.update(set(terms(turn.text)))
            seen += len(turns)
            ids = {turn.id for turn in turns}
            questions = []
            for item in sample["qa"]:
                cited = {
                    f"D{int(a)}:{int(b)}"
                    for a, b in re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, item["evidence"])))
                }
                answer = content(str(item.get("answer", "")))
                if item["category"] == 4 and answer and cited and cited <= ids:
                    questions.append((answer, cited))
            events = sample.get("event_summary", {}).get(f"events_session_{number}", {})
            listed = " ".join(text for texts in events.values() if isinstance(texts, list) for text in texts)
            frozen = dict(counts)
            yield Session(
                conversation=sample["sample_id"],
                turns=turns,
                frequencies=Frequencies(documents=seen, frequency=lambda term, frozen=frozen: frozen.get(term, 0)),
                speakers=[talk["speaker_a"], talk["speaker_b"]],
                questions=questions,
                events=content(listed),
            )


def _text(turn: dict[str, str]) -> str:
    return turn["text"] + (f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else "")


def summarise(session: Session, *, budget: float = BUDGET, brief: bool = False) -> tuple[SummaryClause, ...]:
    found = [
        unit
        for position, turn in enumerate(session.turns)
        for unit in split_clauses(
            turn.text, speaker=turn.speaker, position=position, speakers=session.speakers, brief=brief
        )
    ]
    limit = round(budget * sum(len(clause.text.split()) for turn in session.turns for clause in clauses(turn.text)))
    return select(found, limit=limit, rarity=session.frequencies.rarity, speakers=session.speakers)


def measure(path: Path, *, budget: float = BUDGET, brief: bool = False) -> dict[str, float]:
    answers, evidence, events, lengths = [], [], [], []
    for session in sessions(path):
        chosen = summarise(session, budget=budget, brief=brief)
        kept = {root for unit in chosen for root in content(unit.text)}
        touched = {session.turns[unit.position].id for unit in chosen}
        lengths.append(sum(len(unit.text.split()) for unit in chosen))
        for answer, cited in session.questions:
            answers.append(len(answer & kept) / len(answer))
            evidence.append(len(cited & touched) / len(cited))
        if session.events:
            events.append(len(session.events & kept) / len(session.events))
    figures = {"answer_words": answers, "evidence_touched": evidence, "event_words": events}
    shares = {name: round(100 * sum(values) / len(values), 1) for name, values in figures.items()}
    return {**shares, "words": round(sum(lengths) / len(lengths), 1), "questions": len(answers)}


def cascade(path: Path, *, span: int = 64, first: int = 120, second: int = 600, brief: bool = False) -> float:
    """Answer words in a long-term text that was selected from printed span summaries, over all questions."""
    shares: list[float] = []
    grouped: dict[str, list[Session]] = {}
    for session in sessions(path):
        grouped.setdefault(session.conversation, []).append(session)
    for parts in grouped.values():
        turns = [turn for session in parts for turn in session.turns]
        speakers, rarity = parts[-1].speakers, parts[-1].frequencies.rarity
        printed = []
        for start in range(0, len(turns), span):
            found = [
                unit
                for position, turn in enumerate(turns[start : start + span])
                for unit in split_clauses(
                    turn.text, speaker=turn.speaker, position=position, speakers=speakers, brief=brief
                )
            ]
            printed.append(render(select(found, limit=first, rarity=rarity, speakers=speakers)))
        again = [
            unit for number, text in enumerate(printed) for unit in parse(text, speakers=speakers, position=number)
        ]
        chosen = select(again, limit=second, rarity=rarity, speakers=speakers)
        kept = {root for unit in chosen for root in content(unit.text)}
        shares += [len(answer & kept) / len(answer) for session in parts for answer, _ in session.questions]
    return round(100 * sum(shares) / len(shares), 1)


def public(path: Path, *, profile: str = "detailed") -> dict[str, float]:
    """The same through the public API: each session is a conversation and is compacted to the profile's 20 % of its words."""
    answers, evidence = [], []
    config = Config(immediate_window=1, recent_window=10_000, summary_profile=profile)
    with AgentMemory.open(":memory:", llm=None, embedder="none", config=config) as memory:
        for number, session in enumerate(sessions(path)):
            name = f"{session.conversation}-{number}"
            said = [Message(role="user", content=turn.text, speaker=turn.speaker, id=turn.id) for turn in session.turns]
            memory.add_messages([*said, Message(role="user", content="Bye", speaker=session.speakers[0])], name)
            memory.compact_memories(name)
            text = " ".join(one.text for one in memory.summaries(name))
            kept = content(text)
            pieces = [content(piece) for piece in re.split(r"; |\n", text)]
            touched = {turn.id for turn in session.turns if _touched(turn, pieces)}
            for answer, cited in session.questions:
                answers.append(len(answer & kept) / len(answer))
                evidence.append(len(cited & touched) / len(cited))
    figures = {"answer_words": answers, "evidence_touched": evidence}
    return {name: round(100 * sum(values) / len(values), 1) for name, values in figures.items()}


def _touched(turn: Turn, pieces: list[set[str]]) -> bool:
    """Whether most content words of one of its clauses occur in one piece; dates are printed in full there."""
    listed = (content(clause.text) for clause in clauses(turn.text))
    return any(len(own) > 1 and any(len(own & piece) >= 0.7 * len(own) for piece in pieces) for own in listed)


def main() -> None:
    folder = os.environ.get("SLOWWAVE_DATA")
    if len(sys.argv) < 2 and not folder:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json, or name the file")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder or "", "locomo", "locomo-dev.json")
    result = {f"{form}_{round(100 * budget)}": measure(path, budget=budget, brief=form == "note")
              for form in ("written", "note") for budget in (0.1, BUDGET, 0.3)}  # fmt: skip
    long_term = {form: cascade(path, brief=form == "note") for form in ("written", "note")}
    result["public_20"] = public(path)
    for name, figures in result.items():
        print(name, figures)
    print("long-term, 600 words", long_term)
    print(json.dumps({**result, "long_term": long_term}))


if __name__ == "__main__":
    main()
