"""Scopes: a memory belongs to a path. It writes to its own scope; with `inherit` it also reads those above it."""

from slowwave import Slowwave


def main() -> None:
    """One store, one team, two people."""
    with Slowwave.open(":memory:", llm=None, embedder="none") as store:
        store.within("acme").add("The office closes at six", category="decision")
        alice = store.within("acme", "alice", inherit=True)
        alice.add("Alice prefers tea to coffee", category="preference")
        bob = store.within("acme", "bob", inherit=True)
        print("alice:", [hit.text for hit in alice.search("office tea")])
        print("bob:  ", [hit.text for hit in bob.search("office tea")])
        for scope in store.scopes("acme"):
            print(f"{scope.path}: {scope.facts} facts")


if __name__ == "__main__":
    main()
