"""Slowwave on Postgres: a scope for each namespace, messages of one conversation, hybrid search by words and meaning."""

from collections.abc import Sequence

from on_postgres import run
from with_slowwave import Free

from slowwave import Config, Message, Slowwave as Store


class Slowwave:
    """One open store, from which the memory of each namespace is taken."""

    def __init__(self, url: str) -> None:
        self._store = Store.open(url, embedder=Free(), llm=None, config=Config(search_in_ram=None))

    def fill(self, space: str, pairs: Sequence[tuple[str, str]]) -> None:
        """One batch of messages."""
        said = [Message(role="user", content=text, id=key) for key, text in pairs]
        self._store.within(space).add_messages(said, conversation="bench")

    def add(self, space: str, key: str, text: str) -> None:
        """One message."""
        self._store.within(space).add_message(Message(role="user", content=text, id=key), conversation="bench")

    def search(self, space: str, text: str, wanted: int) -> list[str]:
        """The ids of the messages."""
        return [str(source) for hit in self._store.within(space).search(text, top_k=wanted) for source in hit.sources]

    def close(self) -> None:
        """Close the store."""
        self._store.close()


if __name__ == "__main__":
    run(Slowwave)
