"""Write the word tables of orders to a model as JSON: `python tools/write_lexicon.py`.

People edit `orders.toml` and `signs.toml` in `src/slowwave/policy/data`, and `fit_orders.py` writes `order_weights.toml`. The
package reads `lexicon.json`, which has their lists, the marks of words by which the rules to try are found, and the weights:
reading the files of TOML takes longer than a hook of a coding agent may take.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from slowwave.policy.guard.disguises import KEY, folded
from slowwave.policy.guard.lexicon import WIDTH
from slowwave.policy.guard.orders import MARKED
from slowwave.policy.guard.sign_words import SIGNS
from slowwave.policy.text import word_frequency
from slowwave.policy.text.languages import function_words
from slowwave.policy.text.tokens import STOP_WORDS

DATA: Final = Path(__file__).parents[1] / "src" / "slowwave" / "policy" / "data"
WRITTEN: Final = DATA / "lexicon.json"

Lists: TypeAlias = dict[str, object]
Rows: TypeAlias = dict[str, list[int]]
_COMMON: Final = 2000
"""English words whose frequency is known: a phrase is looked for by its rarest word."""


def table(name: str) -> dict[str, Lists]:
    """A table of lists by language."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def marked(languages: Mapping[str, Lists]) -> tuple[dict[str, int], dict[str, Rows], dict[str, dict[str, Rows]]]:
    """The place of each list of `MARKED` in the marks, and its entries by their rarest word: whole words, and beginnings by `KEY` letters.

    An entry is a bit, and the other whole words that a text with it has.
    """
    spaced = [lists for lists in languages.values() if not lists.get("unspaced")]
    assert len(spaced) <= WIDTH, "each language has a bit of its own"
    places = {name: place for place, name in enumerate(MARKED)}
    words: dict[str, Rows] = {}
    stems: dict[str, dict[str, Rows]] = {}
    for number, lists in enumerate(spaced):
        for name, place in places.items():
            found = lists.get(name)
            for entry in found if isinstance(found, list) else ():
                word, others = rarest(str(entry))
                plain = word.partition("*")[0]
                known = stems.setdefault(plain[:KEY], {}) if "*" in word else words
                bits = known.setdefault(plain, {}).setdefault(" ".join(others), [])
                if WIDTH * place + number not in bits:
                    bits.append(WIDTH * place + number)
    return places, words, stems


def rarest(entry: str) -> tuple[str, list[str]]:
    """The rarest word of an entry, by which it is looked for, and its other whole words.

    Raises:
        ValueError: no word of it has `KEY` letters before *.
    """
    parts = re.findall(r"[\w*]+", folded(entry))
    known = [part for part in parts if "*" not in part[:KEY]]
    if not known:
        raise ValueError(f"{entry!r} needs {KEY} letters before *")
    first = max(known, key=lambda part: (-_common().get(part.rstrip("*"), 0.0), len(part), part))
    return first, sorted({part for part in known if part != first and "*" not in part})


@cache
def _common() -> Mapping[str, float]:
    return word_frequency.commonest(_COMMON)


FUNCTION_WORDS: Final = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
    "sv": "Swedish",
    "no": "Norwegian",
    "da": "Danish",
    "fi": "Finnish",
    "cs": "Czech",
    "ro": "Romanian",
    "hu": "Hungarian",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "id": "Indonesian",
}
"""The names of languages of Latin letters in the table of function words."""


def scored() -> dict[str, Lists]:
    """The languages of `signs.toml`, each with those of its lists of all tables that are signs."""
    used = frozenset(source for sources in SIGNS.values() for source in sources)
    tables = [table(name) for name in ("orders", "signs")]
    joint = {code: joined(each.get(code, {}) for each in tables) for code in tables[-1]}
    return {code: {name: found for name, found in lists.items() if name in used} for code, lists in joint.items()}


def joined(parts: Iterable[Lists]) -> Lists:
    """The lists of a language of several tables; lists of one name are joined."""
    lists: Lists = {}
    for part in parts:
        for name, found in part.items():
            known = lists.get(name)
            lists[name] = [*known, *found] if isinstance(known, list) and isinstance(found, list) else found
    return lists


def words_of_languages() -> dict[str, list[str]]:
    """The function words of English and of the languages of `FUNCTION_WORDS`."""
    words = {"en": STOP_WORDS, **{code: function_words([name]) for code, name in FUNCTION_WORDS.items()}}
    return {code: sorted({folded(word) for word in found}) for code, found in words.items()}


def contents() -> str:
    """The text of `lexicon.json`."""
    languages = table("orders")
    mention = languages.pop("mention")
    places, words, stems = marked(languages)
    content = {
        "languages": languages,
        "mention": mention,
        "places": places,
        "words": words,
        "stems": stems,
        "scored": scored(),
        "function_words": words_of_languages(),
        "weights": table("order_weights"),
    }
    lines = (f"{json.dumps(name)}: {_compact(part)}" for name, part in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(part: object) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the file."""
    WRITTEN.write_text(contents(), encoding="utf-8")
    print(f"wrote {WRITTEN.name}")


if __name__ == "__main__":
    main()
