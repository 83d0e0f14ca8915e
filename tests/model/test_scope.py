import string

import pytest
from hypothesis import given, strategies as st

from slowwave.errors import InputError
from slowwave.model.scope import DEFAULT_SCOPE, PATH_BYTES, ancestors, checked_scope, names_of, scope_of

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text("%/.0123456789aAfF \x00", max_size=6)
PARTS = st.text(
    st.sampled_from([character for character in string.printable if character > " " and character not in "/%"]),
    min_size=1,
    max_size=12,
).filter(lambda part: part not in {".", ".."})


@pytest.mark.parametrize(
    "path",
    [DEFAULT_SCOPE, "acme/alice", "Müller/爱丽丝", "a.b_c-d", "x" * 64, "/".join(["a" * 50] * 6), "x" * PATH_BYTES],
)
def test_a_path_of_visible_characters_is_a_scope(path: str) -> None:
    assert checked_scope(path) == path


@pytest.mark.parametrize("path", ["", "/", "a/", "/a", "a//b", "a b", "a\n", "a\x00", "..", "a/../b", ".", None, 7])
def test_anything_else_is_refused_with_an_example(path: object) -> None:
    with pytest.raises(
        InputError, match="is not a scope: use visible characters between slashes, such as 'acme/alice'"
    ):
        checked_scope(path)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["x" * (PATH_BYTES + 1), "ö" * (PATH_BYTES // 2 + 1)])
def test_a_path_longer_than_a_key_of_an_index_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="use a path of at most 2048 bytes"):
        checked_scope(path)
    with pytest.raises(InputError, match="use a path of at most 2048 bytes"):
        scope_of([path])


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_of_any_text_give_a_valid_scope_and_are_decoded_again(names: list[str]) -> None:
    path = scope_of(names)
    assert checked_scope(path) == path
    assert names_of(path) == tuple(names)


@given(st.lists(NAMES, min_size=1, max_size=3), st.lists(NAMES, min_size=1, max_size=3))
def test_two_different_lists_of_names_never_give_the_same_scope(names: list[str], others: list[str]) -> None:
    assert (scope_of(names) == scope_of(others)) == (names == others)


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_names_that_are_valid_parts_stay_as_they_are(parts: list[str]) -> None:
    assert scope_of(parts) == "/".join(parts)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Alice O'Neil / Köln 🙂", "Alice%20O'Neil%20%2F%20Köln%20🙂"),
        ("", "%FF"),
        ("%FF", "%25FF"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("...", "..."),
        ("a\tb\x00", "a%09b%00"),
        ("100%", "100%"),
        ("a%2fb", "a%252fb"),
        (42, "42"),
        (-7, "-7"),
    ],
)
def test_each_kind_of_name_has_its_part(name: object, part: str) -> None:
    assert scope_of([name]) == part
    assert names_of(part) == (str(name),)


@pytest.mark.parametrize("name", [None, b"alice", True, 4.2, "\ud800", ["alice"], 10**200])
def test_a_name_that_is_neither_text_nor_a_number_is_refused(name: object) -> None:
    with pytest.raises(InputError):
        scope_of(["acme", name])


def test_no_name_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="pass the names of the scope"):
        scope_of([])


def test_names_go_below_another_path() -> None:
    assert scope_of(["n/1"], below="acme/alice") == "acme/alice/n%2F1"


@pytest.mark.parametrize("part", ["%41", "%ff", "%2e", "%C3", "%"])
def test_a_part_that_no_name_gives_is_shown_as_it_is(part: str) -> None:
    assert names_of(part) == (part,)


@given(st.lists(st.sampled_from(["acme", "team", "alice"]), min_size=1, max_size=6))
def test_ancestors_are_the_paths_above_nearest_first(parts: list[str]) -> None:
    above = ancestors("/".join(parts))
    assert len(above) == len(parts) - 1
    assert all(
        nearer.startswith(f"{farther}/") for nearer, farther in zip(("/".join(parts), *above), above, strict=False)
    )


def test_a_scope_without_slashes_has_nothing_above() -> None:
    assert ancestors("default") == ()
