"""Clients of models and embedders against servers that fail on purpose."""

import json
import logging
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
from tests.transport.conftest import KEY, LIMIT, SAID, Ask, Within
from tests.waiting import until

from slowwave import AgentMemory, Message
from slowwave.embedders.openai import OpenAICompatibleEmbedder
from slowwave.errors import EmbedderError
from slowwave.testing import OpenAIServer, Served, hostile_server as hostile
from slowwave.testing.hostile_server import MEGABYTE, HostileServer, Script

PASSWORD = "hidden-word-0123456789"
KINDS = pytest.mark.parametrize("kind", ["llm", "embedder"])


@KINDS
@pytest.mark.parametrize("script", [hostile.silence, hostile.drip_headers, hostile.endless_continue, hostile.drip_body])
def test_a_call_ends_at_the_deadline_if_the_server_never_finishes(
    kind: str, script: Script, ask: Ask, within: Within
) -> None:
    with HostileServer(script, pause=0.02) as server:
        shown = within(lambda: ask(kind, server.url))
    assert server.received
    assert "gave no answer within" in shown or "was still answering when its time was over" in shown


@pytest.mark.parametrize("script", [hostile.silence, hostile.drip_body, hostile.flood(100), hostile.echo("500 No")])
def test_a_message_is_stored_while_the_embedder_fails_and_gets_its_vector_later(
    script: Script, within: Within, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    def store(url: str) -> tuple[tuple[str, ...], int]:
        environment.setenv("SLOWWAVE_EMBEDDER_URL", url)
        with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="openai:tiny") as memory:
            receipt = memory.add_messages([Message(role="user", content=SAID)], conversation="c")
            assert len(receipt.applied) == 1
            return receipt.problems, memory.status().unembedded

    with HostileServer(script, pause=0.01) as server:
        problems, unembedded = within(lambda: store(server.url))
    assert unembedded == 1
    assert [problem.partition(":")[0] for problem in problems] == [
        "stored without vectors, found by words until `reembed`"
    ]
    with OpenAIServer() as healthy:
        environment.setenv("SLOWWAVE_EMBEDDER_URL", healthy.url)
        environment.setenv("SLOWWAVE_EMBEDDER_SECONDS", str(LIMIT))
        with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="openai:tiny") as memory:
            assert [hit.text for hit in memory.search("Argon2")] == [SAID]
            assert not memory.sleep().problems
            assert memory.status().unembedded == 0


def test_messages_can_be_found_while_the_embedder_is_still_silent(
    tmp_path: Path, unhurried: pytest.MonkeyPatch
) -> None:
    server = HostileServer(hostile.silence)
    unhurried.setenv("SLOWWAVE_EMBEDDER_URL", server.url)
    with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="openai:tiny") as memory:
        adding = threading.Thread(target=lambda: memory.add_message({"role": "user", "content": SAID}, "c"))
        with server:
            adding.start()
            until(lambda: server.received)
            with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="none") as other:
                assert [message.content for message in other.messages("c")] == [SAID]
            assert adding.is_alive(), "the embedder is still waited for"
        adding.join(LIMIT)


def test_a_message_that_a_server_embeds_has_its_vector_when_the_call_returns(
    tmp_path: Path, unhurried: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        unhurried.setenv("SLOWWAVE_EMBEDDER_URL", server.url)
        with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="openai:tiny") as memory:
            receipt = memory.add_messages([Message(role="user", content=SAID)] * 2, conversation="c")
            assert (len(receipt.applied), receipt.problems, memory.status().unembedded) == (2, (), 0)
            (hit, *_) = memory.search("which salt does the auth service use?")
            assert hit.text == SAID


@KINDS
@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(kind: str, status: int, ask: Ask) -> None:
    with OpenAIServer() as other:
        away = {"Location": f"{other.url}/embeddings"}
        with OpenAIServer(Served(status=status, headers=away)) as server:
            shown = ask(kind, server.url, KEY)
        assert server.received
        assert other.received == []
    assert f"answered {status}; redirects are not followed" in shown


@KINDS
@pytest.mark.usefixtures("unhurried")
def test_an_endless_body_is_cut_at_the_limit(kind: str, ask: Ask, within: Within) -> None:
    with HostileServer(hostile.flood(300)) as server:
        shown = within(lambda: ask(kind, server.url))
        assert "answered with more than" in shown
        assert server.sent < 2 * 30 * MEGABYTE


@KINDS
def test_a_compressed_body_is_decompressed_up_to_the_limit(
    kind: str, ask: Ask, within: Within, environment: pytest.MonkeyPatch
) -> None:
    script = hostile.bomb(100)
    ask(kind, "http://127.0.0.1:9/v1")  # loads the HTTP library, which is not to be measured
    environment.setenv(f"SLOWWAVE_{kind.upper()}_SECONDS", str(LIMIT))
    with HostileServer(script) as server:
        tracemalloc.start()
        try:
            shown = within(lambda: ask(kind, server.url))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert "answered with more than" in shown
    assert peak < 40 * MEGABYTE


@KINDS
@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "deflate"])
def test_an_unrequested_content_encoding_is_refused(kind: str, encoding: str, ask: Ask) -> None:
    with OpenAIServer(Served(body="{}", headers={"Content-Encoding": encoding})) as server:
        assert f"in an encoding that was not requested: {encoding}" in ask(kind, server.url)
        assert {received.headers["accept-encoding"] for received in server.received} == {"gzip"}


