"""Searches a scope in Postgres: candidates by vector and by rare words."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from typing import Any, Final, Self

from psycopg import errors

from slowwave.model.codec import to_micros
from slowwave.model.query import Query, Ranked
from slowwave.policy.ranking.score import ASKED, DATE, MEANING, SATURATION
from slowwave.policy.text.features import ParsedQuestion, dates_asked, name_tokens, parse_question
from slowwave.policy.text.tokens import term_id
from slowwave.stores.postgres.half import Half
from slowwave.stores.postgres.search_rows import SEARCH, State, array
from slowwave.stores.postgres.search_sync import SearchSync
from slowwave.stores.search.partial_index import AFTER, BEFORE, CorpusStatistics

POSTINGS: Final = 10_000
"""Words are looked up, the rarest first, until together they occur in so many memories."""

_NO_EMBEDDER: Final = -1
_INSIDE: Final = """((m.conversation = :conversation AND m.kind <> 'note') OR m.key IN (
    SELECT r.fact FROM search_rests r JOIN memories s ON s.id = r.message
    WHERE r.scope = :scope AND s.scope = :scope AND s.conversation = :conversation
))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
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
    question: ParsedQuestion
    dates: Mapping[int, tuple[int, ...]]
    speaker: str | None
    embedder: int | None
    filters: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, token: int, query: Query, names: Sequence[str], embedder: int | None) -> Self:
        """A search of a scope in which these speak."""
        question = parse_question(query.text, name_term_ids(names))
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


def name_term_ids(names: Sequence[str]) -> dict[str, frozenset[int]]:
    """The words of names, each with the numbers of those who bear it."""
    found: dict[str, frozenset[int]] = {}
    for number, name in enumerate(names):
        for word in name_tokens(name):
            found[word] = found.get(word, frozenset()) | {number}
    return found


def to_int64(term: int) -> int:
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
        ("apart", query.except_conversation, "(m.conversation IS NULL OR m.conversation <> :apart)"),
    )
    said = "".join(f" AND {condition}" for _, value, condition in told if value is not None)
    return said, {name: value for name, value, _ in told if value is not None}


