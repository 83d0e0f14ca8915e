"""The group eval: how much of the evidence of a benchmark recall finds, on this machine, by this installation."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from slowwave.cli.options import PATH, PRINTING, Command, CommonOptions, Group, common_options, store_common_options
from slowwave.errors import InputError
from slowwave.files import check_regular

if TYPE_CHECKING:
    from slowwave.model.message import Message

PLACES: Final = (5, 10, 20)
ANSWERED: Final = (1, 2, 3, 4)
"""LoCoMo's categories with evidence: multi-hop, temporal, open-domain, single-hop. Category 5 has none."""
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One dialogue: its messages by session, and its questions with the ids of the turns that answer them."""

    name: str
    sessions: Mapping[str, list["Message"]]
    questions: tuple[tuple[str, frozenset[str]], ...]


@click.group("eval", cls=Group)
@store_common_options
def eval_() -> None:
    """Measure recall on a benchmark's own file."""


@eval_.command(
    "retrieval",
    cls=Command,
    examples=("slowwave eval retrieval locomo10.json", "slowwave eval retrieval locomo10.json --consolidate"),
)
@click.argument("file", type=PATH)
@click.option("--consolidate", is_flag=True, help="Distil each session first; facts then compete with messages.")
@common_options(uses=("llm", "embedder", *PRINTING))
def retrieval(options: CommonOptions, file: Path, consolidate: bool) -> None:
    """Measure evidence retrieval on LoCoMo: recall at 5, 10 and 20 turns, NDCG at 10, milliseconds a question.

    FILE is LoCoMo's JSON.
    """
    import statistics  # noqa: PLC0415 - only a measurement needs it

    figures: list[dict[str, float]] = []
    milliseconds: list[float] = []
    for sample in samples(file):
        for evidence, ranking, spent in _search_sample(options, sample, distil=consolidate):
            figures.append(scored(ranking, evidence))
            milliseconds.append(spent)
    if not figures:
        raise InputError(f"{file} holds no questions with evidence: it does not look like LoCoMo")
    result: dict[str, float] = {
        name: round(100 * statistics.mean(figure[name] for figure in figures), 1) for name in figures[0]
    }
    result |= {"questions": len(figures), "ms_p50": round(statistics.median(milliseconds), 2)}
    if options.json:
        options.output.write_json(result)
    else:
        for name, value in result.items():
            options.output.write(f"{name:<10} {value}")


def _search_sample(
    options: CommonOptions, sample: Sample, *, distil: bool
) -> Iterator[tuple[frozenset[str], list[str], float]]:
    """For each question of a sample: its evidence, the ids of the turns found, and the milliseconds it took."""
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

    times = [message.at for messages in sample.sessions.values() for message in messages if message.at]
    end = max(times) + timedelta(days=1)
    with AgentMemory.open(":memory:", clock=lambda: end, **options.models()) as memory:
        for name, messages in sample.sessions.items():
            memory.add_messages(messages, name)
            if distil:
                memory.end_conversation(name)
        for question, evidence in sample.questions:
            start = time.perf_counter()
            hits = memory.search(question, top_k=PLACES[-1])
            spent = 1000 * (time.perf_counter() - start)
            turns = dict.fromkeys(str(source) for hit in hits for source in hit.sources)
            yield evidence, list(turns)[: PLACES[-1]], spent


def scored(ranking: list[str], evidence: frozenset[str]) -> dict[str, float]:
    """Recall at each of `PLACES`, and NDCG at 10: the discounted gain of the first ten over the best possible."""
    recall = {f"R@{k}": len(evidence & set(ranking[:k])) / len(evidence) for k in PLACES}
    gains = [1 / math.log2(place + 2) for place in range(10)]
    gain = sum(g for g, turn in zip(gains, ranking, strict=False) if turn in evidence)
    return recall | {"NDCG@10": gain / sum(gains[: len(evidence)])}


def samples(file: Path) -> Iterator[Sample]:
    """The dialogues of a file of LoCoMo.

    Raises:
        InputError: if the file cannot be read.
    """
    from slowwave.formats.readers import locomo  # noqa: PLC0415 - only a measurement reads it
    from slowwave.formats.readers.builders import MessageBuilder  # noqa: PLC0415
    from slowwave.model.exchange import ImportedMessage  # noqa: PLC0415

    try:
        check_regular(file)
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file} as LoCoMo's JSON: {error}") from error
    for number, element in enumerate(content if isinstance(content, list) else [content], 1):
        sessions: dict[str, list[Message]] = {}
        for item in locomo.read(element, number, MessageBuilder(), file.stem):
            if isinstance(item, ImportedMessage):
                sessions.setdefault(item.conversation, []).append(item.message)
        known = {str(message.id) for messages in sessions.values() for message in messages}
        if questions := tuple(_questions(element, known)):
            yield Sample(name=str(number), sessions=sessions, questions=questions)


def _questions(element: Any, known: set[str]) -> Iterator[tuple[str, frozenset[str]]]:  # noqa: ANN401 - JSON
    for item in element.get("qa", ()) if isinstance(element, Mapping) else ():
        cited = _EVIDENCE.findall(" ".join(map(str, item.get("evidence") or ())))
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in cited) & known
        if evidence and item.get("category") in ANSWERED:
            yield str(item["question"]), evidence
