"""Names to use instead of one that does not exist: those that other memories have for the same thing, and similar ones."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any, Final, TypeVar

from slowwave.model.counted import counted

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
    "similarity_search_with_score": ("search",),
    "invoke": ("search",),
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
    "get_facts": ("get_all",),
    "get_memory": ("get", "within"),
    "list_scopes": ("scopes",),
    "list_users": ("scopes",),
    "users": ("scopes",),
    "list_conversations": ("conversations",),
    "sessions": ("conversations",),
    "threads": ("conversations",),
    "get_messages": ("messages",),
    "chat_history": ("messages",),
    "chat_memory": ("messages",),
    "forget": ("delete", "erase"),
    "remove": ("delete", "erase"),
    "delete_all": ("erase", "delete_scope"),
    "clear": ("erase",),
    "reset": ("erase",),
    "purge": ("erase",),
    "wipe": ("erase", "delete_scope"),
    "drop": ("erase", "delete_scope"),
    "edit": ("update",),
    "correct": ("update",),
    "replace": ("update",),
    "modify": ("update",),
    "rename": ("update", "set_title"),
    "set": ("update", "note"),
    "restore": ("revive", "undo"),
    "rollback": ("undo",),
    "revert": ("undo",),
    "redo": ("undo",),
    "distil": ("consolidate",),
    "distill": ("consolidate",),
    "extract": ("consolidate",),
    "summarize": ("summaries", "consolidate"),
    "dream": ("sleep",),
    "maintain": ("sleep", "sleep_due"),
    "run_maintenance": ("sleep", "sleep_due"),
    "sleep_all": ("sleep_due",),
    "nightly": ("sleep", "sleep_due"),
    "compress": ("compact",),
    "stats": ("status",),
    "info": ("status",),
    "count": ("status",),
    "why": ("explain", "because"),
    "show": ("explain",),
    "sources": ("explain",),
    "journal": ("runs",),
    "get_note": ("read_note",),
    "set_note": ("note",),
    "put_note": ("note",),
    "add_note": ("note",),
    "write_note": ("note",),
    "delete_note": ("remove_note",),
    "list_notes": ("notes",),
    "get_notes": ("notes",),
    "import_file": ("import_",),
    "import_chatgpt": ("import_",),
    "import_conversations": ("import_",),
    "load": ("import_",),
    "dump": ("export",),
    "session": ("within",),
    "user": ("within", "scope"),
    "namespace": ("within", "scope"),
    "scope": ("within",),
    "for_user": ("within",),
    "memory": ("within",),
    "end_session": ("end_conversation",),
    "close_conversation": ("end_conversation",),
    "stop": ("close",),
    "shutdown": ("close",),
    "disconnect": ("close",),
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
    "memory_id": ("id", "ids"),
    "to_string": ("text",),
    "to_json": ("export",),
    # Arguments, query parameters and fields of JSON.
    "limit": ("top_k", "last"),
    "last": ("limit",),
    "top_k": ("limit", "last"),
    "k": ("top_k",),
    "n": ("top_k", "limit", "last"),
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
    "data": ("text",),
    "id": ("memory_id", "ids"),
    "metadata": ("where",),
    "format": ("profile",),
    "conversation_id": ("conversation",),
    "thread": ("conversation",),
    "thread_id": ("conversation",),
    "session_id": ("conversation",),
    "run_id": ("conversation",),
    "chat_id": ("conversation",),
    "user_id": ("scope", "user"),
    "agent_id": ("scope",),
    "tenant": ("scope",),
    "max_tokens": ("budget_tokens", "budget"),
    "token_budget": ("budget_tokens",),
    "tokens": ("budget_tokens", "budget"),
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

PHRASES: Final[Mapping[str, Mapping[str, str]]] = {
    "AgentMemory": {
        **dict.fromkeys(("clear", "delete_all", "delete_user", "drop", "purge", "reset", "wipe"), "erase(scope=True)"),
        "delete_conversation": "erase(conversation=NAME)",
        "delete_messages": "erase(conversation=NAME), or erase(id=ID) for one message",
        "get_memory": "get",
        "set_metadata": "update(ID, metadata={...})",
        **dict.fromkeys(("users", "list_users", "scopes"), "Slowwave.open(...).scopes()"),
    },
    "Slowwave": {
        name: f"within(NAME).{name}"
        for name in ("add", "add_messages", "search", "context", "get_all", "consolidate", "consolidate_all", "undo")
    }
    | {"delete": "delete_scope, or within(NAME).delete for one memory", "erase": "delete_scope, or within(NAME).erase"},
    "Hit": {"metadata": "memory.metadata"},
    "Memory": {"__init__": "AgentMemory.open(...) to open a memory"},
    "slowwave": {
        "open": "AgentMemory.open or Slowwave.open",
        "connect": "AgentMemory.open or Slowwave.open",
        "Client": "AgentMemory or Slowwave",
        "MemoryClient": "AgentMemory or Slowwave",
        "Store": "Slowwave",
        "AsyncMemory": "AsyncAgentMemory or AsyncSlowwave",
    },
    "add": dict.fromkeys(
        ("conversation", "conversation_id", "session_id", "thread_id", "run_id", "role"),
        "add_messages for what was said in a conversation",
    ),
    "add_message": dict.fromkeys(("role", "content"), 'add_message({"role": ..., "content": ...}, conversation)'),
    "context": {"limit": "budget_tokens"},
    "erase": dict.fromkeys(("all", "everything", "user", "user_id"), "scope=True"),
    "within": dict.fromkeys(("name", "path", "scope", "user", "user_id"), 'within("acme", "alice")'),
    "delete_scope": dict.fromkeys(("name", "path", "scope", "user", "user_id"), 'delete_scope("acme", "alice")'),
    "undo": {"last": "run_id=memory.runs(limit=1)[0].id", "id": "run_id"},
}
"""What to use instead where a name alone does not say it: by class or function, then by the name that people try.

