"""How commands are declared, and the plain reading of words that need no help: free of the framework, which is slow to load."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

Function = TypeVar("Function", bound=Callable[..., int | None])


class Option:
    """How an option is written; without flags it is -- and the name of its parameter."""

    __slots__ = ("flags", "help", "metavar", "min", "panel")

    def __init__(
        self,
        *flags: str,
        help: str,  # noqa: A002 - as the framework calls it
        metavar: str | None = None,
        min: int | None = None,  # noqa: A002 - as above
        panel: str | None = None,
    ) -> None:
        self.flags, self.help, self.metavar, self.min, self.panel = flags, help, metavar, min, panel


class Argument:
    """How a word without a flag is told of; `folder` if it must name no file."""

    __slots__ = ("folder", "help", "metavar")

    def __init__(self, *, help: str, metavar: str | None = None, folder: bool = False) -> None:  # noqa: A002 - as above
        self.help, self.metavar, self.folder = help, metavar, folder


class Parameter(NamedTuple):
    """A parameter of a command: the type of one value, how it is written, and what it is when it is not given."""

    name: str
    annotation: Any
    kind: Any
    how: Option | Argument
    default: object

    @property
    def flags(self) -> tuple[str, ...]:
        """What an option is called; nothing for an argument."""
        if isinstance(self.how, Argument):
            return ()
        return self.how.flags or (f"--{self.name.replace('_', '-')}",)


class Command(NamedTuple):
    """A function that takes `Given` and its own options, and returns its exit code, None for 0."""

    name: str
    panel: str
    function: Callable[..., int | None]

    @property
    def parameters(self) -> list[Parameter]:
        """Its own, in the order of their declaration."""
        declared = list(inspect.signature(self.function).parameters.values())[1:]
        return [parameter(one.name, one.annotation, one.default) for one in declared]


class Room:
    """Commands that live in one file; with a name, a group of them behind one word."""

    def __init__(self, name: str = "", *, help: str = "", panel: str = "") -> None:  # noqa: A002 - as above
        self.name, self.help, self.panel = name, help, panel
        self.commands: list[Command] = []
        self.groups: list[Room] = []

    def group(self, name: str, *, help: str, panel: str) -> "Room":  # noqa: A002 - as above
        """A group in this room."""
        self.groups.append(Room(name, help=help, panel=panel))
        return self.groups[-1]


REQUIRED: Final = inspect.Parameter.empty


def command(room: Room, name: str, panel: str) -> Callable[[Function], Function]:
    """Make a function a command of a room. It takes `Given` first and returns its exit code, None for 0."""

    def register(function: Function) -> Function:
        room.commands.append(Command(name, panel, function))
        return function

    return register


def parameter(name: str, annotation: Any, default: object) -> Parameter:  # noqa: ANN401 - as Python holds it
    """A parameter out of `Annotated[type, Option(...)]`."""
    kind, how = get_args(annotation)
    if get_origin(kind) is UnionType:
        kind = next(one for one in get_args(kind) if one is not type(None))
    return Parameter(name, annotation, kind, how, default)


class UnclearError(Exception):
    """Words that only the framework can answer: a wrong one, a call for help, a form that is seldom written."""


class Reader:
    """Reads well-formed words one by one; whatever is not plain is left to the framework, which reads them anew."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words: Iterator[str] = iter(words)

    def until_word(self, parameters: Sequence[Parameter]) -> tuple[str, dict[str, Any]]:
        """The options up to the first word without a flag, and that word."""
        found: dict[str, Any] = {}
        flags = {flag: one for one in parameters for flag in one.flags}
        for word in self._words:
            if not word.startswith("-"):
                return word, found
            self._take(word, flags, found)
        raise UnclearError

    def rest(self, parameters: Sequence[Parameter]) -> dict[str, Any]:
        """All that is left, what was not given as its default."""
        found: dict[str, Any] = {}
        flags = {flag: one for one in parameters for flag in one.flags}
        places = iter([one for one in parameters if not one.flags])
        for word in self._words:
            if word.startswith("-"):
                self._take(word, flags, found)
            elif place := next(places, None):
                found[place.name] = _meant(place, word)
            else:
                raise UnclearError
        values = {one.name: found.get(one.name, one.default) for one in parameters}
        if REQUIRED in values.values():
            raise UnclearError
        return values

    def _take(self, word: str, flags: Mapping[str, Parameter], found: dict[str, Any]) -> None:
        flag, joined, value = word.partition("=")
        one = flags.get(flag)
        if one is None or (joined and (one.kind is bool or not flag.startswith("--"))):
            raise UnclearError
        if one.kind is bool:
            found[one.name] = True
            return
        meant = _meant(one, value if joined else next(self._words, "-"))
        found[one.name] = [*found.get(one.name, ()), *meant] if isinstance(meant, list) else meant


def _meant(one: Parameter, word: str) -> object:
    """A word as the value of a parameter, a list as a list of one."""
    if word.startswith("-"):
        raise UnclearError
    if one.kind is str:
        return word
    if one.kind == list[str]:
        return [word]
    if one.kind is int and isinstance(one.how, Option) and word.isascii() and word.isdecimal():
        number = int(word)
        if one.how.min is None or number >= one.how.min:
            return number
    elif one.kind is Path and not (isinstance(one.how, Argument) and one.how.folder):
        return Path(word)
    raise UnclearError
