"""The scripted model and the local server of OpenAI's protocol."""

import urllib.error
import urllib.request

import pytest

from slowwave.testing import SHAPES, OpenAIServer, ScriptedLLM, malformed
from slowwave.testing.openai_server import WIDTH

ASK = [{"role": "system", "content": "Task: distil\n..."}, {"role": "user", "content": "hello"}]


def test_answers_come_from_the_queue_and_then_by_task() -> None:
    llm = ScriptedLLM("first", distil=["second", "third"])
    assert [llm.complete(messages=ASK) for _ in range(4)] == ["first", "second", "third", "third"]
    assert llm.count("distil") == 4
    assert llm.asked[0].text.endswith("hello")


def test_an_answer_may_be_data_an_exception_or_a_function() -> None:
    llm = ScriptedLLM(distil=lambda text: {"facts": [len(text)]}, unknown=RuntimeError("down"))
    assert llm.complete(messages=ASK) == '{"facts": [22]}'
    with pytest.raises(RuntimeError, match="down"):
        llm.complete(messages=[{"role": "user", "content": "what?"}])
    assert llm.count("unknown") == 1
    assert ScriptedLLM({"content": "wrapped"}).complete(messages=ASK) == {"content": "wrapped"}


def test_there_are_forty_shapes_and_equal_seeds_give_equal_replies() -> None:
    assert [name[:2] for name in SHAPES] == [f"{n:02}" for n in range(1, 41)]
    for name in SHAPES:
        for task in ("distil", "reconcile", "summarise"):
            assert malformed(name, task, seed=5) == malformed(name, task, seed=5)


def test_the_server_embeds_texts_by_their_words() -> None:
    with OpenAIServer() as server:

        def post(path: str, body: bytes) -> bytes:
            with urllib.request.urlopen(urllib.request.Request(server.root + path, data=body)) as response:
                return response.read()

        one, two = (post("/v1/embeddings", b'{"input": "%s"}' % words) for words in (b"a b", b"b A"))
        assert one == two
        assert one.count(b",") >= WIDTH
        with pytest.raises(urllib.error.HTTPError) as caught:
            post("/nowhere", b"{}")
        assert caught.value.code == 404
        caught.value.close()
