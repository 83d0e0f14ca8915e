import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from numpy.typing import NDArray

from slowwave.policy.summaries import grouping
from slowwave.policy.summaries.grouping import groups

SLACK = 1e-6  # of a float32 product


def cloud(seed: int, rows: int, centres: int, spread: float, dim: int = 16) -> NDArray[np.float32]:
    """Points around a few centres, as unit rows."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((centres, dim))[random.integers(0, centres, rows)]
    points += spread * random.standard_normal((rows, dim))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def names(rows: int) -> list[str]:
    return [f"{row:04d}" for row in range(rows)]


clouds = st.builds(
    cloud,
    seed=st.integers(min_value=0, max_value=999),
    rows=st.integers(min_value=1, max_value=60),
    centres=st.integers(min_value=1, max_value=6),
    spread=st.floats(min_value=0.0, max_value=1.0),
)


@settings(deadline=None)
@given(clouds, st.floats(min_value=0.3, max_value=0.95), st.integers(min_value=2, max_value=5))
def test_every_two_of_a_group_are_similar_and_groups_are_disjoint(
    vectors: NDArray[np.float32], threshold: float, smallest: int
) -> None:
    found = groups(vectors, keys=names(len(vectors)), threshold=threshold, smallest=smallest, largest=7)
    rows = [row for group in found for row in group]
    assert len(rows) == len(set(rows))
    for group in found:
        assert smallest <= len(group) <= 7
        assert (vectors[list(group)] @ vectors[list(group)].T).min() >= threshold - SLACK


@settings(deadline=None)
@given(clouds, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(vectors: NDArray[np.float32], random: object) -> None:
    keys = names(len(vectors))
    order = list(range(len(keys)))
    random.shuffle(order)
    grouped = groups(vectors, keys=keys, threshold=0.6, smallest=3)
    shuffled = groups(vectors[order], keys=[keys[row] for row in order], threshold=0.6, smallest=3)
    assert [[keys[row] for row in group] for group in grouped] == [
        [keys[order[row]] for row in group] for group in shuffled
    ]


@settings(deadline=None)
@given(clouds)
@example(cloud(seed=204, rows=52, centres=1, spread=0.4375))  # more near ones than are kept
def test_no_two_groups_could_still_be_joined(vectors: NDArray[np.float32]) -> None:
    found = groups(vectors, keys=names(len(vectors)), threshold=0.6, smallest=2)
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            if len(one) + len(other) <= 12:
                assert (vectors[list(one)] @ vectors[list(other)].T).min() < 0.6 + SLACK


def test_a_chain_is_not_a_group() -> None:
    angles = np.radians([0, 30, 60, 90, 120])
    chain = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert groups(chain, keys=names(5), threshold=0.8, smallest=2) == [(0, 1), (2, 3)]


def test_the_most_similar_clusters_are_joined_first() -> None:
    angles = np.radians([0, 20, 30])
    three = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert groups(three, keys=names(3), threshold=0.9, smallest=2) == [(1, 2)]


def test_groups_have_at_least_the_smallest_size() -> None:
    assert groups(np.ones((7, 1), dtype=np.float32), keys=names(7), threshold=0.7) == [tuple(range(7))]
    assert groups(np.ones((4, 1), dtype=np.float32), keys=names(4), threshold=0.7) == []


def test_many_similar_memories_make_several_groups_of_limited_size() -> None:
    found = groups(np.ones((30, 1), dtype=np.float32), keys=names(30), threshold=0.7)
    assert sum(map(len, found)) >= 24
    assert max(map(len, found)) <= 12


def test_with_more_neighbours_than_are_kept_all_are_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "_TILE", 500)  # blocks of a few rows
    vectors = cloud(1, rows=200, centres=1, spread=0.05)
    found = groups(vectors, keys=names(200), threshold=0.9)
    assert sum(map(len, found)) >= 180
    for group in found:
        assert (vectors[list(group)] @ vectors[list(group)].T).min() >= 0.9 - SLACK


def test_the_size_of_blocks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = cloud(2, rows=80, centres=9, spread=0.3)
    whole = groups(vectors, keys=names(80), threshold=0.7, smallest=2)
    monkeypatch.setattr(grouping, "_TILE", 80)
    assert groups(vectors, keys=names(80), threshold=0.7, smallest=2) == whole


def test_zero_vectors_are_in_no_group() -> None:
    assert groups(np.zeros((0, 4), dtype=np.float32), keys=[], threshold=0.7) == []
    assert groups(np.zeros((9, 4), dtype=np.float32), keys=names(9), threshold=0.7) == []
