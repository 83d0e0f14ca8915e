"""The group keys: who may use the server, which scopes, and with which rights."""

import click

from slowwave.cli.options import STORED, Command, CommonOptions, Group, common_options, parse_time, store_common_options
from slowwave.cli.output import day
from slowwave.model.access import RIGHTS, made_with
from slowwave.policy.guard.trust import ORDER, checked_trust


@click.group("keys", cls=Group, invoke_without_command=True)
@store_common_options
def keys() -> None:
    """Manage the keys of the server: add, list, revoke. `slowwave keys` lists all."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        context.invoke(list_)


@keys.command(
    "add",
    cls=Command,
    examples=(
        "slowwave keys add laptop",
        "slowwave keys add agent --prefix acme --rights read,write --trust assistant",
    ),
)
@click.argument("label")
@click.option("--prefix", metavar="PATH", default="", help="The scopes that it opens; by default all.")
@click.option(
    "--rights", metavar="LIST", default="read,write", show_default=True, help=f"Between commas: {', '.join(RIGHTS)}."
)
@click.option(
    "--trust", type=click.Choice(ORDER), default="user", show_default=True, help="The most that its writes are trusted."
)
@click.option("--expires-at", metavar="TIME", help="Until when it opens anything; by default until it is revoked.")
@common_options(uses=STORED)
def add(options: CommonOptions, label: str, prefix: str, rights: str, trust: str, expires_at: str | None) -> None:
    """Make a key and print its secret, this once: the store has only its hash.

    LABEL is what you call it. Once a store has a key, its server answers no request without one. TIME is a date such as
    2026-03-14, or 2026-03-14T09:30+01:00.
    """
    until = parse_time(expires_at, "--expires-at")
    wanted = [right.strip() for right in rights.split(",") if right.strip()]
    with options.whole_store(create=True) as store:
        made = store.add_key(label, prefix=prefix, rights=wanted, trust=checked_trust(trust), expires_at=until)
    if options.json:
        options.output.write_json(made)
        return
    options.output.write(made.secret)
    options.output.write(str(made.key), style="dim")


@keys.command("list", cls=Command, examples=("slowwave keys list", "slowwave keys list --json"))
@common_options(uses=STORED)
def list_(options: CommonOptions) -> None:
    """List the keys with their scopes and rights, without their secrets."""
    with options.whole_store() as store:
        found = store.list_keys()
    if options.json:
        options.output.write_json(found)
        return
    for key in found:
        options.output.write(str(key))
        options.output.write(f"made {day(key.created_at)}", style="dim", indent=2)
    if not found:
        options.output.write("no keys: `slowwave keys add NAME` makes one")


@keys.command("revoke", cls=Command, examples=("slowwave keys revoke 6aks3s9359r2zc0aq2f7",))
@click.argument("key_id", metavar="ID")
@click.option("--cascade", is_flag=True, help="Also the keys that were made with it, and with these.")
@common_options(uses=STORED)
def revoke(options: CommonOptions, key_id: str, cascade: bool) -> None:
    """Revoke a key: from now on it opens nothing.

    ID is the id of the key, as `slowwave keys list` shows it.
    """
    with options.whole_store() as store:
        key = store.revoke_key(key_id, cascade=cascade)
        made = made_with(store.list_keys(), key_id) if cascade else []
    if options.json:
        options.output.write_json(key)
        return
    for one in (key, *made):
        options.output.write(f"revoked: {one}")
