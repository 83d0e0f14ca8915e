"""Write the word tables of orders to a model as JSON: `python tools/write_lexicon.py`.

People edit `orders.toml`, `directives.toml` and `structures.toml` in `src/slowwave/policy/data`. The package reads
`lexicon.json`, which has their lists and the signs by which a text is compared with their entries: reading three files of
TOML takes longer than a hook of a coding agent may take.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from slowwave.policy.guard.lexicon import REFINING, WIDTH, Sign, sign_of

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
