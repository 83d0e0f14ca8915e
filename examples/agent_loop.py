"""An agent loop: store each turn, build a context for the model, extract facts now and then, sleep once a day.

Replace `answer` by a call of your model. It shows how much context the model would get.
"""

from slowwave import AgentMemory, Message

EVERY = 4  # turns between two consolidations

SAID = (
    "I'm allergic to walnuts.",
    "Please always answer in short bullet points.",
    "My budget for the trip is 900 euros.",
    "I want to visit my sister in Bergen in May.",
    "What should I cook for us there?",
)


def answer(prompt: str, question: str) -> str:
    """Replace this by your model."""
    return f"Noted, with {len(prompt)} characters of memory before {len(question)} of question."


def main() -> None:
    """Run the loop over a short conversation."""
    with AgentMemory.open(":memory:", llm=None) as memory:
        for turn, question in enumerate(SAID, 1):
            context = memory.context(question, conversation="trip", budget_tokens=400)
            reply = answer(str(context), question)
            memory.add_messages(
                [Message(role="user", content=question), Message(role="assistant", content=reply)], conversation="trip"
            )
            memory.record_retrieval(context)
            if turn % EVERY == 0:
                memory.consolidate("trip")
        memory.end_conversation("trip")
        memory.sleep()  # once a day in real life
        print(context)
        for fact in memory.get_all():
            print(f"[{fact.category}] {fact.text}")


if __name__ == "__main__":
    main()
