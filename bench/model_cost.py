"""What distilling with a model costs, in tokens of 100 messages that are consolidated session by session.

    SLOWWAVE_DATA=... python bench/model_cost.py

A scripted model proposes one fact for each third message (the first sentence of the message, about 45 tokens an item), so that
the answers have the length of real ones. Each fourth fact has a word that no message has, and is put right when it is asked about. Tokens are those that `policy.ranking.packing.estimate` counts in what is sent and
answered. LoCoMo is consolidated after each session, BEAM after each 20 messages.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from measuring import data, number, table
from slowwave import AgentMemory, Message
from slowwave.minds.llm import interpret, prompts
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.retention.categories import REGISTRY
from slowwave.testing import ScriptedLLM

LOCOMO = ("conv-26", "conv-30", "conv-41")
BEAM = ("1", "4")
MESSAGES = 300
"""Of each conversation, the first ones."""
SESSION = 20
REFUSED = "\nRefused facts:\n"
UNSAID = "zealously"
_LINE = re.compile(r"^\[(\d+)\] [^:]+: (.+)$", re.MULTILINE)


def distilled(prompt: str) -> dict[str, object]:
    """An answer to a distil prompt: each third message gives its first sentence as a fact. To a repair prompt: the refused ones."""
    lines = _LINE.findall(prompt)
    is_repair = REFUSED in prompt
    named = set(re.findall(r"\(messages (\d+)\):", prompt))
    facts = []
    for index, (place, said) in enumerate(lines[:: 1 if is_repair else 3]):
        quote = " ".join(re.split(r"(?<=[.!?])\s", said)[0].split()[:20])
        text = quote if is_repair or index % 4 != 1 else f"{quote} {UNSAID}"
        if not is_repair or place in named:
            facts.append({"text": text, "category": "person", "messages": [int(place)], "quote": quote})
    return {"facts": facts}


def reviewed(prompt: str) -> dict[str, object]:
    """An answer to a reconcile prompt: each tenth fact says what a memory says already."""
    facts = re.findall(r"^F(\d+) \([^;]*; near K(\d+)", prompt, re.MULTILINE)
    known = [(fact, memory) for fact, memory in facts if int(fact) % 10 == 0]
    changes = [
        {"fact": int(f), "op": "NOOP", "memory": int(m), "text": None, "relation": "subsumed", "because": "said"}
        for f, m in known
    ]
    return {"reviewed": len(facts), "changes": changes}


def locomo(name: str) -> Iterator[list[Message]]:
    """The sessions of a conversation."""
    path = data("locomo", "locomo-dev.json")
    samples = json.loads(path.read_text(encoding="utf-8")) if path else []
    for sample in samples:
        talk = sample["conversation"] if sample["sample_id"] == name else {}
        sessions = sorted(int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key))
        for session in sessions:
            when = talk[f"session_{session}_date_time"]
            at = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            yield [
                Message(
                    role="user" if turn["speaker"] == talk["speaker_a"] else "assistant",
                    speaker=turn["speaker"],
                    content=turn["text"].strip(),
                    at=at + timedelta(seconds=20 * place),
                )
                for place, turn in enumerate(talk[f"session_{session}"])
            ]


def beam(name: str) -> Iterator[list[Message]]:
    """The turns of a chat, 20 messages at a time."""
    path = data("beam", "100K", name, "chat.json")
    at = datetime(2024, 3, 1, 9, tzinfo=UTC)
    batches = json.loads(path.read_text(encoding="utf-8")) if path else []
    turns = [turn for batch in batches for turns in batch["turns"] for turn in turns]
    for start in range(0, len(turns), SESSION):
        yield [
            Message(role=turn["role"], content=turn["content"], at=at + timedelta(days=start // SESSION, minutes=place))
            for place, turn in enumerate(turns[start : start + SESSION])
        ]


def measured(sessions: Iterator[list[Message]]) -> dict[str, float]:
    """Calls and tokens of 100 messages, in total and of distilling alone, and the part of each that is not the messages."""
    llm = ScriptedLLM(distil=distilled, reconcile=reviewed)
    count = words = estimated = estimated_out = 0
    with AgentMemory.open(":memory:", llm=llm) as memory:
        for session in sessions:
            if count >= MESSAGES:
                break
            memory.add_messages(session, conversation="talk")
            before = memory.estimate()
            estimated += before.tokens_in
            estimated_out += before.tokens_out
            memory.consolidate("talk", force=True)
            left = memory.estimate()
            estimated -= left.tokens_in
            estimated_out -= left.tokens_out
            count += len(session)
            words += sum(estimate(message.content) for message in session)
        answered = memory.cost().total.tokens_out
    sent = {task: [asked.text for asked in llm.asked if asked.task == task] for task in ("distil", "reconcile")}
    sent["repair"] = [text for text in sent["distil"] if REFUSED in text]
    sent["distil"] = [text for text in sent["distil"] if REFUSED not in text]
    share = 100 / max(1, count)
    tokens = {task: share * sum(map(estimate, texts)) for task, texts in sent.items()}
    return {
        "messages": count,
        "words": share * words,
        "calls": share * len(llm.asked),
        "distil": tokens["distil"],
        "repair": tokens["repair"],
        "reconcile": tokens["reconcile"],
        "in": sum(tokens.values()),
        "out": share * answered,
        "estimate in": share * estimated,
        "estimate out": share * estimated_out,
    }


def static_tokens() -> int:
    """Of the constant part of the distil prompt, which providers can cache."""
    static, _ = prompts.load("distil").filled(categories=interpret.offered(REGISTRY), data="", most="")
    return estimate(static)


def main() -> None:
    """Print a table and one JSON line."""
    found = {name: measured(locomo(name)) for name in LOCOMO} | {f"BEAM {name}": measured(beam(name)) for name in BEAM}
    keys: Sequence[str] = (
        "messages",
        "words",
        "calls",
        "distil",
        "repair",
        "reconcile",
        "in",
        "out",
        "estimate in",
        "estimate out",
    )
    print(
        table(("per 100 messages", *keys), ((name, *(number(row[key]) for key in keys)) for name, row in found.items()))
    )
    print(f"\nconstant part of the distil prompt: {static_tokens()} tokens a call")
    print(json.dumps({name: {key: round(value) for key, value in row.items()} for name, row in found.items()}))


if __name__ == "__main__":
    main()