def _list(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


LOOKED: Final = 1000
"""So many of the nearest vectors, and so many memories with the most of the words, are looked at."""
SCORED: Final = 80
"""So many of these, by both together, are scored; four for each place if that is more."""
UNNEAR: Final = 300
"""So many where the question has no vector: words alone tell less well apart."""
AROUND: Final = 40
"""Of so many that have the words the messages around them, to which they lend these, are scored too."""

_MAY_NOT: Final = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
_VECTORS: Final = """\
SELECT (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector' AND EXISTS (
        SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('slowwave.search_places') AND attname = 'vector'))
"""


class ServerSearch(SearchSync):
    """Searches a scope of more than `in_ram` memories ever added by candidates from the server; others in RAM.

    Candidates are what is nearest to the question by vector and who speaks (pgvector's exact distance, over vectors that
    hold their context), what has its rarest words, and what is newest. With their neighbours and facts they are scored
    by the same ranking as anywhere, under the statistics of the whole scope, and to the same digit.
    """

    def __init__(self, path: str, *, in_ram: int | None = None, **arguments: Any) -> None:  # noqa: ANN401  # those of the store
        super().__init__(path, **arguments)
        self.in_ram = in_ram
        self._operator: str | None = None

    # ---- what a search of the scope in RAM would say

    def _search_scope(self, scope: str, token: int, query: Query) -> list[Ranked]:
        if query.top_k < 1:
            return []
        if (state := self._at_server(scope, token)) is None:
            return super()._search_scope(scope, token, query)
        with self._one_state():
            names = self._names(token)
            asked = SearchRequest.of(token, query, sorted(names), self._tokens.embedder(query.embedder))
            known = self._known_terms(token, asked)
            originals = {term: of_these for term, (of_these, _) in known.items()}
            keys = self._candidates(token, asked, asked.weights(known, state.originals or 0))
            statistics = CorpusStatistics(
                originals=state.originals or 0,
                words=state.words or 0,
                latest=state.latest or 0,
                speakers=names,
                frequency=originals,
                dims=self._dims(token, asked),
            )
            return self._excerpt(scope, token, keys, statistics).search(query)

    def _wording(self, scope: str, token: int, question: str) -> str:
        if self._at_server(scope, token) is None:
            return super()._wording(scope, token, question)
        return parse_question(question, name_term_ids(sorted(self._names(token)))).wording

    def _frequencies(self, scope: str, token: int) -> tuple[Callable[[str], int], int]:
        if (state := self._at_server(scope, token)) is None:
            return super()._frequencies(scope, token)

        def frequency(stem: str) -> int:
            with self._guard:
                self._readable([scope])
                rows = self._all(SEARCH["terms"], (token, array([to_int64(term_id(stem))])))
            return rows[0][1] if rows else 0

        return frequency, state.originals or 0

    def _speakers(self, scope: str, token: int) -> frozenset[str]:
        if self._at_server(scope, token) is None:
            return super()._speakers(scope, token)
        return self._names(token)

    def _at_server(self, scope: str, token: int) -> State | None:
        """How the scope stands, all of it taken in, if it is too large for RAM and the server can search it."""
        self._readable([scope])  # another one may have been taken in meanwhile
        held = self._indexes.get(token)
        if self.in_ram is None or (held is not None and len(held.index) <= self.in_ram):
            return None
        if self._state_of(token).given <= self.in_ram:
            return None
        if self._operator is None:
            schema = self._one(_VECTORS, ())[0]
            self._operator = f"OPERATOR({schema}.<#>)" if schema else ""
        if not self._operator:
            return None
        try:
            state = self._taken_in(scope, token)
        except _MAY_NOT:  # a standby, or a login that only reads: RAM is what it has
            self._readable([scope])
            return None
        with self._searching:
            self._indexes.pop(token)
        return state

    # ---- candidates

    def _known_terms(self, token: int, asked: SearchRequest) -> dict[int, tuple[int, int]]:
        """In how many originals, and in how many memories, each term of the question occurs."""
        terms = array(map(to_int64, asked.terms))
        rows = self._all(SEARCH["terms"], (token, terms)) if asked.terms else []
        return {term % (1 << 64): (originals, memories) for term, originals, memories in rows}

    def _dims(self, token: int, asked: SearchRequest) -> dict[str, int]:
        """The length of the question's vector, if the scope has any of its embedder."""
        query = asked.query
        if query.vector is None or query.embedder is None or asked.embedder is None:
            return {}
        return {query.embedder: len(query.vector)} if self._one(SEARCH["embedded"], (token, asked.embedder))[0] else {}

    def _candidates(self, token: int, asked: SearchRequest, weights: Mapping[int, float]) -> set[int]:
        """The keys of what may answer best: messages and facts, with all facts on these, and all that these rest on."""
        if asked.query.allowed is not None and len(asked.query.allowed) <= LOOKED:
            everything = f"SELECT m.key FROM memories m WHERE m.scope = :scope{asked.filters}"  # noqa: S608  # our own words
            found = set(self._keys(everything, asked.values))
        else:
            found = self._best(token, asked, weights)
        found.update(self._keys(SEARCH["rested_on"], (token, array(found))))
        return {*found, *self._keys(SEARCH["resting"], (token, array(found)))}

    def _best(self, token: int, asked: SearchRequest, weights: Mapping[int, float]) -> set[int]:
        """The best by words and by vectors, what stands around those with the words, who is asked about, and the newest."""
        worded, near, who = self._by_words(asked, weights), self._by_vectors(asked), self._by_who(token, asked)
        wanted = max(SCORED if near else UNNEAR, 4 * asked.query.top_k)
        # Where others have a vector, words stand for what a memory without one may mean.
        worded |= {key: score * (1.0 + MEANING) for key, score in worded.items() if near and key in who}
        if near and (missing := worded.keys() - near.keys() - who.keys()):
            near |= self._by_vectors(asked, missing)
        near |= who
        both = near | {key: score + near.get(key, 0.0) for key, score in worded.items()}
        most = nlargest(AROUND, worded, key=both.__getitem__)
        return {
            *nlargest(wanted, both, key=both.__getitem__),
            *most,
            *self._around(token, most, AFTER, BEFORE),
            *islice(who, SCORED),
            *self._newest(asked),
        }

    def _by_vectors(self, asked: SearchRequest, keys: Collection[int] | None = None) -> dict[int, float]:
        """What the nearest vectors score without words, the best first; or what these memories score."""
        vector = asked.query.vector
        if vector is None or asked.embedder is None:
            return {}
        within = asked.within if keys is None else " AND p.key = ANY (CAST(:keys AS bigint[]))"
        statement = (
            f"SELECT p.key, :meaning * (p.vector {self._operator} :vector) - p.prior - {asked.bonus} "  # noqa: S608  # our own words
            f"FROM search_places p WHERE p.scope = :scope AND p.embedder = :embedder AND p.{asked.seen}{within} "
            "ORDER BY 2 LIMIT :wanted"
        )
        values = {
            **asked.values,
            "meaning": MEANING,
            "vector": Half.of(vector),
            "wanted": LOOKED,
            "keys": array(keys or ()),
        }
        found: dict[int, float] = {}
        for key, negative in self._all(statement, values):
            found.setdefault(key, -negative)  # a long text has several, the best first
        return found

    def _by_words(self, asked: SearchRequest, weights: Mapping[int, float]) -> dict[int, float]:
        """What the memories with the most of the words score for these alone, the best first; a day counts once."""
        if not weights:
            return {}
        statement = (
            "SELECT x.key, x.weight FROM (SELECT p.key, coalesce(sum(w.weight) FILTER (WHERE NOT w.dated), 0) "  # noqa: S608  # our own words
            "+ coalesce(max(w.weight) FILTER (WHERE w.dated), 0) AS weight FROM search_postings p "
            "JOIN unnest(CAST(:terms AS bigint[]), CAST(:weights AS double precision[]), CAST(:dated AS boolean[])) "
            "AS w (term, weight, dated) ON w.term = p.term "
            f"WHERE p.scope = :scope AND p.term = ANY (CAST(:terms AS bigint[])){asked.within} "
            "GROUP BY p.key ORDER BY weight DESC, p.key DESC LIMIT 4 * :wanted) x "
            f"WHERE EXISTS (SELECT 1 FROM search_places s WHERE s.scope = :scope AND s.key = x.key AND s.{asked.seen}) "
            "ORDER BY x.weight DESC, x.key DESC LIMIT :wanted"
        )
        values = {
            **asked.values,
            "terms": array(map(to_int64, weights)),
            "weights": [*weights.values()],
            "dated": [term in asked.dates for term in weights],
            "wanted": LOOKED,
        }
        return dict(self._all(statement, values))

    def _by_who(self, token: int, asked: SearchRequest) -> dict[int, float]:
        """What those memories score that have no vector of the question's embedder, without words, the best first."""
        if asked.embedder and set(self._one(SEARCH["embedders"], {"scope": token})) <= {asked.embedder, None}:
            return {}
        statement = (
            f"SELECT p.key, p.prior + {asked.bonus} FROM search_places p WHERE p.scope = :scope AND p.part <= 0 "  # noqa: S608  # our own words
            f"AND p.embedder <> :embedder AND p.{asked.seen}{asked.within} ORDER BY 2 DESC, 1 DESC LIMIT :wanted"
        )
        return dict(self._all(statement, {**asked.values, "wanted": LOOKED}))

    def _newest(self, asked: SearchRequest) -> list[int]:
        statement = (
            f"SELECT p.key FROM search_places p WHERE p.scope = :scope AND p.{asked.seen}{asked.within} "  # noqa: S608  # our own words
            "ORDER BY p.key DESC LIMIT :wanted"
        )
        return self._keys(statement, {**asked.values, "wanted": 2 * asked.query.top_k})
