"""What files of conversations hold, as values: formats read them, a pipeline takes them in."""

from typing import TypeAlias

from slowwave.model.fact import Fact
from slowwave.model.memory import Memory
from slowwave.model.message import Message
from slowwave.model.record import record
from slowwave.model.state import Linked


@record
class Said:
    """A message of a conversation. It always carries an id, so that reading a file twice stores it once."""

    conversation: str
    message: Message
    where: str


@record
class Stated:
    """A fact in somebody's words; it meets what is known as any stated fact does."""

    fact: Fact
    where: str


@record
class Kept:
    """A memory as an export of ours holds it; its scope is that of whoever takes it in.

    `proven` says that the importing store wrote the export itself; without it a record is a claim of a stranger.
    """

    memory: Memory
    where: str
    proven: bool = False


@record
class Joined:
    """A join of two memories as an export of ours holds it."""

    link: Linked
    where: str
    proven: bool = False


@record
class Worked:
    """How far a cursor of a conversation had come when it was exported."""

    conversation: str
    cursor: str
    seq: int
    where: str
    proven: bool = False


@record
class Skipped:
    """Something in the file that is not taken in: where it stands, and why.

    `broken` says that what follows it in the file could not be read either.
    """

    where: str
    why: str
    broken: bool = False


Item: TypeAlias = Said | Stated | Kept | Joined | Worked | Skipped
