"""Every change is a run with an id, and `undo` reverses a run."""

from slowwave import AgentMemory


def main() -> None:
    """Let one fact supersede another, and undo that."""
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        old = memory.add("The permit application is due on 14 April 2026", category="project").ids[0]
        change = memory.add(
            "The permit application is now due on 21 April 2026 instead of 14 April 2026", category="project"
        )
        print(change)
        print(f"before undo: {memory.get(old).phase}")
        for receipt in memory.undo(change.run_id):
            print(receipt)
        print(f"after undo:  {memory.get(old).phase}")
        for event in memory.history(old):
            print(f"  {event.cause}: {event.operation.because}")


if __name__ == "__main__":
    main()
