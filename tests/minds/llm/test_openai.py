"""The client against a real HTTP server, through the real HTTP library."""

import json
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Self

import pytest
from tests.waiting import LONGEST

from slowwave import AgentMemory, Message
from slowwave.errors import ModelError, SettingsError
from slowwave.minds.llm.calls import is_structured
from slowwave.minds.llm.ledger import Caps
from slowwave.minds.llm.mind import LanguageMind
from slowwave.minds.llm.openai import OpenAICompatible, RawCompletion, client
from slowwave.minds.llm.reply_models import SCHEMAS
from slowwave.model.mind import SummaryRequest
from slowwave.model.plan import FREE, cost_of
from slowwave.testing import SHAPES, OpenAIServer, Served, malformed
from slowwave.testing.openai_server import (
    Behaviour,
    breaks_off,
    drips,
    fails,
    refuses,
    says,
    shows_html,
    stalls,
    takes_no_schema,
)
from slowwave.transport import RetryPolicy

KEY = "sk-very-secret-0123456789"
HELLO = [{"role": "user", "content": "hello"}]


class Played:
    """A client on a server that plays a script; pauses are noted, not slept."""

    def __init__(
        self, *script: Behaviour, seconds: float = LONGEST, budget: float = 2 * LONGEST, key: str | None = KEY
    ) -> None:
        self.naps: list[float] = []
        self.server = OpenAIServer(*script)
        patience = RetryPolicy(budget=budget, sleep=self.naps.append, chance=lambda: 1.0)
        self.llm = OpenAICompatible("gpt-test", self.server.url, key, seconds, patience=patience)

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.llm.close()
        self.server.__exit__()

    def ask(self) -> str:
        return self.llm.complete(messages=HELLO)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    return None


def test_a_valid_answer_is_returned_with_its_usage() -> None:
    with Played(says("hi")) as played:
        answer = played.ask()
        assert answer == "hi"
        assert answer.usage == {"prompt_tokens": 11, "completion_tokens": 2}
        (received,) = played.server.received
        assert received.path == "/v1/chat/completions"
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert received.body == {"model": "gpt-test", "messages": HELLO}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_temporary_failures_are_retried(status: int) -> None:
    with Played(fails(status), fails(status, retry_after="3"), says("hi")) as played:
        assert played.ask() == "hi"
        assert played.naps == [0.5, 3.0]


def test_a_retry_after_date_beyond_the_budget_fails_at_once() -> None:
    with Played(fails(429, retry_after="Sun, 01 Mar 2099 00:00:00 GMT")) as played:
        with pytest.raises(ModelError, match=r"429.*no further retry"):
            played.ask()
        assert not played.naps


@pytest.mark.parametrize(
    ("behaviour", "sentence", "requests"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}"), "check the key", 1),
        (fails(403), "check the key", 1),
        (fails(404, "no such model"), r"no such model; check the model's name and base_url", 1),
        (fails(400, "context too long"), "400: context too long", 1),
        (fails(413), "413", 1),
        (Served(status=418, body=""), "answered 418$", 1),
        (Served(status=409, body='"busy"', cut=True), "broke off its answer", 4),
        (fails(429, code="insufficient_quota"), "no credit left", 1),
        (fails(500), r"500: try again later \(tried 4 times\)", 4),
        (shows_html(), "502: Bad gateway nginx", 4),
        (shows_html(200), r"JSON: 'Bad gateway nginx'.*base_url", 1),
        (breaks_off("a long answer"), "broke off its answer", 4),
        (Served(body=""), "empty body", 4),
        (Served(body="[" * 5_000), "not valid JSON", 1),
        (Served(body='{"error": {"message": "overloaded"}}'), "an error: overloaded", 1),
        (Served(body="[1]"), "answered with an error", 1),
        (Served(body='{"choices": []}'), "without any choice", 1),
        (Served(body=" " * 8_000_001), "more than 8,000,000 bytes", 1),
        (Served(status=302, headers={"Location": "http://elsewhere.invalid/"}), "redirects are not followed", 1),
    ],
)
def test_permanent_failures_have_a_one_sentence_message(behaviour: Behaviour, sentence: str, requests: int) -> None:
    with Played(behaviour) as played:
        with pytest.raises(ModelError, match=sentence) as caught:
            played.ask()
        assert len(played.server.received) == requests
        output = repr(played.llm) + "".join(traceback.format_exception(caught.value))
        assert KEY not in output
        assert "very-secret" not in output


