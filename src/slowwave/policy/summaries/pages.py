"""The form of a topic page: a memory whose text lists the statements about one subject and topic, one entry a line, oldest first.

The first line is "{subject}: {topic}". Each further line is "- 2023-05-08: Anna started pottery"; what is no longer true ends
with " (until 2023-09-01)". `members[i]` of the memory is the id of the fact or message on which line i rests.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from slowwave.model.memory import PAGE, Memory
from slowwave.policy.text.lazy_regex import lazy_regex

__all__ = ["PAGE", "THE_USER", "PageLine", "lines_of", "page_key", "page_text"]

THE_USER: Final = "The user"
"""The subject of pages about the user."""
_LINE: Final = lazy_regex(r"- (?P<day>\d{4}-\d\d-\d\d): (?P<text>.*?)(?: \(until (?P<until>\d{4}-\d\d-\d\d)\))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """One entry of a topic page.

    Args:
        text: What was said, in one line, without its day.
        day: The day on which it was said or became true.
        member: The id of the fact or message on which it rests.
        until: The day on which it ceased to be true; None for what is current.
    """

    text: str
    day: date
    member: str
    until: date | None = None

    @property
    def outdated(self) -> bool:
        """Whether the entry is no longer true."""
        return self.until is not None

    def __str__(self) -> str:
        end = f" (until {self.until.isoformat()})" if self.until else ""
        return f"- {self.day.isoformat()}: {self.text}{end}"


def page_key(subject: str, topic: str) -> str:
    """The `ref` of a page, which is unique among the pages of a scope.

    >>> page_key("Anna", "hobbies")
    'Anna/hobbies'
    """
    return f"{subject}/{topic}"


def page_text(subject: str, topic: str, lines: Iterable[PageLine]) -> str:
    r"""The text of a page with these lines, in the order given.

    >>> page_text("Anna", "hobbies", [PageLine(text="Anna started pottery", day=date(2023, 5, 8), member="a")])
    'Anna: hobbies\n- 2023-05-08: Anna started pottery'
    """
    return "\n".join((f"{subject}: {topic}", *map(str, lines)))


def lines_of(page: Memory) -> tuple[PageLine, ...]:
    """The entries of a page, oldest first; empty for a memory that is no page.

    They are also empty if a person edited the page out of its form, if only in one line or to a day that does not exist: a
    page that is written again from the other entries would lose that line.
    """
    lines = page.text.split("\n")[1:]
    if not page.is_page or len(lines) != len(page.members):
        return ()
    entries = [entry for line, member in zip(lines, page.members, strict=True) if (entry := _entry(line, member))]
    return tuple(entries) if len(entries) == len(lines) else ()


def _entry(line: str, member: str) -> PageLine | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    try:
        day = date.fromisoformat(match["day"])
        until = date.fromisoformat(match["until"]) if match["until"] else None
    except ValueError:
        return None
    return PageLine(text=match["text"], day=day, member=member, until=until)
