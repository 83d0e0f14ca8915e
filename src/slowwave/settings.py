"""Settings: the only module that reads environment variables and the settings file."""

import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slowwave.errors import InputError, SettingsError
from slowwave.model.config import Config
from slowwave.model.suggestions import instead_of

NAME: Final = "slowwave"
PREFIX: Final = "SLOWWAVE_"
FILE: Final = "slowwave.toml"
PRIVATE_FOLDER: Final = 0o700
"""The permissions of a new folder: it will hold conversations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The store, the model, the embedder and the limits of cost, from environment variables and the settings file.

    Each field, and each field of `config`, is read from an environment variable with the prefix SLOWWAVE_, such as
    SLOWWAVE_LLM_SECONDS or SLOWWAVE_MIN_MESSAGES, else from the settings file. Values of `config` are written as in TOML;
    "none" is None. A variable that is named almost like a setting is an error. The file is SLOWWAVE_CONFIG, else slowwave.toml in the user's
    settings folder. It is TOML, with the names of the fields and of Config in the table `[slowwave]` or at the top level.

    `llm_key` is sent to the address of the model only, `embedder_key` to that of the embedder only. OPENAI_API_KEY is
    read where OpenAI itself is called.

    Args:
        store: as the argument of `AgentMemory.open`; so are `scope`, `llm` and `embedder`.
        llm_url: the address of the model's server, of OpenAI's protocol.
        llm_seconds: the time-out of one model call, in seconds; None: 60 for calls over HTTP.
        llm_calls_per_run: the limit of model calls in one run; None: no limit.
        llm_calls_per_day: the limit of model calls for a scope since midnight UTC; None: no limit.
        llm_money_per_day: the limit of money for a scope since midnight UTC, in the currency of the prices.
        llm_store_calls_per_hour: the limit of model calls of all scopes and processes of the store in an hour; None: no limit.
        llm_store_calls_per_day: the same in a day of UTC.
        llm_store_tokens_per_hour: the limit of tokens, in and out, of all scopes and processes of the store in an hour.
        llm_store_tokens_per_day: the same in a day of UTC.
        llm_store_money_per_day: the same in money.
        llm_prices: {model: (in, out)}, per million tokens; in the environment "gpt-5-mini=0.25/2, qwen3=0/0".
        embedder_url: the address of the embedder's server.
        embedder_seconds: the time-out of one request to the embedder, with all tries, in seconds; None: 10.
        hook_minutes: how long the process that handles hooks stays without an event; 0: each hook works on its own.
        vault: a folder of Markdown pages; its config/memory_compaction.md sets windows and profile of summaries.
        config: the fields of Config in the environment, else in the file, else their defaults.
    """

    store: str | None = None
    scope: str | None = None
    llm: str | None = field(default=None, repr=False)  # this, and the addresses, may contain a password
    llm_url: str | None = field(default=None, repr=False)
    llm_key: str | None = field(default=None, repr=False)
    llm_seconds: float | None = None
    llm_calls_per_run: int | None = None
    llm_calls_per_day: int | None = None
    llm_money_per_day: float | None = None
    llm_store_calls_per_hour: int | None = None
    llm_store_calls_per_day: int | None = None
    llm_store_tokens_per_hour: int | None = None
    llm_store_tokens_per_day: int | None = None
    llm_store_money_per_day: float | None = None
    llm_prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    embedder: str | None = None
    embedder_url: str | None = field(default=None, repr=False)
    embedder_key: str | None = field(default=None, repr=False)
    embedder_seconds: float | None = None
    hook_minutes: float = 15.0
    vault: str | None = None
    config: Config = field(default_factory=Config)


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings.

    Args:
        environment: the environment variables; None: those of the process.

    Raises:
        SettingsError: the settings file cannot be read, or values are invalid; the error names all of them.
        InputError: only values of Config in the file are invalid; the error names all of them.
    """
    env = os.environ if environment is None else environment
    path = file_path(env)
    return _settings(_table(path, required=bool(env.get(f"{PREFIX}CONFIG"))), env, path)


def file_path(environment: Mapping[str, str] | None = None) -> Path:
    """The path of the settings file, whether it exists or not: SLOWWAVE_CONFIG, else in the user's settings folder."""
    env = os.environ if environment is None else environment
    chosen = env.get(f"{PREFIX}CONFIG")
    return Path(chosen) if chosen else _user_folder("config") / FILE


