"""The effect of each part of the ranking: evidence found on LoCoMo and BEAM, with one signal turned off at a time.

    SLOWWAVE_DATA=... python bench/recall.py [--embedders static none minilm] [--consolidate] [--beam 500K]

A signal is switched off by setting its weight to nothing in the modules that read it, for the length of a measurement;
nothing else changes. Intervals are 95 % of a bootstrap over questions; a row's difference is to the first row, of the
same questions resampled together, so that it may be certain where the figures themselves are not. BM25 is that of SQLite's FTS5 with
Porter's stems over single messages, without stop words and names of speakers in the question, for comparison.
"""

import argparse
import ast
import json
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import numpy as np

from measuring import data, save, table
from slowwave import AgentMemory, Config, Message, SlowwaveError
from slowwave.cli.benchmark_cmds import samples, scored
from slowwave.formats.readers.beam import Chat
from slowwave.formats.readers.builders import MessageBuilder
from slowwave.model.config import RANKING_PROFILES
from slowwave.model.exchange import ImportedMessage
from slowwave.policy.ranking import score
from slowwave.policy.text.tokens import STOP_WORDS
from slowwave.stores.search import vectors

FIGURES = ("R@5", "R@10", "R@20", "NDCG@10")
RESAMPLES = 2000
SCORE = score.lexical


def _no_words(corpus: score.Corpus, question: object) -> score.Floats:
    return 0.0 * SCORE(corpus, question)  # type: ignore[arg-type] # a Question


OFF: Mapping[str, tuple[tuple[object, str, object], ...]] = {
    "words": ((score, "lexical", _no_words),),
    "meaning": ((score, "MEANING", 0.0),),
    "words of neighbours": ((score, "BEFORE_WORDS", ()), (score, "AFTER_WORDS", ())),
    "meaning of neighbours": ((vectors, "BEFORE_MEANING", ()), (vectors, "AFTER_MEANING", ())),
    "said by the one asked about, or the user": ((score, "ASKED", 0.0),),
    "bare questions lower": ((score, "QUESTION", 0.0),),
    "date words": ((score, "DATE", 0.0),),
    "says when": ((score, "DATED", 0.0),),
    "names a place": ((score, "PLACED", 0.0),),
    "opens a session": ((score, "OPENING", 0.0),),
    "direct replies": ((score, "REPLY", 0.0),),
    "kind of answer": ((score, "CUE", 0.0),),
    "recent, if asked for": ((score, "RECENT", 0.0),),
}
"""Each signal, with the setting that turns it off. Neighbours' vectors are pooled when an index is built, so every
measurement opens its memories again."""


@dataclass(frozen=True)
class Talk:
    """One conversation of a benchmark: messages by session, and questions with the ids of their evidence.

    `kinds` has the ability that each question tests, if the benchmark names one.
    """

    sessions: Mapping[str, Sequence[Message]]
    questions: Sequence[tuple[str, frozenset[str]]]
    kinds: Sequence[str] = ()

    @property
    def end(self) -> datetime:
        """A day after the last message."""
        said = [message.at for messages in self.sessions.values() for message in messages if message.at]
        return max(said) + timedelta(days=1)


def locomo() -> list[Talk]:
    """The development conversations; empty without data."""
    path = data("locomo", "locomo-dev.json")
    return [Talk(one.sessions, one.questions) for one in samples(path)] if path else []


def beam(size: str) -> list[Talk]:
    """BEAM's chats of a size ("100K"): all messages, and the questions of all abilities with evidence."""
    path = data("beam", size)
    return [_chat(folder) for folder in sorted(path.iterdir(), key=lambda folder: int(folder.name))] if path else []


