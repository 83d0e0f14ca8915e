"""Access to a server: keys with a scope prefix and rights, and the state of a request that may be repeated."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from slowwave.model.memory import Trust

Right: TypeAlias = Literal["read", "write", "review", "erase", "admin"]
RIGHTS: Final[tuple[Right, ...]] = get_args(Right)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey:
    """A key of the server, without its secret.

    Attributes:
        id: by which it is listed and revoked.
        label: what a person calls it.
        prefix: the scopes that it opens: this path and those below it; "" opens all scopes of the store.
        rights: "read", "write", "review" (what waits for review), "erase" and "admin" (keys; it includes all others).
        trust: the ceiling of what is written with it, as in `AgentMemory.trusting`.
        created_at: when it was made.
        expires_at: until when it opens anything; None: until it is revoked.
        revoked_at: since when it opens nothing; None: it was not revoked.
        made_by: the id of the key with which it was made; None: it was made at the store itself.
    """

    id: str
    label: str
    prefix: str
    rights: frozenset[Right]
    trust: Trust
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    made_by: str | None = None

    def is_valid(self, now: datetime) -> bool:
        """Whether it opens anything at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def may(self, right: Right) -> bool:
        """Whether it has a right."""
        return right in self.rights or "admin" in self.rights

    def reaches(self, scope: str) -> bool:
        """Whether it opens a scope.

        >>> at = datetime(2026, 1, 1)
        >>> key = AccessKey(id="a", label="", prefix="acme", rights=frozenset({"read"}), trust="user", created_at=at)
        >>> key.reaches("acme"), key.reaches("acme/alice"), key.reaches("acme2")
        (True, True, False)
        """
        return not self.prefix or scope == self.prefix or scope.startswith(f"{self.prefix}/")

    def __str__(self) -> str:
        rights = ", ".join(right for right in RIGHTS if right in self.rights)
        until = f", until {self.expires_at:%Y-%m-%d %H:%M}" if self.expires_at else ""
        revoked = f", revoked {self.revoked_at:%Y-%m-%d %H:%M}" if self.revoked_at else ""
        trust = "" if self.trust == "user" else f", trust {self.trust}"
        return f"{self.label}: {self.prefix or 'all scopes'}, {rights}{trust}{until}{revoked} · {self.id}"


def made_with(keys: Iterable[AccessKey], key_id: str) -> list[AccessKey]:
    """The keys that were made with a key, and with these, in the order of `keys`.

    >>> at = datetime(2026, 1, 1)
    >>> def key(id: str, made_by: str | None = None) -> AccessKey:
    ...     return AccessKey(id=id, label="", prefix="", rights=frozenset(), trust="user", created_at=at, made_by=made_by)
    >>> [one.id for one in made_with([key("a"), key("b", "a"), key("c", "b"), key("d")], "a")]
    ['b', 'c']
    """
    known, found = list(keys), {key_id}
    while more := {key.id for key in known if key.made_by in found} - found:
        found |= more
    return [key for key in known if key.id in found - {key_id}]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that was just made, and its secret, which is shown this once: the store has only its hash."""

    key: AccessKey
    secret: str

    def __repr__(self) -> str:
        return f"<NewKey {self.key.id} {self.key.label!r}>"


class StoredAnswer(NamedTuple):
    """A request that was made under a name before.

    Attributes:
        request: the fingerprint of the request.
        holder: the process that carries it out, or did.
        at: when it began.
        answer: its answer; None: it is being carried out.
    """

    request: str
    holder: str
    at: datetime
    answer: str | None
