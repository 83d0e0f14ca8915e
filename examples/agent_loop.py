"""An agent loop: build the messages for the model, store each turn, extract facts now and then, sleep once a day.

Replace `answer` by a call of your model. It shows how much memory the model would get.
"""

from collections.abc import Mapping, Sequence

from slowwave import AgentMemory

EVERY = 4  # turns between two consolidations
SYSTEM = "You help to plan a trip."

QUESTIONS = (
    "I'm allergic to walnuts.",
    "Please always answer in short bullet points.",
    "My budget for the trip is 900 euros.",
    "I want to visit my sister in Bergen in May.",
    "What should I cook for us there?",
)


def answer(messages: Sequence[Mapping[str, str]]) -> str:
    """Replace this by your model, which takes the messages as they are."""
    return f"Noted, with {len(messages)} messages before me."


def main() -> None:
    """Run the loop over a short conversation."""
    with AgentMemory.open(":memory:", llm=None) as memory:
        for turn, text in enumerate(QUESTIONS, 1):
            question = {"role": "user", "content": text}
            context = memory.context(text, conversation="trip", budget_tokens=400, profile="chat")
            reply = answer([{"role": "system", "content": SYSTEM}, *context.messages, question])
            memory.add_messages([question, {"role": "assistant", "content": reply}], conversation="trip")
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