def _chat(folder: Path) -> Talk:
    reader, maker = Chat(folder.name), MessageBuilder()
    said: list[Message] = []
    for number, element in enumerate(json.loads((folder / "chat.json").read_text(encoding="utf-8")), 1):
        said += [item.message for item in reader.read(element, number, maker) if isinstance(item, ImportedMessage)]
    known = {str(message.id) for message in said}
    asked = json.loads((folder / "probing_questions.json").read_text(encoding="utf-8"))
    questions = [
        (ability, str(item["question"]), evidence)
        for ability, items in asked.items()
        for item in items
        if (evidence := frozenset(map(str, _numbers(item.get("source_chat_ids")))) & known)
    ]
    pairs = [(question, evidence) for _, question, evidence in questions]
    return Talk({folder.name: said}, pairs, [ability for ability, _, _ in questions])


def _numbers(cited: object) -> Iterator[int]:
    if isinstance(cited, str):  # some chats have the list as a string
        cited = ast.literal_eval(cited) if cited else []
    if isinstance(cited, Mapping):
        cited = list(cited.values())
    if isinstance(cited, list):
        for one in cited:
            yield from _numbers(one)
    elif isinstance(cited, int):
        yield cited


class Bench:
    """Memories of some conversations, filled once with an embedder and searched many times."""

    def __init__(self, talks: Sequence[Talk], folder: Path, embedder: str, *, distil: bool = False) -> None:
        self._talks, self._folder, self._embedder = talks, folder, embedder
        self._now = talks[0].end
        for number, talk in enumerate(talks):
            with self._memory(number, Config()) as memory:
                for name, said in talk.sessions.items():
                    self._now = max(message.at for message in said if message.at)  # stored on the date of the message
                    memory.add_messages(said, name)
                    if distil:
                        memory.end_conversation(name)

    def ask(self, config: Config | None = None) -> tuple[np.ndarray, float]:
        """(questions, figures) in 0..1, and the median milliseconds of a search."""
        rows, spent = [], []
        for number, talk in enumerate(self._talks):
            self._now = talk.end
            with self._memory(number, config or Config()) as memory:
                memory.search("warm up")
                for question, evidence in talk.questions:
                    start = time.perf_counter()
                    hits = memory.search(question, top_k=20)
                    spent.append(1000 * (time.perf_counter() - start))
                    ranked = list(dict.fromkeys(str(source) for hit in hits for source in hit.sources))
                    figures = scored(ranked[:20], evidence)
                    rows.append([figures[name] for name in FIGURES])
        return np.array(rows), float(np.median(spent))

    def _memory(self, number: int, config: Config) -> AgentMemory:
        path = self._folder / f"{number}.db"
        return AgentMemory.open(path, embedder=self._embedder, llm=None, config=config, clock=lambda: self._now)


@contextmanager
def without(signal: str) -> Iterator[None]:
    """A context in which one signal is turned off."""
    with ExitStack() as stack:
        for place, name, nothing in OFF[signal]:
            stack.enter_context(patch.object(place, name, nothing))
        yield


