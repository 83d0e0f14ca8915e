"""Calling models that are not ours, and reading whatever form their answers have."""

import asyncio
import threading
from collections import UserDict
from types import SimpleNamespace

import pytest
from tests.waiting import LONGEST

from slowwave.errors import EmbedderError, InputError, ModelError
from slowwave.minds.llm.calls import (
    LLMResponse,
    call_model,
    checked_model,
    is_async,
    raw_of,
    response_text,
    run_on_owner_loop,
    tokens_of,
)

TEXT = '{"facts": []}'


@pytest.mark.parametrize(
    "answer",
    [
        TEXT, LLMResponse(TEXT), {"content": TEXT}, {"text": TEXT}, {"content": [{"type": "text", "text": TEXT}]},
        SimpleNamespace(content=TEXT), SimpleNamespace(text=TEXT), SimpleNamespace(content=None, text=TEXT),
        SimpleNamespace(content=[SimpleNamespace(type="thinking", thinking="hm"), SimpleNamespace(type="text", text=TEXT)]),
        [{"type": "text", "text": TEXT}],
    ],
)  # fmt: skip
def test_the_text_of_every_usual_form_of_answer_is_found(answer: object) -> None:
    assert response_text(answer) == TEXT


def test_parsed_json_is_unchanged_and_a_missing_text_is_empty() -> None:
    item = {"text": "a", "quote": "a"}
    for parsed in ({"facts": []}, item, [item]):
        assert response_text(parsed) == parsed
    for nothing in (None, 7, {"content": None}, SimpleNamespace(content=None, text=None), b"bytes"):
        assert response_text(nothing) == ""


def test_the_raw_text_of_any_answer_can_be_stored() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert raw_of("a\ud83d") == "a?"
    assert raw_of({"a": "ü", "b": [1]}) == '{"a": "\\u00fc", "b": [1]}'
    assert raw_of(circle) == "a list that cannot be written as JSON"


def test_objects_in_parsed_json_become_text() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    parsed = response_text({"facts": [{"text": Broken(), "confidence": 1, "tags": UserDict(a=1)}]})
    assert isinstance(parsed, dict)
    (item,) = parsed["facts"]
    assert item["text"].startswith("<Broken instance at")
    assert (item["confidence"], item["tags"]) == (1, {"a": 1})
    circle: list[object] = []
    circle.append(circle)
    assert response_text(circle) == "a list that cannot be written as JSON"


def test_token_counts_are_read_under_both_names() -> None:
    assert tokens_of(LLMResponse("x", tokens_in=3, tokens_out=4)) == (3, 4)
    assert tokens_of({"usage": {"input_tokens": 5, "output_tokens": True}}) == (5, None)
    assert tokens_of(SimpleNamespace(usage=SimpleNamespace(prompt_tokens=1, completion_tokens=2))) == (1, 2)
    assert tokens_of("plain") == (None, None)


def test_foreign_errors_become_model_errors_and_port_errors_pass() -> None:
    def failing(error: BaseException) -> object:
        raise error

    with pytest.raises(ModelError, match="ZeroDivisionError: division by zero") as caught:
        call_model(lambda: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(ModelError, match=r"^the model failed: KeyError$"):
        call_model(lambda: failing(KeyError()))
    with pytest.raises(EmbedderError):
        call_model(lambda: failing(EmbedderError("ours")))
    for seconds in (None, 5):
        with pytest.raises(KeyboardInterrupt):
            call_model(lambda: failing(KeyboardInterrupt()), seconds)


def test_a_hanging_model_times_out() -> None:
    hang, answers = threading.Event(), threading.Event()

    def hanging() -> None:
        hang.wait()
        answers.set()

    with pytest.raises(ModelError, match=r"no answer within 0\.05 seconds"):
        call_model(hanging, 0.05)
    assert not answers.is_set()
    hang.set()
    assert answers.wait(LONGEST)
    assert call_model(lambda: "quick", LONGEST) == "quick"


def test_an_awaitable_answer_is_refused() -> None:
    async def complete() -> str:
        return "never awaited"

    with pytest.raises(ModelError, match="async-only: use AsyncAgentMemory"):
        call_model(complete)
    loop = asyncio.new_event_loop()
    with pytest.raises(ModelError, match="async-only"):
        call_model(loop.create_future)
    loop.close()


class Async:
    """A model that belongs to the loop of its owner."""

    model = "far"

    def __init__(self, seconds: float = 0) -> None:
        self.seconds, self.threads = seconds, []

    async def complete(self, *, messages: object) -> str:
        self.threads.append(threading.get_ident())
        await asyncio.sleep(self.seconds)
        return f"heard {messages}"


def test_async_models_are_detected_without_a_call() -> None:
    class Callable:
        async def __call__(self) -> str:
            return ""

    assert is_async(Async())
    assert is_async(SimpleNamespace(complete=Callable()))
    assert not is_async(SimpleNamespace(complete=len))
    assert not is_async(object())
    with pytest.raises(InputError, match="async-only"):
        checked_model(Async())
    with pytest.raises(InputError, match=r"complete\("):
        checked_model(object())


def test_an_async_model_runs_on_its_own_event_loop() -> None:
    async def main() -> None:
        model = Async()
        plain = run_on_owner_loop(model, asyncio.get_running_loop())
        assert not is_async(plain)
        assert await asyncio.to_thread(plain.complete, messages=[1]) == "heard [1]"
        assert model.threads == [threading.get_ident()]
        with pytest.raises(ModelError, match="would wait for itself"):
            plain.complete(messages=[])
        with pytest.raises(ModelError, match=r"no answer within 0\.02 seconds"):
            await asyncio.to_thread(run_on_owner_loop(Async(5), asyncio.get_running_loop(), 0.02).complete, messages=[])

    asyncio.run(main())


def test_a_stopped_event_loop_is_an_error_without_a_wait() -> None:
    loop = asyncio.new_event_loop()
    with pytest.raises(ModelError, match="is not running"):
        run_on_owner_loop(Async(), loop).complete(messages=[])
    running = threading.Thread(target=loop.run_forever)
    running.start()
    threading.Timer(0.05, loop.call_soon_threadsafe, [loop.stop]).start()
    with pytest.raises(ModelError, match="is not running"):
        run_on_owner_loop(Async(60), loop).complete(messages=[])
    running.join()
    loop.run_until_complete(_cancelled(loop))
    loop.close()


async def _cancelled(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
