"""Which servers are asked through the proxy of the environment, and how errors name it."""

from collections.abc import Callable

import pytest
from tests.transport.conftest import SAID

from slowwave.testing import OpenAIServer, Served
from slowwave.testing.openai_server import says

KINDS = pytest.mark.parametrize("kind", ["llm", "embedder"])
PROXIES = pytest.mark.parametrize(
    ("variable", "proxy"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:9"),
        ("ALL_PROXY", "http://127.0.0.1:9"),
        ("http_proxy", "http://127.0.0.1:9"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
    ],
)


@KINDS
@PROXIES
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1"])
def test_a_server_on_this_machine_is_asked_directly(
    kind: str, variable: str, proxy: str, host: str, unhurried: pytest.MonkeyPatch, ask: Callable[..., str]
) -> None:
    unhurried.setenv(variable, proxy)
    with OpenAIServer(says('{"facts": []}')) as server:
        ask(kind, server.url.replace("127.0.0.1", host))
        assert SAID.partition(".")[0] in str([received.body for received in server.received])


@KINDS
def test_an_error_names_the_proxy_without_its_password(
    kind: str, unhurried: pytest.MonkeyPatch, ask: Callable[..., str]
) -> None:
    with OpenAIServer(Served(status=400, body="no upstream")) as proxy:
        unhurried.setenv("HTTP_PROXY", proxy.root.replace("//", "//me:hidden-0123@"))
        shown = ask(kind, "http://gpu.example:8000/v1")
    assert f"http://gpu.example:8000/v1 through the proxy {proxy.root} answered 4" in shown
    assert "hidden-0123" not in shown


@KINDS
def test_an_error_about_a_dead_proxy_names_it(
    kind: str, unhurried: pytest.MonkeyPatch, ask: Callable[..., str]
) -> None:
    unhurried.setenv("ALL_PROXY", "http://127.0.0.1:9")
    shown = ask(kind, "http://gpu.example:8000/v1")
    assert "http://gpu.example:8000/v1 through the proxy http://127.0.0.1:9 cannot be reached" in shown
    assert "does it run?" not in shown
