"""Settings: environment variables take precedence over the file, and the file over the defaults."""

import os
import stat
import sys
from pathlib import Path

import platformdirs
import pytest

from slowwave import settings
from slowwave.errors import InputError, SettingsError
from slowwave.formats.settings_file import changed

FILE = """
[slowwave]
llm = "openai:gpt-5-mini"
llm_seconds = 30
llm_calls_per_run = 40
llm_calls_per_day = 500
llm_money_per_day = 1.5
max_facts_per_pass = 5

[slowwave.llm_prices]
"gpt-5-mini" = [0.25, 2]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "slowwave.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_file_contains_settings_and_fields_of_config(file: Path) -> None:
    known = settings.read({"SLOWWAVE_CONFIG": str(file)})
    assert known.llm == "openai:gpt-5-mini"
    assert (known.llm_seconds, known.llm_calls_per_run, known.llm_calls_per_day) == (30.0, 40, 500)
    assert known.llm_money_per_day == 1.5
    assert known.llm_prices == {"gpt-5-mini": (0.25, 2.0)}
    assert known.config.max_facts_per_pass == 5


def test_environment_variables_take_precedence_over_the_file(file: Path) -> None:
    environment = {
        "SLOWWAVE_CONFIG": str(file),
        "SLOWWAVE_LLM": "ollama:qwen3",
        "SLOWWAVE_LLM_SECONDS": "2.5",
        "SLOWWAVE_LLM_CALLS_PER_DAY": "7",
        "SLOWWAVE_LLM_PRICES": "gpt-5-mini=0.25/2, qwen3=0/0,",
        "OPENAI_API_KEY": "sk-1",
        "SLOWWAVE_STORE": "",
    }
    known = settings.read(environment)
    assert (known.llm, known.llm_seconds, known.llm_calls_per_day, known.llm_calls_per_run) == (
        "ollama:qwen3",
        2.5,
        7,
        40,
    )
    assert known.llm_prices == {"gpt-5-mini": (0.25, 2.0), "qwen3": (0.0, 0.0)}
    assert known.llm_key is None
    assert known.embedder_key is None
    assert known.store is None


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("LLM_SECONDS", "soon", "a number"),
        ("LLM_SECONDS", "0", "above 0"),
        ("LLM_SECONDS", "nan", "a number"),
        ("LLM_CALLS_PER_RUN", "1.5", "a whole number"),
        ("LLM_CALLS_PER_DAY", "-1", "a number from 0"),
        ("LLM_MONEY_PER_DAY", "inf", "a number from 0"),
        ("LLM_PRICES", "gpt-5-mini", "gpt-5-mini=0.25/2.0"),
        ("LLM_PRICES", "gpt-5-mini=0.25", "gpt-5-mini=0.25/2.0"),
    ],
)
def test_an_invalid_variable_raises_an_error_that_says_what_is_expected(
    tmp_path: Path, name: str, value: str, advice: str
) -> None:
    empty = tmp_path / "none.toml"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match=f"{name.lower()}=.*{advice}"):
        settings.read({"SLOWWAVE_CONFIG": str(empty), f"SLOWWAVE_{name}": value})


@pytest.mark.parametrize("line", ["llm = 3", "llm_prices = [1, 2]", "llm_calls_per_day = true"])
def test_a_value_of_another_type_in_the_file_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SettingsError, match="invalid value; expected"):
        settings.read({"SLOWWAVE_CONFIG": str(path)})


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text("llm_callz = 3", encoding="utf-8")
    with pytest.raises(InputError, match="llm_callz"):
        settings.read({"SLOWWAVE_CONFIG": str(path)})


def test_a_file_named_by_the_environment_must_exist_and_be_readable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no regular file of settings"):
        settings.read({"SLOWWAVE_CONFIG": str(tmp_path / "missing.toml")})
    broken = tmp_path / "broken.toml"
    broken.write_text("llm = ", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot read"):
        settings.read({"SLOWWAVE_CONFIG": str(broken)})


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_a_settings_file_that_is_no_regular_file_is_refused_and_not_read(tmp_path: Path, kind: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = {"pipe": pipe, "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    with pytest.raises(SettingsError, match="no regular file of settings"):
        settings.read({"SLOWWAVE_CONFIG": str(path)})


def test_a_settings_entry_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text("slowwave = 3\n")
    with pytest.raises(SettingsError, match=r"write \[slowwave\]"):
        settings.read({"SLOWWAVE_CONFIG": str(path)})


def test_the_error_lists_every_invalid_value_and_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text("[slowwave]\nmin_messages = 0\nhalf_life_days = -1\nranking_profile = 'best'\n")
    with pytest.raises(InputError) as error:
        settings.read({"SLOWWAVE_CONFIG": str(path)})
    for word in (str(path), "min_messages=0", "half_life_days=-1", "ranking_profile='best'"):
        assert word in str(error.value)


@pytest.mark.skipif(sys.platform != "linux", reason="the variables of Linux")
def test_the_settings_file_and_the_default_store_are_in_the_users_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "config" / "slowwave").mkdir(parents=True)
    (tmp_path / "config" / "slowwave" / "slowwave.toml").write_text(FILE, encoding="utf-8")
    assert settings.read({}).llm == "openai:gpt-5-mini"
    assert settings.default_store() == str(tmp_path / "data" / "slowwave" / "memory.db")
    assert (tmp_path / "data" / "slowwave").is_dir()


@pytest.mark.parametrize("chosen", [None, "", "/elsewhere", "relative", "~/there"])
@pytest.mark.parametrize("home", [None, "", "/home/ann", "relative"])
def test_the_users_folders_are_those_of_platformdirs(
    chosen: str | None, home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("XDG_CONFIG_HOME", chosen), ("XDG_DATA_HOME", chosen), ("HOME", home)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    assert settings._user_folder("config") == platformdirs.user_config_path("slowwave", appauthor=False)
    assert settings._user_folder("data") == platformdirs.user_data_path("slowwave", appauthor=False)


def test_a_setting_is_written_into_the_file_and_the_other_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "new" / "slowwave.toml"
    env = {"SLOWWAVE_CONFIG": str(path), "XDG_CONFIG_HOME": str(tmp_path)}
    assert settings.write("llm", "ollama:llama3", env) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text('# mine\n[slowwave]\nllm = "a"  # old\n\n[slowwave.llm_prices]\n"x" = [1, 2]\n', encoding="utf-8")
    settings.write("llm", "ollama:llama3", env)
    settings.write("half_life_days", "20", env)
    assert path.read_text(encoding="utf-8") == (
        '# mine\n[slowwave]\nllm = "ollama:llama3"\nhalf_life_days = 20\n\n[slowwave.llm_prices]\n"x" = [1, 2]\n'
    )
    known = settings.read(env)
    assert (known.llm, known.config.half_life_days, known.llm_prices) == ("ollama:llama3", 20, {"x": (1.0, 2.0)})
    settings.write("llm", None, env)
    assert settings.read(env).llm is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("llm_seconds", "soon"),
        ("half_life_days", "-1"),
        ("half_live", "1"),
        ("llm", "gpt-5"),
        ("llm", "ftp://host/v1"),
        ("embedder", "ada"),
    ],
)
def test_a_wrong_setting_is_not_written(tmp_path: Path, name: str, value: str) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text("min_messages = 3\n", encoding="utf-8")
    with pytest.raises((InputError, SettingsError)):
        settings.write(name, value, {"SLOWWAVE_CONFIG": str(path)})
    assert path.read_text(encoding="utf-8") == "min_messages = 3\n"


def test_a_line_of_a_longer_text_is_not_taken_for_a_setting() -> None:
    with pytest.raises(InputError, match="embedder cannot be changed here"):
        changed('llm_url = """\nembedder = 1\n"""\n', "slowwave", "embedder", "none")


def test_the_settings_in_force_name_their_source_and_hide_secrets(file: Path) -> None:
    env = {
        "SLOWWAVE_CONFIG": str(file),
        "SLOWWAVE_LLM_SECONDS": "5",
        "SLOWWAVE_LLM_KEY": "sk-1",
        "SLOWWAVE_STORE": "postgresql://ann:secret@host/memory",
    }
    found = {one.name: (one.value, one.source) for one in settings.in_force(env)}
    assert found["llm"] == ("openai:gpt-5-mini", str(file))
    assert found["llm_seconds"] == (5.0, "SLOWWAVE_LLM_SECONDS")
    assert found["max_facts_per_pass"] == (5, str(file))
    assert found["min_messages"] == (6, "default")
    assert found["llm_key"] == ("set, not shown", "SLOWWAVE_LLM_KEY")
    assert found["store"] == ("postgresql://ann:…@host/memory", "SLOWWAVE_STORE")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann@host/memory?password=secret&sslmode=require", "postgresql://ann@host/memory?…"),
        ("postgresql:///memory?password=secret", "postgresql:///memory?…"),
        ("postgresql://ann:secret@host/memory?password=secret", "postgresql://ann:…@host/memory?…"),
    ],
)
def test_a_password_in_the_query_of_an_address_is_not_shown(file: Path, address: str, shown: str) -> None:
    env = {
        "SLOWWAVE_CONFIG": str(file),
        "SLOWWAVE_STORE": address,
        "SLOWWAVE_LLM": "https://host/v1?api-key=secret#model",
    }
    found = {one.name: one.value for one in settings.in_force(env)}
    assert (found["store"], found["llm"]) == (shown, "https://host/v1?…#model")


@pytest.mark.parametrize("line", ["llm_key = 4821", "embedder_key = ['4821']", "llm_url = ['http://ann:4821@host']"])
def test_the_error_about_a_key_of_another_type_does_not_show_it(tmp_path: Path, line: str) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SettingsError, match="expected a text") as error:
        settings.read({"SLOWWAVE_CONFIG": str(path)})
    assert line.partition(" ")[0] in str(error.value)
    assert "4821" not in str(error.value)


def test_a_setting_of_the_page_of_a_vault_names_the_page(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "notes" / "config" / "memory_compaction.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nimmediate_window: 10\nprofile: brief\n---\n", encoding="utf-8")
    env = {
        "SLOWWAVE_CONFIG": str(file),
        "SLOWWAVE_VAULT": str(tmp_path / "notes"),
        "SLOWWAVE_IMMEDIATE_WINDOW": "20",
        "SLOWWAVE_RECENT_WINDOW": "30",
    }
    found = {one.name: (one.value, one.source) for one in settings.in_force(env)}
    assert found["immediate_window"] == (10, str(page))
    assert found["summary_profile"] == ("brief", str(page))
    assert found["recent_window"] == (30, "SLOWWAVE_RECENT_WINDOW")


def test_the_error_lists_wrong_settings_wrong_numbers_and_unknown_names(tmp_path: Path) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text("nonsense = 3\nllm_seconds = 'soon'\nmin_messages = 0\nhalf_live_days = 3\n")
    with pytest.raises(SettingsError) as error:
        settings.read({"SLOWWAVE_CONFIG": str(path)})
    for word in ("'nonsense'", "llm_seconds='soon'", "min_messages=0", "did you mean half_life_days"):
        assert word in str(error.value)


def test_a_folder_for_the_store_that_cannot_be_made_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_user_folder", lambda _: Path("/proc/nobody/slowwave"))
    with pytest.raises(SettingsError, match="cannot be created"):
        settings.default_store()


def test_the_environment_sets_whether_secrets_are_kept_from_a_model(file: Path) -> None:
    env = {"SLOWWAVE_CONFIG": str(file)}
    assert settings.read(env).config.redact_to_model
    assert not settings.read(env | {"SLOWWAVE_REDACT_TO_MODEL": "false"}).config.redact_to_model
    with pytest.raises(InputError, match="redact_to_model='perhaps'"):
        settings.read(env | {"SLOWWAVE_REDACT_TO_MODEL": "perhaps"})


@pytest.mark.parametrize("written", ["a = " + "[" * 90_000, "a = " + "9" * 5_000])
def test_settings_that_python_cannot_parse_are_refused_in_one_sentence(tmp_path: Path, written: str) -> None:
    path = tmp_path / "slowwave.toml"
    path.write_text(written)
    with pytest.raises(SettingsError, match="cannot read the settings in"):
        settings.read({"SLOWWAVE_CONFIG": str(path)})


def test_the_environment_sets_every_field_of_config(file: Path) -> None:
    env = {
        "SLOWWAVE_CONFIG": str(file),
        "SLOWWAVE_MIN_MESSAGES": "3",
        "SLOWWAVE_HALF_LIFE_DAYS": "30",
        "SLOWWAVE_SEARCH_IN_RAM": "none",
        "SLOWWAVE_RETENTION_POLICY": "power",
        "SLOWWAVE_CATEGORY_TTL_DAYS": "{ session_state = 2 }",
    }
    config = settings.read(env).config
    assert (config.min_messages, config.half_life_days, config.search_in_ram) == (3, 30, None)
    assert (config.retention_policy, dict(config.category_ttl_days)) == ("power", {"session_state": 2})
    sources = {one.name: one.source for one in settings.in_force(env)}
    assert sources["min_messages"] == "SLOWWAVE_MIN_MESSAGES"


@pytest.mark.parametrize("value", ["0", "many", "true", "[3]"])
def test_a_wrong_value_of_a_variable_names_the_variable(file: Path, value: str) -> None:
    with pytest.raises(InputError, match=r"in SLOWWAVE_MIN_MESSAGES.*min_messages="):
        settings.read({"SLOWWAVE_CONFIG": str(file), "SLOWWAVE_MIN_MESSAGES": value})


def test_a_variable_that_is_named_almost_like_a_setting_is_an_error(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"SLOWWAVE_MIN_MESAGES .*SLOWWAVE_MIN_MESSAGES"):
        settings.read({"SLOWWAVE_CONFIG": str(file), "SLOWWAVE_MIN_MESAGES": "3"})
    settings.read({"SLOWWAVE_CONFIG": str(file), "SLOWWAVE_BUILD_OF_ACME": "3"})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("half_live_days", "there is no setting 'half_live_days': did you mean half_life_days"),
        ("model", "there is no setting 'model': did you mean llm?"),
        ("colour", "there is no setting 'colour': docs/tuning.md lists all settings"),
    ],
)
def test_an_unknown_setting_of_the_file_names_the_one_to_use(tmp_path: Path, name: str, says: str) -> None:
    file = tmp_path / "slowwave.toml"
    file.write_text(f'{name} = "x"\n', "utf-8")
    with pytest.raises(InputError) as error:
        settings.read({"SLOWWAVE_CONFIG": str(file)})
    assert says in str(error.value)
    assert "`slowwave" not in str(error.value)
