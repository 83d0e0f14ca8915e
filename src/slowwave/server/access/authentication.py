"""Authenticates requests: finds the key of a request, and opens the memories that the key may use."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError, SettingsError
from slowwave.model.access import RIGHTS, AccessKey, Right
from slowwave.model.memory import Memory
from slowwave.model.scope import DEFAULT_SCOPE, Scope, checked_scope, names_of
from slowwave.server.access.errors import ForbiddenError, UnauthorizedError
from slowwave.whole_store import Slowwave

SCHEMES: Final = ("bearer", "token")
"""Schemes of the header Authorization: that of HTTP, and that of mem0's clients."""
READING: Final[frozenset[Right]] = frozenset({"read", "review"})
"""Rights that a read-only server leaves; `release` and `reject` also need "write"."""
_LOCAL: Final = AccessKey(
    id="local",
    label="this machine",
    prefix="",
    rights=frozenset(RIGHTS),
    trust="user",
    created_at=datetime.fromtimestamp(0, UTC),
)
"""What a request without a key may do while the store has no key: everything. Only a loopback address is bound then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of one request: a key, and the store in which it opens some scopes.

    Attributes:
        store: the open store.
        key: the key of the request.
        read_only: whether the server refuses every write.
    """

    store: Slowwave
    key: AccessKey
    read_only: bool = False

    def may(self, right: Right) -> bool:
        """Whether the request may use a right."""
        return self.key.may(right) and (right in READING or not self.read_only)

    def require(self, *rights: Right) -> None:
        """Raise ForbiddenError unless the request has all these rights."""
        for right in rights:
            if self.read_only and right not in READING:
                raise ForbiddenError(f"this server is read-only: it does nothing that needs the right {right!r}")
            if not self.key.may(right):
                raise ForbiddenError(f"this key does not have the right {right!r}: use a key that has it")

    def check_scope(self, scope: str) -> str:
        """The checked path of a scope that the key opens.

        Raises:
            InputError: it is not a path.
            ForbiddenError: the key does not open it. The error is the same whether or not the scope exists.
        """
        path = checked_scope(scope)
        if not self.key.reaches(path):
            raise ForbiddenError(f"this key opens {self.key.prefix!r} and the scopes below it, not {path!r}")
        return path

    def check_key(self, key_id: str) -> None:
        """Raise NotFoundError unless there is a key of this id whose scopes the present key opens too."""
        if not any(key.id == key_id and self.key.reaches(key.prefix) for key in self.store.list_keys()):
            raise NotFoundError(f"no key {key_id!r} among those that this key may manage")

    def is_admitted(self, now: datetime) -> bool:
        """Whether the key is valid at this time. A request may last for hours, and its key be revoked meanwhile."""
        if self.key is _LOCAL:
            return not self.store.has_keys()
        return any(key.id == self.key.id and key.is_valid(now) for key in self.store.list_keys())

    def find(self, memory_id: str, below: str) -> Memory:
        """The memory of an id in the scopes at or below a path, as far as the request may be shown it.

        Raises:
            NotFoundError: none of these scopes has one.
            TrustError: it waits for review or was rejected, and the key lacks the right.
        """
        return self.memory(self.store.find(memory_id, below).scope).get(memory_id)

    @property
    def key_id(self) -> str | None:
        """The id of the key of the request; None without one."""
        return None if self.key is _LOCAL else self.key.id

    def tenant(self, scope: str) -> str:
        """Whose share of jobs, streams and plans a request in a scope counts for."""
        return self.key.prefix or scope

    @property
    def own_scope(self) -> str:
        """The scope of a request that names none: the prefix of the key, else "default"."""
        return self.key.prefix or DEFAULT_SCOPE

    def memory(self, scope: str, *rights: Right) -> AgentMemory:
        """The memory of a scope, for a request that uses these rights.

        Raises:
            InputError: the scope is not a path.
            ForbiddenError: the key does not have a right, or does not open the scope.
        """
        path = self.check_scope(scope)
        self.require(*rights)
        memory = self.store.within(Scope(path=path, names=names_of(path), messages=0, facts=0, last_written=None))
        return memory.trusting(self.key.trust, review=self.may("review"))


class Authenticator:
    """Admits requests to an open store.

    Args:
        store: the store.
        read_only: refuse every write.
        always_needs_key: need a key also while the store has none.
    """

    def __init__(self, store: Slowwave, *, read_only: bool = False, always_needs_key: bool = False) -> None:
        self.store = store
        self.read_only = read_only
        self.always_needs_key = always_needs_key

    def caller(self, authorization: str | None) -> Caller:
        """The caller with this header Authorization. The key is looked up in the store at each call.

        Raises:
            UnauthorizedError: it is not a valid key, and one is needed.
        """
        if authorization is None:
            if self.always_needs_key or self.store.has_keys():
                raise UnauthorizedError("a key is needed: send the header `Authorization: Bearer sw_…`")
            return Caller(store=self.store, key=_LOCAL, read_only=self.read_only)
        scheme, _, secret = authorization.partition(" ")
        return self.holder(secret.strip() if scheme.lower() in SCHEMES else "")

    def holder(self, secret: str) -> Caller:
        """The caller with the secret of a key.

        While the store has no key, a client that always sends one is admitted as if it sent none.

        Raises:
            UnauthorizedError: it is not a valid key.
        """
        key = self.store.verify_key(secret) if secret else None
        if key is None and not self.always_needs_key and not self.store.has_keys():
            key = _LOCAL
        if key is None:
            raise UnauthorizedError("this key is unknown, revoked or expired: ask for a new one")
        return Caller(store=self.store, key=key, read_only=self.read_only)


def check_address(store: Slowwave, host: str) -> None:
    """Raise SettingsError for an address that other machines reach while the store has no valid key."""
    now = datetime.now(UTC)
    if not is_loopback(host) and not any(key.is_valid(now) for key in store.list_keys()):
        raise SettingsError(
            f"{host} can be reached by other machines, and the store has no valid key: make one with `add_key`, "
            "or bind 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("a")
    (True, True, True, False, False)
    """
    from ipaddress import ip_address  # noqa: PLC0415 - one use

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
