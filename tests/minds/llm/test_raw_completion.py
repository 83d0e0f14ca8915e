"""Base models over both of their APIs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm.mind import LanguageMind
from slowwave.minds.llm.openai import RawCompletion
from slowwave.testing import OpenAIServer, Served
from slowwave.testing.openai_server import says


def test_ollama_requests_are_raw_with_stop_tokens(brief: Callable[..., Any]) -> None:
    with OpenAIServer(says(" Alice sailed to Thun.\n\nmore")) as server:
        llm = RawCompletion("comma", server.root, api="ollama", options={"temperature": 0})
        proposal = LanguageMind(llm).summarise(brief("Alice sailed", style="cascade"))
        llm.close()
    assert proposal.value.text == "Alice sailed to Thun."
    assert (proposal.cost.tokens_in, proposal.prompt) == (11, "cascade_completion@1")
    (received,) = server.received
    assert received.path == "/api/generate"
    assert received.body["prompt"].startswith("Summarize these memories in 2-3 sentences:\n\n")
    assert received.body["prompt"].endswith("\nSUMMARY:\n")
    assert (received.body["raw"], received.body["stream"]) == (True, False)
    assert "\n\n" in received.body["options"]["stop"]
    assert received.body["options"]["temperature"] == 0


def test_openai_completions_continue_the_json(transcript: Callable[..., Any]) -> None:
    rest = json.dumps({"text": "Alice sails", "message": 1, "quote": "I sail"}) + "]}"
    with OpenAIServer(says(rest)) as server:
        llm = RawCompletion("comma", server.url, "key")
        proposal = LanguageMind(llm).distil(transcript("I sail"))
        assert llm.complete(messages=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]) == rest
        llm.close()
    assert proposal.value[0].text == "Alice sails"
    assert server.received[0].path == "/v1/completions"
    assert len(server.received[0].body["stop"]) <= 4
    assert server.received[1].body == {"model": "comma", "prompt": "a\n\nb", "max_tokens": 1_000}


def test_an_answer_without_choices_is_reported() -> None:
    with OpenAIServer(Served(body='{"choices": [{}]}')) as server:
        llm = RawCompletion("comma", server.url)
        with pytest.raises(ModelError, match="is it a completions API"):
            llm.continued(prompt="x", stop=())
        llm.close()


def test_an_unknown_api_is_refused() -> None:
    with pytest.raises(InputError, match="use one of openai, ollama"):
        RawCompletion("m", "http://x", api="other")
