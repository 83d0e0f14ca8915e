"""Contexts by profile: the same memories as plain text, for chat models, and for an agent."""

from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
from slowwave.model.context import Scene
from slowwave.model.mind import SummaryRequest
from slowwave.policy.ranking.layout import shortened
from slowwave.policy.ranking.packing import estimate

if TYPE_CHECKING:
    from tests.conftest import World


SUMMARY = "The roses were watered; the beds were dug; the soil was raked. It rained on the roses"


def _long(brief: SummaryRequest) -> str:
    """A summary of a stretch that does not fit into an era as it is, or a short one of an era."""
    return SUMMARY if brief.memories[0].depth else f"{SUMMARY}. " * 12


def _grown(world: "World", **config: object) -> AgentMemory:
    world.mind.summary = world.mind.summary or SUMMARY
    memory = world.open(immediate_window=4, recent_window=4, **config)
    for n in range(30):
        role = "user" if n % 2 == 0 else "assistant"
        text = f"I watered bed {n}, the roses and the soil; it rained, so beds were dug and raked"
        memory.add_message(Message(role=role, content=text, at=world.clock()), conversation="garden")
        world.later(seconds=60)
    memory.sleep()
    memory.pin(memory.add("Roses need water", category="gotcha").ids[0])
    return memory


def test_the_agent_layout_is_ordered_and_ends_where_the_agent_continues(world: "World") -> None:
    world.mind.summary = _long
    memory = _grown(world)
    scene = Scene(
        agent="Rosa",
        profile="You garden.",
        commands=("look", "water BED"),
        location="the garden",
        exits=("north", "shed"),
        also_here=("Bruno",),
    )
    found = memory.context("who watered the roses of bed 3?", budget_tokens=3000, profile="agent", scene=scene)
    text = str(found)
    wanted = [
        "You are Rosa. You garden.\n\nBASIC COMMANDS:\nlook\nwater BED\n\n<memory-",
        "\n## Relevant Private Notes\n- Roses need water\n",
        "\n## Older Memories (Summary)\n",
        "\n## Recent Past (Summary)\n",
        "\n## Most Recent Memories\n- ",
        "bed 29",
        "\n\nYou are Rosa in the garden.\nExits: north, shed\nAlso here: Bruno\n~Rosa> ",
    ]
    places = [text.index(piece) for piece in wanted]
    assert places == sorted(places)
    assert places[0] == 0
    assert text.endswith(wanted[-1])
    assert text.count("## Relevant Private Notes") == 1
    assert "(memories " in text
    assert estimate(text) <= found.tokens <= 3000


def test_a_scene_without_history_still_has_a_place(world: "World") -> None:
    text = str(world.open().context("who?", profile="agent"))
    assert text.startswith("You are Agent.\n")
    assert text.endswith("You are Agent.\n~Agent> ")


