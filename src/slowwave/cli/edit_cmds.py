"""Commands that change one memory by hand: pin, unpin, update, delete, revive; and erase, which cannot be undone."""

import sys
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.endings import INTERRUPTED, CancelledError
from slowwave.cli.options import STORED, Command, CommonOptions, common_options, conversation_option, joined, memory_id
from slowwave.cli.output import one_line
from slowwave.cli.progress import progress
from slowwave.errors import InputError
from slowwave.model.counted import counted
from slowwave.model.memory import MESSAGE, NOTE, SUMMARY, Memory

if TYPE_CHECKING:
    from slowwave.pipelines.admin.erase import ErasureReceipt

WORDS_SHOWN: Final = 80
"""Characters of the memory that was changed by hand which a command prints."""


def edit_command(name: str, help: str) -> click.Command:  # noqa: A002 - as Click's
    """The command of a method that changes one memory and takes nothing but its id.

    Args:
        name: of the command and of the method.
        help: the first line of the command's help.
    """

    @click.command(
        name,
        cls=Command,
        examples=(f"slowwave {name} 0ada6q00h7z9gd4kt3mn", f"slowwave {name} 0ada6q --json"),
        help=f"{help}\n\nID is the id of a memory, or its last characters: search, list and review print it.",
    )
    @memory_id
    @common_options(uses=STORED)
    def run(options: CommonOptions, memory_id: str) -> None:
        with options.memory() as memory:
            changed = memory.get(memory.find_id(memory_id))
            receipt = getattr(memory, name)(changed.id)
        output = options.output
        if not options.json:
            output.write(f"{_noun(changed)}: {one_line(changed.text, WORDS_SHOWN)}")
        output.write_result(receipt)

    return run


def _noun(memory: Memory) -> str:
    """What a person calls a memory: a message, a note, a summary, or else a fact."""
    return memory.kind if memory.kind in {MESSAGE, NOTE, SUMMARY} else "fact"


pin = edit_command("pin", "Keep a memory in every context. It does not fade.")
unpin = edit_command("unpin", "Let a pinned memory fade like any other.")
delete = edit_command("delete", "Retract a memory. The commands revive and undo restore it.")
revive = edit_command("revive", "Restore a memory that is cold, superseded or retracted.")


@click.command(
    "update",
    cls=Command,
    examples=(
        "slowwave update 0ada6q00h7z9gd4kt3mn Odile sold the ferry",
        "slowwave update 0ada6q 'Odile sold the ferry' --category person",
    ),
)
@memory_id
@click.argument("text", nargs=-1, required=True)
@click.option("--category", help="A new category; by default it stays.")
@common_options
def update(options: CommonOptions, memory_id: str, text: tuple[str, ...], category: str | None) -> None:
    """Change the text of a fact. The old text stays in its history.

    ID is the id of a memory, or its last characters. TEXT is the new text, with or without quotation marks.
    """
    with options.memory() as memory:
        receipt = memory.update(memory.find_id(memory_id), joined(text, "TEXT"), category=category)
    options.output.write_result(receipt)


@click.command(
    "erase",
    cls=Command,
    examples=("slowwave erase --text Elsa --dry-run", "slowwave erase --conversation kitchen --yes"),
)
@click.argument("memory_id", metavar="[ID]", required=False)
@click.option("--source", help="Erase what was derived from the message with this id of yours.")
@conversation_option("Erase a whole conversation.")
@click.option("--text", help="Erase every memory that holds, or ever held, this text.")
@click.option("--everything", is_flag=True, help="Erase the whole scope.")
@click.option("--dry-run", is_flag=True, help="Show what would be erased; erase nothing.")
@click.option(
    "--rewrite", is_flag=True, help="Prove the whole store now: rewrite the tables of a server however large they are."
)
@click.option(
    "--no-rewrite",
    "no_rewrite",
    is_flag=True,
    help="Rewrite neither tables nor the file; on a server the proof of the whole store is pending.",
)
@click.option("--prove-pending", is_flag=True, help="Prove earlier erases in the whole store; erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common_options(uses=STORED)
def erase(
    options: CommonOptions,
    memory_id: str | None,
    source: str | None,
    conversation: str | None,
    text: str | None,
    everything: bool,
    dry_run: bool,
    rewrite: bool,
    no_rewrite: bool,
    prove_pending: bool,
    yes: bool,
) -> int | None:
    """Destroy memories and all that was derived from them, and verify that no trace remains. It cannot be undone.

    ID is the id of a memory; or give one of --source, --conversation, --text and --everything.
    Before it asks, it shows what would be erased. The exit code is 1 if a trace remains.
    """
    ways = sum(way is not None for way in (memory_id, source, conversation, text)) + everything
    if prove_pending:
        return _prove_pending(options, ways, rewrite=True if rewrite else False if no_rewrite else None)
    if ways != 1:
        raise InputError("say what to erase: give one of ID, --source, --conversation, --text and --everything")
    if rewrite and no_rewrite:
        raise InputError("both --rewrite and --no-rewrite: give one of them")
    with options.memory() as memory:
        if conversation is not None:  # a beginning might mean another one, so that only a person may give it
            conversation = memory.find_conversation(conversation, beginnings=not yes) or conversation
        whole_id = memory_id if memory_id is None else memory.find_id(memory_id)

        def call(*, dry_run: bool) -> "ErasureReceipt":
            return memory.erase(
                id=whole_id,
                source=source,
                conversation=conversation,
                text=text,
                scope=everything,
                rewrite=True if rewrite else False if no_rewrite else None,
                dry_run=dry_run,
            )

        if dry_run:
            options.output.write_result(call(dry_run=True))
            return None
        if not yes:
            _confirm_erase(options, call(dry_run=True))
        result = call(dry_run=False)
    options.output.write_result(result)
    if result.still and not options.json:
        options.output.write(
            "to erase those too: `slowwave erase ID`, or --text with their words", style="dim", indent=2
        )
    return None if result.verified else 1


def _prove_pending(options: CommonOptions, ways: int, *, rewrite: bool | None) -> int | None:
    if ways:
        raise InputError("--prove-pending erases nothing: give neither an ID nor an option that says what to erase")
    with options.whole_store() as store, progress(options, "searching tables") as shown:
        proof = store.prove_erased(rewrite=rewrite, on_progress=shown)
    options.output.write_result(proof)
    return 1 if proof.pending else None


def _confirm_erase(options: CommonOptions, preview: "ErasureReceipt") -> None:
    """Show what an erase would destroy, and ask a person for it."""
    if sys.stdin.isatty():
        options.warn(str(preview))
        question = f"This cannot be undone. Erase {counted(len(preview.destroyed), 'memory', 'memories')}?"
        confirm(question, yes=False)
        return
    raise InputError(
        f"nothing was erased: this would destroy {counted(len(preview.destroyed), 'memory', 'memories')}; look with --dry-run, confirm "
        "with --yes, or use delete, which can be undone"
    )


def confirm(question: str, *, yes: bool, refusal: str = "nothing was changed: confirm with --yes") -> None:
    """Ask a person before an operation that destroys data, unless the option --yes is given.

    Raises:
        CancelledError: the answer is no, or the question was ended with Ctrl-C or Ctrl-D.
        InputError: there is no terminal to ask at; the error is `refusal`.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(refusal)
    try:
        if not click.confirm(question, err=True):
            raise CancelledError
    except click.Abort as error:
        sys.stderr.write("\n")  # the cursor is behind the question
        if isinstance(error.__context__, KeyboardInterrupt):
            raise CancelledError(INTERRUPTED) from None
        raise CancelledError from None