def test_a_stalling_or_dripping_model_times_out() -> None:
    for slow in (stalls(LONGEST), drips(0.2, "x" * 1_000), Served(status=401, body="x" * 1_000, drip=0.2)):
        begun = time.monotonic()
        late = pytest.raises(ModelError, match=r"no answer within|still answering")
        with Played(slow, seconds=0.1, budget=0.5) as played, late:
            played.ask()
        assert time.monotonic() - begun < LONGEST, "the server answers for longer"


def test_a_stall_in_the_middle_is_retried() -> None:
    with Played(drips(0.5, "x"), says("hi"), seconds=0.2) as played:
        assert played.ask() == "hi"


def test_an_unreachable_server_is_reported() -> None:
    naps: list[float] = []
    llm = OpenAICompatible("m", "http://127.0.0.1:9/v1", patience=RetryPolicy(sleep=naps.append))
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached.*does it run"):
        llm.complete(messages=HELLO)
    assert len(naps) == 3
    llm.close()


def test_only_a_call_that_left_this_machine_is_counted(brief: Callable[..., SummaryRequest]) -> None:
    away = OpenAICompatible("m", "http://127.0.0.1:9/v1", patience=RetryPolicy(sleep=lambda _: None))
    for llm in (away, OpenAICompatible("gpt-5-mini")):
        mind = LanguageMind(llm, caps=Caps(calls_per_run=1))
        for _ in range(2):
            with pytest.raises(ModelError, match=r"cannot be reached|no key"):
                mind.summarise(brief("Alice keeps bees"))
        assert mind.ledger.spent == FREE
    with Played(fails(401, "who are you?")) as played:
        mind = LanguageMind(played.llm)
        with pytest.raises(ModelError, match="check the key") as refused:
            mind.summarise(brief("Alice keeps bees"))
        assert cost_of(refused.value).calls == mind.ledger.spent.calls == 1


def test_a_refusal_is_text_that_no_task_can_use() -> None:
    with Played(refuses()) as played:
        assert played.ask() == "I can't help with that."


def test_a_schema_is_sent_to_a_server_that_accepts_it() -> None:
    with Played(says('{"facts": []}')) as played:
        assert is_structured(played.llm)
        played.llm.complete_json(messages=HELLO, schema=SCHEMAS["facts"])
        sent = played.server.received[0].body["response_format"]
        assert sent["json_schema"] == {"name": "answer", "strict": True, "schema": SCHEMAS["facts"]}


def test_a_refused_schema_is_not_sent_again() -> None:
    with Played(takes_no_schema("[]")) as played:
        for _ in range(2):
            assert played.llm.complete_json(messages=HELLO, schema=SCHEMAS["facts"]) == "[]"
        assert ["response_format" in r.body for r in played.server.received] == [True, False, False]


def test_another_bad_request_is_not_blamed_on_the_schema() -> None:
    with Played(fails(400, "too long"), fails(400, "too long"), says("[]")) as played:
        with pytest.raises(ModelError, match="too long"):
            played.llm.complete_json(messages=HELLO, schema=SCHEMAS["facts"])
        played.llm.complete_json(messages=HELLO, schema=SCHEMAS["facts"])
        assert "response_format" in played.server.received[-1].body


def test_a_key_of_the_environment_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Played(says("hi"), key=None) as played:
        played.ask()
        assert KEY not in json.dumps(dict(played.server.received[0].headers))


def test_without_a_key_openai_is_not_called() -> None:
    with pytest.raises(ModelError, match=r"no key for https://api\.openai\.com/v1: set OPENAI_API_KEY"):
        OpenAICompatible("gpt-5-mini").complete(messages=HELLO)


