"""The command hook, which coding agents call on events. It never stops a person's work: its exit code is always 0."""

import sys
from typing import Any

import click

from slowwave.cli.options import Command, CommonOptions, common_options
from slowwave.errors import SlowwaveError


class HookCommand(Command):
    """A command whose wrong options are reported, and not an error: Claude Code would refuse the prompt of the user."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - Click's
    ) -> click.Context:
        """Parse the options; wrong ones are reported on the error stream."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            sys.stderr.write(f"slowwave: {error.format_message()}\n")
            raise click.exceptions.Exit(0) from error


@click.command("hook", cls=HookCommand, examples=("slowwave install claude-code --hooks",))
@common_options
def hook(options: CommonOptions) -> None:
    """Handle an event of Claude Code or Codex, passed as JSON on stdin.

    Their hooks call it: `slowwave install claude-code --hooks` adds them. It adds what is related to the prompt, stores what
    the user and the agent say, and extracts facts at the end of a session. Its exit code is always 0. A file `.no-slowwave`
    switches it off in its folder and below.
    """
    try:
        _handle(options, sys.stdin.read())
    except (SlowwaveError, OSError, UnicodeError) as error:
        sys.stderr.write(f"slowwave: {error}\n")
    except Exception as error:  # noqa: BLE001 - a hook that fails must not stop a person's work, whatever the failure
        sys.stderr.write(f"slowwave: unexpected {type(error).__name__}: {error}\n")


def _handle(options: CommonOptions, text: str) -> None:
    """Print the answer to an event, and start the resident process for the next ones."""
    from slowwave.hooks.delegate import TURN  # noqa: PLC0415 - `--help` does without
    from slowwave.hooks.events import parse_event  # noqa: PLC0415 - as above
    from slowwave.hooks.hook import SESSION_END, respond  # noqa: PLC0415 - as above
    from slowwave.hooks.place import is_off  # noqa: PLC0415 - as above

    event = parse_event(text, TURN)
    names = {"store": options.store, "scope": options.scope, "llm": options.llm, "embedder": options.embedder}
    given = {name: value for name, value in names.items() if value}
    if answer := respond(event, lambda: options.memory(create=True), given):
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    if event.name != SESSION_END and options.now is None and not is_off(event.folder):
        from slowwave.hooks.processes import start_resident  # noqa: PLC0415 - as above

        start_resident(given, {"scope": options.scope, **options.models()}, event.folder)
