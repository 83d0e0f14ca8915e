"""The command serve: the interfaces over HTTP on one port, until it is stopped."""

import signal
from types import FrameType
from typing import Final

import click

from slowwave.cli.options import POSITIVE, Command, CommonOptions, WholeNumber, common_options
from slowwave.errors import SettingsError

PORT: Final = 8765
STOP_SECONDS: Final = 30
"""Seconds that running requests get to end when the server is stopped. Jobs run to their end."""
REQUEST_SECONDS: Final = 30


@click.command(
    "serve",
    cls=Command,
    examples=("slowwave serve", "slowwave serve --host 0.0.0.0 --port 8080 --allow-host memory.example.com"),
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=WholeNumber(1, 65535), default=PORT, show_default=True, help="The port to listen on.")
@click.option("--allow-host", metavar="NAME", multiple=True, help="A name of this server; may be repeated.")
@click.option("--read-only", is_flag=True, help="Refuse every write.")
@click.option(
    "--request-seconds",
    type=POSITIVE,
    default=REQUEST_SECONDS,
    show_default=True,
    help="Seconds until a connection is closed if the header of a request is not complete, or no byte of a body comes.",
)
@click.option("--sleep-every", metavar="SPAN", help="Run the sleep passes that are due this often, such as 8h.")
@click.option("--proxy-to", metavar="URL", help="Serve the chat completions of a model's server with a memory.")
@common_options
def serve(
    options: CommonOptions,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    read_only: bool,
    request_seconds: int,
    sleep_every: str | None,
    proxy_to: str | None,
) -> None:
    """Serve the store over HTTP: /v1 for programs. Ctrl-C stops it after what is running.

    Without a key only programs of this machine are admitted: `slowwave keys add` makes one. SPAN is a number of seconds,
    or a text such as 8h. The scope of each request is in its path. With --proxy-to a program whose base URL is
    http://127.0.0.1:8765/proxy/v1 has a memory in its calls.
    """
    try:
        import uvicorn  # noqa: PLC0415 - `--help` does without

        from slowwave.server.access.authentication import check_address, is_loopback  # noqa: PLC0415
        from slowwave.server.access.slow_clients import protocol  # noqa: PLC0415
        from slowwave.server.app import Serving, build_app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SettingsError(f"{error.name} is not installed: pip install 'slowwave[server]'") from error
    if proxy_to is not None and not is_loopback(host):
        raise SettingsError(f"a proxy is for programs of this machine: use --proxy-to with 127.0.0.1, not with {host}")
    with options.whole_store(create=True, sleep_every=sleep_every) as store:
        check_address(store, host)
        serving = Serving(
            names=(host, *allow_host),
            read_only=read_only,
            always_needs_key=not is_loopback(host),
            proxy_to=proxy_to,
        )
        served = build_app(store, serving)
        shown = f"[{host}]" if ":" in host else host
        options.output.write(f"serving {store!r} at http://{shown}:{port}")
        if not store.has_keys():
            options.warn("the store has no key: every program of this machine may read and write all scopes")
        config = uvicorn.Config(
            served,
            host=host,
            port=port,
            http=protocol(request_seconds),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            # uvicorn raises the signal again when it has stopped: then the store is closed, instead of the process ended
            signal.signal(number, lambda _, __: None)

        class Server(uvicorn.Server):
            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                serving.streams.end()  # a client that follows events would keep the server for STOP_SECONDS
                super().handle_exit(sig, frame)

        Server(config).run()
