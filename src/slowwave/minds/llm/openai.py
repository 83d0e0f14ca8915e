"""Models behind OpenAI's API, and base models behind OpenAI's completions or Ollama's generate API.

All of them use the shared transport; its failures become ModelError.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from slowwave.errors import InputError, ModelError, SettingsError
from slowwave.minds.llm.calls import LLMResponse, Messages, raw_of, response_text
from slowwave.minds.llm.shared_limits import free
from slowwave.ports import LLM
from slowwave.transport import RejectedError, RetryPolicy, Server, TransportError
from slowwave.transport.address import address_of, masked

OLLAMA: Final = "http://localhost:11434"
SECONDS: Final = 60.0
TOKENS_MAX: Final = 1_000
"""Tokens of one continuation; base models do not stop by themselves."""
SPECS: Final = (
    "openai:MODEL, ollama:MODEL, http://host/v1 or http://host/v1#MODEL for chat models; "
    "ollama-base:MODEL, base+http://host/v1#MODEL for base models"
)
_LISTED: Final = 20
"""Models of a server that an error names."""
_STOPS_MAX: Final = 4  # OpenAI's API refuses more
_APIS: Final = ("openai", "ollama")


class RefusedError(ModelError):
    """The server understood the request and refused it as invalid or too large (400, 413, 422)."""


class Provider:
    """A server that models are called at. Threads may share it.

    Args:
        base_url: the URL that paths are appended to; None means OpenAI's own.
        api_key: the key of this address; None means OPENAI_API_KEY for OpenAI's own address, and no key elsewhere.
        seconds: the limit of one attempt.
        patience: how temporary failures are retried; by default for three times as long as one attempt.
    """

    def __init__(
        self, *, base_url: str | None, api_key: str | None, seconds: float, patience: RetryPolicy | None = None
    ) -> None:
        self._server = Server(
            base_url=base_url,
            api_key=api_key,
            seconds=seconds,
            patience=patience or RetryPolicy(budget=3 * seconds),
            setting="SLOWWAVE_LLM",
        )

    @property
    def address(self) -> str:
        """The address without a user name or password."""
        return self._server.address

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The JSON object that the server answers.

        Raises:
            ModelError: the transport failed; it costs nothing if no request left this machine.
        """
        try:
            return self._server.post(path, body)
        except RejectedError as error:
            refusal = RefusedError(str(error))
            refusal.refused = True
            raise refusal from None
        except TransportError as error:
            failure = ModelError(str(error))
            failure.retry_after = error.limited
            raise (failure if error.sent else free(failure)) from None

    def only_model(self, prefix: str = "") -> str:
        """The name of the only model that the server lists.

        Args:
            prefix: what precedes the address in a setting, such as "base+".

        Raises:
            ModelError: the server lists no model or several, or has no list. It costs nothing.
        """
        setting = f"{prefix}{self.address}#"
        try:
            listed = self._server.get("/models").get("data")
        except TransportError as error:
            raise free(ModelError(f"{error}; name the model, as in {setting}MODEL, if it has no list")) from None
        entries = listed if isinstance(listed, list) else []
        names: list[str] = [
            entry["id"] for entry in entries if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
        ]
        if len(names) == 1:
            return names[0]
        if not names:
            raise free(ModelError(f"{self.address} lists no models: write {setting}MODEL with the name of its model"))
        shown = ", ".join(setting + name for name in names[:_LISTED])
        more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise free(ModelError(f"{self.address} has {len(names)} models: write one of {shown}{more}"))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._server.close()


class OpenAICompatible:
    """A chat model. The transport retries temporary failures; those that remain are raised as ModelError.

    Args:
        model: its name at the provider; "" means the only model that the server lists, which is looked up at the first call.
        base_url: the URL that paths are appended to, which usually ends in /v1; None means OpenAI's own.
        api_key: the key of this address; None means OPENAI_API_KEY for OpenAI's own address, and no key elsewhere.
        seconds: the limit of one attempt; all attempts and pauses together take at most three times as long.
        patience: another policy of retries.
        options: further fields of the request, such as {"temperature": 0}.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        seconds: float = SECONDS,
        *,
        patience: RetryPolicy | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.model = model
        self._options = dict(options)
        self._provider = Provider(base_url=base_url, api_key=api_key, seconds=seconds, patience=patience)
        self._accepts_schemas = True

    def __repr__(self) -> str:
        """The model and its address; never the key."""
        return f"OpenAICompatible({self.model!r}, base_url={self._provider.address!r})"

    def complete(self, *, messages: Messages) -> LLMResponse:
        """The model's answer.

        Raises:
            ModelError: the provider refused, failed, or took too long; the message names the setting to check.
        """
        return self._complete(messages, {})

    def complete_json(self, *, messages: Messages, schema: Mapping[str, Any]) -> LLMResponse:
        """The model's answer in the form of the schema; without a schema once the server has refused one."""
        if not self._accepts_schemas:
            return self._complete(messages, {})
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        try:
            return self._complete(messages, {"response_format": form})
        except RefusedError:
            answer = self._complete(messages, {})
            self._accepts_schemas = False  # the same request succeeded without the schema, so the schema was refused
            return answer

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._provider.close()

    def _complete(self, messages: Messages, extra: Mapping[str, Any]) -> LLMResponse:
        self.model = self.model or self._provider.only_model()
        body = {"model": self.model, "messages": [dict(message) for message in messages], **self._options, **extra}
        data = self._provider.post("/chat/completions", body)
        try:
            message = data["choices"][0]["message"]
            content = message.get("content")
            said: object = content if isinstance(content, Mapping) else response_text(message)
            text = said or _arguments(message) or message.get("refusal")
        except (LookupError, TypeError, AttributeError):
            raise ModelError(f"{self._provider.address} answered without any choice; is it a chat API?") from None
        return _response(data, text)


