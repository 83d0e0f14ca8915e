"""The unified update pipeline: five tests of decisions, and nine known problems of such pipelines (p1 to p9)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slowwave import AgentMemory, Config, Message
from slowwave.compat import consolidate_and_cleanup, extract_memories, format_for_prompt, update_memory
from slowwave.errors import InputError
from slowwave.model.mind import Fact
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.testing import FrozenClock, OpenAIServer, ScriptedLLM
from slowwave.testing.openai_server import says

Open = Callable[..., AgentMemory]


def verdict(
    op: str, *, memory: int | None = 1, text: str | None = None, relation: str = "compatible"
) -> dict[str, Any]:
    decision = {"fact": 1, "op": op, "memory": memory, "text": text, "relation": relation, "because": "judged"}
    return {"verdicts": [decision]}


def texts(memory: AgentMemory) -> set[str]:
    return {fact.text for fact in memory.get_all()}


# --- decisions


@pytest.mark.parametrize("op", ["NOOP", "UPDATE"])
def test_a_semantic_duplicate_is_noop_or_update_and_never_add(opened: Open, op: str) -> None:
    memory = opened()
    update_memory(memory, None, None, "Matteo is allergic to shellfish")
    relation = "subsumed" if op == "NOOP" else "subsumes"
    llm = ScriptedLLM(reconcile=verdict(op, relation=relation))
    result = update_memory(memory, llm, None, "Matteo can't eat prawns because of a shellfish allergy")
    assert result.operation == op
    assert len(memory.get_all()) == 1
    assert result.memory == memory.get_all()[0]


@pytest.mark.parametrize("op", ["DELETE", "UPDATE"])
def test_a_contradiction_is_delete_or_update_and_the_new_fact_stays(opened: Open, op: str) -> None:
    memory = opened()
    update_memory(memory, None, None, "Matteo uses a standing desk")
    llm = ScriptedLLM(reconcile=verdict(op, relation="contradictory"))
    result = update_memory(memory, llm, None, "Matteo switched back from the standing desk to sitting")
    assert result.operation == op
    assert texts(memory) == {"Matteo switched back from the standing desk to sitting"}
    assert result.memory.text in texts(memory)


def test_a_refinement_is_update(opened: Open) -> None:
    memory = opened()
    update_memory(memory, None, None, "Alice owns the deploy pipeline")
    llm = ScriptedLLM(reconcile=verdict("UPDATE", relation="subsumes"))
    result = update_memory(memory, llm, None, "Alice owns the deploy pipeline and the release notes")
    assert result.operation == "UPDATE"
    assert texts(memory) == {"Alice owns the deploy pipeline and the release notes"}


def test_a_new_fact_is_added_without_a_model_call(opened: Open) -> None:
    memory, llm = opened(), ScriptedLLM()
    result = update_memory(memory, llm, None, {"content": "Matteo prefers oat milk", "category": "preference"})
    assert (result.operation, result.memory.category, llm.asked) == ("ADD", "preference", [])


def test_malformed_output_changes_no_known_fact_and_the_candidate_waits(opened: Open) -> None:
    memory = opened(llm=ScriptedLLM(reconcile=verdict("UPDATE", relation="contradictory")))
    update_memory(memory, None, None, "Matteo lives in Zurich")
    result = update_memory(memory, ScriptedLLM("Sure! Here you go."), None, "Matteo lives in Bern")
    assert (result.operation, result.receipt.waiting) == ("NOOP", 1)
    assert result.memory.text == "Matteo lives in Bern"
    assert texts(memory) == {"Matteo lives in Zurich", "Matteo lives in Bern"}
    consolidate_and_cleanup(memory)
    assert texts(memory) == {"Matteo lives in Bern"}
    assert memory.status().waiting == 0


# --- the nine problems


def test_p1_duplicates_that_share_no_substring_and_names_of_one_person_are_seen_together(opened: Open) -> None:
    memory = opened()
    update_memory(memory, None, None, {"content": "Matteo is allergic to shellfish", "subject": "matteo"})
    llm = ScriptedLLM(reconcile=verdict("NOOP", relation="subsumed"))
    result = update_memory(memory, llm, None, {"content": "The user has a shellfish allergy", "subject": "the user"})
    assert result.operation == "NOOP"
    assert "near K1" in llm.asked[0].text
    assert len(memory.get_all()) == 1


def test_p2_after_a_contradiction_one_fact_is_in_the_prompt_and_the_other_in_the_history(
    opened: Open, clock: FrozenClock
) -> None:
    memory = opened()
    update_memory(memory, None, None, "Matteo uses a standing desk")
    clock.advance(days=30)
    llm = ScriptedLLM(reconcile=verdict("UPDATE", relation="contradictory"))
    update_memory(memory, llm, None, "Matteo switched back from the standing desk to sitting")
    prompt = format_for_prompt(memory, "How does Matteo sit at his desk?")
    assert "switched back" in prompt
    assert "uses a standing desk" not in prompt
    (old,) = memory.search("standing desk", as_of=clock() - timedelta(days=20), kinds=["semantic"])
    assert old.text == "Matteo uses a standing desk"


def test_p3_a_shorter_correction_replaces_a_longer_stale_fact(opened: Open) -> None:
    memory = opened()
    update_memory(memory, None, None, "The weekly planning meeting of the platform team is every Monday at nine")
    llm = ScriptedLLM(reconcile=verdict("UPDATE", relation="contradictory"))
    update_memory(memory, llm, None, "The planning meeting is on Friday")
    assert texts(memory) == {"The planning meeting is on Friday"}


def test_p4_stated_and_distilled_facts_take_the_same_decision(opened: Open) -> None:
    decisions = []
    for stated in (True, False):
        fact = {"text": "Alice left the deploy team", "message": 1, "quote": "Alice left the deploy team"}
        llm = ScriptedLLM(distil={"facts": [fact]}, reconcile=verdict("UPDATE", relation="contradictory"))
        memory = opened(scope=f"stated/{stated}")
        known = {"role": "user", "content": "Alice is on the deploy team"}
        first = {"text": "Alice is on the deploy team", "message": 1, "quote": known["content"]}
        extract_memories(memory, ScriptedLLM(distil={"facts": [first]}), None, [Message(**known)])
        if stated:
            update_memory(memory, llm, None, "Alice left the deploy team")
        else:
            extract_memories(memory, llm, None, [Message(role="user", content="Alice left the deploy team.")])
        decisions.append((texts(memory), llm.count("reconcile")))
    assert decisions[0] == decisions[1] == ({"Alice left the deploy team"}, 1)


def test_p5_the_prompt_contains_relevant_facts_of_any_age_and_not_all_facts(opened: Open, clock: FrozenClock) -> None:
    memory = opened()
    update_memory(memory, None, None, "Matteo is lactose intolerant")
    for place in range(60):
        clock.advance(hours=1)
        update_memory(memory, None, None, f"Project {place} uses port {8000 + place} for its health checks")
    prompt = format_for_prompt(memory, "Where can Matteo eat without lactose?")
    assert "lactose intolerant" in prompt
    assert remove_fenced_blocks(prompt) != prompt
    assert len(re.findall(r"^- ", prompt, re.MULTILINE)) <= 12
    assert format_for_prompt(memory, "Where can Matteo eat without lactose?", top_k=1).count("\n- ") == 1
    assert not format_for_prompt(memory)


def test_p6_a_sleep_pass_merges_existing_duplicates(opened: Open) -> None:
    class Near:
        name = "near"

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            rows = np.ones((len(texts), 8), dtype=np.float32)
            rows[:, 0] += [len(text) / 1000 for text in texts]
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    add = {"fact": 1, "op": "ADD", "memory": None, "text": None, "relation": "compatible", "because": "new"}
    llm = ScriptedLLM(reconcile=[{"verdicts": [add]}, verdict("NOOP", relation="subsumed")])
    memory = opened(llm=llm, embedder=Near())
    memory.add("Matteo is allergic to shellfish")
    memory.add("A shellfish allergy: that is what Matteo has")
    assert len(memory.get_all()) == 2
    consolidate_and_cleanup(memory)
    assert len(memory.get_all()) == 1


def test_p7_the_second_turn_within_the_cooldown_is_read_later_not_dropped(opened: Open, clock: FrozenClock) -> None:
    llm = ScriptedLLM(distil={"facts": []})
    config = Config(consolidate_every_turns=1, extraction_cooldown_seconds=120, min_messages=2)
    memory = opened(llm=llm, config=config)
    for line in ("I am allergic to shellfish.", "My sister Chiara moved to Bern."):
        memory.add_messages([Message(role="user", content=line), Message(role="assistant", content="Noted.")], "c1")
        clock.advance(seconds=20)
    assert llm.count("distil") == 1
    consolidate_and_cleanup(memory)
    assert "My sister Chiara moved to Bern." in llm.asked[-1].text
    assert memory.status().unread == 0


def test_p8_the_decision_sees_the_dates_of_both_facts(opened: Open, clock: FrozenClock) -> None:
    memory = opened()
    update_memory(memory, None, None, "Matteo lives in Zurich")
    clock.advance(days=31)
    llm = ScriptedLLM(reconcile=verdict("ADD", memory=None))
    update_memory(memory, llm, None, "Matteo lives in Bern")
    (call,) = llm.asked
    assert re.search(r"F1 \(2026-04-01; near K1\): Matteo lives in Bern", call.text)
    assert re.search(r"K1 \(2026-03-01\): Matteo lives in Zurich", call.text)


def test_p9_a_fact_that_is_mentioned_again_is_strengthened_and_a_neglected_one_fades(
    opened: Open, clock: FrozenClock
) -> None:
    memory = opened()
    update_memory(memory, None, None, {"content": "Matteo plays chess", "importance": 0.4})
    update_memory(memory, None, None, {"content": "The printer was out of paper", "importance": 0.4})
    llm = ScriptedLLM(reconcile=verdict("NOOP", relation="subsumed"))
    for _ in range(3):
        clock.advance(days=30)
        update_memory(memory, llm, None, "Chess is what Matteo plays")
    chess, printer = sorted(memory.get_all(), key=lambda fact: fact.text)
    assert chess.accesses == 3
    assert memory.strength(chess.id) > memory.strength(printer.id)


# --- clients


def test_a_client_of_many_models_gets_the_model_name(opened: Open) -> None:
    class Client:
        def __init__(self) -> None:
            self.models: list[str] = []

        def complete(self, *, messages: Sequence[Mapping[str, str]], model: str) -> str:
            assert messages
            self.models.append(model)
            return json.dumps(verdict("ADD", memory=None))

    memory, client = opened(), Client()
    update_memory(memory, client, "small-1", "Matteo lives in Zurich")
    update_memory(memory, client, "small-1", "Matteo works in Zurich")
    assert client.models == ["small-1"]


def test_a_provider_and_a_model_name_build_a_client(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(says(json.dumps(verdict("NOOP", relation="subsumed")))) as server:
        monkeypatch.setenv("SLOWWAVE_LLM_URL", server.url)
        memory = opened()
        update_memory(memory, "openai", "gpt-5-mini", Fact(text="Matteo lives in Zurich"))
        result = update_memory(memory, "openai", "gpt-5-mini", "Zurich is where Matteo lives")
        assert result.operation == "NOOP"
        assert server.received[0].body["model"] == "gpt-5-mini"


@pytest.mark.parametrize("candidate", [{}, {"content": "x", "importance_": 1}, {"content": " "}, {"subject": "x"}])
def test_an_invalid_candidate_is_refused(opened: Open, candidate: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        update_memory(opened(), None, None, candidate)


# --- what is compared


@pytest.mark.parametrize(("op", "relation"), [("UPDATE", "subsumes"), ("NOOP", "subsumed")])
def test_a_cold_fact_is_compared_with_a_new_one_and_becomes_hot(
    opened: Open, clock: FrozenClock, op: str, relation: str
) -> None:
    llm = ScriptedLLM(reconcile=verdict(op, relation=relation))
    memory = opened(llm=llm)
    known, new = "Alice sailed to the northern lighthouse", "Alice sailed to the old northern lighthouse"
    old = memory.add(known, kind="episodic").ids[0]
    clock.advance(days=900)
    memory.sleep()
    assert memory.get(old).phase == "cold"
    memory.add(new)
    assert llm.count("reconcile") == 1
    assert known in llm.asked[-1].text
    (fact,) = memory.get_all()
    assert fact.id == old
    assert fact.due_at is not None


def test_similar_facts_of_one_batch_are_compared(opened: Open, talk: Callable[..., None]) -> None:
    first, second = "Alice broke her left ankle at the climbing wall", "Alice injured her left ankle while climbing"
    facts = [
        {"text": text, "category": "person", "messages": [place], "quote": text}
        for place, text in ((1, first), (3, second))
    ]
    llm = ScriptedLLM(distil={"facts": facts}, reconcile={"reviewed": 1, "changes": []})
    memory = opened(llm=llm)
    talk(memory, first, "Oh.", second, "I am sorry.")
    memory.consolidate("c1", force=True)
    assert llm.count("reconcile") == 1
    shown = llm.asked[-1].text
    assert re.search(rf"^K1 .*{first}$", shown, re.MULTILINE)
    assert re.search(rf"^F2 .*near K1\): {second}$", shown, re.MULTILINE)


def test_a_single_fact_that_shares_one_word_of_many_needs_no_call(opened: Open) -> None:
    llm = ScriptedLLM(reconcile={"reviewed": 1, "changes": []})
    memory = opened(llm=llm)
    memory.add("Alice repaired the wooden kayak in her garden", subject="Alice")
    memory.add("Alice lent a kayak to her brother for the summer race", subject="Alice")
    assert len(memory.get_all()) == 2
    assert llm.count("reconcile") == 0
    memory.add("Alice lent her wooden kayak to a cousin", subject="Alice")
    assert llm.count("reconcile") == 1
