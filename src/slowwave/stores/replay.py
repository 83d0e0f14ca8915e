"""Checks that the tables of a store equal a replay of its journal, and searches stored texts for erased words."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from random import SystemRandom
from typing import Any

from slowwave.errors import CorruptError
from slowwave.model.codec import COLUMNS, Row, content_key, dumps, loads
from slowwave.model.scope import ScopeName, path_of
from slowwave.policy.text.spellings import Phrase
from slowwave.stores.byte_scan import BytePatterns
from slowwave.stores.journal import Journal, Replayed
from slowwave.stores.reasons import checked_reasons
from slowwave.stores.rows import checked, entry_of, last_key
from slowwave.stores.sql import COPYING, UNNAMED, bounds
from slowwave.stores.stored_texts import stored_texts

_WIDTH = len(COLUMNS)
_FEW = 5
_READ = 5000
_LAST_KEY = 2**63 - 1
_JSON_FIELDS = 3
COUNT_CHECKS = (
    ("without_entry", "{} memories have no search index entry: run `slowwave reembed`"),
    ("lost_entries", "{} index entries belong to no memory"),
    ("nameless", "{} conversations have messages, but are not listed"),
    ("orphans", "{} journal rows belong to no run"),
    (
        "half_copied",
        "{} scopes were copied only in part: run `slowwave copy` again, from the same store, or discard them with "
        "`slowwave copy --give-up`",
    ),
)

SCOPE_COUNTS = tuple((f"{query}_of", words) for query, words in COUNT_CHECKS[:-1])
"""The same counts for one scope; a scope that was copied in part has no path."""


class JournalChecker(Journal):
    """Checks that are the same for both stores."""

    def mentions(self, scope: str, text: str) -> list[str]:
        """Ids of memories of which a field or an earlier version contains the text in any spelling (`policy.text.spellings`)."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            phrase = Phrase(text)
            found: set[str] = set()
            for statement, texts in (("texts_of_memories", _texts_of_row), ("texts_of_changes", _texts_of_change)):
                after, high = bounds(token)
                after -= 1
                while rows := self._all(statement, {"after": after, "high": high, "limit": _READ}):
                    after = last_key(rows, after)
                    fresh = [(str(row[1]), row[2:]) for row in rows if row[1] not in found]
                    found |= {memory for memory, fields in fresh if any(map(phrase.is_in, texts(fields)))}
            return sorted(found)

    def former_bases(self, scope: str) -> dict[str, set[str]]:
        """Ids of the sources and members that earlier versions of a memory had, by its id."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return {}
            low, high = bounds(token)
            found: dict[str, set[str]] = {}
            for memory, payload in self._all("former_bases", {"low": low, "high": high}):
                found.setdefault(str(memory), set()).update(_bases(payload))
            return found

    def _needles(self, texts: Sequence[str], token: int | None = None) -> BytePatterns:
        """Byte patterns of erased texts, plain and JSON-escaped. Texts that a stored memory still contains are skipped.

        Args:
            texts: the erased texts.
            token: the scope whose memories count as stored; None: every scope.
        """
        forms = {text: [form.encode() for form in _written_forms(text)] for text in texts}
        looked = BytePatterns([form for some in forms.values() for form in some])
        held = set(looked.among(self._words_held(token))) if looked.words else set()
        return BytePatterns([form for some in forms.values() if held.isdisjoint(some) for form in some])

    def _words_held(self, token: int | None) -> Iterator[bytes]:
        """The present and earlier texts of all memories of a scope, or of all scopes, in batches."""
        low, high = (1, _LAST_KEY) if token is None else bounds(token)
        for statement in ("words_of_memories", "words_of_changes"):
            last = low - 1
            while rows := self._all(statement, (last, high, _READ)):
                last = last_key(rows, last)
                yield "\n".join(words for _, words in rows).encode("utf-8", "surrogatepass")

    def _problems_of(self, token: int, path: str, *, deep: bool) -> Iterator[str]:
        """The problems of one scope, without reading rows of other scopes."""
        low, high = bounds(token)
        for query, words in SCOPE_COUNTS:
            if number := self._one(query, {"low": low, "high": high})[0]:
                yield f"scope {path}: {words.format(number)}"
        if deep:
            yield from self._differences(token, path)

    def _chosen_scopes(self, scopes: Collection[ScopeName] | int) -> list[tuple[int, str]]:
        """The tokens and paths of these scopes, or of a random sample of so many."""
        known = [(int(token), str(path)) for token, path in self._all("scopes", ()) if not path.startswith(UNNAMED)]
        if isinstance(scopes, int):
            return SystemRandom().sample(known, min(scopes, len(known)))
        wanted = frozenset(map(path_of, scopes))
        return [(token, path) for token, path in known if path in wanted]

    def _differences(self, token: int, path: str) -> Iterator[str]:
        if path.startswith(COPYING):
            return  # a partial copy, which COUNTS reports
        replayed = self._replayed(token)
        low, high = bounds(token)
        damaged, other = [], []
        for row in self._db.run("every_memory", {"low": low, "high": high}):
            values: Any = row
            identity = str(values[0])
            try:
                plain = checked(values)
            except CorruptError:
                damaged.append(identity)
                replayed.rows.pop(identity, None)
                continue
            if replayed.rows.pop(identity, None) != plain or not _keyed(plain, values[_WIDTH]):
                other.append(identity)
        if damaged:
            yield (
                f"scope {path}: {_named(damaged)} damaged in the store: run `slowwave doctor --repair`; if that cannot, "
                "restore a backup"
            )
        if other:
            yield f"scope {path}: {_named(other)} different from the journal"
        if replayed.rows:
            yield f"scope {path}: {_named(list(replayed.rows))} in the journal, but not stored"
        yield from self._damaged_entries(token, path)
        yield from self._damaged_runs(token, path)
        yield from self._differences_beside(token, path, replayed)

    def _damaged_entries(self, token: int, path: str) -> Iterator[str]:
        low, high = bounds(token)
        damaged = []
        for row in self._db.run("every_entry", {"low": low, "high": high}):
            values: Any = row
            try:
                entry_of(None, values[1:-1], values[-1])
            except CorruptError:
                damaged.append(f"index entry {values[0] - low}")
        if damaged:
            yield (
                f"scope {path}: {_named(damaged)} damaged in the store, and can be derived again: run "
                "`slowwave doctor --repair`, then `slowwave reembed`"
            )

    def _damaged_runs(self, token: int, path: str) -> Iterator[str]:
        low, high = bounds(token)
        damaged = []
        for row in self._db.run("every_run", {"low": low, "high": high}):
            try:
                checked_reasons(row)
            except CorruptError:
                damaged.append(f"run {row[2]}")
        if damaged:
            yield (
                f"scope {path}: {_named(damaged)} damaged in the store, and what it did can be replayed: run "
                "`slowwave doctor --repair`, which writes it anew without the reasons that were changed"
            )
        if number := self._one("strays", {"low": low, "high": high})[0]:
            yield f"scope {path}: {number} journal rows are outside of the range of their run: restore a backup"

    def _differences_beside(self, token: int, path: str, replayed: Replayed) -> Iterator[str]:
        links = {
            (source, target, kind): (weight, at)
            for source, target, kind, weight, at in self._all("every_link", (token,))
        }
        cursors = {(name, cursor): seq for name, cursor, seq in self._all("cursors", (token,))}
        held = {row[0] for row in self._all("every_held", (token,))}
        titles = dict(self._all("titles", (token,)))
        for what, stored, journaled in (
            ("links", links, replayed.links),
            ("cursors", cursors, replayed.cursors),
            ("suppressed keys", held, replayed.held),
            ("titles of conversations", titles, replayed.titles),
        ):
            if stored != journaled:
                yield f"scope {path}: the {what} differ from the journal"


def _texts_of_row(fields: Sequence[str | None]) -> Iterator[str]:
    """The texts of a row of `texts_of_memories`, of which the last fields are JSON."""
    yield from (field for field in fields[:-_JSON_FIELDS] if field)
    yield from (text for field in fields[-_JSON_FIELDS:] if field for text in stored_texts(field))


def _texts_of_change(fields: Sequence[str | None]) -> Iterator[str]:
    """The texts of a payload of the journal. The names of an object in it are columns."""
    return (text for field in fields if field for text in stored_texts(field, names=False))


def _bases(payload: str) -> set[str]:
    """The ids of the sources and members before and after a change; none if its row is damaged, which `doctor` reports."""
    try:
        fields = loads(payload)
        sources = {source for source, *_ in _of_versions(fields.get("sources"))}
        return {base for base in (*sources, *_of_versions(fields.get("members"))) if isinstance(base, str)}
    except (ValueError, TypeError, AttributeError):  # other messages can be erased all the same
        return set()


def _of_versions(versions: Sequence[str | None] | None) -> Iterator[Any]:
    """The items of a column before and after a change, as a payload of the journal holds the two lists."""
    return (item for version in versions or () if version for item in loads(version))


def _written_forms(text: str) -> Iterable[str]:
    """A text as tables hold it: as it is, as JSON, and as JSON in a JSON text, as the journal holds metadata."""
    once = dumps(text)[1:-1]
    return dict.fromkeys((text, once, dumps(once)[1:-1]))


def _keyed(row: Row, content: object) -> bool:
    return content is None or content == content_key(str(row[COLUMNS.index("text")]))


def _named(ids: list[str]) -> str:
    shown = ", ".join(ids[:_FEW]) + (f" and {len(ids) - _FEW} more" if len(ids) > _FEW else "")
    return f"{shown} {'is' if len(ids) == 1 else 'are'}"
