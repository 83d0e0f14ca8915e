"""The prompts: Markdown files with a front matter that names version, variables and reply, loaded once."""

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
        version: raised whenever its wording changes.
        variables: what it is filled with.
        reply: what it asks for: "facts", "verdicts" or "text".
        static: the part that comes first and never changes within a configuration, so that providers can cache it.
        question: the part that carries the data.
        begins: for base models, the beginning of the answer that the prompt ends with.
        stop: for base models, where the answer is over.
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
        """Name and version, as they are kept with what the prompt brought."""
        return f"{self.name}@{self.version}"

    def filled(self, **values: str) -> tuple[str, str]:
        """The static part and the question with their variables filled in; values are not searched for variables."""
        static, question = (
            _VARIABLE.sub(lambda found: values[found.group(1)], part) for part in (self.static, self.question)
        )
        return static, question


@cache
def load(name: str) -> Prompt:
    """The prompt of this name."""
    text = resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    _, head, static, *rest = _RULE.split(text, maxsplit=3)
    front = dict(line.split(": ", 1) for line in head.splitlines())
    found = frozenset(_VARIABLE.findall(text))
    named = frozenset(front.get("variables", "").replace(",", " ").split())
    assert found == named, f"{name}.md names the variables {sorted(named)} and uses {sorted(found)}"
    return Prompt(
        name=name,
        version=int(front["version"]),
        variables=named,
        reply=front["reply"],
        static=static.strip("\n"),
        question=rest[0].strip("\n") if rest else "",
        begins=json.loads(front.get("begins", '""')),
        stop=tuple(json.loads(front.get("stop", "[]"))),
    )
