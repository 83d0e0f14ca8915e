"""LangChain: middleware that gives an agent a memory, and a retriever that searches one.

Pass the middleware to `create_agent(model, middleware=[SlowwaveMiddleware(memory)])`. docs/adapters/langchain.md has a
complete program.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from slowwave import AgentMemory, Hit, InputError
from slowwave.adapters import missing, tolerated

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import OmitFromSchema
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
    from langchain_core.retrievers import BaseRetriever
    from langgraph.channels import UntrackedValue
    from langgraph.runtime import Runtime
    from pydantic_core import to_json
except ImportError as error:
    raise missing(__name__, error) from error

ChooseMemory: TypeAlias = Callable[[Runtime[Any]], AgentMemory]

DEFAULT_CONVERSATION: Final = "default"
"""The conversation of runs without a thread."""
INSERTED: Final = "lc_source"
"""LangChain's mark, in `additional_kwargs`, of a message that no person wrote, such as a summary."""
_PRIVATE: Final = OmitFromSchema(input=True, output=True)


class SlowwaveState(AgentState[Any]):
    """The state of an agent with memory. Both fields are private to the middleware.

    Attributes:
        slowwave_asked: the messages of the user that the run answers.
        slowwave_context: what was recalled for them. It is in no checkpoint: a run that is resumed recalls again.
    """

    slowwave_asked: NotRequired[Annotated[list[HumanMessage], _PRIVATE]]
    slowwave_context: NotRequired[Annotated[str, UntrackedValue, _PRIVATE]]


