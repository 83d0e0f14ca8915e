"""Exchanges JSON with one server over HTTP. Each failure becomes a TransportError of one sentence."""

import base64
import json
import re
import threading
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from slowwave import forks
from slowwave.errors import SettingsError
from slowwave.model.plain_text import tidy
from slowwave.transport.address import (
    NO_KEY,
    OPENAI_URL,
    account_headers,
    address_of,
    is_openai,
    is_this_machine,
    key_for,
    key_of_environment,
    login_of,
    proxy_of_environment,
    without_login,
)
from slowwave.transport.deadline import Deadline, bind
from slowwave.transport.failures import RejectedError, TransientError, TransportError
from slowwave.transport.patience import RetryPolicy, retry_delay
from slowwave.transport.secrets import Secrets, protect_logs

if TYPE_CHECKING:
    from httpx2 import Client, Response

BODY_LONGEST: Final = 8_000_000  # bytes
_CONNECT: Final = 5.0  # seconds
_QUOTE_LONGEST: Final = 300  # characters of a server's message that an error quotes
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "slowwave"}
_SECRET_SHORTEST: Final = 8  # characters; shorter values in the query of a URL, such as versions, are no secrets
_GZIP: Final = 31  # zlib's number for data with a gzip header

_UNCONNECTED: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "InvalidURL", "UnsupportedProtocol"})
LIMITED: Final = 60.0
"""Seconds for which a server that limits calls (429) is not called again, if it does not name a time."""
NO_QUOTA: Final = 900.0
"""Seconds after which a server whose account has no credit left is called again."""
_TRANSIENT: Final = frozenset({408, 409, 425, 429, 529})
_TAGS: Final = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class Server:
    """A server with a JSON protocol. Threads may share it. The first call imports the HTTP library and connects.

    Args:
        base_url: the URL that paths are appended to; None: that of OpenAI.
        api_key: the key of this address, sent as a bearer token. Without one, OPENAI_API_KEY is sent to OpenAI's own
            address, and a placeholder to any other. A user name and password in the URL are sent instead of a key.
        seconds: the time limit of one try, from connecting to the last byte of the reply.
        patience: the retry policy of transient failures.
        setting: the prefix of the settings that errors name, such as SLOWWAVE_LLM.

    Raises:
        SettingsError: the URL or the key cannot be used.
    """

    def __init__(
        self, *, base_url: str | None, api_key: str | None, seconds: float, patience: RetryPolicy, setting: str
    ) -> None:
        url = base_url or OPENAI_URL
        self.address = address_of(url)
        """The URL without user name and password."""
        self._url, self._key, self._login = without_login(url), key_for(url, api_key), login_of(url)
        self._openai = is_openai(url)
        self._secrets = self._known_secrets(self._key or "")
        self._seconds, self._patience, self._setting = seconds, patience, setting
        self._named = self.address
        """The address as errors name it: with the proxy that is asked for it, once it is connected."""
        self._deadline = Deadline()
        self._lock = threading.Lock()
        self._client: Client | None = None
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: the next call opens new connections. Those of the parent are not closed."""
        self._lock = threading.Lock()
        forks.abandon(self._client)
        self._client = None

    def post(self, path: str, body: Mapping[str, Any], longest: int = BODY_LONGEST) -> Mapping[str, Any]:
        """Post a body and return the JSON object of the reply, of at most `longest` bytes.

        Raises:
            TransportError: it failed, and so did the retries.
        """
        return self._patience.run(lambda remaining: self._exchange("POST", path, body, remaining, longest))

    def get(self, path: str) -> Mapping[str, Any]:
        """Get a path and return the JSON object of the reply.

        Raises:
            TransportError: it failed, and so did the retries.
        """
        return self._patience.run(lambda remaining: self._exchange("GET", path, None, remaining, BODY_LONGEST))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | None, remaining: float, longest: int
    ) -> Mapping[str, Any]:
        import httpx2  # noqa: PLC0415 - the import takes a tenth of a second

        seconds = min(self._seconds, remaining)
        connected = self._connected()
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        self._deadline.start(seconds)
        try:
            url = httpx2.URL(self._url)
            request = connected.build_request(
                method,
                url.copy_with(path=url.path.rstrip("/") + path),
                content=content,
                headers={} if body is None else {"Content-Type": "application/json"},
                timeout=httpx2.Timeout(seconds, connect=min(_CONNECT, seconds)),
            )
            response = connected.send(request, stream=True)
        except httpx2.TimeoutException as error:
            late = f"{self._named} gave no answer within {seconds:g} seconds ({self._setting}_SECONDS)"
            raise TransientError(late, sent=_sent(error), cause=f"{self._named} timed out") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            proxied = self._named != self.address
            ask = "NO_PROXY names the servers that are reached without it" if proxied else "does it run?"
            broken = f"{self._named} cannot be reached: {self._quoted(str(error))}; {ask}"
            raise TransientError(broken, sent=_sent(error), cause=f"{self._named} cannot be reached") from None
        try:
            return self._read(response, longest)
        finally:
            response.close()

    def _connected(self) -> "Client":
        import httpx2  # noqa: PLC0415 - see above

        with self._lock:
            if self._client is not None:
                return self._client
            key = self._key or self._key_of_environment()
            self._secrets = self._known_secrets(key)
            try:
                client = httpx2.Client(
                    headers={**_HEADERS, **account_headers(self._url), "Authorization": self._authorization(key)},
                    limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
                    verify=httpx2.create_ssl_context(),
                    trust_env=not is_this_machine(self._url),  # a proxy would get what is meant for this machine
                )
            except (OSError, ValueError, ImportError) as error:  # certificates or a proxy of the environment
                unusable = f"no connection to {self._named} can be set up: {self._quoted(str(error))}"
                raise TransportError(unusable, sent=False) from None
            bind(client, self._deadline)
            if client._transport_for_url(httpx2.URL(self._url)) is not client._transport:  # noqa: SLF001 - it has no public name
                self._named = f"{self.address} through the proxy {proxy_of_environment(self._url)}"
            protect_logs()
            self._client = client
            return client

    def _key_of_environment(self) -> str:
        """OPENAI_API_KEY; only OpenAI's own address has no key of its own."""
        try:
            key = key_of_environment(self._url)
        except SettingsError as error:
            raise TransportError(str(error), sent=False) from None
        if not key:
            missing = f"no key for {self.address}: set OPENAI_API_KEY or {self._setting}_KEY, or pass api_key"
            raise TransportError(missing, sent=False)
        return key

    def _authorization(self, key: str) -> str:
        return f"Basic {self._basic}" if self._login else f"Bearer {key}"

    @property
    def _basic(self) -> str:
        return base64.b64encode(":".join(self._login or ()).encode()).decode()

    def _known_secrets(self, key: str) -> Secrets:
        login = (self._login[1], quote(self._login[1], safe=""), self._basic) if self._login else ()
        queried = [value for _, value in parse_qsl(urlsplit(self._url).query) if len(value) >= _SECRET_SHORTEST]
        return Secrets([*login, *queried] if key == NO_KEY else [key, *login, *queried])

    def _read(self, response: "Response", longest: int) -> Mapping[str, Any]:
        if not response.is_success:
            raise self._refused(response, self._body(response, BODY_LONGEST).decode("utf-8", "replace"))
        content = self._body(response, longest)
        if not content.strip():
            raise TransientError(f"{self._named} answered with an empty body", cause=f"{self._named} sent no body")
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            quoted = self._quoted(content.decode("utf-8", "replace"))
            raise TransportError(
                f"{self._named} answered with something that is not valid JSON: {quoted!r}; is base_url right?"
            ) from None
        if not isinstance(data, Mapping) or data.get("error"):
            raise TransportError(f"{self._named} answered with an error: {self._quoted(_message(data))}")
        return data

    def _body(self, response: "Response", longest: int) -> bytes:
        """The body without secrets. The limit holds for its compressed and for its decompressed size."""
        import httpx2  # noqa: PLC0415 - see above

        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity", "gzip"}:
            raise TransportError(
                f"{self._named} answered in an encoding that was not requested: {self._quoted(encoding)}"
            )
        unzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        content, received = bytearray(), 0
        try:
            for piece in response.iter_raw():
                received += len(piece)
                content += unzip.decompress(piece, longest + 1 - len(content)) if unzip else piece
                if max(received, len(content)) > longest:
                    raise TransportError(f"{self._named} answered with more than {longest:,} bytes")
        except httpx2.TimeoutException:
            late = f"{self._named} was still answering when its time was over"
            raise TransientError(late, cause=f"{self._named} timed out") from None
        except (httpx2.HTTPError, zlib.error) as error:
            broken = f"{self._named} broke off its answer"
            raise TransientError(f"{broken}: {self._quoted(str(error))}", cause=broken) from None
        if unzip and not unzip.eof:
            raise TransientError(f"{self._named} broke off its answer", cause=f"{self._named} broke off its answer")
        return self._secrets.removed_from_body(bytes(content))

    def _refused(self, response: "Response", body: str) -> TransportError:
        status, quoted = response.status_code, self._quoted(_error(body))
        message = f"{self._named} answered {status}: {quoted}" if quoted else f"{self._named} answered {status}"
        if status in {401, 403}:
            shared = "OPENAI_API_KEY or " if self._openai else ""
            note = "" if self._openai else "; OPENAI_API_KEY is sent to OpenAI's own address only"
            return TransportError(f"{message}; check the key ({shared}{self._setting}_KEY, or api_key{note})")
        if status == 404:  # noqa: PLR2004 - statuses have no shorter names
            return TransportError(f"{message}; check the model's name and base_url")
        if status == 429 and "insufficient_quota" in body:  # noqa: PLR2004
            return TransportError(f"{message}; the account has no credit left", limited=NO_QUOTA)
        if status in _TRANSIENT or status >= 500:  # noqa: PLR2004
            after = retry_delay(response.headers.get("retry-after"), datetime.now(UTC))
            limited = after if status != 429 or after is not None else LIMITED  # noqa: PLR2004
            return TransientError(message, after, cause=f"{self._named} answered {status}", limited=limited)
        if 300 <= status < 400:  # noqa: PLR2004
            return TransportError(
                f"{message}; redirects are not followed: set base_url to the address that it redirects to"
            )
        return RejectedError(message) if status in {400, 413, 422} else TransportError(message)

    def _quoted(self, text: str) -> str:
        """A server's text on one line, without markup and without secrets."""
        shown = tidy(_TAGS.sub(" ", self._secrets.removed(text)[: 100 * _QUOTE_LONGEST]))
        shown = self._secrets.removed(shown)  # removing markup may have joined the parts of a secret
        return shown if len(shown) <= _QUOTE_LONGEST else f"{shown[:_QUOTE_LONGEST]} …"


def _sent(error: Exception) -> bool:
    """Whether a byte of the request may have been sent."""
    return type(error).__name__ not in _UNCONNECTED


def _error(body: str) -> str:
    """The message of an error body: that of its JSON, else its text."""
    try:
        return _message(json.loads(body)) or body
    except (ValueError, RecursionError):
        return body


def _message(body: object) -> str:
    """The message in a JSON error body, in the places where providers put it."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            inner = inner.get("message") or inner.get("detail") or inner
        return inner if isinstance(inner, str) else json.dumps(inner, default=str)
    return body if isinstance(body, str) else ""
