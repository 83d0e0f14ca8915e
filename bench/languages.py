"""Search in languages other than English: the share of questions whose answer is the first hit, and among the first five.

    python bench/languages.py [FILE.json ...] [--embedder static]

The last columns are of the questions that can be found without an embedder that knows the language: those that share with
their message a content word, a character of a script without spaces, the first four letters of a word, or a part of a compound.

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
from slowwave.policy.ranking.spelling import parts
from slowwave.policy.text.languages import content_words
from slowwave.policy.text.tokens import is_unspaced, words

OWN = HERE / "data" / "languages.json"
FIRST = (1, 5)
BEGINNING = 4
"""Letters that two words have in common at their beginning, to be forms of one word or parts of one compound."""


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


def is_reachable(question: str, message: str) -> bool:
    """Whether a question shares a content word, its beginning, a part of a compound or a character with a message."""
    said = set(words(message))
    characters = {part for word in said if is_unspaced(word) for part in parts(word)}
    for word in content_words(question)[0]:
        if word in said or (is_unspaced(word) and not characters.isdisjoint(parts(word))):
            return True
        longer = [other for other in said if len(other) >= BEGINNING and not is_unspaced(other)]
        if len(word) >= BEGINNING and any(
            word[:BEGINNING] == other[:BEGINNING]
            or (len(word) > BEGINNING and word in other)
            or (len(other) > BEGINNING and other in word)
            for other in longer
        ):
            return True
    return False


def figures(found: Sequence[int]) -> list[float]:
    """The share of places up to each of `FIRST`, in percent."""
    return [round(100 * sum(place <= most for place in found) / len(found), 1) for most in FIRST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[OWN])
    parser.add_argument("--embedder", default="static")
    options = parser.parse_args()
    found: dict[str, list[int]] = {}
    reachable: dict[str, list[int]] = {}
    for path in options.files:
        for language, sample in json.loads(path.read_text(encoding="utf-8")).items():
            ranks = places(language, sample, options.embedder)
            found.setdefault(language, []).extend(ranks)
            contents = [str(one["content"]) for one in sample["messages"]]
            shared = [
                is_reachable(str(one["question"]), contents[int(str(one["gold"]))]) for one in sample["questions"]
            ]
            reachable.setdefault(language, []).extend(place for place, can in zip(ranks, shared, strict=True) if can)
    found["all"] = [place for ranks in found.values() for place in ranks]
    reachable["all"] = [place for ranks in reachable.values() for place in ranks]
    names = ("language", "hit@1", "hit@5", "reachable", "hit@1", "hit@5")
    rows = [
        (
            language,
            *figures(ranks),
            f"{len(reachable[language])} of {len(ranks)}",
            *figures(reachable[language] or [99]),
        )
        for language, ranks in found.items()
    ]
    print(table(names, rows))
    result = dict(zip(("hit@1", "hit@5"), figures(found.pop("all")), strict=True))
    result |= dict(zip(("reachable hit@1", "reachable hit@5"), figures(reachable["all"]), strict=True))
    print(json.dumps({**result, "questions": sum(map(len, found.values()))}))
    print(f"saved in {save('languages', {'all': result, **{name: figures(ranks) for name, ranks in found.items()}})}")


if __name__ == "__main__":
    main()
