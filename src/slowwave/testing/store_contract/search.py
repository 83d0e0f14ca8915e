"""Tests of the search of a Store: inherit `SearchContract` in a test file and define a `store` fixture."""

# ruff: noqa: D102, PLR2004  # a test's name is its sentence, and expected numbers are the point of a test

from dataclasses import replace

import numpy as np

from slowwave.model.operations import Erase
from slowwave.model.query import Query, Where
from slowwave.ports import Store
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, message, plan, use

OTHER = "acme/bob"
NOTES = ("We moved to Berlin", "The dentist is on Tuesday", "Her sister plays the piano", "Berlin has a good zoo")


def asked(text: str, **fields: object) -> Query:
    """A query with the vector of its text."""
    vector = np.frombuffer(entry(text).vectors, dtype="<f4")
    return replace(Query(text=text, top_k=5, now=NOW, vector=vector, embedder="test-8"), **fields)  # type: ignore[arg-type]


class SearchContract:
    """Tests of search. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_word_search_returns_the_best_hit_first(self, store: Store) -> None:
        store.apply(plan(*(add(message(text, id=f"n{n}")) for n, text in enumerate(NOTES))))
        found = store.search([SCOPE], asked("who plays the piano?"))
        assert found[0].id == "n2"
        assert sorted(found, key=lambda one: -one.score) == found
        assert store.search([OTHER], asked("piano")) == []

    def test_relevance_is_high_for_an_answer_and_nothing_for_small_talk(self, store: Store) -> None:
        store.apply(plan(*(add(message(text, id=f"n{n}")) for n, text in enumerate(NOTES))))
        best, *others = store.search([SCOPE], asked("who plays the piano?", vector=None))
        assert best.id == "n2"
        assert round(best.relevance, 3) == 0.730
        assert all(other.relevance < best.relevance for other in others)
        assert {one.relevance for one in store.search([SCOPE], asked("hello"))} == {0.0}
        query = asked("who plays the piano?")
        near, far = (store.search([SCOPE], replace(query, related=cosine))[0] for cosine in (0.2, 0.8))
        assert near.id == far.id
        assert near.relevance > far.relevance

    def test_new_and_changed_memories_are_found_at_once(self, store: Store) -> None:
        zoo = fact("The zoo opens at nine")
        store.apply(plan(*(add(message(text)) for text in NOTES)))
        assert zoo.id not in {one.id for one in store.search([SCOPE], asked("when does the zoo open?"))}
        store.apply(plan(add(zoo)))
        assert store.search([SCOPE], asked("when does the zoo open?"))[0].id == zoo.id
        worded = change(zoo, text="The museum opens at ten")
        store.apply(plan(worded, use(zoo)))
        assert store.search([SCOPE], asked("museum", vector=None))[0].id == zoo.id
        assert {one.shared for one in store.search([SCOPE], asked("nine", vector=None))} == {0}
        store.apply(plan(change(worded.after, phase="cold")))
        assert zoo.id not in {one.id for one in store.search([SCOPE], asked("museum"))}
        assert store.search([SCOPE], asked("museum", deep=True))[0].id == zoo.id

    def test_erased_memories_are_not_found(self, store: Store) -> None:
        piano = message(NOTES[2])
        store.apply(plan(add(message(NOTES[0])), add(piano), add(message(NOTES[3]))))
        assert store.search([SCOPE], asked("piano"))[0].id == piano.id
        store.apply(plan(Erase(memory=piano.id, because="asked to")))
        assert piano.id not in {one.id for one in store.search([SCOPE], asked("piano"))}
        assert store.frequencies(SCOPE)[0]("piano") == 0

    def test_another_scope_changes_nothing_not_even_a_score(self, store: Store) -> None:
        store.apply(plan(*(add(message(text, id=f"n{n}")) for n, text in enumerate(NOTES))))
        queries = [asked(text) for text in ("Berlin", "when is the dentist", "zoo sister", "nothing of that kind")]
        before = [store.search([SCOPE], query) for query in queries]
        frequency, documents = store.frequencies(SCOPE)
        counts = [frequency(word) for word in ("berlin", "zoo")]
        store.apply(plan(*(add(message(f"Berlin zoo {n}", scope=OTHER)) for n in range(50)), scope=OTHER))
        assert [store.search([SCOPE], query) for query in queries] == before
        frequency, after = store.frequencies(SCOPE)
        assert ([frequency(word) for word in ("berlin", "zoo")], after) == (counts, documents)

    def test_inherited_scopes_are_merged_by_score_the_own_one_first_of_equals(self, store: Store) -> None:
        for scope in ("acme", SCOPE):
            store.apply(plan(add(fact("The zoo opens at nine", id=f"zoo of {scope}", scope=scope)), scope=scope))
        found = store.search([SCOPE, "acme"], asked("when does the zoo open?"))
        assert [one.id for one in found] == [f"zoo of {SCOPE}", "zoo of acme"]
        assert len(store.search([SCOPE, "acme"], asked("zoo", top_k=1))) == 1

    def test_known_speakers_are_removed_from_the_question(self, store: Store) -> None:
        store.apply(plan(add(message("I love the zoo", speaker="Caroline")), add(message("Me too", speaker="Mel"))))
        assert store.speakers(SCOPE) == {"Caroline", "Mel"}
        assert store.speakers(OTHER) == frozenset()
        assert "Caroline" not in store.wording([SCOPE], "What does Caroline love?")

    def test_messages_that_come_out_of_order_are_found(self, store: Store) -> None:
        late, early = message(NOTES[2], seq=9), message(NOTES[1], seq=3)
        store.apply(plan(add(late)))
        assert store.search([SCOPE], asked("piano"))[0].id == late.id
        store.apply(plan(add(early)))
        assert store.search([SCOPE], asked("dentist"))[0].id == early.id

    def test_memories_without_their_vector_are_listed_and_indexed_later(self, store: Store) -> None:
        zoo, tea = fact("The zoo opens at nine"), fact("Likes tea")
        bare = replace(add(zoo), entry=None)
        words = replace(add(tea), entry=entry(tea.text, None))
        store.apply(plan(bare, words, add(fact("Likes rye"))))
        assert store.unembedded(SCOPE, "test-8") == [zoo, tea]
        assert store.unembedded(SCOPE, "test-8", 1) == [zoo]
        assert store.unembedded(SCOPE, None) == [zoo]
        assert len(store.unembedded(SCOPE, "another")) == 3
        assert list(store.entries(SCOPE, [zoo.id, tea.id])) == [tea.id]
        assert zoo.id not in {one.id for one in store.search([SCOPE], asked("zoo"))}
        before = store.sequence(SCOPE)
        assert store.index(SCOPE, {zoo.id: entry(zoo.text), "nobody": entry("x")}) == 1
        assert store.sequence(SCOPE) == before
        assert store.search([SCOPE], asked("zoo"))[0].id == zoo.id
        assert store.entries(SCOPE, [zoo.id]) == {zoo.id: entry(zoo.text)}
        assert store.unembedded(SCOPE, "test-8") == [tea]

    def test_vectors_of_several_embedders_are_kept_separate(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(tea), replace(add(rye), entry=entry(rye.text, "other-8"))))
        store.apply(plan(add(fact("Likes oats", scope=OTHER)), scope=OTHER))
        assert store.unembedded(SCOPE, "test-8") == [rye]
        assert store.unembedded(SCOPE, "other-8") == [tea]
        assert store.unembedded(OTHER, "test-8") == []
        assert store.search([SCOPE], asked("rye"))[0].id == rye.id
        store.index(SCOPE, {rye.id: entry(rye.text)})
        assert store.unembedded(SCOPE, "test-8") == []

    def test_a_trimmed_text_has_its_own_vector(self, store: Store) -> None:
        said = message("zoo at nine, and tea after that")
        store.apply(plan(add(said), add(message("zoo two"))))
        store.apply(plan(replace(change(said, gist="zoo at nine"), entry=entry("zoo at nine", "other-8"))))
        assert [one.id for one in store.unembedded(SCOPE, "test-8", gists=True)] == [said.id]
        assert [one.id for one in store.unembedded(SCOPE, "new-8", 1, gists=True)] == [said.id]
        assert store.unembedded(SCOPE, "other-8", gists=True) == store.unembedded(OTHER, "test-8", gists=True) == []
        assert store.index(SCOPE, {said.id: entry("zoo at nine"), "nobody": entry("x")}, gists=True) == 1
        assert store.unembedded(SCOPE, "test-8", gists=True) == []
        assert store.entries(SCOPE, [said.id]) == {said.id: entry(said.text)}, "the whole keeps its own"
        store.apply(plan(change(replace(said, gist="zoo at nine", version=2), gist=None)))
        assert store.index(SCOPE, {said.id: entry("zoo at nine")}, gists=True) == 0, "nothing of it is cold"
        assert store.unembedded(SCOPE, "new-8", gists=True) == []

    def test_new_words_without_an_entry_wait_for_one(self, store: Store) -> None:
        tea = fact("Likes tea")
        store.apply(plan(add(tea)))
        store.apply(plan(replace(change(tea, text="Likes rye"), entry=None)))
        assert [one.id for one in store.unembedded(SCOPE, "test-8")] == [tea.id]

    def test_kinds_and_conversations_limit_a_search(self, store: Store) -> None:
        store.apply(plan(add(message("zoo one")), add(message("zoo two", conversation="c2")), add(fact("zoo three"))))
        facts = store.search([SCOPE], asked("zoo", kinds=frozenset({"semantic"})))
        assert [one.id for one in facts] == [
            one.id for one in store.select([SCOPE], Where(kinds=frozenset({"semantic"})))
        ]
        assert len(store.search([SCOPE], asked("zoo", conversation="c2"))) == 1
        others = store.search([SCOPE], asked("zoo", except_conversation="c2"))
        assert {one.text for one in store.get([SCOPE], [one.id for one in others])} == {"zoo one", "zoo three"}
