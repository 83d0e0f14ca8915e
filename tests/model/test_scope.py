import pytest
from hypothesis import given, strategies as st

from slowwave.errors import InputError
from slowwave.model.scope import DEFAULT_SCOPE, ancestors, checked_scope


@pytest.mark.parametrize(
    "path", [DEFAULT_SCOPE, "acme/alice", "Müller/爱丽丝", "a.b_c-d", "x" * 64, "/".join(["a" * 50] * 5)]
)
def test_a_path_of_visible_names_is_a_scope(path: str) -> None:
    assert checked_scope(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "a b",
        "a\n",
        "a\x00",
        "..",
        "a/../b",
        ".",
        "x" * 65,
        "/".join(["a" * 50] * 6),
        None,
        7,
    ],
)
def test_anything_else_is_refused_with_an_example(path: object) -> None:
    with pytest.raises(InputError, match="is not a scope: use 1 to 64 visible characters between slashes, such as"):
        checked_scope(path)


@given(st.lists(st.sampled_from(["acme", "team", "alice"]), min_size=1, max_size=6))
def test_ancestors_are_the_paths_above_nearest_first(parts: list[str]) -> None:
    above = ancestors("/".join(parts))
    assert len(above) == len(parts) - 1
    assert all(
        nearer.startswith(f"{farther}/") for nearer, farther in zip(("/".join(parts), *above), above, strict=False)
    )


def test_a_scope_without_slashes_has_nothing_above() -> None:
    assert ancestors("default") == ()