def test_many_threads_share_one_client() -> None:
    with Played(says("hi")) as played:
        answers: list[str] = []
        threads = [threading.Thread(target=lambda: answers.append(played.ask())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == ["hi"] * 8


def test_options_are_sent_along_and_addresses_shown_without_passwords() -> None:
    with OpenAIServer(says("hi")) as server:
        llm = OpenAICompatible("m", server.url.replace("://", "://user:hidden@"), options={"temperature": 0})
        llm.complete(messages=HELLO)
        llm.close()
        assert server.received[0].body["temperature"] == 0
        assert repr(llm) == f"OpenAICompatible('m', base_url='{server.url}')"


@pytest.mark.parametrize("name", [name for name in SHAPES if name[:2] != "34"])
def test_every_malformed_reply_over_the_wire_is_read_or_a_model_error(name: str, transcript: object) -> None:
    reply = malformed(name, "distil", seed=1)
    text = reply if isinstance(reply, str) else json.dumps(reply)
    with Played(says(text)) as played:
        try:
            proposal = LanguageMind(played.llm).distil(transcript("one", "two"))
        except ModelError:
            assert 1 <= len(played.server.received) <= 2
        else:
            assert proposal.cost.tokens_in == 11 * len(played.server.received) <= 22
            assert all(fact.text in text or "\\" in text for fact in proposal.value)


def test_specs_name_models() -> None:
    assert (
        repr(client("openai:gpt-5-mini", api_key="k"))
        == "OpenAICompatible('gpt-5-mini', base_url='https://api.openai.com/v1')"
    )
    assert repr(client("ollama:llama3:8b")) == "OpenAICompatible('llama3:8b', base_url='http://localhost:11434/v1')"
    assert repr(client("openai:m", base_url="http://proxy/v1")) == "OpenAICompatible('m', base_url='http://proxy/v1')"
    assert isinstance(client("base+http://gpu/v1#comma"), RawCompletion)
    assert (
        repr(client("ollama-base:comma")) == "RawCompletion('comma', base_url='http://localhost:11434', api='ollama')"
    )
    for wrong in ("", "gpt-5", "openai:", "ollama-base:", "claude:x", "base+gpu/v1"):
        with pytest.raises(SettingsError, match="names no model: use one of openai:MODEL"):
            client(wrong)


def test_a_url_alone_means_the_only_model_of_its_server() -> None:
    with OpenAIServer(says("hi"), models=["qwen3"]) as server:
        for spec, path in ((server.url, "/v1/chat/completions"), (f"base+{server.url}", "/v1/completions")):
            server.received.clear()
            model = client(spec, api_key=KEY)
            assert [model.complete(messages=HELLO), model.complete(messages=HELLO)] == ["hi", "hi"]
            assert [received.path for received in server.received] == ["/v1/models", path, path]
            assert [received.body.get("model") for received in server.received] == [None, "qwen3", "qwen3"]
            assert {received.headers["authorization"] for received in server.received} == {f"Bearer {KEY}"}
            model.close()


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["qwen3", "org/llama:8b"], r"has 2 models: write one of {url}#qwen3, {url}#org/llama:8b$"),
        ([f"m{number}" for number in range(30)], r"has 30 models: .*{url}#m19, and 10 more$"),
        ([], r"lists no models: write {url}#MODEL"),
        (None, r"answered 404: .*name the model, as in {url}#MODEL"),
    ],
)
def test_a_url_alone_is_refused_with_what_to_write_unless_its_server_lists_one_model(
    models: list[str] | None, said: str
) -> None:
    with OpenAIServer(says("hi"), models=models) as server:
        model = client(server.url)
        with pytest.raises(ModelError, match=said.format(url=re.escape(server.url))) as caught:
            model.complete(messages=HELLO)
        assert cost_of(caught.value) == FREE
        assert {received.path for received in server.received} == {"/v1/models"}
        model.close()


def test_a_memory_asks_a_url_for_its_model_only_when_it_consolidates() -> None:
    with OpenAIServer(says('{"facts": []}'), models=["qwen3"]) as server:
        with AgentMemory.open(":memory:", llm=server.url, embedder="none") as memory:
            assert memory.status().mind == server.url
            memory.add_messages([Message(role="user", content="I live in Ghent.")], conversation="c")
            assert server.received == []
            assert memory.consolidate("c", force=True).problems == ()
        assert [received.path for received in server.received] == ["/v1/models", "/v1/chat/completions"]


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "draft"}]}, {"type": "text", "text": "said"}]},
        {"content": [{"type": "reasoning_text", "text": "draft"}, {"type": "text", "text": "sa"}, {"type": "text", "text": "id"}]},
        {"content": None, "tool_calls": [{"type": "function", "function": {"name": "answer", "arguments": "said"}}]},
        {"content": "said", "reasoning_content": "draft"},
    ],
)  # fmt: skip
def test_the_text_of_an_answer_in_parts_or_in_a_call(message: dict[str, Any]) -> None:
    with OpenAIServer(Served(body=json.dumps({"choices": [{"message": message}]}))) as server:
        assert OpenAICompatible("m", server.url).complete(messages=[{"role": "user", "content": "x"}]) == "said"
