"""What a vault of Markdown pages says of one fact."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A fact as it stands in a vault: its words, its id (None where a person wrote it), the words it was exported with."""

    text: str
    category: str
    id: str | None = None
    exported: str | None = None
