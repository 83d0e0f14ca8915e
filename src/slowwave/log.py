"""Log records under `slowwave.*`, for programs that use the standard `logging`. Never with words, names, queries or keys.

`slowwave.store` and `slowwave.sleep`, `slowwave.exchange`, `slowwave.transport` write counts at INFO and failures at WARNING;
`slowwave.calls` writes the duration of each call at DEBUG. `logging` takes longer to import than a search takes, so a
process that has not imported it gets no records.
"""

import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from logging import Logger

_ROOT: Final = "slowwave"
_LOADED: Final = "logging"
_DEBUG, _INFO, _WARNING = 10, 20, 30


class Log:
    """The logger `slowwave.NAME`. Arguments are numbers, ids of runs, addresses without keys, and paths of stores."""

    def __init__(self, name: str) -> None:
        self._name = f"{_ROOT}.{name}"

    @property
    def debugs(self) -> bool:
        """Whether a DEBUG record would be written; costs one look-up if the process does not use `logging`."""
        return _LOADED in sys.modules and _logger(self._name).isEnabledFor(_DEBUG)

    def debug(self, text: str, *values: object) -> None:
        """Write a DEBUG record."""
        self._write(_DEBUG, text, values)

    def info(self, text: str, *values: object) -> None:
        """Write an INFO record."""
        self._write(_INFO, text, values)

    def warning(self, text: str, *values: object) -> None:
        """Write a WARNING record."""
        self._write(_WARNING, text, values)

    def _write(self, level: int, text: str, values: tuple[object, ...]) -> None:
        if _LOADED in sys.modules:
            _logger(self._name).log(level, text, *values, stacklevel=3)


@cache
def _logger(name: str) -> "Logger":
    import logging  # noqa: PLC0415 - only if the program has loaded it

    root = logging.getLogger(_ROOT)
    if not any(isinstance(handler, logging.NullHandler) for handler in root.handlers):
        root.addHandler(logging.NullHandler())  # a library prints nothing unless the program asks for it
    return logging.getLogger(name)
