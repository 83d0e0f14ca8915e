"""A handle on an open memory: opening, closing, and what every verb of the facade leans on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Never, Self

from slowwave import forks, settings as settings_
from slowwave.composition import build_ports
from slowwave.errors import ClosedError, InputError, PortError
from slowwave.model.config import Config
from slowwave.model.names import checked_name
from slowwave.model.plan import Receipt
from slowwave.model.scope import DEFAULT_SCOPE, checked_scope
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.background import BackgroundSleeper
    from slowwave.pipelines.sleep.compact_now import Background
    from slowwave.pipelines.sleep.night import SleepState
    from slowwave.pipelines.sleep.report import SleepReport

DEFAULT_CONVERSATION: Final = "default"


class _Unset:
    """Stands for an argument that was not given, where None has a meaning of its own."""

    def __repr__(self) -> str:
        return "from settings"


FROM_SETTINGS: Final = _Unset()


def _check_arguments(unknown: Mapping[str, object], of: Callable[..., object]) -> None:
    """Raise InputError for arguments that there are not, saying where they belong."""
    if not unknown:
        return
    numbers = {field.name for field in fields(Config)}
    if numbers.issuperset(unknown):
        wanted = ", ".join(f"{name}={value!r}" for name, value in unknown.items())
        raise InputError(f"{', '.join(unknown)} belongs to Config: pass config=Config({wanted})")
    there = [name for name, one in signature(of).parameters.items() if one.kind is not one.VAR_KEYWORD]
    raise InputError(
        f"no argument {', '.join(unknown)}: there are {', '.join(there)}; numbers go into config=Config(...)"
    )


def refuse_open_store(ports: Ports, path: str | Path) -> None:
    """Raise InputError before the file of an open store is read like any file.

    Closing the descriptor would release every lock of this process on the store: others could then destroy its log.
    """
    try:
        same = Path(path).samefile(ports.store.name)
    except (OSError, ValueError):  # one of them is no file
        return
    if same:
        raise InputError(f"{path} is the store that is open: name another file to read")


class Handle:
    """An open memory of one scope. May be shared by threads."""

    def __init__(self, *, ports: Ports | None = None, strict: bool = False) -> None:
        self._ports = ports or build_ports(":memory:", DEFAULT_SCOPE)
        self._strict = strict
        self._closed = False
        self._sleeper: BackgroundSleeper | None = None

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        scope: str | None = None,
        inherit: bool = False,
        llm: str | LLM | Mind | None | _Unset = FROM_SETTINGS,
        embedder: str | Embedder | None | _Unset = FROM_SETTINGS,
        config: Config | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        **unknown: Never,
    ) -> Self:
        """Open a memory, making it if it is not there.

        Args:
            store: a file, ":memory:", or None for SLOWWAVE_STORE, else a file in the user's data folder.
            scope: whose memories, a path such as "acme/alice"; None for SLOWWAVE_SCOPE, else "default".
            inherit: also read the scopes above, never write them.
            llm: "openai:gpt-5-mini", "ollama:llama3", a URL, any object with `.complete(messages=...)`, a Mind, or
                None to work by rules alone; not given: SLOWWAVE_LLM, else rules alone.
            embedder: "static", "minilm", "openai:MODEL", "none", or any object with `name` and `embed`; not given:
                SLOWWAVE_EMBEDDER, else "static".
            config: the numbers; None for those of the file of settings, else the defaults.
            clock: what time it is, for tests and replays; must give aware times.
            strict: raise when a model fails, instead of telling in the receipt.
            sleep_every: sleep this often on a thread of its own until it is closed: a timedelta, seconds, or "8h".
                What goes wrong there is in `health()`. None: only when `sleep` is called, or by `sleep_every_ingests`.
            unknown: there are no others; a name that belongs to `config` is told so.

        Raises:
            InputError: for a store, scope or span that means nothing, or an argument that there is not.
            SettingsError: for an unknown store, model or embedder, or a missing extra.
            StoreError: if the file cannot be opened; each kind says what to do.
        """
        from slowwave.pipelines.sleep.background import BackgroundSleeper, seconds

        _check_arguments(unknown, cls.open)
        known = settings_.read()
        if store is not None and not str(store).strip():
            raise InputError("store='' names no file: give a path, ':memory:', or None for the one of the settings")
        path = str(store) if store is not None else known.store or settings_.default_store()
        pause = seconds(sleep_every) if sleep_every is not None else None
        memory = cls(
            ports=build_ports(
                path,
                checked_scope(scope if scope is not None else known.scope or DEFAULT_SCOPE),
                inherit=inherit,
                llm=known.llm if isinstance(llm, _Unset) else llm,
                embedder=(known.embedder or "static") if isinstance(embedder, _Unset) else embedder,
                config=config or known.config,
                clock=clock,
                known=known,
            ),
            strict=strict,
        )
        if pause is not None:
            memory._sleeper = BackgroundSleeper(memory._night, pause)
        return memory

    @classmethod
    def default(cls, *, llm: LLM | None = None, embedder: Embedder | str | None = "static") -> Self:
        """A memory in RAM, gone when it is closed."""
        return cls.open(":memory:", llm=llm, embedder=embedder)

    def close(self) -> None:
        """Let go of the file. Idempotent. A summary that is being thought of in the background gets 5 seconds."""
        if not self._closed:
            if self._sleeper:
                self._sleeper.stop()
            if "_background" in vars(self):  # else nothing was ever begun there
                self._background.close()
            self._closed = True
            self._ports.store.close()

    def __enter__(self) -> Self:
        """The memory itself.

        Raises:
            ClosedError: if it was closed.
        """
        _ = self._open_ports
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        """Close, and let errors through."""
        self.close()
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._ports.store.name!r}, scope={self._ports.scope!r})"

    @property
    def ports(self) -> Ports:
        """What this handle works with, for pipelines and faces."""
        return self._open_ports

    @property
    def _open_ports(self) -> Ports:
        if self._closed:
            raise ClosedError("this memory is closed: open it again with AgentMemory.open(...)")
        return self._ports

    @property
    def _run_ports(self) -> Ports:
        """The same for one run that may think."""
        return self._open_ports.start_run()

    @forks.CachedProperty
    def _rest(self) -> "SleepState":
        """What is remembered between two sleeps."""
        from slowwave.pipelines.sleep.night import SleepState

        return SleepState()

    @forks.CachedProperty
    def _background(self) -> "Background":
        """Where summaries are thought of beside the program."""
        from slowwave.pipelines.sleep.compact_now import Background

        return Background()

    def _night(self) -> "SleepReport":
        """One pass of sleep."""
        from slowwave.pipelines.sleep.night import sleep

        return sleep(self._run_ports, self._rest)

    def _ingested(self, receipt: Receipt) -> Receipt:
        """After something was added: sleep once there was enough of it, on the thread if there is one."""
        from slowwave.pipelines.planning import with_notes

        ports = self._open_ports
        every = ports.config.sleep_every_ingests
        if every is None or not receipt.applied or ports.store.ingests(ports.scope) < every:
            return receipt
        if self._sleeper and self._sleeper.wake():
            return receipt
        report = self._night()
        return with_notes(receipt, notes=("slept",), problems=report.problems)

    def _conversation(self, name: str | None) -> str:
        if name is not None:
            return checked_name(name, "conversation", numbers=True)
        ports = self._open_ports
        known = (found.name for found in ports.store.conversations(ports.scope) if found.name)
        return next(known, DEFAULT_CONVERSATION)

    def _told(self, receipt: Receipt) -> Receipt:
        self._raise_if_strict(receipt.problems)
        return receipt

    def _raise_if_strict(self, problems: Sequence[str]) -> None:
        if self._strict and problems:
            raise PortError("; ".join(problems))
