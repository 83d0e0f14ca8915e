from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from slowwave.model.query import Item, Section
from slowwave.policy.ranking.packing import Offer, estimate, pack, selected_forms

everything = st.text(st.characters(codec=None))
items = st.lists(st.builds(Item, text=st.text(max_size=3), tokens=st.integers(min_value=-1, max_value=60)), max_size=12)
offers = st.lists(
    st.builds(
        Offer,
        section=st.builds(Section, name=st.text(max_size=3), items=items.map(tuple)),
        share=st.floats(min_value=0, max_value=9),
        heading=st.integers(min_value=0, max_value=9),
        ending=st.booleans(),
    ),
    max_size=5,
    unique_by=lambda offer: offer.section.name,
)


def offer(*tokens: int, share: float = 1.0, heading: int = 0, ending: bool = False, name: str = "s") -> Offer:
    section = Section(name=name, items=tuple(Item(text=str(number), tokens=cost) for number, cost in enumerate(tokens)))
    return Offer(section=section, share=share, heading=heading, ending=ending)


def shown(offers: list[Offer], budget: int, overhead: int = 0) -> list[str]:
    return [
        "".join(item.text for item in section.items) for section in pack(offers, budget, overhead=overhead).sections
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("Привет, мир", 5), ("记忆", 2), ("👍", 2), ("\ud800", 1)],
)
def test_the_estimate_is_near_the_tokens_of_a_model(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(everything, everything)
def test_an_estimate_never_fails_and_grows_with_the_text(one: str, other: str) -> None:
    assert estimate(one) <= estimate(one + other) <= estimate(one) + estimate(other)
    assert (estimate(one) == 0) == (one == "")


@given(offers, st.integers(min_value=-5, max_value=400), st.integers(min_value=0, max_value=40))
def test_a_budget_is_never_exceeded(offers: list[Offer], budget: int, overhead: int) -> None:
    packed = pack(offers, budget, overhead=overhead)
    named = {offer.section.name: offer for offer in offers}
    spent = sum(
        named[section.name].heading + sum(max(0, item.tokens) for item in section.items) for section in packed.sections
    )
    assert packed.tokens == (overhead + spent if packed.sections else 0)
    assert packed.tokens <= max(0, budget)
    assert packed.omitted == sum(len(o.section.items) for o in offers) - sum(len(s.items) for s in packed.sections)


@given(offers)
def test_a_large_budget_selects_everything_in_order(offers: list[Offer]) -> None:
    packed = pack(offers, 10**6)
    assert packed.sections == tuple(offer.section for offer in offers if offer.section.items)
    assert packed.omitted == 0


def test_every_section_gets_its_share() -> None:
    assert shown([offer(*[10] * 9), offer(*[10] * 9)], 60) == ["012", "012"]
    assert shown([offer(*[10] * 9, share=2), offer(*[10] * 9)], 60) == ["0123", "01"]


def test_unused_shares_go_to_other_sections() -> None:
    assert shown([offer(10), offer(*[10] * 9)], 60) == ["0", "01234"]
    assert shown([offer(*[10] * 9), offer(10)], 60) == ["01234", "0"]


def test_an_item_that_is_too_long_is_skipped() -> None:
    assert shown([offer(10, 99, 10)], 25) == ["02"]


def test_a_conversation_keeps_its_end_without_holes() -> None:
    assert shown([offer(10, 10, 10, ending=True)], 25) == ["12"]
    assert shown([offer(10, 99, 10, 10, ending=True)], 45) == ["23"]


def test_a_heading_costs_once_and_only_with_items() -> None:
    assert pack([offer(10, 10, heading=5), offer(99, heading=5)], 40).tokens == 25
    assert shown([offer(10, heading=5)], 14) == []


def test_an_overhead_above_the_budget_selects_nothing() -> None:
    for overhead in (10, 11):
        packed = pack([offer(1, 0)], 10, overhead=overhead)
        assert (packed.sections, packed.tokens, packed.omitted) == ((), 0, 2)


@dataclass(frozen=True)
class Shown:
    """A memory whose excerpt has a question mark, whose shortest form a point, whose short form is a small letter, and whose full form a capital."""

    excerpt: Item
    least: Item
    short: Item
    full: Item
    detailed: Item


def forms(*costs: tuple[int, ...]) -> list[Shown]:
    """Memories with the costs of their forms: short and full, or shortest, short, full and with details.

    The excerpt costs as much as the shortest form.
    """
    found = []
    for letter, cost in zip("abcdefgh", costs, strict=False):
        least, short, full, detailed = cost if len(cost) > 2 else (cost[0], *cost, cost[1])
        longest = f"{letter.upper()}+" if len(cost) > 2 else letter.upper()
        texts = (f"?{letter}", f".{letter}", letter, letter.upper(), longest)
        tokens = (least, least, short, full, detailed)
        items = (Item(text=text, tokens=number) for text, number in zip(texts, tokens, strict=True))
        found.append(Shown(*items))
    return found


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [(110, "ABcdefgh"), (90, "Abcdefg"), (40, "abcd"), (200, "ABCDEFGH"), (125, "ABCdefgh"), (9, "")],
)
def test_half_of_the_tokens_are_for_full_forms_and_room_that_is_left_too(tokens: int, wanted: str) -> None:
    selected = selected_forms(forms(*[(10, 25)] * 8), tokens)
    assert "".join(item.text for item in selected.values()) == wanted


def test_a_memory_that_does_not_fit_is_skipped() -> None:
    selected = selected_forms(forms((10, 20), (60, 90), (10, 20)), 50)
    assert {place: item.text for place, item in selected.items()} == {0: "A", 2: "C"}


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [
        (60, ["A", "b", ".c"]),
        (70, ["A", "b", "c"]),
        (90, ["A+", "B", "c"]),  # the room that is left goes to the details of the best, then to the next
    ],
)
def test_the_shortest_form_is_shown_only_where_the_short_one_does_not_fit(tokens: int, wanted: list[str]) -> None:
    selected = selected_forms(forms(*[(10, 20, 30, 40)] * 3), tokens)
    assert [item.text for item in selected.values()] == wanted


def test_an_excerpt_replaces_a_short_form_that_takes_more_than_half_of_the_room() -> None:
    selected = selected_forms(forms((10, 60, 70, 70), *[(10, 30, 30, 30)] * 2), 100)
    assert [item.text for item in selected.values()] == ["?a", "B", "c"]


def test_sections_without_a_share_get_unused_tokens() -> None:
    assert shown([offer(10, share=0.0)], 20) == ["0"]


def test_kept_items_are_selected_before_larger_shares() -> None:
    large = offer(*[10] * 9, share=9)
    section = Section(name="t", items=(Item(text="a", tokens=10), Item(text="b", tokens=30)))
    assert shown([large, Offer(section=section, share=1, ending=True)], 60) == ["012345"]
    assert shown([large, Offer(section=section, share=1, ending=True, kept=1)], 60) == ["012", "b"]


def test_what_a_section_spends_does_not_count_its_heading() -> None:
    packed = pack([offer(10, 20, heading=5)], 60)
    assert (packed.tokens, packed.spent("s"), packed.spent("other")) == (35, 30, 0)
