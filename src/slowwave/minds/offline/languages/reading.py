"""Reads statements in other languages than English by their tables. What a table does not know is left alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from slowwave.minds.offline.languages.table import Form, Table, tables
from slowwave.model.memory import Kind
from slowwave.policy.text.foreign.own_text import own_text
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import ENGLISH_EVIDENCE

USER: Final = "The user"
_LONGEST: Final = 25  # words of a clause
_WORD: Final = lazy_regex(r"[^\W\d_]+(?:['’]\w+)?")
_SENTENCE: Final = lazy_regex(r"(?:[^.!?…\n]|(?<=\d)[.](?=\s?\w)|[.](?=\w))+[.!?…]*")
_QUOTED: Final = lazy_regex(r"[\"“”„«»‹›]|(?<!\w)['‘](?=\w[^'’]*['’](?!\w))")
_EDGES: Final = " \t\n,;:.!…–—-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatement:
    """A statement at `start` of a message: the text of its fact in the language of the message, and the words it is drawn from."""

    text: str
    quote: str
    start: int
    category: str
    kind: Kind
    confidence: float = 0.85


def statements(text: str, speaker: str = USER, *, playing: bool = False) -> tuple[ForeignStatement, ...]:
    """The statements of a message about its writer, in the language of the message; () for languages without a table.

    A fact is in the third person where the table can say it and no other word of the clause is in the first; else it quotes the
    clause ("Der Nutzer: „Mein Hund heißt Rex“").

    Args:
        text: The message.
        speaker: The name of the writer; "The user" becomes the table's own word for the user.
        playing: Whether a role play is on when the message begins.

    >>> [found.text for found in statements("Hallo, ich heiße Ida und ich wohne in Bern. Mein Hund heißt Rex.")]
    ['Der Nutzer heißt Ida', 'Der Nutzer wohnt in Bern', 'Der Nutzer: „Mein Hund heißt Rex“']
    """
    table = language_of(text)
    return tuple(_read(table, text, speaker, playing=playing)) if table else ()


def language_of(text: str) -> Table | None:
    """The table of the language with the most of its words in a text; None if another or English has as many."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    words += [part for word in words if "'" in word for part in (word.partition("'")[0] + "'",)]
    found = sorted(
        ((sum(word in table.words for word in words), table) for table in tables()), key=lambda each: -each[0]
    )
    (most, table), (second, _) = found[:2]
    english = sum(word in ENGLISH_EVIDENCE for word in words)
    return table if most > max(second, english) else None


def _read(table: Table, text: str, speaker: str, *, playing: bool) -> Iterator[ForeignStatement]:
    own = own_text(text, playing=playing)
    if foreign := table.foreign.search(own):
        own = own[: max(own.rfind(mark, 0, foreign.start()) for mark in ".!?\n") + 1]
    if _QUOTED.search(own):
        own = "".join("\n" * len(line) if _QUOTED.search(line) else line for line in own.splitlines(keepends=True))
    opens = True
    for sentence in _SENTENCE.finditer(own):
        words = sentence.group()
        if not words.strip() or words.rstrip().endswith("?") or "¿" in words or table.unsure.search(words):
            continue
        place = 0
        for joint in [*table.joint.finditer(words), None]:
            end = joint.start() if joint else len(words)
            found = _clause(table, words[place:end], speaker, opens=opens)
            if found:
                start = sentence.start() + place + found.start
                yield replace(found, start=start, quote=text[start : start + len(found.quote)])
            opens, place = False, joint.end() if joint else end


def _clause(table: Table, part: str, speaker: str, *, opens: bool) -> ForeignStatement | None:
    """The statement of a part of a sentence, with its place in the part."""
    opening = table.opening.match(part.lstrip(_EDGES), 0)
    lead = len(part) - len(part.lstrip(_EDGES)) + (opening.end() if opening else 0)
    clause = part[lead:].strip(_EDGES)
    lead += len(part[lead:]) - len(part[lead:].lstrip(_EDGES))
    plain = clause.replace("’", "'")
    if not 1 < len(clause.split()) <= _LONGEST:
        return None
    for form in table.forms:
        match = form.says.fullmatch(plain)
        if match is None or len(clause.split()) < form.words or (form.opens and not opens):
            continue
        if text := _fact(table, form, match, clause, speaker):
            return ForeignStatement(text=text, quote=clause, start=lead, category=form.category, kind=form.kind)
        return None
    return None


def _fact(table: Table, form: Form, match: re.Match[str], clause: str, speaker: str) -> str:
    """The fact of a clause; empty if it speaks to somebody, unless it is a wish about answers."""
    who = table.who if speaker == USER else speaker
    shown = clause[:1].upper() + clause[1:]
    if form.wish:
        return table.wish.format(who=who, clause=shown)
    if table.second.search(clause):
        return ""
    groups = {name: value or "" for name, value in match.groupdict().items()}
    said = " ".join(groups.get(name, "") for name in ("rest", "name", "number"))
    if not form.fact or table.first.search(said) or table.also_first.search(said):
        return table.quoted.format(who=who, clause=shown)
    groups["no"] = groups.get("no", "").lower()
    if "verb" in groups:
        groups["verb"] = form.verbs[groups["verb"].lower()]
    text = form.fact.format(who=who if form.fact.startswith("{who}") else who[:1].lower() + who[1:], **groups)
    return text[:1].upper() + text[1:]
