"""Recognises addresses of Postgres databases, and refuses malformed ones without repeating a password."""

import re
from pathlib import Path
from typing import Final

from slowwave.errors import InputError, SettingsError, shown
from slowwave.model.plain_text import storable

SERVER: Final = ("postgresql://", "postgres://")
"""The prefixes of database addresses."""

REFUSED: Final = (
    "the address of the Postgres database is malformed (not repeated here, it may contain a password): write "
    "postgresql://user:password@host:port/name, and in the password %2F for /, %40 for @, %25 for %, %20 for a space"
)

UNNAMED: Final = (
    "the address looks like a server but has no scheme (not repeated here, it may contain a password): write "
    "postgresql://user@host:port/name; for a file of that name write ./ before it"
)

_RESEMBLES: Final = re.compile(
    r"\s*(?:postgres(?:ql)?:|(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)|.*\bpassword\s*=",
    re.IGNORECASE | re.DOTALL,
)
"""A URL with one slash, or libpq's keywords and values. As a file name it would contain the password."""

_SERVER_LIKE: Final = re.compile(
    r"[^/\\]*@[^/\\@]+/"  # user@host/name, with a password or a port
    r"|[^/\\:]{2,}:[^@]*@[^/\\@]+/"  # a password with a slash in it
    r"|(?:[\w.-]{2,}|\[[0-9a-f:.]+\]):\d{1,5}/"  # host:port/name
    r"|localhost/",
    re.IGNORECASE,
)
"""A user, a port or a host before the first slash. The letter of a Windows drive does not match."""


def encodable(path: str) -> str:
    """Return the path of a store unchanged if SQLite can open it: it takes only text that encodes to UTF-8.

    Raises:
        InputError: it contains NUL or a surrogate, such as a file name of another encoding.
    """
    if not storable(path):
        raise InputError(f"{shown(path)} is not a path of a store: rename its folders and files to names in UTF-8")
    return path


def checked(where: str) -> str:
    """Return the location of a store unchanged if it is a file name or an unambiguous address.

    Raises:
        InputError: it does not encode to UTF-8.
        SettingsError: the address is malformed; its password contains an unescaped "/" or "@", so that host and name
            would be read from the password; or it looks like a server without a scheme, and there is no such folder.
            The message does not repeat it.
    """
    encodable(where)
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
