"""Elementary questions, replaced messages and other languages, asked of a memory."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

from slowwave import Message
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.query import Hit
from slowwave.pipelines.recall.replaced import replaced_hits

if TYPE_CHECKING:
    from tests.conftest import World


def _said(world: "World", *texts: str) -> None:
    memory = world.open()
    for number, text in enumerate(texts):
        memory.add_message(
            Message(role="user", content=text, at=world.clock.now - timedelta(days=30 - number)), f"c{number}"
        )


def test_the_newest_statement_of_a_slot_comes_first_and_the_older_is_marked(world: "World") -> None:
    _said(world, "I live in Graz", "My cat lives in the fridge now, I swear", "We moved to Linz in May")
    hits = world.open().search("Where do I live?")
    assert [hit.text for hit in hits[:2]] == ["We moved to Linz in May", "I live in Graz"]
    assert [hit.stale for hit in hits[:2]] == [False, True]
    assert hits[0].relevance > hits[1].relevance


def test_a_thing_that_works_now_is_no_job(world: "World") -> None:
    _said(world, "I have worked at Studio North since 2019.", "My query fails", "thanks, works now")
    first = world.open().search("where do I work")[0]
    assert (first.text, first.stale) == ("I have worked at Studio North since 2019.", False)


def test_a_role_play_and_a_story_state_nothing_about_the_user(world: "World") -> None:
    play = "Let's roleplay: you are a recruiter. I'm Batman, and I live in Gotham."
    _said(
        world,
        "I'm Batu, hello. I live in Linz.",
        play,
        "Write a story. I am a dragon. I live in Rome. My name is Smaug.",
    )
    for question in ("what is my name", "where do I live"):
        first, *others = world.open().search(question)
        assert first.text == "I'm Batu, hello. I live in Linz."
        assert (first.stale, first.relevance) == (False, 0.8)
        assert max(hit.relevance for hit in others) < 0.5


def test_what_must_be_avoided_is_found_without_a_word_of_the_question_and_nothing_outdates_it(world: "World") -> None:
    _said(
        world, "I'm allergic to walnuts", "I bought blue shoes", "I never eat liver", "The food market opens on Monday"
    )
    hits = world.open().search("Is there any food that I must avoid?")
    assert {hit.text for hit in hits[:2]} == {"I'm allergic to walnuts", "I never eat liver"}
    assert [hit.stale for hit in hits[:2]] == [False, False]
    assert min(hit.relevance for hit in hits[:2]) > max(hit.relevance for hit in hits[2:])


def test_a_question_in_another_language_finds_another_ending_of_a_word(world: "World") -> None:
    _said(world, "Kupiłem nowe buty", "Byłem u siostry w Gdyni", "Pada deszcz")
    hits = world.open(embedder="none").search("Gdzie mieszka moja siostra?")
    assert hits[0].text == "Byłem u siostry w Gdyni"
    assert hits[0].parts["spelling"] > 0


def test_a_message_is_outdated_as_its_replaced_facts_are_and_perhaps_if_it_says_more(world: "World") -> None:
    memory = world.open()
    at = world.clock.now - timedelta(days=9)
    old, new = (
        Memory(
            id=name, scope=memory.scope, kind="semantic", text=text, recorded_at=at, valid_from=at,
            sources=(SourceRef(memory=source, ref=source),), superseded_by=successor,
            phase="superseded" if successor else "active", reason="replaced" if successor else None,
        )
        for name, text, source, successor in (
            ("old", "The user lives in Graz", "m1", "new"), ("new", "The user lives in Linz", "m2", None),
        )
    )  # fmt: skip
    known = {"old": old, "new": new}
    ports = SimpleNamespace(
        scopes=(memory.scope,), store=SimpleNamespace(get=lambda _, ids: [known[i] for i in ids if i in known])
    )
    statement = "I live in Graz"
    for text, certain in ((statement, True), (f"{statement}. " + "My dog likes the park and the river. " * 3, False)):
        first, second = (
            Hit(memory=replace(old, id=name, kind="message", text=said, sources=(), superseded_by=None), score=1.0)
            for name, said in (("m1", text), ("m2", "I live in Linz"))
        )
        (pair,) = replaced_hits(ports, "where do I live", [first, second], {"m1": ("old",)})
        assert (pair.newer, pair.older, pair.certain) == (1, 0, certain)
        assert pair.new_value == new.text
    about_the_dog = replaced_hits(ports, "does my dog like the river", [first, second], {"m1": ("old",)})
    assert about_the_dog == []  # the home that was replaced is not what is asked for


def test_a_marked_message_shows_only_those_facts_that_say_what_is_outdated(world: "World") -> None:
    _said(world, "My favourite band is Lankum. I work at Fairphone as a buyer.", "I now work at Volvo as a buyer.")
    memory = world.open(llm=None)
    memory.consolidate_all(force=True)
    (old,) = [hit for hit in memory.search("Where do I work?") if "Fairphone" in hit.text]
    assert old.stale
    assert not any("Lankum" in fact.text for fact in old.facts)


def test_a_fact_that_a_person_corrected_is_newer_than_the_message_it_rested_on(world: "World") -> None:
    _said(world, "My sister Nora lives in Bergen.")
    memory = world.open(llm=None)
    memory.consolidate_all(force=True)
    (fact,) = memory.get_all()
    world.later(days=1)
    memory.update(fact.id, "The user's sister Nora lives in Oslo")
    first, second = memory.search("Where does my sister live?")[:2]
    assert (first.memory.id, first.stale) == (fact.id, False)
    assert (second.memory.kind, second.stale) == ("message", True)
    assert memory.get(fact.id).valid_from == world.clock()


def test_a_correction_of_an_event_keeps_its_day(world: "World") -> None:
    _said(world, "I met Bob in Porto yesterday.")
    memory = world.open(llm=None)
    memory.consolidate_all(force=True)
    (before,) = memory.get_all()
    assert before.kind == "episodic"
    world.later(days=30)
    memory.update(before.id, "The user met Carla in Lisbon")
    after = memory.get(before.id)
    assert (after.sources, after.valid_from) == ((), before.valid_from)
