"""Commands that measure: how much of the evidence of a benchmark recall finds, on this machine, by this installation."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.options import CommonOptions
from slowwave.errors import InputError

if TYPE_CHECKING:
    from slowwave.model.message import Message

room = Room()
_eval = room.group("eval", help="Measure recall on a benchmark's own file.", panel="Measure")

PLACES: Final = (5, 10, 20)
ANSWERED: Final = (1, 2, 3, 4)
"""LoCoMo's categories with evidence: multi-hop, temporal, open-domain, single-hop; 5 has none to find."""
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")
_BATCH: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One dialogue: its messages by session, and its questions with the ids of the turns that answer them."""

    name: str
    sessions: Mapping[str, list["Message"]]
    questions: tuple[tuple[str, frozenset[str]], ...]


@command(_eval, "retrieval", "Measure")
def retrieval(
    given: CommonOptions,
    file: Annotated[Path, Argument(help="LoCoMo's JSON.")],
    distil: Annotated[bool, Option("--consolidate", help="Distil each session first; facts then compete.")] = False,
) -> None:
    """Evidence retrieval on LoCoMo: recall at 5, 10 and 20 turns, NDCG at 10, milliseconds a question."""
    import statistics  # noqa: PLC0415 - only a measurement takes means

    figures: list[dict[str, float]] = []
    milliseconds: list[float] = []
    for sample in samples(file):
        for question, ranking, spent in _asked(given, sample, distil=distil):
            figures.append(scored(ranking, question))
            milliseconds.append(spent)
    if not figures:
        raise InputError(f"{file} holds no questions with evidence: it does not look like LoCoMo")
    result: dict[str, float] = {
        name: round(100 * statistics.mean(one[name] for one in figures), 1) for name in figures[0]
    }
    result |= {"questions": len(figures), "ms_p50": round(statistics.median(milliseconds), 2)}
    if given.json:
        given.paper.value(result)
    else:
        for name, value in result.items():
            given.paper.say(f"{name:<10} {value}")


def _asked(given: CommonOptions, sample: Sample, *, distil: bool) -> Iterator[tuple[frozenset[str], list[str], float]]:
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

    end = max(message.at for said in sample.sessions.values() for message in said if message.at) + timedelta(days=1)
    with AgentMemory.open(":memory:", clock=lambda: end, **given.doors()) as memory:
        for name, said in sample.sessions.items():
            memory.add_messages(said, name)
            if distil:
                memory.end_conversation(name)
        for question, evidence in sample.questions:
            start = time.perf_counter()
            hits = memory.search(question, top_k=PLACES[-1])
            spent = 1000 * (time.perf_counter() - start)
            turns = dict.fromkeys(str(source) for hit in hits for source in hit.sources)
            yield evidence, list(turns)[: PLACES[-1]], spent


def scored(ranking: list[str], evidence: frozenset[str]) -> dict[str, float]:
    """Recall at each place, and the discounted gain of the first ten over the best possible."""
    found = {f"R@{k}": len(evidence & set(ranking[:k])) / len(evidence) for k in PLACES}
    gains = [1 / math.log2(place + 2) for place in range(10)]
    gain = sum(g for g, turn in zip(gains, ranking, strict=False) if turn in evidence)
    return found | {"NDCG@10": gain / sum(gains[: len(evidence)])}


def samples(file: Path) -> Iterator[Sample]:
    """The dialogues of LoCoMo's file.

    Raises:
        InputError: if it cannot be read.
    """
    from slowwave.formats.readers import locomo  # noqa: PLC0415 - only a measurement reads them
    from slowwave.formats.readers.builders import MessageBuilder  # noqa: PLC0415
    from slowwave.model.exchange import ImportedMessage  # noqa: PLC0415

    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file} as LoCoMo's JSON: {error}") from error
    for number, element in enumerate(whole if isinstance(whole, list) else [whole], 1):
        sessions: dict[str, list[Message]] = {}
        for item in locomo.read(element, number, MessageBuilder(), file.stem):
            if isinstance(item, ImportedMessage):
                sessions.setdefault(item.conversation, []).append(item.message)
        known = {str(message.id) for said in sessions.values() for message in said}
        if questions := tuple(_questions(element, known)):
            yield Sample(name=str(number), sessions=sessions, questions=questions)


def _questions(element: Any, known: set[str]) -> Iterator[tuple[str, frozenset[str]]]:  # noqa: ANN401 - JSON
    for item in element.get("qa", ()) if isinstance(element, Mapping) else ():
        cited = _EVIDENCE.findall(" ".join(map(str, item.get("evidence") or ())))
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in cited) & known
        if evidence and item.get("category") in ANSWERED:
            yield str(item["question"]), evidence
