"""Keys of the server, and the answers to requests that may be repeated: rows that belong to no memory."""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave.model.codec import from_micros, to_micros
from slowwave.stores.connection import StoreBase

if TYPE_CHECKING:
    from slowwave.model.access import AccessKey, StoredAnswer


class AccessRows(StoreBase):
    """Reads and writes keys and answers. Nothing of it is journaled, and `copy` leaves it out."""

    def _key_transaction(self) -> AbstractContextManager[None]:
        """A write transaction on rows that belong to no scope."""
        raise NotImplementedError

    def add_access_key(self, key: "AccessKey", digest: str) -> None:
        """Store a key under the hash of its secret."""
        expires = None if key.expires_at is None else to_micros(key.expires_at)
        rights = ",".join(sorted(key.rights))
        with self._guard, self._key_transaction():
            self._db.run(
                "add_access_key",
                (
                    key.id,
                    digest,
                    key.label,
                    key.prefix,
                    rights,
                    key.trust,
                    to_micros(key.created_at),
                    expires,
                    key.made_by,
                ),
            )

    def access_keys(self) -> "list[AccessKey]":
        """All keys, revoked and expired ones included, the oldest first."""
        with self._guard:
            return [_key(row) for row in self._all("access_keys", ())]

    def access_key(self, digest: str) -> "tuple[AccessKey, str] | None":
        """The key of this hash, and the hash as it is stored; None if there is none."""
        with self._guard:
            row = self._one("access_key", (digest,))
            return None if row is None else (_key(row), str(row[-1]))

    def has_access_keys(self) -> bool:
        """Whether a key was ever made, also if it was revoked since."""
        with self._guard:
            return bool(self._one("any_access_key", ())[0])

    def revoke_access_key(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; False if there is none of this id. The time of an earlier revocation stays."""
        with self._guard, self._key_transaction():
            return self._one("revoke_access_key", (to_micros(at), key_id)) is not None

    def claim_answer(self, scope: str, name: str, claim: "StoredAnswer", oldest: datetime) -> "StoredAnswer | None":
        """Claim a name for a request; None: it is claimed. Otherwise the request that has the name.

        Names that were claimed before `oldest` are free again.
        """
        from slowwave.model.access import StoredAnswer  # noqa: PLC0415 - few requests are repeated

        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            self._db.run("erase_old_answers", (token, to_micros(oldest)))
            values = (token, name, claim.request, claim.holder, to_micros(claim.at))
            if self._one("add_claim", values) is not None:
                return None
            request, holder, at, answer = self._one("answer", (token, name))
            return StoredAnswer(request, holder, from_micros(at), answer)

    def answer(self, scope: str, name: str) -> "StoredAnswer | None":
        """The request that has a name, with its answer; None if none has it, or if an erase has deleted it."""
        from slowwave.model.access import StoredAnswer  # noqa: PLC0415 - few requests are repeated

        with self._guard:
            token = self._tokens.scope(scope)
            row = None if token is None else self._one("answer", (token, name))
            return None if row is None else StoredAnswer(row[0], row[1], from_micros(row[2]), row[3])

    def take_claim(self, scope: str, name: str, claim: "StoredAnswer", former: str) -> bool:
        """Take over the claim of a process that ended before it had an answer; False: another process has taken it."""
        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            values = (claim.request, claim.holder, to_micros(claim.at), token, name, former)
            return self._one("take_claim", values) is not None

    def put_answer(self, scope: str, name: str, holder: str, answer: str | None) -> None:
        """Store the answer of the request that has the name; None: free the name, because nothing was changed.

        Does nothing if an erase has deleted the claim meanwhile.
        """
        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            if answer is None:
                self._db.run("cut_claim", (token, name, holder))
            else:
                self._db.run("put_answer", (answer, token, name, holder))


def _key(row: Any) -> "AccessKey":  # noqa: ANN401 - a row of scalars
    from slowwave.model.access import AccessKey  # noqa: PLC0415 - few processes have keys

    identity, label, prefix, rights, trust, created, expires, revoked, made_by, _ = row
    return AccessKey(
        id=identity,
        label=label,
        prefix=prefix,
        rights=frozenset(rights.split(",")),
        trust=trust,
        created_at=from_micros(created),
        expires_at=None if expires is None else from_micros(expires),
        revoked_at=None if revoked is None else from_micros(revoked),
        made_by=made_by,
    )
