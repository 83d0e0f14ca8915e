import pytest

from slowwave.pipelines.recall.forms import trimmed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, Odile!", ""),
        ("Wow, Odile! I really sold the boat.", "I sold the boat."),
        ("Hey Odile! The ramp isn't just for us, it's for the whole street!", None),
        ("Great work on the fence, Odile!", None),
        ("Blue.", "Blue."),
        ("Thanks, Odile! [image: a red kayak on a roof]", ""),
    ],
)
def test_a_trimmed_message_keeps_its_meaning_or_nothing(text: str, expected: str | None) -> None:
    short = trimmed(text)
    if expected is None:
        assert short.removeprefix("Odile! ") == text.removeprefix("Hey Odile! ")
    else:
        assert short == expected
