"""What an address of a Postgres database looks like, and refusing what only resembles one without repeating it."""

import re
from pathlib import Path
from typing import Final

from slowwave.errors import SettingsError

SERVER: Final = ("postgresql://", "postgres://")
"""What addresses of databases begin with."""

REFUSED: Final = (
    "that is no address of a Postgres database (not repeated here, it may hold a password): write "
    "postgresql://user:password@host:port/name, and in the password %2F for /, %40 for @, %25 for %, %20 for a space"
)

UNNAMED: Final = (
    "that looks like a server, and no kind of address begins it (not repeated here, it may hold a password): write "
    "postgresql://user@host:port/name; for a file of that name write ./ before it"
)

_RESEMBLES: Final = re.compile(
    r"\s*(?:postgres(?:ql)?:|(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)|.*\bpassword\s*=",
    re.IGNORECASE | re.DOTALL,
)
"""One slash, or libpq's keywords and values: as a file name, a password would become part of it."""

_SERVER_LIKE: Final = re.compile(
    r"[^/\\]*@[^/\\@]+/"  # user@host/name, with a password or a port
    r"|[^/\\:]{2,}:[^@]*@[^/\\@]+/"  # a password with a slash in it
    r"|(?:[\w.-]{2,}|\[[0-9a-f:.]+\]):\d{1,5}/"  # host:port/name
    r"|localhost/",
    re.IGNORECASE,
)
"""A user, a port or a host before the first slash. The letter of a Windows drive is none."""


def checked(where: str) -> str:
    """A place of a store as it is given: a file name, or an address that says one thing only.

    Raises:
        SettingsError: it is meant as an address and is none, or a password in it has a raw "/" or "@", so that host and
            name would be read from it; or it can only be meant as a server, because there is no such folder. The
            message does not repeat it.
    """
    if not where.startswith(SERVER):
        if _RESEMBLES.match(where):
            raise SettingsError(REFUSED)
        if _SERVER_LIKE.match(where) and "://" not in where and not Path(where).parent.is_dir():
            raise SettingsError(UNNAMED)
        return where
    host, _, name = where.partition("://")[2].partition("?")[0].partition("/")
    if host.count("@") > 1 or "@" in name:
        raise SettingsError(REFUSED)
    return where
