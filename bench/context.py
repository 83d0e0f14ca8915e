"""What contexts contain: evidence and words of answers, with messages only and after consolidating offline; no model.

    SLOWWAVE_DATA=... python bench/context.py [tokens ...] [--beam 100K] [--stores FOLDER] [--read N] [--llm URL]

LoCoMo: each conversation is stored twice, as messages only, and consolidated (after each session every message is distilled,
and a sleep pass runs). Each question then asks both stores for contexts of so many tokens (default 150 to 2,000). answer words: the share of
the answer's words in the context. evidence: the share of the cited messages in it, themselves, or as a fact that rests
on them. Both are printed for the conversation that the packing was tuned on and for the others, and for
the questions of category 1 (lists, orders, counts) apart. evidence said: a message counts only if lines about it have what it
says of the answer.

BEAM, contexts of 800 tokens: instructions: of the questions that a standing instruction of the user applies to, the share in
whose context it is, itself or as a fact. stale unmarked: the share of questions about updates in whose context
an outdated message stands unmarked, and no newer one before it.

`--stores FOLDER` keeps the stores for the next run, which is for work on contexts alone: a store is not written again when
distilling changes. `--read N` prints N contexts. `--llm URL` consolidates with a model, as `AgentMemory.open(llm=URL)` does. The
last line is JSON.
"""

import argparse
import ast
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from measuring import data, table
from slowwave import AgentMemory, Context, Message
from slowwave.model.memory import MESSAGE, Memory
from slowwave.policy.text.tokens import STOP_WORDS, stem, words
from slowwave.testing import FrozenClock

BUDGETS = (150, 300, 500, 800, 1000, 2000)
BEAM_TOKENS = 800
RULE = re.compile(r"\b(?:always|never|from now on|please)\b", re.IGNORECASE)
START = datetime(2024, 1, 1, tzinfo=UTC)
LISTS = 1
"""The category of LoCoMo whose answers are spread over several messages."""
TUNED = frozenset({"conv-26", "1", "2", "3"})
"""The conversations that constants were chosen on; the others check them."""


@dataclass(frozen=True)
class Asked:
    """A question, its category, the words of its answer, the ids of the messages with its evidence, and groups of them."""

    text: str
    category: str
    answer: frozenset[str]
    gold: frozenset[str]
    groups: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class Talk:
    """A conversation by sessions, and its questions."""

    name: str
    sessions: list[tuple[datetime, list[Message]]]
    questions: list[Asked]

    @property
    def messages(self) -> list[Message]:
        """The messages of all sessions."""
        return [message for _, messages in self.sessions for message in messages]

    @property
    def end(self) -> datetime:
        """A day after the last message."""
        return max(message.at for message in self.messages if message.at) + timedelta(days=1)


def talks(path: Path) -> Iterator[Talk]:
    """The conversations of LoCoMo with the questions of categories 1 to 4."""
    for sample in json.loads(path.read_text()):
        talk = sample["conversation"]
        sessions = []
        for number in sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key))):
            at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            sessions.append((at, [_turn(turn, talk["speaker_a"], at) for turn in talk[f"session_{number}"]]))
        known = {message.id for _, messages in sessions for message in messages}
        questions = []
        for asked in sample["qa"]:
            cited = re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, asked.get("evidence", []))))
            gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in cited) & known
            if gold and asked["category"] in (1, 2, 3, 4):
                answer = content(str(asked.get("answer", "")))
                questions.append(Asked(str(asked["question"]), str(asked["category"]), answer, gold))
        yield Talk(sample["sample_id"], sessions, questions)


def _turn(turn: dict[str, str], first: str, at: datetime) -> Message:
    picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    role = "user" if turn["speaker"] == first else "assistant"
    return Message(role=role, content=turn["text"] + picture, speaker=turn["speaker"], at=at, id=turn["dia_id"])


def beam(folder: Path) -> Iterator[Talk]:
    """The chats of BEAM with their questions about instructions and updates."""
    for chat in sorted(path for path in folder.iterdir() if (path / "chat.json").exists()):
        questions = []
        for ability, items in json.loads((chat / "probing_questions.json").read_text()).items():
            if ability not in {"instruction_following", "knowledge_update"}:
                continue
            questions += [
                Asked(item["question"], ability, frozenset(), frozenset().union(*groups), tuple(groups))
                for item in items
                if (groups := [group for group in _groups(item.get("source_chat_ids") or []) if group])
            ]
        said = _said(chat)
        yield Talk(chat.name, [(said[0].at or START, said)], questions)


