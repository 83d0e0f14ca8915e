"""Tests of conversations and their titles, inherited by `slowwave.testing.store_contract.write`."""

# ruff: noqa: D102  # a test's name is its sentence, and expected numbers are the point of a test

from datetime import timedelta

from slowwave.model.operations import Erase, MoveCursor, RejectFact, SetTitle
from slowwave.model.progress import RELEASED
from slowwave.ports import Store
from slowwave.testing.builders import NOW, SCOPE, add, change, every_field, group, message, plan

DAY = timedelta(days=1)
OTHER = "acme/bob"


def title(before: str | None, after: str | None, conversation: str = "c1") -> SetTitle:
    """An operation that sets the title of a conversation."""
    return SetTitle(conversation=conversation, before=before, after=after, because="a test says so")


class ConversationContract:
    """Tests of conversations. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_a_title_is_stored_journaled_and_replayed(self, store: Store) -> None:
        store.apply(plan(add(message("Hello"))))
        first, second = plan(title(None, "Garden")), plan(title("Garden", 'The "big" garden'))
        assert store.apply(first).applied == (title(None, "Garden"),)
        store.apply(second)
        assert [(one.name, one.title) for one in store.conversations(SCOPE)] == [("c1", 'The "big" garden')]
        found = store.conversation(SCOPE, "c1")
        assert found is not None
        assert found.title == 'The "big" garden'
        run = store.run(SCOPE, second.id)
        assert run is not None
        assert list(run.plan.operations) == [title("Garden", 'The "big" garden')]
        assert run.totals == {"title": 1}
        assert store.check(deep=True) == []

    def test_a_title_planned_on_an_outdated_one_is_dropped(self, store: Store) -> None:
        store.apply(plan(add(message("Hello"))))
        store.apply(plan(title(None, "Garden")))
        assert len(store.apply(plan(title(None, "Kitchen"))).dropped) == 1
        assert len(store.apply(plan(title(None, "Kitchen", "c9"))).dropped) == 1
        assert [one.title for one in store.conversations(SCOPE)] == ["Garden"]

    def test_an_erase_of_words_blanks_titles_and_their_history(self, store: Store) -> None:
        store.apply(plan(add(message("Hello")), add(message("Hello", conversation="c2"))))
        store.apply(plan(title(None, "Code 0451"), title(None, "Garden", "c2")))
        store.apply(plan(title("Code 0451", "Door")))
        store.apply(plan(title("Garden", "code 0451, again", "c2")))
        gone = store.apply(plan(Erase(words=("CODE 0451",), because="asked to")))
        assert len(gone.applied) == 1
        assert {one.name: one.title for one in store.conversations(SCOPE)} == {"c1": "Door", "c2": None}
        assert "code 0451" not in every_field(store.runs(SCOPE)).lower()
        assert store.check(deep=True) == []
        assert not store.apply(plan(Erase(words=("CODE 0451",), because="asked to"))).applied

    def test_an_erase_of_a_conversation_destroys_its_title(self, store: Store) -> None:
        hello = message("Hello")
        store.apply(plan(add(hello)))
        store.apply(plan(group([title(None, "Garden")], "titled")))
        store.apply(plan(Erase(memory=hello.id, because="asked to"), Erase(conversation="c1", because="asked to")))
        assert store.conversations(SCOPE) == []
        assert "Garden" not in every_field(store.runs(SCOPE))
        store.apply(plan(add(message("Hello again"))))
        assert [one.title for one in store.conversations(SCOPE)] == [None]
        assert store.check(deep=True) == []

    def test_conversations_are_listed_with_their_numbers(self, store: Store) -> None:
        first = [message(f"Note {n}", valid_from=NOW + n * DAY) for n in range(3)]
        gone, odd = message("Gone"), message("Obey me", phase="quarantined", conversation="c2")
        store.apply(plan(*map(add, first), add(gone), add(odd)))
        store.apply(plan(add(message("Undone", conversation="c3", phase="retracted"))))
        store.apply(plan(change(gone, phase="retracted"), title(None, "Garden")))
        store.apply(plan(MoveCursor(conversation="c1", cursor="distil", before=0, after=1, because="read")))
        listed = store.listed_conversations(SCOPE)
        assert [(one.name, one.title, one.messages, one.unread, one.withheld) for one in listed] == [
            ("c1", "Garden", 3, 2, 0),
            ("c2", None, 1, 0, 1),
        ]
        assert (listed[0].first_at, listed[0].last_at) == (NOW, NOW + 2 * DAY)
        assert [one.label for one in listed] == ["Garden", "c2"], "what waits for review is no name"
        assert store.unread(SCOPE) == store.unread(SCOPE, "c1") == {"c1": 2}
        assert store.unread(SCOPE, "c2") == {}
        assert store.listed_conversations(OTHER) == []

    def test_conversations_are_listed_by_their_last_message_whenever_they_were_stored(self, store: Store) -> None:
        for name, days in (("c1", 3), ("c2", 9), ("c3", 1), ("c4", 9)):
            said = [
                message("Obey me", conversation=name, phase="quarantined", valid_from=NOW),
                message("Hello", conversation=name, role="assistant", valid_from=NOW),
                message(f"I am {name}", conversation=name, valid_from=NOW + days * DAY),
            ]
            store.apply(plan(*map(add, said)))
        listed = store.listed_conversations(SCOPE)
        assert [(one.name, one.label) for one in listed] == [
            ("c4", "I am c4"),
            ("c2", "I am c2"),
            ("c1", "I am c1"),
            ("c3", "I am c3"),
        ]
        for place, one in enumerate(listed):
            for after in (one, one.name):
                assert store.listed_conversations(SCOPE, 9, after) == listed[place + 1 :]

    def test_a_conversation_of_a_wrong_time_stays_where_it_was_stored(self, store: Store) -> None:
        for name, days in (("c0", 500), ("c1", 1), ("c2", 400), ("c3", 2), ("c4", 3)):
            store.apply(plan(add(message(f"I am {name}", conversation=name, valid_from=NOW + days * DAY))))
        listed = store.listed_conversations(SCOPE, now=NOW + 3 * DAY)
        assert [one.name for one in listed] == ["c4", "c3", "c2", "c1", "c0"]
        assert [one.name for one in store.listed_conversations(SCOPE)] == ["c0", "c2", "c4", "c3", "c1"]
        for place, one in enumerate(listed):
            for after in (one, one.name):
                assert store.listed_conversations(SCOPE, 9, after, now=NOW + 3 * DAY) == listed[place + 1 :]

    def test_a_released_message_counts_as_unread_once(self, store: Store) -> None:
        read, unread = (message(text, flags=frozenset({RELEASED})) for text in ("One", "Two"))
        store.apply(plan(add(read), add(unread)))
        store.apply(plan(MoveCursor(conversation="c1", cursor="distil", before=0, after=1, because="read")))
        assert store.unread(SCOPE) == {"c1": 2}

    def test_pages_of_conversations_neither_skip_nor_repeat_while_others_write(self, store: Store) -> None:
        for number in range(6):
            store.apply(plan(add(message("Hello", conversation=f"c{number}"))))
        first = store.listed_conversations(SCOPE, 2)
        for name in ("c1", "c4", "new"):
            store.apply(plan(add(message("Again", conversation=name))))
        second = store.listed_conversations(SCOPE, 2, first[-1])
        third = store.listed_conversations(SCOPE, 9, second[-1])
        assert [one.name for one in (*first, *second, *third)] == ["c5", "c4", "c3", "c2", "c1", "c0"]
        assert [one.name for one in store.listed_conversations(SCOPE, after="c5")] == ["c3", "c2", "c0"]
        assert store.listed_conversations(SCOPE, after="unknown") == []

    def test_runs_are_listed_without_their_parts_and_with_totals(self, store: Store) -> None:
        for number in range(3):
            texts = [add(message(f"{number} {n}")) for n in range(2)]
            store.apply(plan(*texts, cause="import/messages", parent="all"))
        store.apply(plan(add(message("Hello")), cause="observe", id="single"))
        refused = RejectFact(text="Owns a cat", quote="cat", reason="not said", because="unsupported")
        store.apply(plan(refused, cause="sleep/distil", parent="whole", id="stage"))
        assert [run.id for run in store.runs(SCOPE, parts="none")] == ["whole", "single", "all"]
        assert [run.id for run in store.runs(SCOPE, parts="stages")] == ["stage", "whole", "single", "all"]
        assert [run.id for run in store.runs(SCOPE, parts="none", after="whole")] == ["single", "all"]
        assert [run.id for run in store.runs(SCOPE, 1, "import", parts="none")] == ["all"]
        assert store.runs(SCOPE, cause="sleep", parts="none", after="whole") == []
        whole = store.runs(SCOPE, parts="none")[-1]
        assert (whole.part_count, whole.totals, whole.counted) == (3, {"add": 6}, "6 added")

    def test_undos_are_listed_newest_first_without_their_operations(self, store: Store) -> None:
        store.apply(plan(add(message("One")), cause="undo", id="u1", undoes="a"))
        store.apply(plan(add(message("Two")), cause="undo", id="u2", undoes="b", parent="whole"))
        assert store.undos(SCOPE) == [("u2", "b", "whole"), ("u1", "a", None)]
