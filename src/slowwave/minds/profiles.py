"""How a question is put to a model: as a chat, or as a text that a base model continues."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Protocol

from slowwave.minds.foreign import Content, is_continuing, is_structured
from slowwave.minds.prompts import Prompt, load
from slowwave.minds.rendering import fenced
from slowwave.minds.schemas import SCHEMAS
from slowwave.ports import LLM

_SHOWN: Final = 2_000  # characters of an unreadable answer that its retry shows
_LAST: Final = 80


class Question(Protocol):
    """One question, ready to be asked, and asked again."""

    @property
    def prompt(self) -> Prompt:
        """Which prompt asks."""
        ...

    @property
    def text(self) -> str:
        """Everything the model is sent."""
        ...

    def call(self, llm: LLM) -> object:
        """Ask."""
        ...

    def whole(self, content: Content) -> Content:
        """The answer as it is to be read."""
        ...

    def again(self, raw: str, problem: str) -> "Question":
        """The same question, showing what was wrong with the last answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    prompt: Prompt
    messages: tuple[Mapping[str, str], ...]

    @property
    def text(self) -> str:
        return "\n".join(message["content"] for message in self.messages)

    def call(self, llm: LLM) -> object:
        schema = SCHEMAS.get(self.prompt.reply)
        if schema is not None and is_structured(llm):
            return llm.complete_json(messages=self.messages, schema=schema)
        return llm.complete(messages=self.messages)

    def whole(self, content: Content) -> Content:
        return content

    def again(self, raw: str, problem: str) -> "_Chat":
        shown = raw if len(raw) <= _SHOWN else f"{raw[:_SHOWN]} …"
        wrong = f"That answer could not be read: {problem}. Answer again, in exactly the form asked for."
        said = ({"role": "assistant", "content": shown or "(nothing)"}, {"role": "user", "content": wrong})
        return replace(self, messages=(*self.messages, *said))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Continuation:
    prompt: Prompt
    text: str

    def call(self, llm: LLM) -> object:
        if is_continuing(llm):
            return llm.continued(prompt=self.text, stop=self.prompt.stop)
        return llm.complete(messages=[{"role": "user", "content": self.text}])

    def whole(self, content: Content) -> Content:
        if not isinstance(content, str):
            return content
        content = content.lstrip("\n")
        for stop in self.prompt.stop:  # models that are not told where to stop are cut there
            content = content.split(stop, 1)[0]
        return self.prompt.begins + content

    def again(self, raw: str, problem: str) -> "_Continuation":
        note = f"(An earlier answer could not be read: {problem}. It ended with {raw[-_LAST:]!r}.)"
        return replace(self, text=f"{note}\n\n{self.text}")


def chat(name: str, lines: Sequence[str], **values: str) -> Question:
    """A system message that never changes, first, and the fenced data after it."""
    prompt = load(name)
    static, question = prompt.filled(data=fenced(lines, name), **values)
    return _Chat(prompt=prompt, messages=({"role": "system", "content": static}, {"role": "user", "content": question}))


def completion(name: str, lines: Sequence[str], **values: str) -> Question:
    """One text that ends where the answer begins."""
    prompt = load(f"{name}_completion")
    static, _ = prompt.filled(data="\n".join(lines), **values)
    return _Continuation(prompt=prompt, text=f"{static}\n{prompt.begins}")


PROFILES: Final[Mapping[str, Callable[..., Question]]] = MappingProxyType({"chat": chat, "completion": completion})