def vault_files(known: Settings) -> list[Path]:
    """The pages of a vault that these settings depend on, whether they exist or not."""
    if known.vault is None:
        return []
    from slowwave.formats.vault.front_matter import SETTINGS  # noqa: PLC0415 - only a vault needs it

    return [Path(known.vault, SETTINGS)]


def _settings(table: Mapping[str, object], env: Mapping[str, str], path: Path) -> Settings:
    """The settings of a table and the environment.

    Raises:
        SettingsError: naming every wrong value, if a wrong one is not of Config.
        InputError: the same, if all wrong ones are of Config.
    """
    from_environment = _config_from_environment(env)
    table = dict(table) | from_environment
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for name, parser in _PARSERS.items():
        value: object = table.pop(name, None)
        if variable := env.get(f"{PREFIX}{name.upper()}"):
            value = variable
        if value is not None and value != "":
            try:
                values[name] = parser(value)
            except (TypeError, ValueError) as error:
                given = f"{name}={_without_secrets(name, repr(value))}"
                wrong.append(f"{given}: invalid value; expected {error}")
    if folder := values.get("vault"):
        if Path(folder).is_dir():
            table |= _of_vault(Path(folder))
        else:
            wrong.append(f"vault={folder!r} is not a folder: create it, or correct the setting")
    config, of_config = _config(table)
    if wrong:
        raise SettingsError("; ".join([*wrong, *of_config]))
    if of_config:
        places = [f"{PREFIX}{name.upper()}" for name in from_environment]
        places += [str(path)] if len(table) > len(from_environment) else []
        raise InputError(f"in {' or '.join(places)}: {'; '.join(of_config)}")
    return Settings(config=config, **values)


def _of_vault(folder: Path) -> dict[str, object]:
    """The fields of Config that the settings page of a vault sets, which take precedence over variables and the file."""
    from slowwave.formats.vault.front_matter import compaction  # noqa: PLC0415 - only a vault needs it

    return compaction(folder)


def _config_from_environment(env: Mapping[str, str]) -> dict[str, object]:
    """The fields of Config that environment variables set, by their names in Config.

    Raises:
        SettingsError: a variable is named almost like a setting.
    """
    import difflib  # noqa: PLC0415 - only a wrong name needs it

    for variable in env:
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and name not in {*NAMES, "config"}:
            near = difflib.get_close_matches(name, NAMES, n=1, cutoff=_LIKE)
            if near:
                raise SettingsError(f"{variable} is not a setting: did you mean {PREFIX}{near[0].upper()}?")
    given = {name: env.get(f"{PREFIX}{name.upper()}") for name in CONFIG_NAMES}
    return {name: _config_value(name, text) for name, text in given.items() if text}


def _config_value(name: str, text: str) -> object:
    """The value of an environment variable for a field of Config: a value of TOML, "none", or a text."""
    import tomllib  # noqa: PLC0415 - most users set no such variable

    if isinstance(Config.__dataclass_fields__[name].default, str):
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        content = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return content["value"] if [*content] == ["value"] else text


def _config(table: Mapping[str, object]) -> tuple[Config, list[str]]:
    """The Config of a table, and the sentences about unknown names and wrong values; then Config has its defaults."""
    wrong = [unknown(name) for name in sorted(set(table) - CONFIG_NAMES)]
    try:
        config = Config.from_mapping({name: value for name, value in table.items() if name in CONFIG_NAMES})
    except InputError as error:
        return Config(), [*wrong, str(error)]
    return config, wrong


def unknown(name: str) -> str:
    """The sentence for a setting that does not exist, with a similar one."""
    import difflib  # noqa: PLC0415 - only an error needs it

    near = difflib.get_close_matches(name, NAMES, n=2) or instead_of(name, NAMES)
    hint = f"did you mean {' or '.join(near)}?" if near else "docs/tuning.md lists all settings"
    return f"there is no setting {name!r}: {hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting in force: its name, its value, and its source: a variable, the file, the page of a vault, or "default"."""

    name: str
    value: object
    source: str


