from collections.abc import Callable

from slowwave import AgentMemory, Message, SleepReport
from slowwave.model.memory import Memory
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]
TALK = (
    (
        "Ann",
        "Hey Bob! I adopted a greyhound called Biscuit last Tuesday, and we went straight to the beach in Cascais.",
    ),
    (
        "Bob",
        "Wow, that is great! Well, you know, things are fine here. My sister Clara sold her bakery in Porto for $90,000.",
    ),
    (
        "Ann",
        "Oh nice! So, anyway, it is late. Did she keep the old sourdough starter, or did she give it to the new owners?",
    ),
    ("Bob", "Haha, she kept it of course! The starter is forty years old, and it lives in a jar on her balcony now."),
    ("Ann", "Okay, good. Yeah, sure. Great."),
)


def talked(memory: AgentMemory, clock: FrozenClock, times: int = 1) -> list[Memory]:
    for number in range(times):
        clock.advance(days=1)
        messages = [
            Message(role="user" if who == "Ann" else "assistant", speaker=who, content=text, at=clock(), id=str(n))
            for n, (who, text) in enumerate(TALK)
        ]
        memory.add_messages(messages, conversation=f"c{number}")
    clock.advance(days=1)  # nobody is talking any more
    return memory.get_all(kinds=["message"])


def words(memory: AgentMemory) -> int:
    return sum(len(one.visible_text.split()) for one in (*memory.get_all(kinds=["message"]), *memory.get_all()))


def unread_night(memory: AgentMemory) -> SleepReport:
    """A sleep pass that reads no message: the facts of these messages would count against the same target."""
    return memory.sleep(think=False)


def test_facts_over_their_number_go_weakest_first_and_protected_ones_never(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_facts_max=3)
    (identity,) = memory.add("Alice is left-handed", category="identity").ids
    (pinned,) = memory.add("The red server hums").ids
    memory.pin(pinned)
    rest = []
    for text in ("Rome has trams", "Oslo has ferries", "Kyiv has domes", "Lima has fog"):
        clock.advance(days=1)
        rest += memory.add(text).ids
    memory.sleep()
    assert {one.id for one in memory.get_all()} == {identity, pinned, rest[-1]}
    assert {memory.get(one).reason for one in rest[:-1]} == {"budget"}


def test_protected_memories_stay_even_if_the_target_is_missed(opened: Opened) -> None:
    memory = opened(hot_facts_max=0)
    (identity,) = memory.add("Alice is left-handed", category="identity").ids
    memory.add("Rome has trams")
    memory.sleep()
    assert [one.id for one in memory.get_all()] == [identity]


