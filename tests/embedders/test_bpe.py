"""The byte-pair tokenizer returns the same tokens as the library `tokenizers`."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer as FullTokenizer

from slowwave.embedders.bpe import BYTES, FIRST, LONGEST, SPACE, Tokenizer
from slowwave.embedders.safetensors import folders
from slowwave.embedders.static import _tokenizer


@pytest.fixture(scope="module")
def original() -> Path:
    """The tokenizer file of wordllama, from which the vocabulary of this package was copied."""
    (file,) = folders("wordllama")[0].glob("tokenizer*/l2_supercat_tokenizer_config.json")
    return file


@pytest.fixture(scope="module")
def vocabulary(original: Path) -> dict[str, int]:
    ids: dict[str, int] = json.loads(original.read_bytes())["model"]["vocab"]
    return ids


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return _tokenizer()


@pytest.fixture(scope="module")
def full(original: Path) -> FullTokenizer:
    return FullTokenizer.from_file(str(original))


def test_the_vocabulary_equals_that_of_its_origin(tokenizer: Tokenizer, vocabulary: dict[str, int]) -> None:
    assert list(vocabulary.values()) == list(range(len(vocabulary)))
    assert [tokenizer.spelling(token) for token in vocabulary.values()] == list(vocabulary)


def test_a_word_of_the_vocabulary_is_one_token(tokenizer: Tokenizer, vocabulary: dict[str, int]) -> None:
    words = [spelling for spelling in vocabulary if spelling[0] == SPACE and spelling[1:].isalpha()]
    assert len(words) > 10_000
    assert [tokenizer.ids(word[1:]) for word in words] == [[vocabulary[word]] for word in words]


def test_a_vocabulary_may_hold_line_breaks_of_unicode(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.txt"
    spellings = [f"<{n}>" for n in range(FIRST)] + ["▁a", "b\u2028", '"']
    file.write_text("\n".join(spellings), encoding="utf-8", newline="\n")
    tokenizer = Tokenizer(file)
    assert tokenizer.ids('a"') == [FIRST, FIRST + 2]
    assert tokenizer.spelling(FIRST + 1) == "b\u2028"
    assert min(tokenizer.ids("<0>")) >= BYTES


WORDS = st.one_of(
    st.from_regex(r"[A-Za-z]{1,14}[.,!?']?[a-z]{0,2}", fullmatch=True),
    st.text(st.characters(exclude_categories=("Z", "Cs", "Cc")), min_size=1, max_size=LONGEST - 1),
    st.sampled_from(
        ["東京", "naïve", "Ελλάδα", "😀", "10:30", "$5,000", "https://a.b/c?d=e", "I'm", "don't", "x_y", "<br>"]
    ),
)


@settings(max_examples=100, deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=8))
def test_tokens_equal_those_of_the_full_tokenizer(tokenizer: Tokenizer, full: FullTokenizer, words: list[str]) -> None:
    text = " ".join(" ".join(words).split())
    if "<s>" in text or "</s>" in text or "<unk>" in text or not text or "▁▁" in text or " ▁" in text or text[0] == "▁":
        return  # control tokens and doubled spaces have a meaning for the full tokenizer only
    if any(len(word) > LONGEST for word in text.split()):
        return
    assert tokenizer.ids(text) == full.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u3000"])
def test_a_blank_text_has_no_tokens(tokenizer: Tokenizer, blank: str) -> None:
    assert tokenizer.ids(blank) == []


def test_white_space_only_separates_words(tokenizer: Tokenizer) -> None:
    assert tokenizer.ids("  one\n\ttwo ") == tokenizer.ids("one two")


def test_a_character_outside_the_vocabulary_becomes_its_bytes(tokenizer: Tokenizer) -> None:
    assert tokenizer.ids("\U0001f9ff")[1:] == [BYTES + byte for byte in "\U0001f9ff".encode()]


def test_a_lone_surrogate_has_tokens(tokenizer: Tokenizer) -> None:
    assert tokenizer.ids("\ud83d")


def test_control_tokens_in_a_text_are_plain_text(tokenizer: Tokenizer) -> None:
    assert min(tokenizer.ids("<s></s><unk><0x0A>")) > BYTES


def test_a_very_long_word_is_cut_at_a_fixed_length(tokenizer: Tokenizer) -> None:
    long = "ab" * LONGEST
    assert tokenizer.ids(long)[: len(tokenizer.ids(long[:LONGEST]))] == tokenizer.ids(long[:LONGEST])
