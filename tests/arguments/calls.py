"""Every public function of the library with valid arguments, found by introspection of the signatures.

A new method, argument or field is tried without a change here. A new argument without a default needs a valid value in
`VALID`; without it the tests fail and say so.
"""

import inspect
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slowwave import AgentMemory, Config, Fact, Group, Message, Note, Scene, SetTitle, Slowwave, compat
from slowwave.aio import VIEWS, verbs
from slowwave.errors import SlowwaveError
from slowwave.testing import FrozenClock

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SAYS = {"role": "user", "content": "Hello"}
FACT = {"text": "Bob owns the cache"}
Use = Callable[["Place", Any], object]


class Place:
    """An open store with some content, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = str(folder / "a.db")
        self.store = Slowwave.open(self.address, llm=None, embedder="none", clock=FrozenClock(START))
        self.memory = self.store.within("keeper")
        self.files = 0
        self.fill()

    def fill(self) -> None:
        """Store what the calls need, if a call before has removed it."""
        memory = self.memory
        if not memory.get_all():
            memory.add("Alice owns the deploy pipeline", category="person")
        if not memory.get_all(kinds=["message"], phases=["active", "core"]):
            self.files += 1
            memory.add_message(Message("user", "The database is Postgres.", id=f"m-{self.files}"), "monday")
        if memory.read_note("a") is None:
            memory.note("a", "tea", data={"a": 1})

    @property
    def fact(self) -> Any:  # noqa: ANN401 - a Memory
        return self.memory.get_all()[0]

    @property
    def plan(self) -> Any:  # noqa: ANN401 - a Plan
        return self.memory.sleep(dry_run=True).plan

    def new_path(self, ending: str = "") -> Path:
        self.files += 1
        return self.folder / f"new-{self.files}{ending}"

    def importable(self) -> Path:
        path = self.new_path(".jsonl")
        path.write_text('{"role": "user", "content": "Alice owns the deploy pipeline"}\n', encoding="utf-8")
        return path

    def plan_file(self) -> Path:
        path = self.new_path(".json")
        self.memory.save_plan(self.plan, path)
        return path

    def vault(self) -> Path:
        path = self.new_path()
        self.memory.export_vault(path)
        return path


VALID: dict[str, Callable[[Place], Any]] = {
    "beginning": lambda p: p.fact.id[:8],
    "add_key.label": lambda _: "laptop",
    "call": lambda _: lambda: "done",
    "candidate": lambda _: "Carol owns the cache",
    "command.text": lambda _: "@memory-status",
    "conversation": lambda _: "monday",
    "delete_scope.names": lambda p: p.store.scopes()[0].path,
    "erase.dry_run.text": lambda _: "Alice",
    "erase.rewrite.text": lambda _: "Alice",
    "fact_texts": lambda p: [p.fact.text],
    "facts": lambda _: ["Bob owns the cache"],
    "folder": lambda p: p.vault(),
    "hits": lambda p: [p.fact],
    "import_.path": lambda p: p.importable(),
    "key_id": lambda p: p.store.add_key("laptop").key.id,
    "knowledge": lambda p: p.memory.knowledge,
    "llm": lambda _: None,
    "load_plan.path": lambda p: p.plan_file(),
    "memories": lambda p: [p.fact],
    "memory": lambda p: p.memory,
    "memory_id": lambda p: p.fact.id,
    "message": lambda _: Message("user", "Hello"),
    "messages": lambda _: [Message("user", "Hello"), Message("user", "You")],
    "model": lambda _: None,
    "name": lambda _: "a",
    "names": lambda _: "keeper",
    "notes": lambda _: [Note(name="b")],
    "path": lambda p: p.new_path(),
    "plan": lambda p: p.plan,
    "query": lambda _: "who owns the pipeline?",
    "recent_messages": lambda _: [Message("user", "Hello")],
    "request": lambda _: "once",
    "run_id": lambda p: p.memory.runs()[0].id,
    "secret": lambda _: "sw_none",
    "text": lambda _: "Bob owns the cache",
    "title": lambda _: "Title",
    "topic": lambda _: "pipeline",
    "trust": lambda _: "tool",
    "update.memory_id.text": lambda _: "Bob owns the cache",
    "wanted": lambda _: "monday",
}
"""Valid values: by function, tried argument and argument; by function and argument; or by the argument alone."""


@dataclass(frozen=True)
class Case:
    """One argument of one public function, or one field of a value that a function takes."""

    function: str
    argument: str
    run: Use
    callback: bool = False
    """Whether the argument is a function of the caller, whose own exceptions pass through."""


def cases() -> dict[str, list[Case]]:
    """All arguments of the library's public functions, by function."""
    found: dict[str, list[Case]] = {}
    for case in (*_of_facades(), *_of_compat(), *_of_values(), *_of_items()):
        found.setdefault(case.function, []).append(case)
    return found


