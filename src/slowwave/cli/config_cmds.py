"""The group config: the settings in force, where each comes from, and how to change one."""

from collections.abc import Mapping

import click

from slowwave import settings
from slowwave.cli.options import PRINTING, Command, CommonOptions, Group, common_options, store_common_options
from slowwave.errors import SettingsError


@click.group("config", cls=Group, invoke_without_command=True)
@store_common_options
def config() -> None:
    """Show and change the settings: `slowwave config` lists those in force."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        context.invoke(list_)


@config.command("list", cls=Command, examples=("slowwave config", "slowwave config list --all"))
@click.option("--all", "every", is_flag=True, help="Also the settings that have their default value.")
@common_options(uses=PRINTING)
def list_(options: CommonOptions, every: bool) -> None:
    """List the settings in force, and where each comes from: an environment variable, the file, or the default."""
    found = settings.in_force()
    output = options.output
    if options.json:
        output.write_json({"file": str(settings.file_path()), "settings": found})
        return
    output.write(settings_file())
    shown = [one for one in found if every or one.source != "default"]
    width = max((len(one.name) for one in shown), default=0)
    for one in shown:
        output.write_row((f"{one.name.ljust(width)}  ", ""), (f"{_shown(one.value)}  ({one.source})", ""))
    if hidden := len(found) - len(shown):
        output.write(
            f"{hidden} settings have their default value: `slowwave config list --all` shows them", style="dim"
        )


@config.command("get", cls=Command, examples=("slowwave config get llm", "slowwave config get half_life_days"))
@click.argument("name")
@common_options(uses=PRINTING)
def get(options: CommonOptions, name: str) -> None:
    """Print the value of a setting in force, and where it comes from.

    NAME is the name of a setting, such as llm or half_life_days.
    """
    found = next((one for one in settings.in_force() if one.name == name), None)
    if found is None:
        raise SettingsError(settings.unknown(name))
    if options.json:
        options.output.write_json({"file": str(settings.file_path()), "setting": found})
        return
    options.output.write(f"{name} is {_shown(found.value)} ({found.source})")


@config.command(
    "set", cls=Command, examples=("slowwave config set llm ollama:llama3", "slowwave config set scope alice")
)
@click.argument("name")
@click.argument("value")
@common_options(uses=PRINTING)
def set_(options: CommonOptions, name: str, value: str) -> None:
    """Set a setting in the settings file. An invalid value is refused, and the file stays as it was.

    NAME is the name of a setting, such as llm or half_life_days. VALUE is its value, as in TOML; a text needs no
    quotation marks.
    """
    _write(options, name, value)


@config.command("unset", cls=Command, examples=("slowwave config unset llm", "slowwave config unset half_life_days"))
@click.argument("name")
@common_options(uses=PRINTING)
def unset(options: CommonOptions, name: str) -> None:
    """Remove a setting from the settings file: its default applies.

    NAME is the name of a setting, such as llm or half_life_days.
    """
    _write(options, name, None)


@config.command("path", cls=Command, examples=("slowwave config path", "cat $(slowwave config path)"))
@common_options(uses=PRINTING)
def path(options: CommonOptions) -> None:
    """Print the path of the settings file, which may not exist yet."""
    found = str(settings.file_path())
    options.output.write_result({"file": found} if options.json else found)


def _write(options: CommonOptions, name: str, value: str | None) -> None:
    changed = settings.write(name, value)
    (now,) = (one for one in settings.in_force() if one.name == name)
    if options.json:
        options.output.write_json({"file": str(changed), "setting": now})
        return
    options.output.write(f"{name} is {_shown(now.value)} now ({now.source})")
    if value is not None and now.source != str(changed):
        options.output.write(f"{now.source} takes precedence over {changed}", style="yellow")


def settings_file() -> str:
    """The path of the settings file, and whether it exists."""
    place = settings.file_path()
    return f"settings file {place}" + ("" if place.is_file() else ", which does not exist: the defaults apply")


def _shown(value: object) -> str:
    """The value of a setting as text."""
    if value is None or (isinstance(value, Mapping) and not value):
        return "not set"
    return str(dict(value) if isinstance(value, Mapping) else value)
