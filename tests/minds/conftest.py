"""Fixtures: inputs of minds, which are a transcript, a case and a summary request."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from slowwave.model.memory import Memory
from slowwave.model.mind import Candidate, Fact, ReconcileCase, SummaryRequest, Transcript, Turn

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def memory(text: str, *, minutes: int = 0, **fields: object) -> Memory:
    at = START + timedelta(minutes=minutes)
    return Memory(
        id=f"m{minutes}",
        scope="s",
        kind=fields.pop("kind", "semantic"),
        text=text,
        recorded_at=at,
        valid_from=at,
        **fields,
    )


@pytest.fixture
def transcript() -> Callable[..., Transcript]:
    def made(*lines: str, most: int = 8, before: tuple[str, ...] = ()) -> Transcript:
        said = [memory(line, minutes=n, kind="message", role="user", speaker="Alice") for n, line in enumerate(lines)]
        return Transcript(
            conversation="c1",
            turns=tuple(Turn(number=n, memory=one) for n, one in enumerate(said, 1)),
            most=most,
            before=tuple(memory(line, minutes=-1, kind="message", role="user") for line in before),
        )

    return made


@pytest.fixture
def case() -> Callable[..., ReconcileCase]:
    def made(number: int, text: str, known: dict[int, str], fixed: tuple[int, ...] = ()) -> ReconcileCase:
        candidates = tuple(
            Candidate(number=n, memory=memory(words, minutes=-n), fixed=n in fixed) for n, words in known.items()
        )
        return ReconcileCase(number=number, fact=Fact(text=text), at=START, candidates=candidates)

    return made


@pytest.fixture
def brief() -> Callable[..., SummaryRequest]:
    def made(*texts: str, style: str = "cluster", words: int = 60, topic: str | None = None) -> SummaryRequest:
        return SummaryRequest(
            memories=tuple(memory(text, minutes=n) for n, text in enumerate(texts)),
            style=style,
            words=words,
            topic=topic,
        )

    return made
