"""Small memories, everyday questions: how many right first hits reach the floor, and how many questions without an answer find something?

    python bench/small_memories.py [tuning] [checking] [once] [--embedders static none] [--floors 0.005 0.01 0.05] [--list]

The people of `bench/data/small_memories` say what a user tells an assistant, one line a message; sentences of our own. Each is
asked with all that was said, and with ROUNDS random selections of SIZES lines; a question whose answer was not selected has none.
"Foreign" questions are those of the other people of the file that this one does not answer either. With "tuning" the weights
were chosen, with "checking" the choice was checked; "once" was measured after both.
"""

import argparse
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from measuring import save, table
from relevance import REQUESTS, SMALL_TALK
from slowwave import AgentMemory, Message

DATA = Path(__file__).parent / "data" / "small_memories"
SETS = ("tuning", "checking", "once")
SIZES = (5, 10, 15)
ROUNDS = 3


@dataclass(frozen=True)
class Answer:
    """What a question found: the text and relevance of the hits, and whether the first one is right."""

    kind: str
    question: str
    texts: Sequence[str]
    relevance: Sequence[float]
    right: Sequence[bool]


def answers(name: str, embedder: str, *, facts: bool) -> Iterator[Answer]:
    """The hits of all questions of a set."""
    for number, person in enumerate(tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))["person"]):
        chance, said = Random(number), person["said"]
        selections = [said, *(chance.sample(said, size) for size in SIZES for _ in range(ROUNDS))]
        for selected in selections:
            with AgentMemory.open(":memory:", embedder=embedder, llm=None) as memory:
                if facts:
                    for text in selected:
                        memory.add(text)
                else:
                    memory.add_messages([Message(role="user", content=text) for text in selected], "chat")
                for kind, question, answer in _asked(person, selected):
                    hits = memory.search(question, top_k=5)
                    right = [answer is not None and answer.casefold() in hit.text.casefold() for hit in hits]
                    yield Answer(kind, question, [hit.text for hit in hits], [hit.relevance for hit in hits], right)


def _asked(person: dict[str, list[str]], selected: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    for question, answer in person["asked"]:
        if any(answer.casefold() in text.casefold() for text in selected):
            yield "answered", question, answer
        else:
            yield "left out", question, None
    yield from (("unknown", question, None) for question in person["unknown"])
    yield from (("request", question, None) for question in REQUESTS)
    yield from (("small talk", question, None) for question in SMALL_TALK)


def report(found: Sequence[Answer], floors: Sequence[float]) -> list[tuple[object, ...]]:
    """One row a floor, in percent."""
    rows = []
    answered = [answer for answer in found if answer.kind == "answered"]
    first = [answer for answer in answered if answer.right and answer.right[0]]
    for floor in floors:
        kept = [answer for answer in first if answer.relevance[0] >= floor]
        rows.append((
            floor, len(answered), len(first), _percent(len(kept), len(first)),
            *(
                _percent(sum(any(value >= max(floor, 1e-9) for value in answer.relevance) for answer in asked), len(asked))
                for kind in ("left out", "unknown", "request", "small talk")
                if (asked := [answer for answer in found if answer.kind == kind]) or True
            ),
        ))  # fmt: skip
    return rows


def _percent(count: int, of: int) -> float:
    return round(100 * count / of, 1) if of else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["tuning", "checking"], metavar="SET")
    parser.add_argument("--embedders", nargs="+", default=["static", "none"])
    parser.add_argument("--floors", nargs="+", type=float, default=[0.005, 0.01, 0.02, 0.05])
    parser.add_argument("--list", action="store_true", help="the questions that the lowest floor answers wrongly")
    options = parser.parse_args()
    heads = ("floor", "answered", "first right", "of these kept, %", "left out with any, %", "unknown with any, %",
             "requests with any, %", "small talk with any, %")  # fmt: skip
    results = {}
    for name in options.sets:
        for embedder in options.embedders:
            for facts in (False, True):
                found = list(answers(name, embedder, facts=facts))
                rows = report(found, options.floors)
                title = f"{name}, embedder {embedder}, {'facts' if facts else 'messages'}"
                results[title] = rows
                print(f"\n{title}\n\n{table(heads, rows)}")
                if options.list:
                    _list(found)
    print(f"\nsaved in {save('small_memories', results)}")


def _list(found: Sequence[Answer]) -> None:
    """The first hit of each question of the whole memory, which comes first."""
    seen: set[str] = set()
    for answer in found:
        if answer.question not in seen and answer.kind in {"answered", "unknown"}:
            seen.add(answer.question)
            mark = "right" if answer.right and answer.right[0] else "wrong" if answer.kind == "answered" else "     "
            print(f"{answer.relevance[0]:.4f} {answer.kind:9} {mark} {answer.question} -> {answer.texts[0]}")


if __name__ == "__main__":
    main()
