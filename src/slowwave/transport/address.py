"""Addresses of servers. Only this module decides which key is sent to which URL, and that no proxy is asked for this machine."""

import os
import re
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies

from slowwave.errors import SettingsError

OPENAI_URL: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"
"""The placeholder that servers without keys receive: some of them refuse a request without any."""

_ACCOUNT: Final = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
_OPENAI_HOSTS: Final = frozenset({"api.openai.com", "api.openai.com:443"})
_SCHEMES: Final = frozenset({"http", "https"})


def is_openai(url: str) -> bool:
    """Whether a URL is OpenAI's own address: https, this exact host, no user information.

    >>> is_openai("https://api.openai.com/v1"), is_openai("https://api.openai.com.evil.example/v1")
    (True, False)
    """
    parts = _parts(url)
    return parts.scheme == "https" and parts.netloc.lower() in _OPENAI_HOSTS


def key_for(url: str, configured: str | None) -> str | None:
    """Return the key to send to a URL: only the key configured for it.

    None means that the transport reads OPENAI_API_KEY at the first call, for OpenAI's own address only. Every other address
    gets a placeholder, so that no key of the environment is sent to it.

    Args:
        url: the address.
        configured: the key configured for this address, by an argument or by SLOWWAVE_LLM_KEY or SLOWWAVE_EMBEDDER_KEY.

    Raises:
        SettingsError: the key has a character that an HTTP header cannot hold.

    >>> key_for("https://api.openai.com/v1", None), key_for("http://gpu:8000/v1", None), key_for("http://gpu/v1", "k")
    (None, 'none', 'k')
    """
    key = (configured or "").strip()
    if not key.isascii() or not key.isprintable():
        raise SettingsError(f"the key for {address_of(url)} has a character that an HTTP header cannot hold")
    return key or (None if is_openai(url) else NO_KEY)


def key_of_environment(url: str) -> str | None:
    """OPENAI_API_KEY for OpenAI's own address, None if it is not set; the placeholder for every other address.

    Raises:
        SettingsError: the key has a character that an HTTP header cannot hold.
    """
    return key_for(url, os.environ.get("OPENAI_API_KEY") if is_openai(url) else None)


def account_headers(url: str) -> Mapping[str, str]:
    """The headers of OPENAI_ORG_ID and OPENAI_PROJECT_ID for OpenAI's own address; none for every other address."""
    values = {header: os.environ.get(name, "").strip() for name, header in _ACCOUNT.items()}
    return {header: value for header, value in values.items() if value} if is_openai(url) else {}


def address_of(url: str) -> str:
    """The URL as it may be shown and stored: without user name, password, query and fragment.

    Raises:
        SettingsError: it is not an http or https URL.

    >>> address_of("https://user:hidden@gpu:8000/v1?key=hidden")
    'https://gpu:8000/v1'
    """
    parts = _parts(url)
    return f"{parts.scheme}://{_host(parts)}{parts.path}"


def without_login(url: str) -> str:
    """The URL without user name and password, to connect to."""
    parts = _parts(url)
    return parts._replace(netloc=_host(parts)).geturl()


def login_of(url: str) -> tuple[str, str] | None:
    """The user name and password of a URL, decoded; None if it has neither."""
    parts = _parts(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return (user, password) if user or password else None


def is_this_machine(url: str) -> bool:
    """Whether a URL is one of this machine, in any form that the resolver reads as its own address.

    >>> [is_this_machine(f"http://{host}/v1") for host in ("localhost", "127.1", "[::1]:80", "0.0.0.0", "gpu")]
    [True, True, True, True, False]
    """
    host = (_parts(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host if ":" in host else socket.inet_aton(host))
    except (OSError, ValueError):
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or mapped.is_unspecified


def proxy_of_environment(url: str) -> str:
    """The proxy that the environment or the system names for the scheme of a URL, as it may be shown; "" if none."""
    proxies = getproxies()
    return masked(proxies.get(_parts(url).scheme) or proxies.get("all") or "")


def masked(text: str) -> str:
    """A text that may contain a URL, without anything that could be user information; for malformed URLs.

    >>> masked("base+http://user:hid/den@gpu/v1")
    'base+http://gpu/v1'
    """
    return re.sub(r"//.*@", "//", text, flags=re.DOTALL)


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _parts(url: str) -> SplitResult:
    """The parts of a URL. Errors show the URL without user information, because they are printed and logged."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # reading the port checks it
    except ValueError:
        raise SettingsError(f"{masked(url)!r} is not a valid URL") from None
    if parts.scheme not in _SCHEMES or not host:
        raise SettingsError(f"{masked(url)!r} is not a URL of a server: use http://HOST/PATH or https://HOST/PATH")
    if "@" in parts.path and "@" not in parts.netloc:  # an unescaped "/" in a password would show the rest of it
        raise SettingsError(f"{masked(url)!r} has an '@' in its path: write / in a password as %2F, @ in a path as %40")
    return parts
