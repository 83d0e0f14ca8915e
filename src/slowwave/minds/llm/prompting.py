"""Builds the questions to a model: the text of their data, and one profile for chat and one for base models."""

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

SHOWN: Final = 24_000  # characters of one text, about 6,000 tokens; a note replaces the rest
TOGETHER: Final = 48_000  # characters of all texts of a question about memories, about 12,000 tokens
_FEWEST: Final = 3


def fenced(lines: Iterable[str], task: str) -> str:
    """The lines between marks that no line can contain, after a notice that they are data."""
    mark = fence_tag(b"", task, None)
    return "\n".join((f"<{mark}>", NOTICE, *lines, f"</{mark}>"))


def conversation(transcript: Transcript) -> list[str]:
    """The lines of a transcript: each message with its number, time and speaker."""
    before = [f"[earlier] {_message_line(memory)}" for memory in transcript.before]
    return [*before, *(f"[{turn.number}] {_message_line(turn.memory)}" for turn in transcript.turns)]


def how_many(transcript: Transcript) -> str:
    """The requested number of facts as words: from 3 to `transcript.most`."""
    if transcript.most <= _FEWEST:
        return f"at most {transcript.most} facts"
    return f"{_FEWEST} to {transcript.most} facts, fewer if fewer are worth it"


def cases(reconcile_cases: Sequence[ReconcileCase]) -> list[str]:
    """The lines of known memories, each once as K1, K2, …, and of new facts, each with the numbers of the memories near it."""
    known = {candidate.number: candidate for case in reconcile_cases for candidate in case.candidates}
    fixed = {candidate.number for case in reconcile_cases for candidate in case.candidates if candidate.fixed}
    texts = (*(case.fact.text for case in reconcile_cases), *(each.memory.text for each in known.values()))
    most = fair_share(map(len, texts))
    lines = [f"Today is {_day(today(reconcile_cases))}.", "Known memories:"]
    for number, candidate in sorted(known.items()):
        note = ", fixed" if number in fixed else ""
        lines.append(f"K{number} ({candidate.memory.at.date()}{note}): {_line(candidate.memory.text, most)}")
    lines.append("New facts:")
    for case in reconcile_cases:
        near = ", ".join(f"K{candidate.number}" for candidate in case.candidates)
        lines.append(f"F{case.number} ({case.at.date()}; near {near}): {_line(case.fact.text, most)}")
    return lines


def today(reconcile_cases: Sequence[ReconcileCase]) -> datetime:
    """The day of the newest fact, at most the present: facts of an old conversation are compared as of its own time."""
    newest = max(case.at for case in reconcile_cases)
    present = [case.now for case in reconcile_cases if case.now is not None]
    return min(newest, *present) if present else newest


def memories(brief: SummaryRequest) -> list[str]:
    """The lines to summarise: messages with time and speaker, facts and summaries as a numbered list."""
    most = fair_share(len(memory.text) for memory in brief.memories)
    return [
        _message_line(memory, most)
        if memory.speaker or memory.role
        else f"{place}. [{_day(memory.at)}] {_line(memory.text, most)}"
        for place, memory in enumerate(brief.memories, 1)
    ]


def fair_share(lengths: Iterable[int]) -> int:
    """The limit of characters of each text, so that all fit into TOGETHER: short texts whole, long texts to one length.

    >>> fair_share([100, 200]), fair_share([100, 47_000, 90_000]), fair_share([90_000])
    (24000, 23950, 24000)
    """
    remaining, texts = TOGETHER, sorted(lengths)
    for place, length in enumerate(texts):
        share = remaining // (len(texts) - place)
        if length > share:
            return min(share, SHOWN)
        remaining -= length
    return SHOWN


def _message_line(memory: Memory, most: int = SHOWN) -> str:
    when = memory.at.strftime("%a %Y-%m-%d %H:%M UTC") if memory.at.year > 999 else memory.at.isoformat()  # noqa: PLR2004 - strftime writes years of four digits only
    return f"{when}, {escape(short_name(memory.role, memory.speaker))}: {_line(memory.text, most)}"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.date().isoformat()}"


def _line(text: str, most: int = SHOWN) -> str:
    """The escaped text. Lines after the first are indented, so that no line can imitate another entry or end the fence."""
    shown = text if len(text) <= most else f"{text[:most]} [… {len(text) - most:,} characters more]"
    return "\n      ".join(escape(line) for line in shown.splitlines() if line.strip())


_RETRY_SHOWN: Final = 2_000  # characters of an unreadable answer that the retry of a chat contains
_RETRY_ENDING: Final = 80  # the same for a base model


class PromptQuestion(Protocol):
    """One question to a model."""

    @property
    def prompt(self) -> Prompt:
        """The prompt that it was built from."""
        ...

    @property
    def text(self) -> str:
        """The text that is sent, without roles."""
        ...

    def call(self, llm: LLM) -> object:
        """Call the model."""
        ...

    def whole(self, content: Content) -> Content:
        """The answer together with its beginning, if the prompt contains that."""
        ...

    def again(self, raw: str, problem: str) -> "PromptQuestion":
        """The question for a retry, with the last answer and its problem."""
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
        shown = raw if len(raw) <= _RETRY_SHOWN else f"{raw[:_RETRY_SHOWN]} …"
        wrong = f"That answer could not be read: {problem}. Answer again, in exactly the form asked for."
        retry = ({"role": "assistant", "content": shown or "(nothing)"}, {"role": "user", "content": wrong})
        return replace(self, messages=(*self.messages, *retry))


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
        for stop in self.prompt.stop:  # for models whose server does not apply stop texts
            content = content.split(stop, 1)[0]
        return self.prompt.begins + content

    def again(self, raw: str, problem: str) -> "_Continuation":
        note = f"(An earlier answer could not be read: {problem}. It ended with {raw[-_RETRY_ENDING:]!r}.)"
        return replace(self, text=f"{note}\n\n{self.text}")


def chat(name: str, lines: Sequence[str], **values: str) -> PromptQuestion:
    """A question with a constant system message first, so that providers can cache it, and the fenced data after it."""
    prompt = load(name)
    static, question = prompt.filled(data=fenced(lines, name), **values)
    return _Chat(prompt=prompt, messages=({"role": "system", "content": static}, {"role": "user", "content": question}))


def completion(name: str, lines: Sequence[str], **values: str) -> PromptQuestion:
    """A question as one text that ends where the answer begins."""
    prompt = load(f"{name}_completion")
    static, _ = prompt.filled(data="\n".join(lines), **values)
    return _Continuation(prompt=prompt, text=f"{static}\n{prompt.begins}")


PROFILES: Final[Mapping[str, Callable[..., PromptQuestion]]] = MappingProxyType(
    {"chat": chat, "completion": completion}
)
