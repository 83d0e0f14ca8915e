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
from slowwave.policy.guard.lexicon import REFINING, STARTS, WIDTH, Sign, sign_of
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
}
"""The names of languages in the table of function words."""


def scored() -> dict[str, Lists]:
    """The languages of `signs.toml`, each with its lists of all tables and its function words."""
    tables = [table(name) for name in ("orders", "directives", "structures", "signs")]
    return {code: joined([each.get(code, {}) for each in tables], code) for code in tables[-1]}


def joined(parts: Iterable[Lists], code: str) -> Lists:
    """The lists of a language of several tables; lists of one name are joined."""
    lists: Lists = {}
    for part in parts:
        for name, found in part.items():
            known = lists.get(name)
            lists[name] = [*known, *found] if isinstance(known, list) and isinstance(found, list) else found
    words = STOP_WORDS if code == "en" else function_words([FUNCTION_WORDS[code]] if code in FUNCTION_WORDS else [])
    lists["function_words"] = sorted({folded(word) for word in words})
    return lists


def starts(languages: Mapping[str, Lists]) -> tuple[Rows, Rows]:
    """The entries of the lists `STARTS` by a whole word and by the beginning of a word, with a bit for each language."""
    words: Rows = {}
    stems: Rows = {}
    for number, lists in enumerate(languages.values()):
        if lists.get("unspaced"):
            continue
        for entry in (entry for name in STARTS for entry in list_of(lists, name)):
            sign = sign_of(entry)
            bits = (stems if sign.stem else words).setdefault(sign.key, {}).setdefault(sign, [])
            if number not in bits:
                bits.append(number)
    return words, stems


def list_of(lists: Lists, name: str) -> list[str]:
    """A list of a language; empty if it has none."""
    found = lists.get(name, [])
    assert isinstance(found, list)
    return [str(entry) for entry in found]


def contents() -> str:
    """The text of `lexicon.json`."""
    orders, directives = table("orders"), table("directives")
    mention = orders.pop("mention")
    languages = merged(orders, directives)
    places, words, stems = signed(languages)
    structures = {name: {**directives[name], **lists} for name, lists in table("structures").items()}
    in_score = scored()
    content = {
        "languages": languages,
        "mention": mention,
        "structures": structures,
        "places": places,
        "words": _plain(words),
        "stems": _plain(stems),
        "scored": in_score,
        "starts": [_plain(rows) for rows in starts(in_score)],
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
