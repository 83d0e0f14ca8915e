"""Write the word tables of orders to a model as JSON: `python tools/write_lexicon.py`.

People edit `orders.toml` and `signs.toml` in `src/slowwave/policy/data`, and `fit_orders.py` writes `order_weights.toml`. The
package reads `lexicon.json`, which has the lists of rules and the marks of words by which the rules to try are found, and
`order_signs.json`, which has the entries of signs and their weights: reading the files of TOML takes longer than a hook of a
coding agent may take.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.lexicon import WIDTH
from slowwave.policy.guard.order_signs import UNSPACED
from slowwave.policy.guard.orders import MARKED
from slowwave.policy.guard.sign_words import BITS, GAP, SIGNS
from slowwave.policy.guard.word_cache import KEY
from slowwave.policy.text import word_frequency
from slowwave.policy.text.languages import function_words
from slowwave.policy.text.tokens import STOP_WORDS

DATA: Final = Path(__file__).parents[1] / "src" / "slowwave" / "policy" / "data"

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


def scored() -> dict[str, Mapping[str, object]]:
    """The entries of the languages of `signs.toml`, with those of all tables that are signs."""
    tables = [table(name) for name in ("orders", "signs")]
    joint = {code: joined(each.get(code, {}) for each in tables) for code in tables[-1]}
    return {code: (unspaced if code in UNSPACED else spaced)(signs_of(lists)) for code, lists in joint.items()}


def signs_of(lists: Lists) -> dict[str, int]:
    """The signs of each entry of a language, as bits. The spelling is that of folded texts."""
    found: dict[str, int] = {}
    for name, sources in SIGNS.items():
        for source in sources:
            entries = lists.get(source)
            for entry in entries if isinstance(entries, list) else ():
                written = folded(str(entry))
                found[written] = found.get(written, 0) | BITS[name]
    return found


def spaced(entries: Mapping[str, int]) -> dict[str, dict[str, object]]:
    """Entries of words between spaces, as `sign_words.SpacedWords` reads them."""
    words, stems, endings = dict[str, int](), dict[str, int](), dict[str, int]()
    phrases, phrase_stems = dict[str, dict[str, int]](), dict[str, dict[str, int]]()
    for entry, bits in entries.items():
        if entry.startswith("*"):
            endings[entry[1:]] = endings.get(entry[1:], 0) | bits
            continue
        parts = f" {GAP} ".join(" ".join(re.findall(r"[^\W_]+\*?", part)) for part in entry.split(f" {GAP} "))
        first, _, rest = parts.partition(" ")
        stem = first.rstrip("*")
        if rest:
            known = (phrases if stem == first else phrase_stems).setdefault(stem, {})
            known[rest] = known.get(rest, 0) | bits
        elif stem:
            alone = words if stem == first else stems
            alone[stem] = alone.get(stem, 0) | bits
    return {"words": words, "stems": stems, "endings": endings, "phrases": phrases, "phrase_stems": phrase_stems}


def unspaced(entries: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Entries of words without spaces, as `sign_words.UnspacedWords` reads them."""
    found: dict[str, dict[str, int]] = {}
    for entry, bits in entries.items():
        first, _, rest = entry.replace("*", "").partition(f" {GAP} ")
        if first:
            known = found.setdefault(first, {})
            known[rest] = known.get(rest, 0) | bits
    return found


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


def contents() -> dict[str, str]:
    """The texts of the files by their names."""
    languages = table("orders")
    mention = languages.pop("mention")
    places, words, stems = marked(languages)
    signs_by_code = scored()
    lexicon = {
        "languages": languages,
        "scored": list(signs_by_code),
        "mention": mention,
        "places": places,
        "words": words,
        "stems": stems,
    }
    signs = {"scored": signs_by_code, "function_words": words_of_languages(), "weights": table("order_weights")}
    return {"lexicon.json": _written(lexicon), "order_signs.json": _written(signs)}


def _written(content: Mapping[str, object]) -> str:
    lines = (f"{json.dumps(name)}: {_compact(part)}" for name, part in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(part: object) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the files."""
    for name, text in contents().items():
        (DATA / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
