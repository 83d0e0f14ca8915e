"""Replies as a careful model would write them for real conversations: what was said is kept, what was not is refused.

The replies are recorded; the conversations are not part of this project. Each reply names the messages and sentences it
rests on (`also`: further messages), and its `refused` facts are what a careless model would add: a wrong day, a foreign name, something not said.
Its facts in `other_words` are true, but have a word that none of their messages has.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock, ScriptedLLM

Open = Callable[..., AgentMemory]
REPLIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@pytest.fixture(scope="module")
def conversations() -> dict[str, Mapping[str, Any]]:
    folder = os.environ.get("SLOWWAVE_DATA")
    if not folder:
        pytest.skip("set SLOWWAVE_DATA to the folder that holds locomo/locomo-dev.json")
    samples = json.loads((Path(folder) / "locomo" / "locomo-dev.json").read_text(encoding="utf-8"))
    return {sample["sample_id"]: sample["conversation"] for sample in samples}


def answer(reply: Mapping[str, Any], turns: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The reply in the form a model gives it: numbers of messages, and words of them as quotes."""
    numbers = {turn["dia_id"]: number for number, turn in enumerate(turns, 1)}
    facts = []
    for fact in (*reply["refused"], *reply["other_words"], *reply["kept"]):
        number = numbers[fact["dia"]]
        sentences = _SENTENCE.split(turns[number - 1]["text"].strip())
        quote = sentences[min(fact["sentence"], len(sentences) - 1)]
        others = [numbers[dia] for dia in fact.get("also", ())]
        facts.append(
            {**{key: fact[key] for key in ("text", "category")}, "messages": [number, *others], "quote": quote}
        )
    return {"facts": facts}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: f"{reply['sample']}-{reply['session']}")
def test_a_recorded_reply_yields_its_facts_and_ungrounded_items_are_refused(
    opened: Open, conversations: dict[str, Mapping[str, Any]], reply: Mapping[str, Any]
) -> None:
    talk = conversations[reply["sample"]]
    turns = talk[f"session_{reply['session']}"][:30]
    at = datetime.strptime(talk[f"session_{reply['session']}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    llm = ScriptedLLM(distil=answer(reply, turns), reconcile={"verdicts": []})
    memory = opened(llm=llm, clock=FrozenClock(at))
    messages = [
        Message(role="user", speaker=turn["speaker"], content=turn["text"].strip(), at=at, id=turn["dia_id"])
        for turn in turns
    ]
    memory.add_messages(messages, conversation="talk")
    result = memory.consolidate()
    stored = {fact.text: fact for fact in memory.get_all()}
    assert stored.keys() == {fact["text"] for fact in reply["kept"]}, {one.text: one.reason for one in result.rejected}
    refused = (*reply["refused"], *reply["other_words"])
    assert {one.text for one in result.rejected} == {fact["text"] for fact in refused}
    assert llm.count("distil") == 2, "the refused facts are named to the model once"
    for fact in reply["kept"]:
        assert {str(source) for source in stored[fact["text"]].sources} == {fact["dia"], *fact.get("also", ())}
