"""An agent loop: remember what is said, put what matters before the model, distil now and then, sleep once a day.

`answer` stands for your model; run it as it is to see what the model would be given.
"""

from slowwave import AgentMemory, Message

EVERY = 4  # turns between two distillings

SAID = (
    "I'm allergic to walnuts.",
    "Please always answer in short bullet points.",
    "My budget for the trip is 900 euros.",
    "I want to visit my sister in Bergen in May.",
    "What should I cook for us there?",
)


def answer(prompt: str, question: str) -> str:
    """Your model goes here."""
    return f"Noted, with {len(prompt)} characters of memory before {len(question)} of question."


def main() -> None:
    """Run the loop over a short talk."""
    with AgentMemory.open(":memory:", llm=None) as memory:
        for turn, question in enumerate(SAID, 1):
            context = memory.context(question, conversation="trip", budget_tokens=400)
            reply = answer(str(context), question)
            memory.add_messages(
                [Message(role="user", content=question), Message(role="assistant", content=reply)], conversation="trip"
            )
            memory.record_retrieval(
                item.memory for section in context.sections for item in section.items if item.memory
            )
            if turn % EVERY == 0:
                memory.consolidate("trip")
        memory.end_conversation("trip")
        memory.sleep()  # once a day in real life
        print(context)
        for fact in memory.get_all():
            print(f"[{fact.category}] {fact.text}")


if __name__ == "__main__":
    main()
