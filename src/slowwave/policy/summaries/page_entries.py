"""Derives the entries of topic pages from messages and facts, and merges them into the lines of a page."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.model.memory import MESSAGE, STATEMENT_KINDS, Memory, Trust
from slowwave.policy.comparison.subjects import key as subject_key
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.guard.labels import bare_name
from slowwave.policy.guard.redaction import redact
from slowwave.policy.retention.categories import later
from slowwave.policy.retention.importance import Frequencies, importance
from slowwave.policy.retention.lasting import durability, durability_of_words, own_end
from slowwave.policy.retention.life import is_single, tells_of_life
from slowwave.policy.summaries.life_sentences import labelled_answer, life_sentences
from slowwave.policy.summaries.own_statements import names_the_last, own_statements, shows
from slowwave.policy.summaries.pages import THE_USER, PageLine, page_key
from slowwave.policy.summaries.topics import IN_GENERAL, LIFE, topics_of
from slowwave.policy.text.clauses import Clause, clauses, unaddressed
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, content_terms, stem, words

TOPICS_MAX: Final = 2
"""How many pages may list one clause or fact."""
WORDS_MAX: Final = 24
"""Words of one entry, unless its first clause is longer."""
LIFE_WORDS_MAX: Final = 40
"""The same on the page of a life, which has whole sentences: "a gift from my aunt" says nothing without the gift."""
CLAUSE_MAX: Final = 40
"""A longer clause is no entry."""
CONTENT_MIN: Final = 2
"""Distinct content words of an entry."""
IMPORTANCE_MIN: Final = 0.1
"""The least importance of an entry: below it is small talk."""
JOINT: Final = "; "
"""Stands between the clauses of one entry."""
COVERED: Final = 0.5
"""The share of the content words of a clause from which a fact of the same message replaces it."""
RETOLD: Final = 0.75
"""The share of the content words of a fact, without names and dates, from which it replaces a clause of its message."""
STAYS_FROM: Final = 0.45
"""The importance from which an ordinary entry stays longer than that, unless it tells of a single occasion."""
KEPT: Final = timedelta(days=180)
"""How long a page lists an entry that does not last."""
LISTED: Final[frozenset[str]] = frozenset({"user", "assistant", "import"})
"""The kinds of source that pages list. Tools, web pages and models speak about the world, not about a person."""
LISTED_KINDS: Final = frozenset(STATEMENT_KINDS) - {"procedural"}
"""Kinds of facts that pages list. Standing instructions have a section of their own in contexts."""

_CALENDAR: Final = frozenset(stem(word) for word in ("week", "weekend", *table_words("month_names")))
_CONJUNCTION: Final = lazy_regex(r"^(?:[Bb]ut|[Yy]up|[Yy]es),? ")
_ENDS_LIKE_A_MARK: Final = lazy_regex(r" \(until \d{4}-\d\d-\d\d\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """A line that a page may contain.

    Args:
        subject: The person or thing of the page.
        topic: The topic of the page.
        line: The line.
        trust: The kind of source of the memory on which it rests.
        covers: The ids of the messages that a fact rests on; empty for the entry of a message.
    """

    subject: str
    topic: str
    line: PageLine
    trust: Trust
    covers: frozenset[str] = frozenset()


def message_subject(message: Memory) -> str | None:
    """Whose pages list what a message says: its speaker, or the user; None for assistants without a name, and tools."""
    if message.kind != MESSAGE or message.trust not in LISTED or message.phase in {"quarantined", "retracted"}:
        return None
    name = bare_name(message.role, message.speaker)
    return name or (THE_USER if message.role == "user" else None)


def may_be_listed(message: Memory) -> bool:
    """Whether a message has a clause with a topic that pages list; `message_entries` also asks how informative it is."""
    if message_subject(message) is None:
        return False
    return any(topics for _, topics in _listed_clauses(message.text)) or bool(life_sentences(message.text))


def message_entries(
    message: Memory,
    *,
    frequencies: Frequencies,
    speakers: Collection[str] = (),
    only: Collection[str] | None = None,
    asked: str | None = None,
) -> list[PageEntry]:
    """The entries of a message: by topic the clauses that have words of it, in the message's own words.

    Only what the speaker tells of the own life is listed (`own_statements`), with a caption that shows the same.

    Args:
        message: The message.
        frequencies: How common words are in its scope.
        speakers: Names of the speakers.
        only: The keys of the pages whose entries are wanted; None: of all pages.
        asked: What another speaker said right before, which a short message may answer.
    """
    subject = message_subject(message)
    if subject is None:
        return []
    by_topic: dict[str, list[Clause]] = {}
    for clause, topics in _listed_clauses(message.text):
        for topic in topics:
            beside = topic in by_topic or not clause.caption
            if beside and (only is None or page_key(subject, topic) in only):
                by_topic.setdefault(topic, []).append(clause)
    if only is None or page_key(subject, LIFE) in only:
        by_topic |= _of_life(message.text, asked)
    others = [name for name in speakers if name != message.speaker]
    entries = []
    for topic, found in by_topic.items():
        said = _joined(found, others, LIFE_WORDS_MAX if topic == LIFE else WORDS_MAX)
        if _has_content(said, speakers) and value(said, frequencies, speakers) >= IMPORTANCE_MIN:
            line = PageLine(text=said, day=message.at.date(), member=message.id)
            entries.append(PageEntry(subject=subject, topic=topic, line=line, trust=message.trust))
    return entries


def _of_life(text: str, asked: str | None) -> dict[str, list[Clause]]:
    """The sentences of a message for the page of a life, the answer to a question about a life first; empty without any."""
    found = list(life_sentences(text))
    if asked is not None and (answer := labelled_answer(text, asked)):
        found = [Clause(text=answer), *(clause for clause in found if not names_the_last(clause))]
    return {LIFE: found} if found else {}


@lru_cache(maxsize=2048)
def _listed_clauses(text: str) -> tuple[tuple[Clause, tuple[str, ...]], ...]:
    """The clauses of a message that pages may list, with their topics; cached, since a new page reads messages again.

    A clause that names the person of the clause before has the topics of the clause before it.
    """
    found: list[tuple[Clause, tuple[str, ...]]] = []
    whole = clauses(redact(remove_fenced_blocks(text)).text)
    stated = own_statements(whole)
    for clause in [*stated, *(one for one in whole if one.caption and shows(one, stated))]:
        if len(clause.text.split()) <= CLAUSE_MAX:
            same = names_the_last(clause) and found
            found.append((clause, found[-1][1] if same else topics_of(clause.text, TOPICS_MAX)))
    return tuple(found)


def fact_entries(
    fact: Memory, *, speaker: str | None, speakers: Collection[str] = (), now: datetime | None = None
) -> list[PageEntry]:
    """The entries of a fact: on the pages of its subject, and of the speaker of its source if that is somebody else.

    Args:
        fact: The fact, with what is true of it now.
        speaker: The subject of the pages of its source message (`message_subject`), if it has one.
        speakers: Names of the speakers.
        now: See `fact_line`.
    """
    line = fact_line(fact, now)
    if line is None:
        return []
    subject = _named_subject(fact.subject, speakers) or speaker or THE_USER
    talks = subject == THE_USER or subject in speakers
    of_life = (LIFE,) if tells_of_life(line.text) else ()
    topics = (*topics_of(line.text, TOPICS_MAX, least=1), *of_life) if talks else (IN_GENERAL,)
    places = [(subject, topic) for topic in topics]
    if not talks:
        places += [(speaker or THE_USER, topic) for topic in (*topics_of(line.text, 1, least=1), *of_life)]
    covers = frozenset(source.memory for source in fact.sources)
    return [
        PageEntry(subject=subject, topic=topic, line=line, trust=fact.trust, covers=covers) for subject, topic in places
    ]


def fact_line(fact: Memory, now: datetime | None = None) -> PageLine | None:
    """The line of a fact; None if no page lists it: it is a duplicate, was retracted or waits for review.

    Args:
        fact: The fact.
        now: What expired before this instant is marked as ended; None: only what a change of the memory says. A fact whose time to
            live is over, but which has no stated end, is not marked.
    """
    if fact.kind not in LISTED_KINDS or fact.trust not in LISTED:
        return None
    if fact.phase in {"quarantined", "retracted"} or fact.reason == "duplicate":
        return None
    end = fact.valid_to or fact.expires_at or own_end(fact)
    if fact.outdated:
        end = end or fact.valid_from
    elif fact.reason != "expired" and (now is None or end is None or end > now):
        end = None
    until = max(end.date(), fact.valid_from.date()) if end else None
    return PageLine(text=_one_line(fact.text.rstrip(".")), day=fact.valid_from.date(), member=fact.id, until=until)


def current_lines(
    lines: Iterable[PageLine], members: Mapping[str, Memory], now: datetime | None = None
) -> tuple[PageLine, ...]:
    """The lines as their members are now: without those whose member is gone or was retracted, with the mark of what ended."""
    found = []
    for line in lines:
        member = members.get(line.member)
        if member is None or member.phase in {"quarantined", "retracted"}:
            continue
        if member.kind == MESSAGE:
            found.append(line)
        elif (stated := fact_line(member, now)) is not None:
            found.append(replace(line, until=stated.until))
    return tuple(found)


def merged_lines(
    old: Iterable[PageLine],
    new: Sequence[PageEntry],
    *,
    limit: int,
    worth: Callable[[str], float],
    covers: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> tuple[PageLine, ...]:
    """The lines of a page with new entries, oldest first.

    An entry replaces the line of the same member, and a fact those of the messages it rests on that say the same. Of lines with
    the same words the first stays. Over the limit the lines of least worth are left out; those that ended first.

    Args:
        old: The lines of the page.
        new: Its new entries.
        limit: The most lines.
        worth: The importance of a text (`value`).
        covers: The ids of the messages on which the facts of old lines rest, by the id of the fact.
    """
    lines = {line.member: line for line in old}
    stated = [(covers[line.member], line.text) for line in lines.values() if line.member in covers]
    stated += [(entry.covers, entry.line.text) for entry in new if entry.covers]
    lines |= {entry.line.member: entry.line for entry in new}
    for messages, text in stated:
        for member in messages & lines.keys():
            said = lines.pop(member)
            left = [part for part in said.text.split(JOINT) if not is_told(part, text)]
            if not all(part.startswith("[") for part in left):  # a caption alone tells nothing of a life
                lines[member] = replace(said, text=JOINT.join(left))
    distinct: dict[str, PageLine] = {}
    for line in sorted(lines.values(), key=lambda line: line.day):
        distinct.setdefault(line.text.casefold(), line)
    if len(distinct) <= limit:
        return tuple(distinct.values())
    ranked = sorted(distinct.values(), key=lambda line: (line.outdated, -worth(line.text), -line.day.toordinal()))
    kept = {line.member for line in ranked[:limit]}
    return tuple(line for line in distinct.values() if line.member in kept)


def stays(line: PageLine, member: Memory | None, worth: Callable[[str], float]) -> bool:
    """Whether an entry stays on its page after `KEPT`. The page of a life keeps its lines.

    A fact stays while it is hot. Of what is cold, and of messages, stays what lasts by
    its words, and what is of much worth and tells of no single occasion: a meal or an outing leaves the page, however informative.

    Args:
        line: The entry.
        member: The memory on which it rests, as it is now; None if it is not known.
        worth: The importance of a text (`value`).
    """
    is_fact = member is not None and member.kind != MESSAGE
    if member is not None and is_fact and member.is_searchable:
        return True
    lasts = durability(member) if member is not None and is_fact else durability_of_words(line.text)
    return lasts == "lasting" or (lasts == "ordinary" and not is_single(line.text) and worth(line.text) >= STAYS_FROM)


def leaves_at(line: PageLine) -> datetime:
    """The instant from which an entry that does not stay is left out; the last one of the calendar if it lies after it."""
    return later(datetime.combine(line.day, time(), UTC), KEPT.days) or datetime.max.replace(tzinfo=UTC)


def is_told(said: str, fact: str) -> bool:
    """Whether a fact says what a clause of its message says, in most words of either.

    >>> is_told("Guess what - I got a kitten two weeks ago!", "Ines got a kitten in the week of 5 January 2026")
    True
    """
    clause, stated = content_terms(said), content_terms(fact)
    shared = clause & stated
    own = {stem(word) for word in words(fact) if word not in STOP_WORDS and word.isalpha()}
    own -= {stem(word) for word in fact.casefold().split()[:1]} | _CALENDAR
    return len(shared) >= COVERED * len(clause) or (
        len(shared) >= CONTENT_MIN and len(shared & own) >= RETOLD * len(own)
    )


def value(text: str, frequencies: Frequencies, speakers: Collection[str] = ()) -> float:
    """How informative an entry is, in (0, 1)."""
    return importance(text, frequencies=frequencies, speakers=speakers)


def _joined(found: Sequence[Clause], others: Collection[str], most: int) -> str:
    """The clauses in order, as many as fit into so many words; at least the first."""
    texts: list[str] = []
    spent = 0
    for clause in found:
        printed = f"[{clause.text}]" if clause.caption else _said(clause.text, others)
        spent += len(printed.split())
        if texts and spent > most:
            break
        texts.append(printed)
    return _one_line(JOINT.join(texts))


def _said(text: str, others: Collection[str]) -> str:
    """A clause without the word that joins it to the one before and without the name it is addressed to."""
    return _CONJUNCTION.sub("", unaddressed(text, names=others)).rstrip(".")


def _one_line(text: str) -> str:
    """The text in one line that cannot be read as outdated because of its last words."""
    line = " ".join(text.split())
    return f"{line}." if _ENDS_LIKE_A_MARK.search(line) else line


def _named_subject(subject: str | None, speakers: Collection[str]) -> str | None:
    """The subject as pages name it: a speaker as their messages do, and every form of "user" in one way."""
    if not subject or not subject.strip():
        return None
    asked = subject_key(subject)
    if asked == "user":
        return THE_USER
    names = [name for name in speakers if asked in {subject_key(name), *subject_key(name).split()[:1]}]
    return min(names) if names else " ".join(subject.split())


def _has_content(text: str, speakers: Collection[str]) -> bool:
    return len(content_terms(text) - {stem(word) for name in speakers for word in words(name)}) >= CONTENT_MIN
