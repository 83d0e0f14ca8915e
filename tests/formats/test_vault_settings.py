"""The page of a vault that sets the windows: what YAML writers write is meant, and each mistake names page and line."""

from pathlib import Path

import pytest

from slowwave import settings
from slowwave.errors import InputError
from slowwave.formats.vault.front_matter import SETTINGS, compaction


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / SETTINGS
    path.parent.mkdir()
    return path


def _found(page: Path) -> dict[str, object]:
    return compaction(page.parent.parent)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("immediate_window: 4 # words", {"immediate_window": 4}),
        ("immediate_window: 4\t# words", {"immediate_window": 4}),
        ('profile: "brief"  # words', {"summary_profile": "brief"}),
        ("profile: 'brief' # words", {"summary_profile": "brief"}),
        ("profile: brief # words", {"summary_profile": "brief"}),
        ("# profile: brief", {}),
        ("profile: # none", {}),
        ("tags: [a, b]\naliases:\n  - c", {}),
    ],
)
def test_comments_and_quotes_are_read_as_yaml_does(page: Path, written: str, value: dict[str, object]) -> None:
    page.write_text(f"---\n{written}\n---\nMine\n", encoding="utf-8-sig")
    assert _found(page) == value


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("immediate_window: many", "line 3: immediate_window='many': use a whole number from 1; correct the line"),
        ("immediate_window: 4x", "line 3: immediate_window='4x'"),
        ("recent_window: 0 # none", "line 3: recent_window=0: use a whole number from 1"),
        ("profile: quick", "line 3: profile='quick': use one of summarizer, brief, detailed, topics"),
        ("immediate_windw: 4", "line 3: immediate_windw is not a setting: write immediate_window, or remove the line"),
    ],
)
def test_a_mistake_names_the_page_and_the_line(page: Path, written: str, message: str) -> None:
    page.write_text(f"---\n# Mine\n{written}\n---\n")
    with pytest.raises(InputError) as caught:
        settings.read({"SLOWWAVE_VAULT": str(page.parent.parent)})
    assert str(caught.value).startswith(f"{page}, {message}")


def test_a_page_without_a_head_is_reported(page: Path) -> None:
    page.write_text("immediate_window: 4\n")
    with pytest.raises(InputError, match="line 1: put the settings at the beginning, between two lines ---"):
        _found(page)
    page.unlink()
    assert _found(page) == {}