Below "__init__" is what to use instead of a class that a program rarely creates, below "" instead of a call with more
arguments than a function takes.
"""

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


def phrase(owner: str, name: str) -> str:
    """The end of a sentence that says what to use instead of a name of a class, a function or the package; "" if unknown.

    >>> phrase("AsyncAgentMemory", "delete_user"), phrase("erase", "all"), phrase("erase", "qqq")
    (': use erase(scope=True)', ': use scope=True', '')
    """
    said = PHRASES.get(owner.removeprefix("Async"), {}).get(name)
    return f": use {said}" if said else ""


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
        owner = kind.__name__
        hint = "" if name.startswith("_") else phrase(owner, name) or use(instead_of(name, public_names(kind)))
        raise AttributeError(f"{owner} has no {name}{hint}" if hint else f"{owner!r} object has no attribute {name!r}")

    cls.__getattr__ = missing  # type: ignore[attr-defined]
    return cls


def suggests_arguments(cls: type[C]) -> type[C]:
    """Let the TypeError of a dataclass's constructor say which argument to use, or what to use instead of the class."""
    own: Any = cls
    own.__init__ = _naming_arguments(own.__init__, [field.name for field in fields(own) if field.init])
    return cls


def _naming_arguments(made: Callable[..., None], known: Collection[str]) -> Callable[..., None]:
    """The constructor of a dataclass, whose errors say what to use."""

    @wraps(made)
    def checked(self: object, *values: Any, **named: Any) -> None:  # noqa: ANN401 - those of the dataclass
        try:
            made(self, *values, **named)
        except TypeError as error:
            if hint := phrase(type(self).__name__, "__init__"):
                raise TypeError(f"{error}{hint}") from None
            if (unknown := next((name for name in named if name not in known), None)) is not None:
                raise unknown_argument(made, unknown, known) from None
            raise

    return checked


def unknown_argument(function: Callable[..., object], name: str, known: Collection[str]) -> TypeError:
    """The error for an argument that a function does not have."""
    called = _called(function)
    listed = f": it takes {', '.join(known)}" if known else ": it takes none"
    if name in A_SCOPE and not instead_of(name, known):
        listed = (
            ": a memory is of one scope, which Slowwave.open(...).within(name) or the argument scope of open chooses"
        )
    hint = phrase(called, name) or use(instead_of(name, known), listed)
    return TypeError(f"{called}() has no argument {name}{hint}")


def too_many_arguments(
    function: Callable[..., object], values: Sequence[object], positional: Sequence[str], named: Sequence[str]
) -> TypeError:
    """The error for more positional arguments than a function takes.

    Args:
        function: the function.
        values: the positional arguments of the call, the object of a method included.
        positional: the names of those that the function takes.
        named: the names of the arguments that may be passed by name.
    """
    own = [name for name in positional if name != "self"]
    passed = len(values) - len(positional) + len(own)
    takes = f"{counted(len(own), 'positional argument')} ({', '.join(own)})" if own else "no positional argument"
    others = [name for name in named if name not in positional]
    by_name = f": pass the others by name ({', '.join(others)})" if others else ""
    called = _called(function)
    hint = phrase(called, "") or by_name
    return TypeError(f"{called}() takes {takes}, and {passed} {'was' if passed == 1 else 'were'} passed{hint}")


def _called(function: Callable[..., object]) -> str:
    """The name by which a function is called; of a constructor that of its class."""
    owner, _, method = function.__qualname__.rpartition(".")
    return owner.rpartition(".")[2] if method == "__init__" else method
