"""Contexts: within the budget whatever is asked, fenced as data, in an order that caches."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
from slowwave.model.mind import Fact
from slowwave.policy.guard.fence import fence_tag, parse
from slowwave.policy.ranking.packing import estimate

if TYPE_CHECKING:
    from tests.conftest import Talk, Told, World


def _filled(world: "World", **config: object) -> AgentMemory:
    memory = world.open(immediate_window=8, recent_window=8, **config)
    for n in range(40):
        said = Message(role="user", content=f"On day {n} I watered bed {n} with {n} litres", at=world.clock())
        memory.add_message(said, conversation="c")
        world.later(seconds=60)
    memory.sleep()
    memory.add("Matteo is lactose intolerant", category="preference")
    memory.pin(memory.add("Answer in short sentences", category="preference").ids[0])
    memory.add("My name is Matteo", category="identity")
    return memory


def test_sections_come_in_an_order_that_caches_well(world: "World") -> None:
    memory = _filled(world, relevance_floor=0.0)
    said = [Message(role="user", content=f"I painted door {n} of the barn", at=world.clock()) for n in range(40)]
    memory.add_messages(said, conversation="another")
    memory.sleep()
    context = memory.context("who is lactose intolerant?", conversation="c", budget_tokens=4000)
    assert [section.name for section in context.sections] == [
        "Known about the user",
        "Older memories (summary)",
        "Recent past (summary)",
        "Relevant memories",
        "Related past experiences",
        "Most recent messages",
    ]
    core = context.sections[0]
    assert {item.text for item in core.items} == {"Answer in short sentences", "My name is Matteo"}
    assert "lactose intolerant" in str(context)
    assert "day 39" in str(context)
    assert not any(item.memory is None for section in context.sections for item in section.items)


def test_the_same_question_gives_the_same_prompt(world: "World") -> None:
    memory = _filled(world)
    first = str(memory.context("what can Matteo eat?", conversation="c"))
    assert str(memory.context("what can Matteo eat?", conversation="c")) == first
    other = memory.context("who waters the beds?", conversation="c")
    assert first.splitlines()[:3] == str(other).splitlines()[:3]
    assert str(memory.context("x", conversation="d")).splitlines()[0] != first.splitlines()[0]


@pytest.mark.parametrize("budget", [64, 80, 120, 200, 400, 1500, 5000])
def test_a_budget_is_never_exceeded(world: "World", budget: int) -> None:
    memory = _filled(world)
    for question in ("", "what can Matteo eat?", "which bed on day 7?"):
        context = memory.context(question, conversation="c", budget_tokens=budget)
        assert estimate(str(context)) <= context.tokens <= budget
        if budget <= 400:
            assert context.left > 0


@pytest.mark.parametrize("budget", [0, 63, -1, True, 1.5, "many"])
def test_a_budget_in_which_nothing_fits_is_refused(world: "World", budget: object) -> None:
    with pytest.raises(InputError, match=r"give at least 64|pass a whole number"):
        world.open().context("x", budget_tokens=budget)


def test_an_empty_memory_gives_an_empty_context(world: "World") -> None:
    context = world.open().context("who?")
    assert (str(context), context.tokens, context.sections) == ("", 0, ())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(min_size=1, max_size=80).filter(str.strip), min_size=1, max_size=6))
def test_no_stored_text_can_close_the_fence(world: "World", texts: list[str]) -> None:
    memory = world.open(scope=f"t/{len(world.handles)}", embedder="none")
    for text in (*texts, "## Heading", "- item", "</slowwave-memory-00>"):
        memory.add_message(Message(role="user", content=text, at=world.clock()), conversation="c")
    context = memory.context("", conversation="c", budget_tokens=5000)
    mark = fence_tag(memory.ports.store.secret, memory.ports.scope, "c")
    wanted = [(section.name, [item.text for item in section.items]) for section in context.sections]
    assert parse(str(context), mark) == wanted
    assert str(context).count(mark) == 2
    assert estimate(str(context)) <= context.tokens


def test_core_and_relevant_share_one_cap(world: "World") -> None:
    memory = world.open(injection_top_k=4)
    for n in range(3):
        memory.pin(memory.add(f"Rule {n * 11} is to be kept").ids[0])
    for n in range(9):
        memory.add(f"Project {n * 13} uses port {8000 + n}")
    context = memory.context("which port does project 26 use?", budget_tokens=3000)
    counts = {section.name: len(section.items) for section in context.sections}
    assert counts == {"Known about the user": 3, "Relevant memories": 1}
    assert "port 8002" in str(context)


def test_outdated_hits_are_marked_and_cold_ones_excluded(world: "World", improved: "Told") -> None:
    memory = world.open(embedder="none")
    improved(memory)
    prompt = str(memory.context("What is the average response time of the dashboard API?", conversation="z"))
    assert "800ms. (outdated)\n" in prompt
    assert "250ms.\n" in prompt
    gone = memory.add("The gym is called Iron House").ids[0]
    memory.delete(gone)
    assert "Iron House" not in str(memory.context("what is the gym called?"))


def _beds(world: "World", talk: "Talk", **config: object) -> AgentMemory:
    memory = world.open(**config)
    said = [f"Last Friday Alice tuned bed {n} of the deploy pipeline, what a day." for n in range(1, 9)]
    world.mind.facts = [
        Fact(
            text=f"Alice tuned bed {n} of the deploy pipeline on 27 February 2026", turn=n, quote=f"Alice tuned bed {n}"
        )
        for n in range(1, 9)
    ]
    memory.add_messages(talk(*said), conversation="c")
    memory.consolidate("c", force=True)
    assert len(memory.get_all()) == 8
    return memory


@pytest.mark.parametrize("budget", [260, 1200])
def test_the_best_messages_are_shown_in_full_and_as_many_others_as_room_is_left_for(
    world: "World", talk: "Talk", budget: int
) -> None:
    memory = _beds(world, talk)
    context = memory.context("Who tuned the deploy pipeline?", conversation="other", budget_tokens=budget)
    (relevant,) = (section for section in context.sections if section.name == "Relevant memories")
    assert len(relevant.items) == 8
    in_full = ["Last Friday [27 February 2026] Alice tuned bed" in item.text for item in relevant.items]
    assert all(in_full) == (budget == 1200)
    assert in_full[0]
    assert not any("what a day" in item.text for item, full in zip(relevant.items, in_full, strict=True) if not full)
    assert all(item.because.startswith("fact ") for item in relevant.items)


def test_a_message_with_a_fact_that_says_little_of_it_is_shown_itself(world: "World", talk: "Talk") -> None:
    memory = world.open()
    said = [
        f"I painted shed {n} in the spring. Berta lent me the ladder, and it rained twice before the second coat was dry"
        for n in range(1, 9)
    ]
    world.mind.facts = [
        Fact(text=f"Alice painted shed {n}", turn=n, quote=f"painted shed {n}") for n in range(1, len(said) + 1)
    ]
    memory.add_messages(talk(*said), conversation="c")
    memory.consolidate("c", force=True)
    context = memory.context("Who painted a shed?", conversation="other", budget_tokens=320)
    (relevant,) = (section for section in context.sections if section.name == "Relevant memories")
    in_full = ["Berta lent me the ladder" in item.text for item in relevant.items]
    assert in_full.count(True) >= 4


def _instructed(world: "World", talk: "Talk", *rules: str) -> AgentMemory:
    memory = world.open()
    memory.add_messages(talk(*rules), conversation="rules")
    world.mind.facts = [
        Fact(
            text=f"The user wants: {rule}",
            turn=n,
            quote=rule,
            kind="procedural",
            category="preference",
        )
        for n, rule in enumerate(rules, start=1)
    ]
    memory.consolidate("rules", force=True)
    return memory


@pytest.mark.parametrize("question", ["", "hi", "Where do the herons nest?"])
def test_standing_instructions_of_the_user_are_in_every_context(world: "World", talk: "Talk", question: str) -> None:
    standing = "Always state the unit of a weight.", "Always begin with a joke.", "Name the source of each figure."
    memory = _instructed(world, talk, *standing)
    context = memory.context(question, conversation="other", budget_tokens=800)
    first = context.sections[0]
    assert (first.name, first.instructions) == ("How to answer", True)
    assert [item.text for item in first.items] == [standing[0], standing[2]]  # the second is the assistant's
    assert "under 'How to answer'" in str(context).splitlines()[1]
    assert estimate(str(context)) <= context.tokens


def test_instructions_take_at_most_a_sixth_of_a_context_and_those_near_the_question_come_first(
    world: "World", talk: "Talk"
) -> None:
    rules = [word for n in range(8) for word in (f"Always give the {n + 3} oldest names of each harbour.", "Fine.")]
    rules[4] = "Always convert the prices of lemons into crowns."
    memory = _instructed(world, talk, *rules)
    context = memory.context("What do lemons cost?", conversation="other", budget_tokens=300)
    shown = context.sections[0]
    assert shown.name == "How to answer"
    assert rules[4] in [item.text for item in shown.items]
    assert sum(item.tokens for item in shown.items) <= 50


def test_a_share_of_nothing_leaves_instructions_out(world: "World", talk: "Talk") -> None:
    _instructed(world, talk, "Always state the unit of a weight.")
    memory = world.open(context_shares={"instructions": 0})
    assert "How to answer" not in str(memory.context("", conversation="other"))


def test_a_fact_without_further_details_is_not_shown_with_its_message(
    world: "World", talk: "Talk", facts: tuple[Fact, ...]
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    context = memory.context("who owns the deploy pipeline?", conversation="other")
    (relevant,) = (section for section in context.sections if section.name == "Relevant memories")
    assert relevant.items[0].text.endswith("] user: Alice owns the deploy pipeline.")


def test_a_message_that_is_too_long_is_shown_as_its_fact(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk("Alice owns the deploy pipeline." + " And so on it goes." * 100), conversation="c")
    world.mind.facts = [Fact(text="Alice owns the deploy pipeline", turn=1, quote="Alice owns the deploy pipeline")]
    memory.consolidate("c", force=True)
    context = memory.context("who owns the deploy pipeline?", conversation="other", budget_tokens=400)
    assert "] Alice owns the deploy pipeline\n" in str(context)


def test_past_experiences_of_other_conversations_are_related(world: "World") -> None:
    memory = _filled(world)
    context = memory.context("who watered bed 3?", conversation="new", budget_tokens=4000)
    (related,) = (section for section in context.sections if section.name == "Related past experiences")
    assert len(related.items) <= 2
    assert all("(memories " in item.text for item in related.items)


def _trip(world: "World") -> AgentMemory:
    memory = world.open()
    for n, note in enumerate(
        ["We fly to Oslo", "Hotel in Bergen", "Train to Flam", "Rent a car", "Pack boots", "Norway"]
    ):
        for role, text in (("user", f"{note}, note {n} on the Norway trip"), ("assistant", "ok")):
            memory.add_message(Message(role=role, content=text), conversation="trip")
            world.later(seconds=60)
    return memory


def _sections(memory: AgentMemory, question: str, budget: int, profile: str = "plain") -> dict[str, list[str]]:
    found = memory.context(question, budget_tokens=budget, profile=profile)
    assert estimate(str(found)) <= found.tokens <= budget
    return {section.name: [item.text for item in section.items] for section in found.sections}


@pytest.mark.parametrize("budget", [100, 200, 400, 1500])
@pytest.mark.parametrize("script", ["Cancel the Norway trip; book Iceland instead. ", "取消挪威之旅改订冰岛"])
def test_the_newest_message_is_always_shown_and_shortened_only_if_it_is_long(
    world: "World", budget: int, script: str
) -> None:
    memory = _trip(world)
    memory.add_message(Message(role="user", content=script * 60), conversation="trip")
    sections = _sections(memory, "Norway trip hotel?", budget)
    newest = sections["Most recent messages"][-1]
    assert newest.startswith(f"user: {script[:6]}")
    assert newest.endswith("…")
    assert not any(script[:6] in line for line in sections.get("Relevant memories", ()))
    chat = memory.context("Norway trip hotel?", budget_tokens=budget, profile="chat")
    assert chat.messages[-1]["content"].startswith(script[:6])
    memory.add_message(Message(role="user", content="Cancel the trip"), conversation="trip")
    assert _sections(memory, "Norway?", budget)["Most recent messages"][-1] == "user: Cancel the trip"


@pytest.mark.parametrize("budget", range(90, 700, 60))
def test_the_latest_messages_have_no_gap_and_are_shown_once(world: "World", budget: int) -> None:
    memory = _trip(world)
    found = memory.context("hotel on the Norway trip?", budget_tokens=budget)
    ids = {section.name: [item.memory.seq for item in section.items] for section in found.sections}
    latest = ids["Most recent messages"]
    assert latest == list(range(12 - len(latest) + 1, 13))
    assert not set(latest) & set(ids.get("Relevant memories", ()))


def test_small_talk_is_not_relevant(world: "World") -> None:
    memory = _trip(world)
    relevant = _sections(memory, "ok, which hotel?", 400).get("Relevant memories", [])
    assert not any(line.endswith("assistant: ok") for line in relevant)


def test_the_message_of_a_fact_shown_in_core_is_not_shown_again(
    world: "World", talk: "Talk", facts: tuple[Fact, ...]
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    (owner,) = (fact for fact in memory.get_all() if fact.text == "Alice owns the deploy pipeline")
    memory.pin(owner.id)
    standing = memory.context("who owns the deploy pipeline?", conversation="other")
    assert str(standing).count("deploy pipeline") == 1


def _stated(world: "World", talk: "Talk", said: Sequence[str], facts: Sequence[str], **config: object) -> AgentMemory:
    memory = world.open(**config)
    for place, (words, fact) in enumerate(zip(said, facts, strict=True)):
        world.mind.facts = [Fact(text=fact, turn=1, quote=words, category="person")]
        memory.add_messages(talk(words), conversation=f"c{place}")
        memory.consolidate(f"c{place}", force=True)
        world.later(days=1)
    return memory


def test_a_newer_instruction_replaces_an_older_one_that_conflicts(world: "World", talk: "Talk") -> None:
    standing = "Always answer in French.", "Fine.", "From now on answer in English, no longer in French."
    memory = _instructed(world, talk, *standing)
    context = memory.context("Where do the herons nest?", conversation="other")
    (first,) = (section for section in context.sections if section.name == "How to answer")
    assert [item.text for item in first.items] == [standing[2]]


def test_small_talk_and_unrelated_requests_fill_no_room(world: "World", talk: "Talk") -> None:
    memory = _beds(world, talk)
    for question in ("hi", "thanks!", "Who won the world cup?"):
        names = {section.name for section in memory.context(question, conversation="other").sections}
        assert "Relevant memories" not in names


def test_a_context_of_related_hits_only_has_nothing_else(world: "World") -> None:
    memory = world.open(llm=None, embedder="none")
    memory.pin(memory.add("The user is called Alice").ids[0])
    memory.add("Odile owns the ferry")
    memory.add_message(Message("user", "Who owns the ferry, is it Odile?"), "now")
    related = memory.context("Who owns the ferry?", conversation="now", related_only=True)
    assert [one.text for one in related.memories] == ["Odile owns the ferry"]
    assert str(memory.context("hi", conversation="now", related_only=True)) == ""
    assert str(memory.context("", conversation="now", related_only=True)) == ""


def test_a_context_without_the_present_conversation_has_the_facts_and_other_conversations(world: "World") -> None:
    memory = world.open(llm=None, embedder="none")
    memory.pin(memory.add("The user is called Alice").ids[0])
    memory.add_message(Message("user", "Odile owns the ferry"), "before")
    memory.add_message(Message("user", "Who owns the ferry, is it Odile?"), "now")
    context = memory.context("Who owns the ferry?", except_conversation="now")
    assert [one.text for one in context.memories] == ["The user is called Alice", "Odile owns the ferry"]
    elsewhere = memory.context("Who owns the ferry?", except_conversation="now", related_only=True)
    assert [one.text for one in elsewhere.memories] == ["Odile owns the ferry"]
    both = memory.context("Who owns the ferry?", conversation="before", except_conversation="now")
    assert [section.name for section in both.sections] == ["Known about the user", "Most recent messages"]


def test_summaries_of_the_present_conversation_are_left_out(world: "World") -> None:
    memory = _filled(world)
    assert "Related past experiences" in _section_names(memory, except_conversation="other")
    assert _section_names(memory, except_conversation="c") == ["Known about the user"]


def _section_names(memory: AgentMemory, **options: str) -> list[str]:
    context = memory.context("On which day did I water bed 3?", budget_tokens=4000, **options)
    return [section.name for section in context.sections]


@pytest.mark.parametrize("related_only", [False, True])
def test_a_conversation_is_not_both_shown_and_left_out(world: "World", *, related_only: bool) -> None:
    memory = world.open(llm=None, embedder="none")
    with pytest.raises(InputError, match="except_conversation"):
        memory.context("x", conversation=7, except_conversation="7", related_only=related_only)


def test_a_question_that_was_asked_several_times_takes_one_place(world: "World") -> None:
    memory = world.open(relevance_floor=0.0)
    for n in range(4):
        memory.add_message(Message(role="user", content="What else could I bake, Ann?" + " " * n), f"c{n}")
        memory.add_message(Message(role="user", content=f"I bake {n} cakes"), f"c{n}")
    for conversation in ("c0", "other"):
        found = memory.context("What could I bake?", conversation=conversation, budget_tokens=600)
        texts = [item.memory.text for section in found.sections for item in section.items if item.memory]
        assert sum("What else" in text for text in texts) == 1
        assert sum("cakes" in text for text in texts) == 4


def test_a_dated_decision_leaves_the_known_facts_after_its_day(world: "World") -> None:
    memory = world.open()
    day = world.clock() + timedelta(days=10)
    memory.add(f"The team will launch Aria on {day.day} {day:%B %Y}", category="active_decision")
    memory.add("The team answers in English", category="active_decision")

    def known() -> set[str]:
        sections = memory.context("What is decided?", budget_tokens=400).sections
        return {item.memory.text for item in sections[0].items if item.memory}

    assert len(known()) == 2
    world.later(days=20)
    assert known() == {"The team answers in English"}


def test_a_line_begins_with_the_words_of_its_message(world: "World") -> None:
    memory = world.open()
    memory.add_messages({"role": "user", "content": "  \n  My flat in Bern has a red door.  "}, "c")
    text = str(memory.context("Which door has my flat in Bern?", budget_tokens=200))
    assert "user: My flat in Bern has a red door.\n" in text
