"""The command fleet: the state of a whole store and of its workers."""

import click

from slowwave.cli.options import PRINTING, Command, CommonOptions, common_options


@click.command("fleet", cls=Command, examples=("slowwave fleet", "slowwave fleet --json"))
@common_options(uses=("store", *PRINTING))
def fleet(options: CommonOptions) -> int | None:
    """Show the whole store: schema, due scopes, workers, dead letters with their reasons, pending proofs.

    The exit code is 1 if there are dead letters or missing migrations.
    """
    with options.whole_store() as store:
        state = store.fleet()
    options.output.write_result(state)
    return 1 if state.dead or state.schema.steps else None
