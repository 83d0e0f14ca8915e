"""Names to use instead of one that does not exist: those that other memories have for the same thing, and similar ones."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, Final, TypeVar

C = TypeVar("C")

SIMILAR: Final = 0.7
"""The least similarity of a name that is suggested, from 0 to 1, as difflib measures it."""
MOST: Final = 3

GUESSES: Final[Mapping[str, tuple[str, ...]]] = {
    # Methods, as mem0, LangChain, LangGraph, Letta, Zep and vector stores name them.
    "remember": ("add",),
    "store": ("add",),
    "save": ("add",),
    "insert": ("add",),
    "put": ("add", "note"),
    "write": ("add",),
    "memorize": ("add",),
    "add_memory": ("add",),
    "add_fact": ("add",),
    "add_texts": ("add_all",),
    "add_documents": ("add_all",),
    "add_many": ("add_all",),
    "add_facts": ("add_all",),
    "log": ("add_message",),
    "append": ("add_message",),
    "observe": ("add_message",),
    "add_user_message": ("add_message",),
    "add_ai_message": ("add_message",),
    "save_context": ("add_messages",),
    "add_turn": ("add_messages",),
    "ingest": ("add_messages", "import_"),
    "recall": ("search",),
    "query": ("search", "q"),
    "retrieve": ("search",),
    "find": ("search",),
    "ask": ("search", "context"),
    "lookup": ("search",),
    "similarity_search": ("search",),
    "get_relevant_documents": ("search",),
    "search_memories": ("search",),
    "get_context": ("context",),
    "build_context": ("context",),
    "load_memory_variables": ("context",),
    "prompt": ("context",),
    "list": ("get_all", "scopes"),
    "all": ("get_all",),
    "facts": ("get_all",),
    "list_memories": ("get_all",),
    "get_memories": ("get_all",),
    "memories": ("get_all",),
    "list_scopes": ("scopes",),
    "users": ("scopes",),
    "list_conversations": ("conversations",),
    "sessions": ("conversations",),
    "threads": ("conversations",),
    "get_messages": ("messages",),
    "chat_history": ("messages",),
    "forget": ("delete", "erase"),
    "remove": ("delete", "erase"),
    "delete_all": ("erase", "delete_scope"),
    "clear": ("erase",),
    "reset": ("erase",),
    "purge": ("erase",),
    "edit": ("update",),
    "set": ("update", "note"),
    "restore": ("revive", "undo"),
    "rollback": ("undo",),
    "revert": ("undo",),
    "distil": ("consolidate",),
    "distill": ("consolidate",),
    "extract": ("consolidate",),
    "summarize": ("summaries", "consolidate"),
    "dream": ("sleep",),
    "compress": ("compact",),
    "stats": ("status",),
    "info": ("status",),
    "journal": ("runs",),
    "import_file": ("import_",),
    "load": ("import_",),
    "dump": ("export",),
    "session": ("within",),
    "user": ("within", "scope"),
    "namespace": ("within",),
    "scope": ("within",),
    "for_user": ("within",),
    "memory": ("within",),
    # Attributes of results.
    "content": ("text",),
    "page_content": ("text",),
    "value": ("text",),
    "body": ("text", "content"),
    "created_at": ("recorded_at", "at"),
    "timestamp": ("at",),
    "date": ("at",),
    "time": ("at",),
    "similarity": ("relevance",),
    "distance": ("relevance",),
    "confidence": ("relevance",),
    "outdated": ("stale",),
    "run": ("run_id",),
    "memory_id": ("id",),
    # Arguments, query parameters and fields of JSON.
    "limit": ("top_k",),
    "k": ("top_k",),
    "n": ("top_k", "limit"),
    "n_results": ("top_k",),
    "size": ("limit", "top_k"),
    "page_size": ("limit",),
    "offset": ("after",),
    "cursor": ("after",),
    "threshold": ("min_relevance",),
    "score_threshold": ("min_relevance",),
    "min_score": ("min_relevance",),
    "filter": ("where",),
    "filters": ("where",),
    "q": ("query",),
    "search": ("q", "query"),
    "question": ("query", "q"),
    "text": ("content", "query", "q"),
    "message": ("text", "content"),
    "fact": ("text",),
    "memory_text": ("text",),
    "data_text": ("text",),
    "name": ("speaker", "subject", "conversation"),
    "author": ("speaker",),
    "conversation_id": ("conversation",),
    "thread": ("conversation",),
    "thread_id": ("conversation",),
    "session_id": ("conversation",),
    "run_id": ("conversation",),
    "chat_id": ("conversation",),
    "user_id": ("scope", "user"),
    "agent_id": ("scope",),
    "tenant": ("scope",),
    "max_tokens": ("budget_tokens",),
    "token_budget": ("budget_tokens",),
    "tokens": ("budget_tokens",),
    "budget": ("budget_tokens",),
    "ttl": ("expires_at",),
    "expires": ("expires_at",),
    "tags": ("category", "categories", "metadata"),
    "type": ("kind", "kinds", "category"),
    "types": ("kinds", "categories"),
    "start": ("since",),
    "end": ("until",),
    "before": ("until",),
    "from": ("since",),
    "to": ("until",),
    "path": ("store",),
    "db": ("store",),
    "db_path": ("store",),
    "url": ("store",),
    "model": ("llm",),
    "embedding": ("embedder",),
    "embedding_model": ("embedder",),
    "include_archived": ("deep",),
    "sort": ("order",),
    "preview": ("dry_run",),
}
"""A name that people try -> the names that may mean the same, of which those that exist are suggested."""

A_SCOPE: Final = frozenset({"user_id", "agent_id", "app_id", "tenant", "tenant_id", "namespace", "user"})
"""Arguments that name whose memory it is. A memory has one scope, so its methods take none of them."""


def instead_of(name: str, known: Collection[str]) -> tuple[str, ...]:
    """The known names to use instead of one that does not exist, best first: none if nothing is like it.

    >>> instead_of("remember", ["add", "search"]), instead_of("serach", ["add", "search"]), instead_of("xyz", ["add"])
    (('add',), ('search',), ())
    """
    import difflib  # noqa: PLC0415 - only an error needs it

    plain = name.casefold().replace("-", "_")
    meant = [guess for guess in GUESSES.get(plain, ()) if guess in known]
    near = difflib.get_close_matches(plain, known, n=MOST, cutoff=SIMILAR)
    return tuple(dict.fromkeys(meant or near))[:MOST]


def use(names: Iterable[str], otherwise: str = "") -> str:
    """The end of a sentence that suggests names: ": use a or b"; `otherwise` without any.

    >>> use(["add", "note"]), use([])
    (': use add or note', '')
    """
    listed = " or ".join(names)
    return f": use {listed}" if listed else otherwise


def public_names(kind: type) -> list[str]:
    """The names of a class that callers may use."""
    return [name for name in dir(kind) if not name.startswith("_")]


def suggests_names(cls: type[C]) -> type[C]:
    """Let the AttributeError for a name that a class does not have say which to use.

    Type checkers do not see the method that is added here, so they still report such a name.
    """

    def missing(self: object, name: str) -> Any:  # noqa: ANN401 - it returns what a property may
        kind = type(self)
        if hasattr(kind, name):  # a property that failed: its own error says why
            return object.__getattribute__(self, name)
        hint = "" if name.startswith("_") else use(instead_of(name, public_names(kind)))
        raise AttributeError(
            f"{kind.__name__} has no {name}{hint}" if hint else f"{kind.__name__!r} object has no attribute {name!r}"
        )

    cls.__getattr__ = missing  # type: ignore[attr-defined]
    return cls


def suggests_arguments(cls: type[C]) -> type[C]:
    """Let the TypeError for an argument that a dataclass does not have say which to use. For classes that callers create."""
    own: Any = cls
    own.__init__ = _naming_arguments(own.__init__, [field.name for field in fields(own) if field.init])
    return cls


def _naming_arguments(made: Callable[..., None], known: Collection[str]) -> Callable[..., None]:
    """The constructor of a dataclass, whose error for an unknown argument says which to use."""

    @wraps(made)
    def checked(self: object, *values: Any, **named: Any) -> None:  # noqa: ANN401 - those of the dataclass
        try:
            made(self, *values, **named)
        except TypeError:
            if (unknown := next((name for name in named if name not in known), None)) is not None:
                raise unknown_argument(made, unknown, known) from None
            raise

    return checked


def unknown_argument(function: Callable[..., object], name: str, known: Collection[str]) -> TypeError:
    """The error for an argument that a function does not have."""
    owner, _, method = function.__qualname__.rpartition(".")
    called = owner.rpartition(".")[2] if method == "__init__" else method
    listed = f": it takes {', '.join(known)}" if known else ": it takes none"
    if name in A_SCOPE and not instead_of(name, known):
        listed = (
            ": a memory is of one scope, which Slowwave.open(...).within(name) or the argument scope of open chooses"
        )
    return TypeError(f"{called}() has no argument {name}{use(instead_of(name, known), listed)}")