def test_a_category_keeps_to_its_tokens_and_leaves_others_alone(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(category_tokens_max={"project": 12})
    old, new = [], []
    for text in ("The mill uses port 8080", "The barn uses port 9090", "The dam uses port 7070"):
        clock.advance(days=1)
        new += memory.add(text, category="project").ids
        old += memory.add(text.replace("uses", "was built beside"), category="finding").ids
    memory.sleep()
    hot = {one.id for one in memory.get_all()}
    assert new[-1] in hot
    assert new[0] not in hot
    assert set(old) <= hot


def test_messages_over_the_limit_are_archived_by_importance(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_messages_max=3)
    messages = talked(memory, clock)
    unread_night(memory)
    cold = {one.text for one in messages} - {one.text for one in memory.get_all(kinds=["message"])}
    assert len(cold) == 2
    assert TALK[4][1] in cold
    assert TALK[0][1] not in cold


def test_a_message_that_was_just_used_stays_whatever_its_importance(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_messages_max=3)
    messages = talked(memory, clock)
    for late in (messages[4], messages[2]):
        memory.record_retrieval([late])
        clock.advance(hours=1)
    unread_night(memory)
    left = {one.text for one in memory.get_all(kinds=["message"])}
    assert len(left) == 3
    assert TALK[2][1] in left, "the one used last"
    assert TALK[4][1] not in left, "a twentieth of the limit, one at least"


def test_a_message_used_days_ago_is_archived_by_its_importance(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_messages_max=3)
    messages = talked(memory, clock)
    memory.record_retrieval([messages[4]])
    clock.advance(days=1)
    memory.sleep()
    assert TALK[4][1] not in {one.text for one in memory.get_all(kinds=["message"])}


def test_an_answer_keeps_the_importance_of_its_question_even_when_that_is_cold(
    opened: Opened, clock: FrozenClock
) -> None:
    memory = opened(hot_messages_max=2)
    asked = [
        Message(role="user", speaker=who, content=text, at=clock(), id=str(number))
        for number, (who, text) in enumerate(
            [
                ("Ann", "Morning."),
                ("Bob", "I heard. Does Clara play the saxophone?"),
                ("Ann", "Yes, she does."),
                ("Ann", "Yes, she did."),
            ]
        )
    ]
    memory.add_messages(asked, conversation="a")
    for night in range(2):
        memory.add_messages([Message(role="user", speaker="Bob", content="Okay.", at=clock())], conversation=str(night))
        clock.advance(days=2)
        memory.sleep()
        assert {one.ref for one in memory.get_all(kinds=["message"])} == {"1", "2"}
    memory.sleep()


def test_explain_lists_the_reasons_of_an_archived_message(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_messages_max=1)
    gone = next(one for one in talked(memory, clock) if one.text == TALK[3][1])
    memory.sleep()
    because = str(memory.explain(gone.id))
    assert "its words tell little" in because
    assert "time +0.40" in because


def test_wording_fades_clause_by_clause_and_the_message_stays_whole_in_the_cold(
    opened: Opened, clock: FrozenClock
) -> None:
    memory = opened(embedder="static", hot_words_max=30)
    messages = talked(memory, clock)
    questions = ("What is the greyhound called?", "How old is the sourdough starter?", "Who sold a bakery in Porto?")
    before = [[(hit.memory.id, hit.score) for hit in memory.search(question, deep=True)] for question in questions]
    assert before == [[(hit.memory.id, hit.score) for hit in memory.search(question)] for question in questions]
    report = unread_night(memory)
    assert words(memory) <= 30
    stated_reason = next(
        one.because for one in report.plan.operations if "Biscuit" in getattr(one, "after", messages[0]).text
    )
    kept = len(next(one for one in memory.get_all(kinds=["message"]) if "Biscuit" in one.text).visible_text.split())
    assert stated_reason == f"more than 30 hot words: shortened to {kept} of its 19 words"
    assert {memory.get(one.id).text for one in messages} == {one.text for one in messages}
    assert before == [
        [(hit.memory.id, hit.score) for hit in memory.search(question, deep=True)] for question in questions
    ]
    (hit, *_) = memory.search(questions[0])
    assert "Biscuit" in hit.text
    assert hit.text != hit.memory.text == TALK[0][1]
    assert memory.search(questions[0], deep=True)[0].text == TALK[0][1]
    assert "Biscuit" in str(memory.context(questions[0]))
    assert "adopted a greyhound" not in str(memory.context("greyhound", budget_tokens=400))
    assert memory.doctor(deep=True) == []
    run = next(receipt for receipt in report.receipts if receipt.cause == "sleep/fade")
    memory.undo(run.run_id)
    assert all(memory.get(one.id).gist is None and memory.get(one.id).is_searchable for one in messages)
    assert before == [[(hit.memory.id, hit.score) for hit in memory.search(question)] for question in questions]
    assert memory.doctor(deep=True) == []


def test_clauses_that_went_do_not_come_back_and_a_reopened_file_finds_the_same(
    opened: Opened, clock: FrozenClock, tmp_path: object
) -> None:
    path = f"{tmp_path}/memory.db"
    memory = opened(path, embedder="static", hot_words_max=60)
    talked(memory, clock, times=2)
    memory.sleep()
    first = {one.id: set((one.gist or "").split("\n")) for one in memory.get_all(kinds=["message"])}
    talked(memory, clock, times=3)
    memory.sleep()
    for one in memory.get_all(kinds=["message"]):
        assert one.id not in first or set((one.gist or "").split("\n")) <= first[one.id]
    question = "What is the greyhound called?"
    found = {
        deep: [(hit.memory.id, round(hit.score, 6)) for hit in memory.search(question, deep=deep)] for deep in (0, 1)
    }
    memory.close()
    again = opened(path, embedder="static", hot_words_max=60)
    assert found == {
        deep: [(hit.memory.id, round(hit.score, 6)) for hit in again.search(question, deep=deep)] for deep in (0, 1)
    }


def test_a_trimmed_text_stays_searchable_after_an_undo(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(embedder="static", hot_words_max=60)
    talked(memory, clock)
    memory.sleep()
    asked = ("What is the greyhound called?", "Who sold a bakery in Porto?", "How old is the sourdough starter?")

    def found() -> list[tuple[str, str, float]]:
        return [
            (h.memory.id, h.text, round(h.score, 6)) for question in asked for h in memory.search(question, top_k=3)
        ]

    memory.add_message(Message(role="user", content="The bakery in Porto moved to Braga. " * 6), "later")
    first, before = {one.id: one.gist for one in memory.get_all(kinds=["message"])}, found()
    clock.advance(days=1)
    report = memory.sleep()
    again = [one for one in memory.get_all(kinds=["message"]) if first.get(one.id) not in {None, one.gist}]
    assert {memory.get(one.id).gist for one in again if one.is_searchable}, "some of what was left is less now"
    memory.undo(report.plan.id)
    assert {one.id: one.gist for one in memory.get_all(kinds=["message"])} == first
    assert found() == before
    searched = memory.ports.store._db.execute("SELECT count(*) FROM gists").get
    assert searched == sum(gist is not None for gist in first.values())
    assert memory.doctor(deep=True) == []


def test_the_newest_words_of_an_ongoing_conversation_stay_verbatim(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_words_max=1000, immediate_window=2)
    talked(memory, clock, times=20)
    clock.advance(hours=-2)  # the last of them is still being talked about
    unread_night(memory)
    left = {one.text for one in memory.get_all(kinds=["message"]) if one.gist is None}
    assert left == {TALK[3][1], TALK[4][1]}, "the immediate window of the last conversation, and nothing else"
    assert words(memory) <= 1000
    assert "Okay, good. Yeah, sure. Great." in str(memory.context(conversation="c19"))
    assert memory.doctor(deep=True) == []
    clock.advance(hours=3)
    memory.add_message(Message(role="user", content="The bakery in Porto moved to Braga. " * 8), "later")
    unread_night(memory)
    assert all(one.gist is not None for one in memory.get_all(kinds=["message"])), "a day later they are as others"


def test_the_newest_words_take_at_most_a_twentieth_of_the_budget(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_words_max=1000)
    talked(memory, clock, times=20)
    clock.advance(hours=-2)
    unread_night(memory)
    whole = [one for one in memory.get_all(kinds=["message"]) if one.gist is None]
    assert [one.text for one in whole] == [text for _, text in TALK[2:]]
    assert sum(len(one.text.split()) for one in whole) <= 50
    assert words(memory) <= 1000


def test_a_pinned_message_keeps_its_words_and_a_person_can_bring_the_others_back(
    opened: Opened, clock: FrozenClock
) -> None:
    memory = opened(hot_words_max=40)
    messages = talked(memory, clock)
    memory.pin(messages[4].id)
    unread_night(memory)
    assert memory.get(messages[4].id).gist is None
    trimmed = next(one for one in memory.get_all(kinds=["message"]) if one.gist is not None)
    memory.revive(trimmed.id)
    assert memory.get(trimmed.id).gist is None


def test_in_a_chat_with_an_assistant_the_words_of_the_person_stay_longer(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_words_max=12)
    for role in ("assistant", "user"):
        memory.add_message(
            Message(role=role, content="The Lisbon marathon costs 90 euros and starts at dawn.", at=clock())
        )
    clock.advance(days=1)
    unread_night(memory)
    assert [one.role for one in memory.get_all(kinds=["message"])] == ["user"]


def test_erasing_a_message_erases_its_trimmed_text_too(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(embedder="static", hot_words_max=30)
    talked(memory, clock)
    unread_night(memory)
    trimmed = next(one for one in memory.get_all(kinds=["message"]) if one.gist is not None)
    memory.erase(id=trimmed.id)
    assert (
        memory.ports.store._db.execute(
            "SELECT count(*) FROM gists g LEFT JOIN memories m USING (key) WHERE m.key IS NULL"
        ).get
        == 0
    )
    assert trimmed.id not in {hit.memory.id for hit in memory.search("greyhound Biscuit starter", top_k=20)}


def test_memories_restored_by_undo_do_not_count_against_the_size_target(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_messages_max=3)
    before = talked(memory, clock)
    memory.undo(unread_night(memory).plan.id)
    clock.advance(days=1)
    night = unread_night(memory)
    assert all(memory.get(one.id).is_searchable for one in before)
    assert night.held == 2
    assert "2 that an undo" in str(night)
    (held,) = [one for one in memory.health().findings if one.kind == "held"]
    assert held.count == 2
    talked(memory, clock)  # known already
    memory.add_messages([Message(role="user", content="ok", at=clock())], conversation="d")
    clock.advance(days=1)
    unread_night(memory)
    (weak,) = memory.get_all(kinds=["message"], phases=["cold"])
    assert weak.text == "ok", "the target goes on for what is new"


def test_facts_restored_by_undo_archive_no_other_fact(opened: Opened, clock: FrozenClock) -> None:
    for settings in ({"hot_facts_max": 2}, {"category_tokens_max": {"observation": 12}}):
        memory = opened(**settings)
        for text in ("Rome has trams", "Oslo has ferries", "Kyiv has domes", "Lima has fog"):
            clock.advance(days=1)
            memory.add(text, category="observation")
        night = memory.sleep()
        assert night.receipts
        memory.undo(night.plan.id)
        clock.advance(days=1)
        assert memory.sleep().held
        assert len(memory.get_all()) == 4


def test_words_restored_by_undo_archive_no_others(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_words_max=40)
    before = talked(memory, clock)
    night = memory.sleep()
    memory.undo(night.plan.id)
    for _ in range(2):
        clock.advance(days=1)
        held = memory.sleep().held
        assert {one.id: one.gist for one in memory.get_all(kinds=["message"])} == {one.id: None for one in before}
    assert not held, "nothing new: the night does not even look"
