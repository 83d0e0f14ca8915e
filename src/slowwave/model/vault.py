"""What a vault of Markdown pages says of one fact, and whose it is."""

from slowwave.model.record import record


@record
class Line:
    """A fact as it stands in a vault: its words, the category of its page, its id (None where a person wrote it).

    `exported` and `exported_category` are the words and the category it was written with; None if it was not.
    """

    text: str
    category: str
    id: str | None = None
    exported: str | None = None
    exported_category: str | None = None


@record
class Owner:
    """The memory that a vault shows: an opaque name of its store, and the scope."""

    store: str
    scope: str