def _of_facades() -> Iterator[Case]:
    for facade, name in ((AgentMemory, "memory"), (Slowwave, "store")):
        for verb in sorted({*verbs(facade), *(VIEWS & set(dir(facade)))} - {"close"}):
            yield from _of_function(
                f"{facade.__name__}.{verb}",
                getattr(facade, verb),
                lambda place, name=name, verb=verb: getattr(getattr(place, name), verb),
            )
        yield from _of_function(f"{facade.__name__}.open", facade.open, lambda p, facade=facade: _opened(facade, p))


def _opened(facade: Any, place: Place) -> Callable[..., None]:  # noqa: ANN401 - a facade
    def call(**options: Any) -> None:  # noqa: ANN401 - those of `open`
        facade.open(**({"store": place.address, "llm": None, "embedder": "none"} | options)).close()

    return call


def _of_compat() -> Iterator[Case]:
    for name, function in inspect.getmembers(compat, inspect.isfunction):
        if function.__module__ == compat.__name__ and not name.startswith("_"):
            yield from _of_function(f"compat.{name}", function, lambda _, function=function: function)
    for name, function in inspect.getmembers(compat.MemoryConsolidator, inspect.isfunction):
        if not name.startswith("_"):
            yield from _of_function(
                f"MemoryConsolidator.{name}",
                function,
                lambda _, name=name: getattr(compat.MemoryConsolidator(llm=None), name),
            )
    yield from _of_function(
        "MemoryConsolidator",
        compat.MemoryConsolidator,
        lambda place: lambda **options: compat.MemoryConsolidator(**options).distilled(place.memory),
    )


def _of_function(
    name: str,
    function: Callable[..., object],
    bound: Callable[[Place], Callable[..., object]],
) -> Iterator[Case]:
    """A case for each argument of a function; the other required ones are valid."""
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
    ]
    for tried in parameters:

        def run(place: Place, value: Any, tried: inspect.Parameter = tried) -> object:  # noqa: ANN401 - what is tried
            options = {
                other.name: valid(place)
                for other in parameters
                if other is not tried and (valid := _valid(name.rpartition(".")[2], tried, other)) is not None
            }
            if tried.kind is tried.VAR_POSITIONAL:
                return bound(place)(value, **options)
            return bound(place)(**options, **{tried.name: value})

        yield Case(name, tried.name, run, callback=tried.name in {"on_progress", "clock", "call"})


def _valid(verb: str, tried: inspect.Parameter, other: inspect.Parameter) -> Callable[[Place], Any] | None:
    """What makes a valid value of another argument; None: it is left out."""
    together = VALID.get(f"{verb}.{tried.name}.{other.name}")
    if together is not None or other.default is not other.empty or other.kind is other.VAR_POSITIONAL:
        return together
    found = VALID.get(f"{verb}.{other.name}") or VALID.get(other.name)
    assert found is not None, f"add a valid value of {other.name!r} of {verb} to VALID"
    return found


def _of_values() -> Iterator[Case]:
    """The fields of the values that callers make, also as mappings."""
    made: tuple[tuple[type, dict[str, Any], Use], ...] = (
        (Message, SAYS, lambda p, v: p.memory.add_message(v)),
        (Note, {"name": "b"}, lambda p, v: p.memory.put_notes([v])),
        (Fact, FACT, lambda p, v: p.memory.add_all([v])),
        (Scene, {}, lambda p, v: p.memory.context("pipeline", profile="agent", scene=v)),
        (Config, {}, lambda _, v: _use_config(v)),
    )
    for kind, base, use in made:
        for field in fields(kind):
            if field.init:
                yield Case(
                    kind.__name__,
                    field.name,
                    lambda p, v, use=use, make=kind, base=base, n=field.name: use(p, make(**(base | {n: v}))),
                )
    for name in (*(field.name for field in fields(Message)), "name", "tool_calls"):
        yield Case("message mapping", name, lambda p, v, n=name: p.memory.add_message(SAYS | {n: v}))
    for name in ("category", "kind", "subject", "importance", "metadata", "trust", "id", "at", "expires_at", "other"):
        yield Case("fact mapping", name, lambda p, v, n=name: p.memory.add_all([FACT | {n: v}]))
    for field in ("operations", "because", "conversations", "count_of"):
        yield Case("plan", f"group.{field}", lambda p, v, n=field: p.memory.apply(_with_group(p, n, v)))
    for field in ("id", "scope", "cause", "at", "groups", "parts", "parent"):
        yield Case("plan", field, lambda p, v, n=field: p.memory.apply(replace(p.plan, **{n: v})))


