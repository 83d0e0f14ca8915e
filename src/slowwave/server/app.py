"""The application that `slowwave serve` runs: every interface on one port, over one open store."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from slowwave import __version__
from slowwave.errors import SlowwaveError
from slowwave.server.access.admission import DecodedPaths, RawPaths
from slowwave.server.access.authentication import Authenticator
from slowwave.server.access.guards import BodyGuard, HostGuard
from slowwave.server.access.problems import problem, problem_of, status_kind
from slowwave.server.dashboard.site import build_dashboard
from slowwave.server.http.app import build_http
from slowwave.server.mcp import Admit, Opened, build_http_app
from slowwave.server.mem0.app import build_mem0
from slowwave.server.proxy import Proxy, checked_upstream
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans
from slowwave.server.work.streams import Streams
from slowwave.whole_store import Slowwave


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a store is served.

    Attributes:
        names: the names of the server besides "localhost"; IP addresses need none.
        read_only: refuse every write.
        always_needs_key: need a key also while the store has none.
        proxy_to: the address of a model's server, whose chat completions `/proxy` serves with a memory; None: no proxy.
        streams: the open event streams. `streams.end()` ends them, for a server that stops.
    """

    names: Iterable[str] = ()
    read_only: bool = False
    always_needs_key: bool = False
    proxy_to: str | None = None
    streams: Streams = field(default_factory=Streams)


@dataclass(slots=True, kw_only=True)
class Shared:
    """What the interfaces of one server share.

    Attributes:
        store: the open store.
        authenticator: admits requests, and opens memories.
        jobs: work on threads.
        plans: plans of dry runs that wait to be applied.
        streams: the open event streams.
    """

    store: Slowwave
    authenticator: Authenticator
    streams: Streams
    jobs: Jobs = field(default_factory=Jobs)
    plans: Plans = field(default_factory=Plans)


def build_app(store: Slowwave, serving: Serving | None = None) -> ASGIApp:
    """The application over an open store. At its shutdown it waits for running jobs; the caller closes the store."""
    serving = serving or Serving()
    authenticator = Authenticator(store, read_only=serving.read_only, always_needs_key=serving.always_needs_key)
    shared = Shared(store=store, authenticator=authenticator, streams=serving.streams)

    proxy = None if serving.proxy_to is None else Proxy(authenticator, checked_upstream(serving.proxy_to))
    mcp = build_http_app(_admit(authenticator), problem_of, read_only=serving.read_only)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.router.lifespan_context(mcp):
            yield
        if proxy is not None:
            await proxy.close()
        await run_in_threadpool(shared.jobs.close)

    app = Starlette(
        routes=[
            *_routes(shared),
            *([] if proxy is None else [Mount("/proxy", proxy.app())]),
            Route("/mcp", mcp),
            _dashboard(shared),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused},
    )
    return HostGuard(BodyGuard(RawPaths(app)), serving.names)


def _refused(_: Request, error: Exception) -> Response:
    """A path that no interface has, as problem details."""
    assert isinstance(error, HTTPException)
    return problem(status_kind(error.status_code, error.detail), error.detail)


def _admit(authenticator: Authenticator) -> Admit:
    """Admits the requests of MCP: the scope of the address, else that of the key."""

    def admit(authorization: str | None, scope: str | None) -> Opened:
        caller = authenticator.caller(authorization)
        memory = caller.memory(caller.own_scope if scope is None else scope, "read")
        return Opened(memory=memory, may_write=caller.may("write"))

    return admit


def _dashboard(shared: Shared) -> Mount:
    """The dashboard, which answers every path that no other interface has."""
    return Mount("/", DecodedPaths(build_dashboard(shared.authenticator, shared.jobs, shared.plans)))


def _routes(shared: Shared) -> list[Route | Mount]:
    """Each interface under its path. Those that are tried first have the longer paths."""

    async def alive(_: Request) -> Response:
        return JSONResponse({"status": "alive", "version": __version__})

    async def ready(_: Request) -> Response:
        try:
            await run_in_threadpool(shared.store.has_keys)  # one read of an index
        except SlowwaveError as error:
            return problem_of(error)
        return JSONResponse({"status": "ready"})

    return [
        Route("/healthz", alive),
        Route("/readyz", ready),
        Mount("/v1", build_http(shared.authenticator, shared.jobs, shared.plans, shared.streams)),
        Mount("/mem0", build_mem0(shared.authenticator)),
    ]
