"""Shares of what a process has little of: how much of it one tenant may hold, so that others get some too."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from slowwave.server.access.errors import OverloadedError

SHARE: Final = 4
"""One tenant holds at most one part in so many of what there is."""
FAMILY: Final = 2
"""Tenants whose scopes begin with the same name hold at most one part in so many together: a key makes keys below its prefix."""


def check_share(what: str, held: Iterable[str], tenant: str, most: int) -> None:
    """Raise OverloadedError if a tenant may hold no more.

    Args:
        what: what is held, in words, such as "jobs wait or run".
        held: the tenant of each one that is held now.
        tenant: who asks for one more: the prefix of its key, or the scope if the key opens all scopes.
        most: how many there are.
    """
    counts = Counter(held)
    family = tenant.partition("/")[0]
    together = sum(number for name, number in counts.items() if name.partition("/")[0] == family)
    if counts.total() >= most:
        raise OverloadedError(f"{most} {what}: send the request again later")
    if counts[tenant] >= most // SHARE:
        raise OverloadedError(f"{counts[tenant]} {what} for {tenant}, which is its share: send the request again later")
    if together >= most // FAMILY:
        raise OverloadedError(f"{together} {what} in {family}, which is its share: send the request again later")
