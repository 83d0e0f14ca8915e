"""Messages longer than a prompt shows: every part of them is read, and quotes lead back to the one message."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from slowwave import Config
from slowwave.minds.llm.prompting import SHOWN
from slowwave.pipelines.ingest.chunks import PIECE, TOKENS, piece_end
from slowwave.policy.ranking.packing import estimate
from slowwave.testing import ScriptedLLM

Open = Callable[..., Any]
FILLER = "The committee went through the minutes once more and found nothing to add to them. "
NAMES = ("Alice", "Bruno", "Chiara", "Daria", "Emil", "Farid")


def long_message(parts: int = 6) -> str:
    """A message with one fact at the end of each of its parts."""
    return "\n\n".join(
        f"{FILLER * 120}{NAMES[place]} owns the {NAMES[place].lower()} pipeline." for place in range(parts)
    )


def reads_owners(prompt: str) -> str:
    """A model that finds every owner it is shown and quotes the words."""
    found = []
    for number, text in re.findall(r"^\[(\d+)\] ([^\n]*(?:\n      [^\n]*)*)", prompt, re.MULTILINE):
        found += [
            {"text": quote, "category": "person", "confidence": 0.9, "message": int(number), "quote": quote}
            for quote in re.findall(r"\w+ owns the \w+ pipeline", text)
        ]
    return json.dumps({"facts": found})


def test_every_part_of_a_long_message_is_distilled_and_quoted(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil=reads_owners, reconcile={"verdicts": []})
    memory = opened(llm=llm, embedder="none")
    text = long_message()
    assert len(text) > 2 * SHOWN
    talk(memory, "Here are the minutes.", "Go on.", text, "Thanks, that is all.")
    result = memory.consolidate(force=True)
    assert result.skipped_reason is None
    owners = {fact.text for fact in memory.get_all()}
    assert owners == {f"{name} owns the {name.lower()} pipeline" for name in NAMES}
    for fact in memory.get_all():
        (source,) = fact.sources
        assert str(source) == "m3"
        assert source.quote in text
    assert "characters more]" not in "".join(asked.text for asked in llm.asked)
    assert memory.status().unread == 0
    assert llm.count("distil") == 2 + -(-len(text) // PIECE)
    assert memory.estimate().calls == 0


def test_a_model_that_fails_in_the_middle_is_asked_for_the_rest_only(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil=[reads_owners, RuntimeError("model down"), reads_owners], reconcile={"verdicts": []})
    memory = opened(llm=llm, embedder="none")
    talk(memory, long_message())
    failed = memory.consolidate(force=True)
    assert failed.skipped_reason
    assert memory.status().unread == 1
    before = len(memory.get_all())
    assert 0 < before < 6
    done = memory.consolidate()
    assert done.skipped_reason is None, "a message that was begun is due, however few there are"
    assert len(memory.get_all()) == 6
    first, *others = (asked.text for asked in llm.asked if asked.task == "distil")
    assert "Alice owns" in first
    assert not any("Alice owns" in text for text in others)


def test_sleep_continues_with_a_partly_read_message(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil=[reads_owners, RuntimeError("down"), reads_owners], reconcile={"verdicts": []})
    memory = opened(llm=llm, embedder="none", config=Config(consolidate_every_turns=100))
    talk(memory, long_message())
    memory.consolidate(force=True)
    for _ in range(4):
        memory.sleep()
    assert len(memory.get_all()) == 6
    assert memory.status().unread == 0


def test_undoing_a_piece_makes_it_due_again(opened: Open, talk: Callable[..., None]) -> None:
    llm = ScriptedLLM(distil=reads_owners, reconcile={"verdicts": []})
    memory = opened(llm=llm, embedder="none")
    talk(memory, long_message())
    memory.consolidate(force=True)
    for run in [run for run in memory.runs() if run.cause == "consolidate"]:
        memory.undo(run.id)
    assert not memory.get_all()
    assert memory.status().unread == 1
    asked = llm.count("distil")
    memory.consolidate(force=True)
    assert llm.count("distil") == 2 * asked


def test_earlier_messages_are_shown_shortened_and_without_withdrawn_ones(
    opened: Open, talk: Callable[..., None]
) -> None:
    llm = ScriptedLLM(distil={"facts": []})
    memory = opened(llm=llm, embedder="none")
    talk(memory, f"begin {FILLER * 100} THE END", "Something that was withdrawn.", "ok")
    memory.consolidate(force=True)
    (withdrawn,) = [one for one in memory.get_all(kinds=["message"]) if "withdrawn" in one.text]
    memory.delete(withdrawn.id)
    talk(memory, "now this", first=4)
    memory.consolidate(force=True)
    shown = llm.asked[-1].text
    assert "THE END" in shown
    assert "begin The committee" not in shown
    assert "withdrawn" not in shown


@given(st.text(alphabet=st.sampled_from("ab .\n爱😀"), max_size=400), st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_pieces_are_the_whole_text_and_none_is_too_long(text: str, times: int) -> None:
    whole = text * times
    start, pieces = 0, []
    while start < len(whole):
        end = piece_end(whole, start)
        assert end > start
        pieces.append(whole[start:end])
        start = end
    assert "".join(pieces) == whole
    assert all(len(piece) <= PIECE and estimate(piece) <= TOKENS for piece in pieces)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("word " * 10_000, " "),
        ("One sentence of words. " * 2_000, ". "),
        ("A line\n" * 5_000, "\n"),
        ("x" * 50_000, "x"),
    ],
)
def test_a_piece_ends_where_a_reader_would_pause(text: str, end: str) -> None:
    piece = text[: piece_end(text, 0)]
    assert piece.endswith(end)
    assert len(piece) > PIECE * 3 // 4


def test_a_chunk_is_shorter_than_the_limit_of_a_prompt() -> None:
    assert PIECE < SHOWN