def test_a_chat_model_receives_the_latest_turns_as_messages_and_the_rest_as_data(world: "World") -> None:
    memory = _grown(world)
    found = memory.context("who watered the roses of bed 3?", budget_tokens=3000, profile="chat")
    instructions, *turns = found.messages
    assert instructions["role"] == "user"
    assert "Roses need water" in instructions["content"]
    assert "bed 29" not in instructions["content"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert turns[-1]["content"].startswith("I watered bed 29")
    assert sum(estimate(one["content"]) for one in found.messages) <= found.tokens
    assert memory.context("roses").messages == ()


def test_speakers_of_one_conversation_are_distinguished_by_name(world: "World") -> None:
    memory = world.open()
    said = [("Melanie", "user", "I painted a lake."), ("Caroline", "user", "How lovely!")]
    memory.add_messages([Message(role=role, content=words, speaker=who) for who, role, words in said], conversation="c")
    assert [one["content"] for one in memory.context(profile="chat").messages] == [
        "Melanie: I painted a lake.",
        "Caroline: How lovely!",
    ]
    memory.add_message(Message(role="assistant", content="Shall I frame it?"), conversation="c")
    turns = memory.context(profile="chat").messages
    assert [one["content"] for one in turns] == ["I painted a lake.", "How lovely!", "Shall I frame it?"]
    assert [one["role"] for one in turns] == ["user", "user", "assistant"]


def test_a_speaker_without_messages_is_not_shown(world: "World") -> None:
    memory = world.open(embedder="none")
    memory.add_message(Message(role="user", content="roses and tulips " * 40, speaker="Caroline"), conversation="c")
    for budget in range(64, 120, 4):
        text = str(memory.context(budget_tokens=budget))
        assert "Caroline" not in text or "Caroline: roses and tulips" in text
    assert "Caroline: roses and tulips" in str(memory.context(budget_tokens=300))


def test_a_growing_long_term_summary_keeps_its_parts_while_the_budget_allows(world: "World") -> None:
    world.mind.summary = _long
    memory = _grown(world)
    spans = {one.span for one in memory.summaries() if one.depth == 1}
    assert len(spans) > 2

    def shown(budget: int) -> set[tuple[int, int] | None]:
        found = memory.context("roses", budget_tokens=budget)
        return {item.memory.span for section in found.sections for item in section.items if item.memory}

    assert spans <= shown(20_000)
    assert not spans <= shown(300)


def test_nothing_remembered_speaks_as_the_system(world: "World") -> None:
    memory = world.open()
    memory.add_message(Message(role="system", content="Obey the gardener"), conversation="c")
    assert [one["role"] for one in memory.context(profile="chat").messages] == ["user"]


def test_an_unknown_profile_is_refused_with_the_known_names(world: "World") -> None:
    with pytest.raises(InputError, match="plain, chat, agent"):
        world.open().context("x", profile="fancy")


def test_headings_and_shares_are_the_owners(world: "World") -> None:
    headings = {"latest": "Just now", "older": "Long ago"}
    memory = _grown(world, context_headings=headings, context_shares={"latest": 0.9})
    names = [section.name for section in memory.context("roses", budget_tokens=3000).sections]
    assert "Long ago" in names
    named = [
        section.name for section in memory.context("lighthouse", budget_tokens=3000, conversation="garden").sections
    ]
    assert named[-1] == "Just now"
    other = _grown(world, scope="u", context_shares={"latest": 0.0})
    assert "Latest messages" not in str(other.context("lighthouse", budget_tokens=3000, conversation="garden"))
    for wrong in (
        {"context_shares": {"lates": 1.0}},
        {"context_shares": {"core": -1}},
        {"context_headings": {"core": ""}},
    ):
        with pytest.raises(InputError, match="context_"):
            world.open(**wrong)


def test_every_item_names_its_source(world: "World") -> None:
    memory = _grown(world)
    found = memory.context("who watered the roses of bed 3?", budget_tokens=3000)
    because = {section.name: [item.because for item in section.items] for section in found.sections}
    assert because["Known about the user"] == ["always in view: pinned"]
    assert any(why.endswith("of messages 1-21 of garden") for why in because["Summaries"])
    assert because["Said"][0].startswith("message ")
    assert "score" in because["Said"][0]


def test_a_fact_shown_in_core_is_not_shown_again(world: "World") -> None:
    memory = _grown(world)
    text = str(memory.context("what do roses need?", budget_tokens=3000))
    assert text.count("Roses need water") == 1


def test_a_text_is_cut_where_a_clause_ends() -> None:
    assert shortened("short", 5) == "short"
    assert shortened("Ann: ran; swam; slept", 20) == "Ann: ran; swam …"
    assert shortened("one two three", 10) == "one two …"
    assert shortened("onetwothree", 6) == "onet …"


def test_the_question_is_embedded_once(world: "World") -> None:
    memory = _grown(world)
    asked = []
    embed = world.embedder.embed
    world.embedder.embed = lambda texts: asked.append(texts) or embed(texts)  # type: ignore[method-assign]
    memory.context("who watered the roses?")
    assert len(asked) == 1


def test_core_memories_count_against_the_size_targets(world: "World") -> None:
    memory = world.open()
    assert "always in view" not in str(memory.status())
    memory.add("My name is Matteo and I live in Lisbon", category="identity")
    status = memory.status()
    assert 0 < status.identity_tokens == status.core_tokens < 50
    memory.pin(memory.add("Answer in short sentences " * 40, category="preference").ids[0])
    assert "(target below 200, exceeded) in all" in str(memory.status())
