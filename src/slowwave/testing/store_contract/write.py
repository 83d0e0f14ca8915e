"""Tests of the writes of a Store: inherit `StoreContract` in a test file and define a `store` fixture."""

# ruff: noqa: D102, PLR2004  # a test's name is its sentence, and expected numbers are the point of a test

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from slowwave.errors import ClosedError, ConflictError, InputError, SuppressedError
from slowwave.model.codec import content_key
from slowwave.model.memory import SourceRef
from slowwave.model.operations import Erase, MoveCursor, RejectFact, Suppress
from slowwave.model.plan import BATCH_MAX, GROUP_MAX
from slowwave.model.query import Where
from slowwave.ports import Store
from slowwave.testing.builders import (
    NOW,
    SCOPE,
    add,
    advance,
    change,
    every_field,
    fact,
    group,
    link,
    message,
    plan,
    use,
)
from slowwave.testing.store_contract.conversations import ConversationContract
from slowwave.testing.store_contract.journal import DAY, OTHER, JournalContract
from slowwave.testing.store_contract.notes import NotesContract

MESSAGES = frozenset({"message"})
FACTS = frozenset({"semantic", "episodic", "procedural", "summary"})


class StoreContract(ConversationContract, JournalContract, NotesContract):
    """Tests of writes. The `store` fixture of the inheriting class returns an empty, open store."""

    @pytest.fixture(autouse=True)
    def _sound(self, store: Store) -> object:
        """After each test: a replay of the journal gives the same tables."""
        yield
        with suppress(ClosedError):
            assert store.check(deep=True) == []

    # ---- adding

    def test_a_message_is_numbered_and_returned_unchanged(self, store: Store) -> None:
        first = message("Hello there", ref="a", speaker="Alice", metadata={"channel": "mail"}, valid_from=NOW - DAY)
        second = message("Hello yourself", role="assistant")
        receipt = store.apply(plan(add(first), add(second), cause="observe"))
        assert [one.memory.seq for one in receipt.applied] == [1, 2]  # type: ignore[union-attr]  # both are Adds
        stored = store.select([SCOPE], Where(kinds=MESSAGES, order="seq"))
        assert stored == [one.memory for one in receipt.applied]  # type: ignore[union-attr]
        assert (stored[0].text, stored[0].metadata, stored[0].at) == (first.text, first.metadata, first.at)

    def test_every_field_of_a_fact_is_restored(self, store: Store) -> None:
        whole = fact(
            "Likes tea",
            kind="summary",  # the kind with most fields
            category="preference",
            subject="alice",
            phase="core",
            reason="kept",
            confidence=0.75,
            importance=0.3,
            stability=1 / 3,
            pinned=True,
            trust="web",
            valid_from=NOW.astimezone(timezone(timedelta(hours=9))),
            valid_to=NOW + DAY,
            expires_at=NOW + 2 * DAY,
            due_at=NOW + timedelta(microseconds=1),
            accesses=3,
            sessions=2,
            used_at=NOW + DAY,
            last_session="s1",
            depth=1,
            members=("f0", "f00"),
            superseded_by="f9",
            sources=(SourceRef(memory="said", ref="a", quote="I like “tea”"),),
            version=4,
            flags=frozenset({"unreconciled", "b"}),
            metadata={"b": "1", "a": "ü"},
        )
        store.apply(
            plan(add(message("I like “tea”", id="said")), *(add(fact(name, id=name)) for name in whole.members))
        )
        store.apply(plan(add(whole)))
        assert store.get([SCOPE], [whole.id]) == [whole]
        (stored,) = store.get([SCOPE], [whole.id])
        times = (stored.valid_from, stored.valid_to, stored.expires_at, stored.recorded_at)
        assert [at and at.utcoffset() for at in times] == [*3 * [timedelta(hours=9)], timedelta(0)]

    def test_the_id_of_a_fact_is_unique_among_the_facts_of_a_scope(self, store: Store) -> None:
        first = fact("Likes tea", ref="a")
        said = store.apply(plan(add(first), add(message("Hello", ref="a"))))
        assert len(said.applied) == 2
        again = store.apply(plan(add(fact("Likes coffee", ref="a"))))
        assert again.applied == ()
        assert again.dropped[0].reason == f"a fact with the id 'a' is stored already, as {first.id}"
        assert store.select([SCOPE], Where(kinds=FACTS, ref="a")) == [first]

    def test_a_cascade_summary_keeps_its_span_and_is_asked_for_by_name(self, store: Store) -> None:
        cascade = fact("They met", kind="summary", conversation="c1", span=(1, 65), depth=1)
        store.apply(plan(add(cascade), add(fact("Likes tea"))))
        assert store.select([SCOPE], Where(cascade=True)) == [cascade]
        assert cascade not in store.select([SCOPE], Where())
        assert len(store.select([SCOPE], Where(cascade=None))) == 2
        assert store.count(SCOPE)["cascade", "active"] == 1

    def test_memories_are_returned_in_the_order_of_the_ids_without_unknown_ones(self, store: Store) -> None:
        one, two = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(one), add(two)))
        assert store.get([SCOPE], [two.id, "nobody", one.id]) == [two, one]

    def test_ids_are_found_by_how_they_begin_or_end(self, store: Store) -> None:
        first, second, other = (fact(f"Likes {name}", id=f"{name}0") for name in ("tea", "teabags", "rye"))
        receipt = store.apply(plan(add(first), add(second), add(other)))
        assert store.short_ids([SCOPE], "tea", 5) == ["tea0", "teabags0"]
        assert store.short_ids([SCOPE], "tea", 1) == ["tea0"]
        assert store.short_ids([SCOPE], "", 5) == ["rye0", "tea0", "teabags0"]
        assert store.short_ids([OTHER], "tea", 5) == []
        assert store.short_ids([SCOPE], "a0", 5) == ["tea0"]
        assert store.short_ids([SCOPE], "0", 2) == ["rye0", "tea0"]
        assert store.short_ids([OTHER, SCOPE], "bags0", 5) == ["teabags0"]
        assert store.short_run_ids(SCOPE, receipt.run_id[-6:], 5) == [receipt.run_id]
        assert store.short_run_ids(SCOPE, receipt.run_id[:2], 5) == [receipt.run_id]
        assert store.short_run_ids(OTHER, receipt.run_id, 5) == []

    def test_a_message_known_by_its_id_is_not_stored_twice(self, store: Store) -> None:
        store.apply(plan(add(message("Hello", ref="a")), cause="observe"))
        again = store.apply(plan(add(message("Hello", ref="a")), add(message("New", ref="b"))))
        assert [one.memory.ref for one in again.applied] == ["b"]  # type: ignore[union-attr]
        third = store.apply(plan(add(message("Hello", ref="a")), cause="observe"))
        assert third.applied == ()
        assert store.run(SCOPE, third.run_id) is None
        assert len(store.select([SCOPE], Where(kinds=MESSAGES))) == 2

    def test_the_same_id_in_another_conversation_is_another_message(self, store: Store) -> None:
        store.apply(plan(add(message("Hello", ref="a")), add(message("Bye", ref="a", conversation="c2"))))
        assert len(store.select([SCOPE], Where(ref="a", kinds=MESSAGES))) == 2

    @pytest.mark.parametrize("stored_first", [True, False])
    def test_the_same_id_with_other_content_is_refused_with_the_whole_batch(
        self, store: Store, *, stored_first: bool
    ) -> None:
        known, other = add(message("Hello", ref="a")), add(message("Something else", ref="a"))
        if stored_first:
            store.apply(plan(known))
        batch = [add(message("New", ref="b")), other] if stored_first else [known, other]
        with pytest.raises(ConflictError, match="'a'"):
            store.apply(plan(*batch))
        assert len(store.select([SCOPE], Where(kinds=MESSAGES))) == int(stored_first)

    def test_a_duplicate_id_drops_its_group_and_the_others_are_applied(self, store: Store) -> None:
        old, new = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(old)))
        twin = group([add(fact("Likes milk", id=old.id)), add(fact("Likes oats"))])
        receipt = store.apply(plan(twin, group([add(new)])))
        assert [one.reason for one in receipt.dropped] == [f"{old.id} exists already"]
        assert receipt.ids == (new.id,)
        assert store.select([SCOPE], Where()) == [old, new]

    def test_an_id_twice_in_one_group_drops_it(self, store: Store) -> None:
        receipt = store.apply(plan(add(fact("Likes tea", id="x")), add(fact("Likes rye", id="x"))))
        assert [one.reason for one in receipt.dropped] == ["x is added twice"]

    def test_a_fact_is_live_once_however_it_is_written(self, store: Store) -> None:
        tea = fact("Likes tea.")
        store.apply(plan(add(tea)))
        receipt = store.apply(plan(add(fact("likes  TEA"))))
        assert [one.reason for one in receipt.dropped] == [f"the same fact is known already, as {tea.id}"]
        assert not store.apply(plan(add(fact("likes TEA!", phase="cold")))).dropped
        assert not store.apply(plan(add(fact("likes TEA!", scope=OTHER)), scope=OTHER)).dropped
        retracted = change(tea, phase="retracted")
        assert not store.apply(plan(retracted, add(fact("likes tea")))).dropped
        back = store.apply(plan(change(retracted.after, phase="active")))
        assert "the same fact is known already" in back.dropped[0].reason

    def test_a_used_message_number_drops_the_group(self, store: Store) -> None:
        store.apply(plan(add(message("One", seq=1))))
        assert "message 1 is already there" in store.apply(plan(add(message("Uno", seq=1)))).dropped[0].reason

    def test_a_group_that_is_too_large_is_refused_with_advice(self, store: Store) -> None:
        with pytest.raises(InputError, match="cut them"):
            store.apply(plan(*(add(fact(f"Fact {n}")) for n in range(GROUP_MAX + 1))))
        many = [add(message(f"Message {n}")) for n in range(GROUP_MAX + 1)]
        assert len(store.apply(plan(*many)).applied) == GROUP_MAX + 1
        with pytest.raises(InputError, match="cut them"):
            store.apply(plan(*(many[:1] * (BATCH_MAX + 1))))

    def test_memories_of_another_scope_are_refused(self, store: Store) -> None:
        with pytest.raises(InputError, match="belongs to the scope"):
            store.apply(plan(add(fact("Likes tea", scope=OTHER))))
        with pytest.raises(InputError, match="belongs to the scope"):
            store.apply(plan(change(fact("Likes tea", scope=OTHER), phase="cold")))

    def test_a_message_without_conversation_is_refused(self, store: Store) -> None:
        with pytest.raises(InputError, match="conversation and role"):
            store.apply(plan(add(message("Hello", conversation=""))))

    # ---- changing

    def test_a_change_makes_the_next_version(self, store: Store) -> None:
        tea = fact("Likes tea")
        store.apply(plan(add(tea)))
        store.apply(plan(change(tea, text="Likes green tea", phase="core", flags=frozenset({"held"}))))
        (stored,) = store.get([SCOPE], [tea.id])
        assert (stored.text, stored.phase, stored.version) == ("Likes green tea", "core", 2)
        assert store.select([SCOPE], Where(key=content_key("likes green tea"))) == [stored]

    def test_a_change_of_another_version_drops_its_group(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(tea), add(rye)))
        store.apply(plan(change(tea, phase="core")))
        receipt = store.apply(plan(change(rye, phase="cold"), change(tea, phase="cold")))
        assert [one.reason for one in receipt.dropped] == [f"{tea.id} was changed since this was planned"]
        assert store.get([SCOPE], [rye.id]) == [rye]
        assert store.run(SCOPE, receipt.run_id) is None

    def test_a_change_of_a_missing_memory_drops_its_group(self, store: Store) -> None:
        assert store.apply(plan(change(fact("Likes tea", id="x"), phase="cold"))).dropped[0].reason == "x is gone"

    def test_a_use_between_plan_and_write_neither_stops_the_change_nor_gets_lost(self, store: Store) -> None:
        tea = fact("Likes tea")
        store.apply(plan(add(tea)))
        store.apply(plan(use(tea, used_at=NOW + DAY, sessions=1, last_session="s"), cause="use"))
        unused = store.apply(plan(change(tea, phase="cold", unless_used=True)))
        assert [one.reason for one in unused.dropped] == [f"{tea.id} was used since this was planned"]
        receipt = store.apply(plan(change(tea, phase="core", accesses=0)))
        assert not receipt.dropped
        (stored,) = store.get([SCOPE], [tea.id])
        assert (stored.phase, stored.accesses, stored.used_at) == ("core", 1, NOW + DAY)

    def test_a_change_may_not_move_a_memory(self, store: Store) -> None:
        hello = message("Hello", seq=1)
        store.apply(plan(add(hello)))
        with pytest.raises(InputError, match="may not move"):
            store.apply(plan(change(hello, seq=2)))

    def test_uses_add_up_and_do_not_make_a_version(self, store: Store) -> None:
        tea = fact("Likes tea")
        store.apply(plan(add(tea)))
        later = use(tea, used_at=NOW + 2 * DAY, sessions=1, stability=0.5, due_at=NOW + 9 * DAY)
        sooner = use(tea, used_at=NOW + DAY, sessions=1, stability=0.5, due_at=NOW + 8 * DAY)
        store.apply(plan(later, sooner, use(fact("Unknown")), cause="use"))
        (stored,) = store.get([SCOPE], [tea.id])
        assert (stored.accesses, stored.sessions, stored.used_at, stored.version) == (2, 2, NOW + 2 * DAY, 1)
        assert (stored.stability, stored.due_at) == (0.75, NOW + 8 * DAY)

    def test_a_link_is_added_weighted_and_removed(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(tea), add(rye), link(tea.id, rye.id)))
        (joined,) = store.links(SCOPE, [rye.id], ["association"])
        assert (joined.source, joined.weight, joined.at, joined.other(rye.id)) == (tea.id, 1.0, NOW, tea.id)
        assert store.links(SCOPE, [rye.id], ["conflict?"]) == []
        assert store.links(OTHER, [rye.id]) == []
        dropped = store.apply(plan(link(tea.id, rye.id, before=0.5, weight=0.7))).dropped
        assert "weighs 1.0, not 0.5" in dropped[0].reason
        store.apply(plan(link(tea.id, rye.id, before=1.0, weight=0.0)))
        assert store.links(SCOPE, [tea.id, rye.id]) == []

    def test_a_cursor_moves_only_from_its_present_value(self, store: Store) -> None:
        store.apply(plan(add(message("Hello")), advance(0, 1)))
        assert "is at 1, not 0" in store.apply(plan(advance(0, 2))).dropped[0].reason
        conversation = store.conversation(SCOPE, "c1")
        assert conversation is not None
        assert (conversation.cursor("distil"), conversation.cursor("other"), conversation.last_seq) == (1, 0, 1)

    def test_a_cursor_may_belong_to_the_whole_scope(self, store: Store) -> None:
        store.apply(plan(MoveCursor(conversation="", cursor="seen", before=0, after=7, because="looked")))
        whole = store.conversation(SCOPE, "")
        assert whole is not None
        assert (whole.cursor("seen"), whole.last_seq) == (7, 0)
        assert store.conversations(SCOPE) == []
        assert store.conversation(SCOPE, "c9") is None

    def test_a_suppression_lasts_until_it_is_removed(self, store: Store) -> None:
        key = content_key("Likes tea")
        held = store.apply(plan(Suppress(key=key, because="undone")))
        assert store.suppressed_keys(SCOPE, [key, "0" * 32]) == {key}
        assert store.suppressed_keys(OTHER, [key]) == frozenset()
        assert store.suppressed_by(SCOPE, [key, "0" * 32]) == {key: (NOW, held.run_id)}
        assert store.suppressed_by(OTHER, [key]) == {}
        later = store.apply(plan(Suppress(key=key, because="undone again"), at=NOW + DAY))
        assert store.suppressed_by(SCOPE, [key]) == {key: (NOW + DAY, later.run_id)}
        store.apply(plan(Suppress(key=key, because="said again", on=False), at=NOW + 2 * DAY))
        assert store.suppressed_keys(SCOPE, [key]) == frozenset()
        assert store.suppressed_by(SCOPE, [key]) == {}

    # ---- selecting

    def test_facts_are_selected_by_their_fields(self, store: Store) -> None:
        tea = fact("Likes Tea", category="preference", pinned=True, due_at=NOW + DAY)
        trip = fact("Went to Rome", kind="episodic", phase="cold", flags=frozenset({"unreconciled"}), trust="tool")
        port = fact("Uses port 80", kind="procedural", phase="core", due_at=NOW + 2 * DAY)
        store.apply(plan(add(message("Tea?")), add(tea), add(trip), add(port)))

        def ids(**where: object) -> list[str]:
            return [one.id for one in store.select([SCOPE], Where(**{"kinds": FACTS, **where}))]  # type: ignore[arg-type]

        assert ids() == [tea.id, trip.id, port.id]
        assert ids(order="newest", limit=2) == [port.id, trip.id]
        assert ids(kinds=frozenset({"episodic"})) == [trip.id]
        assert ids(phases=frozenset({"active", "core"}), order="due") == [tea.id, port.id]
        assert ids(phases=frozenset({"active", "core"}), due_before=NOW + DAY) == [tea.id]
        assert ids(categories=frozenset({"preference"})) == ids(pinned=True) == [tea.id]
        assert ids(trusts=frozenset({"tool", "web"})) == [trip.id]
        assert ids(flag="unreconciled") == [trip.id]
        assert ids(flag="unreconcile") == []
        assert ids(text="ROME") == [trip.id]
        assert ids(key=content_key("likes tea!")) == [tea.id]
        assert ids(kinds=frozenset()) == []
        assert len(store.select([SCOPE], Where())) == 4

    def test_messages_are_selected_by_conversation_and_number(self, store: Store) -> None:
        store.apply(plan(*(add(message(f"Note {n}", ref=f"r{n}")) for n in range(1, 7))))
        store.apply(plan(add(message("Elsewhere", conversation="c2"))))
        where = Where(kinds=MESSAGES, conversation="c1", after_seq=2, until_seq=5, order="seq")
        assert [one.seq for one in store.select([SCOPE], where)] == [3, 4, 5]
        newest = Where(kinds=MESSAGES, conversation="c1", order="newest", limit=2)
        assert [one.seq for one in store.select([SCOPE], newest)] == [6, 5]
        assert [one.text for one in store.select([SCOPE], Where(kinds=MESSAGES, ref="r4"))] == ["Note 4"]

    def test_several_scopes_come_in_their_order_and_no_sibling_is_seen(self, store: Store) -> None:
        for scope in ("acme", SCOPE, OTHER, "acme/alice2"):
            store.apply(plan(add(fact(f"Fact of {scope}", scope=scope)), scope=scope))
        seen = store.select([SCOPE, "acme"], Where())
        assert [one.scope for one in seen] == [SCOPE, "acme"]
        assert store.select([SCOPE, "acme"], Where(limit=1)) == seen[:1]
        assert store.get([SCOPE, "acme"], [one.id for one in store.select([OTHER], Where())]) == []

    def test_counts_are_by_kind_and_phase(self, store: Store) -> None:
        store.apply(plan(*(add(message(f"Note {n}", phase="cold" if n else "active")) for n in range(3))))
        store.apply(plan(add(fact("Likes tea")), add(fact("Was ill", kind="episodic", phase="superseded"))))
        assert store.count(SCOPE) == {
            ("message", "active"): 1,
            ("message", "cold"): 2,
            ("semantic", "active"): 1,
            ("episodic", "superseded"): 1,
        }
        assert store.count(OTHER) == {}

    def test_due_memories_are_counted_to_the_microsecond(self, store: Store) -> None:
        store.apply(plan(add(fact("Likes tea", due_at=NOW)), add(fact("Likes rye", due_at=NOW, phase="cold"))))
        assert store.due(SCOPE, NOW) == 1
        assert store.due(SCOPE, NOW - timedelta(microseconds=1)) == 0
        assert store.due(OTHER, NOW) == 0

    def test_conversations_come_with_the_one_written_to_last_first(self, store: Store) -> None:
        for name in ("c1", "c2", "c1"):
            store.apply(plan(add(message(f"In {name}", conversation=name, valid_from=NOW + DAY))))
        store.apply(plan(advance(0, 1)))
        assert [(one.name, one.last_seq, one.last_at) for one in store.conversations(SCOPE)] == [
            ("c1", 2, NOW + DAY),
            ("c2", 1, NOW + DAY),
        ]
        assert store.conversations(SCOPE)[0].cursors == {"distil": 1}
        assert store.conversations(OTHER) == []

    # ---- destroying

    def test_an_erase_removes_every_trace(self, store: Store) -> None:
        secret, tea = message("My code is 0451", ref="a"), fact("Knows the code 0451")
        store.apply(plan(group([add(secret, "said 0451"), add(tea)], "code 0451"), link(tea.id, secret.id)))
        store.apply(plan(RejectFact(text="Code 0451", quote="code is 0451", reason="unclear", because="weak")))
        store.apply(plan(change(tea, phase="cold", because="0451")))
        gone = store.apply(
            plan(group([Erase(memory=secret.id, because="asked to"), Erase(memory=tea.id, because="asked to")]))
        )
        assert len(gone.applied) == 2
        assert store.get([SCOPE], [secret.id, tea.id]) == []
        assert store.links(SCOPE, [tea.id]) == []
        assert [type(event.operation).__name__ for event in store.history(SCOPE, tea.id)] == ["Erase"]
        assert "0451" not in every_field(store.runs(SCOPE))
        assert not store.apply(plan(Erase(memory=tea.id, because="again"))).applied
        store.apply(plan(add(message("Next"))))
        assert store.select([SCOPE], Where(kinds=MESSAGES))[0].seq == 2

    def test_erased_words_are_removed_from_reasons_and_refusals(self, store: Store) -> None:
        hello, tea = message("Hello", metadata={"door": '0451 "x"'}), fact("Likes tea")
        why = 'because 0451 "X" said so'
        store.apply(plan(group([add(hello), add(tea, why), advance(0, 1)], why)))
        store.apply(plan(RejectFact(text='Door 0451 "x"', quote="", reason="unclear", because="weak")))
        assert store.mentions(SCOPE, '0451 "X') == [hello.id]
        assert store.mentions(OTHER, "0451") == []
        store.apply(plan(Erase(memory=hello.id, conversation="c1", words=('0451 "x"',), because="asked to")))
        assert "0451" not in every_field(store.runs(SCOPE)) + every_field(store.history(SCOPE, tea.id))
        assert store.mentions(SCOPE, "0451") == []
        assert store.conversations(SCOPE) == []
        assert store.get([SCOPE], [tea.id]) == [tea]

    def test_sources_and_members_of_earlier_versions_are_known(self, store: Store) -> None:
        said, tea = message("I like tea", ref="a"), fact("Likes tea")
        page, rye = fact("Likes", kind="summary", depth=1, members=(tea.id,)), fact("Likes rye")
        store.apply(plan(add(said), add(tea), add(rye), add(page)))
        source = SourceRef(memory=said.id, ref="a", quote="tea")
        resting = change(tea, text="Likes green tea", sources=(source,))
        store.apply(plan(resting, change(page, members=(rye.id,))))
        store.apply(plan(change(resting.after, text="Likes tea", sources=())))
        assert store.former_bases(SCOPE) == {tea.id: {said.id}, page.id: {tea.id, rye.id}}
        assert store.former_bases(OTHER) == {}

    def test_a_conversation_with_memories_keeps_its_row(self, store: Store) -> None:
        store.apply(plan(add(message("Hello"))))
        gone = store.apply(plan(Erase(conversation="c1", because="asked to")))
        assert "new messages" in gone.dropped[0].reason
        assert store.conversation(SCOPE, "c1") is not None

    def test_links_are_found_by_kind_without_naming_memories(self, store: Store) -> None:
        one, two, three = (fact(f"Likes tea {n}") for n in range(3))
        joins = [link(one.id, two.id, kind="close"), link(two.id, three.id, kind="unsure"), link(one.id, three.id)]
        store.apply(plan(*(add(each) for each in (one, two, three)), *joins))
        assert {found.kind for found in store.links(SCOPE, None)} == {"close", "unsure", "association"}
        found = store.links(SCOPE, None, ["close", "unsure"])
        assert {(each.source, each.target) for each in found} == {(one.id, two.id), (two.id, three.id)}
        assert store.links(OTHER, None) == []

    def test_nothing_is_written_that_rests_on_an_erased_memory(self, store: Store) -> None:
        hello, tea, zoo = message("Hello"), fact("Likes tea"), fact("The zoo is near")
        store.apply(plan(add(hello), add(tea), add(zoo)))
        store.apply(plan(Erase(memory=hello.id, because="asked to")))
        said, other = (SourceRef(memory=hello.id, ref=hello.id),), fact("Likes oats")
        for rests in (
            plan(add(fact("Likes rye", sources=said))),
            plan(add(fact("Tea and rye", kind="summary", depth=1, members=(tea.id, hello.id)))),
            plan(change(tea, text="Likes rooibos", sources=said)),
            plan(replace(group([add(fact("Likes rye"))]), rests_on=(tea.id, hello.id))),
        ):
            (dropped,) = store.apply(rests).dropped
            assert "was erased since" in dropped.reason
        both = (SourceRef(memory=other.id, ref=other.id), SourceRef(memory=tea.id, ref=tea.id))
        assert store.apply(plan(group([add(fact("Likes rye", sources=both)), add(other)]))).dropped == ()
        assert store.apply(plan(replace(group([add(fact("Eats rye"))]), rests_on=(zoo.id,)))).applied

    def test_nothing_is_erased_from_which_something_was_derived_since(self, store: Store) -> None:
        hello, other, tea = message("Hello"), message("Bye"), fact("Likes tea")
        store.apply(plan(add(hello), add(other), add(tea)))
        seen = store.sequence(SCOPE)
        said = (SourceRef(memory=hello.id, ref=hello.id),)
        greets = fact("Greets", sources=said)
        store.apply(plan(add(greets), change(tea, text="Likes rooibos")))
        erase = Erase(memory=hello.id, because="asked to")
        (dropped,) = store.apply(plan(erase, sequence=seen)).dropped
        assert "derived" in dropped.reason
        assert store.apply(plan(Erase(memory=other.id, because="asked to"), sequence=seen)).applied
        assert store.apply(plan(Erase(memory=greets.id, because="asked to"), erase, sequence=seen)).dropped == ()
        assert store.get([SCOPE], [hello.id, greets.id]) == []

    def test_a_plan_is_refused_if_one_of_its_keys_is_suppressed(self, store: Store) -> None:
        store.apply(plan(Suppress(key="two", because="erased")))
        assert store.apply(plan(add(fact("Likes tea")), unless_held=("one", "three"))).applied
        with pytest.raises(SuppressedError):
            store.apply(plan(add(fact("Likes rye")), unless_held=("one", "two")))
        assert [one.text for one in store.select([SCOPE], Where(kinds=FACTS))] == ["Likes tea"]

    def test_a_lease_has_one_holder_and_an_outdated_token_opens_nothing(self, store: Store) -> None:
        first = store.lease(SCOPE, "one", 60, NOW)
        assert first is not None
        assert store.lease(SCOPE, "two", 60, NOW + timedelta(seconds=59)) is None
        assert store.lease(OTHER, "two", 60, NOW) is not None
        assert store.lease(SCOPE, "two", 60, NOW, {"one": False}.__getitem__) is None
        assert store.lease(SCOPE, "one", 60, NOW + timedelta(seconds=30)) == first
        assert store.apply(plan(add(fact("Likes tea")), lease=first)).applied
        second = store.lease(SCOPE, "two", 60, NOW + timedelta(seconds=91))
        assert second is not None
        assert second > first
        refused = store.apply(plan(add(fact("Likes rye")), lease=first))
        assert "taken the lease over" in refused.dropped[0].reason
        assert store.apply(plan(add(fact("Likes rye")), lease=second)).applied
        store.lease(SCOPE, "one", 0, NOW + timedelta(seconds=92))  # who holds nothing gives nothing back
        assert store.lease(SCOPE, "three", 60, NOW + timedelta(seconds=92)) is None
        store.lease(SCOPE, "two", 0, NOW + timedelta(seconds=92))
        assert store.lease(SCOPE, "three", 60, NOW + timedelta(seconds=92)) == second + 1
        assert store.lease(SCOPE, "four", 60, NOW + timedelta(seconds=92), {"three": True}.__getitem__) == second + 2

    def test_ingests_are_counted_since_the_last_sleep_pass(self, store: Store) -> None:
        assert store.ingests(SCOPE) == 0
        store.apply(plan(add(message("Hello")), cause="observe"))
        store.apply(plan(add(fact("Likes tea")), cause="add"))
        store.apply(plan(add(fact("Likes rye")), cause="consolidate"))
        assert (store.ingests(SCOPE), store.ingests(OTHER)) == (2, 0)
        store.lease(SCOPE, "one", 60, NOW)
        seen = store.last_run(SCOPE)
        store.apply(plan(add(message("Bye")), cause="observe"))
        store.slept(SCOPE, "another", seen, NOW)
        assert store.ingests(SCOPE) == 3
        store.slept(SCOPE, "one", seen, NOW)
        assert store.ingests(SCOPE) == 1
        assert store.last_run(SCOPE) > seen > store.last_run("nobody's") == 0

    def test_a_closed_store_raises_a_closed_error(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(ClosedError):
            store.count(SCOPE)
