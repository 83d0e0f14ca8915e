"""The Python examples of a page of the documentation run, from top to bottom."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["inspecting.md", "formats.md"])
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall((DOCS / page).read_text("utf-8"))
    assert blocks
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), page, "exec"), {})
