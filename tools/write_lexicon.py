"""Write the word tables of orders to a model as JSON: `python tools/write_lexicon.py`.

People edit `orders.toml`, `directives.toml`, `structures.toml` and `signs.toml` in `src/slowwave/policy/data`, and
`fit_orders.py` writes `order_weights.toml`. The package reads `lexicon.json`, which has their lists, the signs by which a text
is compared with their entries, and the weights: reading the files of TOML takes longer than a hook of a coding agent may take.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.lexicon import REFINING, WIDTH, Sign, sign_of
from slowwave.policy.guard.sign_words import SIGNS
from slowwave.policy.text.languages import function_words
from slowwave.policy.text.tokens import STOP_WORDS

DATA: Final = Path(__file__).parents[1] / "src" / "slowwave" / "policy" / "data"
WRITTEN: Final = DATA / "lexicon.json"

Lists: TypeAlias = dict[str, object]
Rows: TypeAlias = dict[str, dict[Sign, list[int]]]


def table(name: str) -> dict[str, Lists]:
    """A table of lists by language."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def merged(first: Mapping[str, Lists], second: Mapping[str, Lists]) -> dict[str, Lists]:
    """The languages of the first table and of the second, each with the lists of both; the second replaces the first."""
    return {**first, **{name: {**first.get(name, {}), **lists} for name, lists in second.items()}}


def signed(languages: Mapping[str, Lists]) -> tuple[dict[str, int], Rows, Rows]:
    """The place of each list in the signs, and the bits of the entries by a whole word and by the beginning of a word."""
    spaced = [lists for lists in languages.values() if not lists.get("unspaced")]
    assert len(spaced) <= WIDTH, "each language has a bit of its own"
    places: dict[str, int] = {}
    words: Rows = {}
    stems: Rows = {}
    for number, lists in enumerate(spaced):
        for name, found in lists.items():
            if name in REFINING or not isinstance(found, list):
                continue
            bit = places.setdefault(name, WIDTH * len(places)) + number
            for sign in map(sign_of, map(str, found)):
                bits = (stems if sign.stem else words).setdefault(sign.key, {}).setdefault(sign, [])
                if bit not in bits:
                    bits.append(bit)
    return places, words, stems


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
    tables = [table(name) for name in ("orders", "directives", "structures", "signs")]
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
    orders, directives = table("orders"), table("directives")
    mention = orders.pop("mention")
    languages = merged(orders, directives)
    places, words, stems = signed(languages)
    structures = {name: {**directives[name], **lists} for name, lists in table("structures").items()}
    content = {
        "languages": languages,
        "mention": mention,
        "structures": structures,
        "places": places,
        "words": _plain(words),
        "stems": _plain(stems),
        "scored": scored(),
        "function_words": words_of_languages(),
        "weights": table("order_weights"),
    }
    lines = (f"{json.dumps(name)}: {_compact(part)}" for name, part in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(rows: Rows) -> dict[str, list[list[object]]]:
    return {
        key: [[bits, sign.stem, sorted(sign.words), sorted(sign.stems)] for sign, bits in row.items()]
        for key, row in rows.items()
    }


def _compact(part: object) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the file."""
    WRITTEN.write_text(contents(), encoding="utf-8")
    print(f"wrote {WRITTEN.name}")


if __name__ == "__main__":
    main()
