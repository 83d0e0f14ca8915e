"""A sleep pass is a plan: print it, apply it, find what it archived by a deep search, and undo it."""

from datetime import UTC, datetime

from slowwave import AgentMemory, Config, Message
from slowwave.testing import FrozenClock

SAID = (
    "The permit application is due on 14 April, it is eleven pages, and page nine wants to know about goats.",
    "Odile owns the ferry. She brings the pots over if she may make a speech, and nobody has capped her since 1987.",
)


def main() -> None:
    """Let half a year pass without a question, with a limit of twenty words in use."""
    clock = FrozenClock(datetime(2026, 3, 2, tzinfo=UTC))
    config = Config(hot_words_max=20)
    with AgentMemory.open(":memory:", llm=None, embedder="static", clock=clock, config=config) as memory:
        for text in SAID:
            memory.add_message(Message(role="user", speaker="Juno", content=text), conversation="plans")
        memory.add("Juno painted the stairs to the cellar", kind="episodic", category="observation")
        clock.advance(days=180)

        # Only what fades: no message is read, and nothing is changed yet.
        plan = memory.sleep(dry_run=True, think=False).plan
        for operation in plan.operations:
            print(f"planned: {operation.because}")
        memory.apply(plan)

        question = "What must I know about the permit?"
        print("hot: ", memory.search(question, top_k=1)[0].text)
        print("deep:", memory.search(question, top_k=1, deep=True)[0].text)
        print("gone:", [fact.text for fact in memory.get_all(phases=["cold"])])

        memory.undo(plan.id)
        print("back:", [fact.text for fact in memory.get_all()], memory.search(question, top_k=1)[0].text)


if __name__ == "__main__":
    main()
