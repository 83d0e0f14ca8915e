"""The schema of a store, and the migrations that it lacks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The schema of a store beside that of this program.

    Attributes:
        store: the path, or the address without its password.
        version: the schema of the store; 0: there is none.
        wanted: the schema of this program. A greater `version` is one that this program can use too.
        steps: the numbers of the migrations that are missing.
        owned: whether this login may run them.
        size: bytes of all tables and indexes.
        holders: sessions whose open transactions hold locks, for which a migration would wait.
    """

    store: str
    version: int
    wanted: int
    steps: tuple[int, ...] = ()
    owned: bool = True
    size: int = 0
    holders: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.steps:
            return f"{self.store}: schema {self.version}, up to date"
        several = "migration is" if len(self.steps) == 1 else "migrations are"
        lines = [
            f"{self.store}: schema {self.version} of {self.wanted}; {len(self.steps)} {several} missing, over {self.size:,} bytes"
        ]
        if not self.owned:
            lines.append("  this login may not run them: use that of the owner of the schema")
        lines += [f"  a migration would wait for {holder}" for holder in self.holders]
        return "\n".join(lines)
