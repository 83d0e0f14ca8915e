"""The mind that asks a language model."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import Final, Self, TypeVar

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm import interpret, prompting
from slowwave.minds.llm.calls import Content, call_model, checked_model, miscounts, raw_of, response_text, tokens_of
from slowwave.minds.llm.ledger import Caps, Ledger, Prices, estimated, price_of
from slowwave.minds.llm.parse import FACTS, VERDICTS, counted, read, summary
from slowwave.minds.llm.prompting import PROFILES, PromptQuestion
from slowwave.model.message import tidy
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Rejected, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.plan import FREE, Cost
from slowwave.policy.retention.categories import REGISTRY
from slowwave.ports import LLM

Value = TypeVar("Value")
Interpreted = tuple[Value, Sequence[Rejected]]

_QUOTED: Final = 160  # characters of an unreadable answer in the error message
_STYLES: Final = ("cluster", "cascade")


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
        categories: the categories of facts; any other becomes "other".

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
        categories: Collection[str] = tuple(REGISTRY),
    ) -> None:
        llm_profile = getattr(llm, "profile", None)
        profile = profile or (llm_profile if isinstance(llm_profile, str) and llm_profile in PROFILES else "chat")
        if profile not in PROFILES:
            raise InputError(f"profile={profile!r}: use one of {', '.join(PROFILES)}")
        if seconds is not None and not seconds > 0:
            raise InputError(f"seconds={seconds!r}: use a number above 0, or None")
        self._llm, self._ask, self._seconds = checked_model(llm), PROFILES[profile], seconds
        self._categories = tuple(categories)
        llm_model = getattr(llm, "model", None)
        model = llm_model if isinstance(llm_model, str) else type(llm).__name__
        self.name = name or model
        self.price, self._caps = price_of(prices, model, self.name), caps
        self.ledger = Ledger(price=self.price, caps=caps)

    def __repr__(self) -> str:
        """The class and the name of the mind."""
        return f"LanguageMind({self.name!r})"

    def start_run(self, today: Callable[[], Cost], /) -> Self:
        """A copy of the mind for one run: caps per run start at 0, caps per day continue from `today`."""
        mind = copy(self)
        mind.ledger = Ledger(price=self.price, caps=self._caps, today=today)
        return mind

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Lasting facts from a part of a conversation. The caller checks that the conversation supports them.

        Raises:
            ModelError: the model failed, two answers were unreadable, or a cap is reached.
        """
        if not transcript.turns:
            return MindAnswer(value=())
        categories = ", ".join(self._categories)
        question = self._ask(
            "distil",
            prompting.conversation(transcript),
            categories=categories,
            most=prompting.how_many(transcript),
        )

        def interpreted(content: Content) -> Interpreted[tuple[Fact, ...]]:
            return interpret.interpret_facts(read(content, FACTS), transcript, self._categories, question.prompt.static)

        return self._answer(question, interpreted)

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """What each new fact does to known facts, in one call. A fact without a verdict stays undecided.

        Raises:
            ModelError: the model failed, two answers were unreadable, or a cap is reached.
        """
        if not cases:
            return MindAnswer(value=())
        question = self._ask("reconcile", prompting.cases(cases))
        return self._answer(question, lambda content: interpret.interpret_verdicts(read(content, VERDICTS), cases))

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """A summary of many memories. The caller checks its names and numbers.

        Raises:
            ModelError: the model failed or refused, two answers were unreadable, or a cap is reached.
        """
        if brief.style not in _STYLES or not brief.memories:
            raise InputError(
                f"a request of style {brief.style!r} with {len(brief.memories)} memories: use cluster or cascade, and a memory"
            )
        topic = f", about {tidy(brief.topic)!r}" if brief.topic else ""
        question = self._ask(brief.style, prompting.memories(brief), words=str(brief.words), topic=topic)
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
        content = self._ask_once(question, costs, problems)
        try:
            return content, interpreted(content)
        except ModelError as problem:
            content = self._ask_once(question.again(raw_of(content), str(problem)), costs, problems)
        try:
            return content, interpreted(content)
        except ModelError as error:
            beginning = tidy(raw_of(content))[:_QUOTED]
            raise ModelError(f"the model's answer could not be read, twice: {error}; it began {beginning!r}") from error

    def _ask_once(self, question: PromptQuestion, costs: list[Cost], problems: list[str]) -> Content:
        started = self.ledger.admit()
        tokens_in, tokens_out = None, None
        content: Content = ""
        sent = True
        try:
            answer = call_model(lambda: question.call(self._llm), self._seconds)
            tokens_in, tokens_out = tokens_of(answer)
            if miscounts(answer):
                problems.append("the model's token counts are not usable; its texts were counted instead")
            content = response_text(answer)
        except ModelError as error:
            sent = error.cost != FREE
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
        return question.whole(content)
