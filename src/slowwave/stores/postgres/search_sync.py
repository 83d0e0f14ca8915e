"""Synchronises the derived search tables of the server with the journal, in batches."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from slowwave.model.codec import from_micros, to_micros
from slowwave.policy.text.features import date_keys
from slowwave.stores.postgres.half import Half
from slowwave.stores.postgres.search_rows import LAYOUT, FactRow, MessageRow, SearchRowReader, State, array
from slowwave.stores.search.partial_index import AFTER, BEFORE, CorpusStatistics, PartialIndex
from slowwave.stores.sql import bounds

BATCH: Final = 500
"""Memories of one transaction; writers of the scope wait for it."""
_TABLES: Final = ("state", "taken", "places", "postings", "terms", "rests", "talks", "speakers")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedRows:
    """The derived values of a memory that are counted over the scope."""

    words: int
    original: bool
    at: int
    terms: frozenset[int]


_NOTHING: Final = SyncedRows(words=0, original=False, at=0, terms=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCursor:
    """The derived values of a memory as it is now, and the checksums that show a later change of its entry."""

    taken: SyncedRows
    entry: int
    gist: int | None


class SearchSync(SearchRowReader):
    """Synchronises the derived search tables. Its commits do not wait for the disk: the tables can be rebuilt."""

    def _taken_in(self, scope: str, token: int) -> State:
        """Bring the search tables of a scope up to date. Returns the state that they have then."""
        after, since = bounds(token)[0], -1
        while (state := self._held_state(token)).left:
            if state.reindexed != since:  # entries changed meanwhile: all are compared again
                after, since = bounds(token)[0], state.reindexed
            with self._transaction(scope):
                self._db.execute("SELECT set_config('synchronous_commit', 'off', true)")
                after = self._step(scope, token, after, since)
            self._readable([scope])  # the visible scopes end with a transaction
        return state

    def _held_state(self, token: int) -> State:
        with self._one_state():  # later reads see the same committed state
            return self._state_of(token)

    def _step(self, scope: str, token: int, after: int, since: int) -> int:
        """Synchronise one batch in a transaction. Returns the key up to which the entries were compared."""
        state, (low, high) = self._state_of(token), bounds(token)
        if state.layout != LAYOUT:
            for table in _TABLES:
                self._db.execute(f"DELETE FROM search_{table} WHERE scope = $1", (token,))  # noqa: S608  # constants
            self._db.run("search_begin", (token, LAYOUT, state.journal))
        elif state.indexed != state.reindexed:
            keys = self._keys("search_differing", {"scope": token, "after": after, "high": high, "limit": BATCH})
            self._take(scope, token, keys)
            if len(keys) == BATCH:
                return keys[-1]
            self._db.run("search_stand", (state.until, since, token))
        elif state.stale:
            self._take(scope, token, self._keys("search_stale", (token, BATCH)))
        else:
            self._follow(scope, token, state)
        return low

    def _follow(self, scope: str, token: int, state: State) -> None:
        """Derive the rows of the next entries of the journal."""
        place = {"scope": token, "after": state.until, "last": state.journal, "limit": BATCH}
        rows = self._all("search_journal", place)
        worded = {key for _, key, message, words in rows if key is not None and (words or not message)}
        posed = {key for _, key, _, _ in rows if key is not None} - worded
        if posed:
            worded |= {*self._keys("search_with_gist", (token, array(posed)))}
            self._db.run("search_repose", (token, array(posed - worded)))
        self._take(scope, token, sorted(worded))
        until = rows[-1][0] if len(rows) == BATCH else state.journal
        self._db.run("search_stand", (until, state.indexed, token))

    def _take(self, scope: str, token: int, keys: Sequence[int]) -> None:
        """Derive the rows of these memories, and again those of the messages whose context they are part of."""
        if not keys:
            return
        before = self._known(token, keys)
        near = self._around(token, keys, AFTER, BEFORE - 1, "search_around_indexed")
        resting = self._keys("search_resting", (token, array(keys)))
        again = {*keys, *self._known(token, {*near, *resting})}
        messages, facts = self._messages(token, again), self._facts(scope, token, again)
        wanted = frozenset(keys)
        self._count_messages(token, [one for one in messages if one.key in wanted and one.key not in before])
        excerpt = self._excerpt(scope, token, again, CorpusStatistics(speakers=self._names(token)))
        numbers = {one.id: one.key for one in messages} | {one.memory.id: one.key for one in facts}
        self._put_places(token, again, numbers, excerpt)
        gists = dict(self._all("search_gist_checksums", (token, array(keys))))
        now = {one.key: _read_message(one, gists.get(one.key)) for one in messages if one.key in wanted}
        facts = [one for one in facts if one.key in wanted]
        now |= {one.key: _read_fact(one) for one in facts}
        self._put(token, before, now)
        self._put_rests(token, keys, facts)

    def _known(self, token: int, keys: Collection[int]) -> dict[int, SyncedRows]:
        return {
            key: SyncedRows(words=words, original=original, at=at, terms=frozenset(terms))
            for key, words, original, at, terms in (self._all("search_taken", (token, array(keys))) if keys else ())
        }

    def _count_messages(self, token: int, messages: Sequence[MessageRow]) -> None:
        """Count new messages by speaker and by conversation."""
        spoken = Counter(one.named for one in messages if one.named)
        if not spoken.keys() <= self._names(token):
            self._db.run("search_mark_subjects_stale", {"scope": token})
        for name, number in sorted(spoken.items()):
            self._db.run("search_count_speaker", (token, name, number))
        talks: dict[str, list[MessageRow]] = {}
        for one in messages:
            talks.setdefault(one.conversation, []).append(one)
        known = self._talks(token, messages, ())
        for name, own in sorted(talks.items()):
            named, assisted = sum(bool(one.named) for one in own), sum(one.assisted for one in own)
            was = known.get(name, (False, False))
            now = was[0] or named > 0, was[1] or assisted > 0
            if name in known and _among_people(*was) != _among_people(*now):
                self._db.run("search_mark_conversation_stale", {"scope": token, "name": name})
            self._db.run("search_count_talk", (token, name, len(own), named, assisted))

    def _put_places(self, token: int, keys: Iterable[int], numbers: Mapping[str, int], excerpt: PartialIndex) -> None:
        self._db.run("search_cut_places", (token, array(keys)))
        rows = [
            (
                *(token, numbers[one.id], one.part, self._tokens.embedder(one.embedder)),
                *(one.hot, one.open, one.speaker, one.by_user, one.prior, one.cues),
                None if one.vector is None else Half.of(one.vector),
            )
            for one in excerpt.places(numbers)
        ]
        self._db.run_many("search_add_place", rows)

    def _put(self, token: int, before: Mapping[int, SyncedRows], now: Mapping[int, SyncCursor]) -> None:
        """Write postings, and the counts over the scope."""
        gone: list[tuple[int, int]] = []
        come: list[tuple[int, int]] = []
        memories, originals = Counter[int](), Counter[int]()
        many, words = 0, 0
        for key in {*before, *now}:
            old, new = before.get(key, _NOTHING), now[key].taken if key in now else _NOTHING
            gone += [(term, key) for term in old.terms - new.terms]
            come += [(term, key) for term in new.terms - old.terms]
            for taken, sign in ((old, -1), (new, 1)):
                memories.update(dict.fromkeys(taken.terms, sign))
                if taken.original:
                    originals.update(dict.fromkeys(taken.terms, sign))
                    many, words = many + sign, words + sign * taken.words
        if gone:
            self._db.run("search_cut_postings", (*map(array, zip(*gone, strict=True)), token))
        if come:
            self._db.run("search_add_postings", (token, *map(array, zip(*come, strict=True))))
        if moved := sorted(term for term in memories if memories[term] or originals[term]):
            counts = (array(number[term] for term in moved) for number in (memories, originals))
            self._db.run("search_count_terms", (token, array(moved), *counts))
            if gone:
                self._db.run("search_cut_terms", (token, array(moved)))
        latest = max((read.taken.at for read in now.values()), default=None)
        self._db.run("search_count", (many, words, latest, token))
        self._put_taken(token, before, now)

    def _put_taken(self, token: int, before: Mapping[int, SyncedRows], now: Mapping[int, SyncCursor]) -> None:
        rows = [
            (
                token,
                key,
                read.entry,
                read.gist,
                read.taken.words,
                read.taken.original,
                read.taken.at,
                array(sorted(read.taken.terms)),
            )
            for key, read in now.items()
        ]
        self._db.run_many("search_take", rows)
        if lost := [key for key in before if key not in now]:
            self._db.run("search_leave_out", (token, array(lost)))
        if any(old.at != now[key].taken.at if key in now else True for key, old in before.items()):
            self._db.run("search_recount_latest", {"scope": token})

    def _put_rests(self, token: int, keys: Sequence[int], facts: Sequence[FactRow]) -> None:
        self._db.run("search_cut_rests", (token, array(keys)))
        pairs = [(source.memory, fact.key) for fact in facts for source in fact.memory.sources]
        if pairs:
            ids, owners = zip(*pairs, strict=True)
            self._db.run("search_put_rests", (token, [*ids], array(owners)))


def _among_people(named: bool, assisted: bool) -> bool:  # as the table has them
    """Whether a conversation is one between people."""
    return named and not assisted


def _read_message(message: MessageRow, gist: int | None) -> SyncCursor:
    terms = _terms(message.terms, from_micros(message.at, message.zone))
    taken = SyncedRows(words=message.words, original=True, at=message.at, terms=terms)
    return SyncCursor(taken=taken, entry=message.checksum, gist=gist)


def _read_fact(fact: FactRow) -> SyncCursor:
    memory, at = fact.memory, to_micros(fact.memory.at)
    original = not (memory.sources or memory.members or memory.span)
    taken = SyncedRows(words=fact.entry.words, original=original, at=at, terms=_terms(fact.entry.terms, memory.at))
    return SyncCursor(taken=taken, entry=fact.checksum, gist=None)


def _terms(terms: bytes, at: datetime) -> frozenset[int]:
    """The terms of a text and its day, as signed 64-bit numbers."""
    dates = np.array(date_keys(at), dtype=np.uint64).view(np.int64)
    return frozenset(np.frombuffer(terms, dtype="<i8").tolist()) | frozenset(dates.tolist())
