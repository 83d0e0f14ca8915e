"""Tests of notes in a Store: `StoreContract` inherits them."""

# ruff: noqa: D102  # a test's name is its sentence, and expected numbers are the point of a test

from dataclasses import replace
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest

from slowwave.errors import InputError
from slowwave.model.filters import checked_filter
from slowwave.model.memory import HOT, Memory
from slowwave.model.plan import BATCH_MAX, GROUP_MAX
from slowwave.model.query import Where
from slowwave.ports import Store
from slowwave.testing.builders import NOW, SCOPE, add, change, fact, group, message, note, plan

OTHER = "acme/bob"
CURRENT = Where(kinds=frozenset({"note"}), phases=frozenset(HOT), order="name")


def named(store: Store, where: Where = CURRENT) -> list[tuple[str | None, str | None]]:
    """Folder and name of the notes that match."""
    return [(memory.conversation, memory.ref) for memory in store.select([SCOPE], where)]


class NotesContract:
    """Tests of notes. The `store` fixture of the inheriting class returns an empty, open store."""

    @pytest.mark.parametrize(
        "data", [None, 0, False, "", 'a\n"b"', 1.0, [], {}, {"b": [1, {"ü": None}], "a": True}, [[{"x": "  "}]]]
    )
    def test_a_note_comes_back_with_its_data_and_its_metadata(self, store: Store, data: object) -> None:
        written = note("a", folder="f/g", text=" \n", data=data, metadata={"n": 1, "deep": {"x": [None]}})
        store.apply(plan(add(written)))
        assert store.get([SCOPE], [written.id]) == [written]
        assert repr(store.get([SCOPE], [written.id])[0].data) == repr(data)
        (event,) = store.history(SCOPE, written.id)
        assert event.operation.memory == written  # type: ignore[union-attr]  # an Add

    def test_a_folder_has_one_current_note_of_a_name(self, store: Store) -> None:
        first = note("a")
        store.apply(plan(add(first), add(note("a", folder="f")), add(fact("a"))))
        second = note("a", text="another")
        (dropped,) = store.apply(plan(add(second))).dropped
        assert first.id in dropped.reason
        store.apply(plan(change(first, phase="retracted")))
        assert store.apply(plan(add(second))).dropped == ()
        (dropped,) = store.apply(plan(change(replace(first, phase="retracted", version=2), phase="active"))).dropped
        assert second.id in dropped.reason
        (dropped,) = store.apply(plan(add(note("b")), add(note("b")))).dropped
        assert "'b'" in dropped.reason
        assert named(store) == [("", "a"), ("f", "a")]

    def test_another_scope_may_have_a_note_of_the_same_name(self, store: Store) -> None:
        store.apply(plan(add(note("a"))))
        assert store.apply(plan(add(note("a", scope=OTHER)), scope=OTHER)).dropped == ()

    def test_notes_are_ordered_by_folder_and_name_in_code_point_order(self, store: Store) -> None:
        root, below = ("b", "B", "é", "z"), ("a", "a-b", "a/b", "a0")
        places = [*(("", name) for name in root), *((folder, "1") for folder in below), ("ab", "\U0001f33f")]
        store.apply(plan(*(add(note(name, folder=folder)) for folder, name in reversed(places))))
        assert named(store) == sorted(places)
        assert named(store, replace(CURRENT, below="a")) == [("a", "1"), ("a/b", "1")]
        assert named(store, replace(CURRENT, below="")) == sorted(places)
        assert named(store, replace(CURRENT, conversation="a")) == [("a", "1")]
        assert named(store, replace(CURRENT, conversation="", refs=frozenset({"b", "z", "y"}))) == [
            ("", "b"),
            ("", "z"),
        ]
        after = sorted(places)[3]
        assert named(store, replace(CURRENT, after_name=after, limit=2)) == sorted(places)[4:6]

    @pytest.mark.parametrize("limit", [None, 0, 1, 2, 7])
    @pytest.mark.parametrize("offset", [0, 1, 3, 9])
    def test_a_filter_an_offset_and_a_limit_select_what_they_say_in_every_order(
        self, store: Store, limit: int | None, offset: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("slowwave.stores.reads.PAGE", 2)
        written = [note(f"n{n}", folder="ab"[n % 2], data={"n": n % 3}) for n in range(9)]
        store.apply(plan(*map(add, written)))
        passes = checked_filter({"n": {"$gte": 1}})
        for order in ("name", "recorded", "-recorded", "at", "-at", "newest"):
            every = store.select([SCOPE], replace(CURRENT, order=order))
            some = [one for one in every if passes is not None and passes(one.data, one.metadata)]
            for where, expected in ((CURRENT, every), (replace(CURRENT, passes=passes), some)):
                found = store.select([SCOPE], replace(where, order=order, offset=offset, limit=limit))
                assert found == expected[offset:][:limit], (order, where.passes)
                if order != "newest":
                    assert [*chain(*store.pages(SCOPE, replace(where, order=order)))] == expected

    def test_a_filter_has_the_data_of_a_note_and_the_metadata_of_all(self, store: Store) -> None:
        memories = (note("a", data=[1], metadata={"m": 1}), note("b"), fact("Tea", metadata={"m": 2}), fact("Milk"))
        store.apply(plan(*map(add, memories)))
        seen: list[tuple[object, object]] = []

        def passes(data: object, metadata: object) -> bool:
            seen.append((data, metadata))
            return data == [1] or metadata == {"m": 2}

        found = store.select([SCOPE], Where(cascade=None, passes=checked_filter(passes)))
        assert found == [memories[0], memories[2]]
        assert seen == [([1], {"m": 1}), (None, {}), (None, {"m": 2}), (None, {})]

    @pytest.mark.parametrize("failing", [lambda data, _: data["x"] > 1, lambda data, _: data > 1, lambda: True])
    def test_a_filter_that_fails_is_no_damage_of_the_store(self, store: Store, failing: Any) -> None:  # noqa: ANN401
        store.apply(plan(add(note("a", data={"n": 1}))))
        with pytest.raises(InputError, match="where failed"):
            store.select([SCOPE], replace(CURRENT, passes=checked_filter(failing)))
        assert len(store.select([SCOPE], CURRENT)) == 1

    def test_folders_are_those_with_a_note_that_matches(self, store: Store) -> None:
        places = {"": 0, "a": 1, "a-b": 0, "a/b": 1, "a/b/c": 0, "b": 1}
        for folder, value in places.items():
            store.apply(plan(add(note("x", folder=folder, data={"n": value})), add(note("y", folder=folder))))
        gone = note("z", folder="gone")
        store.apply(plan(add(gone), add(note("z", folder="ended", expires_at=NOW + timedelta(hours=1)))))
        store.apply(plan(change(gone, phase="retracted")))
        now = replace(CURRENT, current_at=NOW + timedelta(hours=2))
        assert store.folders(SCOPE, now) == sorted(places)
        assert store.folders(SCOPE, replace(now, current_at=NOW)) == sorted([*places, "ended"])
        assert store.folders(SCOPE, replace(now, below="a")) == ["a", "a/b", "a/b/c"]
        assert store.folders(SCOPE, replace(now, after_name=("a", ""), limit=2)) == ["a-b", "a/b"]
        some = replace(now, passes=checked_filter({"n": 1}))
        assert store.folders(SCOPE, some) == ["a", "a/b", "b"]
        assert store.folders(SCOPE, replace(some, after_name=("a", ""), limit=1)) == ["a/b"]
        assert store.folders(OTHER, now) == []

    def test_only_memories_with_metadata_or_data_are_selected_by_it(self, store: Store) -> None:
        with_data, without, talk, plain = note("a", data=1), note("b"), message("Hello", metadata={"x": 1}), fact("Tea")
        store.apply(plan(*map(add, (with_data, without, talk, plain))))
        found = store.select([SCOPE], Where(cascade=None, with_metadata=True))
        assert {memory.id for memory in found} == {with_data.id, talk.id}

    def test_a_note_is_searched_by_its_words_and_by_its_kind(self, store: Store) -> None:
        from slowwave.testing.store_contract.search import asked  # noqa: PLC0415 - it imports the search

        tea = note("drinks", folder="c1", text="Green tea from Uji", data={"x": 1})
        store.apply(plan(add(tea), add(message("We drank tea", conversation="c1")), add(fact("Tea is green"))))
        assert [one.id for one in store.search([SCOPE], asked("tea from Uji", kinds=frozenset({"note"})))] == [tea.id]
        inside = store.search([SCOPE], asked("tea from Uji", conversation="c1"))
        assert tea.id not in {one.id for one in inside}
        store.apply(plan(change(tea, text="Coffee")))
        assert store.search([SCOPE], asked("coffee"))[0].id == tea.id

    def test_notes_are_counted_apart_and_need_no_schedule(self, store: Store) -> None:
        store.apply(plan(add(note("a")), add(note("b", phase="retracted"))))
        assert store.count(SCOPE) == {("note", "active"): 1, ("note", "retracted"): 1}
        assert store.facts_without_schedule(SCOPE, 0, 1, 10) == ([], 0)
        assert store.decay_classes(SCOPE) == []
        assert store.changed(SCOPE, 0, 10)[0] == []

    def test_a_note_whose_end_has_come_is_due(self, store: Store) -> None:
        end = NOW + timedelta(days=1)
        store.apply(plan(add(note("a", expires_at=end, due_at=end)), cause="note"))
        assert store.due(SCOPE, NOW) == 0
        assert store.due(SCOPE, end) == 1
        assert store.scopes_due(NOW, 5) == []
        assert store.scopes_due(end, 5) == [SCOPE]

    def test_a_conversation_may_have_the_name_of_a_folder(self, store: Store) -> None:
        store.apply(plan(add(note("a", folder="c1")), add(message("Hello"))))
        assert [one.last_seq for one in store.conversations(SCOPE)] == [1]
        talk = store.select([SCOPE], Where(kinds=frozenset({"message"}), conversation="c1"))
        assert [memory.text for memory in talk] == ["Hello"]

    def test_a_batch_of_notes_is_one_group_but_other_changes_beside_them_are_limited(self, store: Store) -> None:
        many: list[Memory] = [note(f"{n:04}") for n in range(GROUP_MAX + 1)]
        assert len(store.apply(plan(group(map(add, many)))).applied) == GROUP_MAX + 1
        again = group(change(memory, metadata={"x": 1}) for memory in many)
        assert len(store.apply(plan(again)).applied) == GROUP_MAX + 1
        with pytest.raises(InputError, match="500"):
            store.apply(plan(add(fact("Tea")), *(add(note(f"b{n}")) for n in range(GROUP_MAX))))
        with pytest.raises(InputError, match="10,000"):
            store.apply(plan(group([add(many[0])] * (BATCH_MAX + 1))))

    @pytest.mark.parametrize("fields", [{"ref": None}, {"conversation": None}])
    def test_a_note_needs_a_folder_and_a_name(self, store: Store, fields: dict[str, None]) -> None:
        with pytest.raises(InputError, match="folder or a name"):
            store.apply(plan(add(replace(note("a"), **fields))))  # type: ignore[arg-type]
