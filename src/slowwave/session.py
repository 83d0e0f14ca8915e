"""The state behind the facade: StoreSession for an open store, MemorySession for one scope of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from slowwave import forks, settings
from slowwave.composition import build_ports
from slowwave.errors import ClosedError, InputError, PortError
from slowwave.model.config import Config
from slowwave.model.names import checked_name
from slowwave.model.plan import Receipt
from slowwave.model.scope import DEFAULT_SCOPE, ScopeName, ancestors, path_of, scope_of
from slowwave.model.suggestions import instead_of, use
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.background import BackgroundSleeper
    from slowwave.pipelines.sleep.compact_now import Background
    from slowwave.pipelines.sleep.report import SleepReport
    from slowwave.pipelines.sleep.sleep_pass import SleepState

THREADS: Final = 64
"""Calls of an open store that may run at once for async code; more are queued. Most of a call is waiting for a model."""
DEFAULT_CONVERSATION: Final = "default"
"""The conversation of messages that are stored before any conversation was named."""


class FromSettings:
    """The default of arguments for which None is a valid value."""

    def __repr__(self) -> str:
        return "from settings"


FROM_SETTINGS: Final = FromSettings()


class StoreSession:
    """Holds an open store and what all its scopes share: connections, embedder, mind, threads.

    Threads may share a session. A forked child gets locks, threads and connections of its own (`forks`).

    Args:
        ports: the ports of any scope of the store.
        strict: raise PortError for a failure of a model or embedder, instead of reporting it in the result.
    """

    def __init__(self, ports: Ports, *, strict: bool = False) -> None:
        self._ports = ports
        self.strict = strict
        self.closed = False
        self.sleeper: BackgroundSleeper | None = None

    @property
    def ports(self) -> Ports:
        """The ports of the scope that the store was opened for.

        Raises:
            ClosedError: the store was closed.
        """
        if self.closed:
            raise ClosedError(f"the store {self.name} is closed: open it again")
        return self._ports

    @property
    def name(self) -> str:
        """The path or address of the store, also after it was closed."""
        return self._ports.store.name

    @forks.CachedProperty
    def background(self) -> "Background":
        """The thread that writes summaries of conversations in the background."""
        from slowwave.pipelines.sleep.compact_now import Background

        return Background()

    @forks.CachedProperty
    def threads(self) -> "ThreadPool":
        """The threads that run the calls of async code."""
        return ThreadPool()

    def start_sleeper(self, pause: float) -> None:
        """Every `pause` seconds, run sleep passes for all scopes that are due, on a separate thread, until `close`."""
        from slowwave.pipelines.sleep.background import BackgroundSleeper

        self.sleeper = BackgroundSleeper(self._sleep_due, pause)

    def raise_if_strict(self, problems: Sequence[str]) -> None:
        """Raise PortError if the session is strict and there are problems."""
        if self.strict and problems:
            raise PortError("; ".join(problems))

    def close(self) -> None:
        """Stop the background work and close the store. Idempotent."""
        if self.closed:
            return
        if self.sleeper:
            self.sleeper.stop()
        if "background" in vars(self):  # the cached property was used
            self.background.close()
        self.closed = True
        self._ports.store.close()
        if "threads" in vars(self):
            self.threads.executor.shutdown(wait=False)

    def _sleep_due(self) -> "SleepRound":
        from slowwave.pipelines.sleep.all_scopes import sleep_due

        return SleepRound(tuple(problem for _, report in sleep_due(self.ports.whole) for problem in report.problems))


class SleepRound(NamedTuple):
    """The problems of the sleep passes of all scopes that were due."""

    problems: tuple[str, ...]


class ThreadPool:
    """The threads of one open store. A forked child creates new threads: those of its parent do not exist in it."""

    def __init__(self) -> None:
        self._create()
        forks.watch(self)

    def after_fork(self) -> None:
        """In the child: create a new pool."""
        forks.abandon(self.executor)
        self._create()

    def _create(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.executor: ThreadPoolExecutor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="slowwave")


class MemorySession:
    """Contains the ports of one scope of an open store, and its state between two sleep passes.

    It costs about a kilobyte: connections, models, indexes and threads belong to the store.

    Args:
        store: the open store.
        ports: the ports of the scope.
        owner: whether closing this closes the store.
    """

    def __init__(self, store: StoreSession, ports: Ports, *, owner: bool = False) -> None:
        self.store = store
        self._ports = ports
        self._owner = owner
        self._closed = False
        self._sleeper: BackgroundSleeper | None = None

    @property
    def ports(self) -> Ports:
        """The ports.

        Raises:
            ClosedError: this session or its store was closed.
        """
        if self._closed or self.store.closed:
            raise ClosedError("this memory is closed: open it again with AgentMemory.open(...)")
        return self._ports

    @property
    def store_name(self) -> str:
        """The path or address of the store, also after the session was closed."""
        return self.store.name

    @property
    def scope(self) -> str:
        """The scope, also after the session was closed."""
        return self._ports.scope

    @forks.CachedProperty
    def sleep_state(self) -> "SleepState":
        """What the session remembers between two sleep passes."""
        from slowwave.pipelines.sleep.sleep_pass import SleepState

        return SleepState()

    @property
    def background(self) -> "Background":
        """The thread of the store that writes summaries of conversations in the background."""
        return self.store.background

    @property
    def background_problems(self) -> tuple[str, ...]:
        """The latest problems of summaries that were written in the background; none if none was due."""
        return self.background.problems(self.scope) if "background" in vars(self.store) else ()

    @property
    def sleeper(self) -> "BackgroundSleeper | None":
        """The thread that runs sleep passes of this scope, or of all scopes of the store; None if there is none."""
        return self._sleeper or self.store.sleeper

    def start_sleeper(self, pause: float) -> None:
        """Every `pause` seconds, run a sleep pass of the scope on a separate thread, until the session is closed."""
        from slowwave.pipelines.sleep.background import BackgroundSleeper

        self._sleeper = BackgroundSleeper(self.sleep_pass, pause)

    def view(self, ports: Ports) -> "MemorySession":
        """Another session of the same open store. Closing it leaves the store open."""
        return MemorySession(self.store, ports)

    def within(self, names: Sequence[object], *, inherit: bool, zone: str | None = None) -> "MemorySession":
        """The session of a scope below this one, by the names of its path."""
        scope = scope_of(names, below=self.scope)
        return self.view(ports_of(self.ports, scope, inherit=inherit, zone=zone))

    def close(self) -> None:
        """Close this session, and the store if this session owns it. Idempotent."""
        if self._sleeper:
            self._sleeper.stop()
        if self._owner:
            self.store.close()
        self._closed = True

    def replace_config(self, values: Mapping[str, object]) -> None:
        """Use these fields of Config from now on; the other fields stay as they are."""
        if values:
            current = {field.name: getattr(self._ports.config, field.name) for field in fields(Config)}
            self._ports = replace(self._ports, config=Config.from_mapping({**current, **values}))

    def conversation_name(self, name: str | int | None) -> str:
        """The checked name; for None the conversation written to last, else "default"."""
        if name is not None:
            return checked_name(name, "conversation", numbers=True)
        from slowwave.pipelines.conversations import latest_conversation

        return latest_conversation(self.ports) or DEFAULT_CONVERSATION

    def after_messages(self, conversation: str) -> None:
        """Summarise the conversation in the background if a stretch of it is due and the configuration says so."""
        if self.ports.config.cascade_in_background:
            self.background.after_messages(self.ports.whole, conversation)

    def after_write(self, receipt: Receipt) -> Receipt:
        """Run a sleep pass once `sleep_every_ingests` writes were stored; on the thread of sleep passes if it exists."""
        from slowwave.pipelines.planning import with_notes

        ports = self.ports
        every = ports.config.sleep_every_ingests
        if every is None or not receipt.applied or ports.store.ingests(ports.scope) < every:
            return self.checked(receipt)
        if self.sleeper and self.sleeper.wake():
            return self.checked(receipt)
        report = self.sleep_pass()
        return self.checked(with_notes(receipt, notes=("slept",), problems=report.problems))

    def checked(self, receipt: Receipt) -> Receipt:
        """The receipt; a strict session raises its problems."""
        self.raise_if_strict(receipt.problems)
        return receipt

    def raise_if_strict(self, problems: Sequence[str]) -> None:
        """Raise PortError if the session is strict and there are problems."""
        self.store.raise_if_strict(problems)

    def sleep_pass(self) -> "SleepReport":
        """Run one sleep pass of the scope."""
        from slowwave.pipelines.sleep.sleep_pass import sleep

        return sleep(self.ports.start_run(), self.sleep_state)


def open_store(
    where: str | Path | None,
    *,
    scope: ScopeName | None = None,
    inherit: bool = False,
    llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
    embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
    config: Config | None = None,
    zone: str | None = None,
    clock: Clock | None = None,
    strict: bool = False,
    create: bool = True,
) -> StoreSession:
    """Open a store. The arguments and errors are those of `AgentMemory.open`."""
    known = settings.read()
    if where is not None and not str(where).strip():
        raise InputError("store='' names no file: give a path, ':memory:', or None for the one of the settings")
    ports = build_ports(
        str(where) if where is not None else known.store or settings.default_store(),
        path_of(scope if scope is not None else known.scope or DEFAULT_SCOPE),
        inherit=inherit,
        llm=known.llm if isinstance(llm, FromSettings) else llm,
        embedder=(known.embedder or "static") if isinstance(embedder, FromSettings) else embedder,
        config=_in_zone(config or known.config, zone),
        clock=clock,
        known=known,
        create=create,
    )
    return StoreSession(ports, strict=strict)


def ports_of(ports: Ports, scope: str, *, inherit: bool = False, zone: str | None = None) -> Ports:
    """The ports of another scope of the same store, in another zone unless it is None."""
    scopes = (scope, *(ancestors(scope) if inherit else ()))
    return replace(ports, scope=scope, scopes=scopes, config=_in_zone(ports.config, zone))


def _in_zone(config: Config, zone: str | None) -> Config:
    return config if zone is None else replace(config, zone=zone)


def refuse_unknown_arguments(unknown: Mapping[str, object], function: Callable[..., object]) -> None:
    """Raise InputError if there are unknown keyword arguments; it says where fields of Config belong."""
    if not unknown:
        return
    if {field.name for field in fields(Config)}.issuperset(unknown):
        values = ", ".join(f"{name}={value!r}" for name, value in unknown.items())
        raise InputError(f"{', '.join(unknown)} belongs to Config: pass config=Config({values})")
    parameters = signature(function).parameters.values()
    names = ", ".join(parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD)
    for name in unknown:
        if near := instead_of(name, names.split(", ")):
            raise InputError(f"no argument {name}{use(near)}; config=Config(...) has the fields of Config")
    raise InputError(f"no argument {', '.join(unknown)}: use {names}, and config=Config(...) for fields of Config")


def refuse_open_store(path: str | Path) -> None:
    """Raise InputError if a path is a file of an open store, before it is opened as an ordinary file.

    Closing a second descriptor of the file would release every lock of this process on the store. Another process
    could then destroy the store's log.
    """
    from slowwave.stores.sqlite.identity import belongs_to_open_store

    if belongs_to_open_store(str(path)):
        raise InputError(f"{path} is the file of the open store: name another file to read")