SECRET: Final = frozenset({"llm_key", "embedder_key"})
"""Settings whose values are never printed."""
_PASSWORD: Final = re.compile(r"(?<=://)([^/@\s:]*):[^/\s]*@")
"""The user and the password of an address."""
_QUERY: Final = re.compile(r"(?<=://)([^?#\s]*)\?[^#\s]+")
"""An address up to its query, and the query, which may contain a password or a key."""


def in_force(environment: Mapping[str, str] | None = None) -> list[Setting]:
    """Every setting with its value and source. Keys, passwords and queries of addresses are not shown.

    Raises:
        SettingsError: as of `read`.
        InputError: as of `read`.
    """
    env = os.environ if environment is None else environment
    known = read(env)
    path = file_path(env)
    table = _table(path, required=False)
    of_vault = _of_vault(Path(known.vault)) if known.vault else {}
    found: list[Setting] = []
    for name in NAMES:
        variable = f"{PREFIX}{name.upper()}"
        value = getattr(known, name) if name in _PARSERS else getattr(known.config, name)
        source = str(path) if name in table else "default"
        if env.get(variable):
            source = variable
        if name in of_vault:
            (source,) = map(str, vault_files(known))
        found.append(Setting(name=name, value=_without_secrets(name, value), source=source))
    return found


def _without_secrets(name: str, value: object) -> object:
    """The value of a setting, without a key and without the password and the query of an address."""
    if name in SECRET and value:
        return "set, not shown"
    return _QUERY.sub(r"\1?…", _PASSWORD.sub(r"\1:…@", value)) if isinstance(value, str) else value


def write(name: str, value: str | None, environment: Mapping[str, str] | None = None) -> Path:
    """Set one setting in the settings file, or remove it. Other lines of the file stay as they are.

    Args:
        name: of a setting, or of a field of Config.
        value: as in TOML; a text may be written without quotation marks. None: remove the setting.
        environment: the environment variables; None: those of the process.

    Returns:
        The path of the file. It is created, readable by its owner only, if it does not exist.

    Raises:
        InputError: there is no such setting, or the file would be invalid; it is not changed.
        SettingsError: the value is invalid, or the file cannot be written; it is not changed.
    """
    if name not in NAMES:
        raise InputError(unknown(name))
    env = os.environ if environment is None else environment
    path = file_path(env)
    from slowwave.formats.settings_file import changed, replace  # noqa: PLC0415 - few commands write settings

    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    new = changed(text, NAME, name, value)
    _check_models(name, _settings(_named_table(new, path), {}, path))
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        replace(path, new)
    except OSError as error:
        raise SettingsError(f"the settings in {path} cannot be written ({error.strerror})") from None
    return path


def _check_models(name: str, known: Settings) -> None:
    """Raise SettingsError if a setting names a model or an embedder that does not exist."""
    from slowwave import embedders, minds  # noqa: PLC0415 - few commands write settings

    if name == "llm":
        minds.make(known.llm, api_key=known.llm_key, base_url=known.llm_url)
    if name == "embedder":
        embedders.make(known.embedder, api_key=known.embedder_key, base_url=known.embedder_url)


# The parsers. The message of their errors is what was expected.


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _amount(value: object) -> float:
    """A finite number of at least 0, from a number or its digits."""
    try:
        amount = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except ValueError:
        amount = -1.0
    if not 0 <= amount < math.inf:
        raise ValueError("a number from 0")
    return amount


def _seconds(value: object) -> float:
    if not (seconds := _amount(value)):
        raise ValueError("a number of seconds above 0")
    return seconds


def _count(value: object) -> int:
    if not (amount := _amount(value)).is_integer():
        raise ValueError("a whole number from 0")
    return int(amount)


