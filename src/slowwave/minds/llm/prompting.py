"""Builds the questions to a model: the text of their data, and one profile for chat and one for base models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

from slowwave.minds.llm.calls import Content, is_continuing, is_structured
from slowwave.minds.llm.prompts import Prompt, load
from slowwave.minds.llm.reply_models import SCHEMAS
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, ReconcileCase, SummaryRequest, Transcript
from slowwave.model.zone import zone_label
from slowwave.policy.guard.fence import escape, fence_tag
from slowwave.policy.guard.grounding import content_stems
from slowwave.policy.guard.labels import bare_name, short_name
from slowwave.policy.ranking.packing import estimate
from slowwave.ports import LLM

SHOWN: Final = 24_000  # characters of one text, about 6,000 tokens; a note replaces the rest
TOGETHER: Final = 48_000  # characters of all texts of a question about memories, about 12,000 tokens
SESSION_GAP: Final = timedelta(hours=1)
"""A pause after which the time is shown again above a message."""
EARLIER: Final = 300
"""The last characters that are shown of each message before a transcript."""
ADVICE: Final = (500, 300)
"""The first and last characters that are shown of a longer message of an assistant without a name: advice gives no facts."""
_CUT_LEAST: Final = 100  # fewer characters are not worth a note
BESIDE: Final = 2
"""How many messages are shown on both sides of each one that a refused fact names."""
_EARLIER_MARK: Final = "earlier"
_MESSAGES_A_FACT: Final = 3
_TOKENS_A_FACT: Final = 100  # of what people say: a long message may hold several facts
_FEWEST: Final = 2
_SHORT: Final = 5  # facts that a conversation of ten messages may give


def fenced(lines: Iterable[str], task: str) -> str:
    """The lines between marks that no line can contain. The constant part of the prompt says that they are data."""
    mark = fence_tag(b"", task, None)
    return "\n".join((f"<{mark}>", *lines, f"</{mark}>"))


def conversation(transcript: Transcript) -> list[str]:
    """The lines of a transcript: each message with its number and speaker, and the time above the first of a session.

    The role of a speaker with a name stands beside the name once, and again when it changes. A session ends with a pause
    of `SESSION_GAP`, with the day, or with a change of the offset. Of the messages before the transcript those of its first session are shown, with their
    last `EARLIER` characters.
    """
    lines: list[str] = []
    last: datetime | None = None
    roles: dict[str, str | None] = {}
    begins = transcript.turns[0].memory.at
    before = [(memory, _EARLIER_MARK) for memory in transcript.before if _one_session(memory.at, begins)]
    for memory, number in (*before, *((turn.memory, str(turn.number)) for turn in transcript.turns)):
        if last is None or not _one_session(last, memory.at):
            lines.append(_time(memory.at))
        last = memory.at
        text = _ending(memory.text) if number == _EARLIER_MARK else _without_advice(memory)
        lines.append(f"[{number}] {_speaker(memory, roles)}: {_line(text)}")
    return lines


def _one_session(first: datetime, second: datetime) -> bool:
    same_clock = first.utcoffset() == second.utcoffset() and first.date() == second.date()
    return same_clock and abs(second - first) < SESSION_GAP


def _speaker(memory: Memory, roles: dict[str, str | None]) -> str:
    """The name of a speaker, with the role unless `roles` has it from a message before; without a name the role."""
    name = bare_name(memory.role, memory.speaker)
    if name is None:
        return escape(short_name(memory.role, memory.speaker))
    is_known = roles.get(name) == memory.role
    roles[name] = memory.role
    return escape(name if is_known else f"{name} ({memory.role})")


def _ending(text: str) -> str:
    return text if len(text) <= EARLIER else f"… {text[-EARLIER:]}"


def _without_advice(memory: Memory) -> str:
    """The text of a message; of a long one of an assistant without a name its beginning and end."""
    first, last = ADVICE
    text = memory.text
    if not _is_advice(memory) or len(text) <= first + last + _CUT_LEAST:
        return text
    return f"{text[:first]} [… {len(text) - first - last:,} characters …] {text[-last:]}"


def _is_advice(memory: Memory) -> bool:
    return memory.role == "assistant" and bare_name(memory.role, memory.speaker) is None


def how_many(transcript: Transcript) -> str:
    """The limit of facts as words, from 2 to `most`: one for 100 tokens of what people say, one for three messages, or for two up to `_SHORT`.

    A short conversation is often an exchange of news, and a long one is longer by small talk.
    """
    spoken = sum(estimate(turn.memory.text) for turn in transcript.turns if not _is_advice(turn.memory))
    messages = len(transcript.turns)
    most = max(_FEWEST, messages // _MESSAGES_A_FACT, min(messages // 2, _SHORT), spoken // _TOKENS_A_FACT)
    most = min(most, transcript.most)
    return f"at most {most} facts" if most > 1 else "at most 1 fact"


def refusals(refused: Sequence[tuple[Fact, str]], transcript: Transcript) -> list[str]:
    """The lines of facts that code refused, each with its reason, and of the messages that are needed to put them right.

    These are the messages that a fact names and `BESIDE` on both sides of each, and for each word that none of them has the
    nearest message that has it. Long messages are shown in part.
    """
    turns = transcript.turns
    stems = [content_stems(turn.memory.text) for turn in turns]
    lines, quotes, places = ["Refused facts:"], dict[int, str](), set[int]()
    for number, (fact, reason) in enumerate(refused, 1):
        named = [place for place, turn in enumerate(turns) if turn.number in (*fact.turns, fact.turn)]
        numbers = ", ".join(str(turns[place].number) for place in named)
        lines.append(f"{number}. {_line(fact.text)!r} (messages {numbers or 'unnamed'}): {escape(reason)}")
        quotes |= {
            place: fact.quote for place in named if place not in quotes or fact.quote in turns[place].memory.text
        }
        near = {place for at in named for place in range(at - BESIDE, at + BESIDE + 1) if 0 <= place < len(turns)}
        for word in content_stems(fact.text, transcript.speakers).difference(*(stems[place] for place in near)):
            having = [place for place in range(len(turns)) if word in stems[place]]
            near |= set(sorted(having, key=lambda place: abs(place - (named or [0])[0]))[:1])
        places |= near
    shown = [replace(turns[place], memory=_in_part(turns[place].memory, quotes.get(place))) for place in sorted(places)]
    return [*lines, "Messages:", *conversation(replace(transcript, turns=tuple(shown), before=()))] if shown else lines


def _in_part(memory: Memory, quote: str | None) -> Memory:
    """A message with at most `EARLIER` characters, or with twice as many on both sides of a quote from it."""
    text = memory.text
    if quote is None:
        return replace(memory, text=_ending(text))
    at = max(0, text.find(quote))
    first, last = max(0, at - 2 * EARLIER), at + len(quote) + 2 * EARLIER
    begins, ends = "… " if first else "", " …" if last < len(text) else ""
    return replace(memory, text=f"{begins}{text[first:last]}{ends}")


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
    lines.append(f"New facts ({len(reconcile_cases)}):")
    for case in reconcile_cases:
        near = ", ".join(f"K{candidate.number}" for candidate in case.candidates)
        lines.append(f"F{case.number} ({case.at.date()}; near {near}): {_line(case.fact.text, most)}")
    return lines


def today(reconcile_cases: Sequence[ReconcileCase]) -> datetime:
    """The day of the newest fact, at most the present: facts of an old conversation are compared as of its own time."""
    newest = max(case.at for case in reconcile_cases)
    present = [case.now for case in reconcile_cases if case.now is not None]
    return min(newest, *present).astimezone(newest.tzinfo) if present else newest


def memories(brief: SummaryRequest) -> list[str]:
    """The lines to summarise: messages with their speaker, below the time of their session; facts and summaries as a numbered list."""
    most = fair_share(len(memory.text) for memory in brief.memories)
    lines: list[str] = []
    last: datetime | None = None
    for place, memory in enumerate(brief.memories, 1):
        if not (memory.speaker or memory.role):
            lines.append(f"{place}. [{_day(memory.at)}] {_line(memory.text, most)}")
            continue
        if last is None or not _one_session(last, memory.at):
            lines.append(_time(memory.at))
        last = memory.at
        lines.append(f"{escape(short_name(memory.role, memory.speaker))}: {_line(memory.text, most)}")
    return lines


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


def _time(at: datetime) -> str:
    """The time of the speaker's clock, with its offset: a model counts "tomorrow" from it."""
    if at.year < 1000:  # noqa: PLR2004 - strftime writes years of four digits only
        return at.isoformat()
    return f"{at:%a %Y-%m-%d %H:%M} {zone_label(at)}"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.date().isoformat()}"


def _line(text: str, most: int = SHOWN) -> str:
    """The escaped text. Lines after the first are indented, so that no line can imitate another entry or end the fence."""
    shown = text if len(text) <= most else f"{text[:most]} [… {len(text) - most:,} characters more]"
    return "\n      ".join(escape(line) for line in shown.splitlines() if line.strip())


_RETRY_SHOWN: Final = 4_000  # characters of an answer that the next question of a chat contains
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
        request = f"That answer could not be read: {problem}. Answer again, in exactly the form asked for."
        shown = raw if len(raw) <= _RETRY_SHOWN else f"{raw[:_RETRY_SHOWN]} …"
        turn = ({"role": "assistant", "content": shown or "(nothing)"}, {"role": "user", "content": request})
        return replace(self, messages=(*self.messages, *turn))


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
