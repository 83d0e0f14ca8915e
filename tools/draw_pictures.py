"""Draws the pictures of the documentation into docs/pictures: `python tools/draw_pictures.py [FOLDER]`.

It stores four facts and uses one of them, replays the story of `slowwave demo`, and calls `slowwave plot`. Nothing is
random but the ids, which no picture shows, so that a picture changes only if the library or the story does.
"""

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slowwave import AgentMemory
from slowwave.cli.demo.replay import DECEMBER, replay
from slowwave.testing import FrozenClock

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
MARCH = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 90
DAYS_BETWEEN_USES = 21


def store_facts(store: Path) -> datetime:
    """Four facts of different kinds, of which one is used every three weeks. Returns the present time."""
    clock = FrozenClock(MARCH)
    with AgentMemory.open(store, llm=None, embedder="none", clock=clock) as memory:
        memory.add("Odile is allergic to walnuts", category="identity")
        memory.add("The ferry holds twelve cars")
        memory.add("The ferry was painted in March", kind="episodic", category="observation")
        (used,) = memory.add("Juno sketched a gull in March", kind="episodic", category="observation").ids
        for _ in range(DAYS // DAYS_BETWEEN_USES):
            clock.advance(days=DAYS_BETWEEN_USES)
            memory.record_retrieval(used)
    return MARCH + timedelta(days=DAYS)


def replay_story(store: Path) -> datetime:
    """The story of the demo, from March to December with a sleep pass each night. Returns the present time."""
    with replay(str(store)) as story:
        for _ in (*story.play_conversations(), *story.sleep_until_december()):
            pass
    return DECEMBER


def draw(store: Path, now: datetime, kind: str, folder: Path) -> None:
    """Call `slowwave plot`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE")}
    options = ("--store", store, "--now", now.isoformat(), "--out", folder / f"{kind}.svg")
    command = [sys.executable, "-m", "slowwave", "plot", kind, *map(str, options)]
    subprocess.run(command, check=True, env=kept, stdout=subprocess.DEVNULL)


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    with tempfile.TemporaryDirectory() as name:
        facts, story = Path(name) / "facts.db", Path(name) / "story.db"
        draw(facts, store_facts(facts), "forgetting", folder)
        now = replay_story(story)
        for kind in ("growth", "sleep"):
            draw(story, now, kind, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