def _with_group(place: Place, field: str, value: Any) -> Any:  # noqa: ANN401 - a plan
    group = Group(operations=(SetTitle(conversation="monday", before=None, after="T", because="b"),), because="b")
    return replace(place.plan, parts=(), groups=(replace(group, **{field: value}),))


def _use_config(config: Config) -> None:
    with AgentMemory.open(":memory:", llm=None, embedder="none", config=config) as memory:
        memory.add("Bob owns the cache")
        memory.add_messages([Message("user", "Bob owns the cache"), Message("user", "I live in Oslo")])
        memory.context("who owns the cache?")
        memory.sleep()


def _of_items() -> Iterator[Case]:
    """Values inside of lists, mappings and values that the library itself has returned."""
    uses: dict[str, Use] = {
        "part of a message": lambda p, v: p.memory.add_message(
            {"role": "user", "content": [{"type": "text", "text": v}]}
        ),
        "field of a message": lambda p, v: p.memory.add_message(SAYS | _keyed(v)),
        "metadata": lambda p, v: p.memory.add("Bob owns the cache", metadata={"a": v}),
        "metadata name": lambda p, v: p.memory.add("Bob owns the cache", metadata=_keyed(v)),
        "data of a note": lambda p, v: p.memory.note("c", data={"a": [v]}),
        "where": lambda p, v: p.memory.search("pipeline", where={"a": v}),
        "where name": lambda p, v: p.memory.search("pipeline", where=_keyed(v)),
        "used": lambda p, v: p.memory.record_retrieval([v]),
        "deleted": lambda p, v: p.memory.delete([v]),
        "message": lambda p, v: p.memory.add_messages([Message("user", "Hello"), v]),
        "fact": lambda p, v: p.memory.add_all(["Bob owns the cache", v]),
        "note": lambda p, v: p.memory.put_notes([Note(name="b"), v]),
        "category": lambda p, v: p.memory.search("pipeline", categories=[v]),
        "kind": lambda p, v: p.memory.get_all(kinds=[v]),
        "id of a deleted memory": lambda p, v: p.memory.delete(replace(p.fact, id=v)),
        "id of a listed memory": lambda p, v: p.memory.get_all(after=replace(p.fact, id=v), order="strength"),
        "id of a used memory": lambda p, v: p.memory.record_retrieval(replace(p.fact, id=v)),
        "id of an undone run": lambda p, v: p.memory.undo(replace(p.memory.runs()[0], id=v)),
        "name of a conversation": lambda p, v: p.memory.conversations(after=_changed(p, name=v)),
        "place of a conversation": lambda p, v: p.memory.conversations(after=_changed(p, place=v)),
        "path of a scope": lambda p, v: p.store.within(replace(p.store.scopes()[0], path=v)).get_all(),
        "fact of a tool": lambda p, v: p.memory.trusting("tool").add(v),
        "messages of a tool": lambda p, v: p.memory.trusting("tool").add_messages(v),
        "time": lambda _, v: _use_clock(v),
    }
    for name, use in uses.items():
        yield Case("item", name, use)


def _changed(where: Place, **values: Any) -> Any:  # noqa: ANN401 - a Conversation
    return replace(where.memory.conversations()[0], **values)


def _keyed(value: Any) -> dict[Any, int]:  # noqa: ANN401 - what is tried
    """A mapping with this key, if it can be one."""
    try:
        return {value: 1}
    except (TypeError, ValueError, RuntimeError):
        return {}


def _use_clock(value: Any) -> None:  # noqa: ANN401 - what is tried
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=lambda: value) as memory:
        memory.add("Bob owns the cache")
        memory.export(io.StringIO())


def readable(place: Place) -> None:
    """Every scope, memory and run can be read."""
    for scope in place.store.scopes():
        memory = place.store.within(scope)
        memory.get_all(kinds=["message", "semantic", "note"], phases=["active", "core", "cold", "retracted"])
        memory.context("who owns the pipeline?")
        for run in memory.runs(limit=None):
            assert str(run.plan)


def attempt(place: Place, case: Case, value: Any) -> None:  # noqa: ANN401 - what is tried
    """Call the function with this value: it succeeds or raises a SlowwaveError."""
    if case.callback and callable(value):
        return  # what it raises is the caller's own exception
    sentence = _error_of(case, place, value)
    if isinstance(value, str | Path):
        sentence = sentence.replace(str(value), "")  # it may repeat a path
    assert "\n" not in sentence, f"not one sentence: {sentence}"
    place.fill()


def _error_of(case: Case, place: Place, value: Any) -> str:  # noqa: ANN401 - what is tried
    try:
        case.run(place, value)
    except SlowwaveError as error:
        return str(error)
    return ""
