from datetime import UTC, datetime

import pytest

from slowwave.model.memory import Memory, SourceRef
from slowwave.model.mind import Relation, Verdict, VerdictOp
from slowwave.pipelines.ingest.decisions import ComparedPair, decide, may_retract

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KNOWN = "Alice owns a red car"
NEW = "Alice owns a red car in Oslo"
CHANGED = "Alice now owns a red car in Oslo"


def fact(text: str, **fields: object) -> Memory:
    source = SourceRef(memory="m1", ref="1", quote=text)
    values: dict[str, object] = {"kind": "semantic", "recorded_at": NOW, "valid_from": NOW, "sources": (source,)}
    return Memory(id=text, scope="s", text=text, **(values | fields))  # type: ignore[arg-type]


def pair(new: Memory, known: Memory | None, *, fixed: bool = False, duplicate: bool = False) -> ComparedPair:
    return ComparedPair(new=new, known=known, fixed=fixed, stated=False, stored=False, is_duplicate=lambda _: duplicate)


def verdict(op: VerdictOp, text: str | None = None, relation: Relation = "subsumes") -> Verdict:
    return Verdict(fact=1, op=op, memory=1, text=text, relation=relation, because="the mind says so")


def test_without_a_known_fact_the_new_one_is_stored() -> None:
    decision = decide(verdict("UPDATE"), pair(fact(NEW), None), "said")
    assert (decision.action, decision.link, decision.because) == ("store", None, "the mind says so")


def test_a_wording_that_contains_both_facts_merges_them() -> None:
    decision = decide(verdict("UPDATE", NEW), pair(fact(NEW), fact(KNOWN)), "said")
    assert (decision.action, decision.text, decision.problem) == ("merge", NEW, "")


def test_after_a_refused_wording_the_words_of_one_fact_replace_both_only_if_they_contain_the_other() -> None:
    known, new = fact("Alice trains with a choir that sings ballads in Oslo"), fact("Alice sang at the fair in Oslo")
    refused = verdict("UPDATE", "Alice trains with a choir and sang at the fair in Bergen")
    decision = decide(refused, pair(new, known), "said")
    assert (decision.action, decision.link is not None and decision.link[0]) == ("store", "close")
    assert decide(verdict("UPDATE", "Alice owns a car in Bergen"), pair(fact(NEW), fact(KNOWN)), "said").text == NEW


def test_a_fact_takes_the_place_of_another_only_if_it_has_most_of_its_words() -> None:
    known = fact("Noor wants to finish her nursing studies and to work with children who are ill at home")
    new = fact("Noor wants to be a midwife who visits families at home")
    apart = decide(verdict("UPDATE"), pair(new, known), "said")
    assert (apart.action, apart.link is not None and apart.link[0]) == ("store", "close")
    assert decide(verdict("UPDATE", relation="subsumed"), pair(new, known), "said").action == "store"
    assert decide(verdict("UPDATE", "Noor wants to be a midwife who visits ill families"), pair(new, known), "").problem
    tried = fact("Noor has not tried rowing yet but might try it")
    assert decide(verdict("UPDATE"), pair(tried, fact("Noor has never tried rowing")), "said").action == "merge"


def test_a_wording_that_another_fact_has_is_not_merged() -> None:
    decision = decide(verdict("UPDATE", NEW), pair(fact(NEW), fact(KNOWN), duplicate=True), "said")
    assert (decision.action, decision.link is not None and decision.link[0]) == ("store", "close")
    assert decision.problem


def test_a_wording_that_loses_a_name_is_replaced_by_the_words_of_the_new_fact() -> None:
    decision = decide(verdict("UPDATE", KNOWN, "contradictory"), pair(fact(CHANGED), fact(KNOWN)), "said")
    assert (decision.action, decision.text) == ("supersede", CHANGED)
    assert "'Oslo' would be lost" in decision.problem


def test_a_noop_that_loses_a_name_stores_both_facts() -> None:
    decision = decide(verdict("NOOP"), pair(fact(NEW), fact(KNOWN)), "said")
    assert (decision.action, decision.link is not None and decision.link[0]) == ("store", "close")
    assert decide(verdict("NOOP"), pair(fact(KNOWN), fact(NEW)), "said").action == "reinforce"


def test_a_fixed_or_more_trusted_fact_is_linked_and_not_changed() -> None:
    new, known = fact(NEW, trust="web"), fact(KNOWN)
    for compared in (pair(new, known), pair(fact(NEW), known, fixed=True)):
        decision = decide(verdict("UPDATE", NEW), compared, "said")
        assert (decision.action, decision.link) == ("store", ("conflict?", "the mind says so"))
    assert not may_retract(known, new, fixed=False, stated=False)
    assert may_retract(known, fact(CHANGED), fixed=False, stated=False)


def test_words_of_a_less_trusted_fact_do_not_enter_a_more_trusted_one() -> None:
    new, known = fact(KNOWN), fact(NEW, trust="web")
    for text, relation in (("Alice owns a red car in Oslo today", "subsumes"), (None, "subsumed")):
        apart = decide(verdict("UPDATE", text, relation), pair(new, known), "said")
        assert (apart.action, bool(apart.problem)) == ("store", True)
    changed = decide(verdict("UPDATE", NEW, "contradictory"), pair(fact(CHANGED), known), "said")
    assert (changed.action, changed.text) == ("supersede", CHANGED)
    assert decide(verdict("UPDATE"), pair(fact(NEW), fact(KNOWN, trust="web")), "said").action == "merge"


def test_only_a_person_retracts_what_a_person_stated() -> None:
    known = fact(KNOWN, sources=())
    assert not may_retract(known, fact(NEW), fixed=False, stated=False)
    assert may_retract(known, fact(CHANGED, sources=()), fixed=False, stated=True)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Alice is the head of Acme", "Sarah is the treasurer of Acme"),
        ("The user likes apples", "The user likes pears"),
        ("The user is allergic to peanuts, walnuts and shellfish", "The user is allergic to peanuts"),
        ("The user has a sister in Rome", "The user has a brother in Bern"),
    ],
)
def test_a_fact_that_ends_nothing_stays_beside_what_a_mind_says_it_contradicts(known: str, new: str) -> None:
    decision = decide(verdict("UPDATE", None, "contradictory"), pair(fact(new), fact(known)), "said")
    assert (decision.action, decision.link) == ("store", ("conflict?", "the mind says so"))
    assert not may_retract(fact(known), fact(new), fixed=False, stated=True)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("The user lives in Zurich", "The user lives in Bern"),
        ("The user smokes", "The user no longer smokes"),
        ("The user works at Acme", "The user left Acme"),
        ("The weekly meeting of the team is on Friday", "The team meeting is on Monday"),
        ("The rent is 820 euros a month", "The rent is 950 euros a month"),
        ("The user plans to visit Visby", "The user visited Visby"),
    ],
)
def test_a_fact_that_denies_or_gives_another_value_supersedes(known: str, new: str) -> None:
    assert decide(verdict("UPDATE", None, "contradictory"), pair(fact(new), fact(known)), "said").action == "supersede"
