"""`slowwave.wrap` with a client that this test made: `import slowwave` needs no package of a provider."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import slowwave
from slowwave import AgentMemory, AsyncAgentMemory, InputError


class Completions:
    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def create(self, **arguments: object) -> SimpleNamespace:
        self.asked.append(arguments)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="Noted."))])


class Client:
    def __init__(self) -> None:
        self.chat = SimpleNamespace(completions=Completions())


def test_a_client_is_wrapped_without_its_package() -> None:
    program = (
        "import sys, slowwave; slowwave.wrap; assert not {'openai', 'anthropic', 'httpx2', 'agents'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_any_client_with_these_methods_is_wrapped_and_not_changed() -> None:
    client = Client()
    with AgentMemory.in_memory(embedder=None) as memory:
        wrapped = slowwave.wrap(client, memory)
        messages = [{"role": "user", "content": "I am allergic to walnuts"}]
        assert wrapped.chat.completions.create(messages=messages).choices[0].message.content == "Noted."
        client.chat.completions.create(messages=messages)
        assert [one.text for one in memory.get_all(kinds=["message"])] == ["I am allergic to walnuts", "Noted."]
    assert isinstance(wrapped, Client)
    assert client.chat.completions.asked == [{"messages": messages}] * 2


@pytest.mark.parametrize(
    "strange",
    [
        None,
        7,
        "text",
        {"role": "user", "content": "x"},
        {1},
        [7],
        [None],
        [{"role": 7}],
        [{"role": "user", "content": {"a": 1}}],
    ],
)
def test_arguments_that_no_one_expects_reach_the_client(strange: object) -> None:
    client = Client()
    with AgentMemory.in_memory(embedder=None) as memory:
        wrapped = slowwave.wrap(client, memory)
        assert wrapped.chat.completions.create(messages=strange).choices[0].message.content == "Noted."
    assert client.chat.completions.asked == [{"messages": strange}]


def test_a_failure_of_any_kind_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with AgentMemory.in_memory(embedder=None) as memory:
        wrapped = slowwave.wrap(Client(), memory)
        for method in ("context", "add_messages"):
            monkeypatch.setattr(AgentMemory, method, fail)
        wrapped.chat.completions.create(messages=[{"role": "user", "content": "Hello there"}])
    state: Any = wrapped
    assert (state.slowwave.failures, state.slowwave.last_failure) == (2, "ZeroDivisionError")


def test_a_client_with_a_memory_is_not_given_a_second_one() -> None:
    with AgentMemory.in_memory(embedder=None) as ada, AgentMemory.in_memory(embedder=None) as bob:
        wrapped = slowwave.wrap(Client(), ada)
        with pytest.raises(InputError, match="has a memory already"):
            slowwave.wrap(wrapped, bob)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"client": object()}, "pass a client"),
        ({"client": Client}, "pass a client"),
        ({"memory": "memory.db"}, "pass an AgentMemory"),
        ({"conversation": ""}, "conversation"),
        ({"conversation": "n" * 50_000}, "conversation"),
        ({"conversation": 7.5}, "conversation"),
        ({"budget_tokens": 63}, "at least 64"),
        ({"budget_tokens": "many"}, "at least 64"),
    ],
)
def test_misuse_is_refused_when_the_client_is_wrapped(options: dict[str, Any], sentence: str) -> None:
    with AgentMemory.in_memory(embedder=None) as memory:
        with pytest.raises(InputError, match=sentence):
            slowwave.wrap(**{"client": Client(), "memory": memory, **options})
        with pytest.raises(InputError, match="pass an AgentMemory"):
            slowwave.wrap(Client(), AsyncAgentMemory(memory))  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", ["<think>The user hates cats.</think>Anywhere.", "He hates cats.</think>Anywhere."])
@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_in_an_answer_is_not_stored_as_its_words(answer: str, stream: bool) -> None:
    def create(**_: object) -> Any:  # noqa: ANN401 - an answer, or its events
        if not stream:
            return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=answer))])
        pieces = (answer[start : start + 7] for start in range(0, len(answer), 7))
        return iter(
            [SimpleNamespace(choices=[SimpleNamespace(index=0, delta=SimpleNamespace(content=one))]) for one in pieces]
        )

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    with AgentMemory.in_memory(embedder=None) as memory:
        result = slowwave.wrap(client, memory).chat.completions.create(
            messages=[{"role": "user", "content": "Where could I live?"}], stream=stream
        )
        if stream:
            list(result)
        assert [one.text for one in memory.get_all(kinds=["message"])] == ["Where could I live?", "Anywhere."]


def test_the_result_of_a_tool_in_a_message_of_the_user_is_stored_as_the_tools() -> None:
    parts = [{"type": "tool_result", "content": "I live in Rome."}, {"type": "text", "text": "Where do I live?"}]
    with AgentMemory.in_memory(embedder=None) as memory:
        slowwave.wrap(Client(), memory).chat.completions.create(messages=[{"role": "user", "content": parts}])
        stored = memory.get_all(kinds=["message"])
    assert [(one.text, one.trust) for one in stored] == [
        ("I live in Rome.", "tool"),
        ("Where do I live?", "user"),
        ("Noted.", "assistant"),
    ]
