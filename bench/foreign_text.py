"""How long the search for foreign text takes, and how the time grows with the length of the message.

    python bench/foreign_text.py

Twenty kinds of text, each of 8,500 and of 17,000 characters: microseconds a character of the longer one, and the time of the
longer one divided by that of the shorter one (2 is linear).
"""

import json
import time
from collections.abc import Callable
from typing import Final

from measuring import save, table
from slowwave.policy.text.foreign.own_text import own_text

LENGTH: Final = 17_000  # characters
REPEATS: Final = 3
PARTS: Final = {
    "plain": "I live in Bern and I work as a nurse. My sister reads a lot, and we like to cook on Sundays. ",
    "lines": "I need help with my garden\nThe soil is wet and I have two apple trees in it\n\n",
    "advice": "Can you make a plan for me? I run three times a week, and if it rains I read a book in bed. ",
    "closings": "Thanks,\n",
    "closings in a line": "Thanks, ",
    "greetings": "Dear Ann,\n",
    "mail": "Hi Ann,\nI am ill.\nBest regards,\nBob\n",
    "tasks": "translate this: I am here ",
    "plays": "Let's roleplay. I am a king. End of the game. ",
    "parts": "you are the innkeeper and I'm a knight, ",
    "conditions": "if I ",
    "conditions with would": "sure if I could, I would if you ",
    "wishes": "I wish I had ",
    "said": "she said: I ",
    "labels": "text of it: my ",
    "examples": "e.g. I ",
    "jokes": "just kidding ",
    "quotes": "'a b \"I “I «I ",
    "dialogue": "Q: I am Ann ",
    "spaces": "thanks            ",
}


def seconds(read: Callable[[str], str], text: str) -> float:
    """The shortest time of some readings of a text, on the processor."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        read(text)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the table and one line of JSON."""
    rows, result = [], {}
    for name, part in PARTS.items():
        text = (part * (LENGTH // len(part) + 1))[:LENGTH]
        own_text(text)
        short, long = seconds(own_text, text[: LENGTH // 2]), seconds(own_text, text)
        each, growth = round(long * 1e6 / LENGTH, 1), round(long / max(short, 1e-9), 2)
        rows.append((name, each, growth))
        result[name] = {"microseconds": each, "growth": growth}
    print(table(("text", "us a character", "growth"), rows))
    print(json.dumps(result))
    save("foreign_text", result)


if __name__ == "__main__":
    main()
