"""A model that answers from a script and records its requests."""

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
    """One request: its task ("unknown" for a prompt that names none) and its messages."""

    task: str
    text: str
    messages: tuple[Mapping[str, str], ...]


class ScriptedLLM:
    """A deterministic model for tests, without a network.

    Each answer is a text, data to serialise as JSON, an exception to raise, or a function that takes the text of the
    prompt and returns one of these.

    >>> llm = ScriptedLLM(distil={"facts": []}, summarise=["first", "second"])
    >>> llm.complete(messages=[{"role": "user", "content": "Task: distil ..."}])
    '{"facts": []}'
    >>> llm.count("distil")
    1

    Args:
        queue: answers in order, for any task; when it is empty, the answers by task are used.
        answers: by task ("distil", "reconcile", "summarise", "unknown") one answer for all requests, or a list of
            answers, whose last one is repeated.
    """

    model = "scripted"

    def __init__(self, *queue: object, **answers: object) -> None:
        self.answers: dict[str, object] = answers
        self.asked: list[Asked] = []
        self._queue: deque[object] = deque(queue)
        self._lock = threading.Lock()

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> Any:  # noqa: ANN401 - real models return various types
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
        """The number of requests for a task."""
        return sum(asked.task == task for asked in self.asked)

    def _next(self, task: str) -> object:
        if self._queue:
            return self._queue.popleft()
        answer = self.answers.get(task, "")
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer


def _is_data(answer: object) -> bool:
    """Whether an answer is to be serialised. A mapping with "content" is a complete response and is not."""
    return isinstance(answer, Mapping) and "content" not in answer
