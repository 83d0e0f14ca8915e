"""The events of coding agents: the JSON that Claude Code and Codex pass to a hook, and the JSON that a hook answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slowwave.errors import InputError

LARGEST: Final = 16 * 1024 * 1024
"""Characters of an event; a larger one is refused before it is parsed."""
SESSION_LONGEST: Final = 200
AGENT: Final = "agent"
"""The beginning of the names of conversations that hooks store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One event of a session.

    Attributes:
        name: "SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd", or another that is ignored.
        session: the id of the session.
        folder: where the agent works.
        turn: the id of the turn, `prompt_id` of Claude Code or `turn_id` of Codex, else an id of the event; None: it is not known.
        prompt: what the user wrote, of UserPromptSubmit.
        reply: what the agent answered last, of Stop.
        source: why the session starts: "startup", "resume", "clear" or "compact".
    """

    name: str
    session: str
    folder: Path
    turn: str | None = None
    prompt: str = ""
    reply: str = ""
    source: str = ""

    @property
    def conversation(self) -> str:
        """The name of the conversation in which the session is stored."""
        return f"{AGENT}/{self.session}"


def parse_event(text: str, turn: str | None = None) -> HookEvent:
    """The event of a hook's input. Fields that are not known are ignored.

    Args:
        text: the input, a JSON object.
        turn: the id of the turn if the agent gives none.

    Raises:
        InputError: it is not a JSON object with an event's name and a session, or its folder has an impossible name.
    """
    if len(text) > LARGEST:
        raise InputError(f"the event has more than {LARGEST:,} characters")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "the input is not valid JSON: this command is called by the hooks of a coding agent"
        ) from error
    if not isinstance(given, dict):
        raise InputError("the input is not a JSON object: this command is called by the hooks of a coding agent")
    name, session = _text(given, "hook_event_name"), _text(given, "session_id")
    if not name or not session:
        raise InputError("the event has no hook_event_name or no session_id")
    return HookEvent(
        name=name,
        session=session[:SESSION_LONGEST],
        folder=_folder(given),
        turn=(_text(given, "prompt_id") or _text(given, "turn_id"))[:SESSION_LONGEST] or turn,
        prompt=_text(given, "prompt"),
        reply=_text(given, "last_assistant_message"),
        source=_text(given, "source"),
    )


def added_context(event: HookEvent, text: str) -> str:
    """The answer that puts a text into the model's context."""
    specific = {"hookEventName": event.name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": specific}, ensure_ascii=True)


def _folder(given: Mapping[str, object]) -> Path:
    folder = Path(_text(given, "cwd") or Path.cwd())
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # it may have been removed since
    except (OSError, ValueError) as error:
        raise InputError("the cwd of the event cannot be the name of a folder") from error
    return folder


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
