"""Bytes are found wherever they lie, however what is read is cut, and thousands cost what one does."""

import time

from hypothesis import given, strategies as st

from slowwave.stores import byte_scan
from slowwave.stores.byte_scan import BytePatterns, contains

WORDS = st.binary(min_size=8, max_size=24)


@given(st.sets(WORDS, min_size=1, max_size=30), st.lists(st.binary(max_size=40), max_size=12), st.data())
def test_what_stands_there_is_found_and_nothing_else(words: set[bytes], rest: list[bytes], data: st.DataObject) -> None:
    there = data.draw(st.sets(st.sampled_from(sorted(words))))
    whole = b"".join(data.draw(st.permutations([*rest, *there])))
    cut = data.draw(st.integers(1, 9))
    parts = [whole[place : place + cut] for place in range(0, len(whole), cut)]
    wanted = {word for word in words if word in whole}
    assert there <= wanted
    assert set(BytePatterns(words).among(parts)) == wanted
    assert contains(parts, BytePatterns(words)) == bool(wanted)


def test_what_begins_or_ends_in_another_piece_is_found() -> None:
    words = [f"the word of number {n:03}".encode() for n in range(100)]
    big = b"." * (byte_scan.PIECE - 10)
    assert set(BytePatterns(words).among([big, words[7], big, words[99][:5], words[99][5:], big])) == {
        words[7],
        words[99],
    }
    assert set(BytePatterns(words[:2]).among([big, words[0][:3], words[0][3:], big])) == {words[0]}


def test_thousands_of_words_that_begin_alike_are_found_as_fast() -> None:
    words = [f"I think that the number is {n * 7919 % 100_003}".encode() for n in range(8000)]
    kept = [f"I think that the number was {n}\n".encode() for n in range(40_000)]
    begun = time.perf_counter()
    assert not contains(kept, BytePatterns(words))
    assert time.perf_counter() - begun < 5, "each place costs a look at one or a few words, not at all"


def test_words_too_short_to_tell_anything_are_not_looked_for() -> None:
    short = [f"m{n}".encode() for n in range(20)]
    assert not contains([b"m1 m2 m3"], BytePatterns(short))
    assert not contains([b"m1 m2 m3"], BytePatterns(short[:2]))
    assert set(BytePatterns([*short, b"long enough"]).among([b"m1 is long enough"])) == {b"long enough"}


def test_without_words_nothing_is_read() -> None:
    assert not contains((b"" for _ in iter(int, 1)), BytePatterns([]))
