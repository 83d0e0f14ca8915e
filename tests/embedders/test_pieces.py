"""The small tokenizer cuts text as the full one does."""

import json

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer

from slowwave.embedders.pieces import BYTES, LONGEST, Pieces
from slowwave.embedders.static import StaticEmbedder, _pieces


@pytest.fixture(scope="module")
def vocabulary() -> str:
    return str(StaticEmbedder()._vocabulary)


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(_pieces(StaticEmbedder()._vocabulary))


@pytest.fixture(scope="module")
def full(vocabulary: str) -> Tokenizer:
    return Tokenizer.from_file(vocabulary)


def test_the_vocabulary_is_read_whole_without_the_rest_of_the_file(vocabulary: str) -> None:
    with open(vocabulary, encoding="utf-8") as file:  # noqa: PTH123 - a plain read, to compare with
        assert _pieces(StaticEmbedder()._vocabulary) == json.load(file)["model"]["vocab"]


WORDS = st.one_of(
    st.from_regex(r"[A-Za-z]{1,14}[.,!?']?[a-z]{0,2}", fullmatch=True),
    st.text(st.characters(exclude_categories=("Z", "Cs", "Cc")), min_size=1, max_size=LONGEST - 1),
    st.sampled_from(
        ["東京", "naïve", "Ελλάδα", "😀", "10:30", "$5,000", "https://a.b/c?d=e", "I'm", "don't", "x_y", "<br>"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=8))
def test_pieces_equal_those_of_the_full_tokenizer(pieces: Pieces, full: Tokenizer, words: list[str]) -> None:
    text = " ".join(" ".join(words).split())
    if "<s>" in text or "</s>" in text or "<unk>" in text or not text or "▁▁" in text or " ▁" in text or text[0] == "▁":
        return  # control marks and doubled spaces mean something to the full tokenizer, not to us
    if any(len(word) > LONGEST for word in text.split()):
        return
    assert pieces.numbers(text) == full.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u3000"])
def test_a_blank_text_has_no_pieces(pieces: Pieces, blank: str) -> None:
    assert pieces.numbers(blank) == []


def test_white_space_only_separates(pieces: Pieces) -> None:
    assert pieces.numbers("  one\n\ttwo ") == pieces.numbers("one two")


def test_what_the_vocabulary_lacks_is_spelled_in_bytes(pieces: Pieces) -> None:
    assert pieces.numbers("\U0001f9ff")[1:] == [BYTES + byte for byte in "\U0001f9ff".encode()]


def test_half_a_character_is_spelled_too(pieces: Pieces) -> None:
    assert pieces.numbers("\ud83d")


def test_control_marks_in_a_text_are_plain_text(pieces: Pieces) -> None:
    assert min(pieces.numbers("<s></s><unk><0x0A>")) > BYTES


def test_very_long_words_are_cut_at_a_fixed_length(pieces: Pieces) -> None:
    long = "ab" * LONGEST
    assert pieces.numbers(long)[: len(pieces.numbers(long[:LONGEST]))] == pieces.numbers(long[:LONGEST])


def test_a_piece_is_known_or_none(pieces: Pieces) -> None:
    assert pieces.number("▁the") == 278
    assert pieces.number("▁thequick") is None