class RawCompletion:
    """A base model, which continues a text without chat roles. A mind on it uses the completion profile by default.

    Args:
        model: its name at the server; "" with "openai" means the only model that the server lists.
        base_url: for "openai" the URL before /completions, for "ollama" the one before /api/generate.
        api_key: the key; None means no key.
        seconds: the limit of one attempt; all attempts and pauses together take at most three times as long.
        api: "openai" or "ollama".
        patience: another policy of retries.
        options: further fields of the request; with Ollama, its model options, such as {"temperature": 0}.
    """

    profile = "completion"

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str | None = None,
        seconds: float = SECONDS,
        *,
        api: str = "openai",
        patience: RetryPolicy | None = None,
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
        """The continuation of the messages' texts."""
        return self.continued(prompt="\n\n".join(message["content"] for message in messages), stop=())

    def continued(self, *, prompt: str, stop: Sequence[str]) -> LLMResponse:
        """The continuation of the prompt, up to the first stop text; the server applies the stop texts.

        Raises:
            ModelError: the server refused, failed, or took too long.
        """
        if self._api == "ollama":
            options = {"num_predict": TOKENS_MAX, **self._options, **({"stop": list(stop)} if stop else {})}
            body = {"model": self.model, "prompt": prompt, "raw": True, "stream": False, "options": options}
            data = self._provider.post("/api/generate", body)
            return _response(data, data.get("response"))
        self.model = self.model or self._provider.only_model("base+")
        body = {"model": self.model, "prompt": prompt, "max_tokens": TOKENS_MAX, **self._options}
        data = self._provider.post("/completions", {**body, **({"stop": list(stop[:_STOPS_MAX])} if stop else {})})
        try:
            return _response(data, data["choices"][0]["text"])
        except (LookupError, TypeError):
            address = self._provider.address
            raise ModelError(f"{address} answered without any choice; is it a completions API?") from None

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._provider.close()


def client(spec: str, *, api_key: str | None = None, base_url: str | None = None, seconds: float | None = None) -> LLM:
    """The model that a setting names; `seconds` is the limit of one attempt, 60 by default.

    >>> client("ollama:llama3")
    OpenAICompatible('llama3', base_url='http://localhost:11434/v1')
    >>> client("http://gpu:8000/v1#qwen3")
    OpenAICompatible('qwen3', base_url='http://gpu:8000/v1')
    >>> client("http://gpu:8000/v1")
    OpenAICompatible('', base_url='http://gpu:8000/v1')

    Raises:
        SettingsError: the spec is unknown, or the URL or the key cannot be used.
    """
    base = spec.startswith("base+")
    seconds = SECONDS if seconds is None else seconds
    address = spec.removeprefix("base+")
    if address.startswith(("http://", "https://")):
        url, _, model = address.partition("#")
        return RawCompletion(model, url, api_key, seconds) if base else OpenAICompatible(model, url, api_key, seconds)
    kind, _, model = spec.partition(":")
    if model and kind == "openai":
        return OpenAICompatible(model, base_url, api_key, seconds)
    if model and kind == "ollama":
        return OpenAICompatible(model, base_url or f"{OLLAMA}/v1", api_key, seconds)
    if model and kind == "ollama-base":
        return RawCompletion(model, base_url or OLLAMA, api_key, seconds, api="ollama")
    raise SettingsError(f"{masked(spec)!r} names no model: use one of {SPECS}")


def public_spec(spec: str) -> str:
    """The spec for display and storage: its URL, if it has one, without user name and password."""
    base = "base+" if spec.startswith("base+") else ""
    address = spec.removeprefix(base)
    if not address.startswith(("http://", "https://")):
        return spec
    url, mark, model = address.partition("#")
    return f"{base}{address_of(url)}{mark}{model}"


def _arguments(message: Mapping[str, Any]) -> object:
    """The arguments of the only call in a message: some servers follow a schema by a call of a function."""
    calls = message.get("tool_calls")
    return calls[0]["function"]["arguments"] if isinstance(calls, list) and len(calls) == 1 else None


def _response(data: Mapping[str, Any], text: object) -> LLMResponse:
    """The text with the token counts and the reason of the end of OpenAI's or Ollama's reply."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    tokens_in = usage.get("prompt_tokens", data.get("prompt_eval_count"))
    tokens_out = usage.get("completion_tokens", data.get("eval_count"))
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else data
    reason = choice.get("finish_reason", choice.get("done_reason"))
    return LLMResponse(
        raw_of(text) if isinstance(text, str | Mapping | list) else "",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        finish_reason=reason if isinstance(reason, str) else None,
    )
