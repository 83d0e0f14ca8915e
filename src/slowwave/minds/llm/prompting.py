"""Builds the prompts: profiles of models, and the text of their input."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Protocol

from slowwave.minds.llm.calls import Content, is_continuing, is_structured
from slowwave.minds.llm.prompts import Prompt, load
from slowwave.minds.llm.reply_models import SCHEMAS
from slowwave.model.memory import Memory
from slowwave.model.mind import ReconcileCase, SummaryRequest, Transcript
from slowwave.policy.guard.fence import NOTICE, escape, fence_tag
from slowwave.policy.guard.labels import short_name
from slowwave.ports import LLM

SHOWN: Final = 24_000  # characters of one text, about 6,000 tokens; the rest is cut, visibly
TOGETHER: Final = 48_000  # characters of all texts of a question about memories, about 12,000 tokens
_FEWEST: Final = 3


def fenced(lines: Iterable[str], task: str) -> str:
    """The lines between marks that none of them can hold, with a line that says they are data."""
    mark = fence_tag(b"", task, None)
    return "\n".join((f"<{mark}>", NOTICE, *lines, f"</{mark}>"))


def conversation(transcript: Transcript) -> list[str]:
    """A transcript, each message under its number, with its own time and speaker."""
    before = [f"[earlier] {_said(memory)}" for memory in transcript.before]
    return [*before, *(f"[{turn.number}] {_said(turn.memory)}" for turn in transcript.turns)]


def how_many(transcript: Transcript) -> str:
    """How many facts are wanted, in words: 3 to the most there may be."""
    if transcript.most <= _FEWEST:
        return f"at most {transcript.most} facts"
    return f"{_FEWEST} to {transcript.most} facts, fewer if fewer are worth it"


def cases(asked: Sequence[ReconcileCase]) -> list[str]:
    """New facts, each with the memories it may have to do with, under their numbers and with their dates."""
    lines = []
    texts = [
        text for case in asked for text in (case.fact.text, case.fact.quote, *(c.memory.text for c in case.candidates))
    ]
    most = fair_share(map(len, texts))
    for case in asked:
        quote = f' (said: "{_line(case.fact.quote, most)}")' if case.fact.quote else ""
        lines.append(
            f"New fact {case.number} ({_day(case.fact.valid_from or case.at)}): {_line(case.fact.text, most)}{quote}"
        )
        lines += [
            f"  Memory {known.number} ({_day(known.memory.at)}{', fixed' if known.fixed else ''}): "
            f"{_line(known.memory.text, most)}"
            for known in case.candidates
        ]
    return lines


def memories(brief: SummaryRequest) -> list[str]:
    """What is to be summarised: messages as they were said, facts and summaries as a numbered list."""
    most = fair_share(len(memory.text) for memory in brief.memories)
    return [
        _said(memory, most)
        if memory.speaker or memory.role
        else f"{place}. [{_day(memory.at)}] {_line(memory.text, most)}"
        for place, memory in enumerate(brief.memories, 1)
    ]


def fair_share(lengths: Iterable[int]) -> int:
    """How many characters of each text are shown, so that all fit together: the short ones whole, the long ones alike.

    >>> fair_share([100, 200]), fair_share([100, 47_000, 90_000]), fair_share([90_000])
    (24000, 23950, 24000)
    """
    room, texts = TOGETHER, sorted(lengths)
    for place, length in enumerate(texts):
        share = room // (len(texts) - place)
        if length > share:
            return min(share, SHOWN)
        room -= length
    return SHOWN


def _said(memory: Memory, most: int = SHOWN) -> str:
    when = memory.at.strftime("%a %Y-%m-%d %H:%M UTC") if memory.at.year > 999 else memory.at.isoformat()  # noqa: PLR2004 - strftime writes years of four digits only
    return f"{when}, {escape(short_name(memory.role, memory.speaker))}: {_line(memory.text, most)}"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.date().isoformat()}"


def _line(text: str, most: int = SHOWN) -> str:
    """A text that can neither end the fence nor pass for another line of it: what follows a line break is indented."""
    shown = text if len(text) <= most else f"{text[:most]} [… {len(text) - most:,} characters more]"
    return "\n      ".join(escape(line) for line in shown.splitlines() if line.strip())


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
