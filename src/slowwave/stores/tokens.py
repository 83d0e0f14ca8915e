"""Maps the names of scopes and embedders to the integers that represent them in keys and rows."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slowwave.model.index_entry import name_and_width

if TYPE_CHECKING:
    from slowwave.stores.connection import Connection

SCOPES_CACHED: Final = 10_000
"""How many scopes a cache of tokens holds, about 2 MB; a full one is emptied. A missing token is one index read."""


@dataclass(slots=True)
class Tokens:
    """A cache of the tokens that represent scopes and embedders in keys and rows."""

    db: "Connection"
    scopes: MutableMapping[str, int]
    embedders: MutableMapping[str, int]

    def scope(self, path: str) -> int | None:
        """The token of a scope, or None if nothing was stored in it."""
        if path not in self.scopes:
            found = self.db.run("scope_token", {"path": path}).get
            if found is None:
                return None
            if len(self.scopes) >= SCOPES_CACHED:
                self.scopes.clear()
            self.scopes[path] = found
        return self.scopes[path]

    def new_scope(self, path: str) -> int:
        """The token of a scope, created if it is new. Call it inside a transaction."""
        token = self.scope(path)
        if token is None:
            token = self.scopes[path] = self.db.run("add_scope", (path,)).get
        return token

    def embedder(self, name: str | None) -> int | None:
        """The token of a fingerprint, 0 for no embedder, or None if no vector of it was stored."""
        if name is None:
            return 0
        if name not in self.embedders:
            found = self.db.run("embedder_token", (name,)).get
            if found is None:
                return None
            self.embedders[name] = found
        return self.embedders[name]

    def new_embedder(self, name: str | None) -> int:
        """The token of an embedder, created if it is new. Call it inside a transaction."""
        token = self.embedder(name)
        if token is None:
            token = self.embedders[str(name)] = self.db.run("add_embedder", (name,)).get
            if token > 1:
                self.db.run("tell_embedders_apart")
        return token

    def widths(self, name: str) -> dict[int, int]:
        """The tokens of the fingerprints of an embedder, oldest first, with the widths of their vectors."""
        named = ((name_and_width(fingerprint), token) for token, fingerprint in self.db.run("embedders", ()))
        return {token: width or 0 for (owner, width), token in sorted(named, key=lambda pair: pair[1]) if owner == name}

    def forget(self) -> None:
        """Empty the cache after a rollback, which also removed the tokens created in the transaction."""
        self.scopes.clear()
        self.embedders.clear()
