"""Reading summaries: the plain words, or an error."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from slowwave.errors import ModelError
from slowwave.minds.llm.parse import summary

SAID = "Alice skis in Bern and sails on Lake Thun."


@pytest.mark.parametrize(
    "reply",
    [
        SAID, f"  {SAID}\n", f'"{SAID}"', f"```\n{SAID}\n```", f"Sure!\n```text\n{SAID}", f"<think>short, {{x}}</think>\n{SAID}",
        f"Here is a concise summary of the memories:\n\n{SAID}", f"Summary: {SAID}", f"**Summary:** {SAID}", SAID.replace(" ", "\n"),
        SAID.replace(" ", "\x07 "), f"\ufeff{SAID}", f"{SAID} I hope this helps!", f"{SAID}\n\nLet me know if you need more", f"{SAID} She also wor",
        f"{SAID} And then she went to the", json.dumps({"summary": SAID}), json.dumps({"answer": {"name": "x-1", "text": SAID}}), json.dumps(SAID),
        json.dumps([{"type": "text", "text": SAID}]), f"[THINK]A draft.[/THINK]{SAID}", json.dumps({"data": SAID})[:-1] + ",}",
        "<tool_call>" + json.dumps({"name": "answer", "arguments": json.dumps({"summary": SAID})}) + "</tool_call>",
        f"<|channel|>analysis<|message|>A draft.<|end|><|start|>assistant<|channel|>final<|message|>{SAID}",
    ],
)  # fmt: skip
def test_the_plain_text_of_a_summary_is_found(reply: str, brief: Callable[..., Any]) -> None:
    assert summary(reply, brief("x")) == SAID


@pytest.mark.parametrize(
    "reply",
    [
        "", " \n", "null", "true", "42", "...", "ok", '{"summary": "Alice skis.", "title": "Alice and skis"}', "[1, 2, 3, 4, 5]", "<summary>Alice skis.</summary>", "| Alice | skis |",
        "<think>Alice skis in Bern.", "I'm sorry, I can't help with that.", "I cannot summarize these memories.", "As an AI language model, I am not able to process this request.",
        "Task: summarise\n\nCompress these memories", {"facts": []}, "Alice skis and skis. " * 3, "word " * 1_000, "- text: Alice skis in Bern.", "Alice skis in Ber", "Alice skis in the",
    ],
)  # fmt: skip
def test_any_other_answer_is_an_error(reply: Any, brief: Callable[..., Any]) -> None:  # noqa: ANN401 - models answer anything
    with pytest.raises(ModelError):
        summary(reply, brief("x", words=60))


def test_a_summary_that_resembles_a_refusal_is_accepted(brief: Callable[..., Any]) -> None:
    for said in (
        "I can't eat prawns and told Alice so.",
        "I am sorry about the broken cup, Alice wrote.",
        "Unfortunately the train was late on Monday.",
    ):
        assert summary(said, brief("x")) == said


def test_a_sentence_without_a_full_stop_is_complete_if_its_last_word_is_known(brief: Callable[..., Any]) -> None:
    assert summary("Alice skis in Bern", brief("Alice: I ski in Bern")) == "Alice skis in Bern"
    assert summary("Alice said: 'I ski in Bern.'", brief("x")) == "Alice said: 'I ski in Bern.'"
    assert summary("อลิซเล่นสกีในเบิร์นทุกฤดูหนาว", brief("x")) == "อลิซเล่นสกีในเบิร์นทุกฤดูหนาว"


def test_scripts_without_spaces_are_summaries_too(brief: Callable[..., Any]) -> None:
    assert summary("用户喜欢喝绿茶,不喝咖啡。", brief("x")) == "用户喜欢喝绿茶,不喝咖啡。"
