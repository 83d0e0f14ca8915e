"""What each stage of a search and of a context is worth: evidence without it, beside evidence with all.

    SLOWWAVE_DATA=... python bench/ablation.py [--questions 100]

One stage at a time is left out of the lists that search and context run (`STAGES` of `pipelines/recall/search` and of
`pipelines/recall/context`). R@10 is the share of the cited messages that the first ten distinct sources of a search are; the other
columns are the share that contexts of 300, 500 and 1,000 tokens show, messages only. Each column is of one conversation of LoCoMo.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from context import Talk, shown, talks
from measuring import data, table
from slowwave import AgentMemory
from slowwave.pipelines.recall import context as contexts, search as searches
from slowwave.testing import FrozenClock

BUDGETS = (300, 500, 1000)


@contextmanager
def without(module: ModuleType, stage: str) -> Iterator[None]:
    """Run the stages of a module without the one of this name."""
    every: tuple[tuple[str, Any], ...] = module.STAGES
    module.STAGES = tuple(named for named in every if named[0] != stage)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.STAGES = every  # type: ignore[attr-defined]


def stored(talk: Talk, path: Path) -> AgentMemory:
    """The messages of a conversation, asked a day after the last one."""
    memory = AgentMemory.open(
        path, scope=f"bench/{talk.name}", llm=None, embedder="static", clock=FrozenClock(talk.end)
    )
    for number, (_, messages) in enumerate(talk.sessions):
        memory.add_messages(messages, conversation=f"{talk.name}-{number}")
    return memory


def figures(memory: AgentMemory, talk: Talk, most: int) -> list[float]:
    """R@10, and the shares of the evidence in contexts, in percent."""
    columns: list[list[float]] = [[] for _ in range(1 + len(BUDGETS))]
    for asked in [question for question in talk.questions if question.gold][:most]:
        found = dict.fromkeys(source.ref for hit in memory.search(asked.text, top_k=20) for source in hit.sources)
        columns[0].append(len(asked.gold & set(list(found)[:10])) / len(asked.gold))
        for column, budget in zip(columns[1:], BUDGETS, strict=True):
            column.append(len(asked.gold & shown(memory.context(asked.text, budget_tokens=budget))) / len(asked.gold))
    return [100 * statistics.mean(column) for column in columns]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100, help="of each conversation")
    chosen = parser.parse_args()
    path = data("locomo", "locomo-dev.json")
    if path is None:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json")
    every: Sequence[Talk] = list(talks(path))
    stages = [(module, name) for module in (searches, contexts) for name, _ in module.STAGES]
    with tempfile.TemporaryDirectory() as folder:
        memories = [(stored(talk, Path(folder) / f"{talk.name}.db"), talk) for talk in every]
        base = [figures(memory, talk, chosen.questions) for memory, talk in memories]
        rows = [["all stages", *(f"{value:.1f}" for of_talk in base for value in of_talk)]]
        for module, name in stages:
            with without(module, name):
                now = [figures(memory, talk, chosen.questions) for memory, talk in memories]
            pairs = zip(now, base, strict=True)
            changes = [after - before for left, right in pairs for after, before in zip(left, right, strict=True)]
            rows.append([f"without {name}", *(f"{change:+.1f}" for change in changes)])
        for memory, _ in memories:
            memory.close()
    heads = [f"{talk.name} {what}" for talk in every for what in ("R@10", *(f"ctx {budget}" for budget in BUDGETS))]
    print(table(["", *heads], rows))


if __name__ == "__main__":
    main()
