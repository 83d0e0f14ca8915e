"""The rarity of a stem: one formula for every part of the search."""

import math

import pytest

from slowwave import AgentMemory
from slowwave.pipelines.rarity import rarity_in_scope
from slowwave.policy.text.rarity import rarity


@pytest.mark.parametrize(("documents", "known"), [(0, 0), (1, 1), (10, 3), (1000, 1)])
def test_rarity_is_the_inverse_document_frequency(documents: int, known: int) -> None:
    expected = math.log(1 + (documents - known + 0.5) / (known + 0.5))
    assert rarity(documents, known) == pytest.approx(expected)


def test_the_fewer_texts_have_a_stem_the_rarer_it_is_and_it_is_never_negative() -> None:
    values = [rarity(20, known) for known in range(21)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_rarity_in_a_scope_counts_its_texts_and_no_others() -> None:
    with AgentMemory.open(":memory:", scope="garden", llm=None, embedder="none") as memory:
        for text in ("Tulips bloom in April", "Tulips need water", "The cat sleeps"):
            memory.add(text)
        of_stem = rarity_in_scope(memory.ports)
        assert of_stem("tulip") == rarity(3, 2)
        assert of_stem("cat") == rarity(3, 1)
        assert of_stem("deploy") == rarity(3, 0)
