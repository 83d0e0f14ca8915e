"""Settings: the only reader of the environment and of files of settings."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slowwave.errors import SettingsError
from slowwave.model.config import Config

PREFIX = "SLOWWAVE_"
FILE = "slowwave.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where memory lives and who thinks, as the environment and the file of settings say it.

    Environment: SLOWWAVE_STORE, SLOWWAVE_SCOPE, SLOWWAVE_LLM, SLOWWAVE_LLM_URL, SLOWWAVE_LLM_KEY (else
    OPENAI_API_KEY), SLOWWAVE_EMBEDDER, SLOWWAVE_EMBEDDER_URL, SLOWWAVE_EMBEDDER_KEY, SLOWWAVE_CONFIG (a TOML file
    whose `[slowwave]` table, or whole, holds names of Config; default: slowwave.toml in the user's settings folder).
    """

    store: str | None = None
    scope: str | None = None
    llm: str | None = None
    llm_url: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    embedder: str | None = None
    embedder_url: str | None = None
    embedder_key: str | None = field(default=None, repr=False)
    config: Config = field(default_factory=Config)


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Raises:
        SettingsError: if the file of settings cannot be read.
        InputError: if a value in it cannot be meant.
    """
    env = os.environ if environment is None else environment
    chosen = env.get(f"{PREFIX}CONFIG")
    path = Path(chosen) if chosen else _folder("config") / FILE
    table = _table(path, required=bool(chosen))
    key = env.get(f"{PREFIX}LLM_KEY") or env.get("OPENAI_API_KEY") or None
    return Settings(
        store=env.get(f"{PREFIX}STORE") or None,
        scope=env.get(f"{PREFIX}SCOPE") or None,
        llm=env.get(f"{PREFIX}LLM") or None,
        llm_url=env.get(f"{PREFIX}LLM_URL") or None,
        llm_key=key,
        embedder=env.get(f"{PREFIX}EMBEDDER") or None,
        embedder_url=env.get(f"{PREFIX}EMBEDDER_URL") or None,
        embedder_key=env.get(f"{PREFIX}EMBEDDER_KEY") or key,
        config=Config.from_mapping(table),
    )


def default_store() -> str:
    """The file in the user's data folder; the folder is made if it is missing."""
    folder = _folder("data")
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "memory.db")


def _folder(kind: str) -> Path:
    from platformdirs import user_config_path, user_data_path  # noqa: PLC0415 - only where no path is given

    return (user_data_path if kind == "data" else user_config_path)("slowwave", appauthor=False)


def _table(path: Path, *, required: bool) -> Mapping[str, object]:
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if required:
            raise SettingsError(f"no file of settings at {path}: check SLOWWAVE_CONFIG") from error
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read the settings in {path}: {error}") from error
    table = whole.get("slowwave", whole)
    return table if isinstance(table, dict) else {}
