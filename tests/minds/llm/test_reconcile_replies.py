"""Replies to the reconcile prompt as models wrote them when the prompt was tried by hand, on sentences of invented people."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock, ScriptedLLM

Open = Callable[..., AgentMemory]
REPLIES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "reconcile_replies.json").read_text(encoding="utf-8")
)


def every_sentence(prompt: str) -> dict[str, Any]:
    """A model that proposes each message as a fact."""
    said = re.findall(r"^\[(\d+)\] [^:\n]+: (\S.*)\.$", prompt, re.MULTILINE)
    return {"facts": [{"text": text, "category": "person", "messages": [int(n)], "quote": text} for n, text in said]}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["name"])
def test_a_recorded_reply_changes_what_it_names_and_nothing_else(
    opened: Open, clock: FrozenClock, reply: Mapping[str, Any]
) -> None:
    llm = ScriptedLLM(distil=every_sentence, reconcile=reply["reply"])
    memory = opened(llm=llm, clock=clock)
    waiting = 0
    for sentences in (reply["known"], reply["new"]):
        clock.advance(days=100)
        said = [
            Message(role="user", content=f"{text}.", at=clock() + timedelta(seconds=place))
            for place, text in enumerate(sentences)
        ]
        memory.add_messages(said, conversation="talk")
        waiting = memory.consolidate("talk", force=True).waiting
    shown = [asked.text for asked in llm.asked if asked.task == "reconcile"]
    assert bool(shown) is (reply["near"] > 0)
    assert all(f"New facts ({reply['near']}):" in text for text in shown)
    assert sorted(fact.text for fact in memory.get_all()) == reply["current"]
    assert waiting == reply.get("waiting", 0)


def test_a_fact_in_words_of_two_rests_on_the_messages_of_both(opened: Open, clock: FrozenClock) -> None:
    plan = "Ottilie plans to open a bakery because she loves rye bread"
    change = {
        "fact": 1,
        "op": "UPDATE",
        "memory": 1,
        "relation": "contradictory",
        "because": "the plan was carried out",
    }
    text = "Ottilie, who loves rye bread, opened a bakery in Graz"
    llm = ScriptedLLM(distil=every_sentence, reconcile={"reviewed": 1, "changes": [{**change, "text": text}]})
    memory = opened(llm=llm, clock=clock)
    for number, said in enumerate((plan, "Ottilie opened her bakery in Graz"), 1):
        memory.add_messages([Message(role="user", content=f"{said}.", id=f"m{number}")], conversation="talk")
        memory.consolidate("talk", force=True)
    (fact,) = memory.get_all()
    assert (fact.text, [str(source) for source in fact.sources]) == (text, ["m2", "m1"])
    assert len(memory.get_all(phases=["superseded"])) == 1
