"""Scopes: a memory belongs to a path. An AgentMemory writes to its own scope; with `inherit` it also reads the parents."""

import tempfile
from pathlib import Path

from slowwave import AgentMemory


def main() -> None:
    """One team, two people."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "team.db"
        with AgentMemory.open(store, scope="acme", llm=None, embedder="none") as team:
            team.add("The office closes at six", category="decision")
        with AgentMemory.open(store, scope="acme/alice", inherit=True, llm=None, embedder="none") as alice:
            alice.add("Alice prefers tea to coffee", category="preference")
            print("alice:", [hit.text for hit in alice.search("office tea")])
        with AgentMemory.open(store, scope="acme/bob", inherit=True, llm=None, embedder="none") as bob:
            print("bob:  ", [hit.text for hit in bob.search("office tea")])


if __name__ == "__main__":
    main()
