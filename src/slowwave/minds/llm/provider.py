"""A provider of models: the shared transport with the errors and token counts of minds."""

from collections.abc import Mapping
from typing import Any

from slowwave.errors import ModelError
from slowwave.minds.llm.calls import LLMResponse
from slowwave.minds.llm.ledger import free
from slowwave.transport import Patience, RejectedError, Server, TransportError


class Provider:
    """A server that models are called at. Safe to share between threads.

    Args:
        base_url: what paths are appended to; None means OpenAI's own.
        api_key: the key of this address; None means OPENAI_API_KEY for OpenAI's own address, and no key elsewhere.
        seconds: how long one try may take.
        patience: how failures that may pass are tried again; by default for three times as long as one try.
    """

    def __init__(
        self, *, base_url: str | None, api_key: str | None, seconds: float, patience: Patience | None = None
    ) -> None:
        self._server = Server(
            base_url=base_url,
            api_key=api_key,
            seconds=seconds,
            patience=patience or Patience(budget=3 * seconds),
            setting="SLOWWAVE_LLM",
        )

    @property
    def address(self) -> str:
        """Where it is, without a user name or password."""
        return self._server.address

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The JSON object that the server answers.

        Raises:
            ModelError: the transport failed; it costs nothing if no request left this machine.
        """
        try:
            return self._server.post(path, body)
        except RejectedError as error:
            raise RefusedError(str(error)) from None
        except TransportError as error:
            failed = ModelError(str(error))
            raise (failed if error.sent else free(failed)) from None

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._server.close()


class RefusedError(ModelError):
    """The server understood the request and will not serve it as it is (400, 422)."""


def answered(data: Mapping[str, Any], text: object) -> LLMResponse:
    """The text as an answer with the tokens that OpenAI's or Ollama's reply counts."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    tokens_in = usage.get("prompt_tokens", data.get("prompt_eval_count"))
    tokens_out = usage.get("completion_tokens", data.get("eval_count"))
    return LLMResponse(text if isinstance(text, str) else "", tokens_in=tokens_in, tokens_out=tokens_out)
