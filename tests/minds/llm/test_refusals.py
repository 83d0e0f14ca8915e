"""Facts as a model proposes them from made-up talk: what was said is kept, names, numbers, dates and denials are not invented."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.guard.grounding import ground

TALKS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "refusals.json").read_text(encoding="utf-8"))


def transcript(talk: Mapping[str, Any]) -> Transcript:
    at = datetime.fromisoformat(talk["at"]).replace(tzinfo=UTC)
    said = [
        Memory(
            id=f"m{n}", scope="s", kind="message", role=role, speaker=speaker, text=text, recorded_at=at, valid_from=at
        )
        for n, (speaker, role, text) in enumerate(talk["lines"], 1)
    ]
    turns = tuple(Turn(number=n, memory=memory) for n, memory in enumerate(said, 1))
    names = frozenset(memory.speaker for memory in said if memory.speaker)
    return Transcript(conversation="c", turns=turns, most=8, speakers=names)


def grounded(talk: Mapping[str, Any], proposed: Sequence[Mapping[str, Any]]) -> dict[str, Fact | Rejected]:
    """What becomes of each proposed fact, by its text."""
    shown = transcript(talk)
    facts = [
        Fact(text=one["text"], turn=one["messages"][0], turns=tuple(one["messages"]), quote=one["quote"])
        for one in proposed
    ]
    return {fact.text: ground(fact, shown) for fact in facts}


def said(talk: Mapping[str, Any], fact: Fact) -> bool:
    """Whether a fact is a sentence of the talk as it was said."""
    speaker, _, words = fact.text.partition(" said: ")
    return any(words in " ".join(text.split()) and (who or "The user") == speaker for who, _, text in talk["lines"])


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk["talk"])
def test_facts_in_the_words_of_their_messages_are_kept(talk: Mapping[str, Any]) -> None:
    assert not [text for text, found in grounded(talk, talk["true"]).items() if isinstance(found, Rejected)]


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk["talk"])
def test_of_an_invented_fact_only_what_was_said_is_stored(talk: Mapping[str, Any]) -> None:
    for found in grounded(talk, talk["invented"]).values():
        assert isinstance(found, Rejected) or said(talk, found)


@pytest.mark.parametrize("talk", [talk for talk in TALKS if "other_words" in talk], ids=lambda talk: talk["talk"])
def test_a_true_fact_in_other_words_is_refused_with_the_reason(talk: Mapping[str, Any]) -> None:
    for found in grounded(talk, talk["other_words"]).values():
        assert isinstance(found, Rejected)
        assert found.reason


def test_the_replies_are_many() -> None:
    assert sum(len(talk["true"]) for talk in TALKS) >= 150
    assert sum(len(talk["invented"]) for talk in TALKS) >= 60
