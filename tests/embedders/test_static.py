"""The default embedder: offline, fast, and one vector for one text."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.waiting import LONGEST

from slowwave.embedders import static
from slowwave.embedders.bpe import FIRST, SPACE
from slowwave.embedders.safetensors import folders
from slowwave.embedders.static import StaticEmbedder
from slowwave.policy.text import word_frequency


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_rows_are_float32_of_unit_length(embedder: StaticEmbedder) -> None:
    rows = embedder.embed(["My sister moved to Lisbon.", "!!!", "東京", "x" * 5_000])
    assert rows.shape == (4, 256)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_a_blank_text_has_a_row_of_zeros(embedder: StaticEmbedder) -> None:
    assert embedder.embed(["", "a", " \n"]).any(axis=1).tolist() == [False, True, False]
    assert not embedder.embed(["", ""]).any()


def test_no_texts_give_no_rows(embedder: StaticEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 256)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=12))
def test_the_vector_of_a_text_does_not_depend_on_the_other_texts(embedder: StaticEmbedder, texts: list[str]) -> None:
    together = embedder.embed(texts)
    assert np.isfinite(together).all()
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(embedder.embed([text])[0], row)


def test_cutting_into_batches_changes_nothing(embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one two three " * count for count in range(40)]
    whole = embedder.embed(texts)
    monkeypatch.setattr(static, "BATCH", 7)
    np.testing.assert_allclose(embedder.embed(texts), whole, atol=1e-5)


def test_meaning_counts_more_than_words(embedder: StaticEmbedder) -> None:
    lisbon, portugal, bread = embedder.embed(["She lives in Lisbon", "Her home is in Portugal", "He baked bread"])
    assert lisbon @ portugal > lisbon @ bread


def test_frequent_words_weigh_less(embedder: StaticEmbedder) -> None:
    plain, padded, other = embedder.embed(["guitar", "and the guitar is with you", "guitar lessons"])
    assert plain @ padded > 0.85
    assert plain @ padded > plain @ other


def test_words_have_unit_vectors_and_are_cached(embedder: StaticEmbedder) -> None:
    rows = embedder.word_vectors(["boulder", "rock", "violin", "boulder"])
    assert rows.shape == (4, 256)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert np.array_equal(rows[0], embedder.embed(["boulder"])[0])
    assert embedder._word.cache_info().hits >= 1
    assert embedder.word_vectors([]).shape == (0, 256)


def test_the_name_changes_with_the_vectors() -> None:
    """A change of the vectors needs a higher RECIPE: change this pair of name and checksum together."""
    embedder = StaticEmbedder()
    texts = ["Hello, world!", "I'm in Lisbon since May 2023.", "東京 😀", "don't"]
    checksum = zlib.crc32(np.round(embedder.embed(texts) * 100).astype(np.int8).tobytes())
    assert (embedder.name, f"{checksum:08x}") == ("static:256:554463a0:1.1:0.003", "7d1844ff")


def test_the_vectors_equal_those_of_their_origin() -> None:
    original = folders("wordllama")[0] / "weights" / "l2_supercat_256.safetensors"
    assert (static._DATA / "token_vectors.safetensors").read_bytes() == original.read_bytes()


def test_embedders_of_one_process_share_the_map_of_the_vectors() -> None:
    assert StaticEmbedder()._rows is StaticEmbedder()._rows


def test_similarities_are_in_order() -> None:
    numbers = StaticEmbedder.similarity
    assert 0 < numbers["related"] < numbers["group"] < numbers["duplicate"] < 1


def test_neither_network_nor_heavy_imports_are_needed() -> None:
    code = (
        "import socket, sys\n"
        "socket.socket = None\n"
        "from slowwave.embedders.static import StaticEmbedder\n"
        "assert StaticEmbedder().embed(['hello']).any()\n"
        "assert not {'wordllama', 'tokenizers', 'safetensors', 'openai', 'pydantic'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONGEST)


def test_the_weight_of_a_token_follows_from_the_word_sign_or_ending_it_spells(embedder: StaticEmbedder) -> None:
    tokens = {embedder._tokenizer.spelling(token): token for token in range(FIRST, len(embedder._rows))}
    shares = {
        SPACE + spelled: share
        for word, share in list(word_frequency.probabilities().items())[: static.COMMON]
        for spelled in (word, word.capitalize(), word.upper())
    }
    shares |= {spelled: static.PUNCTUATION_SHARE for sign in static.PUNCTUATION for spelled in (sign, SPACE + sign)}
    shares |= dict.fromkeys(static.CONTRACTIONS, static.CONTRACTION_SHARE)
    assert {spelling: static.share(spelling) for spelling in tokens} == {
        spelling: shares.get(spelling, 0.0) for spelling in tokens
    }
    numbers = np.array(list(tokens.values()))
    expected = static.RARITY / (
        static.RARITY + np.array([shares.get(spelling, 0.0) for spelling in tokens], dtype=np.float32)
    )
    assert np.array_equal(embedder._weights(numbers)[:, 0], expected)
