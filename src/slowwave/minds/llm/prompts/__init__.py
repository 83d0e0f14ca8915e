"""The prompts: Markdown files whose front matter has version, variables and reply. Each is loaded once."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_RULE: Final = re.compile(r"^---[ \t]*\n", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt.

    Args:
        name: the name of its file.
        version: raised with each change of the wording.
        variables: the names of its variables.
        reply: the kind of answer: "facts", "verdicts" or "text".
        static: the first part, constant within a configuration, so that providers can cache it.
        question: the part with the data.
        begins: for base models: the beginning of the answer, with which the prompt ends.
        stop: for base models: the texts that end the answer.
    """

    name: str
    version: int
    variables: frozenset[str]
    reply: str
    static: str
    question: str
    begins: str = ""
    stop: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Name and version, as they are stored with each run."""
        return f"{self.name}@{self.version}"

    def filled(self, **values: str) -> tuple[str, str]:
        """The static part and the question with values for their variables. Values are not searched for variables."""
        static, question = (
            _VARIABLE.sub(lambda match: values[match.group(1)], part) for part in (self.static, self.question)
        )
        return static, question


@cache
def load(name: str) -> Prompt:
    """The prompt of this name."""
    text = resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    _, head, static, *rest = _RULE.split(text, maxsplit=3)
    front = dict(line.split(": ", 1) for line in head.splitlines())
    used = frozenset(_VARIABLE.findall(text))
    declared = frozenset(front.get("variables", "").replace(",", " ").split())
    assert used == declared, f"{name}.md declares the variables {sorted(declared)} and uses {sorted(used)}"
    return Prompt(
        name=name,
        version=int(front["version"]),
        variables=declared,
        reply=front["reply"],
        static=static.strip("\n"),
        question=rest[0].strip("\n") if rest else "",
        begins=json.loads(front.get("begins", '""')),
        stop=tuple(json.loads(front.get("stop", "[]"))),
    )
