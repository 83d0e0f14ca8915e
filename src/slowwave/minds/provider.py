"""One provider over HTTP: posts JSON through the OpenAI SDK, and turns every way it can fail into one clear sentence."""

import json
import re
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from slowwave.errors import ModelError
from slowwave.minds.foreign import Answer
from slowwave.minds.items import tidy
from slowwave.minds.ledger import free
from slowwave.minds.patience import Patience, TransientError, seconds_after

if TYPE_CHECKING:
    import openai

OPENAI_URL: Final = "https://api.openai.com/v1"
BODY_LONGEST: Final = 8_000_000  # bytes
_CONNECT: Final = 5.0  # seconds
_WORDS: Final = 300  # characters of a provider's own words in an error
_NO_KEY: Final = "none"  # what servers without keys are sent
_STREAMED: Final = {"X-Stainless-Raw-Response": "stream"}  # the SDK's own switch: the body is left for us to read

_UNCONNECTED: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
_PASSING: Final = frozenset({408, 409, 425, 429, 529})
_TAGS: Final = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class Provider:
    """A server that takes JSON. Safe to share between threads; the SDK is imported and connected at the first call.

    Args:
        base_url: what paths are appended to; None means OpenAI's own.
        api_key: sent as a bearer token; None means OPENAI_API_KEY for OpenAI's own address, and no key elsewhere.
        seconds: how long one try may take.
        patience: how failures that may pass are tried again.
    """

    def __init__(
        self, *, base_url: str | None, api_key: str | None, seconds: float, patience: Patience | None = None
    ) -> None:
        self._base_url, self._key, self._seconds = base_url, api_key, seconds
        self._patience = patience or Patience(budget=3 * seconds)
        self._lock = threading.Lock()
        self._sdk: openai.OpenAI | None = None

    @property
    def address(self) -> str:
        """Where it is, without a user name or password."""
        parts = urlsplit(self._base_url or OPENAI_URL)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The JSON object that the server answers.

        Raises:
            ModelError: it does not, for a reason that stays, or for longer than the patience.
        """
        return self._patience.through(lambda left: self._posted(path, body, min(self._seconds, left)))

    def close(self) -> None:
        """Let go of the connections; the next call opens new ones."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()
                self._sdk = None

    def _posted(self, path: str, body: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        import openai  # noqa: PLC0415 - half a second that only those pay who ask a model

        end = time.monotonic() + seconds
        timeout = openai.Timeout(seconds, connect=min(_CONNECT, seconds))
        try:
            response: Any = self._connected().post(
                path, cast_to=object, body=body, options={"headers": _STREAMED, "timeout": timeout}
            )
        except openai.APITimeoutError as error:
            late = TransientError(f"{self.address} gave no answer within {seconds:g} seconds")
            raise (free(late) if _never_sent(error) else late) from None
        except openai.APIConnectionError as error:
            broken = TransientError(
                f"{self.address} cannot be reached: {self._told(str(error.__cause__))}; does it run?"
            )
            raise (free(broken) if _never_sent(error) else broken) from None
        try:
            return self._read(response.http_response, end)
        finally:
            response.close()

    def _connected(self) -> "openai.OpenAI":
        import openai  # noqa: PLC0415 - see above

        with self._lock:
            if self._sdk is None:
                key = self._key or (_NO_KEY if self._base_url else None)  # None lets the SDK look for OPENAI_API_KEY
                try:
                    self._sdk = openai.OpenAI(
                        api_key=key,
                        base_url=self._base_url or OPENAI_URL,
                        max_retries=0,  # ours are the only ones
                        http_client=openai.DefaultHttpxClient(
                            follow_redirects=False, event_hooks={"response": [self._checked]}
                        ),
                    )
                except openai.OpenAIError:
                    unset = ModelError(f"no key for {self.address}: set OPENAI_API_KEY, or pass api_key")
                    raise free(unset) from None
            return self._sdk

    def _checked(self, response: Any) -> None:  # noqa: ANN401 - httpx has two names
        """Refuse an error here, before the SDK reads its body: for as long as it drips, and with the key in its cause."""
        if not response.is_success:
            end = time.monotonic() + response.request.extensions["timeout"]["read"]
            raise self._refused(response, self._body(response, end).decode("utf-8", "replace"))

    def _read(self, response: Any, end: float) -> Mapping[str, Any]:  # noqa: ANN401 - httpx has two names
        held = self._body(response, end)
        if not held.strip():
            raise TransientError(f"{self.address} answered with an empty body")
        try:
            data = json.loads(held)
        except (ValueError, RecursionError):
            told = self._told(held.decode("utf-8", "replace"))
            raise ModelError(
                f"{self.address} answered with something that is no JSON: {told!r}; is base_url right?"
            ) from None
        if not isinstance(data, Mapping) or data.get("error"):
            raise ModelError(f"{self.address} answered with an error: {self._told(_message(data))}")
        return data

    def _body(self, response: Any, end: float) -> bytes:  # noqa: ANN401 - httpx has two names
        """The body, read piece by piece, so that one that drips cannot outlast its time."""
        transport = sys.modules[type(response).__module__.partition(".")[0]]
        held = bytearray()
        try:
            for piece in response.iter_bytes():
                held += piece
                if len(held) > BODY_LONGEST:
                    raise ModelError(f"{self.address} answered with more than {BODY_LONGEST:,} bytes")
                if time.monotonic() > end:
                    raise TransientError(f"{self.address} was still answering when its time was over")
        except transport.TimeoutException:
            raise TransientError(f"{self.address} stopped in the middle of its answer") from None
        except transport.HTTPError as error:
            raise TransientError(f"{self.address} broke off its answer: {self._told(str(error))}") from None
        return bytes(held)

    def _refused(self, response: Any, body: str) -> ModelError:  # noqa: ANN401 - httpx has two names
        status, told = response.status_code, self._told(_error(body))
        said = f"{self.address} answered {status}: {told}" if told else f"{self.address} answered {status}"
        if status in {401, 403}:
            return ModelError(f"{said}; check the key (OPENAI_API_KEY, or api_key) and what it is allowed to use")
        if status == 404:  # noqa: PLR2004 - statuses have no shorter names
            return ModelError(f"{said}; check the model's name and base_url")
        if status == 429 and "insufficient_quota" in body:  # noqa: PLR2004
            return ModelError(f"{said}; the account has no credit left")
        if status in _PASSING or status >= 500:  # noqa: PLR2004
            return TransientError(said, seconds_after(response.headers.get("retry-after"), datetime.now(UTC)))
        if 300 <= status < 400:  # noqa: PLR2004
            return ModelError(f"{said}; it sends elsewhere: set base_url to where it really is")
        return RefusedError(said) if status in {400, 422} else ModelError(said)

    def _told(self, text: str) -> str:
        """A server's own words on one line, without markup and without the key."""
        words = tidy(_TAGS.sub(" ", text[: 100 * _WORDS]))
        key = self._sdk.api_key if self._sdk else self._key
        if key and key != _NO_KEY:
            words = words.replace(key, "…")
        return words if len(words) <= _WORDS else f"{words[:_WORDS]} …"


class RefusedError(ModelError):
    """The server understood the request and will not serve it as it is (400, 422)."""


def _never_sent(error: Exception) -> bool:
    """Whether there was not even a connection to send anything through. httpx has two names, its errors one each."""
    return type(error.__cause__).__name__ in _UNCONNECTED


def answered(data: Mapping[str, Any], text: object) -> Answer:
    """The text as an answer with the tokens that OpenAI's or Ollama's reply counts."""
    usage = data.get("usage") or {}
    counts = (
        usage.get("prompt_tokens", data.get("prompt_eval_count")),
        usage.get("completion_tokens", data.get("eval_count")),
    )
    tokens_in, tokens_out = (count if type(count) is int else None for count in counts)
    return Answer(text if isinstance(text, str) else "", tokens_in=tokens_in, tokens_out=tokens_out)


def _error(body: str) -> str:
    """What an error body says: the sentence in its JSON, or its text."""
    try:
        return _message(json.loads(body)) or body
    except (ValueError, RecursionError):
        return body


def _message(body: object) -> str:
    """The sentence in an error body, wherever providers put it."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            inner = inner.get("message") or inner.get("detail") or inner
        return inner if isinstance(inner, str) else json.dumps(inner, default=str)
    return body if isinstance(body, str) else ""
