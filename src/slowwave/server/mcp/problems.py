"""Errors of the library as errors of tools: one sentence that names tools, since a model reads it."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from slowwave.errors import BusyError, DisconnectedError, SlowwaveError, StoreError, TrustError

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

WORDS: Final[Mapping[str, str]] = {
    "check the id and the scope": "`recall` gives the ids of memories, and answers that changed something name their run",
    "state it with `add`, which keeps it for review": "state it with `remember`, which keeps it for a person's review",
    "add a fact instead": "state a fact with `remember` instead",
    "; `undo` with `cascade` undoes them too": ": a person may undo them, newest first",
    "; `undo` with `cascade` undoes it too": ": a person may undo it first",
    "pass slowwave.Message, or a mapping": "pass an object",
}
"""Words of the library's errors that name methods and arguments, and those that a model knows."""
OF_USER: Final = (
    "this was stated by the user or decided by a person, and a model may not change it: state the change with "
    "`remember`, or ask the user to correct it"
)
PROBLEMS_SHOWN: Final = 3
"""Invalid arguments that one error names."""


def sentence(error: SlowwaveError) -> str:
    """What a model reads about an error of the library."""
    if isinstance(error, TrustError) and "needs a person's review" not in str(error):
        return OF_USER
    if isinstance(error, BusyError):
        return "the memory is in use by another process: try the same call again"
    if isinstance(error, DisconnectedError):
        return "the memory cannot be reached now: try the same call again in a moment"
    if isinstance(error, StoreError):
        return "the memory's store failed: tell the user to run its self-check; nothing acknowledged is lost"
    text = " ".join(str(error).split())
    for words, shown in WORDS.items():
        text = text.replace(words, shown)
    return text


def as_tool_errors(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """Decorate the function of a tool: an error of the library becomes a ToolError, which the model reads."""

    @wraps(function)
    def call(*arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Answer:
        try:
            return function(*arguments, **keywords)
        except SlowwaveError as error:
            raise ToolError(sentence(error)) from error

    return call


def invalid_arguments(tool: str, error: ValidationError) -> str:
    """One sentence about arguments that do not match the schema of a tool. It repeats no values: they may be long."""
    found = [
        f"{'.'.join(map(str, one['loc'])) or 'the arguments'}: {one['msg'][:1].lower()}{one['msg'][1:]}"
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = f" and {len(found) - PROBLEMS_SHOWN} more" if len(found) > PROBLEMS_SHOWN else ""
    return f"`{tool}` cannot take these arguments: {'; '.join(found[:PROBLEMS_SHOWN])}{more}"
