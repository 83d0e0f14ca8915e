"""What the server is asked to find candidates for: a question, its conditions, and what its words are worth."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from slowwave.model.codec import to_micros
from slowwave.model.query import Query
from slowwave.model.record import record
from slowwave.policy.features import Question, ask, dates_asked, name_words
from slowwave.policy.ranking import ASKED, DATE, SATURATION

POSTINGS: Final = 10_000
"""Words are looked up, the rarest first, until together they occur in so many memories."""

_NO_EMBEDDER: Final = -1
_INSIDE: Final = """(m.conversation = :conversation OR m.key IN (
    SELECT r.fact FROM search_rests r JOIN memories s ON s.id = r.message
    WHERE r.scope = :scope AND s.scope = :scope AND s.conversation = :conversation
))"""


@record
class Asked:
    """A search of one scope, as the server is asked.

    Attributes:
        query, question: what is wanted.
        dates: the numbers of the days that its words may mean, each with these words.
        speaker: the name of the one speaker that the question asks about.
        embedder: the token of the embedder that its vector is of, if it has one and any vector of it was ever stored.
        filters: further conditions on memories `m`, " AND " before each.
        values: what its conditions and its parts stand for.
    """

    query: Query
    question: Question
    dates: Mapping[int, tuple[int, ...]]
    speaker: str | None
    embedder: int | None
    filters: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, token: int, query: Query, names: Sequence[str], embedder: int | None) -> Self:
        """A search of a scope in which these speak."""
        question = ask(query.text, numbered(names))
        filters, values = _filters(query)
        speaker = None if question.speaker is None else names[question.speaker]
        own = None if query.vector is None else embedder or None
        return cls(
            query=query,
            question=question,
            dates=dates_asked(question.terms),
            speaker=speaker,
            embedder=own,
            filters=filters,
            values={"scope": token, "speaker": speaker, "asked": ASKED, "embedder": own or _NO_EMBEDDER, **values},
        )

    @property
    def seen(self) -> str:
        """The column that says what is searched."""
        return "open" if self.query.deep else "hot"

    @property
    def within(self) -> str:
        """The same conditions on a place or a posting `p`."""
        if not self.filters:
            return ""
        return f" AND p.key IN (SELECT m.key FROM memories m WHERE m.scope = :scope{self.filters})"  # noqa: S608  # our own words

    @property
    def bonus(self) -> str:
        """What is added to the score of a place `p` for who said it."""
        if self.speaker is not None:
            return "CASE WHEN p.speaker = :speaker THEN :asked ELSE 0.0 END"
        return "CASE WHEN p.by_user THEN :asked ELSE 0.0 END" if self.question.of_user else "0.0"

    @property
    def terms(self) -> set[int]:
        """Its words, and the days that they may mean."""
        return {*self.question.terms, *self.dates}

    def weights(self, known: Mapping[int, tuple[int, int]], count: int) -> dict[int, float]:
        """What its rarest words, and the days it may mean, are worth: the share of its information, as `lexical` has it.

        Args:
            known: in how many originals and in how many memories a term occurs.
            count: how many originals there are.
        """
        terms = self.question.terms
        often = {term: known.get(term, (0, 0))[0] for term in terms}
        idf = {term: math.log1p((count - often[term] + 0.5) / (often[term] + 0.5)) for term in terms}
        occurs, dated = 1.0 / (SATURATION + 1.0), DATE / (SATURATION + DATE)  # in a text of average length
        worth = {term: occurs * value for term, value in idf.items()}
        for date, parts in self.dates.items():
            worth[date] = dated * sum(idf[term] for term in parts)
        attainable = sum(idf.values())
        chosen: dict[int, float] = {}
        looked = 0
        for term in sorted(worth.keys() & known.keys(), key=lambda term: (known[term][1], term)):
            looked += known[term][1]
            if chosen and looked > POSTINGS:
                break
            chosen[term] = worth[term] / attainable
        return chosen


def numbered(names: Sequence[str]) -> dict[str, frozenset[int]]:
    """The words of names, each with the numbers of those who bear it."""
    found: dict[str, frozenset[int]] = {}
    for number, name in enumerate(names):
        for word in name_words(name):
            found[word] = found.get(word, frozenset()) | {number}
    return found


def signed(term: int) -> int:
    """A term as the server takes numbers: with a sign."""
    return term - (1 << 64) if term >= 1 << 63 else term


def _filters(query: Query) -> tuple[str, dict[str, Any]]:
    told = (
        ("kinds", _list(query.kinds), "m.kind = ANY (CAST(:kinds AS text[]))"),
        ("categories", _list(query.categories), "m.category = ANY (CAST(:categories AS text[]))"),
        ("allowed", _list(query.allowed), "m.id = ANY (CAST(:allowed AS text[]))"),
        ("since", query.since and to_micros(query.since), "m.valid_from >= :since"),
        ("until", query.until and to_micros(query.until), "m.valid_from <= :until"),
        ("conversation", query.conversation, _INSIDE),
    )
    said = "".join(f" AND {condition}" for _, value, condition in told if value is not None)
    return said, {name: value for name, value, _ in told if value is not None}


def _list(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)
