"""A process that writes to a store, briefly or for long, and prints acknowledged writes; started by test_locks."""

import sys

from slowwave import AgentMemory, Message
from slowwave.errors import BusyError
from slowwave.model.query import Where

BATCH = 5


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def opened(path: str) -> AgentMemory:
    return AgentMemory.open(path, llm=None, embedder="none")


def write(memory: AgentMemory, name: str) -> None:
    """One batch, acknowledged when the call returns."""
    ids = [f"{name}.{n}" for n in range(BATCH)]
    memory.add_messages([Message(role="user", content=f"Note {one} about the fair", id=one) for one in ids], "c")
    for one in ids:
        say("ack", one)


def keep(path: str, name: str, turns: int) -> None:
    """One connection for all turns: five batches, then an erase."""
    with opened(path) as memory:
        for turn in range(turns):
            for part in range(5):
                write(memory, f"{name}{turn}.{part}")
            say("gone", f"{name}{turn}.0.0")
            try:
                memory.erase(source=f"{name}{turn}.0.0")
            except BusyError as error:  # the rows are erased; the file could not be rewritten while others use it
                say("busy", error)


def visit(path: str, name: str) -> None:
    with opened(path) as memory:
        write(memory, name)


def visits(path: str, name: str, turns: int) -> None:
    """One connection for each batch: every close checks whether it is the last one of the store."""
    for turn in range(turns):
        visit(path, f"{name}{turn}")


def main(path: str, what: str, name: str = "", turns: str = "0") -> None:
    if what == "keep":
        keep(path, name, int(turns))
    elif what == "visits":
        visits(path, name, int(turns))
    elif what == "visit":
        visit(path, name)
    else:
        with opened(path) as memory:
            ports = memory.ports
            if what == "facts":
                for fact in memory.get_all():
                    say(fact.text)
            else:
                kinds = frozenset({"message"})
                for message in ports.store.select([ports.scope], Where(kinds=kinds, cascade=None)):
                    say(message.ref)


if __name__ == "__main__":
    main(*sys.argv[1:])
