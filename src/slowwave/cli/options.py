"""The options that commands share, and how a command is run and ended."""

import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from slowwave.cli.endings import run_command
from slowwave.cli.layout import HelpContext
from slowwave.cli.output import Output, visible
from slowwave.errors import InputError, NotFoundError
from slowwave.model.message import checked_time
from slowwave.model.plain_text import storable
from slowwave.model.suggestions import instead_of, use

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from slowwave.agent_memory import AgentMemory
    from slowwave.whole_store import Slowwave

WAITING: Final = 3
"""Exit code: work waits for a model."""

PATH: Final = click.Path(path_type=Path)


class WholeNumber(click.IntRange):
    """A whole number between two limits, with a sentence for everything else."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """The number of an argument."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            between = f"from {self.min}" + ("" if self.max is None else f" to {self.max}")
            self.fail(f"{value!r} is not a whole number {between}.", param, ctx)


POSITIVE: Final = WholeNumber(min=1)

_SHARED: Final = {
    "store": click.option(
        "--store", metavar="FILE", help="The store: a file or postgresql://…; by default SLOWWAVE_STORE."
    ),
    "scope": click.option("--scope", metavar="PATH", help="The owner of the memories, such as acme/alice."),
    "llm": click.option(
        "--llm",
        metavar="NAME",
        help="The model: openai:MODEL, ollama:MODEL, URL, URL#MODEL, or none for the rules alone.",
    ),
    "embedder": click.option("--embedder", metavar="NAME", help="static, minilm, openai:MODEL or none."),
    "now": click.option(
        "--now", metavar="TIME", help="The present time of this command, such as 2026-01-31T09:00Z; for tests."
    ),
    "json": click.option("--json", is_flag=True, help="Print one JSON value instead of text, and errors as JSON."),
    "verbose": click.option("--verbose", is_flag=True, help="Print more; with an error, its traceback."),
}

ALL_OPTIONS: Final = (*_SHARED,)
READING: Final = tuple(name for name in _SHARED if name != "llm")
"""The shared options of commands that ask no model."""
STORED: Final = tuple(name for name in READING if name != "embedder")
"""The shared options of commands that ask no model and compute no vector."""
PRINTING: Final = ("json", "verbose")
"""The shared options of commands that open no store."""


def parse_time(text: str | None, name: str) -> datetime | None:
    """A time in ISO 8601; without an offset the memory reads it in its zone.

    Raises:
        InputError: the text is no such time; the error names the option.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{name} {text!r} is not a date: write 2026-03-14, or 2026-03-14T09:30+01:00") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The values of the shared options, from before and after the name of the command."""

    store: str | None = None
    scope: str | None = None
    llm: str | None = None
    embedder: str | None = None
    now: str | None = None
    json: bool = False
    verbose: bool = False

    @property
    def output(self) -> Output:
        """Where results are printed."""
        return Output(json=self.json)

    @contextmanager
    def memory(self, *, create: bool = False, discard: bool = False) -> "Iterator[AgentMemory]":
        """Open the memory that these options name. Without `create` a store that does not exist is an error.

        With `discard` an empty memory in RAM takes the place of a store that does not exist.
        """
        from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

        values = {"scope": self.scope, **self.models(), **self.clock()}
        try:
            opened = AgentMemory.open(self.store, create=False, **values)
        except NotFoundError:
            if not create:
                raise
            opened = AgentMemory.open(":memory:" if discard else self.store, create=True, **values)
            if not self.json and not discard:
                self.warn(f"created a new store at {opened.ports.store.name}")
        with opened as memory:
            yield memory

    @contextmanager
    def whole_store(
        self,
        *,
        create: bool = False,
        **more: Any,  # noqa: ANN401 - arguments of `Slowwave.open`
    ) -> "Iterator[Slowwave]":
        """Open the store that these options name, with all its scopes. Without `create` it must exist."""
        from slowwave.whole_store import Slowwave  # noqa: PLC0415 - `--help` does without

        with Slowwave.open(self.store, create=create, **self.models(), **self.clock(), **more) as store:
            yield store

    @property
    def address(self) -> str:
        """The store of the options or of the settings; empty for the file in the user's data folder."""
        if self.store is not None:
            return self.store
        from slowwave import settings  # noqa: PLC0415 - as above

        return settings.read().store or ""

    def models(self) -> dict[str, Any]:
        """The arguments `llm` and `embedder` of `AgentMemory.open`; those not given come from the settings."""
        models: dict[str, Any] = {} if self.embedder is None else {"embedder": self.embedder}
        return models if self.llm is None else models | {"llm": None if self.llm == "none" else self.llm}

    def warn(self, *sentences: str) -> None:
        """Write sentences to the error stream, each on a line."""
        sys.stderr.writelines(f"{visible(sentence)}\n" for sentence in sentences)

    def clock(self) -> dict[str, Any]:
        """The argument `clock` of `AgentMemory.open`: the time of --now, in UTC without an offset; empty for the system's clock."""
        if (at := parse_time(self.now, "--now")) is None:
            return {}
        now = checked_time(at, "--now")
        return {"clock": lambda: now}


