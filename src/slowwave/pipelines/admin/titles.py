"""Sets the titles of conversations."""

from slowwave.errors import InputError, shown
from slowwave.model.names import TITLE_LONGEST
from slowwave.model.operations import SetTitle
from slowwave.model.plain_text import tidy
from slowwave.model.plan import Group, Plan, Receipt
from slowwave.pipelines.conversations import known_conversation
from slowwave.pipelines.planning import apply_with_retry, new_id
from slowwave.ports import Ports


def set_title(ports: Ports, conversation: str, title: str | None) -> Receipt:
    """Set the title of a conversation, or with None remove it. Nothing is written if it has this title already.

    Raises:
        NotFoundError: there is no such conversation.
        InputError: the title is not a text of 1 to 256 characters.
    """
    title = checked_title(title)

    def plan() -> Plan:
        found = known_conversation(ports, conversation)
        because = "title set by a person" if title else "title removed by a person"
        change = SetTitle(conversation=conversation, before=found.title, after=title, because=because)
        now = ports.now()
        group = Group(operations=(change,), because=because, conversations=(conversation,))
        groups = (group,) if found.title != title else ()
        return Plan(id=new_id(now), scope=ports.scope, cause="edit/title", at=now, groups=groups)

    return apply_with_retry(ports, plan)


def checked_title(title: object) -> str | None:
    """The title on one line, or None. InputError if it is not a text, empty, or too long."""
    if title is None:
        return None
    if not isinstance(title, str):
        raise InputError(
            f"title={shown(title)} is of type {type(title).__name__}: pass text, or None to remove the title"
        )
    line = tidy(title)
    if not line or len(line) > TITLE_LONGEST:
        raise InputError(f"a title of {len(line)} characters: use 1 to {TITLE_LONGEST}, or None to remove the title")
    return line
