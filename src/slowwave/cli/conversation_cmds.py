"""Commands for conversations: conversations, messages, title."""

import click

from slowwave.cli.options import (
    POSITIVE,
    STORED,
    Command,
    CommonOptions,
    common_options,
    conversation_named,
    conversation_names,
)
from slowwave.errors import InputError, NotFoundError
from slowwave.model.counted import counted
from slowwave.policy.guard.labels import short_name


@click.command(
    "conversations", cls=Command, examples=("slowwave conversations", "slowwave conversations --limit 5 --json")
)
@click.option(
    "--limit", type=POSITIVE, default=50, show_default=True, help="How many, the one with the latest message first."
)
@common_options(uses=STORED)
def conversations(options: CommonOptions, limit: int) -> None:
    """List the conversations: titles, names, numbers of messages, and the time of the last message."""
    with options.memory() as memory:
        found = memory.conversations(limit=limit + 1)
    output = options.output
    more, found = len(found) > limit, found[:limit]
    if options.json:
        output.write_json(found)
        return
    for one in found:
        unread = f" · {one.unread:,} unread" if one.unread else ""
        withheld = f" · {one.withheld:,} under review" if one.withheld else ""
        name = f"{one.name} · " if one.label != one.name else ""
        output.write(one.label)
        output.write(
            f"{name}{counted(one.messages, 'message')}{unread}{withheld} · last {one.last_at:%Y-%m-%d %H:%M}",
            style="dim",
            indent=2,
        )
    if more:
        output.write(f"more conversations not shown: --limit {2 * limit}", style="dim")
    if not found:
        output.write("no conversations yet: `slowwave remember` and `slowwave import` store messages")


@click.command("messages", cls=Command, examples=("slowwave messages kitchen", "slowwave messages --last 10"))
@click.argument("conversation", required=False, metavar="[CONVERSATION]", shell_complete=conversation_names)
@click.option("--last", type=POSITIVE, metavar="N", help="Only the latest N messages; by default all.")
@click.option("--withheld", is_flag=True, help="Also the places of messages under review, without their text.")
@common_options(uses=STORED)
def messages(options: CommonOptions, conversation: str | None, last: int | None, withheld: bool) -> None:
    """Print the messages of a conversation in order.

    CONVERSATION is its name or its title, or 6 characters or more with which only one begins; by default the conversation written to last.
    """
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        if unknown := memory.unknown_names(conversation=conversation) if conversation is not None else ():
            raise NotFoundError(unknown[0])
        found = memory.messages(conversation, last=last, withheld=withheld)
    output = options.output
    if options.json:
        output.write_json(found)
        return
    for message in found:
        output.write(f"{message.at:%Y-%m-%d %H:%M}  {short_name(message.role, message.speaker)}", style="dim")
        for line in message.content.splitlines():
            output.write(line, indent=2)
    if not found:
        output.write("no messages yet: `slowwave remember` and `slowwave import` store some")


@click.command(
    "title",
    cls=Command,
    examples=("slowwave title kitchen Plans for the new kitchen", "slowwave title kitchen --remove"),
)
@click.argument("conversation", shell_complete=conversation_names)
@click.argument("title", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove the title instead: its name is shown.")
@common_options(uses=STORED)
def title(options: CommonOptions, conversation: str, title: tuple[str, ...], remove: bool) -> None:
    """Set the title of a conversation, which lists show instead of its name.

    CONVERSATION is its name or its present title, TITLE the title, with or without quotation marks.
    """
    if remove == bool(title):
        raise InputError("give either a title or --remove")
    with options.memory() as memory:
        name = conversation_named(memory, conversation) or conversation
        receipt = memory.set_title(name, None if remove else " ".join(title))
    options.output.write_result(receipt)
