"""Write `src/slowwave/policy/data/word_frequency.tsv`, the bundled table of how common English words are.

    pip download --no-deps spacy-lookups-data==1.0.5 && unzip spacy_lookups_data-*.whl
    python bench/make_background.py spacy_lookups_data/data/en_lexeme_prob.json.gz src/slowwave/policy/data/word_frequency.tsv

The source (MIT) gives ln of the probability of a million spellings in conversational English.
Kept are the 20,000 most frequent words, upper and lower case together, rounded to 0.1.
"""

import gzip
import json
import math
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

KEPT = 20_000


def main(source: Path, target: Path) -> None:
    spellings: dict[str, float] = json.loads(gzip.decompress(source.read_bytes()))
    shares: defaultdict[str, float] = defaultdict(float)
    for spelling, exponent in spellings.items():
        if spelling.isascii() and spelling.isalpha():
            shares[spelling.lower()] += math.exp(exponent)
    kept = sorted(shares, key=lambda word: (-shares[word], word))[:KEPT]
    steps = groupby(kept, key=lambda word: round(math.log(shares[word]), 1))
    lines = [f"{step}\t{' '.join(sorted(words))}\n" for step, words in steps]
    target.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
