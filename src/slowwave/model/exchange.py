"""Records that leave or enter a store: exported and imported memories, links and cursors, and the lines of a vault."""

from dataclasses import dataclass
from typing import TypeAlias

from slowwave.model.memory import Memory
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.status import LinkRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMessage:
    """A message of a conversation. It always carries an id, so that reading a file twice stores it once."""

    conversation: str
    message: Message
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """A fact in somebody's words; it meets what is known as any stated fact does."""

    fact: Fact
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMemory:
    """A memory as an export of ours holds it; its scope is that of whoever takes it in.

    `proven` says that the importing store wrote the export itself; without it a record is a claim of a stranger.
    """

    memory: Memory
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedLink:
    """A join of two memories as an export of ours holds it."""

    link: LinkRow
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedCursor:
    """How far a cursor of a conversation had come when it was exported."""

    conversation: str
    cursor: str
    seq: int
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedItem:
    """Something in the file that is not taken in: where it stands, and why.

    `broken` says that what follows it in the file could not be read either.
    """

    where: str
    why: str
    broken: bool = False


Item: TypeAlias = ImportedMessage | ImportedFact | ExportedMemory | ExportedLink | ExportedCursor | SkippedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultLine:
    """A fact as it stands in a vault: its words, the category of its page, its id (None where a person wrote it).

    `exported` and `exported_category` are the words and the category it was written with; None if it was not.
    """

    text: str
    category: str
    id: str | None = None
    exported: str | None = None
    exported_category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultOwner:
    """The memory that a vault shows: an opaque name of its store, and the scope."""

    store: str
    scope: str
