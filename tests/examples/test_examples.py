"""The examples are programs that run, and they show what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

SHOWS = {
    "agent_loop.py": ("allergic to walnuts", "900 euros"),
    "own_model.py": ("kept     Ada keeps four hives", "refused  Ada keeps nine hives"),
    "sleep_pass.py": (
        "planned: more than 20 hot words: shortened to 6 of its 20 words",
        "hot:  permit application due on 14 April",
        "deep: The permit application is due on 14 April, it is eleven pages",
        "gone: ['Juno painted the stairs to the cellar']",
        "back: ['Juno painted the stairs to the cellar'] The permit",
    ),
    "undo.py": ("before undo: superseded", "after undo:  active"),
    "scopes.py": ("alice:", "bob:   ['The office closes at six']", "acme/alice: 1 facts"),
}


@pytest.mark.parametrize("name", sorted(one.name for one in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_prints_the_shown_output(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stderr == ""
    for line in SHOWS[name]:
        assert line in done.stdout
