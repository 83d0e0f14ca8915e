"""A process that distils a conversation and kills itself at a given step; started by the fault tests."""

import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from slowwave import AgentMemory, Message
from slowwave.testing import Failpoint, FrozenClock

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OWNERS = tuple(f"Alice owns pipeline {number}" for number in range(1, 7))
LINES = [f"{OWNERS[place // 6]}." if place % 6 == 0 else f"Line {place} of many." for place in range(36)]


class Model:
    """Distils the owners in the messages, adds every fact, and kills its process at the given point."""

    def __init__(self, point: str = "", at: int = 0) -> None:
        self._point, self._at = point, at
        self.passed: Counter[str] = Counter()

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        """The answer to a distil or reconcile prompt."""
        prompt = messages[-1]["content"]
        task = "distil" if "Task: distil" in messages[0]["content"] else "reconcile"
        self._pass(f"{task}.asked")
        if task == "distil":
            shown = re.findall(r"^\[(\d+)\] [^\n]*?: (Alice owns pipeline \d+)\.", prompt, re.MULTILINE)
            answer = {"facts": [{"text": text, "message": int(number), "quote": text} for number, text in shown]}
        else:
            numbers = re.findall(r"^F(\d+) ", prompt, re.MULTILINE)
            answer = {"verdicts": [{"fact": int(n), "op": "ADD", "memory": None} for n in numbers]}
        self._pass(f"{task}.answered")
        return json.dumps(answer)

    def _pass(self, name: str) -> None:
        self.passed[name] += 1
        if (name, self.passed[name]) == (self._point, self._at):
            os.kill(os.getpid(), signal.SIGKILL)


def run(path: str, point: str = "", at: int = 0) -> None:
    """Store the messages, which may be stored already, and distil them."""
    with AgentMemory.open(path, llm=Model(point, at), embedder="none", clock=FrozenClock(NOW)) as memory:
        messages = [
            Message(role="user", speaker="Alice", content=line, at=NOW, id=f"m{n}") for n, line in enumerate(LINES)
        ]
        memory.add_messages(messages, conversation="c1")
        if point.startswith("apply"):
            memory.ports.store._reached = Failpoint(point, at=at, kill=True)  # type: ignore[attr-defined]
        memory.consolidate(force=True)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
