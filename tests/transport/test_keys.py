"""Which key is sent to which server."""

import logging
import socket
from collections.abc import Callable, Iterator

import pytest

from slowwave.embedders.openai import OpenAICompatibleEmbedder
from slowwave.errors import EmbedderError, ModelError, SettingsError
from slowwave.minds.llm.openai import OpenAICompatible
from slowwave.testing import OpenAIServer, Served
from slowwave.testing.openai_server import says

ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-openai-0123456789",
    "OPENAI_ADMIN_KEY": "sk-admin-0123456789",
    "OPENAI_ORG_ID": "org-0123456789",
    "OPENAI_PROJECT_ID": "proj-0123456789",
    "OPENAI_CUSTOM_HEADERS": "X-Custom: custom-0123456789\nAuthorization: Bearer sk-header-0123456789",
}
SECRETS = ("0123456789",)
KINDS = pytest.mark.parametrize("kind", ["llm", "embedder"])


@pytest.fixture
def server(unhurried: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that every plain connection reaches, whatever host it is meant for; nothing else is reachable."""
    for name, value in ENVIRONMENT.items():
        unhurried.setenv(name, value)
    connect = socket.create_connection
    with OpenAIServer(says('{"facts": []}')) as server:
        port = int(server.root.rpartition(":")[2])

        def redirected(address: tuple[str, int], *rest: object, **options: object) -> socket.socket:
            if address[1] == 443:
                raise ConnectionRefusedError("no TLS here")
            return connect(("127.0.0.1", port), *rest, **options)  # type: ignore[arg-type]

        unhurried.setattr(socket, "create_connection", redirected)
        yield server


@KINDS
@pytest.mark.parametrize(
    "address",
    [
        "http://api.openai.com/v1",
        "http://api.openai.com:80/v1",
        "http://API.OPENAI.COM/v1",
        "http://api.openai.com./v1",
        "http://api.openai.com.evil.example/v1",
        "http://api.openai.com@evil.example/v1",
        "http://user:word@api.openai.com/v1",
        "http://evil.example/api.openai.com/v1",
        "http://localhost:8000/v1",
        "http://127.0.0.1:8000/v1",
        "http://[::1]:8000/v1",
        "http://gpu/v1",
    ],
)
def test_a_server_other_than_openai_receives_nothing_of_the_environment(
    kind: str, address: str, server: OpenAIServer, ask: Callable[..., str]
) -> None:
    ask(kind, address.replace("/api.openai.com/v1", "/v1") if "evil.example/api" in address else address)
    assert server.received, "the server was asked"
    for received in server.received:
        headers = str(dict(received.headers))
        assert not [secret for secret in SECRETS if secret in headers]
        expected = "Basic " if "@" in address else "Bearer none"
        assert received.headers["authorization"].startswith(expected)


@pytest.mark.parametrize(("kind", "other"), [("llm", "embedder"), ("embedder", "llm")])
def test_the_key_of_one_address_is_not_sent_to_the_other(
    kind: str, other: str, server: OpenAIServer, ask: Callable[..., str], environment: pytest.MonkeyPatch
) -> None:
    environment.setenv(f"SLOWWAVE_{other.upper()}_KEY", "sk-of-the-other")
    ask(kind, server.url, "sk-own")
    assert {received.headers["authorization"] for received in server.received} == {"Bearer sk-own"}
    environment.delenv(f"SLOWWAVE_{kind.upper()}_KEY")
    server.received.clear()
    ask(kind, server.url)
    assert {received.headers["authorization"] for received in server.received} <= {"Bearer none"}


@KINDS
def test_openai_base_url_changes_no_address(
    kind: str, server: OpenAIServer, ask: Callable[..., str], environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OPENAI_BASE_URL", server.url)
    shown = ask(kind, "")
    assert server.received == []
    assert "https://api.openai.com/v1 cannot be reached" in shown


@pytest.mark.parametrize("url", [None, "https://api.openai.com/v1", "https://API.OpenAI.com:443/v1"])
def test_openai_gets_the_key_of_the_environment_unless_one_is_configured(
    url: str | None, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OPENAI_API_KEY", "sk-environment")
    for key, sent in ((None, "sk-environment"), ("sk-own", "sk-own"), (" sk-own\n", "sk-own")):
        for client in (
            OpenAICompatible("m", url, key)._provider,
            OpenAICompatibleEmbedder("m", base_url=url, api_key=key),
        ):
            assert client._server._connected().headers["authorization"] == f"Bearer {sent}"
            assert client._server.address.lower().startswith("https://api.openai.com")
            client._server.close()


def test_openai_gets_the_organisation_and_the_project_of_the_environment(environment: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        environment.setenv(name, value)
    headers = OpenAICompatible("m")._provider._server._connected().headers
    assert headers["openai-organization"] == ENVIRONMENT["OPENAI_ORG_ID"]
    assert headers["openai-project"] == ENVIRONMENT["OPENAI_PROJECT_ID"]
    assert "x-custom" not in headers


def test_the_query_of_an_address_is_sent_and_its_secret_not_shown(
    ask: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    with OpenAIServer(Served(status=400, body="no: secret-0123456789")) as server, caplog.at_level(logging.DEBUG):
        shown = ask("llm", f"{server.url}?api-version=1&code=secret-0123456789")
    assert {received.path for received in server.received} == {
        "/v1/chat/completions?api-version=1&code=secret-0123456789"
    }
    assert "secret-0123456789" not in shown + caplog.text
    assert "answered 400: no: …" in shown


def test_without_a_key_openai_is_not_called(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    with pytest.raises(
        ModelError, match=r"no key for https://api\.openai\.com/v1: set OPENAI_API_KEY or SLOWWAVE_LLM_KEY"
    ):
        OpenAICompatible("m").complete(messages=[{"role": "user", "content": "x"}])
    with pytest.raises(EmbedderError, match="set OPENAI_API_KEY or SLOWWAVE_EMBEDDER_KEY"):
        OpenAICompatibleEmbedder("m").embed(["x"])


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ", "sk-a\x00"])
def test_a_key_that_is_invalid_in_a_header_is_refused_and_not_shown(key: str) -> None:
    for client in (OpenAICompatible, OpenAICompatibleEmbedder):
        with pytest.raises(SettingsError, match="character") as caught:
            client("m", base_url="http://gpu/v1", api_key=key)
        assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["gpu:8000/v1", "ftp://u:hidden@gpu/v1", "http://u:hid/den@gpu/v1", "http://u:12/hidden@gpu/v1", "http://"]
)
def test_an_invalid_address_is_refused_and_its_password_not_shown(url: str) -> None:
    for client in (OpenAICompatible, OpenAICompatibleEmbedder):
        with pytest.raises(SettingsError) as caught:
            client("m", base_url=url)
        assert "hid" not in str(caught.value)
        assert "den" not in str(caught.value)
