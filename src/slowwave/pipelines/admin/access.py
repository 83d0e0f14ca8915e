"""Makes, verifies and revokes keys of the server, and answers a repeated request with the answer of the first."""

import hmac
from base64 import b32encode
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_bytes
from typing import Final

from slowwave.errors import ConflictError, InputError, NotFoundError, ReusedNameError, shown
from slowwave.log import Log
from slowwave.model.access import RIGHTS, AccessKey, NewKey, Right, StoredAnswer, made_with
from slowwave.model.names import checked_id, checked_name, texts_of
from slowwave.model.scope import checked_scope
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.sleep.lease import has_exited, process_identity
from slowwave.policy.guard.trust import checked_trust
from slowwave.ports import Ports

MARK: Final = "sw_"
"""Keys begin so, which lets programs that look for leaked secrets recognise them."""
KEY_BYTES: Final = 32
KEPT: Final = timedelta(hours=24)
"""How long the answer to a request is kept."""
FORGOTTEN: Final = timedelta(minutes=15)
"""After this time another machine is taken to have lost a request that it has not answered."""
LABEL_LONGEST: Final = 100
_log: Final = Log("access")


def add_key(
    ports: Ports,
    label: str,
    prefix: str,
    rights: Collection[str],
    trust: str,
    expires_at: datetime | None,
    made_by: str | None = None,
) -> NewKey:
    """Make a key and store its hash. It ends no later than the key with which it is made.

    Raises:
        InputError: an argument is invalid, or the time has passed.
        NotFoundError: there is no valid key of the id `made_by`.
    """
    now = ports.now()
    expires = None if expires_at is None else ports.time(expires_at, "expires_at")
    if expires is not None and expires <= now:
        raise InputError(f"expires_at {expires.isoformat()} has passed: give a later time")
    if made_by is not None:
        ends = [end for end in (expires, _valid(ports, made_by, now).expires_at) if end is not None]
        expires = min(ends, default=None)
    key = AccessKey(
        id=new_id(now),
        label=checked_name(label, "label", longest=LABEL_LONGEST),
        prefix=prefix and checked_scope(prefix),
        rights=_checked_rights(rights),
        trust=checked_trust(trust),
        created_at=now,
        expires_at=expires,
        made_by=made_by,
    )
    secret = MARK + b32encode(token_bytes(KEY_BYTES)).decode().rstrip("=").lower()
    ports.store.add_access_key(key, _digest(secret))
    _log.info("key %s made: %s", key.id, key.prefix or "all scopes")
    return NewKey(key=key, secret=secret)


def verify_key(ports: Ports, secret: str) -> AccessKey | None:
    """The key of a secret; None if there is none, or if it was revoked or has expired."""
    digest = _digest(secret)
    found = ports.store.access_key(digest)
    if found is None or not hmac.compare_digest(found[1], digest):
        return None
    return found[0] if found[0].is_valid(ports.now()) else None


def _valid(ports: Ports, key_id: str, now: datetime) -> AccessKey:
    """The valid key of an id, or NotFoundError."""
    for key in ports.store.access_keys():
        if key.id == key_id and key.is_valid(now):
            return key
    raise NotFoundError(f"no valid key {shown(key_id)}: `list_keys` lists those that exist")


def revoke_key(ports: Ports, key_id: str, *, cascade: bool = False) -> AccessKey:
    """Revoke a key: from now on it opens nothing. With `cascade` also the keys that were made with it, and with these.

    The key goes first, so that it makes no further one meanwhile.

    Raises:
        NotFoundError: there is no key of that id.
    """
    if not ports.store.revoke_access_key(checked_id(key_id, "key_id"), ports.now()):
        raise NotFoundError(f"no key {shown(key_id)}: `list_keys` lists those that exist")
    _log.info("key %s revoked", key_id)
    keys = ports.store.access_keys()
    for made in made_with(keys, key_id) if cascade else ():
        ports.store.revoke_access_key(made.id, ports.now())
        _log.info("key %s revoked with %s", made.id, key_id)
    return next(key for key in keys if key.id == key_id)


def answer_once(ports: Ports, name: str, request: str, call: Callable[[], str]) -> str:
    """Call a function and keep its answer; within 24 hours, the same name returns that answer without another call.

    A function that raises has changed nothing: the name is free again.

    Raises:
        ReusedNameError: the name was used for another request.
        ConflictError: the first request with this name is still being carried out.
    """
    name, fingerprint = checked_name(name, "name"), sha256(request.encode("utf-8", "surrogatepass")).hexdigest()
    now, store = ports.now(), ports.store
    claim = StoredAnswer(fingerprint, f"{process_identity()}/{new_id(now)}", now, None)
    first = store.claim_answer(ports.scope, name, claim, now - KEPT)
    if first is not None:
        if first.request != fingerprint:
            raise ReusedNameError("this name was used for another request: use a new one for each request")
        if first.answer is not None:
            return first.answer
        lost = has_exited(first.holder.rpartition("/")[0]) or abs(now - first.at) > FORGOTTEN
        if not lost or not store.take_claim(ports.scope, name, claim, first.holder):
            raise ConflictError("the first request of this name is still being carried out: send it again in a moment")
    answer = None
    try:
        answer = call()
    finally:
        store.put_answer(ports.scope, name, claim.holder, answer)
    return answer


def _checked_rights(rights: Collection[str]) -> frozenset[Right]:
    wanted = frozenset(texts_of([rights] if isinstance(rights, str) else rights, "rights"))
    if not wanted or not wanted <= set(RIGHTS):
        raise InputError(f"rights={shown(rights)}: use some of {', '.join(RIGHTS)}")
    return frozenset(right for right in RIGHTS if right in wanted)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