class SlowwaveMiddleware(AgentMiddleware[SlowwaveState, Any, Any]):
    """Memory of a LangChain agent, for `invoke`, `stream` and their async forms.

    Before the agent runs it builds a context for what the user says: facts, and messages of other conversations, fenced as
    data. Each call of the model in this run gets it at the end of its system message. After the run it stores the messages
    of the user, and the texts of the model as the assistant's. A failure of the store, the embedder or the model of the
    memory is logged, and the run goes on without memory.

    Args:
        memory: the memory of one user, which stays open; or, for an agent that serves many users, a function that returns
            the memory of the user of a run, such as `lambda runtime: store.within("users", runtime.context.user)`.
        conversation: where the messages are stored; None: the `thread_id` of the run, else "default".
        budget_tokens: the size limit of the context in tokens, estimated; at least 64.

    Raises:
        InputError: an argument is invalid.
    """

    state_schema = SlowwaveState

    def __init__(
        self, memory: AgentMemory | ChooseMemory, *, conversation: str | None = None, budget_tokens: int = 800
    ) -> None:
        super().__init__()
        if not isinstance(memory, AgentMemory) and not callable(memory):
            raise InputError(
                f"memory is of type {type(memory).__name__}: pass an AgentMemory, or a function from the runtime to one"
            )
        self._memory = memory
        self._conversation = conversation
        self._budget_tokens = budget_tokens

    def before_agent(self, state: SlowwaveState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall what is known for the messages of the user.

        Raises:
            InputError: the conversation, the thread or `budget_tokens` is invalid.
        """
        asked = _asked(state["messages"])
        return {"slowwave_asked": asked, "slowwave_context": self._recall(asked, state["messages"], runtime)}

    async def abefore_agent(self, state: SlowwaveState, runtime: Runtime[Any]) -> dict[str, Any]:
        """`before_agent` on a thread of its own."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the context at the end of its system message."""
        return handler(self._with_context(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """`wrap_model_call` for async runs."""
        return await handler(await asyncio.to_thread(self._with_context, request))

    def after_agent(self, state: SlowwaveState, runtime: Runtime[Any]) -> None:
        """Store what the user and the agent said. A message that was stored before is not stored again."""
        asked = state.get("slowwave_asked") or []
        known = [message.id for message in asked]
        places = [number for number, message in enumerate(state["messages"]) if message.id in known]
        later = state["messages"][max(places, default=-1) + 1 :]
        replies: list[BaseMessage] = [message for message in later if isinstance(message, AIMessage)]
        if asked and (result := state.get("structured_response")) is not None:
            replies.append(AIMessage(to_json(result, fallback=str).decode(), id=f"{asked[-1].id}/result"))
        turn = list(_stored([*asked, *replies]))
        if asked and turn:
            with tolerated("storing a turn", also_input=True):
                self._memory_of(runtime).add_messages(turn, self._conversation_of(runtime))

    async def aafter_agent(self, state: SlowwaveState, runtime: Runtime[Any]) -> None:
        """`after_agent` on a thread of its own."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _memory_of(self, runtime: Runtime[Any]) -> AgentMemory:
        return self._memory if isinstance(self._memory, AgentMemory) else self._memory(runtime)

    def _conversation_of(self, runtime: Runtime[Any]) -> str:
        if self._conversation is not None:
            return self._conversation
        thread = runtime.execution_info.thread_id if runtime.execution_info is not None else None
        return DEFAULT_CONVERSATION if thread is None else str(thread)

    def _recall(self, asked: Sequence[HumanMessage], messages: Sequence[AnyMessage], runtime: Runtime[Any]) -> str:
        """The context for these messages. If the model sees the earlier messages of a thread, they are left out."""
        sees_history = any(isinstance(message, AIMessage) for message in messages) and self._conversation is None
        question, conversation = "\n".join(message.text for message in asked), self._conversation_of(runtime)
        with tolerated("recalling"):
            found = self._memory_of(runtime).context(
                question,
                conversation=None if sees_history else conversation,
                except_conversation=conversation if sees_history else None,
                budget_tokens=self._budget_tokens,
            )
            return str(found) if found.sections else ""
        return ""

    def _with_context(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        state: Any = request.state
        context = state.get("slowwave_context")
        if context is None:  # a run that was resumed
            context = self._recall(state.get("slowwave_asked") or [], state["messages"], request.runtime)
        if not context:
            return request
        before = request.system_message or SystemMessage("")
        if isinstance(before.content, str):
            content: Any = f"{before.content}\n\n{context}".lstrip()
        else:
            content = [*before.content, {"type": "text", "text": context}]
        return request.override(system_message=before.model_copy(update={"content": content}))


def _asked(messages: Sequence[AnyMessage]) -> list[HumanMessage]:
    """The last messages that a person wrote, in order, up to a message of another kind."""
    found: list[HumanMessage] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage) and INSERTED not in message.additional_kwargs:
            found.insert(0, message)
        elif found:
            break
    return found


def _stored(messages: Sequence[BaseMessage]) -> Iterator[dict[str, Any]]:
    """Messages as the memory takes them. Their ids name the words too, because an edited message keeps its id."""
    for message in messages:
        is_user = isinstance(message, HumanMessage)
        text = str(message.text)
        if not is_user and not text.strip():
            continue  # it only calls tools
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        yield {
            "role": "user" if is_user else "assistant",
            "content": message.content if is_user else text,
            "id": f"{message.id}/{digest}",
        }


class SlowwaveRetriever(BaseRetriever):
    """Finds memories as documents, for chains and agents that take a retriever.

    A document has the id and the text of a memory. Its metadata are those of the memory, and "kind", "trust", "at" (ISO 8601),
    "conversation", "score", "relevance" (0 to 1) and "stale" (it is outdated). The texts are what others said: mark them as data
    in a prompt, or use `str(memory.context(question))`, which does.

    Args:
        memory: the memory to search. It stays open.
        k: how many documents at most; `invoke(question, k=3)` sets it for one call.
        kinds: only these kinds of memories, such as ["message"] or ["note"]; None: all.
        where: only memories whose metadata pass this filter (docs/notes.md).
        min_relevance: only memories of at least this relevance, 0 to 1.
        deep: also search archived, superseded and retracted memories.
    """

    memory: AgentMemory
    k: int = 10
    kinds: list[str] | None = None
    where: dict[str, Any] | None = None
    min_relevance: float | None = None
    deep: bool = False

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the framework's signature
        k: int | None = None,
    ) -> list[Document]:
        if not query.strip():
            return []
        hits = self.memory.search(
            query,
            top_k=self.k if k is None else k,
            kinds=self.kinds,
            where=self.where,
            min_relevance=self.min_relevance,
            deep=self.deep,
        )
        return [_document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        """The documents, found on a thread: without this method LangChain refuses `k` in async calls."""
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k)


def _document(hit: Hit) -> Document:
    memory = hit.memory
    own = {
        "kind": memory.kind,
        "trust": memory.trust,
        "at": memory.at.isoformat(),
        "conversation": memory.conversation,
        "score": hit.score,
        "relevance": hit.relevance,
        "stale": hit.stale,
    }
    return Document(id=memory.id, page_content=hit.text, metadata={**memory.metadata, **own})
