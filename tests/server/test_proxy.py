"""The proxy `/proxy`: calls of another server with a memory, and what passes through unchanged."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra `server` is not installed")

import anyio
from click.testing import CliRunner
from starlette.testclient import TestClient

from slowwave import AgentMemory, SettingsError, Slowwave
from slowwave.cli.app import app
from slowwave.clients.dialects import CALLS
from slowwave.clients.wrapping import ClientMemory
from slowwave.server.access.guards import BODY_MOST, CALL_MOST
from slowwave.server.app import Serving, build_app
from slowwave.server.proxy import PassedStream, checked_upstream
from slowwave.testing.openai_server import OpenAIServer, Received, Served, breaks_off, fails, says

FACT, QUESTION = "I am allergic to walnuts.", "Which nuts am I allergic to?"
Start = Callable[..., tuple[TestClient, OpenAIServer]]


@pytest.fixture
def store() -> Iterator[Slowwave]:
    with Slowwave.open(":memory:", llm=None, embedder="none") as opened:
        yield opened


@pytest.fixture
def start(store: Slowwave) -> Iterator[Start]:
    """Starts a server of models with a script, and the proxy before it."""
    with ExitStack() as stack:

        def begin(*script: Any, **serving: Any) -> tuple[TestClient, OpenAIServer]:  # noqa: ANN401 - of both servers
            upstream = stack.enter_context(OpenAIServer(*script, models=["m"]))
            proxied = build_app(store, Serving(**{"proxy_to": f"{upstream.url}/", **serving}))
            return stack.enter_context(TestClient(proxied, base_url="http://localhost")), upstream

        yield begin


def ask(client: TestClient, *texts: str, path: str = "/proxy/v1/chat/completions", **more: Any) -> Any:  # noqa: ANN401
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    headers = {"authorization": "Bearer sk-theirs", **more.pop("headers", {})}
    return client.post(path, json={"model": "m", "messages": messages, **more}, headers=headers)


def system(received: Received) -> str:
    first = received.body["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


def told(memory: AgentMemory) -> list[tuple[str, str]]:
    names = sorted(str(one.name) for one in memory.conversations())
    return [(one.role, one.content) for name in names for one in memory.messages(name)]


def events(*pieces: str) -> Served:
    chunks = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": one}}]} for one in pieces
    ]
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n" for chunk in chunks]
    return Served(body=f": comment\n{''.join(lines)}data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})


def test_a_call_recalls_what_an_earlier_one_said_and_both_sides_are_stored(start: Start, store: Slowwave) -> None:
    client, upstream = start(says("Noted."), says("Walnuts."))
    first = ask(client, FACT, temperature=0.5)
    assert first.status_code == 200
    assert first.json()["choices"][0]["message"]["content"] == "Noted."
    assert ask(client, QUESTION).json()["choices"][0]["message"]["content"] == "Walnuts."
    assert system(upstream.received[0]) == ""
    assert FACT in system(upstream.received[1])
    assert upstream.received[1].body["messages"][1:] == [{"role": "user", "content": QUESTION}]
    assert upstream.received[0].body["temperature"] == 0.5
    assert set(told(store.within("default"))) == {
        ("user", FACT),
        ("assistant", "Noted."),
        ("user", QUESTION),
        ("assistant", "Walnuts."),
    }


def test_a_repeated_call_stores_no_message_twice(start: Start, store: Slowwave) -> None:
    client, _ = start(says("Noted."))
    ask(client, FACT)
    ask(client, FACT)
    ask(client, FACT, "Noted.", QUESTION)
    assert told(store.within("default")) == [
        ("user", FACT), ("assistant", "Noted."), ("user", QUESTION), ("assistant", "Noted."),
    ]  # fmt: skip


def test_the_events_of_a_stream_pass_unchanged_and_the_answer_is_stored(start: Start, store: Slowwave) -> None:
    sent = events("Wal", "nüsse", ", leider.")
    client, upstream = start(sent)
    with client.stream(
        "POST",
        "/proxy/v1/chat/completions",
        json={"model": "m", "stream": True, "messages": [{"role": "user", "content": FACT}]},
    ) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        assert "".join(answer.iter_text()) == sent.body
    assert upstream.received[0].body["stream"] is True
    assert told(store.within("default")) == [("user", FACT), ("assistant", "Walnüsse, leider.")]


def test_the_last_event_needs_no_line_end(start: Start, store: Slowwave) -> None:
    whole = events("Walnuts.").body
    client, _ = start(Served(body=whole[: whole.rindex("}") + 1]))
    ask(client, FACT, stream=True)
    assert told(store.within("default")) == [("user", FACT), ("assistant", "Walnuts.")]


def test_the_other_server_gets_its_key_and_nothing_of_ours(start: Start) -> None:
    client, upstream = start(says("Noted."))
    headers = {"x-slowwave-key": "sw_ours", "cookie": "session=ours", "x-title": "My program"}
    assert ask(client, FACT, headers=headers).status_code == 200
    got = upstream.received[0].headers
    assert (got["authorization"], got["x-title"]) == ("Bearer sk-theirs", "My program")
    assert "cookie" not in got
    assert not [name for name in got if name.startswith("x-slowwave")]
    assert "sw_ours" not in str(got)


def test_headers_of_the_other_server_do_not_count_for_this_one(start: Start) -> None:
    served = Served(
        text="Noted.",
        headers={"Set-Cookie": "a=b", "Access-Control-Allow-Origin": "*", "X-Request-Id": "r1", "Retry-After": "3"},
    )
    client, _ = start(served)
    headers = ask(client, FACT).headers
    assert (headers["x-request-id"], headers["retry-after"]) == ("r1", "3")
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers


def test_an_error_of_the_other_server_is_passed_on_and_nothing_is_stored(start: Start, store: Slowwave) -> None:
    client, _ = start(fails(429, retry_after="7"))
    answer = ask(client, FACT)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json()["error"]["message"] == "try again later"
    assert ask(client, FACT, stream=True).status_code == 429
    assert told(store.within("default")) == []


@pytest.mark.parametrize("more", [{}, {"proxy_to": "http://user:secret@127.0.0.1:9/v1"}])
def test_a_server_that_breaks_off_or_is_gone_is_a_problem_and_nothing_is_stored(
    start: Start, store: Slowwave, more: dict[str, str]
) -> None:
    client, _ = start(breaks_off("Noted."), **more)
    answer = ask(client, FACT)
    assert (answer.status_code, answer.json()["type"]) == (502, "urn:slowwave:problem:model")
    assert "secret" not in answer.text
    assert told(store.within("default")) == []


@pytest.mark.parametrize(("after", "stored"), [(0, [("user", FACT)]), (2, [("user", FACT), ("assistant", "Noted.")])])
def test_when_the_client_leaves_what_was_read_is_stored_and_the_answer_closed(
    store: Slowwave, after: int, stored: list[tuple[str, str]]
) -> None:
    memory = store.within("default")
    body = {"messages": [{"role": "user", "content": FACT}]}
    turn = ClientMemory(memory, None, 800).begin(CALLS["chat.completions.create"], body)
    closed: list[bool] = []
    read = anyio.Event()

    async def parts() -> AsyncIterator[bytes]:
        whole = events("Not", "ed.").body.encode()
        yield whole[:40]
        yield whole[40:-14]
        read.set()
        await anyio.sleep_forever()

    async def close() -> None:
        closed.append(True)

    async def receive() -> dict[str, str]:
        if after:
            await read.wait()
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        await anyio.lowlevel.checkpoint()

    async def leave() -> None:
        answer: Any = SimpleNamespace(aiter_bytes=parts, aclose=close, status_code=200, headers={})
        await PassedStream(answer, turn)({"type": "http"}, receive, send)

    anyio.run(leave)
    assert told(memory) == stored
    assert closed == [True]


def test_a_failing_memory_fails_no_call(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the memory is broken")

    client, upstream = start(says("Noted."), events("No", "ted."))
    for name in ("context", "messages", "add_messages"):
        monkeypatch.setattr(AgentMemory, name, broken)
    assert ask(client, FACT).json()["choices"][0]["message"]["content"] == "Noted."
    assert "ted." in ask(client, FACT, stream=True).text
    assert [system(one) for one in upstream.received] == ["", ""]


@pytest.mark.parametrize(
    "answer", ["no JSON", "[]", "{}", '{"choices": [{}]}', '{"choices": [{"message": {"content": 3}}]}']
)
def test_an_answer_in_another_form_passes_unchanged(start: Start, answer: str) -> None:
    client, _ = start(Served(body=answer))
    assert ask(client, FACT).text == answer


@pytest.mark.parametrize(
    "body", [{}, {"messages": []}, {"messages": "x"}, {"messages": [3]}, {"messages": [{"role": "user"}]}]
)
def test_a_call_in_another_form_passes_unchanged(start: Start, body: dict[str, Any]) -> None:
    client, upstream = start(says("Noted."))
    assert client.post("/proxy/v1/chat/completions", json=body).status_code == 200
    assert upstream.received[0].body == body


def test_what_is_no_call_is_refused(start: Start) -> None:
    client, upstream = start(says("Noted."))
    path = "/proxy/v1/chat/completions"
    for content in (b"", b"no JSON", b"[]", b"[" * 100_000, b"\xff"):
        assert client.post(path, content=content, headers={"content-type": "application/json"}).status_code == 400
    assert client.post(path, content=b"{}", headers={"content-type": "text/plain"}).status_code == 400
    assert client.post(path, json={}, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post(path, json={}, headers={"host": "evil.example"}).status_code == 421
    assert client.post("/proxy/v1/../v1/files", json={}).status_code in {404, 405}
    assert client.get(path).status_code == 405
    assert upstream.received == []


def test_models_are_listed_and_other_paths_are_not_served(start: Start) -> None:
    client, upstream = start(says("Noted."))
    assert client.get("/proxy/v1/models", headers={"authorization": "Bearer sk-theirs"}).json()["data"] == [{"id": "m"}]
    assert upstream.received[0].headers["authorization"] == "Bearer sk-theirs"
    for method, path, status in (
        ("POST", "/proxy/v1/embeddings", 404),
        ("POST", "/proxy/chat/completions", 404),
        ("GET", "/proxy/v1/chat/completions", 405),
    ):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert "the proxy serves POST /chat/completions and GET /models only" in answer.json()["detail"]


def test_a_key_of_the_store_never_reaches_the_other_server(start: Start, store: Slowwave) -> None:
    client, upstream = start(says("Noted."))
    for secret in ("sw_anything", store.add_key("agent").secret):
        for header in (f"Bearer {secret}", f"bearer  {secret}", secret):
            answer = ask(client, FACT, headers={"authorization": header, "x-slowwave-key": secret})
            assert answer.status_code == 401
            assert "X-Slowwave-Key" in answer.json()["detail"]
            assert secret not in answer.text
    assert upstream.received == []


def test_a_call_may_be_larger_than_other_bodies(start: Start) -> None:
    client, upstream = start(says("Noted."))
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * BODY_MOST}"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": FACT}, picture]}]}
    assert client.post("/proxy/v1/chat/completions", json=body).status_code == 200
    assert upstream.received[0].body == body
    headers = {"content-length": str(CALL_MOST + 1), "content-type": "application/json"}
    refused = client.post("/proxy/v1/chat/completions", content=iter([b"{}"]), headers=headers)
    assert refused.status_code == 413
    assert "send fewer messages, pictures or files in one call" in refused.json()["detail"]


def test_the_scope_is_in_the_path_and_scopes_stay_apart(start: Start, store: Slowwave) -> None:
    client, upstream = start(says("Noted."))
    ask(client, FACT, path="/proxy/scopes/acme%2Falice/v1/chat/completions")
    ask(client, QUESTION, path="/proxy/scopes/acme%2Fbob/v1/chat/completions")
    ask(client, QUESTION, path="/proxy/scopes/acme%2Falice/v1/chat/completions")
    assert [FACT in system(one) for one in upstream.received] == [False, False, True]
    assert ("user", FACT) in told(store.within("acme", "alice"))
    assert told(store.within("default")) == []
    assert ask(client, FACT, path="/proxy/scopes/a%2F%2Fb/v1/chat/completions").status_code == 400
    assert ask(client, FACT, path="/proxy/scopes/%FF/v1/chat/completions").status_code == 400


def test_a_store_with_keys_needs_one_with_both_rights_that_opens_the_scope(start: Start, store: Slowwave) -> None:
    client, upstream = start(says("Noted."))
    keys = {
        rights: store.add_key(rights, prefix="acme", rights=rights.split("+")).secret
        for rights in ("read+write", "read", "write")
    }

    def status(key: str | None, path: str = "") -> int:
        headers = {} if key is None else {"x-slowwave-key": key}
        return int(ask(client, FACT, path=f"/proxy{path}/v1/chat/completions", headers=headers).status_code)

    assert status(None) == 401
    assert status("sw_wrong") == 401
    assert status(keys["read"]) == 403
    assert status(keys["write"]) == 403
    assert status(keys["read+write"], "/scopes/other") == 403
    assert upstream.received == []
    assert client.get("/proxy/v1/models").status_code == 401
    assert status(keys["read+write"]) == 200
    assert ("user", FACT) in told(store.within("acme"))


def test_a_read_only_server_and_one_without_the_setting_are_no_proxy(start: Start, store: Slowwave) -> None:
    client, upstream = start(says("Noted."), read_only=True)
    assert ask(client, FACT).status_code == 403
    assert upstream.received == []
    with TestClient(build_app(store), base_url="http://localhost") as without:
        assert ask(without, FACT).status_code in {404, 405}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com/v1",
        "file:///etc/passwd",
        "http://",
        "http://a/v1?key=1",
        "http://[::1/v1",
        "http://a:b/v1",
        "http://a:99999/v1",
    ],
)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(repr(url))):
        checked_upstream(url)


def test_only_a_loopback_address_is_a_proxy() -> None:
    words = ["serve", "--store", ":memory:", "--host", "0.0.0.0", "--proxy-to", "http://127.0.0.1:9/v1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "a proxy is for programs of this machine" in done.stderr


def test_a_server_on_this_machine_is_not_asked_through_another_proxy(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    client, upstream = start(says("Hello."))
    assert ask(client, FACT).status_code == 200
    assert FACT in str(upstream.received[0].body)
