"""Base models: they continue a text, over Ollama's /api/generate or OpenAI's /v1/completions."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm.calls import LLMResponse, Messages
from slowwave.minds.llm.provider import Provider, answered
from slowwave.transport import Patience

TOKENS_MOST: Final = 1_000
"""How many tokens a continuation may have; base models do not stop by themselves."""
_STOPS_MOST: Final = 4  # more, OpenAI's API refuses
_APIS: Final = ("openai", "ollama")


class RawCompletion:
    """A base model, without any chat wrapping. A mind on it uses the completion profile by itself.

    Args:
        model: its name at the server.
        base_url: for "openai" the address before /completions, for "ollama" the one before /api/generate.
        api_key: the key; None means no key.
        seconds: how long one try may take; all tries and pauses together take at most three times that.
        api: "openai" or "ollama".
        patience: another way of trying again.
        options: further fields of the request; with Ollama, its model options, such as {"temperature": 0}.
    """

    profile = "completion"

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str | None = None,
        seconds: float = 60.0,
        *,
        api: str = "openai",
        patience: Patience | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if api not in _APIS:
            raise InputError(f"api={api!r}: use one of {', '.join(_APIS)}")
        self.model, self._api, self._options = model, api, dict(options)
        self._provider = Provider(base_url=base_url, api_key=api_key, seconds=seconds, patience=patience)

    def __repr__(self) -> str:
        """The model and its address; never the key."""
        return f"RawCompletion({self.model!r}, base_url={self._provider.address!r}, api={self._api!r})"

    def complete(self, *, messages: Messages) -> LLMResponse:
        """What follows the messages' words."""
        return self.continued(prompt="\n\n".join(message["content"] for message in messages), stop=())

    def continued(self, *, prompt: str, stop: Sequence[str]) -> LLMResponse:
        """What follows the prompt, up to the first of the stop texts, which the server is given.

        Raises:
            ModelError: the server refused, failed, or took too long.
        """
        if self._api == "ollama":
            options = {"num_predict": TOKENS_MOST, **self._options, **({"stop": list(stop)} if stop else {})}
            body = {"model": self.model, "prompt": prompt, "raw": True, "stream": False, "options": options}
            data = self._provider.post("/api/generate", body)
            return answered(data, data.get("response"))
        body = {"model": self.model, "prompt": prompt, "max_tokens": TOKENS_MOST, **self._options}
        data = self._provider.post("/completions", {**body, **({"stop": list(stop[:_STOPS_MOST])} if stop else {})})
        try:
            return answered(data, data["choices"][0]["text"])
        except (LookupError, TypeError):
            raise ModelError(
                f"{self._provider.address} answered without any choice; is it a completions API?"
            ) from None

    def close(self) -> None:
        """Let go of the connections."""
        self._provider.close()
