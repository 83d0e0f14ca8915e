"""Models behind an OpenAI-compatible API: OpenAI itself, and every provider and local server that speaks it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from slowwave.errors import ModelError, SettingsError
from slowwave.minds.llm.calls import LLMResponse, Messages
from slowwave.minds.llm.completion import RawCompletion
from slowwave.minds.llm.provider import Provider, RefusedError, answered
from slowwave.ports import LLM
from slowwave.transport import Patience
from slowwave.transport.address import address_of, masked

OLLAMA: Final = "http://localhost:11434"
SECONDS: Final = 60.0
SPECS: Final = (
    "openai:MODEL, ollama:MODEL, http://host/v1#MODEL for chat models; "
    "ollama-base:MODEL, base+http://host/v1#MODEL for base models"
)


class OpenAICompatible:
    """A chat model. Time-outs, refusals to serve and pauses are dealt with here; what stays wrong is a ModelError.

    Args:
        model: its name at the provider.
        base_url: the address paths are appended to, ending in /v1 mostly; None means OpenAI's own.
        api_key: the key of this address; None means OPENAI_API_KEY for OpenAI's own address, and no key elsewhere.
        seconds: how long one try may take; all tries and pauses together take at most three times that.
        patience: another way of trying again.
        options: further fields of the request, such as {"temperature": 0}.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        seconds: float = SECONDS,
        *,
        patience: Patience | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.model = model
        self._options = dict(options)
        self._provider = Provider(base_url=base_url, api_key=api_key, seconds=seconds, patience=patience)
        self._takes_schemas = True

    def __repr__(self) -> str:
        """The model and its address; never the key."""
        return f"OpenAICompatible({self.model!r}, base_url={self._provider.address!r})"

    def complete(self, *, messages: Messages) -> LLMResponse:
        """The model's answer.

        Raises:
            ModelError: the provider refused, failed, or took too long; the sentence says which setting to check.
        """
        return self._complete(messages, {})

    def complete_json(self, *, messages: Messages, schema: Mapping[str, Any]) -> LLMResponse:
        """The model's answer, held to the schema; without it, from the first time that the server will not take one."""
        if not self._takes_schemas:
            return self._complete(messages, {})
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        try:
            return self._complete(messages, {"response_format": wanted})
        except RefusedError:
            answer = self._complete(messages, {})
            self._takes_schemas = False  # only now is it known that the schema was what it would not take
            return answer

    def close(self) -> None:
        """Let go of the connections."""
        self._provider.close()

    def _complete(self, messages: Messages, more: Mapping[str, Any]) -> LLMResponse:
        sent = [dict(message) for message in messages]
        data = self._provider.post(
            "/chat/completions", {"model": self.model, "messages": sent, **self._options, **more}
        )
        try:
            message = data["choices"][0]["message"]
            text = message.get("content") or message.get("refusal")
        except (LookupError, TypeError, AttributeError):
            raise ModelError(f"{self._provider.address} answered without any choice; is it a chat API?") from None
        return answered(data, text)


def client(spec: str, *, api_key: str | None = None, base_url: str | None = None, seconds: float | None = None) -> LLM:
    """The model a setting names; `seconds` is how long one try may take, 60 by default.

    >>> client("ollama:llama3")
    OpenAICompatible('llama3', base_url='http://localhost:11434/v1')
    >>> client("http://gpu:8000/v1#qwen3")
    OpenAICompatible('qwen3', base_url='http://gpu:8000/v1')

    Raises:
        SettingsError: for a spec nobody knows, or without a model.
    """
    base = spec.startswith("base+")
    seconds = SECONDS if seconds is None else seconds
    address = spec.removeprefix("base+")
    if address.startswith(("http://", "https://")):
        url, _, model = address.partition("#")
        if model and base:
            return RawCompletion(model, url, api_key, seconds)
        if model:
            return OpenAICompatible(model, url, api_key, seconds)
    kind, _, model = spec.partition(":")
    if model and kind == "openai":
        return OpenAICompatible(model, base_url, api_key, seconds)
    if model and kind == "ollama":
        return OpenAICompatible(model, base_url or f"{OLLAMA}/v1", api_key, seconds)
    if model and kind == "ollama-base":
        return RawCompletion(model, base_url or OLLAMA, api_key, seconds, api="ollama")
    raise SettingsError(f"{masked(spec)!r} names no model: use one of {SPECS}")


def shown(spec: str) -> str:
    """The spec as it may be printed and stored: its URL, if it is one, without user name and password."""
    base = "base+" if spec.startswith("base+") else ""
    address = spec.removeprefix(base)
    if not address.startswith(("http://", "https://")):
        return spec
    url, mark, model = address.partition("#")
    return f"{base}{address_of(url)}{mark}{model}"
