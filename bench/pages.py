"""Topic pages: the evidence in a context of 1,000 tokens with a page, and of messages only. LoCoMo, no model.

    SLOWWAVE_DATA=... python bench/pages.py [tokens] [--all] [--read N]

Each conversation is consolidated session by session, so that its pages are up to date. Every question of category 1 (answers in
several places), with `--all` of the categories 1 to 4, is packed in two ways: the messages that a search finds, in order; and half of
the tokens for these, half for the lines of the pages that `pages_for` finds, then messages again. A message counts as shown by a
line if the line, with the other lines of this message, has every word that message and answer share; without such a word, half of the
content words of the message. `--read N` prints the lines of N questions.
"""

import json
import os
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from context import Talk, content, talks
from slowwave import AgentMemory
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.query import Hit
from slowwave.pipelines.recall.pages import pages_for, scores_of
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.summaries.page_choice import lines_for
from slowwave.testing import FrozenClock

TOKENS = 1000
SHARE = 0.5
"""The share of the tokens that page lines get."""
DEEP = 100
"""Hits from which messages are packed, and whose scores rank the lines."""
TUNED = "conv-26"


@dataclass
class Packed:
    """What a context shows, by the caller's id of a message."""

    tokens: int
    shown: dict[str, str]
    used: int = 0

    def add(self, ref: str, line: str, text: str) -> bool:
        """Add a line if it fits."""
        cost = estimate(line)
        if self.used + cost > self.tokens:
            return False
        self.used += cost
        self.shown[ref] = f"{self.shown.get(ref, '')} {text}"
        return True


def add_messages(packed: Packed, hits: list[Hit], until: float) -> None:
    for hit in hits:
        one = hit.memory
        if one.kind != MESSAGE or one.ref in packed.shown:
            continue
        line = f"- [{one.at:%Y-%m-%d}] {one.speaker}: {one.text}\n"
        if packed.used + estimate(line) > until or not packed.add(one.ref or "", line, one.text):
            break


def with_pages(memory: AgentMemory, question: str, hits: list[Hit], tokens: int, most: int) -> Packed:
    near = scores_of(hits)
    pages = pages_for(memory.ports, question, near, most=most)
    packed = Packed(tokens, {})
    add_messages(packed, hits, tokens * (1 - SHARE) if pages else tokens)
    whole = set(packed.shown)
    ranked = (
        sorted(
            (line for page in pages for line in lines_for(question, page, near)),
            key=lambda line: -near.get(line.member, 0.0) - line.outdated * -10,
        )
        if len(pages) > 1
        else [line for page in pages for line in lines_for(question, page, near)]
    )
    members = {one.id: one for one in memory.ports.store.get(memory.ports.scopes, [line.member for line in ranked])}
    for line in ranked:
        refs = refs_of(members[line.member])
        if refs <= whole:
            continue
        if packed.used + estimate(f"{line}\n") > tokens:
            break
        packed.used += estimate(f"{line}\n")
        for ref in refs:
            packed.shown[ref] = f"{packed.shown.get(ref, '')} {line.text}"
    add_messages(packed, hits, tokens)
    return packed


def refs_of(memory: Memory) -> set[str]:
    return {memory.ref or ""} if memory.kind == MESSAGE else {source.ref for source in memory.sources}


def is_shown(message: str, answer: str, shown: str) -> bool:
    wanted = content(answer) & content(message)
    if wanted:
        return wanted <= content(shown)
    words = content(message)
    return len(words & content(shown)) >= len(words) / 2


def measure(path: Path, tokens: int, categories: set[int], read: int, most: int) -> dict[str, dict[str, list[float]]]:
    raw = {sample["sample_id"]: sample for sample in json.loads(path.read_text())}
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for talk in talks(path):
        answers = {str(one["question"]): one for one in raw[talk.name]["qa"]}
        texts = {message.id: message.content for _, messages in talk.sessions for message in messages}
        with tempfile.TemporaryDirectory() as folder:
            clock = FrozenClock(talk.sessions[0][0])
            with AgentMemory.open(Path(folder, "memory.db"), llm=None, embedder="static", clock=clock) as memory:
                consolidated(memory, clock, talk)
                for asked in talk.questions:
                    category, answer = answers[asked.text]["category"], str(answers[asked.text].get("answer", ""))
                    if category not in categories:
                        continue
                    hits = [hit for hit in memory.search(asked.text, top_k=DEEP) if not hit.memory.is_page]
                    plain = Packed(tokens, {})
                    add_messages(plain, hits, tokens)
                    paged = with_pages(memory, asked.text, hits, tokens, most)
                    for name, packed in (("messages", plain), ("pages", paged)):
                        found = [ref for ref in asked.gold if is_shown(texts[ref], answer, packed.shown.get(ref, ""))]
                        figures[f"{talk.name}, category {category}"][name].append(len(found) / len(asked.gold))
                    if read > 0:
                        read -= 1
                        print(f"=== {asked.text} [{answer}]", *paged.shown.items(), sep="\n")
    return figures


def consolidated(memory: AgentMemory, clock: FrozenClock, talk: Talk) -> None:
    for at, messages in talk.sessions:
        clock.now = at
        memory.add_messages(messages, conversation=talk.name)
        memory.consolidate(talk.name, force=True)
    clock.now = talk.sessions[-1][0] + timedelta(days=1)


def main() -> None:
    folder = os.environ.get("SLOWWAVE_DATA")
    if not folder:
        sys.exit("set SLOWWAVE_DATA to the folder that has locomo/locomo-dev.json")
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    read = numbers.pop() if "--read" in sys.argv else 0
    categories = {1, 2, 3, 4} if "--all" in sys.argv else {1}
    path = Path(folder, "locomo", "locomo-dev.json")
    figures = measure(path, numbers[0] if numbers else TOKENS, categories, read, most=1)
    result = {}
    for label, part in (("tuned", True), ("other", False)):
        for category in sorted(categories):
            rows = [
                rows
                for name, rows in figures.items()
                if name.endswith(f"category {category}") and name.startswith(TUNED) is part
            ]
            for way in ("messages", "pages"):
                values = [value for row in rows for value in row[way]]
                result[f"{label}_{category}_{way}"] = round(100 * sum(values) / len(values), 1)
    for name, value in result.items():
        print(f"{name:<20}{value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
