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
    memory = _filled(world)
    said = [Message(role="user", content=f"I painted door {n} of the barn", at=world.clock()) for n in range(40)]
    memory.add_messages(said, conversation="another")
    memory.sleep()
    context = memory.context(
        "who is lactose intolerant, and which bed has 3 litres?", conversation="c", budget_tokens=4000
    )
    assert [section.name for section in context.sections] == [
        "Known about the user",
        "Facts",
        "Said",
        "Summaries",
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
    for text in (*texts, "## Heading", "- item", "</memory-00>"):
        memory.add_message(Message(role="user", content=text, at=world.clock()), conversation="c")
    context = memory.context("", conversation="c", budget_tokens=5000)
    mark = fence_tag(memory.ports.store.secret, memory.ports.scope, "c")
    wanted = [(section.name, [item.text for item in section.items]) for section in context.sections]
    assert parse(str(context), mark) == wanted
    assert str(context).count(mark) == 2
    assert estimate(str(context)) <= context.tokens


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
    assert "except 'How to answer'" in str(context).splitlines()[1]
    assert estimate(str(context)) <= context.tokens


def test_a_share_of_nothing_leaves_instructions_out(world: "World", talk: "Talk") -> None:
    _instructed(world, talk, "Always state the unit of a weight.")
    memory = world.open(context_shares={"instructions": 0})
    assert "How to answer" not in str(memory.context("", conversation="other"))


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


def test_small_talk_is_not_relevant(world: "World") -> None:
    memory = _trip(world)
    said = _sections(memory, "ok, which hotel?", 400)["Said"]
    assert said
    assert not any(line.endswith("] ok") for line in said)


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
        assert names.isdisjoint({"Facts", "Said"})


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
    assert [section.name for section in both.sections] == ["Known about the user", "Said"]


def test_summaries_of_the_present_conversation_are_left_out(world: "World") -> None:
    memory = _filled(world)
    assert "Summaries" in _section_names(memory, except_conversation="other")
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
    memory = world.open()
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


def test_facts_take_up_to_half_of_the_room_and_messages_the_rest(world: "World", talk: "Talk") -> None:
    memory = _beds(world, talk)
    for n in range(60):
        memory.add(
            f"The deploy pipeline has the sturdy gate number {n * 7} of the old harbour yard", category="project"
        )
    context = memory.context("Who tuned the deploy pipeline?", conversation="other", budget_tokens=600)
    assert [section.name for section in context.sections] == ["Facts", "Said"]
    assert len(context.sections[1].items) == 8
    assert 500 < context.tokens <= 600


def test_a_message_that_its_shown_fact_says_whole_is_left_out_and_a_fact_that_its_message_says_is_no_line(
    world: "World", talk: "Talk"
) -> None:
    memory = world.open()
    said = talk("Alice owns the red deploy pipeline.", "Fine.", "It was built by us in the autumn.")
    world.mind.facts = [
        Fact(text="Alice owns the red deploy pipeline", turn=1, quote="Alice owns the red deploy pipeline"),
        Fact(
            text="The deploy pipeline was built in the autumn",
            turn=3,
            turns=(3, 1),
            quote="It was built by us in the autumn",
        ),
    ]
    memory.add_messages(said, conversation="c")
    memory.consolidate("c", force=True)
    context = memory.context("Who owns the deploy pipeline, and when was it built?", conversation="other")
    lines = {section.name: [item.memory.text for item in section.items if item.memory] for section in context.sections}
    assert lines["Facts"] == ["The deploy pipeline was built in the autumn"]
    assert lines["Said"][0] == "Alice owns the red deploy pipeline."
    memory.pin(next(fact.id for fact in memory.get_all() if "red" in fact.text))
    pinned = memory.context("Who owns the deploy pipeline?", conversation="other")
    assert str(pinned).count("the red deploy pipeline") == 2  # known about the user, and what was said


def test_a_long_message_is_cut_at_a_sentence_from_the_first_word_of_the_question_on(world: "World") -> None:
    memory = world.open()
    rest = "And so it goes on every day. " * 60
    memory.add_messages({"role": "user", "content": f"{rest}Alice owns the ferry. {rest}"}, "c")
    world.later(days=1)
    context = memory.context("Who owns the ferry?", budget_tokens=200)
    (line,) = (item.text for section in context.sections for item in section.items)
    assert "user: … Alice owns the ferry. And so it goes on every day." in line
    assert line.endswith("every day. …")
    assert context.tokens <= 200


@pytest.mark.parametrize("budget", [100, 200, 400, 1500])
@pytest.mark.parametrize("script", ["Cancel the Norway trip; book Iceland instead. ", "取消挪威之旅改订冰岛"])
def test_a_newest_message_that_is_too_long_is_left_out_whole_and_the_budget_holds(
    world: "World", budget: int, script: str
) -> None:
    memory = _trip(world)
    memory.add_message(Message(role="user", content=script * 60), conversation="trip")
    shown = _sections(memory, "Norway trip hotel?", budget)
    assert not any(script * 60 in line for lines in shown.values() for line in lines)
    memory.add_message(Message(role="user", content="Cancel the trip"), conversation="trip")
    assert _sections(memory, "", budget)["Latest messages"][-1] == "user: Cancel the trip"


def test_the_latest_messages_are_shown_if_the_conversation_is_named_or_goes_on(world: "World") -> None:
    memory = _trip(world)
    question = "Who built the lighthouse?"
    assert list(_sections(memory, question, 800)) == ["Latest messages"]
    world.later(hours=2)
    assert _sections(memory, question, 800) == {}
    named = memory.context(question, conversation="trip", budget_tokens=800)
    latest = [item.memory.seq for item in named.sections[0].items if item.memory]
    assert latest == list(range(latest[0], 13))


@pytest.mark.parametrize("budget", range(90, 700, 60))
def test_each_message_is_shown_once(world: "World", budget: int) -> None:
    memory = _trip(world)
    found = memory.context("hotel on the Norway trip?", budget_tokens=budget)
    shown = [item.memory.seq for section in found.sections for item in section.items if item.memory]
    assert len(shown) == len(set(shown)) > 0


def test_instructions_that_do_not_all_fit_are_those_near_the_question(world: "World", talk: "Talk") -> None:
    rules = [word for n in range(8) for word in (f"Always give the {n + 3} oldest names of each harbour.", "Fine.")]
    rules[4] = "Always convert the prices of lemons into crowns."
    memory = _instructed(world, talk, *rules)
    context = memory.context("What do lemons cost?", conversation="other", budget_tokens=200)
    first = context.sections[0]
    assert first.name == "How to answer"
    assert rules[4] in [item.text for item in first.items]
    assert 0 < sum(item.tokens for item in first.items) <= 50


def test_the_frame_costs_at_most_thirty_tokens(world: "World", talk: "Talk") -> None:
    memory = _instructed(world, talk, "Always state the unit of a weight.")
    memory.add("The herons nest on the old pier")
    text = str(memory.context("Where do the herons nest?", conversation="other", budget_tokens=300))
    frame = [line for line in text.splitlines() if not line.startswith("- ")]
    assert len(frame) == 5
    assert estimate("\n".join(frame)) <= 30
