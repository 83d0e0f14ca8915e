"""What the proof of an erase found: in the scope that it touched, and in the whole store."""

from dataclasses import dataclass
from datetime import datetime

from slowwave.model.counted import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureProof:
    """The result of the search for what was erased, right after the erase.

    Attributes:
        problems: what remains, or could not be examined, as sentences; empty if the erase is proved.
        rewritten: the names of the files or tables that were rewritten.
        pending: what only a proof of the whole store can show, as sentences; empty if it was shown already.
    """

    problems: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingProof:
    """An erase that is proved for its scope and waits for the proof of the whole store.

    Attributes:
        scope: the path of the scope.
        at: the time of the erase.
        tables: the tables whose free space may hold bytes of what was erased, or whose rows are still to be searched.
    """

    scope: str
    at: datetime
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProof:
    """The result of a proof of the whole store.

    Attributes:
        proved: erases of which no row and no free space holds anything any more.
        pending: erases that still wait for it.
        rewritten: the names of the rewritten tables, and for how long each was locked.
        problems: why some erases still wait, as sentences.
    """

    proved: int = 0
    pending: int = 0
    rewritten: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.proved and not self.pending:
            return "no erase waits for a proof of the whole store"
        erases = f"{counted(self.proved, 'erase')} proved in the whole store"
        lines = [erases + (f"; {self.pending:,} still pending" if self.pending else "")]
        lines += [f"  rewritten: {', '.join(self.rewritten)}"] if self.rewritten else []
        return "\n".join([*lines, *(f"  problem: {problem}" for problem in self.problems)])
