"""What an address of a Postgres database looks like, and refusing what only resembles one without repeating it."""

import re
from typing import Final

from slowwave.errors import SettingsError

SERVER: Final = ("postgresql://", "postgres://")
"""What addresses of databases begin with."""

REFUSED: Final = (
    "that is no address of a Postgres database (not repeated here, it may hold a password): write "
    "postgresql://user:password@host:port/name, and in the password %2F for /, %40 for @, %25 for %, %20 for a space"
)

_RESEMBLES: Final = re.compile(
    r"\s*(?:postgres(?:ql)?:|(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)|.*\bpassword\s*=",
    re.IGNORECASE | re.DOTALL,
)
"""One slash, or libpq's keywords and values: as a file name, a password would become part of it."""


def checked(where: str) -> str:
    """A place of a store as it is given: a file name, or an address that says one thing only.

    Raises:
        SettingsError: it is meant as an address and is none, or a password in it has a raw "/" or "@", so that host and
            name would be read from it. The message does not repeat it.
    """
    if not where.startswith(SERVER):
        if _RESEMBLES.match(where):
            raise SettingsError(REFUSED)
        return where
    host, _, name = where.partition("://")[2].partition("?")[0].partition("/")
    if host.count("@") > 1 or "@" in name:
        raise SettingsError(REFUSED)
    return where
