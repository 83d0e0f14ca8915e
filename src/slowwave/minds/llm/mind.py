"""The mind that asks a language model."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Self, TypeVar

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm import interpret, prompting
from slowwave.minds.llm.calls import (
    Content,
    call_model,
    checked_model,
    is_cut_off,
    miscounts,
    raw_of,
    response_text,
    tokens_of,
)
from slowwave.minds.llm.ledger import Caps, Ledger, Prices, estimated, price_of
from slowwave.minds.llm.parse import FACTS, VERDICTS, counted, read, summary
from slowwave.minds.llm.prompting import PROFILES, PromptQuestion
from slowwave.minds.llm.shared_limits import SharedLimits
from slowwave.minds.llm.withholding import Withheld
from slowwave.model.budget import StoreBudget
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Rejected, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.plain_text import tidy
from slowwave.model.plan import FREE, Cost
from slowwave.policy.guard.grounding import content_stems, ground
from slowwave.policy.retention.categories import REGISTRY
from slowwave.ports import LLM
from slowwave.transport.patience import telling_limits
from slowwave.upkeep import ModelLimits

Value = TypeVar("Value")
Interpreted = tuple[Value, Sequence[Rejected]]

_STYLES: Final = ("cluster", "cascade")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """The answer of one call, and whether its provider says that it reached the limit of its length."""

    content: Content
    cut: bool


def _cut_off(facts: int = 0) -> ModelError:
    error = ModelError(
        f"the model's answer was cut off{f' after {facts} facts' if facts else ''}: it reached the limit of its length "
        "(max_tokens, num_predict or the context window of the model)"
    )
    error.cut_off = error.refused = True
    return error


class LanguageMind:
    """A Mind that asks a language model.

    After an unreadable answer the question is sent once more with the problem. After a second one the mind raises
    ModelError, and the work stays due. Failures of the model itself are retried by its client only.

    Args:
        llm: anything with `complete(messages=...)`; it may answer with text, or a dict or object with content or text.
        name: the name of this mind; by default that of the model.
        profile: "chat", or "completion" for base models; None uses the `profile` of the model, else "chat".
        seconds: the limit of one answer; None means no limit. With a number, calls run on their own thread.
        prices: {model: (in, out)}, the price of a million tokens each; under the name of the model or of this mind.
        caps: limits on the calls.
        budget: limits on the calls of all processes and scopes of the store.
        categories: the categories of facts; any other becomes "other".
        redact: whether recognised secrets are replaced by placeholders in what the model is asked.

    Raises:
        InputError: the model has no synchronous `complete`, or an argument is invalid.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        name: str | None = None,
        profile: str | None = None,
        seconds: float | None = None,
        prices: Prices | None = None,
        caps: Caps = Caps(),  # noqa: B008 - frozen
        budget: StoreBudget = StoreBudget(),  # noqa: B008 - frozen
        categories: Collection[str] = tuple(REGISTRY),
        redact: bool = True,
    ) -> None:
        llm_profile = getattr(llm, "profile", None)
        profile = profile or (llm_profile if isinstance(llm_profile, str) and llm_profile in PROFILES else "chat")
        if profile not in PROFILES:
            raise InputError(f"profile={profile!r}: use one of {', '.join(PROFILES)}")
        if seconds is not None and not seconds > 0:
            raise InputError(f"seconds={seconds!r}: use a number above 0, or None")
        self._llm, self._ask, self._seconds = checked_model(llm), PROFILES[profile], seconds
        self._repairs = profile == "chat"
        self._categories = tuple(categories)
        self._redact = redact
        llm_model = getattr(llm, "model", None)
        model = llm_model if isinstance(llm_model, str) else type(llm).__name__
        self.name = name or model
        self.price, self._caps, self._budget = price_of(prices, model, self.name), caps, budget
        self.ledger = Ledger(price=self.price, caps=caps)

    def __repr__(self) -> str:
        """The class and the name of the mind."""
        return f"LanguageMind({self.name!r})"

    @property
    def resumes(self) -> datetime | None:
        """When the provider or the budget of the store admits calls again, if the last one was refused; otherwise None."""
        shared = self.ledger.shared
        return None if shared is None else shared.resumes

    def start_run(self, today: Callable[[], Cost], store: ModelLimits, now: Callable[[], datetime], /) -> Self:
        """A copy of the mind for one run: caps per run start at 0, caps per day continue from `today`. See `Counting`."""
        mind = copy(self)
        shared = SharedLimits(store, model=self.name, budget=self._budget, now=now)
        mind.ledger = Ledger(price=self.price, caps=self._caps, today=today, shared=shared)
        return mind

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Lasting facts from a part of a conversation. The caller checks that the conversation supports them.

        A chat model is asked once more about facts that it does not support, with the reasons, to put them right or drop them.

        Raises:
            ModelError: the model failed, two answers were unreadable, one was cut off (`cut_off`), or a cap is reached.
        """
        if not transcript.turns:
            return MindAnswer(value=())
        withheld = Withheld(active=self._redact)
        question = self._ask(
            "distil",
            prompting.conversation(withheld.transcript(transcript)),
            categories=interpret.offered(self._categories),
            most=prompting.how_many(transcript),
        )

        answer = self._answer(question, lambda content: self._facts(content, question, transcript, withheld))
        return self._put_right(answer, transcript) if self._repairs else answer

    def _facts(
        self, content: Content, question: PromptQuestion, transcript: Transcript, withheld: Withheld
    ) -> Interpreted[tuple[Fact, ...]]:
        """The facts of an answer about a transcript, and the refused items."""
        reading = read(content, FACTS)
        if reading.cut:
            raise _cut_off(len(reading.items))
        proposed, rejected = interpret.interpret_facts(reading, transcript, self._categories, question.prompt.static)
        kept, unknown = withheld.facts(proposed)
        return kept, (*rejected, *unknown)

    def _put_right(self, answer: MindAnswer[tuple[Fact, ...]], transcript: Transcript) -> MindAnswer[tuple[Fact, ...]]:
        """The answer after one further question, about the facts that the messages do not support, with the reasons.

        A fact that is refused again, or is left out, stays refused. One without content words is not asked about. If the
        question fails, or a cap forbids it, the first answer holds.
        """
        checked = [(fact, ground(fact, transcript)) for fact in answer.value]
        refused = [(fact, found.reason) for fact, found in checked if isinstance(found, Rejected)]
        named = [pair for pair in refused if content_stems(pair[0].text, transcript.speakers)]  # "I will!" says nothing
        if not named:
            return answer
        withheld = Withheld(active=self._redact)
        shown = [(replace(fact, text=withheld.text(fact.text)), withheld.text(reason)) for fact, reason in named]
        question = self._ask("repair", prompting.refusals(shown, withheld.transcript(transcript)))
        costs: list[Cost] = [answer.cost]
        problems = list(answer.problems)
        try:
            reply = self._ask_once(question, costs, problems)
            proposed, rejected = self._facts(reply.content, question, transcript, withheld)
        except ModelError as error:
            problems.append(f"{len(named)} refused facts were not put right: {error}")
            return replace(answer, cost=sum(costs, FREE), problems=tuple(problems))
        kept = tuple(fact for fact, found in checked if not isinstance(found, Rejected))
        value, still = interpret.repaired(kept, refused, proposed, transcript)
        return replace(
            answer,
            value=value,
            raw=f"{answer.raw}\n{raw_of(reply.content)}",
            cost=sum(costs, FREE),
            rejected=counted((*answer.rejected, *still, *rejected)),
            problems=tuple(problems),
            notes=(f"a further question put {len(value) - len(kept)} of {len(refused)} refused facts right",),
        )

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """What each new fact does to known facts, in one call. A fact without a verdict stays undecided.

        Raises:
            ModelError: the model failed, two answers were unreadable, or a cap is reached.
        """
        if not cases:
            return MindAnswer(value=())
        withheld = Withheld(active=self._redact)
        question = self._ask("reconcile", prompting.cases(withheld.cases(cases)))

        def interpreted(content: Content) -> Interpreted[tuple[Verdict, ...]]:
            verdicts, rejected = interpret.interpret_verdicts(read(content, VERDICTS), cases)
            return withheld.verdicts(verdicts), rejected

        return self._answer(question, interpreted)

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """A summary of many memories. The caller checks its names and numbers.

        Raises:
            ModelError: the model failed or refused, two answers were unreadable, or a cap is reached.
        """
        if brief.style not in _STYLES or not brief.memories:
            raise InputError(
                f"a request of style {brief.style!r} with {len(brief.memories)} memories: use cluster or cascade, and a memory"
            )
        shown = Withheld(active=self._redact).request(brief)
        topic = f", about {tidy(shown.topic)!r}" if shown.topic else ""
        question = self._ask(brief.style, prompting.memories(shown), words=str(brief.words), topic=topic)
        return self._answer(question, lambda content: (Summary(text=summary(content, brief)), ()))

    def _answer(
        self, question: PromptQuestion, interpreted: Callable[[Content], Interpreted[Value]]
    ) -> MindAnswer[Value]:
        costs: list[Cost] = []
        problems: list[str] = []
        try:
            content, (value, rejected) = self._readable(question, interpreted, costs, problems)
        except ModelError as error:
            error.cost = sum(costs, FREE)
            raise
        return MindAnswer(
            value=value,
            raw=raw_of(content),
            cost=sum(costs, FREE),
            prompt=str(question.prompt),
            rejected=counted(rejected),
            problems=tuple(dict.fromkeys(problems)),
        )

    def _readable(
        self,
        question: PromptQuestion,
        interpreted: Callable[[Content], Interpreted[Value]],
        costs: list[Cost],
        problems: list[str],
    ) -> tuple[Content, Interpreted[Value]]:
        """The answer and its interpretation; asks once more if it is unreadable."""
        reply = self._ask_once(question, costs, problems)
        try:
            return reply.content, interpreted(reply.content)
        except ModelError as problem:
            if problem.cut_off or reply.cut:
                raise _cut_off() if not problem.cut_off else problem from None
            reply = self._ask_once(question.again(raw_of(reply.content), str(problem)), costs, problems)
        try:
            return reply.content, interpreted(reply.content)
        except ModelError as error:
            length = len(raw_of(reply.content))
            twice = ModelError(f"the model's answer could not be read, twice: {error}; it has {length:,} characters")
            twice.cut_off, twice.refused = error.cut_off or reply.cut, True
            raise twice from error

    def _ask_once(self, question: PromptQuestion, costs: list[Cost], problems: list[str]) -> _Reply:
        started = self.ledger.admit()
        tokens_in, tokens_out = None, None
        content: Content = ""
        cut = False
        sent = True
        try:
            with telling_limits(self._pause):
                answer = call_model(lambda: question.call(self._llm), self._seconds, asked=question.text)
            tokens_in, tokens_out = tokens_of(answer)
            if miscounts(answer):
                problems.append("the model's token counts are not usable; its texts were counted instead")
            content, cut = response_text(answer), is_cut_off(answer)
        except ModelError as error:
            sent = error.cost != FREE
            if error.retry_after is not None and self.ledger.shared is not None:
                self.ledger.shared.refused(error.retry_after)
            raise
        finally:
            if sent:
                cost = self.ledger.book(
                    started,
                    estimated(question.text) if tokens_in is None else tokens_in,
                    estimated(raw_of(content)) if tokens_out is None else tokens_out,
                )
                costs.append(cost)
            else:
                self.ledger.waive()
        return _Reply(content=question.whole(content), cut=cut)

    def _pause(self, seconds: float) -> None:
        """Let all processes of the store pause while the client waits to try again."""
        if self.ledger.shared is not None:
            self.ledger.shared.pause(seconds)
