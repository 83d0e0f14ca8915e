"""Posts JSON to one server through the OpenAI SDK. Each failure becomes a TransportError of one sentence."""

import base64
import json
import re
import sys
import threading
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from slowwave import forks
from slowwave.model.message import tidy
from slowwave.transport.address import NO_KEY, OPENAI_URL, address_of, is_openai, key_for, login_of, without_login
from slowwave.transport.deadline import Deadline, bind
from slowwave.transport.failures import RejectedError, TransientError, TransportError
from slowwave.transport.patience import RetryPolicy, retry_delay
from slowwave.transport.secrets import Secrets, protect_logs

if TYPE_CHECKING:
    import openai

BODY_LONGEST: Final = 8_000_000  # bytes
_CONNECT: Final = 5.0  # seconds
_WORDS: Final = 300  # characters of a server's message that an error quotes
_STREAMED: Final = "X-Stainless-Raw-Response"  # a header for the SDK: with "stream" it does not read the body
_HEADERS: Final = {_STREAMED: "stream", "Accept-Encoding": "gzip"}
_SENT: Final = frozenset({
    "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host", "user-agent",
    _STREAMED.lower(),
})  # fmt: skip
_GZIP: Final = 31  # zlib's number for data with a gzip header

_UNCONNECTED: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
_PASSING: Final = frozenset({408, 409, 425, 429, 529})
_TAGS: Final = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class Server:
    """A server with a JSON protocol. Threads may share it. The first call imports the SDK and connects.

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
        self._deadline = Deadline()
        self._lock = threading.Lock()
        self._sdk: openai.OpenAI | None = None
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: the next call opens new connections. Those of the parent are not closed."""
        self._lock = threading.Lock()
        forks.abandon(self._sdk)
        self._sdk = None

    def post(self, path: str, body: Mapping[str, Any], longest: int = BODY_LONGEST) -> Mapping[str, Any]:
        """Post a body and return the JSON object of the reply, of at most `longest` bytes.

        Raises:
            TransportError: it failed, and so did the retries.
        """
        return self._patience.run(lambda remaining: self._post_once(path, body, min(self._seconds, remaining), longest))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()
                self._sdk = None

    def _post_once(self, path: str, body: Mapping[str, Any], seconds: float, longest: int) -> Mapping[str, Any]:
        import openai  # noqa: PLC0415 - the import takes half a second

        connected = self._connected()
        self._deadline.start(seconds)
        timeout = openai.Timeout(seconds, connect=min(_CONNECT, seconds))
        try:
            response: Any = connected.post(
                path, cast_to=object, body=body, options={"headers": _HEADERS, "timeout": timeout}
            )
        except openai.APITimeoutError as error:
            late = f"{self.address} gave no answer within {seconds:g} seconds ({self._setting}_SECONDS)"
            raise TransientError(late, sent=_sent(error)) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, TransportError):  # older SDKs wrap what the response hook raises
                raise error.__cause__ from None
            broken = f"{self.address} cannot be reached: {self._quoted(str(error.__cause__))}; does it run?"
            raise TransientError(broken, sent=_sent(error)) from None
        try:
            return self._read(response.http_response, longest)
        finally:
            response.close()

    def _connected(self) -> "openai.OpenAI":
        import openai  # noqa: PLC0415 - see above

        with self._lock:
            if self._sdk is not None:
                return self._sdk
            client = openai.DefaultHttpxClient(
                follow_redirects=False, event_hooks={"request": [self._restrict], "response": [self._check]}
            )
            core = bind(client, self._deadline)
            try:
                sdk = openai.OpenAI(api_key=self._key, base_url=self._url, max_retries=0, http_client=client)
            except openai.OpenAIError:
                sdk = None
            if sdk is None or not sdk.api_key:
                client.close()
                missing = f"no key for {self.address}: set OPENAI_API_KEY or {self._setting}_KEY, or pass api_key"
                raise TransportError(missing, sent=False)
            self._secrets = self._known_secrets(sdk.api_key)
            protect_logs(core)
            self._sdk = sdk
            return sdk

    def _restrict(self, request: Any) -> None:  # noqa: ANN401 - httpx is installed under two names
        """Remove headers that the SDK took from OPENAI_ORG_ID and OPENAI_CUSTOM_HEADERS, unless the host is OpenAI."""
        if self._openai:
            return
        for name in set(request.headers.keys()) - _SENT:
            del request.headers[name]
        request.headers["authorization"] = f"Basic {self._basic}" if self._login else f"Bearer {self._key}"

    @property
    def _basic(self) -> str:
        return base64.b64encode(":".join(self._login or ()).encode()).decode()

    def _known_secrets(self, key: str) -> Secrets:
        login = (self._login[1], quote(self._login[1], safe=""), self._basic) if self._login else ()
        return Secrets([*login] if key == NO_KEY else [key, *login])

    def _check(self, response: Any) -> None:  # noqa: ANN401 - httpx is installed under two names
        """Raise for an error status, before the SDK reads the body without a limit and quotes it in its own error."""
        if not response.is_success:
            raise self._refused(response, self._body(response, BODY_LONGEST).decode("utf-8", "replace"))

    def _read(self, response: Any, longest: int) -> Mapping[str, Any]:  # noqa: ANN401 - httpx is installed under two names
        content = self._body(response, longest)
        if not content.strip():
            raise TransientError(f"{self.address} answered with an empty body")
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            quoted = self._quoted(content.decode("utf-8", "replace"))
            raise TransportError(
                f"{self.address} answered with something that is no JSON: {quoted!r}; is base_url right?"
            ) from None
        if not isinstance(data, Mapping) or data.get("error"):
            raise TransportError(f"{self.address} answered with an error: {self._quoted(_message(data))}")
        return data

    def _body(self, response: Any, longest: int) -> bytes:  # noqa: ANN401 - httpx is installed under two names
        """The body without secrets. The limit holds for its compressed and for its decompressed size."""
        transport = sys.modules[type(response).__module__.partition(".")[0]]
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity", "gzip"}:
            raise TransportError(
                f"{self.address} answered in an encoding that was not asked for: {self._quoted(encoding)}"
            )
        unzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        content, received = bytearray(), 0
        try:
            for piece in response.iter_raw():
                received += len(piece)
                content += unzip.decompress(piece, longest + 1 - len(content)) if unzip else piece
                if max(received, len(content)) > longest:
                    raise TransportError(f"{self.address} answered with more than {longest:,} bytes")
        except transport.TimeoutException:
            raise TransientError(f"{self.address} was still answering when its time was over") from None
        except (transport.HTTPError, zlib.error) as error:
            raise TransientError(f"{self.address} broke off its answer: {self._quoted(str(error))}") from None
        if unzip and not unzip.eof:
            raise TransientError(f"{self.address} broke off its answer")
        return self._secrets.removed_from_body(bytes(content))

    def _refused(self, response: Any, body: str) -> TransportError:  # noqa: ANN401 - httpx is installed under two names
        status, quoted = response.status_code, self._quoted(_error(body))
        message = f"{self.address} answered {status}: {quoted}" if quoted else f"{self.address} answered {status}"
        if status in {401, 403}:
            shared = "OPENAI_API_KEY or " if self._openai else ""
            note = "" if self._openai else "; OPENAI_API_KEY is sent to OpenAI's own address only"
            return TransportError(f"{message}; check the key ({shared}{self._setting}_KEY, or api_key{note})")
        if status == 404:  # noqa: PLR2004 - statuses have no shorter names
            return TransportError(f"{message}; check the model's name and base_url")
        if status == 429 and "insufficient_quota" in body:  # noqa: PLR2004
            return TransportError(f"{message}; the account has no credit left")
        if status in _PASSING or status >= 500:  # noqa: PLR2004
            return TransientError(message, retry_delay(response.headers.get("retry-after"), datetime.now(UTC)))
        if 300 <= status < 400:  # noqa: PLR2004
            return TransportError(f"{message}; it sends elsewhere: set base_url to where it really is")
        return RejectedError(message) if status in {400, 422} else TransportError(message)

    def _quoted(self, text: str) -> str:
        """A server's text on one line, without markup and without secrets."""
        shown = tidy(_TAGS.sub(" ", self._secrets.removed(text)[: 100 * _WORDS]))
        shown = self._secrets.removed(shown)  # removing markup may have joined the parts of a secret
        return shown if len(shown) <= _WORDS else f"{shown[:_WORDS]} …"


def _sent(error: Exception) -> bool:
    """Whether the request was sent. The httpx package has two names; its error classes have one."""
    return type(error.__cause__).__name__ not in _UNCONNECTED


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
