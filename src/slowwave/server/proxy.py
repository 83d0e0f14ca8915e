"""The proxy `/proxy`: chat completions of another server, which recall before each call and store both sides of the turn."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from anyio import CancelScope
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from slowwave.clients.dialects import CALLS
from slowwave.clients.wrapping import ClientMemory, Turn
from slowwave.errors import InputError, PortError, SettingsError, SlowwaveError
from slowwave.pipelines.admin.access import MARK
from slowwave.server.access.authentication import Authenticator
from slowwave.server.access.errors import UnauthorizedError
from slowwave.server.access.guards import CALL_MOST, allow_body
from slowwave.server.access.problems import problem, problem_of, status_kind
from slowwave.transport.address import is_this_machine

if TYPE_CHECKING:
    import httpx2

BUDGET_TOKENS: Final = 800
"""The size of what is recalled for a call."""
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 600.0
"""How long the other server may send nothing: a model may need minutes."""
KEY: Final = "x-slowwave-key"
"""The header with a key of the store. `Authorization` has the key of the other server."""
COMPLETIONS: Final = "/chat/completions"
MODELS: Final = "/models"
OK: Final = 200
_OURS: Final = "x-slowwave-"
_NOT_SENT: Final = frozenset(
    [
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "origin",
        "proxy-authorization",
        "proxy-connection",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
"""Headers of a request that the other server does not get: those of one connection, and those of a browser for this server."""
_RETURNED: Final = ("content-type", "retry-after", "x-request-id", "x-ratelimit-")
"""Headers of an answer that are passed on begin so. Others, such as cookies, would count for this server."""
_DATA: Final = b"data:"
_CHAT: Final = CALLS["chat.completions.create"]


def checked_upstream(url: str) -> str:
    """The address of the other server, without a slash at its end.

    Raises:
        SettingsError: it is not an address over HTTP.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the host, or of the port
        is_address = False
    if not is_address or parts.query or parts.fragment:
        raise SettingsError(f"{url!r} is not an address of a model's server: use one such as http://localhost:11434/v1")
    return url.rstrip("/")


class Proxy:
    """Passes calls on to one server.

    Args:
        authenticator: admits requests, and opens memories.
        upstream: the checked address of the other server.
    """

    def __init__(self, authenticator: Authenticator, upstream: str) -> None:
        self._authenticator = authenticator
        self._upstream = upstream
        self._client: httpx2.AsyncClient | None = None

    def app(self) -> Starlette:
        """The routes below `/proxy`: with the scope in the path, or that of the key."""
        return Starlette(
            routes=[
                Route(f"{place}/v1{path}", handler, methods=[method])
                for place in ("", "/scopes/{scope}")
                for path, handler, method in ((COMPLETIONS, self._complete, "POST"), (MODELS, self._models, "GET"))
            ],
            exception_handlers={HTTPException: _not_served},
        )

    async def close(self) -> None:
        """Close the connections to the other server."""
        if self._client is not None:
            await self._client.aclose()

    async def _complete(self, request: Request) -> Response:
        """One call with memory. What the other server answers is passed on, errors too."""
        try:
            memory = await run_in_threadpool(self._memory, request)
            allow_body(request.scope, CALL_MOST, "send fewer messages, pictures or files in one call")
            body = _body(request, await request.body())
            turn = await run_in_threadpool(memory.begin, _CHAT, body)
            answer = await self._send(request, COMPLETIONS, turn.arguments)
        except SlowwaveError as error:
            return problem_of(error)
        if answer.status_code == OK and body.get("stream") is True:
            await run_in_threadpool(turn.end, None)  # what was asked is stored when the answer begins
            return PassedStream(answer, turn)
        async with aclosing(answer):
            try:
                content = await _read(answer)
            except SlowwaveError as error:
                return problem_of(error)
        if answer.status_code == OK and (result := _parsed(content)) is not None:
            await run_in_threadpool(turn.end, result)
        return Response(content, answer.status_code, _returned(answer))

    async def _models(self, request: Request) -> Response:
        """The models of the other server."""
        try:
            await run_in_threadpool(self._memory, request)
            answer = await self._send(request, MODELS, None)
            async with aclosing(answer):
                return Response(await _read(answer), answer.status_code, _returned(answer))
        except SlowwaveError as error:
            return problem_of(error)

    def _memory(self, request: Request) -> ClientMemory:
        """The memory of a request.

        Raises:
            UnauthorizedError: a key is needed, and the request has no valid one; or the other server would get a key of the
                store.
            ForbiddenError: the key may not read and write the scope.
            InputError: the scope is not a path.
        """
        _, _, other = request.headers.get("authorization", "").rpartition(" ")
        if other.startswith(MARK):
            raise UnauthorizedError(
                "`Authorization` has a key of Slowwave: send that in `X-Slowwave-Key`, and in `Authorization` the key of the "
                "other server"
            )
        secret = request.headers.get(KEY)
        caller = self._authenticator.caller(None) if secret is None else self._authenticator.holder(secret)
        try:
            scope = unquote(request.path_params.get("scope", ""), errors="strict") or caller.own_scope
        except UnicodeDecodeError as error:
            raise InputError("the scope in the path is not valid UTF-8") from error
        return ClientMemory(caller.memory(scope, "read", "write"), None, BUDGET_TOKENS)

    async def _send(self, request: Request, path: str, body: Mapping[str, Any] | None) -> "httpx2.Response":
        """Send a request on, and return the answer as soon as its headers are there.

        Raises:
            PortError: the other server cannot be reached, or does not answer.
        """
        import httpx2  # noqa: PLC0415 - few servers are proxies, and the import takes a tenth of a second

        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
                verify=httpx2.create_ssl_context(),
                trust_env=not is_this_machine(self._upstream),  # a proxy would get what is meant for this machine
            )
        headers = {
            name: value
            for name, value in request.headers.items()
            if name not in _NOT_SENT and not name.startswith(_OURS) and name != "content-type"
        }
        content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        if content is not None:
            headers["content-type"] = "application/json"
        sent = self._client.build_request(request.method, f"{self._upstream}{path}", headers=headers, content=content)
        try:
            return await self._client.send(sent, stream=True)
        except (httpx2.HTTPError, OSError) as error:
            raise PortError(f"the other server does not answer ({type(error).__name__})") from error


