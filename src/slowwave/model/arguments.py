"""Checks arguments against the annotations of their function, so that a new argument is checked without further code."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from errno import ENOENT
from functools import cache, wraps
from inspect import Parameter, isfunction, signature
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    ParamSpec,
    TextIO,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from slowwave.errors import InputError, shown
from slowwave.model.suggestions import too_many_arguments, unknown_argument

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

_WORDS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    datetime: "a datetime",
    timedelta: "a timedelta",
    TextIO: "a stream of text",
    NoneType: "None",
}
"""What an error asks for, by type; of any other type, its name."""
_BYTES: Final = (bytes, bytearray, memoryview)


class Rule(NamedTuple):
    """What an annotation allows.

    Args:
        holds: whether a value is allowed.
        words: what to pass instead of one that is not.
        is_path: whether a text is the name of a file.
        choices: the texts that are allowed, if only some are.
    """

    holds: Callable[[Any], bool]
    words: str
    is_path: bool = False
    choices: str = ""


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of a type that the annotation of their parameter does not allow.

    Annotations in quotation marks, protocols and type variables allow every value. The items of a list or mapping are
    not checked; those of a tuple are. An OSError about a file that a caller has named becomes an InputError.

    Raises:
        InputError: naming the argument, and what to pass.
        TypeError: for an argument that the function does not have, naming the one to use, and for more positional
            arguments than it takes.
    """

    @wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        positional, rest, rules, has_path, named = _rules(function)
        if named is not None and (unknown := next((name for name in options if name not in named), None)) is not None:
            raise unknown_argument(function, unknown, [name for name in named if name != "self"])
        if len(args) > len(positional) and not rest:
            raise too_many_arguments(function, args, positional, named or ())
        for name, value in (*zip(positional, args, strict=False), *options.items()):
            if (rule := rules.get(name)) is not None:
                check(value, rule, name)
        if rest in rules:
            for place, value in enumerate(args[len(positional) :]):
                check(value, rules[rest], f"{rest}[{place}]")
        try:
            return function(*args, **options)
        except OSError as error:
            sentence = _path_fault(error)
            if not (has_path and sentence):
                raise
            raise InputError(sentence) from error

    return checked


def _path_fault(error: OSError) -> str:
    """What to do about an error of a path that a caller has given; "" for an error of anything else."""
    if error.filename:
        return f"{shown(error.filename)}: {error.strerror}: check the path"
    deleted = error.errno == ENOENT  # the present folder has no name any more
    return "the present folder was deleted: go to another one, or pass absolute paths" if deleted else ""


def checked_class(cls: type[C]) -> type[C]:
    """Apply `checked_arguments` to the constructor and to all public methods of a class."""
    for name, member in list(vars(cls).items()):
        if isfunction(member) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, checked_arguments(member))
    return cls


def check_fields(value: object, what: str) -> None:
    """Raise InputError if a field of a dataclass, or of one inside it, has a type that its annotation does not allow."""
    if not is_dataclass(value):
        raise InputError(f"{what} is of type {type(value).__name__}: pass a value of the type that it had")
    kind: Any = type(value)
    for name, rule in _field_rules(kind):
        held = getattr(value, name)
        if rule is not None:
            check(held, rule, f"{what}.{name}")
        for place, item in enumerate(held if isinstance(held, list | tuple) else (held,)):
            if is_dataclass(item) and not isinstance(item, type):
                check_fields(item, f"{what}.{name}[{place}]" if isinstance(held, list | tuple) else f"{what}.{name}")


def check(value: Any, rule: Rule, name: str) -> None:  # noqa: ANN401 - what a caller passes
    """Raise InputError if a rule does not hold."""
    if not rule.holds(value):
        if rule.choices and isinstance(value, str):
            raise InputError(f"{name}={shown(value)}: use one of {rule.choices}")
        raise InputError(f"{name}={shown(value)} is of type {type(value).__name__}: pass {rule.words}")
    if rule.is_path and (isinstance(value, str) or _is_path(type(value))):
        checked_path(value, name)


def checked_path(value: object, name: str) -> None:
    """Raise InputError for a path that no file can have. Surrogates that Python uses for other bytes are allowed."""
    if value == "":  # Python would read it as the present folder
        raise InputError(f"{name}='' names no file: give a path")
    try:
        invalid = b"\x00" in str(value).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        invalid = True
    if invalid:
        raise InputError(
            f"{name}={shown(value)} holds NUL or a lone surrogate, which no file name can: pass another path"
        )


def _is_path(kind: type) -> bool:
    """Whether it is a class of paths. This package imports nothing that can open a file."""
    return hasattr(kind, "__fspath__")


