"""Search in languages other than English: the share of questions whose answer is the first hit, and among the first five.

    python bench/languages.py [FILE.json ...] [--embedder static]

Each language has 20 messages of one person in one conversation, and 10 questions, each with the message that answers it.
`bench/data/languages.json` has eight languages in sentences of our own. Other files have the same form:

    {language: {"messages": [{"at": ISO time, "content": text}], "questions": [{"question": text, "gold": index}]}}
"""

import argparse
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from measuring import HERE, save, table
from slowwave import AgentMemory, Message

OWN = HERE / "data" / "languages.json"
FIRST = (1, 5)


def places(language: str, sample: dict[str, list[dict[str, object]]], embedder: str) -> list[int]:
    """The place of the answer among the hits of each question, from 1; 99 if it is not found."""
    said = [
        Message(role="user", content=str(one["content"]), at=datetime.fromisoformat(str(one["at"])), id=str(number))
        for number, one in enumerate(sample["messages"])
    ]
    end = max(message.at for message in said if message.at) + timedelta(days=1)
    found = []
    with AgentMemory.open(":memory:", embedder=embedder, llm=None, clock=lambda: end) as memory:
        memory.add_messages(said, language)
        for item in sample["questions"]:
            ranked = [str(source) for hit in memory.search(str(item["question"]), top_k=10) for source in hit.sources]
            gold = str(item["gold"])
            found.append(ranked.index(gold) + 1 if gold in ranked else 99)
    return found


def figures(found: Sequence[int]) -> list[float]:
    """The share of places up to each of `FIRST`, in percent."""
    return [round(100 * sum(place <= most for place in found) / len(found), 1) for most in FIRST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[OWN])
    parser.add_argument("--embedder", default="static")
    options = parser.parse_args()
    found: dict[str, list[int]] = {}
    for path in options.files:
        for language, sample in json.loads(path.read_text(encoding="utf-8")).items():
            found.setdefault(language, []).extend(places(language, sample, options.embedder))
    rows = [(language, *figures(ranks), " ".join(map(str, ranks))) for language, ranks in found.items()]
    both = figures([place for ranks in found.values() for place in ranks])
    print(table(("language", "hit@1", "hit@5", "places"), [*rows, ("all", *both, "")]))
    result = dict(zip(("hit@1", "hit@5"), both, strict=True))
    print(json.dumps({**result, "questions": sum(map(len, found.values()))}))
    print(f"saved in {save('languages', {'all': result, **{name: figures(ranks) for name, ranks in found.items()}})}")


if __name__ == "__main__":
    main()
