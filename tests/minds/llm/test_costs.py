"""What thinking costs: every run's cost stands in the journal, caps stop the next call, estimates come before."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import Config, MemoryConsolidator
from slowwave.minds.llm import prompting
from slowwave.minds.llm.prompts import load
from slowwave.model.plan import FREE
from slowwave.pipelines.admin.costs import (
    ADVICE_TOKENS,
    LINE_TOKENS,
    PROMPT_TOKENS,
    RECONCILE_TOKENS,
    REPAIR_TOKENS,
    SUMMARY_TOKENS,
)
from slowwave.policy.ranking.packing import estimate
from slowwave.testing import FrozenClock, OpenAIServer, ScriptedLLM
from slowwave.testing.openai_server import Received, Served, fails, says, stalls

Open = Callable[..., Any]
LINES = (
    "Our auth service uses Argon2 with a 12-byte salt.",
    "Noted.",
    "Alice owns the deploy pipeline.",
    "Thanks.",
    "Invoices go out on Tuesdays.",
    "I see.",
)
FACT = {
    "text": "Alice owns the deploy pipeline",
    "category": "person",
    "confidence": 0.9,
    "message": 3,
    "quote": "Alice owns the deploy pipeline",
}
DISTILLED = {"facts": [FACT]}
NEW = {"verdicts": [{"fact": 1, "op": "ADD", "memory": None, "text": None, "relation": "compatible", "because": "new"}]}


def answers(received: Received) -> Served:
    """What a model would say to either task."""
    system = received.body["messages"][0]["content"]
    return says(json.dumps(DISTILLED if "Task: distil" in system else NEW))


def test_settings_reach_the_model_and_its_cost_the_journal(
    opened: Open, talk: Callable[..., None], no_settings: Path
) -> None:
    no_settings.write_text('llm_prices = { "gpt" = [10, 20] }\n', encoding="utf-8")
    with OpenAIServer(answers) as server:
        memory = opened(llm=f"{server.url}#gpt")
        talk(memory, *LINES)
        result = memory.consolidate()
        assert [fact.text for fact in result.facts] == [FACT["text"]]
        sent = json.dumps(DISTILLED)
        assert (result.cost.calls, result.cost.tokens_in, result.cost.tokens_out) == (1, 11, len(sent))
        assert result.cost.money == pytest.approx((11 * 10 + len(sent) * 20) / 1e6)
        assert memory.runs(1)[0].cost == result.cost
        assert memory.cost().total == memory.status().cost == result.cost
        assert set(memory.cost().causes) == {"consolidate"}
        assert "consolidate: 1 calls" in str(memory.cost())


def test_a_slow_model_times_out_after_the_seconds_of_the_settings(
    opened: Open, talk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_SECONDS", "0.05")
    with OpenAIServer(stalls(5.0)) as server:
        memory = opened(llm=f"{server.url}#gpt")
        talk(memory, *LINES)
        result = memory.consolidate()
    assert "gave no answer within 0.05 seconds" in str(result.skipped_reason)
    assert memory.cost().total.seconds < 2


def test_the_prompt_names_categories_of_the_configuration(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil={"facts": [{**FACT, "category": "rota"}]})
    memory = opened(llm=llm, config=Config(category_ttl_days={"rota": 3.0}))
    talk(memory, *LINES)
    (fact,) = memory.consolidate().facts
    assert fact.category == "rota"
    assert "rota" in llm.asked[0].messages[0]["content"]


def test_failures_are_in_the_journal_too(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil="what?")
    memory = opened(llm=llm)
    talk(memory, *LINES)
    failed = memory.consolidate()
    assert failed.cost.calls == len(llm.asked) > 1
    assert memory.cost().total == failed.cost
    (run, _) = memory.runs(2)
    assert run.cause == "consolidate"
    (part,) = memory.run(run.id).parts
    assert "could not be read, twice" in part.plan.groups[0].because
    llm.answers["distil"] = DISTILLED
    assert memory.consolidate().facts
    assert memory.cost().total.calls == failed.cost.calls + 1


def test_at_the_cap_of_a_run_the_rest_stays_due_for_the_next_run(
    opened: Open, talk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_CALLS_PER_RUN", "1")
    llm = ScriptedLLM(distil={"facts": []})
    memory = opened(llm=llm)
    talk(memory, *(f"line {n}" for n in range(70)))
    result = memory.consolidate()
    assert "cap of 1 model calls a run" in str(result.skipped_reason)
    assert memory.status().unread == 40
    memory.consolidate()
    assert memory.status().unread == 10
    assert memory.consolidate().skipped_reason is None
    assert llm.count("distil") == 3


def test_the_cap_of_a_day_survives_a_restart_and_ends_at_midnight(
    opened: Open, talk: Callable[..., None], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_CALLS_PER_DAY", "2")
    llm = ScriptedLLM(distil={"facts": []})
    memory = opened(llm=llm)
    talk(memory, *(f"line {n}" for n in range(100)))
    assert "cap of 2 model calls a day" in str(memory.consolidate().skipped_reason)
    memory.close()
    again = opened(llm=llm)
    assert "cap of 2 model calls a day" in str(again.consolidate().skipped_reason)
    assert llm.count("distil") == 2
    assert again.cost().total.calls == 2, "a call that was not made costs nothing"
    clock.advance(hours=14.9)
    assert again.consolidate().skipped_reason is not None
    clock.advance(hours=0.2)
    assert again.consolidate().skipped_reason is None
    assert again.cost(clock().replace(hour=0)).total.calls == 2
    other = opened(llm=llm, scope="another")
    talk(other, *LINES)
    assert other.consolidate().skipped_reason is None, "a cap is one scope's"


def test_a_fact_that_is_undecided_because_of_a_cap_waits(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_MONEY_PER_DAY", "0.001")
    monkeypatch.setenv("SLOWWAVE_LLM_PRICES", "scripted=100/100")
    memory = opened(llm=ScriptedLLM(reconcile=NEW))
    memory.add("Alice owns the deploy pipeline")
    assert not memory.add("Alice owns the release pipeline").waiting
    receipt = memory.add("Alice owns the test pipeline")
    assert receipt.waiting == 1
    assert "llm_money_per_day" in receipt.problems[0]


def test_settings_apply_to_the_consolidator_with_its_own_model(
    opened: Open, talk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_CALLS_PER_RUN", "0")
    memory = opened()
    talk(memory, *LINES)
    result = MemoryConsolidator(llm=ScriptedLLM()).consolidate(memory=memory, recent_messages=[])
    assert "a run" in str(result.skipped_reason)


def test_an_estimate_is_a_little_more_than_what_is_sent(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil={"facts": []})
    memory = opened(llm=llm)
    for name in ("c1", "c2"):
        talk(memory, *(f"{place} {line}" for place in range(12) for line in LINES), conversation=name)
    before = memory.estimate()
    one = memory.estimate("c1")
    assert (before.conversations, before.messages, before.chunks, before.calls) == (2, 144, 6, 17)
    assert (one.conversations, one.messages, one.calls) == (1, 72, 8)
    assert not llm.asked
    assert memory.cost().total == FREE
    for name in ("c1", "c2"):
        memory.consolidate(name)
    sent = sum(estimate(asked.text) for asked in llm.asked)
    assert {kind: cost.calls for kind, cost in before.kinds.items()} == {"distil": 6, "repair": 6, "reconcile": 5}
    estimated = before.chunks * PROMPT_TOKENS + before.messages * LINE_TOKENS
    estimated += sum(estimate(f"{place} {line}") for place in range(12) for line in LINES) * 2
    assert len(llm.asked) == before.chunks
    assert sent <= estimated <= 1.25 * sent
    assert before.tokens_in > estimated
    assert memory.estimate().calls == memory.estimate("nobody").calls == 0


def test_an_estimate_is_near_what_consolidating_session_by_session_costs(
    opened: Open, talk: Callable[..., None]
) -> None:
    crafts = ("pottery", "sailing", "chess", "baking", "climbing", "drawing", "fencing", "knitting")

    def distilled(prompt: str) -> dict[str, Any]:
        def said_wrongly(number: str) -> bool:
            return number == "4" and "Refused facts:" not in prompt

        said = re.findall(r"^\[(\d+)\] [^:\n]+: (I practise \w+ with \w+ every \w+)", prompt, re.MULTILINE)
        facts = [
            {
                "text": text.replace("I practise", "The user practises") + (" happily" if said_wrongly(n) else ""),
                "category": "interest",
                "messages": [int(n)],
                "quote": text,
            }
            for n, text in said
        ]
        return {"facts": facts}

    def reviewed(prompt: str) -> dict[str, Any]:
        return {"reviewed": len(re.findall(r"^F\d+ ", prompt, re.MULTILINE)), "changes": []}

    llm = ScriptedLLM(distil=distilled, reconcile=reviewed)
    memory = opened(llm=llm)
    shares = []
    estimated_out = 0
    for week, day in enumerate(("Monday", "Tuesday", "Thursday", "Friday", "Sunday")):
        lines = [
            f"I practise {craft} with {name} every {day}, and it was good fun again although the rain would not stop."
            if place == 0
            else f"That sounds like a fine way to spend the evening, tell me more about number {place} when you can."
            for craft, name in zip(crafts[:5], ("Ann", "Ben", "Cleo", "Dora", "Emil"), strict=True)
            for place in range(3)
        ]
        talk(memory, *lines, first=1 + 15 * week)
        before = memory.estimate()
        estimated_out += before.tokens_out
        asked = len(llm.asked)
        memory.consolidate(force=True)
        shares.append(before.tokens_in / sum(estimate(one.text) for one in llm.asked[asked:]))
    assert len(memory.get_all()) == 25
    assert all(0.85 <= share <= 1.15 for share in shares[1:]), shares  # the first facts are like each other here
    assert memory.cost().total.tokens_out == pytest.approx(estimated_out, rel=0.25)


def test_an_estimate_knows_the_summaries_of_the_next_sleep_pass(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil={"facts": []}, summarise="Nobody said much.")
    memory = opened(llm=llm)
    talk(memory, *(f"line {n} about the weather and the garden" for n in range(140)))
    memory.consolidate(force=True)
    before = memory.estimate()
    assert {kind: cost.calls for kind, cost in before.kinds.items()} == {"summarise": 1}
    memory.sleep()
    assert llm.count("summarise") == 1
    assert before.tokens_in == pytest.approx(estimate(llm.asked[-1].text), rel=0.15)


def test_the_tokens_of_the_estimate_are_those_of_the_prompts() -> None:
    prompt = load("reconcile")
    marks = estimate(prompting.fenced([], "reconcile"))
    assert estimate(prompt.static) + estimate(prompt.question) + marks == pytest.approx(RECONCILE_TOKENS, rel=0.1)
    for name, expected in (("repair", REPAIR_TOKENS), ("cascade", SUMMARY_TOKENS)):
        prompt = load(name)
        whole = estimate(prompt.static) + estimate(prompt.question) + estimate(prompting.fenced([], name))
        assert whole == pytest.approx(expected, rel=0.2)
    assert sum(prompting.ADVICE) / 4 == pytest.approx(ADVICE_TOKENS, rel=0.1)


def test_rules_without_a_model_cost_nothing(opened: Open, talk: Callable[..., None]) -> None:
    memory = opened()
    talk(memory, *LINES)
    assert memory.estimate().calls == 0
    assert "no model is asked" in str(memory.estimate())
    memory.consolidate()
    assert memory.cost().total == FREE


def test_a_sleep_with_a_failing_model_reports_its_cost(opened: Open, talk: Callable[..., None]) -> None:
    memory = opened(llm=ScriptedLLM(distil=DISTILLED, summarise=RuntimeError("model down")))
    talk(memory, *(f"line {n}" for n in range(140)))
    memory.consolidate(force=True)
    report = memory.sleep()
    assert any("model down" in problem for problem in report.problems)
    assert report.cost.calls == 1
    assert memory.cost().causes["sleep/cascade"].calls == 1


def test_an_error_of_the_provider_is_booked_once(opened: Open, talk: Callable[..., None]) -> None:
    with OpenAIServer(fails(401, "wrong key")) as server:
        memory = opened(llm=f"{server.url}#gpt")
        talk(memory, *LINES)
        assert "check the key" in str(memory.consolidate().skipped_reason)
        assert memory.cost().total.calls == 1
