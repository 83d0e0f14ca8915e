"""Searches a scope in Postgres: candidates by vector and by rare words."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from string import Formatter
from typing import Any, Final, Self

from psycopg import errors

from slowwave.model.codec import to_micros
from slowwave.model.query import Query, Ranked
from slowwave.policy.ranking.score import ADVICE, ASKED, DATE, MEANING, SATURATION
from slowwave.policy.text.features import ParsedQuestion, dates_asked, name_tokens, parse_question
from slowwave.policy.text.rarity import rarity
from slowwave.policy.text.tokens import term_id
from slowwave.stores.postgres.half import Half
from slowwave.stores.postgres.search_rows import State, array
from slowwave.stores.postgres.search_sync import SearchSync
from slowwave.stores.postgres.statements import DIALECT
from slowwave.stores.search.partial_index import AFTER, BEFORE, CorpusStatistics
from slowwave.stores.where_clause import Parameters

POSTINGS: Final = 10_000
"""Words are looked up in the order of their rarity until together they occur in so many memories."""

_NO_EMBEDDER: Final = -1
_IN_CONVERSATION: Final = """((m.conversation = {conversation} AND m.kind <> 'note') OR m.key IN (
    SELECT r.fact FROM search_rests r JOIN memories s ON s.id = r.message
    WHERE r.scope = {scope} AND s.scope = {scope} AND s.conversation = {conversation}
))"""
"""A memory of a conversation, or a fact that rests on one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search of one scope at the server.

    Attributes:
        query, question: the query and its parsed text.
        dates: the terms of the days that its words may mean, each with these words.
        speaker: the name of the speaker that the question asks about, or None.
        embedder: the token of the embedder of its vector, or None if no vector of it was ever stored.
        filters: further conditions on memories `m`, each with the names of its values in braces.
        values: the values of its conditions and parts by name.
    """

    query: Query
    question: ParsedQuestion
    dates: Mapping[int, tuple[int, ...]]
    speaker: str | None
    embedder: int | None
    filters: tuple[str, ...]
    values: Mapping[str, Any]

    @classmethod
    def of(cls, token: int, query: Query, names: Sequence[str], embedder: int | None) -> Self:
        """A search of a scope with speakers of these names."""
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
        """The column that is true for the rows that are searched."""
        return "open" if self.query.deep else "hot"

    def parameters(self, **values: object) -> Parameters:
        """The placeholders of a statement with these values besides its own."""
        return Parameters(DIALECT.mark, {**self.values, **values})

    def memories(self, parameters: Parameters) -> str:
        """The query of the keys of the memories that meet the filters."""
        place = parameters.place
        conditions = [f"m.scope = {place('scope')}"]
        for condition in self.filters:
            names = {name: place(name) for _, name, _, _ in Formatter().parse(condition) if name}
            conditions.append(condition.format(**names))
        return f"SELECT m.key FROM memories m WHERE {' AND '.join(conditions)}"  # noqa: S608  # constants only

    def within(self, parameters: Parameters) -> str:
        """The filters as a condition on a place or a posting `p`, " AND " before it."""
        return f" AND p.key IN ({self.memories(parameters)})" if self.filters else ""

    def bonus(self, parameters: Parameters) -> str:
        """What is added to the score of a place `p` for its speaker, and for what a request wants of the user."""
        place, wanted = parameters.place, self.question.wanted
        bonus = "0.0"
        if self.speaker is not None:
            bonus = f"CASE WHEN p.speaker = {place('speaker')} THEN {place('asked')} ELSE 0.0 END"
        elif self.question.of_user:
            bonus = f"CASE WHEN p.by_user THEN {place('asked')} ELSE 0.0 END"
        worth = sorted(((weight, bit) for bit, weight in ADVICE.items() if wanted & bit), reverse=True)
        if worth:
            cases = " ".join(f"WHEN p.cues & {bit} <> 0 THEN {weight}" for weight, bit in worth)
            bonus += f" + CASE WHEN NOT p.by_user THEN 0.0 {cases} ELSE 0.0 END"
        return f"({bonus})"

    @property
    def terms(self) -> set[int]:
        """The terms of its words, and of the days that they may mean."""
        return {*self.question.terms, *self.dates}

    def weights(self, known: Mapping[int, tuple[int, int]], count: int) -> dict[int, float]:
        """The weights of its rarest words and of the days that they may mean: shares of its information.

        Args:
            known: in how many originals and in how many memories a term occurs.
            count: how many originals there are.
        """
        terms = self.question.terms
        often = {term: known.get(term, (0, 0))[0] for term in terms}
        idf = {term: rarity(count, often[term]) for term in terms}
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
    """The words of names, each with the numbers of the names that contain it."""
    found: dict[str, frozenset[int]] = {}
    for number, name in enumerate(names):
        for word in name_tokens(name):
            found[word] = found.get(word, frozenset()) | {number}
    return found


def to_int64(term: int) -> int:
    """A term as a signed 64-bit number."""
    return term - (1 << 64) if term >= 1 << 63 else term


def _filters(query: Query) -> tuple[tuple[str, ...], dict[str, Any]]:
    conditions = (
        ("kinds", _list(query.kinds), "m.kind = ANY (CAST({kinds} AS text[]))"),
        ("categories", _list(query.categories), "m.category = ANY (CAST({categories} AS text[]))"),
        ("allowed", _list(query.allowed), "m.id = ANY (CAST({allowed} AS text[]))"),
        ("since", query.since and to_micros(query.since), "m.valid_from >= {since}"),
        ("until", query.until and to_micros(query.until), "m.valid_from <= {until}"),
        ("conversation", query.conversation, _IN_CONVERSATION),
        ("apart", query.except_conversation, "(m.conversation IS NULL OR m.conversation <> {apart})"),
    )
    used = [(name, value, condition) for name, value, condition in conditions if value is not None]
    return tuple(condition for _, _, condition in used), {name: value for name, value, _ in used}


def _list(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


LOOKED: Final = 1000
"""The number of nearest vectors, and of memories with the most of the words, that are candidates."""
SCORED: Final = 80
"""The number of candidates that are scored, by both together; four for each wanted hit if that is more."""
UNNEAR: Final = 300
"""The number of candidates that are scored if the question has no vector: the server's order is less exact."""
AROUND: Final = 40
"""The number of candidates with the words of which the neighbouring messages are scored too."""

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

    # ---- the search of a scope, as in RAM

    def _search_scope(self, scope: str, token: int, query: Query) -> list[Ranked]:
        if query.top_k < 1:
            return []
        if (state := self._at_server(scope, token)) is None:
            return super()._search_scope(scope, token, query)
        with self._one_state():
            names = self._names(token)
            request = SearchRequest.of(token, query, sorted(names), self._tokens.embedder(query.embedder))
            known = self._known_terms(token, request)
            originals = {term: of_these for term, (of_these, _) in known.items()}
            keys = self._candidates(token, request, request.weights(known, state.originals or 0))
            statistics = CorpusStatistics(
                originals=state.originals or 0,
                words=state.words or 0,
                latest=state.latest or 0,
                speakers=names,
                frequency=originals,
                dims=self._dims(token, request),
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
                rows = self._all("search_terms", (token, array([to_int64(term_id(stem))])))
            return rows[0][1] if rows else 0

        return frequency, state.originals or 0

    def _speakers(self, scope: str, token: int) -> frozenset[str]:
        if self._at_server(scope, token) is None:
            return super()._speakers(scope, token)
        return self._names(token)

    def prepare_search(self, scope: str) -> None:
        """Bring the search tables of a scope that is too large for RAM up to date."""
        with self._turn((scope,)), self._guard:
            for path, token in self._readable((scope,)):
                self._at_server(path, token)

    def _at_server(self, scope: str, token: int) -> State | None:
        """The state of the synchronised scope if it is too large for RAM and the server can search it, else None."""
        self._readable([scope])  # the transaction that made it visible may have ended
        with self._cache_lock:
            held = self._indexes.get(token)
        if self.in_ram is None or (held is not None and len(held.index) <= self.in_ram):
            return None
        if self._state_of(token).given <= self.in_ram:
            return None
        if self._operator is None:
            schema = self._db.execute(_VECTORS).get
            self._operator = f"OPERATOR({schema}.<#>)" if schema else ""
        if not self._operator:
            return None
        try:
            state = self._taken_in(scope, token)
        except _MAY_NOT:  # a standby, or a login that only reads, searches in RAM
            self._readable([scope])
            return None
        with self._cache_lock:
            self._indexes.pop(token)
        return state

    # ---- candidates

    def _known_terms(self, token: int, request: SearchRequest) -> dict[int, tuple[int, int]]:
        """The numbers of originals and of memories in which each term of the question occurs."""
        terms = array(map(to_int64, request.terms))
        rows = self._all("search_terms", (token, terms)) if request.terms else []
        return {term % (1 << 64): (originals, memories) for term, originals, memories in rows}

    def _dims(self, token: int, request: SearchRequest) -> dict[str, int]:
        """The length of the question's vector, if the scope has any of its embedder."""
        query = request.query
        if query.vector is None or query.embedder is None or request.embedder is None:
            return {}
        return {query.embedder: len(query.vector)} if self._one("search_embedded", (token, request.embedder))[0] else {}

    def _candidates(self, token: int, request: SearchRequest, weights: Mapping[int, float]) -> set[int]:
        """The keys of the candidates: messages and facts, the facts that rest on them, and what they rest on."""
        if request.query.allowed is not None and len(request.query.allowed) <= LOOKED:
            parameters = request.parameters()
            found = {key for (key,) in self._rows(request.memories(parameters), parameters)}
        else:
            found = self._best(token, request, weights)
        found.update(self._keys("search_rested_on", (token, array(found))))
        return {*found, *self._keys("search_resting", (token, array(found)))}

    def _rows(self, statement: str, parameters: Parameters) -> list[Any]:
        return self._db.execute(statement, parameters.values).fetchall()

    def _best(self, token: int, request: SearchRequest, weights: Mapping[int, float]) -> set[int]:
        """The best by words and by vectors, the neighbours of those with the words, the speaker's, and the newest."""
        worded, near, who = self._by_words(request, weights), self._by_vectors(request), self._by_who(token, request)
        wanted = max(SCORED if near else UNNEAR, 4 * request.query.top_k)
        # If others have a vector, the words of a memory without one also count for its meaning.
        worded |= {key: score * (1.0 + MEANING) for key, score in worded.items() if near and key in who}
        if near and (missing := worded.keys() - near.keys() - who.keys()):
            near |= self._by_vectors(request, missing)
        near |= who
        both = near | {key: score + near.get(key, 0.0) for key, score in worded.items()}
        most = nlargest(AROUND, worded, key=both.__getitem__)
        return {
            *nlargest(wanted, both, key=both.__getitem__),
            *most,
            *self._around(token, most, AFTER, BEFORE),
            *islice(who, SCORED),
            *self._newest(request),
        }

    def _by_vectors(self, request: SearchRequest, keys: Collection[int] | None = None) -> dict[int, float]:
        """The scores of the nearest vectors without words, the best first; or those of these memories."""
        vector = request.query.vector
        if vector is None or request.embedder is None:
            return {}
        parameters = request.parameters(meaning=MEANING, vector=Half.of(vector), wanted=LOOKED, keys=array(keys or ()))
        place = parameters.place
        score = f"{place('meaning')} * (p.vector {self._operator} {place('vector')}) - p.prior - {request.bonus(parameters)}"
        within = request.within(parameters) if keys is None else f" AND p.key = ANY (CAST({place('keys')} AS bigint[]))"
        statement = (
            f"SELECT p.key, {score} FROM search_places p WHERE p.scope = {place('scope')} "  # noqa: S608  # constants only
            f"AND p.embedder = {place('embedder')} AND p.{request.seen}{within} ORDER BY 2 LIMIT {place('wanted')}"
        )
        found: dict[int, float] = {}
        for key, negative in self._rows(statement, parameters):
            found.setdefault(key, -negative)  # a long text has several vectors; the best comes first
        return found

    def _by_words(self, request: SearchRequest, weights: Mapping[int, float]) -> dict[int, float]:
        """The scores of the memories with the most of the words, for words alone, the best first; a day counts once."""
        if not weights:
            return {}
        parameters = request.parameters(
            terms=array(map(to_int64, weights)),
            weights=[*weights.values()],
            dated=[term in request.dates for term in weights],
            wanted=LOOKED,
        )
        place = parameters.place
        scope, terms, wanted = place("scope"), f"CAST({place('terms')} AS bigint[])", place("wanted")
        statement = (
            "SELECT x.key, x.weight FROM (SELECT p.key, coalesce(sum(w.weight) FILTER (WHERE NOT w.dated), 0) "  # noqa: S608  # constants only
            "+ coalesce(max(w.weight) FILTER (WHERE w.dated), 0) AS weight FROM search_postings p "
            f"JOIN unnest({terms}, CAST({place('weights')} AS double precision[]), CAST({place('dated')} AS boolean[])) "
            f"AS w (term, weight, dated) ON w.term = p.term "
            f"WHERE p.scope = {scope} AND p.term = ANY ({terms}){request.within(parameters)} "
            f"GROUP BY p.key ORDER BY weight DESC, p.key DESC LIMIT 4 * {wanted}) x "
            f"WHERE EXISTS (SELECT 1 FROM search_places s WHERE s.scope = {scope} AND s.key = x.key AND s.{request.seen}) "
            f"ORDER BY x.weight DESC, x.key DESC LIMIT {wanted}"
        )
        return dict(self._rows(statement, parameters))

    def _by_who(self, token: int, request: SearchRequest) -> dict[int, float]:
        """The scores without words of the memories that have no vector of the question's embedder, the best first."""
        if request.embedder and set(self._one("search_embedders", {"scope": token})) <= {request.embedder, None}:
            return {}
        parameters = request.parameters(wanted=LOOKED)
        place = parameters.place
        statement = (
            f"SELECT p.key, p.prior + {request.bonus(parameters)} FROM search_places p "  # noqa: S608  # constants only
            f"WHERE p.scope = {place('scope')} AND p.part <= 0 AND p.embedder <> {place('embedder')} "
            f"AND p.{request.seen}{request.within(parameters)} ORDER BY 2 DESC, 1 DESC LIMIT {place('wanted')}"
        )
        return dict(self._rows(statement, parameters))

    def _newest(self, request: SearchRequest) -> list[int]:
        parameters = request.parameters(wanted=2 * request.query.top_k)
        place = parameters.place
        statement = (
            f"SELECT p.key FROM search_places p WHERE p.scope = {place('scope')} "  # noqa: S608  # constants only
            f"AND p.{request.seen}{request.within(parameters)} ORDER BY p.key DESC LIMIT {place('wanted')}"
        )
        return [key for (key,) in self._rows(statement, parameters)]