def _not_served(_: Request, error: Exception) -> Response:
    """A path or a method that the proxy does not have, as problem details."""
    assert isinstance(error, HTTPException)
    words = f"the proxy serves POST {COMPLETIONS} and GET {MODELS} only, below /proxy/v1 or /proxy/scopes/SCOPE/v1"
    return problem(status_kind(error.status_code, error.detail), words)


def _body(request: Request, content: bytes) -> dict[str, Any]:
    """The body of a call.

    Raises:
        InputError: it is not a JSON object, or is not sent as JSON.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":  # a form of another page cannot send it
        raise InputError("send the call as JSON, with the header `Content-Type: application/json`")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError("the call is not valid JSON") from error
    if not isinstance(body, dict):
        raise InputError("the call is not a JSON object")
    return body


def _returned(answer: "httpx2.Response") -> dict[str, str]:
    """The headers of an answer that are passed on. Its bytes are passed on uncompressed."""
    return {name: value for name, value in answer.headers.items() if name.lower().startswith(_RETURNED)}


async def _read(answer: "httpx2.Response") -> bytes:
    """The whole content of an answer.

    Raises:
        PortError: it broke off.
    """
    import httpx2  # noqa: PLC0415 - see above

    try:
        return await answer.aread()
    except (httpx2.HTTPError, OSError) as error:
        raise PortError(f"the answer of the other server broke off ({type(error).__name__})") from error


class PassedStream(StreamingResponse):
    """An answer whose bytes are passed on as they come. What was read of it is stored when it ends, or when the client leaves."""

    def __init__(self, answer: "httpx2.Response", turn: Turn) -> None:
        super().__init__(_collected(answer, turn), answer.status_code, _returned(answer))
        self._answer = answer
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer. A client may have left before its first byte, and then nothing of the stream is read."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with CancelScope(shield=True):  # a client that leaves cancels this task
                await self._answer.aclose()
                await run_in_threadpool(self._turn.end, None)


async def _collected(answer: "httpx2.Response", turn: Turn) -> AsyncIterator[bytes]:
    """The bytes of an answer, whose pieces the turn remembers."""
    line = b""
    async for part in answer.aiter_bytes():
        *lines, line = (line + part).split(b"\n")
        _collect(turn, lines)
        yield part
    _collect(turn, [line])


def _collect(turn: Turn, lines: Sequence[bytes]) -> None:
    """Remember the pieces of the answer in lines of a stream."""
    for line in lines:
        if line.startswith(_DATA) and (event := _parsed(line.removeprefix(_DATA))) is not None:
            turn.collect(event)


def _parsed(text: bytes) -> object | None:
    """A value of JSON whose objects have attributes, as those of a client's package; None if it is none."""
    try:
        return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        return None
