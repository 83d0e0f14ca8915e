"""Writes the traditional characters of Chinese, with the simplified one of each, out of the installed package OpenCC.

Run it after `pip install opencc-python-reimplemented`, which nothing else needs. If the table changes, texts in these
characters are found by their new words once they are stored again.
"""

from pathlib import Path

from slowwave.embedders.safetensors import folders

TABLE = Path(__file__).parents[1] / "src" / "slowwave" / "policy" / "data" / "hanzi.txt"


def pairs(table: Path) -> dict[str, str]:
    """The simplified character of each traditional one; the first where there are several."""
    lines = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    found = {character: simplified.split()[0] for character, simplified in lines}
    return {character: simplified for character, simplified in found.items() if character != simplified}


if __name__ == "__main__":
    folder = next(iter(folders("opencc")), None)
    if folder is None:
        raise SystemExit("opencc-python-reimplemented is not installed")
    found = pairs(folder / "dictionary" / "TSCharacters.txt")
    TABLE.write_text(f"{''.join(found)}\n{''.join(found.values())}\n", encoding="utf-8", newline="\n")
    print(f"wrote {len(found)} characters to {TABLE}")
