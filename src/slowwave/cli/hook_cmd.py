"""The command hook, which coding agents call on events. It never stops a person's work: its exit code is always 0."""

import sys
from collections.abc import Sequence
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
        answer = _answer(options, sys.stdin.read())
    except (SlowwaveError, OSError, UnicodeError) as error:
        sys.stderr.write(f"slowwave: {error}\n")
    except Exception as error:  # noqa: BLE001 - a hook that fails must not stop a person's work, whatever the failure
        sys.stderr.write(f"slowwave: unexpected {type(error).__name__}: {error}\n")
    else:
        if answer:
            sys.stdout.write(f"{answer}\n")


def _answer(options: CommonOptions, text: str) -> str:
    from slowwave.hooks.events import parse_event  # noqa: PLC0415 - `--help` does without
    from slowwave.hooks.hook import SESSION_START, handle, unread_conversations  # noqa: PLC0415 - as above
    from slowwave.hooks.place import is_off, project_memory  # noqa: PLC0415 - as above

    event = parse_event(text)
    if is_off(event.folder):
        return ""
    with options.memory(create=True) as opened:
        memory = project_memory(opened, event.folder)
        answer = handle(event, memory)
        unread = unread_conversations(event, memory)
    if unread:
        which = ("--all",) if event.name == SESSION_START else ("--conversation", *unread)
        _consolidate_in_background(options, memory.scope, which)
    return answer


def _consolidate_in_background(options: CommonOptions, scope: str, which: Sequence[str]) -> None:
    """Extract facts from what is unread, in a process of its own: the agent and the user do not wait for a model.

    Messages that this process does not read, because the machine stops or the model fails, stay unread until the next
    session starts.
    """
    import subprocess  # noqa: PLC0415 - few events start a process

    words = [sys.executable, "-m", "slowwave", "consolidate", *which, "--scope", scope]
    given = {"store": options.store, "llm": options.llm, "embedder": options.embedder}
    subprocess.Popen(  # noqa: S603 - this program
        [*words, *(f"--{name}={value}" for name, value in given.items() if value)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
