"""Byte patterns are found at any position, across pieces, and thousands cost hardly more than one."""

import time

from hypothesis import given, strategies as st

from slowwave.stores import byte_scan
from slowwave.stores.byte_scan import BytePatterns, contains

WORDS = st.binary(min_size=8, max_size=24)


@given(st.sets(WORDS, min_size=1, max_size=30), st.lists(st.binary(max_size=40), max_size=12), st.data())
def test_exactly_the_contained_patterns_are_found(words: set[bytes], rest: list[bytes], data: st.DataObject) -> None:
    there = data.draw(st.sets(st.sampled_from(sorted(words))))
    whole = b"".join(data.draw(st.permutations([*rest, *there])))
    cut = data.draw(st.integers(1, 9))
    parts = [whole[place : place + cut] for place in range(0, len(whole), cut)]
    wanted = {word for word in words if word in whole}
    assert there <= wanted
    assert set(BytePatterns(words).among(parts)) == wanted
    assert contains(parts, BytePatterns(words)) == bool(wanted)


def test_a_pattern_across_two_pieces_is_found() -> None:
    words = [f"the word of number {n:03}".encode() for n in range(100)]
    big = b"." * (byte_scan.PIECE - 10)
    assert set(BytePatterns(words).among([big, words[7], big, words[99][:5], words[99][5:], big])) == {
        words[7],
        words[99],
    }
    assert set(BytePatterns(words[:2]).among([big, words[0][:3], words[0][3:], big])) == {words[0]}


def test_thousands_of_patterns_with_a_common_beginning_are_found_as_fast() -> None:
    words = [f"I think that the number is {n * 7919 % 100_003}".encode() for n in range(8000)]
    kept = [f"I think that the number was {n}\n".encode() for n in range(40_000)]
    begun = time.process_time()
    assert not contains(kept, BytePatterns(words))
    assert time.process_time() - begun < 5, "each place costs a look at one or a few words, not at all"


def test_patterns_of_fewer_than_eight_bytes_are_ignored() -> None:
    short = [f"m{n}".encode() for n in range(20)]
    assert not contains([b"m1 m2 m3"], BytePatterns(short))
    assert not contains([b"m1 m2 m3"], BytePatterns(short[:2]))
    assert set(BytePatterns([*short, b"long enough"]).among([b"m1 is long enough"])) == {b"long enough"}


def test_without_patterns_nothing_is_read() -> None:
    assert not contains((b"" for _ in iter(int, 1)), BytePatterns([]))


def test_patterns_of_one_letter_are_found_and_missed_like_any_other() -> None:
    run = b"a" * 5_000
    words = [run + bytes([65 + place]) for place in range(20)]
    patterns = BytePatterns(words)
    assert set(patterns.among([b"-" + run * 3, b"aaB-", run + b"Z"])) == {words[1]}
    assert list(patterns.among([run * 10])) == []