def test_a_truncated_compressed_body_is_an_error() -> None:
    answer = json.dumps({"data": [{"index": 0, "embedding": [3, 4]}]}).encode()
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(answer) + packer.flush()
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with HostileServer(lambda _: [head, packed]) as server:
        embedder = OpenAICompatibleEmbedder("m", base_url=server.url, seconds=LIMIT)
        assert embedder.embed(["x"]).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
        embedder.close()
    half = packed[:-12]
    head = head.replace(b"%d" % len(packed), b"%d" % len(half))
    with HostileServer(lambda _: [head, half]) as server:
        embedder = OpenAICompatibleEmbedder("m", base_url=server.url, seconds=LIMIT)
        with pytest.raises(EmbedderError, match="broke off its answer"):
            embedder.embed(["x"])
        embedder.close()


ECHOES = {
    "error": hostile.echo("400 Bad"),
    "unauthorized": hostile.echo("401 No"),
    "page": hostile.echo("500 Oops", "<html><b>{0}</b></html>"),
    "success": hostile.echo("200 OK", '{{"error": "{0}"}}'),
    "no JSON": hostile.echo("200 OK", "{0}"),
    "redirect": hostile.echo("302 Found", "{0}", "Location"),
    "answer": hostile.echo("200 OK", '{{"choices": [{{"message": {{"content": "{0}"}}}}], "data": "{0}"}}'),
}


@KINDS
@pytest.mark.parametrize("script", ECHOES.values(), ids=ECHOES)
def test_a_key_in_a_reply_is_not_shown_logged_or_stored(
    kind: str, script: Script, ask: Ask, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), HostileServer(script) as server:
        shown = ask(kind, server.url, KEY)
    assert any(KEY.encode() in request for request in server.received), "the server received the key"
    assert "very-secret" not in shown
    assert "very-secret" not in caplog.text
    assert [path.name for path in tmp_path.iterdir() if path.is_file() and b"very-secret" in path.read_bytes()] == []


@KINDS
@pytest.mark.parametrize("script", [hostile.echo("400 Bad"), hostile.echo("200 OK", "{0}"), hostile.silence])
def test_a_password_in_an_address_is_not_shown_logged_or_stored(
    kind: str, script: Script, ask: Ask, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), HostileServer(script) as server:
        shown = ask(kind, server.url.replace("://", f"://user:{PASSWORD}@"), KEY)
        assert any(b"authorization: basic " in request.lower() for request in server.received), "the password is used"
        assert not any(KEY.encode() in request for request in server.received), "instead of the key"
    for secret in (PASSWORD, "dXNlcjpoaWRkZW4t"):
        assert secret not in shown
        assert secret not in caplog.text
        assert [
            path.name for path in tmp_path.iterdir() if path.is_file() and secret.encode() in path.read_bytes()
        ] == []


def test_names_of_embedders_and_minds_contain_no_user_information(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("SLOWWAVE_EMBEDDER_URL", f"http://user:{PASSWORD}@gpu:8000/v1/?key={PASSWORD}")
    llm = f"base+http://user:{PASSWORD}@gpu:8000/v1#qwen"
    with AgentMemory.open(tmp_path / "memory.db", llm=llm, embedder="openai:tiny") as memory:
        status = memory.status()
    assert status.embedder == "openai:tiny@http://gpu:8000/v1"
    assert status.mind == "base+http://gpu:8000/v1#qwen"


@KINDS
@pytest.mark.usefixtures("unhurried")
def test_a_server_that_is_slow_within_the_deadline_is_waited_for(kind: str, ask: Ask) -> None:
    with OpenAIServer(Served(text='{"facts": []}', drip=0.001)) as server:
        begun = time.monotonic()
        shown = ask(kind, server.url)
        assert time.monotonic() - begun > 0.1
    assert "gave no answer" not in shown
    assert "still answering" not in shown


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": -5000, "completion_tokens": -1}',
        '{"prompt_tokens": %s, "completion_tokens": 1}' % ("9" * 400),
        '{"prompt_tokens": 1.5, "completion_tokens": true}',
        '{"prompt_tokens": "11", "completion_tokens": [1]}',
        '{"prompt_tokens": 1e400, "completion_tokens": 10000001}',
    ],
)
def test_invalid_token_counts_are_replaced_by_estimates_and_reported(
    usage: str, tmp_path: Path, unhurried: pytest.MonkeyPatch
) -> None:
    unhurried.setenv("SLOWWAVE_LLM_PRICES", "tiny=1/1")
    message = json.dumps({"message": {"content": '{"facts": []}'}})
    body = f'{{"choices": [{message}], "usage": {usage}}}'
    with OpenAIServer(Served(body=body)) as server:
        unhurried.setenv("SLOWWAVE_LLM_URL", server.url)
        with AgentMemory.open(tmp_path / "memory.db", llm="openai:tiny", embedder="none") as memory:
            memory.add_messages([Message(role="user", content=SAID)], conversation="c")
            result = memory.consolidate("c", force=True)
            cost = memory.cost().total
    assert result.problems == ("the model's token counts are not usable; its texts were counted instead",)
    assert result.skipped_reason is None
    assert 100 < cost.tokens_in < 10_000
    assert 0 < cost.tokens_out < 100
    assert cost.money > 0


@pytest.mark.parametrize("answer", ["{}", '{"data": 7}', '{"data": [7]}', '{"data": [{"index": 0, "embedding": "AAAA"}]}',
    '{"data": [{"index": 0, "embedding": [[1]]}]}', '{"data": [{"index": 0, "embedding": [%s]}]}' % ("9" * 400), '{"data": [{"index": 0, "embedding": [{}]}]}'])  # fmt: skip
def test_an_answer_without_vectors_is_an_embedder_error(answer: str) -> None:
    with OpenAIServer(Served(body=answer)) as server:
        embedder = OpenAICompatibleEmbedder("tiny", base_url=server.url)
        with pytest.raises(EmbedderError, match=r"without vectors|not rows of numbers"):
            embedder.embed(["x"])
        embedder.close()
