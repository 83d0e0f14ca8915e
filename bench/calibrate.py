"""The cosines of an embedder that correspond to MiniLM's 0.92, 0.70 and 0.40: the values of its `similarity`.

    SLOWWAVE_DATA=... python bench/calibrate.py static

For each of MiniLM's cosines, the cosine of the other embedder at which the same share of pairs lies above:
- "recall": of paraphrases (SICK pairs that entail, relatedness 4.5 and more; MRPC paraphrases),
- "base rate": of all pairs of facts of one conversation (LoCoMo observations).
Last comes the mean of the three, which is what `similarity` holds, rounded.
"""

import csv
import json
import os
import re
import sys
from pathlib import Path

import numpy as np

from slowwave.embedders import checked, make

MEANT = (0.92, 0.85, 0.70, 0.40)


def paraphrases(data: Path) -> dict[str, list[tuple[str, str]]]:
    with (data / "sick" / "SICK_train.txt").open(newline="") as file:
        sick = [
            (row["sentence_A"], row["sentence_B"])
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["entailment_judgment"].strip() == "ENTAILMENT" and float(row["relatedness_score"]) >= 4.5
        ]
    lines = (data / "mrpc" / "msr_paraphrase_train.txt").read_text(encoding="utf-8-sig").splitlines()[1:]
    mrpc = [(first, second) for label, _, _, first, second in (line.split("\t") for line in lines) if label == "1"]
    return {"recall, SICK": sick, "recall, MRPC": mrpc[:600]}


def facts(data: Path) -> list[list[str]]:
    return [
        [
            fact
            for key, said in sample["observation"].items()
            if re.match("session_", key)
            for many in said.values()
            for fact, *_ in many
        ]
        for sample in json.loads((data / "locomo" / "locomo-dev.json").read_text())
    ]


def cosines(name: str, data: Path) -> dict[str, np.ndarray]:
    embedder = make(name)
    if embedder is None:
        sys.exit(f"{name} has no vectors")
    found = {}
    for label, pairs in paraphrases(data).items():
        rows = checked(embedder, [text for pair in pairs for text in pair])
        found[label] = (rows[::2] * rows[1::2]).sum(axis=1)
    products = []
    for conversation in facts(data):
        rows = checked(embedder, conversation)
        products.append((rows @ rows.T)[np.triu_indices(len(rows), 1)])
    found["base rate, LoCoMo"] = np.concatenate(products)
    return found


def main() -> None:
    folder = os.environ.get("SLOWWAVE_DATA")
    if not folder:
        sys.exit("set SLOWWAVE_DATA to the folder that has sick, mrpc and locomo")
    meant = cosines(os.environ.get("SLOWWAVE_MINILM", "minilm"), Path(folder))
    other = cosines(sys.argv[1] if len(sys.argv) > 1 else "static", Path(folder))
    for cosine in MEANT:
        equals = []
        for label, values in meant.items():
            share = float((values >= cosine).mean())
            equals.append(float(np.quantile(other[label], 1 - share)))
            print(
                f"MiniLM {cosine:.2f}: {label:17} {100 * share:8.4f} % of {len(values)} pairs; as many at {equals[-1]:.3f}"
            )
        print(f"MiniLM {cosine:.2f}: mean {np.mean(equals):.3f}")


if __name__ == "__main__":
    main()
