"""Blind answers: how many questions readers answer from a context alone, for contexts made in several ways.

    python bench/answers.py contexts FOLDER [--talk conv-26] [--questions 100] [--budgets 500 1000] [--llm URL | --facts FILE]
                                            [--arms plain half messages facts] [--peer NAME=FILE.jsonl ...]
    python bench/answers.py read FOLDER --llm URL      # or people answer: a line {"number", "answer"} in reader-….answers.jsonl
    python bench/answers.py judge FOLDER [--llm URL]   # or a person judges: a line {"number", "scores"} in judge-….scores.jsonl
    python bench/answers.py score FOLDER

`contexts` stores a conversation of LoCoMo session by session on its own dates, with a night after each, once with a model and
once as messages only, and asks each question for a context in each way (arm):

plain: the messages that a search finds, one line each, until the budget is full; no frame and no heading.
half: facts that a search finds in half of the room, then messages, one line each.
messages, facts: `context` of the store with messages only, and of the store with the facts of the model.
NAME: the contexts of a peer, lines {"question", "budget", "context"}.

Tokens are characters / 4. For each budget it writes as many files for readers as there are arms. Reader k answers question i
from the context of arm i + k (a Latin square), so that each reader answers each question once and meets each arm equally
often. `judge` writes for each budget a file with the question, the reference answer and the answers of all arms, shuffled.
`score` prints the answers that are right (1) or partly right (0.5) of 100 for each arm, and how often each arm is better and
worse than each other one on the same question: four answers of a hundred are noise, so read the pairs.

`--llm` of `contexts` is the model that consolidates; `--facts` replays facts that were written by hand: a JSON list of
{"text", "category", "messages": [ids], "quote"}.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from context import Talk, talks
from measuring import data, table
from slowwave import AgentMemory, Hit
from slowwave.minds.llm.openai import client
from slowwave.ports import LLM
from slowwave.testing import FrozenClock

SEED = 5
MESSAGES, FACTS = "messages", "facts"
READ = (
    "Answer the question from the notes alone, in a few words. Say 'not known' if they do not tell.\n\nNotes:\n{context}\n\n"
    "Question: {question}"
)
JUDGE = (
    "Question: {question}\nReference answer: {gold}\n\nAnswers:\n{answers}\n\nScore each answer: 1 if it says the essential of "
    "the reference (a relative date that means the same day counts), 0.5 if partly, 0 if wrong or not known. Answer with JSON "
    'alone: {{"a": 1, …}}'
)


class Replay:
    """A model whose facts were written by hand. It lets every fact be added and writes summaries from the first lines."""

    def __init__(self, facts: Sequence[Mapping[str, Any]], talk: Talk) -> None:
        self.texts = {message.id: " ".join(str(message.content).split()) for message in talk.messages}
        self.facts = facts

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        """The facts whose messages all stand in the prompt, none of which changes another."""
        prompt = messages[-1]["content"]
        if any("Task: reconcile" in message["content"] for message in messages):
            return json.dumps({"reviewed": len(re.findall(r"^F\d+ ", prompt, re.MULTILINE)), "changes": []})
        if not any("Task: distil" in message["content"] for message in messages):
            return " ".join(line.split(": ", 1)[-1] for line in prompt.splitlines()[2:5])
        if "\nRefused facts:\n" in prompt:
            return json.dumps({"facts": []})  # all are left out
        lines = {text: int(number) for number, text in re.findall(r"^\[(\d+)\] [^:\n]+: (.*)$", prompt, re.MULTILINE)}
        numbers = {ref: lines[text] for ref, text in self.texts.items() if text in lines}
        return json.dumps(
            {
                "facts": [
                    {**fact, "messages": [numbers[ref] for ref in fact["messages"] if ref in numbers]}
                    for fact in self.facts
                    if fact["messages"][0] in numbers
                ]
            }
        )


def stored(talk: Talk, path: Path, llm: object) -> AgentMemory:
    """The memory of a conversation, a night after each session; an existing file is opened as it is."""
    is_new, clock = not path.exists(), FrozenClock(talk.end)
    memory = AgentMemory.open(path, scope=f"bench/{talk.name}", llm=llm, embedder="static", clock=clock)
    for _, messages in talk.sessions if is_new else ():
        clock.now = max(message.at for message in messages if message.at) + timedelta(hours=12)
        memory.add_messages(messages, conversation=talk.name)
        if llm:
            for problem in memory.consolidate_all(force=True).problems:
                print(problem, file=sys.stderr)
            memory.sleep()
    clock.now = talk.end
    return memory


def packed(heading: str, hits: Sequence[Hit], room: int) -> str:
    """The lines of hits until the next one has no room (characters), below a heading."""
    lines = [heading] if heading else []
    for hit in hits:
        at = hit.memory.at or hit.memory.valid_from
        line = f"- [{at:%Y-%m-%d}] " + (f"{hit.memory.speaker}: " if hit.memory.speaker else "") + hit.text
        if len("\n".join((*lines, line))) > room:
            break
        lines.append(line)
    return "\n".join(lines)


def arm_context(arm: str, stores: Mapping[str, AgentMemory], question: str, budget: int) -> str:
    """The context of an arm for a question."""
    room = 4 * budget
    if arm in stores:
        return str(stores[arm].context(question, budget_tokens=budget))
    if arm == "plain":
        return packed("", stores[MESSAGES].search(question, kinds=["message"], top_k=60), room)
    facts = stores[FACTS].search(question, kinds=["episodic", "semantic", "procedural"], deep=True, top_k=60)
    first = packed("Facts:", facts, room // 2)
    second = stores[FACTS].search(question, kinds=["message"], top_k=60)
    return f"{first}\n{packed('Messages:', second, room - len(first) - 1)}"


def asked(path: Path, name: str, most: int) -> list[dict[str, str]]:
    """Questions with their reference answers: categories 1 to 3 first, at most 65 of these, then category 4."""
    sample = next(sample for sample in json.loads(path.read_text()) if sample["sample_id"] == name)
    known = [item for item in sample["qa"] if item["category"] in (1, 2, 3, 4) and item.get("evidence")]
    hard = [item for item in known if item["category"] < 4][: max(1, most * 65 // 100)]
    chosen = (hard + [item for item in known if item["category"] == 4])[:most]
    return [{"question": item["question"], "gold": str(item["answer"])} for item in chosen]


def make_contexts(chosen: argparse.Namespace) -> None:
    path = data("locomo", "locomo-dev.json")
    if path is None:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json")
    folder: Path = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    talk = next(talk for talk in talks(path) if talk.name == chosen.talk)
    questions = asked(path, chosen.talk, chosen.questions)
    peers = {name: rows(Path(file)) for name, file in (peer.split("=", 1) for peer in chosen.peer)}
    found = {(name, row["question"], row["budget"]): row["context"] for name, each in peers.items() for row in each}
    arms = [*chosen.arms, *peers]
    llm = Replay(json.loads(chosen.facts.read_text()), talk) if chosen.facts else chosen.llm
    stores = {MESSAGES: stored(talk, folder / "messages.db", None)}
    if llm:
        stores[FACTS] = stored(talk, folder / "facts.db", llm)
        print(f"{len(stores[FACTS].get_all())} facts are hot")
    for budget in chosen.budgets:
        for reader in range(len(arms)):
            lines = []
            for number, item in enumerate(questions):
                arm = arms[(number + reader) % len(arms)]
                text = found.get((arm, item["question"], budget)) or arm_context(arm, stores, item["question"], budget)
                lines.append({"number": number, "question": item["question"], "context": text})
            write(folder / f"reader-{budget}-{reader}.jsonl", lines)
    key = {"arms": arms, "budgets": chosen.budgets, "questions": questions}
    (folder / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    print(f"{len(questions)} questions, arms {', '.join(arms)}; readers: {folder}/reader-BUDGET-NUMBER.jsonl")


def read_by_model(chosen: argparse.Namespace) -> None:
    model = client(chosen.llm)
    for path in sorted(chosen.folder.glob("reader-*-?.jsonl")):
        answers = [
            {
                "number": row["number"],
                "answer": said(model, READ.format(context=row["context"], question=row["question"])),
            }
            for row in rows(path)
        ]
        write(path.with_suffix(".answers.jsonl"), answers)


def said(model: LLM, prompt: str) -> str:
    """The answer of a model to a prompt."""
    answer = model.complete(messages=[{"role": "user", "content": prompt}])
    return str(getattr(answer, "text", answer))


def answers_of(folder: Path, key: Mapping[str, Any], budget: int) -> dict[str, dict[int, str]]:
    """By arm, the answer to each question."""
    arms, found = key["arms"], {arm: {} for arm in key["arms"]}
    for reader in range(len(arms)):
        for row in rows(folder / f"reader-{budget}-{reader}.answers.jsonl"):
            found[arms[(row["number"] + reader) % len(arms)]][row["number"]] = str(row["answer"])
    return found


def order(arms: Sequence[str], budget: int, number: int) -> list[str]:
    """The arms in the shuffled order in which the judge sees their answers to a question."""
    shuffled = list(arms)
    random.Random(f"{SEED} {budget} {number}").shuffle(shuffled)
    return shuffled


def make_judge(chosen: argparse.Namespace) -> None:
    key = json.loads((chosen.folder / "key.json").read_text())
    model = client(chosen.llm) if chosen.llm else None
    for budget in key["budgets"]:
        answers, lines, scores = answers_of(chosen.folder, key, budget), [], []
        for number, item in enumerate(key["questions"]):
            names = zip("abcdefghij", order(key["arms"], budget, number), strict=False)
            shown = {name: answers[arm].get(number, "") for name, arm in names}
            lines.append({"number": number, **item, "answers": shown})
            if model:
                text = "\n".join(f"{name}: {answer}" for name, answer in shown.items())
                verdict = said(model, JUDGE.format(**item, answers=text))
                scores.append(
                    {"number": number, "scores": json.loads(verdict[verdict.find("{") : verdict.rfind("}") + 1])}
                )
        write(chosen.folder / f"judge-{budget}.jsonl", lines)
        if model:
            write(chosen.folder / f"judge-{budget}.scores.jsonl", scores)


def print_scores(chosen: argparse.Namespace) -> None:
    key = json.loads((chosen.folder / "key.json").read_text())
    result: dict[int, dict[str, float]] = {}
    for budget in key["budgets"]:
        path = chosen.folder / f"judge-{budget}.scores.jsonl"
        if not path.exists():
            continue
        by_arm: dict[str, dict[int, float]] = {arm: {} for arm in key["arms"]}
        for row in rows(path):
            for name, arm in zip("abcdefghij", order(key["arms"], budget, row["number"]), strict=False):
                by_arm[arm][row["number"]] = float(row["scores"][name])
        result[budget] = {
            arm: round(100 * sum(scores.values()) / max(1, len(scores)), 1) for arm, scores in by_arm.items()
        }
        print(f"\nFrom {budget} tokens; each cell: questions on which the arm is better – worse\n")
        body = [
            (arm, result[budget][arm], *(pairs(by_arm[arm], by_arm[other]) for other in key["arms"])) for arm in by_arm
        ]
        print(table(("arm", "of 100", *key["arms"]), body))
    print(json.dumps(result))


def pairs(ours: Mapping[int, float], others: Mapping[int, float]) -> str:
    both = ours.keys() & others.keys()
    return f"{sum(ours[n] > others[n] for n in both)}–{sum(ours[n] < others[n] for n in both)}"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def commands() -> Iterator[tuple[str, Any]]:
    yield "contexts", make_contexts
    yield "read", read_by_model
    yield "judge", make_judge
    yield "score", print_scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    for name, action in commands():
        verb = verbs.add_parser(name)
        verb.set_defaults(action=action)
        verb.add_argument("folder", type=Path)
        verb.add_argument("--llm", help="the model: provider:model or a URL", required=name == "read")
        if name == "contexts":
            verb.add_argument("--facts", type=Path, help="facts written by hand, in place of a model")
            verb.add_argument("--talk", default="conv-26")
            verb.add_argument("--questions", type=int, default=100)
            verb.add_argument("--budgets", type=int, nargs="+", default=[300, 500, 1000, 2000])
            verb.add_argument("--arms", nargs="+", default=["plain", "half", MESSAGES, FACTS])
            verb.add_argument("--peer", nargs="*", default=[], metavar="NAME=FILE")
    chosen = parser.parse_args()
    chosen.action(chosen)


if __name__ == "__main__":
    main()
