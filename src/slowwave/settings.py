"""Settings: the only reader of the environment and of files of settings."""

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slowwave.errors import InputError, SettingsError
from slowwave.model.config import Config

PREFIX = "SLOWWAVE_"
FILE = "slowwave.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where memory lives, who thinks, and what that may cost, as the environment and the file of settings say it.

    Each field but `config` is read from the variable SLOWWAVE_ and its name (SLOWWAVE_LLM_SECONDS), else from its name
    in the file: a TOML file whose `[slowwave]` table, or whole, also holds names of Config. The file is SLOWWAVE_CONFIG,
    else slowwave.toml in the user's settings folder. Each key belongs to one address: `llm_key` to that of the model,
    `embedder_key` to that of the embedder. OPENAI_API_KEY is not among them; it is read where OpenAI itself is called.

    Args:
        llm_seconds: how long a model may take for one answer; None means 60 where we call it over HTTP.
        embedder_seconds: how long an embedder's server may take for one request, all tries included; None means 10.
        llm_calls_per_run: model calls of one run.
        llm_calls_per_day: model calls of a scope since midnight UTC.
        llm_money_per_day: money of a scope since midnight UTC.
        llm_prices: {model: (in, out)} for a million tokens each; in the environment "gpt-5-mini=0.25/2, qwen3=0/0".
        vault: a folder of Markdown pages; its config/memory_compaction.md sets the windows and profile of the cascade.
    """

    store: str | None = None
    scope: str | None = None
    llm: str | None = field(default=None, repr=False)  # it and the addresses may contain a password
    llm_url: str | None = field(default=None, repr=False)
    llm_key: str | None = field(default=None, repr=False)
    llm_seconds: float | None = None
    llm_calls_per_run: int | None = None
    llm_calls_per_day: int | None = None
    llm_money_per_day: float | None = None
    llm_prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    embedder: str | None = None
    embedder_url: str | None = field(default=None, repr=False)
    embedder_key: str | None = field(default=None, repr=False)
    embedder_seconds: float | None = None
    vault: str | None = None
    config: Config = field(default_factory=Config)


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Raises:
        SettingsError: if the file of settings cannot be read, or a value of ours cannot be meant.
        InputError: if a value of Config in it cannot be meant.
    """
    env = os.environ if environment is None else environment
    chosen = env.get(f"{PREFIX}CONFIG")
    path = Path(chosen) if chosen else _folder("config") / FILE
    table = dict(_table(path, required=bool(chosen)))
    found: dict[str, Any] = {}
    for name, meant in _PARSERS.items():
        written: object = table.pop(name, None)
        if variable := env.get(f"{PREFIX}{name.upper()}"):
            written = variable
        if written is not None and written != "":
            found[name] = _value(name, written, meant)
    if folder := found.get("vault"):
        from slowwave.formats.vault.front_matter import compaction  # noqa: PLC0415 - only who has a vault needs it

        if not Path(folder).is_dir():
            raise SettingsError(f"vault={folder!r} is no folder: make it, or correct the setting")
        table |= compaction(Path(folder))
    return Settings(config=_config(table, path), **found)


def _config(table: Mapping[str, object], path: Path) -> Config:
    try:
        return Config.from_mapping(table)
    except InputError as error:
        raise InputError(f"in {path}: {error}") from error


def _value(name: str, written: object, meant: "Reader") -> object:
    try:
        return meant(written)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{name}={written!r} cannot be meant: use {error}") from error


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise TypeError("a text")
    return written


def _amount(written: object) -> float:
    """A number above or at 0, from a number or from digits."""
    try:
        amount = float(written) if isinstance(written, str | int | float) and not isinstance(written, bool) else -1.0
    except ValueError:
        amount = -1.0
    if not 0 <= amount < math.inf:
        raise ValueError("a number from 0")
    return amount


def _seconds(written: object) -> float:
    if not (seconds := _amount(written)):
        raise ValueError("a number of seconds above 0")
    return seconds


def _count(written: object) -> int:
    if not (amount := _amount(written)).is_integer():
        raise ValueError("a whole number from 0")
    return int(amount)


def _prices(written: object) -> dict[str, tuple[float, float]]:
    """{model: [in, out]}, or "model=in/out, model=in/out"."""
    if isinstance(written, str):
        pairs = (entry.rpartition("=") for entry in written.split(",") if entry.strip())
        written = {model.strip(): price.split("/") for model, _, price in pairs}
    wanted = 'prices of a million tokens, in and out: {"gpt-5-mini" = [0.25, 2.0]}, or gpt-5-mini=0.25/2.0'
    if not isinstance(written, Mapping):
        raise TypeError(wanted)
    try:
        return {str(model): (_amount(low), _amount(high)) for model, (low, high) in written.items() if model}
    except (TypeError, ValueError):
        raise ValueError(wanted) from None


Reader = Callable[[object], object]
_PARSERS: Final[Mapping[str, Reader]] = {
    "store": _text,
    "scope": _text,
    "llm": _text,
    "llm_url": _text,
    "llm_key": _text,
    "llm_seconds": _seconds,
    "llm_calls_per_run": _count,
    "llm_calls_per_day": _count,
    "llm_money_per_day": _amount,
    "llm_prices": _prices,
    "embedder": _text,
    "embedder_url": _text,
    "embedder_key": _text,
    "embedder_seconds": _seconds,
    "vault": _text,
}


def default_store() -> str:
    """The file in the user's data folder; the folder is made if it is missing."""
    folder = _folder("data")
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "memory.db")


_XDG: Final = {"config": ".config", "data": ".local/share"}


def _folder(kind: str) -> Path:
    """The user's folder of a kind, "config" or "data"."""
    if sys.platform == "linux":  # what platformdirs would say, which takes longer to load than all else here
        chosen = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
        folder = chosen if os.path.isabs(chosen) else os.path.join(os.environ.get("HOME", ""), _XDG[kind])  # noqa: PTH117, PTH118 - "" is no path
        if os.path.isabs(folder):  # noqa: PTH117 - as above
            return Path(folder, "slowwave")
    from platformdirs import user_config_path, user_data_path  # noqa: PLC0415 - only where no path is given

    return (user_data_path if kind == "data" else user_config_path)("slowwave", appauthor=False)


def _table(path: Path, *, required: bool) -> Mapping[str, object]:
    if not required and not path.is_file():
        return {}
    import tomllib  # noqa: PLC0415 - most have no file of settings

    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(f"no file of settings at {path}: check SLOWWAVE_CONFIG") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read the settings in {path}: {error}") from error
    table = whole.get("slowwave", whole)
    if not isinstance(table, dict):
        raise SettingsError(f"slowwave in {path} is no table: write [slowwave], and the settings below it")
    return table