def interval(rows: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the means of resampled questions."""
    chance = np.random.default_rng(0)
    means = np.array([rows[chance.integers(0, len(rows), len(rows))].mean() for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def row(name: str, rows: np.ndarray, first: np.ndarray | None, spent: float) -> dict[str, object]:
    """A measurement: each figure in percent, R@10 with its interval, and the difference from the first."""
    result: dict[str, object] = {"name": name, "questions": len(rows), "ms": round(spent, 2)}
    result |= {figure: round(100 * float(rows[:, place].mean()), 1) for place, figure in enumerate(FIGURES)}
    place = FIGURES.index("R@10")
    result["interval"] = [round(100 * end, 1) for end in interval(rows[:, place])]
    if first is not None:
        change = rows[:, place] - first[:, place]
        result["change"] = round(100 * float(change.mean()), 1)
        result["change_interval"] = [round(100 * end, 1) for end in interval(change)]
    return result


def measured(
    title: str, talks: Sequence[Talk], embedder: str, *, ablate: bool, distil: bool = False
) -> list[dict[str, object]]:
    """Measure the full ranking, then without each signal, then the other profiles."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench(talks, Path(folder), embedder, distil=distil)
        except SlowwaveError as error:
            print(f"{title}: skipped: {error}")
            return []
        first, spent = bench.ask()
        found = [row(title, first, None, spent)]
        for signal in OFF if ablate else ():
            with without(signal):
                found.append(row(f"without {signal}", *_beside(bench.ask(), first)))
        for profile in RANKING_PROFILES if ablate else ():
            if profile != "evidence":
                asked = bench.ask(Config(ranking_profile=profile))
                found.append(row(f'ranking_profile="{profile}"', *_beside(asked, first)))
    return found


def bm25(title: str, talks: Sequence[Talk]) -> list[dict[str, object]]:
    """Measure BM25 over single messages, with the words of the question but stop words and names of speakers."""
    rows, spent = [], []
    for talk in talks:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE said USING fts5(id UNINDEXED, content, tokenize='porter')")
            messages = [one for said in talk.sessions.values() for one in said]
            db.executemany("INSERT INTO said VALUES (?, ?)", [(one.id, one.content) for one in messages])
            left_out = STOP_WORDS | {
                word for one in messages for word in re.findall(r"\w+", (one.speaker or "").lower())
            }
            for question, evidence in talk.questions:
                asked = [word for word in re.findall(r"\w+", question.lower()) if word not in left_out]
                words = " OR ".join(f'"{word}"' for word in asked) or '""'
                start = time.perf_counter()
                found = db.execute("SELECT id FROM said WHERE said MATCH ? ORDER BY rank LIMIT 20", [words]).fetchall()
                spent.append(1000 * (time.perf_counter() - start))
                figures = scored([source for (source,) in found], evidence)
                rows.append([figures[name] for name in FIGURES])
    return [row(title, np.array(rows), None, float(np.median(spent)))]


def _beside(asked: tuple[np.ndarray, float], first: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    return asked[0], first, asked[1]


def show(found: Iterable[Mapping[str, object]]) -> str:
    """A table in Markdown."""
    rows = [
        (
            one["name"],
            *(one[figure] for figure in ("R@5", "R@10")),
            "–".join(map(str, one["interval"])),  # type: ignore[call-overload] # two numbers
            "{:+} ({:+} to {:+})".format(one["change"], *one["change_interval"]) if "change" in one else "",  # type: ignore[misc]
            *(one[figure] for figure in ("R@20", "NDCG@10")),
            one["questions"],
            one["ms"],
        )
        for one in found
    ]
    heads = ("ranking", "R@5", "R@10", "95 %", "change of R@10 (95 %)", "R@20", "NDCG@10", "questions", "ms p50")
    return table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedders", nargs="+", default=["static", "none", "minilm"], help="the first is ablated")
    parser.add_argument("--consolidate", action="store_true", help="also with facts distilled from each session")
    parser.add_argument("--beam", nargs="*", default=["100K"], choices=["100K", "500K"])
    options = parser.parse_args()
    talks = locomo()
    if not talks:
        print(f"skipped: SLOWWAVE_DATA={os.environ.get('SLOWWAVE_DATA', '')!r} has no locomo/locomo-dev.json")
        return
    print(f"LoCoMo, {len(talks)} conversations, turn level, categories 1-4")
    found = bm25("LoCoMo, BM25", talks)
    for number, embedder in enumerate(options.embedders):
        found += measured(f"LoCoMo, {embedder.partition(':')[0]}", talks, embedder, ablate=number == 0)
    if options.consolidate:
        found += measured("LoCoMo, with facts", talks, options.embedders[0], ablate=True, distil=True)
    for size in options.beam:
        if chats := beam(size):
            found += measured(f"BEAM {size}, all messages", chats, options.embedders[0], ablate=False)
            found += measured(f"BEAM {size}, no embedder", chats, "none", ablate=False)
            found += bm25(f"BEAM {size}, BM25", chats)
    print(show(found))
    print(f"\nsaved in {save('recall', found)}")


if __name__ == "__main__":
    main()
