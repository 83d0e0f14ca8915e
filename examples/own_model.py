"""A model of your own: any object with `complete(messages=...)`. This one is a few rules and needs no key.

Its proposals are checked: a fact whose quote is not in the messages is refused.
"""

import json
from collections.abc import Mapping, Sequence

from slowwave import AgentMemory, Message


class TinyModel:
    """Answers the three tasks. The first line of each prompt names the task."""

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the answer to a prompt."""
        task = messages[0]["content"].splitlines()[0]
        if task == "Task: distil":
            proposed = [
                {"text": "Ada keeps four hives", "category": "project", "message": 1, "quote": "I keep four hives"},
                {"text": "Ada keeps nine hives", "category": "project", "message": 1, "quote": "I keep nine hives"},
            ]
            return json.dumps({"facts": proposed})
        if task == "Task: reconcile":
            facts = messages[-1]["content"].count("\nF")  # each new fact stands on a line "F1 (date; near K1): …"
            return json.dumps({"reviewed": facts, "changes": []})
        return "A summary."


def main() -> None:
    """Extract facts from a conversation with this model."""
    with AgentMemory.open(":memory:", llm=TinyModel(), embedder="none") as memory:
        memory.add_messages(
            [
                Message(role="user", speaker="Ada", content="I keep four hives behind the shed."),
                Message(role="assistant", content="How are they doing?"),
            ],
            conversation="bees",
        )
        result = memory.end_conversation("bees")
        for fact in result.facts:
            print(f"kept     {fact.text}  because {fact.sources[0].quote!r} was said")
        for refused in result.rejected:
            print(f"refused  {refused.text}  because {refused.reason}")


if __name__ == "__main__":
    main()