def _said(chat: Path) -> list[Message]:
    now, found = START, []
    for batch in json.loads((chat / "chat.json").read_text()):
        for item in (item for turn in batch["turns"] for item in turn):
            now = max(now, _anchor(item.get("time_anchor"), now)) + timedelta(minutes=1)
            text = re.sub(r"\s*->->.*$", "", item["content"], flags=re.DOTALL)
            found.append(Message(role=item["role"], content=text, at=now, id=str(item["id"])))
    return found


def _anchor(written: str | None, now: datetime) -> datetime:
    try:
        return datetime.strptime(written or "", "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return now


def _groups(value: object) -> list[frozenset[str]]:
    """The ids of the evidence: one group, or for updates those of the original and of the updated information."""
    if isinstance(value, str):
        value = ast.literal_eval(value)
    return [frozenset(_flat(group)) for group in (value.values() if isinstance(value, dict) else [value])]


def _flat(value: object) -> list[str]:
    return [each for item in value for each in _flat(item)] if isinstance(value, list) else [str(value)]


def content(text: str) -> frozenset[str]:
    """The stems of a text without stop words."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def opened(talk: Talk, folder: Path, *, consolidated: bool, llm: str | None = None) -> AgentMemory:
    """The memory of a conversation, which is written unless the folder has it already, with a night after each session."""
    path = folder / f"{talk.name}-{'consolidated' if consolidated else 'messages'}.db"
    is_new, clock = not path.exists(), FrozenClock(talk.end)
    memory = AgentMemory.open(
        path,
        scope=f"bench/{talk.name}",
        llm=llm if consolidated else None,
        embedder="static",
        clock=clock,
    )
    for _, messages in talk.sessions if is_new else ():
        clock.now = max(message.at for message in messages if message.at) + timedelta(hours=12)
        memory.add_messages(messages, conversation=talk.name)
        if consolidated:
            memory.consolidate_all(force=True)
            memory.sleep()
    clock.now = talk.end
    return memory


def refs(memory: Memory) -> set[str]:
    """The ids of the messages that a memory is or has as sources; none of a summary, whose text may leave them out."""
    if memory.kind == MESSAGE:
        return {memory.ref or ""}
    return {source.ref for source in memory.sources} if not memory.members else set()


def shown(context: Context) -> set[str]:
    """The ids of the messages that a context shows, themselves or by a fact."""
    items = [item for section in context.sections for item in section.items if item.memory]
    return {ref for item in items if item.memory for ref in refs(item.memory)}


def said(context: Context, messages: Mapping[str, str], asked: Asked) -> float:
    """The share of the evidence whose part of the answer stands in the context, by id of the message.

    A message counts for what lines about it say: they must have every word that it shares with the answer; half of its content
    words if it shares none.
    """
    lines: dict[str, str] = {}
    for item in (item for section in context.sections for item in section.items if item.memory):
        for ref in refs(item.memory) if item.memory else ():
            lines[ref] = f"{lines.get(ref, '')} {item.text}"
    found = 0
    for ref in asked.gold:
        words, line = content(messages[ref]), content(lines.get(ref, ""))
        wanted = words & asked.answer
        found += wanted <= line if wanted else len(words & line) >= len(words) / 2
    return found / len(asked.gold) if asked.gold else 1.0


def share(wanted: frozenset[str], found: frozenset[str] | set[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


def mean(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 1) if values else 0.0


def half(talk: Talk) -> str:
    return "tune" if talk.name in TUNED else "check"


def measure_locomo(
    talks: Sequence[Talk], folder: Path, budgets: Sequence[int], read: int, llm: str | None
) -> dict[str, dict[int, dict[str, float]]]:
    """By half and budget, each figure of both stores."""
    rows: dict[tuple[str, int, str], list[float]] = {}
    for talk in talks:
        texts = {str(message.id): message.content for message in talk.messages}
        for arm in ("messages", "consolidated"):
            with opened(talk, folder, consolidated=arm == "consolidated", llm=llm) as memory:
                for place, asked in enumerate(talk.questions):
                    for budget in budgets:
                        found = memory.context(asked.text, conversation=talk.name, budget_tokens=budget)
                        evidence = share(asked.gold, shown(found))
                        figures = {"answer words": share(asked.answer, content(str(found))), "evidence": evidence}
                        if asked.category == str(LISTS):
                            figures |= {f"{name} of lists": value for name, value in figures.items()}
                            figures["evidence said of lists"] = said(found, texts, asked)
                        figures["tokens"] = found.tokens / 100
                        for name, value in figures.items():
                            rows.setdefault((half(talk), budget, f"{name}, {arm}"), []).append(value)
                        if read > 0 and place % 29 == 0 and arm == "consolidated":
                            read -= 1
                            print(f"=== {asked.text}  [gold {sorted(asked.gold)}]\n{found}\n")
    result: dict[str, dict[int, dict[str, float]]] = {}
    for (part, budget, name), values in rows.items():
        result.setdefault(part, {}).setdefault(budget, {})[name] = mean(values)
    return result


def measure_beam(talks: Sequence[Talk], folder: Path) -> dict[str, dict[str, float]]:
    """By half, the instructions shown and the updates whose outdated message stands unmarked, of both stores."""
    rows: dict[tuple[str, str], list[float]] = {}
    for talk in talks:
        for arm in ("messages", "consolidated"):
            with opened(talk, folder, consolidated=arm == "consolidated") as memory:
                for asked in talk.questions:
                    found = memory.context(asked.text, conversation=talk.name, budget_tokens=BEAM_TOKENS)
                    if asked.category == "instruction_following":
                        figure = share(rules(talk, asked), shown(found))
                        rows.setdefault((half(talk), f"instructions, {arm}"), []).append(figure)
                    elif len(asked.groups) == 2 and not asked.groups[0] & asked.groups[1]:
                        rows.setdefault((half(talk), f"stale unmarked, {arm}"), []).append(stale_unmarked(found, asked))
    result: dict[str, dict[str, float]] = {}
    for (part, name), values in rows.items():
        result.setdefault(part, {})[name] = mean(values)
    return result


def rules(talk: Talk, asked: Asked) -> frozenset[str]:
    """Those of the evidence that state a rule ("always", "never"); BEAM also cites messages that only fit to it."""
    said = {message.id: message for message in talk.messages}
    stated = frozenset(each for each in asked.gold if RULE.search(said[each].content) and said[each].role == "user")
    return stated or asked.gold


def stale_unmarked(context: Context, asked: Asked) -> float:
    """1 if an outdated message stands unmarked in a context and no newer one before it, else 0."""
    older, newer = asked.groups
    for item in (item for section in context.sections for item in section.items if item.memory):
        found = refs(item.memory) if item.memory else set()
        if found & newer:
            return 0.0
        if found & older and not item.outdated:
            return 1.0
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokens", nargs="*", type=int, help="the budgets; default: 150 300 500 800 1000 2000")
    parser.add_argument("--beam", default="100K", help='the folder of BEAM, or "" for none')
    parser.add_argument("--stores", type=Path, help="a folder that keeps the stores")
    parser.add_argument("--read", type=int, default=0, help="how many contexts to print")
    parser.add_argument("--llm", help="the model that consolidates; default: none")
    chosen = parser.parse_args()
    path = data("locomo", "locomo-dev.json")
    if path is None:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json")
    chats = data("beam", chosen.beam) if chosen.beam else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.stores or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = measure_locomo(list(talks(path)), folder, chosen.tokens or BUDGETS, chosen.read, chosen.llm)
        (kept := folder / f"beam-{chosen.beam}").mkdir(exist_ok=True)
        instructions = measure_beam(list(beam(chats)), kept) if chats else {}
    heads = (
        "answer words",
        "answer words of lists",
        "evidence",
        "evidence of lists",
        "evidence said of lists",
        "tokens",
    )
    print("Each cell: messages only / consolidated; shares in %.\n")
    rows = [
        (part, budget, *(f"{each[f'{name}, messages']} / {each[f'{name}, consolidated']}" for name in heads))
        for part, budgets in found.items()
        for budget, each in budgets.items()
    ]
    print(table(("half", "budget", *heads), rows))
    print()
    for part, figures in instructions.items():
        print(part, *(f"{name}: {value}" for name, value in figures.items()), sep="; ")
    print(json.dumps({"locomo": found, f"beam {chosen.beam}": instructions}))


if __name__ == "__main__":
    main()
