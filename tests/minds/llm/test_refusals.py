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
STILL_REFUSED = {
    "Ivo has not played chess since school",
    "The user got a budget of 40k instead of the 65k asked for",
}
"""True facts that code refuses: another verb for a denied action, a denial of a part."""


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


def refused(talk: Mapping[str, Any], proposed: Sequence[Mapping[str, Any]]) -> set[str]:
    shown = transcript(talk)
    facts = [
        Fact(text=one["text"], turn=one["messages"][0], turns=tuple(one["messages"]), quote=one["quote"])
        for one in proposed
    ]
    return {fact.text for fact in facts if isinstance(ground(fact, shown), Rejected)}


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk["talk"])
def test_a_reply_keeps_its_true_facts_and_loses_the_invented_ones(talk: Mapping[str, Any]) -> None:
    assert refused(talk, talk["true"]) <= STILL_REFUSED
    assert refused(talk, talk["invented"]) == {one["text"] for one in talk["invented"]}


def test_the_replies_are_many_and_few_true_facts_are_refused() -> None:
    true = sum(len(talk["true"]) for talk in TALKS)
    assert true >= 220
    assert sum(len(refused(talk, talk["true"])) for talk in TALKS) <= len(STILL_REFUSED)
