"""Remembers what a dry run of an import would have stored, so that its counts are those of the import."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from slowwave.model.codec import content_key
from slowwave.model.memory import FACT_KINDS, MESSAGE, NOTE, Memory
from slowwave.model.status import LinkRow
from slowwave.pipelines.conversations import READABLE


@dataclass(slots=True)
class Planned:
    """What the records of a file so far would have stored. It stays empty in an import, whose records are in the store.

    Attributes:
        records: the records of an export, by id.
        notes: the notes of each folder and name, the latest first.
        facts: the content keys of facts.
        conversations: those with a message that is not under review.
        links: the links, by source, target and kind.
    """

    records: dict[str, Memory] = field(default_factory=dict)
    notes: dict[tuple[str, str], list[Memory]] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)
    conversations: set[str] = field(default_factory=set)
    links: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, memories: Iterable[Memory]) -> None:
        """Remember memories."""
        for memory in memories:
            if memory.kind == NOTE:
                self.notes.setdefault((memory.conversation or "", memory.ref or ""), []).insert(0, memory)
            elif memory.kind == MESSAGE and memory.phase in READABLE:
                self.conversations.add(str(memory.conversation))
            elif memory.kind in FACT_KINDS:
                self.facts.add(content_key(memory.text))

    def add_records(self, memories: Iterable[Memory]) -> None:
        """Remember records of an export, to which others of the same file refer."""
        records = list(memories)
        self.records |= {memory.id: memory for memory in records}
        self.add(records)

    def add_links(self, links: Iterable[LinkRow]) -> None:
        """Remember links."""
        self.links |= {(link.source, link.target, link.kind) for link in links}
