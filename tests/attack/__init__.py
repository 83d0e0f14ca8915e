"""An attack campaign against the library: kills, threads, files, models, values, texts, poison, doors, scopes, machines, by seeds."""

from collections.abc import Mapping
from typing import Final

from tests.attack import (
    doors,
    files,
    installs,
    interrupts,
    machine,
    models,
    poison,
    scopes,
    served,
    texts,
    threads,
    values,
    writers,
)
from tests.attack.campaign import Round

ATTACKS: Final[Mapping[str, Round]] = {
    "kills": writers.kills,
    "churn": writers.churn,
    "threads": threads.threads,
    "interrupts": interrupts.interrupts,
    "imports": files.imports,
    "vaults": files.vaults,
    "settings": files.configuration,
    "databases": files.foreign,
    "damage": files.damaged,
    "arguments": values.arguments,
    "commands": values.command_line,
    "texts": texts.long_texts,
    "models": models.models,
    "servers": models.servers,
    "poison": poison.poison,
    "doors": doors.doors,
    "served": served.served,
    "scopes": scopes.scopes,
    "installs": installs.installs,
    "clocks": machine.clocks,
    "disk": machine.disk,
    "versions": machine.versions,
    "migrations": machine.migrations,
}
"""A round of each class of attack, by its name."""
