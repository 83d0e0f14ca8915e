"""Copies the token vectors and the vocabulary of the static embedder out of the installed package wordllama.

The package brings fourteen others with it that the embedder does not use, so its two data files are part of this one.
Run it after installing another version of wordllama; if the vectors change, so do the fingerprints in stores.
"""

import json
import shutil
from pathlib import Path

from slowwave.embedders.safetensors import folders

DATA = Path(__file__).parents[1] / "src" / "slowwave" / "embedders" / "data"


def originals() -> tuple[Path, Path]:
    """The files of the vectors and of the tokenizer in the installed package, which is not imported."""
    folder = next(iter(folders("wordllama")), None)
    if folder is None:
        raise SystemExit("wordllama is not installed: make setup installs it, with the tools of development")
    (tokenizer,) = folder.glob("tokenizer*/l2_supercat_tokenizer_config.json")
    return folder / "weights" / "l2_supercat_256.safetensors", tokenizer


def vocabulary(tokenizer: Path) -> str:
    """The spellings of the tokens in order, one on each line."""
    ids: dict[str, int] = json.loads(tokenizer.read_bytes())["model"]["vocab"]
    assert list(ids.values()) == list(range(len(ids)))
    assert not any("\n" in spelling for spelling in ids)
    return "\n".join(ids)


if __name__ == "__main__":
    vectors, tokenizer = originals()
    shutil.copyfile(vectors, DATA / "token_vectors.safetensors")
    (DATA / "vocabulary.txt").write_text(vocabulary(tokenizer), encoding="utf-8", newline="\n")
    print(f"copied {vectors.name} and {tokenizer.name} to {DATA}")