def _prices(value: object) -> dict[str, tuple[float, float]]:
    """{model: [in, out]}, or "model=in/out, model=in/out"."""
    expected = 'prices per million tokens, in and out: {"gpt-5-mini" = [0.25, 2.0]}, or gpt-5-mini=0.25/2.0'
    if isinstance(value, str):
        entries = (entry.rpartition("=") for entry in value.split(",") if entry.strip())
        value = {model.strip(): prices.split("/") for model, _, prices in entries}
    if not isinstance(value, Mapping):
        raise TypeError(expected)
    try:
        return {str(model): (_amount(low), _amount(high)) for model, (low, high) in value.items() if model}
    except (TypeError, ValueError):
        raise ValueError(expected) from None


Parser = Callable[[object], object]
_PARSERS: Final[Mapping[str, Parser]] = {
    "store": _text,
    "scope": _text,
    "llm": _text,
    "llm_url": _text,
    "llm_key": _text,
    "llm_seconds": _seconds,
    "llm_calls_per_run": _count,
    "llm_calls_per_day": _count,
    "llm_money_per_day": _amount,
    "llm_store_calls_per_hour": _count,
    "llm_store_calls_per_day": _count,
    "llm_store_tokens_per_hour": _count,
    "llm_store_tokens_per_day": _count,
    "llm_store_money_per_day": _amount,
    "llm_prices": _prices,
    "embedder": _text,
    "embedder_url": _text,
    "embedder_key": _text,
    "embedder_seconds": _seconds,
    "hook_minutes": _amount,
    "vault": _text,
}


_WORDS: Final[Mapping[str, object]] = {"true": True, "false": False, "none": None}
"""Values of environment variables that TOML does not have, or only in small letters."""
_LIKE: Final = 0.85
"""How similar the name of a variable must be to that of a setting to be taken for a misspelling of it."""
CONFIG_NAMES: Final = frozenset(Config.__dataclass_fields__)
NAMES: Final = (*_PARSERS, *Config.__dataclass_fields__)
"""The names of all settings."""


def default_store() -> str:
    """The path of memory.db in the user's data folder. The folder is created if it does not exist.

    Raises:
        SettingsError: the folder cannot be created.
    """
    folder = _user_folder("data")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"the folder {folder} for the store cannot be created ({error.strerror}): name a store, or set "
            f"{PREFIX}STORE to a file"
        ) from None
    return str(folder / "memory.db")


_XDG: Final = {"config": ".config", "data": ".local/share"}


def _user_folder(kind: str) -> Path:
    """The user's folder of a kind, "config" or "data", for Slowwave.

    On Linux this is what platformdirs returns; importing platformdirs takes 20 ms, an eighth of the import of numpy.
    """
    if sys.platform == "linux":
        chosen = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
        folder = chosen if os.path.isabs(chosen) else os.path.join(os.environ.get("HOME", ""), _XDG[kind])  # noqa: PTH117, PTH118 - a Path of "" is "."
        if os.path.isabs(folder):  # noqa: PTH117 - as above
            return Path(folder, NAME)
    from platformdirs import user_config_path, user_data_path  # noqa: PLC0415 - see above

    return (user_data_path if kind == "data" else user_config_path)(NAME, appauthor=False)


def _table(path: Path, *, required: bool) -> Mapping[str, object]:
    """The table of a settings file; empty if the file does not exist and is not required."""
    try:
        if not path.is_file():  # reading a pipe or a device might never end
            if required:
                raise SettingsError(f"there is no regular file of settings at {path}: check {PREFIX}CONFIG")
            return {}
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"cannot read the settings in {path}: {getattr(error, 'strerror', None) or error}: check HOME and the "
            f"permissions, or name another file in {PREFIX}CONFIG"
        ) from error
    return _named_table(text, path)


def _named_table(text: str, path: Path) -> Mapping[str, object]:
    """The table `[slowwave]` of a text in TOML, else its top level."""
    import tomllib  # noqa: PLC0415 - most users have no settings file

    try:
        content = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # deep brackets, and numbers of too many digits, are no TOMLDecodeError
        raise SettingsError(f"cannot read the settings in {path}: {error}") from error
    table = content.get(NAME, content)
    if not isinstance(table, dict):
        raise SettingsError(f"slowwave in {path} is not a table: write [slowwave], and the settings below it")
    return table
