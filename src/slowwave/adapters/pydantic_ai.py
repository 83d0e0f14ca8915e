"""Pydantic AI: a capability that puts memories into the instructions, stores each run, and offers two tools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave import AgentMemory, Context, InputError, MessageLike, SlowwaveError
from slowwave.adapters import missing, tolerated

try:
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        BinaryContent,
        CachePoint,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextContent,
        TextPart,
        UserContent,
        UserPromptPart,
    )
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import DeferredToolRequests
    from pydantic_ai.toolsets import AgentToolset, FunctionToolset
    from pydantic_core import to_json
except ImportError as error:
    raise missing(__name__, error) from error


@dataclass
class SlowwaveMemory(AbstractCapability[Any]):
    """Memory of an agent: `Agent(model, capabilities=[SlowwaveMemory(memory)])`.

    Before a run it puts a context for the prompt into the instructions: facts and past messages, fenced as data. After the run it stores the prompt and the reply. A failure of the store, the embedder or the model
    of the memory is logged, and the run goes on without memory.

    Args:
        memory: the memory of one user. It stays open.
        conversation: where the messages are stored; None: the `conversation_id` of each run.
        budget_tokens: the size limit of the context in tokens, estimated; at least 64.
        tools: also offer the tools `recall` and `remember`. Facts of `remember` have the trust "assistant".
    """

    memory: AgentMemory
    conversation: str | None = None
    budget_tokens: int = 800
    tools: bool = True
    _known: str | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a specification in YAML or JSON cannot contain an open memory."""
        return None

    async def for_run(self, ctx: RunContext[Any]) -> "SlowwaveMemory":  # noqa: ARG002 - the framework's signature
        """A copy for one run, which builds the context once. Instructions that change in a run defeat prompt caches."""
        return replace(self)

    def get_instructions(self) -> Any:  # noqa: ANN401 - the framework's union of callables
        """The function that builds the context of a run."""
        return self._instructions

    def get_toolset(self) -> AgentToolset[Any] | None:
        """The tools `recall` and `remember`, or None."""
        return FunctionToolset([self._recall_tool(), self._remember_tool()]) if self.tools else None

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Store what the user and the agent said in the run. A run that raises stores nothing."""
        with tolerated("storing a run", also_input=True):
            await self.memory.aio.add_messages(list(_messages(ctx, result)), self._conversation(ctx))
        return result

    def _conversation(self, ctx: RunContext[Any]) -> str | None:
        return ctx.conversation_id if self.conversation is None else self.conversation

    async def _instructions(self, ctx: RunContext[Any]) -> str:
        if self._known is None:
            self._known = ""
            question = _text_of(_prompt(ctx, ctx.messages))
            with tolerated("building a context"):
                self._known = str(await self._context(ctx, question))
        return self._known

    async def _context(self, ctx: RunContext[Any], question: str, *, related_only: bool = False) -> Context:
        """The context for a question, without the present conversation if its messages are in the history of the run."""
        seen = any(message.run_id != ctx.run_id for message in ctx.messages[:-1])
        name = self._conversation(ctx)
        return await self.memory.aio.context(
            question,
            conversation=None if seen or related_only else name,
            except_conversation=name if seen else None,
            budget_tokens=self.budget_tokens,
            related_only=related_only,
        )

    def _recall_tool(self) -> Any:  # noqa: ANN401 - the framework reads the signature
        async def recall(ctx: RunContext[Any], question: str) -> str:
            """Search memory of earlier conversations for a question.

            Args:
                ctx: the run.
                question: what to look for, in words.
            """
            try:
                found = await self._context(ctx, question, related_only=True)
            except InputError as error:
                raise ModelRetry(str(error)) from error
            except SlowwaveError:
                return "Memory cannot be reached now."
            return str(found) or "Nothing is known about this."

        return recall

    def _remember_tool(self) -> Any:  # noqa: ANN401 - the framework reads the signature
        async def remember(fact: str) -> str:
            """Store one lasting fact about the user or the task. It may update or replace a known one.

            Args:
                fact: one sentence, which is understood without the conversation.
            """
            try:
                await self.memory.trusting("assistant").aio.add(fact, trust="assistant")
            except InputError as error:
                raise ModelRetry(str(error)) from error
            except SlowwaveError:
                return "Memory cannot be reached now: the fact is not stored."
            return "Stored."

        return remember


def _prompt(ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> str | Sequence[UserContent]:
    """The words of the user that began a run: its prompt, or without one those at the end of the history."""
    if ctx.prompt is not None:
        return ctx.prompt
    last = messages[-1] if messages else None
    parts = last.parts if isinstance(last, ModelRequest) else ()
    return [item for part in parts if isinstance(part, UserPromptPart) for item in _items(part.content)]


def _items(content: str | Sequence[UserContent]) -> Sequence[UserContent]:
    return [content] if isinstance(content, str) else content


def _text_of(content: str | Sequence[UserContent]) -> str:
    """The text of a prompt, without pictures and files."""
    texts = (item.content if isinstance(item, TextContent) else item for item in _items(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def _messages(ctx: RunContext[Any], result: AgentRunResult[Any]) -> Iterator[MessageLike]:
    """The prompt and the replies of a run. The same run gives the same ids, so that a repeated run is stored once.

    Only the prompt has the role "user": a tool can add prompts of its own to a run.
    """
    new = result.new_messages()
    before = result.all_messages()[: -len(new)] if new else result.all_messages()
    yield {"role": "user", "content": _parts(_prompt(ctx, before)), "id": f"{ctx.run_id}/prompt"}
    replies = [message for message in new if isinstance(message, ModelResponse)]
    texts = ["\n".join(part.content for part in reply.parts if isinstance(part, TextPart)) for reply in replies]
    if texts and not texts[-1].strip():
        texts[-1] = _output_text(result.output)
    for number, text in enumerate(texts):
        yield {"role": "assistant", "content": text, "id": f"{ctx.run_id}/{number}"}


def _parts(content: str | Sequence[UserContent]) -> list[dict[str, str]]:
    """A prompt as parts that the memory reads: texts, and a marker for each picture and file."""
    return [
        {"type": "text", "text": _text_of([item])} if isinstance(item, str | TextContent) else {"type": _kind(item)}
        for item in _items(content)
        if not isinstance(item, CachePoint)
    ]


def _kind(item: UserContent) -> str:
    """What a picture or a file is, such as "image-url" or "application/pdf"."""
    return item.media_type if isinstance(item, BinaryContent) else str(getattr(item, "kind", "file"))


def _output_text(output: object) -> str:
    """A result that a model gave by a tool, as JSON; empty for what is no answer or no text."""
    if isinstance(output, str):
        return output
    if output is None or isinstance(output, BinaryContent | DeferredToolRequests):
        return ""
    try:
        return to_json(output, fallback=str, bytes_mode="base64").decode()
    except ValueError:  # an object that contains itself
        return ""
