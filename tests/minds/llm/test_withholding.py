"""Recognised secrets are kept from models and remote embedders, while messages are stored as they were said."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slowwave import AgentMemory, Config
from slowwave.errors import ModelError
from slowwave.minds.llm.mind import LanguageMind
from slowwave.model.mind import Candidate, Fact, ReconcileCase, SummaryRequest

PASSWORD = "Tannenzapfen"
CARD = "4111 1111 1111 1111"
SAID = f"I live in Graz, my password is {PASSWORD}, and I pay with {CARD} at the Hofer."
Open = Callable[..., AgentMemory]


class Recorder:
    """A model that keeps what it is asked, and answers with these facts."""

    def __init__(self, *facts: dict[str, Any]) -> None:
        self.asked: list[str] = []
        self._answer: dict[str, Any] = {"facts": list(facts)}

    def complete(self, *, messages: Sequence[dict[str, str]]) -> dict[str, Any]:
        self.asked += [message["content"] for message in messages]
        return self._answer


class RecordingEmbedder:
    """An embedder that keeps the texts that it gets."""

    name = "recorder"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.ones((len(texts), 4), dtype=np.float32)


def fact(text: str, quote: str) -> dict[str, Any]:
    return {"text": text, "quote": quote, "message": 1, "category": "person", "confidence": 0.9}


def test_a_model_sees_placeholders_and_the_message_keeps_its_words(opened: Open, talk: Callable[..., None]) -> None:
    model = Recorder(
        fact("The user lives in Graz", "I live in Graz, my password is [secret removed]"),
        fact("The user's password is [secret removed]", "my password is [secret removed]"),
    )
    memory = opened(llm=model)
    talk(memory, SAID)
    done = memory.consolidate("c1", force=True)
    assert [one.text for one in done.facts] == ["The user lives in Graz"]
    assert "[secret removed]" in "\n".join(model.asked)
    assert not [text for text in model.asked if PASSWORD in text or "4111" in text]
    assert [one.content for one in memory.messages("c1")] == [SAID]
    assert done.facts[0].sources[0].quote in SAID


def test_the_setting_shows_them(opened: Open, talk: Callable[..., None]) -> None:
    model = Recorder()
    memory = opened(llm=model, config=Config(redact_to_model=False))
    talk(memory, SAID)
    memory.consolidate("c1", force=True)
    assert PASSWORD in "\n".join(model.asked)


def test_facts_to_compare_and_memories_to_summarise_are_shown_without_secrets(opened: Open) -> None:
    memory = opened(llm=None)
    known = memory.get(memory.add(f"The card of the shop is {CARD}").ids[0])
    assert known is not None
    model = Recorder()
    mind = LanguageMind(model)
    case = ReconcileCase(
        number=1,
        fact=Fact(text=f"My password is {PASSWORD}"),
        at=known.at,
        candidates=(Candidate(number=1, memory=known),),
    )
    for ask in (
        lambda: mind.decide([case]),
        lambda: mind.summarise(SummaryRequest(memories=(known,), words=20, style="cluster", topic=f"PIN 4821 {CARD}")),
    ):
        with pytest.raises(ModelError, match="could not be read"):
            ask()
    assert model.asked
    assert not [text for text in model.asked if PASSWORD in text or "4111" in text or "4821" in text]


def test_a_remote_embedder_gets_no_secret_and_a_local_one_does(opened: Open) -> None:
    remote, local = RecordingEmbedder(), RecordingEmbedder()
    local.is_local = True  # type: ignore[attr-defined]
    for place, embedder in enumerate((remote, local)):
        memory = opened(store=":memory:", scope=f"s{place}", embedder=embedder)
        memory.add_messages([{"role": "user", "content": SAID}], "c1")
        memory.search(f"my password is {PASSWORD}?")
    assert remote.texts
    assert not [text for text in remote.texts if PASSWORD in text or "4111" in text]
    assert SAID in local.texts


@pytest.mark.parametrize("length", [5_800, 7_900, 15_800, 19_000])
def test_a_key_is_not_divided_between_two_questions(opened: Open, talk: Callable[..., None], length: int) -> None:
    lines = [f"{number:03}" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z" * 2 for number in range(50)]
    key = "\n".join(("-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"))
    model = Recorder()
    memory = opened(llm=model)
    talk(memory, f"{('The house is blue. ' * 2000)[:length]}\n{key}\n{'I like tea. ' * 1500}", "Good.")
    memory.consolidate("c1", force=True)
    asked = "\n".join(model.asked)
    assert len(model.asked) > 1
    assert asked.count("[private key removed]") >= 1
    assert [line for line in lines if line in asked] == []


class Echo:
    """A model and an embedder whose errors quote what they got."""

    name = "echo"

    def complete(self, *, messages: Sequence[dict[str, str]]) -> str:
        raise RuntimeError(f"rejected: {messages[-1]['content'][-400:]}")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise RuntimeError(f"rejected: {list(texts)!r}")


class Unreadable:
    """A model that repeats the messages in place of an answer."""

    def complete(self, *, messages: Sequence[dict[str, str]]) -> str:
        return messages[-1]["content"][-400:]


@pytest.mark.parametrize("model", [Echo(), Unreadable()])
def test_no_problem_quotes_a_memory(opened: Open, talk: Callable[..., None], model: object) -> None:
    memory = opened(llm=model, embedder=Echo())
    talk(memory, "My quokka lives in the garden of Zanzibar and eats leaves")
    problems = [*memory.consolidate("c1", force=True).problems, *memory.sleep().problems]
    assert problems
    assert [problem for problem in problems if "quokka" in problem or "Zanzibar" in problem] == []
