"""The small tokenizer cuts text as the full one does."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer

from slowwave.embedders.bpe import BYTES, FIRST, LONGEST, PATIENCE, Pieces, Vocabulary
from slowwave.embedders.static import StaticEmbedder


@pytest.fixture(scope="module")
def vocabulary() -> str:
    return str(StaticEmbedder()._file)


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(Vocabulary(StaticEmbedder()._file, FIRST))


@pytest.fixture(scope="module")
def full(vocabulary: str) -> Tokenizer:
    return Tokenizer.from_file(vocabulary)


@pytest.fixture(scope="module")
def listed(vocabulary: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(Path(vocabulary).read_bytes())["model"]["vocab"]
    return found


def test_every_piece_is_found_where_it_stands_and_when_all_are_read(vocabulary: str, listed: dict[str, int]) -> None:
    looked = Vocabulary(Path(vocabulary), FIRST)
    assert len(looked) == len(listed)
    for piece, number in listed.items():
        looked._found.clear()  # or all would soon be read
        plain = not any(letter in '"\\' or letter < " " for letter in piece)
        if plain:
            assert looked._look(piece, -1) == (number if number >= FIRST else -1), piece
        assert looked.spelled(number) == piece
    assert not looked._pieces
    read = Vocabulary(Path(vocabulary), FIRST)
    read._read()
    assert all(read.get(piece, -1) == (number if number >= FIRST else -1) for piece, number in listed.items())
    assert [read.spelled(number) for number in range(len(read))] == list(listed)


def test_what_is_no_piece_is_not_found_by_looking(vocabulary: str, listed: dict[str, int]) -> None:
    looked = Vocabulary(Path(vocabulary), FIRST)
    for piece in ("kubernetesq", "zq", "▁the ", "the,", "thethethe", ": 259", '", ', "qqqqqqqq", "\ud800"):
        assert looked.get(piece, -1) == listed.get(piece, -1) == -1
    assert looked.get('"', -1) == listed['"']
    assert looked._pieces


def test_after_some_looking_all_is_read(vocabulary: str, listed: dict[str, int]) -> None:
    looked = Vocabulary(Path(vocabulary), FIRST)
    old = looked.get
    asked = [piece for piece in listed if piece.isalpha()][: PATIENCE + 3]
    assert [looked.get(piece, -1) for piece in asked] == [listed[piece] for piece in asked]
    assert looked._pieces
    assert old(asked[-1], -1) == listed[asked[-1]]


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
@pytest.mark.parametrize("plain", [True, False])
def test_a_file_that_is_laid_out_in_another_way_is_read(tmp_path: Path, indent: int | None, plain: bool) -> None:
    numbers = {f"<{n}>": n for n in range(FIRST)} | {"▁a": FIRST, "bé": FIRST + 1, '"': FIRST + 2}
    file = tmp_path / "tokenizer.json"
    whole = {"model": {"vocab": numbers, "merges": ["a b"]}}
    file.write_text(json.dumps(whole, indent=indent, ensure_ascii=not plain), encoding="utf-8")
    found = Vocabulary(file, FIRST)
    assert [found.get(piece, -1) for piece in ("▁a", "bé", '"', "<0>", "c")] == [FIRST, FIRST + 1, FIRST + 2, -1, -1]
    assert (len(found), found.spelled(FIRST + 1)) == (FIRST + 3, "bé")


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