class Command(click.Command):
    """A command whose help names its examples and, in one line, the shared options that apply to it.

    Args:
        examples: whole command lines.
        stray: the error for arguments that the command does not take, with {} for them; "": that of Click.
        arguments: of `click.Command`.
    """

    context_class = HelpContext
    shared: Sequence[str] = ALL_OPTIONS

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - Click's
        examples: Sequence[str] = (),
        stray: str = "",
        **keywords: Any,  # noqa: ANN401 - Click's
    ) -> None:
        super().__init__(*arguments, **keywords)
        self.examples = examples
        self.stray = stray
        self.shared = getattr(self.callback, "shared", ALL_OPTIONS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments. For an option that does not exist the error names what to use."""
        ctx.allow_extra_args = ctx.allow_extra_args or bool(self.stray)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = {name.lstrip("-").replace("-", "_"): name for one in self.get_params(ctx) for name in one.opts}
            if near := instead_of(error.option_name.lstrip("-"), names):
                words = f"there is no option {error.option_name}{use(names[name] for name in near)}"
                raise click.NoSuchOption(error.option_name, words, ctx=ctx) from None
            raise
        if self.stray and rest and not ctx.resilient_parsing:
            ctx.fail(self.stray.format(" ".join(rest)))
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of this command, then the names of the shared ones."""
        rows = [
            record
            for parameter in self.get_params(ctx)
            if parameter.name not in _SHARED
            and isinstance(parameter, click.Option)  # the first lines of the help describe the arguments
            and (record := parameter.get_help_record(ctx))
        ]
        with formatter.section("Options"):
            formatter.write_dl(rows)
        with formatter.section("Shared options (see slowwave --help)"):
            formatter.write_text(" ".join(f"--{name}" for name in self.shared))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one a line."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write_text(example)


class Group(click.Group):
    """A group of commands whose help is laid out like that of a command."""

    context_class = HelpContext

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands of the group; each of them has its own options."""
        self.format_commands(ctx, formatter)


def common_options(
    function: Callable[..., int | None] | None = None, *, uses: Collection[str] = ALL_OPTIONS
) -> Callable[..., Any]:
    """Decorate the function of a command: add the shared options, pass them as `CommonOptions`, end with its exit code.

    Every command accepts all shared options, so that a shell alias can contain them. The function returns the exit
    code, None for 0.

    Args:
        function: the function; None: return the decorator.
        uses: the shared options that the help of this command names.
    """
    if function is None:
        return lambda decorated: common_options(decorated, uses=uses)
    body = function

    @wraps(body)
    def run(**values: Any) -> None:  # noqa: ANN401 - the options of any command
        context = click.get_current_context()
        common = {**(context.obj or {}), **_given(values)}
        own = {name: value for name, value in values.items() if name not in _SHARED}
        options = CommonOptions(**common)

        def call() -> int | None:
            _check_encoding({**common, **own})
            return body(options, **own)

        context.exit(run_command(call, json=options.json, verbose=options.verbose))

    decorated = _with_shared(run)
    decorated.shared = tuple(name for name in _SHARED if name in uses)  # type: ignore[attr-defined]  # read by Command
    return decorated


def store_common_options(function: Callable[[], None]) -> Callable[..., None]:
    """Decorate the function of a group: add the shared options, and keep them for its commands."""

    @wraps(function)
    def run(**values: Any) -> None:  # noqa: ANN401 - the shared options
        context = click.get_current_context()
        context.obj = {**(context.obj or {}), **_given(values)}
        function()

    return _with_shared(run)


def _with_shared(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_SHARED.values()):
        function = option(function)
    return function


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The shared options that were written, without the defaults."""
    return {name: value for name, value in values.items() if name in _SHARED and value not in (None, False)}


def _check_encoding(options: Mapping[str, Any]) -> None:
    """Raise InputError for an argument whose bytes are not UTF-8, which Python passes on as lone surrogates.

    Paths keep them: file names of any bytes can be opened.
    """
    for name, value in options.items():
        for word in value if isinstance(value, tuple) else [value]:
            if isinstance(word, str) and not storable(word):
                raise InputError(f"{name.replace('_', '-')} {word!r} is not valid UTF-8: use a terminal in UTF-8")


def conversation_named(memory: "AgentMemory", wanted: str | None) -> str | None:
    """The name of the conversation that a person means; a text that means none is returned as it is."""
    return None if wanted is None else memory.find_conversation(wanted) or wanted


def conversation_names(context: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The names of conversations whose name or title begins so, with their titles, for the completion of a shell.

    The list is empty if the store cannot be read.
    """
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only a completion needs it

    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - as above
    from slowwave.errors import SlowwaveError  # noqa: PLC0415

    given = {**_given(context.find_root().params), **_given(context.params)}
    try:
        with AgentMemory.open(
            given.get("store"), scope=given.get("scope"), llm=None, embedder="none", create=False
        ) as memory:
            conversations = memory.conversations()
    except SlowwaveError:
        return []
    return [
        CompletionItem(one.name, help=one.title)
        for one in conversations
        if one.name.startswith(incomplete) or (one.title or "").startswith(incomplete)
    ]


def joined(words: Sequence[str], name: str) -> str:
    """The words of an argument that may be written without quotation marks, as one text.

    Raises:
        InputError: there are none.
    """
    if not words:
        raise InputError(f"{name} is missing")
    return " ".join(words)


def conversation_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: A002 - as Click's
    """The option --conversation, whose value a shell completes."""
    return click.option("--conversation", metavar="NAME", shell_complete=conversation_names, help=help)


def parse_values(words: Sequence[str], name: str) -> dict[str, Any]:
    """The values of an option KEY=VALUE that may be repeated. A value that is no JSON is a text.

    Raises:
        InputError: a word has no key, or a key is given twice; the error names the option.
    """
    values: dict[str, Any] = {}
    for word in words:
        key, separator, text = word.partition("=")
        if not key or not separator:
            raise InputError(f"{name} {word!r} is not KEY=VALUE: write {name} project=harbour")
        if key in values:
            raise InputError(f"{name} gives {key!r} twice: use it once for each key")
        values[key] = parse_json(text)
    return values


def parse_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """The value of a text as JSON; a text that is no JSON is the value itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


where_option: Final = click.option(
    "--where",
    metavar="KEY=VALUE",
    multiple=True,
    help="Only where the metadata have this value, JSON or text; may be repeated.",
)


def memory_id(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument ID of a command: the id of a memory, or its last characters."""
    return click.argument("memory_id", metavar="ID")(function)
