"""The language mind: asks a model, and takes from its answer what can be read and meant."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import Final, Self, TypeVar

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm import interpret, prompting
from slowwave.minds.llm.calls import Content, call_model, checked_model, miscounts, raw_of, response_text, tokens_of
from slowwave.minds.llm.ledger import Caps, Ledger, Prices, estimated, price_of
from slowwave.minds.llm.parse import FACTS, VERDICTS, counted, read, summary
from slowwave.minds.llm.prompting import PROFILES, Question
from slowwave.model.message import tidy
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Rejected, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.plan import FREE, Cost
from slowwave.policy.retention.categories import REGISTRY
from slowwave.ports import LLM

Value = TypeVar("Value")
Understood = tuple[Value, Sequence[Rejected]]

_QUOTED: Final = 160  # characters of an unreadable answer in the error
_STYLES: Final = ("cluster", "cascade")


class LanguageMind:
    """A Mind that asks a language model.

    An answer that cannot be read is asked for once more, showing what was wrong with it; then the mind fails, and
    the work waits. Failures of the model itself are not retried here: that is its client's matter.

    Args:
        llm: anything with `complete(messages=...)`; it may answer with text, or a dict or object with content or text.
        name: what this mind is called; the model's name by default.
        profile: "chat", or "completion" for base models; None takes what the model says of itself, else "chat".
        seconds: how long one answer may take; None leaves it to the model. With a number, calls run on their own thread.
        prices: {model: (in, out)}, money for a million tokens each; the model by its own name or this mind's.
        caps: how much it may be asked.
        categories: what a fact may be filed under; anything else becomes "other".

    Raises:
        InputError: the model cannot be called from here, or a setting cannot be meant.
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
        said = getattr(llm, "profile", None)
        profile = profile or (said if isinstance(said, str) and said in PROFILES else "chat")
        if profile not in PROFILES:
            raise InputError(f"profile={profile!r}: use one of {', '.join(PROFILES)}")
        if seconds is not None and not seconds > 0:
            raise InputError(f"seconds={seconds!r}: use a number above 0, or None")
        self._llm, self._ask, self._seconds = checked_model(llm), PROFILES[profile], seconds
        self._categories = tuple(categories)
        said = getattr(llm, "model", None)
        model = said if isinstance(said, str) else type(llm).__name__
        self.name = name or model
        self.price, self._caps = price_of(prices, model, self.name), caps
        self.ledger = Ledger(price=self.price, caps=caps)

    def __repr__(self) -> str:
        """The mind by its name."""
        return f"LanguageMind({self.name!r})"

    def start_run(self, today: Callable[[], Cost], /) -> Self:
        """The same mind for one run, with a ledger of its own: caps of a run count from here, those of a day go on."""
        fresh = copy(self)
        fresh.ledger = Ledger(price=self.price, caps=self._caps, today=today)
        return fresh

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Durable facts out of a stretch of conversation. Whether the conversation supports them is not checked here.

        Raises:
            ModelError: the model failed, could not be read twice, or a cap is reached.
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

        def understood(content: Content) -> Understood[tuple[Fact, ...]]:
            return interpret.interpret_facts(read(content, FACTS), transcript, self._categories, question.prompt.static)

        return self._proposed(question, understood)

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """What each new fact does to what is known, in one call. A fact without a verdict stays undecided.

        Raises:
            ModelError: the model failed, could not be read twice, or a cap is reached.
        """
        if not cases:
            return MindAnswer(value=())
        question = self._ask("reconcile", prompting.cases(cases))
        return self._proposed(question, lambda content: interpret.interpret_verdicts(read(content, VERDICTS), cases))

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """Fewer words for many memories. Whether they keep every name and number is not checked here.

        Raises:
            ModelError: the model failed, refused, or could not be read twice, or a cap is reached.
        """
        if brief.style not in _STYLES or not brief.memories:
            raise InputError(
                f"a brief of style {brief.style!r} with {len(brief.memories)} memories cannot be summarised"
            )
        topic = f", about {tidy(brief.topic)!r}" if brief.topic else ""
        question = self._ask(brief.style, prompting.memories(brief), words=str(brief.words), topic=topic)
        return self._proposed(question, lambda content: (Summary(text=summary(content, brief)), ()))

    def _proposed(self, question: Question, understood: Callable[[Content], Understood[Value]]) -> MindAnswer[Value]:
        costs: list[Cost] = []
        problems: list[str] = []
        try:
            content, (value, rejected) = self._understood(question, understood, costs, problems)
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

    def _understood(
        self,
        question: Question,
        understood: Callable[[Content], Understood[Value]],
        costs: list[Cost],
        problems: list[str],
    ) -> tuple[Content, Understood[Value]]:
        """The answer and what it means; one that cannot be read is asked for once more."""
        content = self._answer(question, costs, problems)
        try:
            return content, understood(content)
        except ModelError as unread:
            content = self._answer(question.again(raw_of(content), str(unread)), costs, problems)
        try:
            return content, understood(content)
        except ModelError as error:
            began = tidy(raw_of(content))[:_QUOTED]
            raise ModelError(f"the model's answer could not be read, twice: {error}; it began {began!r}") from error

    def _answer(self, question: Question, costs: list[Cost], problems: list[str]) -> Content:
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
