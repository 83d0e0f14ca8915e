"""Distilling with a model: what is shown, one question to put refused facts right, and answers that are cut off or empty."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.minds.llm import interpret, prompting
from slowwave.minds.llm.calls import LLMResponse
from slowwave.minds.llm.ledger import Caps
from slowwave.minds.llm.mind import LanguageMind
from slowwave.model.memory import Memory
from slowwave.model.mind import Transcript, Turn
from slowwave.policy.retention.categories import REGISTRY
from slowwave.testing import OpenAIServer, ScriptedLLM
from slowwave.testing.openai_server import Received, Served

Open = Callable[..., AgentMemory]
AT = datetime(2025, 6, 4, 18, tzinfo=UTC)
TALK = (
    ("Nils", "user", "My cousin Ragna has opened a pottery in Visby."),
    ("Ada", "user", "Lovely, what does she make?"),
    ("Nils", "user", "Bowls, mostly."),
    ("Ada", "user", "And does it go well?"),
    ("Nils", "user", "She sold 40 pieces last weekend."),
)


def said(text: str, *, minutes: float = 0, role: str = "user", speaker: str | None = "Nils") -> Memory:
    at = AT + timedelta(minutes=minutes)
    return Memory(
        id=text[:20], scope="s", kind="message", role=role, speaker=speaker, text=text, recorded_at=at, valid_from=at
    )


def shown(*memories: Memory, before: Sequence[Memory] = (), most: int = 8) -> Transcript:
    turns = tuple(Turn(number=n, memory=memory) for n, memory in enumerate(memories, 1))
    names = frozenset(memory.speaker for memory in memories if memory.speaker)
    return Transcript(conversation="c", turns=turns, most=most, before=tuple(before), speakers=names)


def item(text: str, messages: list[int], quote: str, category: str = "person") -> dict[str, Any]:
    return {"text": text, "category": category, "messages": messages, "quote": quote}


SOLD = "She sold 40 pieces last weekend"
RIGHT = item("Ragna sold 40 pieces in her pottery on the weekend of 31 May 2025", [5, 1], SOLD)
BARE = {**RIGHT, "messages": [5]}
INVENTED = item("Ragna sold 60 pieces on the weekend of 31 May 2025", [5, 1], SOLD)


def talk(memory: AgentMemory, lines: Sequence[tuple[str | None, str, str]] = TALK, *, conversation: str = "c") -> None:
    messages = [
        Message(role=role, speaker=speaker, content=text, at=AT + timedelta(seconds=20 * n), id=f"m{n}")
        for n, (speaker, role, text) in enumerate(lines, 1)
    ]
    memory.add_messages(messages, conversation=conversation)


# --- what is shown


def test_the_time_stands_above_each_session_and_roles_beside_names() -> None:
    lines = prompting.conversation(
        shown(
            said("One"),
            said("Two", minutes=5, role="assistant", speaker="Ada"),
            said("Three", minutes=90, role="assistant", speaker=None),
            said("Four", minutes=60 * 8),
            before=[said("Zero", minutes=-2), said("Yesterday's", minutes=-60 * 24)],
        )
    )
    assert lines == [
        "Wed 2025-06-04 17:58 UTC",
        "[earlier] Nils (user): Zero",
        "[1] Nils: One",
        "[2] Ada (assistant): Two",
        "Wed 2025-06-04 19:30 UTC",
        "[3] assistant: Three",
        "Thu 2025-06-05 02:00 UTC",
        "[4] Nils: Four",
    ]


def test_a_role_stands_again_beside_a_name_that_has_another_one() -> None:
    lines = prompting.conversation(
        shown(said("One"), said("Two", role="assistant"), said("Three", role="assistant"), said("Four"))
    )
    assert lines[1:] == [
        "[1] Nils (user): One",
        "[2] Nils (assistant): Two",
        "[3] Nils: Three",
        "[4] Nils (user): Four",
    ]


def test_long_advice_is_shortened_and_what_people_say_is_not() -> None:
    long = "The first step is easy. " + "word " * 400 + "Good luck with it!"
    advice, named, user = prompting.conversation(
        shown(said(long, role="assistant", speaker=None), said(long, role="assistant", speaker="Ada"), said(long))
    )[1:]
    assert len(advice) < 1_000
    assert "The first step is easy." in advice
    assert "Good luck with it!" in advice
    assert "characters …]" in advice
    assert long in named
    assert long in user


@pytest.mark.parametrize(
    ("messages", "words", "most", "asked"),
    [
        (1, 5, 8, 2),
        (3, 5, 8, 2),
        (9, 5, 8, 4),
        (10, 5, 8, 5),
        (15, 5, 8, 5),
        (24, 5, 8, 8),
        (30, 5, 8, 8),
        (30, 5, 4, 4),
        (1, 400, 8, 5),
        (30, 100, 64, 37),
        (36, 5, 64, 12),
        (3, 5, 1, 1),
    ],
)
def test_the_number_of_facts_follows_from_the_messages(messages: int, words: int, most: int, asked: int) -> None:
    transcript = shown(*(said(f"{n} " + "word " * words) for n in range(messages)), most=most)
    assert prompting.how_many(transcript) == ("at most 1 fact" if asked == 1 else f"at most {asked} facts")


def test_categories_that_expire_within_days_are_not_offered() -> None:
    offered = interpret.offered(("person", "session_state", "tool_output", "rota")).split("; ")
    assert [each.partition(" (")[0] for each in offered] == ["person", "rota", "instruction"]


def test_a_category_that_keeps_a_fact_in_every_context_is_explained() -> None:
    protected = {category.name for category in REGISTRY.values() if category.protected}
    assert protected == {"identity", "active_decision"}
    assert protected <= interpret.GLOSSES.keys()


# --- what is computed


def distilled(*items: Mapping[str, Any], lines: Sequence[str]) -> list[Any]:
    answer = {"facts": list(items)}
    transcript = shown(*(said(line) for line in lines))
    return list(LanguageMind(ScriptedLLM(distil=answer)).distil(transcript).value)


def test_kind_and_subject_are_computed_where_the_model_names_none() -> None:
    lines = (
        "Always answer in Swedish.",
        "I went to Visby yesterday.",
        "I have lived in Lund since 2019.",
        "I like rye.",
    )
    facts = distilled(
        item("The user wants answers in Swedish", [1], lines[0], "instruction"),
        item("Nils went to Visby on 3 June 2025", [2], lines[1]),
        item("Nils has lived in Lund since 2019", [3], lines[2]),
        {**item("Nils likes rye", [4], lines[3]), "kind": "episodic", "subject": "rye"},
        lines=lines,
    )
    assert [(fact.kind, fact.subject, fact.category) for fact in facts] == [
        ("procedural", "The user", "preference"),
        ("episodic", "Nils", "person"),
        ("semantic", "Nils", "person"),
        ("episodic", "rye", "person"),
    ]


def test_a_fact_has_a_source_for_each_message_that_it_names(opened: Open) -> None:
    memory = opened(llm=ScriptedLLM(distil={"facts": [{**RIGHT, "messages": [5, 1, 77]}]}))
    talk(memory)
    (fact,) = memory.consolidate("c", force=True).facts
    assert [(str(source), source.quote) for source in fact.sources] == [("m5", SOLD), ("m1", "")]


def test_a_fact_is_trusted_as_the_messages_that_it_needs(opened: Open) -> None:
    lines = [
        (None, "assistant", "You could visit Ragna in Visby."),
        (None, "user", "I sold my boat."),
        (None, "user", "I will go there."),
    ]
    sold = item("The user sold a boat", [2, 1], "I sold my boat")
    visit = item("The user will go to Visby", [3, 1], "I will go there")
    memory = opened(llm=ScriptedLLM(distil={"facts": [sold, visit]}))
    talk(memory, lines)
    facts = {fact.text: fact.trust for fact in memory.consolidate("c", force=True).facts}
    assert facts == {sold["text"]: "user", visit["text"]: "assistant"}


# --- one question to put refused facts right


def test_a_refused_fact_is_named_to_the_model_once_with_the_reason(opened: Open) -> None:
    llm = ScriptedLLM(distil=[{"facts": [BARE]}, {"facts": [RIGHT]}])
    memory = opened(llm=llm)
    talk(memory)
    result = memory.consolidate("c", force=True)
    assert [fact.text for fact in result.facts] == [RIGHT["text"]]
    assert result.rejected == ()
    assert llm.count("distil") == result.cost.calls == 2
    _, request = llm.asked[1].messages
    assert "(messages 5): no message that it names has the word" in request["content"]


def repair_of(fact: Mapping[str, Any], lines: Sequence[str]) -> str:
    """What a model is asked about a refused fact of a long talk."""
    llm = ScriptedLLM(distil=[{"facts": [fact]}, {"facts": []}])
    LanguageMind(llm).distil(shown(*(said(f"{line} {n}", minutes=n) for n, line in enumerate(lines, 1))))
    return llm.asked[1].messages[-1]["content"]


def test_the_question_shows_the_messages_near_a_refused_fact_and_those_that_have_its_words() -> None:
    lines = ["The weather is fine again, and nobody knows why."] * 30
    lines[2] = "Ragna has a pottery in Visby."
    lines[19] = "She sold 40 pieces."
    asked = repair_of(item("Ragna sold 40 pieces in the pottery in Visby", [20], "She sold 40 pieces"), lines)
    numbers = [int(line[1 : line.index("]")]) for line in asked.splitlines() if line.startswith("[")]
    assert numbers == [3, 18, 19, 20, 21, 22]
    assert "2025-06-04 18:03" in asked, "a date is worked out from the time"


def test_the_question_shows_of_a_long_message_what_is_near_the_quote() -> None:
    filler = "The weather is fine again, and nobody knows why. " * 100
    asked = repair_of(
        item("Ragna sold 60 vases", [2], "She sold 40 pieces"), [filler, f"{filler}She sold 40 pieces. {filler}"]
    )
    assert "She sold 40 pieces." in asked
    assert len(asked) < 3 * prompting.EARLIER + 4 * prompting.EARLIER


def test_a_fact_that_is_put_right_keeps_what_the_question_does_not_ask_for(opened: Open) -> None:
    bare = {**BARE, "category": "goal", "confidence": 0.95, "importance": 0.9}
    right = {name: RIGHT[name] for name in ("text", "messages", "quote")}
    memory = opened(llm=ScriptedLLM(distil=[{"facts": [bare]}, {"facts": [right]}]))
    talk(memory)
    (fact,) = memory.consolidate("c", force=True).facts
    assert (fact.text, fact.category, fact.confidence, fact.importance) == (RIGHT["text"], "goal", 0.95, 0.9)


def test_what_is_refused_again_or_dropped_stays_refused(opened: Open) -> None:
    for second in ({"facts": [INVENTED]}, {"facts": []}):
        llm = ScriptedLLM(distil=[{"facts": [RIGHT, INVENTED]}, second])
        memory = opened(llm=llm, store=":memory:")
        talk(memory)
        result = memory.consolidate("c", force=True)
        assert [fact.text for fact in result.facts] == [RIGHT["text"]]
        assert [one.text for one in result.rejected] == [INVENTED["text"]]
        assert llm.count("distil") == 2


def test_the_question_adds_no_facts_that_nobody_asked_about(opened: Open) -> None:
    other = item("Nils has a cousin Ragna", [1], "My cousin Ragna")
    llm = ScriptedLLM(distil=[{"facts": [BARE]}, {"facts": [RIGHT, other]}])
    memory = opened(llm=llm)
    talk(memory)
    assert [fact.text for fact in memory.consolidate("c", force=True).facts] == [RIGHT["text"]]


def test_a_refused_fact_without_content_is_not_named_to_the_model(opened: Open) -> None:
    empty = item("I will!", [5], "She")
    for answers in ([[RIGHT, empty]], [[BARE, empty], [RIGHT]]):
        llm = ScriptedLLM(distil=[{"facts": facts} for facts in answers])
        memory = opened(llm=llm, store=":memory:")
        talk(memory)
        result = memory.consolidate("c", force=True)
        assert [fact.text for fact in result.facts] == [RIGHT["text"]]
        assert [one.text for one in result.rejected] == [empty["text"]]
        assert llm.count("distil") == len(answers)
    request = llm.asked[-1].messages[-1]["content"]
    assert (BARE["text"] in request, empty["text"] in request) == (True, False)


@pytest.mark.parametrize("second", ["no idea", RuntimeError("down")])
def test_a_failed_question_leaves_the_first_answer_and_is_a_problem(opened: Open, second: object) -> None:
    llm = ScriptedLLM(distil=[{"facts": [RIGHT, INVENTED]}, second])
    memory = opened(llm=llm)
    talk(memory)
    result = memory.consolidate("c", force=True)
    assert [fact.text for fact in result.facts] == [RIGHT["text"]]
    assert [one.text for one in result.rejected] == [INVENTED["text"]]
    assert len(result.problems) == 1
    assert (result.cost.calls, memory.status().unread) == (2, 0)


def test_a_cap_forbids_the_question_and_keeps_the_first_answer() -> None:
    mind = LanguageMind(ScriptedLLM(distil={"facts": [BARE]}), caps=Caps(calls_per_run=1))
    answer = mind.distil(shown(*(said(text, speaker=speaker) for speaker, _, text in TALK)))
    assert (len(answer.value), answer.cost.calls, len(answer.problems)) == (1, 1, 1)


def test_a_sleep_pass_names_refusals_with_reasons_and_what_was_put_right(opened: Open) -> None:
    memory = opened(llm=ScriptedLLM(distil=[{"facts": [BARE, INVENTED]}, {"facts": [RIGHT]}]))
    talk(memory)
    report = str(memory.sleep())
    assert INVENTED["text"] in report
    assert "'60'" in report, "the reason names the number that nobody said"
    assert "put 1 of 2 refused facts right" in report


def test_a_sleep_pass_names_an_empty_answer(opened: Open) -> None:
    memory = opened(llm=ScriptedLLM(distil={"facts": []}))
    talk(memory, [("Nils", "user", f"I planted tree number {n} in the garden") for n in range(1, 21)])
    assert "the model found no fact" in str(memory.sleep())


# --- answers that are cut off, empty, or refusals


class Short:
    """A model whose answers are cut off for more than `most` messages, with or without a reason of the end."""

    model = "short"

    def __init__(self, most: int, reason: str | None) -> None:
        self.most, self.reason = most, reason
        self.sizes: list[int] = []

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> LLMResponse:
        if "Task: distil" not in messages[0]["content"]:
            return LLMResponse('{"verdicts": []}')
        lines = [line for line in messages[1]["content"].splitlines() if line.startswith("[") and "earlier" not in line]
        self.sizes.append(len(lines))
        facts = [item(said, [n], said) for n, line in enumerate(lines, 1) if (said := line.partition(": ")[2])]
        text = json.dumps({"facts": facts[:2]})
        return LLMResponse(text[:-4] if len(lines) > self.most else text, finish_reason=self.reason)


@pytest.mark.parametrize("reason", ["length", None])
def test_a_cut_answer_is_asked_for_again_about_fewer_messages(opened: Open, reason: str | None) -> None:
    llm = Short(5, reason)
    memory = opened(llm=llm, config=Config(max_facts_per_pass=8))
    talk(memory, [("Nils", "user", f"I planted tree number {n} in the garden") for n in range(1, 21)])
    result = memory.consolidate("c", force=True)
    assert llm.sizes == [20, 10, 5, 5, 5, 5], "the size that fits is kept for the rest"
    assert result.skipped_reason is None
    assert len(result.facts) == len({fact.text for fact in result.facts}) == 8
    assert sum("cut off" in problem for problem in result.problems) == 2
    assert memory.status().unread == 0


def test_messages_of_answers_that_are_always_cut_off_stay_due(opened: Open) -> None:
    llm = Short(0, "length")
    memory = opened(llm=llm)
    talk(memory)
    result = memory.consolidate("c", force=True)
    assert llm.sizes == [5, 2, 1, 1], "at last it is asked whether it answers anything"
    assert "cut off" in str(result.skipped_reason)
    assert result.problems
    assert (memory.status().unread, len(memory.get_all())) == (5, 0)
    llm.most = 9
    assert len(memory.consolidate("c", force=True).facts) == 2
    assert memory.status().unread == 0


def test_an_empty_text_leaves_the_messages_due_and_an_empty_list_does_not(opened: Open) -> None:
    lines = [("Nils", "user", f"Good morning number {n}") for n in range(12)]
    for answer, unread, skipped in (
        ("", 12, True),
        ("I'm sorry, I can't help with that.", 12, True),
        ({"facts": []}, 0, False),
    ):
        memory = opened(llm=ScriptedLLM(distil=answer), store=":memory:")
        talk(memory, lines)
        result = memory.consolidate("c")
        assert memory.status().unread == unread
        assert bool(result.skipped_reason) == skipped
        assert bool(result.problems) == skipped
        assert result.problems or result.notes == ("the model found no fact in messages 1 to 12 of c",)


def test_a_server_says_that_its_answer_reached_the_limit(opened: Open) -> None:
    def answered(received: Received) -> Served:
        del received
        choice = {"message": {"content": '{"facts": ['}, "finish_reason": "length"}
        return Served(body=json.dumps({"choices": [choice]}))

    with OpenAIServer(answered) as server:
        memory = opened(llm=f"{server.url}#m")
        talk(memory, TALK[:1])
        result = memory.consolidate("c", force=True)
    assert "reached the limit of its length" in str(result.skipped_reason)
    assert len(server.received) == 2, (
        "the same question would be cut off again; the second one is whether it answers at all"
    )
    assert TALK[0][2] not in str(server.received[1].body)


def test_the_subject_of_a_fact_is_the_first_person_that_it_names() -> None:
    for text, subject in (
        ("John's dog is old", "John"),
        ("In the week of 8 May 2023 Maria moved", "Maria"),
        ("On 8 May 2023 Maria met John", "Maria"),
        ("The user's sister moved", "The user"),
        ("Alba's flat has a garden", "Alba"),
        ("It rained for a week", None),
    ):
        assert interpret._subject(text, {"Maria", "John"}) == subject, text
