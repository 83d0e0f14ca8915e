"""The check of `hit.relevance`: is it a probability, and what does the floor of contexts cost and save?

    SLOWWAVE_DATA=... python bench/relevance.py [--embedders static none] [--beam 100K] [--consolidate] [--fitted]

Each conversation of LoCoMo and BEAM is asked its own questions (the answers of which are its evidence turns), questions of
the other conversations, general requests, and small talk. A hit is right if it rests on an evidence turn, so that what only
touches the subject counts as wrong. The weights were fitted on every second conversation; the others are measured here,
or with --fitted those of the fit. In the averages, own questions and all others weigh the same.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np

from measuring import save, table
from recall import Talk, beam, locomo
from slowwave import AgentMemory
from slowwave.policy.ranking.relevance import FAIR

SMALL_TALK = (
    "hi", "hello there!", "ok", "okay, great", "thanks", "thank you so much!", "hm", "good morning", "lol", "how are you?",
    "hallo", "guten Morgen", "danke schön", "alles klar", "wie geht's?", "bonjour", "merci beaucoup", "d'accord", "ça va ?",
    "hola", "buenos días", "gracias", "¿qué tal?", "ciao", "grazie mille", "obrigado", "привет", "спасибо", "こんにちは", "谢谢",
)  # fmt: skip
REQUESTS = (
    "who owns deploys?", "What is the capital of Mongolia?", "Write a haiku about recursion", "Convert 5 miles to kilometres",
    "Explain how TCP congestion control works", "What is 17 times 23?", "Translate 'good morning' into Japanese",
    "Who won the 1966 World Cup?", "How do black holes form?", "Draft a tweet announcing our Series A",
    "Summarise the French Revolution", "When was the Treaty of Westphalia signed?", "Which Kubernetes version is running?",
)  # fmt: skip
FOREIGN = 60
FIRST = 10
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0)
FLOORS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True)
class Answer:
    """The first hits of a question: their relevance, and which of them are right. `kind` is "own", "other" and so on."""

    kind: str
    relevance: Sequence[float]
    right: Sequence[bool]


def answers(talks: Sequence[Talk], chosen: Sequence[int], embedder: str, *, distil: bool) -> Iterator[Answer]:
    """The first hits of every question that the chosen conversations are asked."""
    for number in chosen:
        talk, chance = talks[number], Random(number)
        others = [question for place, one in enumerate(talks) if place != number for question, _ in one.questions]
        asked = [("own", question, evidence) for question, evidence in talk.questions]
        asked += [("other", question, frozenset()) for question in chance.sample(others, FOREIGN)]
        asked += [("request", question, frozenset()) for question in REQUESTS]
        asked += [("small talk", question, frozenset()) for question in SMALL_TALK]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.db"
            with AgentMemory.open(path, embedder=embedder, llm=None, clock=lambda end=talk.end: end) as memory:
                for name, said in talk.sessions.items():
                    memory.add_messages(said, name)
                    if distil:
                        memory.consolidate(conversation=name, force=True)
                for kind, question, evidence in asked:
                    hits = memory.search(question, top_k=FIRST)
                    right = [any(str(source) in evidence for source in hit.sources) for hit in hits]
                    yield Answer(kind, [hit.relevance for hit in hits], right)


def auc(values: np.ndarray, right: np.ndarray) -> float:
    """The probability that a right hit has a higher value than a wrong one."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    ones = right.sum()
    return float((ranks[right].sum() - ones * (ones + 1) / 2) / (ones * (len(right) - ones)))


def report(title: str, found: Sequence[Answer]) -> dict[str, object]:
    """Print the tables of one measurement, and return them."""
    asked = [answer for answer in found if answer.kind != "small talk"]
    own = sum(answer.kind == "own" for answer in asked)
    value = np.array([each for answer in asked for each in answer.relevance])
    right = np.array([each for answer in asked for each in answer.right])
    weight = np.array(
        [1 / own if answer.kind == "own" else 1 / (len(asked) - own) for answer in asked for _ in answer.relevance]
    )
    bins = []
    for low, high in pairwise(BINS):
        inside = (value >= low) & (value < high)
        if inside.any():
            share = (np.average(each[inside], weights=weight[inside]) for each in (value, right))
            bins.append((f"{low}–{high}", int(inside.sum()), *(round(float(each), 3) for each in share)))
    floors = [(floor, *_at_floor(found, floor)) for floor in FLOORS]
    figures = (round(auc(value, right), 3), round(float(np.average((value - right) ** 2, weights=weight)), 4))
    print(
        f"\n{title}: {own} own questions, {int(right.sum())} evidence hits; AUC {figures[0]}, Brier score {figures[1]}\n"
    )
    print(table(("relevance", "hits", "mean", "right"), bins))
    kinds = ("other questions", "requests", "small talk")
    heads = (
        "floor",
        "evidence lost, %",
        "hits right, %",
        "own with none, %",
        *(f"{kind} with any, %" for kind in kinds),
    )
    print(f"\n{table(heads, floors)}")
    return {"title": title, "auc": figures[0], "brier": figures[1], "bins": bins, "floors": floors}


def _at_floor(found: Sequence[Answer], floor: float) -> list[float]:
    """In percent: evidence below the floor, right hits of own questions from it on, and questions with and without hits."""
    own = [answer for answer in found if answer.kind == "own"]
    hits = [pair for answer in own for pair in zip(answer.relevance, answer.right, strict=True)]
    evidence = [value for value, is_right in hits if is_right]
    kept = [is_right for value, is_right in hits if value >= floor]
    shares = [np.mean(np.array(evidence) < floor), np.mean(kept) if kept else 0.0]
    shares.append(np.mean([not any(value >= floor for value in answer.relevance) for answer in own]))
    for kind in ("other", "request", "small talk"):
        some = [
            any(value >= max(floor, 1e-12) for value in answer.relevance) for answer in found if answer.kind == kind
        ]
        shares.append(np.mean(some))
    return [round(100 * float(share), 1) for share in shares]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedders", nargs="+", default=["static", "none"])
    parser.add_argument("--beam", nargs="*", default=["100K"], choices=["100K", "500K"])
    parser.add_argument("--consolidate", action="store_true", help="also with facts distilled from each conversation")
    parser.add_argument(
        "--fitted", action="store_true", help="the conversations of the fit, not those kept for the check"
    )
    options = parser.parse_args()
    talks = locomo()
    chosen = [0, 1] if options.fitted else [2]
    for size in options.beam:
        chats = beam(size)
        chosen += [len(talks) + place for place in range(len(chats)) if (place % 2 == 0) == options.fitted]
        talks += chats
    if not talks:
        print("skipped: SLOWWAVE_DATA has no locomo/locomo-dev.json")
        return
    print(f"relevance floor of contexts: {FAIR}")
    results = []
    for embedder in options.embedders:
        for distil in (False, True)[: 1 + options.consolidate]:
            title = f"embedder {embedder}{', with facts' if distil else ''}"
            results.append(report(title, list(answers(talks, chosen, embedder, distil=distil))))
    print(f"\nsaved in {save('relevance', results)}")


if __name__ == "__main__":
    main()
