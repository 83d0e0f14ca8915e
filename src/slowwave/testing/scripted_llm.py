"""A model that answers from a script and remembers what it was asked."""

import json
import re
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

TASKS: Final = ("distil", "reconcile", "summarise")
_TASK: Final = re.compile(r"^Task: (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: its task ("unknown" for a prompt that names none) and everything that was sent."""

    task: str
    text: str
    messages: tuple[Mapping[str, str], ...]


class ScriptedLLM:
    """A model for tests: no network, no chance.

    Each answer is a text, something to write as JSON, an exception to raise, or a function of the prompt's text that
    gives one of these.

    >>> llm = ScriptedLLM(distil={"facts": []}, summarise=["first", "second"])
    >>> llm.complete(messages=[{"role": "user", "content": "Task: distil ..."}])
    '{"facts": []}'
    >>> llm.count("distil")
    1

    Args:
        queue: answers in the order they are asked for, whatever the task; once used up, the tasks' own answers count.
        answers: by task ("distil", "reconcile", "summarise", "unknown") one answer for every time, or a list of
            answers, of which the last one stays.
    """

    model = "scripted"

    def __init__(self, *queue: object, **answers: object) -> None:
        self.answers: dict[str, object] = answers
        self.asked: list[Asked] = []
        self._queue: deque[object] = deque(queue)
        self._lock = threading.Lock()

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> Any:  # noqa: ANN401 - it may answer what real models answer
        """The next answer of the script."""
        text = "\n".join(message["content"] for message in messages)
        named = _TASK.search(text)
        asked = Asked(task=named.group(1) if named else "unknown", text=text, messages=tuple(messages))
        with self._lock:
            self.asked.append(asked)
            answer = self._next(asked.task)
        if callable(answer):
            answer = answer(text)
        if isinstance(answer, BaseException):
            raise answer
        return json.dumps(answer) if _is_data(answer) else answer

    def count(self, task: str) -> int:
        """How often a task was asked."""
        return sum(asked.task == task for asked in self.asked)

    def _next(self, task: str) -> object:
        if self._queue:
            return self._queue.popleft()
        answer = self.answers.get(task, "")
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer


def _is_data(answer: object) -> bool:
    """A mapping with content is an answer in its wrapping; any other is what the model would write as JSON."""
    return isinstance(answer, Mapping) and "content" not in answer
