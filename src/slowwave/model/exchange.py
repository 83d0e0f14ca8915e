"""Records that leave or enter a store: exported and imported memories, links and cursors, and the lines of a vault."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from slowwave.model.memory import Memory
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.note import Note
from slowwave.model.status import LinkRow

OF_FILE: Final = "the file"
"""From what a message has its time if nothing else in the file gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMessage:
    """A message of a conversation. It always carries an id, so that reading a file twice stores it once.

    `time_of` says from what it has its time if the file gives it none; "" if the time is its own.
    """

    conversation: str
    message: Message
    where: str
    time_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """A fact of a file; it is reconciled as a stated fact is. `user` is the user that the file says it belongs to."""

    fact: Fact
    where: str
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedNote:
    """A note of a file. It is stored under its name, and never replaces a note with other, newer content.

    `lines` names the field of its data that is a list of texts, each of which is a line of its text: lines that the
    stored note lacks are added to it. None: the content is one piece.
    """

    note: Note
    where: str
    lines: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMemory:
    """A memory of an export. Its scope becomes that of the import.

    `proven` says that the importing store wrote the export itself; otherwise the record is an unproven claim.
    """

    memory: Memory
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedLink:
    """A link of an export."""

    link: LinkRow
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedCursor:
    """The position of a cursor of a conversation in an export."""

    conversation: str
    cursor: str
    seq: int
    where: str
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTitle:
    """The title of a conversation. It follows the messages of the conversation."""

    conversation: str
    title: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A conversation as an export for people shows it: its name, its title, and its messages in order."""

    name: str
    title: str | None
    messages: Iterable[Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedItem:
    """An item of a file that is not imported: its place, and why.

    `broken` says that the rest of the file could not be read either.
    """

    where: str
    why: str
    broken: bool = False


Item: TypeAlias = (
    ImportedMessage
    | ImportedFact
    | ImportedNote
    | ExportedMemory
    | ExportedLink
    | ExportedCursor
    | ConversationTitle
    | SkippedItem
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultLine:
    """A fact as a line of a vault: its text, the category of its page, and its id (None if a person wrote the line).

    `exported` and `exported_category` are the text and the category that were exported; None if the line was not.
    """

    text: str
    category: str
    id: str | None = None
    exported: str | None = None
    exported_category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultOwner:
    """The owner of a vault: an opaque name of the store, and the scope."""

    store: str
    scope: str
