"""Finds what the writer of a message says in their own person: no code, no quotation, no pasted text, no list of fields."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.words import anywhere
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.text.clauses import is_question, prose, sentences

_QUOTED: Final = re.compile(
    r"\"[^\"\n]{12,4000}\"|“[^”\n]{12,4000}”|«[^»\n]{12,4000}»|„[^“”\n]{12,4000}[“”]|(?<!\w)['‘][^'’\n]{25,4000}['’](?!\w)"
)
"""A quotation of more than a word or two: a shorter one is a name or a term."""
_OPEN_QUOTE: Final = re.compile(r"(?:^|\s)[\"“«„][^\"”»]{12,}\Z")
_FIELD: Final = re.compile(
    r"^\W{0,3}[\w.\[\]-][\w .\[\]-]{0,40}[:=](?=\s|\S)(?!//)|^\W{0,3}\[?\d{4}-\d\d-\d\d[T ]|\||\t\S+\t|^\s*>",
    re.MULTILINE,
)
"""A line of a table, a form, a log or a quoted mail."""
_GREETING: Final = re.compile(
    r"^\W{0,3}(?:dear|hi|hello|hey|to|sehr geehrte\w*|liebe\w*|hallo|ch[eè]re?s?|bonjour|estimad\w+|querid\w+|hola|prezad\w+|ol[aá]|car[oa]s?)\b[^.?!\n]{0,40},?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNED: Final = re.compile(
    r"^\W{0,3}(?:(?:best|kind|warm)\b.{0,20}|regards|sincerely\b.{0,10}|yours\b.{0,12}|cheers|love|sent from my .{1,30}|mit .{0,12}grüßen|viele grüße|cordialement|bien à vous|saludos|atentamente|abraços?|atenciosamente),?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_INTRODUCES: Final = re.compile(r"[:：][ \t]*(?:\n|(?=[\"“«„]))")
_WROTE: Final = re.compile(r"^.{0,80}\bwrote:[ \t]*$|^-+ ?(?:original|forwarded) message", re.IGNORECASE | re.MULTILINE)
_BULLET: Final = re.compile(r"^[-*•–—#\s]+(?:\d{1,2}[.)]\s+)?|^\d{1,2}[.)]\s+")
_ASKS: Final = re.compile(
    r"^(?:\w+[,:]? ){0,2}?(?:(?:can|could|would|will|do|does|did|is|are|was|should|shall|may|have|has) (?:you|u|i|we|it|this|that|there|they|he|she|the|my)|(?:what|how|why|where|which|who|whose|when)(?:['’]?s| is| are| do| does| did| can| could| should| would| to| much| many| long| about| if)|any (?:idea|tip|advice|suggestion|thought)s?)\b",
    re.IGNORECASE,
)
"""How a question begins that may have no question mark."""
_LONG: Final = 240
"""Characters of a paragraph after which a text of somebody else is likely, where the message asks for work on a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence as written, whether it asks, and whether it begins a line of the message."""

    text: str
    asks: bool
    opens: bool


def asks(sentence: str) -> bool:
    """Whether a sentence begins as a question does, with or without a question mark."""
    return _ASKS.match(sentence) is not None


def own_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a message that its writer says themselves.

    >>> [each.text for each in own_sentences('She wrote "I am Bob and I am ill" to me. I am in a hurry.')]
    ['She wrote', 'to me.', 'I am in a hurry.']
    """
    return tuple(_sentences(_own_part(text)))


def _sentences(text: str) -> Iterator[Sentence]:
    for line in text.split("\n"):
        for number, each in enumerate(sentences(line)):
            bare = _BULLET.sub("", each)
            if len(bare) > 1:
                yield Sentence(text=bare, asks=is_question(bare) or asks(bare), opens=number == 0)


def _own_part(text: str) -> str:
    """The text without the parts of others, which become line ends."""
    kept = prose(remove_fenced_blocks(text))
    if wrote := _WROTE.search(kept):
        kept = kept[: wrote.start()]
    kept = _without_letter(kept)
    if anywhere("draft").search(kept):
        kept = _without_material(kept)
    kept = _OPEN_QUOTE.sub("\n", _QUOTED.sub("\n", kept))
    return _without_fields(kept)


def _without_letter(text: str) -> str:
    """The text without a letter in it: from a greeting on a line of its own to the signature, or to the end."""
    greeting = _GREETING.search(text)
    if greeting is None or (not text[: greeting.start()].strip() and not _SIGNED.search(text)):
        return text  # "Hi Claude," at the beginning is for the assistant
    signed = _SIGNED.search(text, greeting.end())
    after = text[signed.end() :].partition("\n\n")[2] if signed else ""
    return f"{text[: greeting.start()]}\n{after}"


def _without_material(text: str) -> str:
    """A request for work on a text without that text: what follows a colon at the end of a line, and long paragraphs."""
    if found := _INTRODUCES.search(text):
        return text[: found.start()]
    first, *others = re.split(r"\n\s*\n", text)
    return "\n".join([first, *(part for part in others if len(part) < _LONG)])


def _without_fields(text: str) -> str:
    """The text without runs of two or more lines of a table, a form or a log."""
    lines = text.split("\n")
    fields = [bool(_FIELD.search(line)) and not line.rstrip().endswith((".", "!", "?")) for line in lines]
    return "\n".join(
        line
        for number, line in enumerate(lines)
        if not (fields[number] and (any(fields[max(0, number - 1) : number]) or any(fields[number + 1 : number + 2])))
        and not line.lstrip().startswith((">", "|"))
    )