@cache
def _rules(function: Callable[..., object]) -> tuple[list[str], str, dict[str, Rule], bool, tuple[str, ...] | None]:
    """The positional parameters, that of further ones ("": none), the rules by parameter, and whether one is a path.

    The last value has the names that arguments may have; None if the function takes any.
    """
    positional: list[str] = []
    rest = ""
    rules: dict[str, Rule] = {}
    named: list[str] = []
    takes_any = False
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            takes_any = True
            continue
        if parameter.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}:
            named.append(name)
        if parameter.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}:
            positional.append(name)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            rest = name
        if (rule := rule_of(parameter.annotation)) is not None:
            rules[name] = rule
    has_path = any(rule.is_path for rule in rules.values())
    return positional, rest, rules, has_path, None if takes_any else tuple(named)


@cache
def _field_rules(kind: Any) -> tuple[tuple[str, Rule | None], ...]:  # noqa: ANN401 - the class of a dataclass
    try:
        types = get_type_hints(kind)
    except NameError:  # an annotation names a class that only type checkers import
        types = {field.name: field.type for field in fields(kind)}
    return tuple((field.name, rule_of(types[field.name])) for field in fields(kind))


def rule_of(annotation: Any) -> Rule | None:  # noqa: ANN401 - annotations have no common type
    """The rule of an annotation; None if it allows every value.

    >>> rule_of(int | None).words
    'a whole number or None'
    >>> rule_of(int | None).holds(True)
    False
    """
    if annotation is None or isinstance(annotation, type | UnionType) or get_origin(annotation) is not None:
        return _rule(annotation)
    return _rule(annotation) if annotation is TextIO else None


def _rule(annotation: Any) -> Rule | None:  # noqa: ANN401 - as above
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        return _rule_of_union(get_args(annotation))
    if origin is Literal:
        names = get_args(annotation)
        choices = ", ".join(names)
        return Rule(lambda value: isinstance(value, str) and value in names, f"one of {choices}", choices=choices)
    if origin is tuple:
        return _rule_of_tuple(get_args(annotation))
    if origin is not None:
        return _rule_of_collection(origin)
    return _rule_of_class(NoneType if annotation is None else annotation)


def _rule_of_collection(origin: Any) -> Rule | None:  # noqa: ANN401 - as above
    if origin is Callable:
        return Rule(callable, "a function")
    if issubclass(origin, Mapping):
        return Rule(lambda value: isinstance(value, Mapping), "a mapping")
    needed = Sequence if issubclass(origin, Sequence) else Iterable
    if issubclass(origin, Iterable):
        return Rule(lambda value: isinstance(value, needed) and has_items(value), "a list")
    return None


def has_items(value: Iterable[object]) -> bool:
    """Whether it is read item by item; an array of NumPy without a dimension has the method and refuses the call."""
    if isinstance(value, (str, *_BYTES)):
        return False
    try:
        iter(value)
    except TypeError:
        return False
    return True


def _rule_of_class(kind: Any) -> Rule | None:  # noqa: ANN401 - as above
    if kind is TextIO:
        return Rule(lambda value: callable(getattr(value, "write", None)), _WORDS[TextIO])
    if getattr(kind, "_is_protocol", False) or not isinstance(kind, type) or kind in {object, Any, Parameter.empty}:
        return None
    words = "a path" if _is_path(kind) else _WORDS.get(kind, f"a {kind.__name__}")
    if kind in {int, float}:
        numbers = int if kind is int else (int, float)
        return Rule(lambda value: isinstance(value, numbers) and not isinstance(value, bool), words)
    if kind is bool:  # 0 and 1 are often written for them
        return Rule(lambda value: isinstance(value, int) and value in {0, 1}, words)
    return Rule(lambda value: isinstance(value, kind), words, is_path=_is_path(kind))


def _rule_of_union(kinds: Collection[Any]) -> Rule | None:
    rules = [rule_of(kind) for kind in kinds]
    known = [rule for rule in rules if rule is not None]
    if len(known) < len(rules):
        return None
    words = list(dict.fromkeys(rule.words for rule in known))
    listed = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
    return Rule(
        lambda value: any(rule.holds(value) for rule in known), listed, is_path=any(rule.is_path for rule in known)
    )


def _rule_of_tuple(kinds: tuple[Any, ...]) -> Rule:
    any_length = kinds[-1:] == (...,)
    rules = [rule_of(kind) for kind in kinds if kind is not ...]

    def holds(value: object) -> bool:
        if not isinstance(value, list | tuple) or not (any_length or len(value) == len(rules)):
            return False
        each = zip(value, rules * len(value) if any_length else rules, strict=False)
        return all(rule is None or rule.holds(item) for item, rule in each)

    words = ", ".join(dict.fromkeys("any value" if rule is None else rule.words for rule in rules))
    return Rule(holds, f"a tuple of {words}")
