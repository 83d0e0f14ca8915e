"""A process that forks writers on request; each writer uses random verbs until it is killed, and notes what was acknowledged.

The tests start one such process, because loading the library and its tables takes longer than most writers live. It never
opens a file, so that a writer opens its store like a process of its own.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.campaign import lines, opened, sentence, words

import slowwave.stores.sqlite.store  # noqa: F401 - imported before the forks
from slowwave import AgentMemory, Message
from slowwave.composition import copy_store
from slowwave.errors import BusyError, ConflictError, NotFoundError

CONVERSATIONS = 3
IN_RAM = ":memory:"
WEIGHTS = {
    "add": 6,
    "say": 6,
    "consolidate": 3,
    "sleep": 2,
    "undo": 2,
    "erase": 3,
    "use": 2,
    "change": 1,
    "import_": 1,
    "export": 1,
    "copy": 0.5,
    "backup": 0.5,
    "vault": 0.5,
}
"""How often each verb is chosen."""


class Writer:
    """Uses random verbs on a store. `tell` notes what begins and what was acknowledged."""

    def __init__(
        self,
        address: str,
        name: str,
        seed: str,
        folder: Path,
        tell: Callable[..., None],
        memory: AgentMemory | None = None,
    ) -> None:
        self.chance, self.name, self.folder, self.tell = Random(seed), name, folder, tell
        self.address = address
        self.memory: AgentMemory = memory or opened(address)
        self.number = 0
        self.kept: dict[
            str, dict[str, str]
        ] = {}  # what may be erased: the word of a memory → the arguments of the erase
        self.undoable: list[str] = []

    def canary(self) -> str:
        self.number += 1
        return words(f"kz{self.name}", self.chance)

    def add(self) -> None:
        canary = self.canary()
        self.tell("begin", "add", [canary])
        receipt = self.memory.add(
            sentence(self.chance, canary), category=self.chance.choice(["person", "other", "goal"])
        )
        (identity,) = receipt.ids
        self.tell("kept", "add", [canary])
        self.kept[canary] = self.chance.choice([{"text": canary}, {"id": identity}])
        self.undoable.append(receipt.run_id)

    def say(self) -> None:
        conversation = f"{self.name}{self.chance.randrange(CONVERSATIONS)}"
        rows = {f"{self.name}-{self.number}-{n}": self.canary() for n in range(self.chance.randrange(1, 12))}
        batch = [
            Message(
                "user",
                self.chance.choice(["I live in {}.", "My dog is called {}.", "{} is late."]).format(canary),
                id=one,
            )
            for one, canary in rows.items()
        ]
        self.tell("begin", "say", list(rows.values()))
        receipt = self.memory.add_messages(batch, conversation)
        self.tell("kept", "say", list(rows.values()))
        self.kept |= {canary: self.chance.choice([{"text": canary}, {"source": one}]) for one, canary in rows.items()}
        self.undoable.append(receipt.run_id)

    def consolidate(self) -> None:
        self.memory.consolidate(f"{self.name}{self.chance.randrange(CONVERSATIONS)}", force=True)

    def sleep(self) -> None:
        self.memory.sleep()

    def use(self) -> None:
        self.memory.record_retrieval(self.memory.search(sentence(self.chance), deep=self.chance.random() < 0.3))
        str(self.memory.context(sentence(self.chance)))

    def change(self) -> None:
        for fact in self.memory.get_all(limit=3):
            try:
                self.chance.choice([self.memory.pin, self.memory.unpin, self.memory.delete])(fact.id)
            except (ConflictError, NotFoundError):
                continue

    def undo(self) -> None:
        if self.undoable:
            run = self.undoable.pop(self.chance.randrange(len(self.undoable)))
            try:
                self.memory.undo(run, cascade=self.chance.random() < 0.5)
            except (ConflictError, NotFoundError):
                return

    def erase(self) -> None:
        if not self.kept:
            return
        canary = self.chance.choice(sorted(self.kept))
        target = self.kept.pop(canary)
        self.tell("begin", "erase", [canary], target)
        try:
            receipt = self.memory.erase(**target)
        except BusyError:
            return
        self.tell("erased", "erase", [canary], {"verified": receipt.verified, "still": list(receipt.still)})

    def import_(self) -> None:
        canaries = [self.canary() for _ in range(self.chance.randrange(1, 60))]
        path = self.folder / f"{self.name}.jsonl"
        lines(path, ({"role": "user", "content": f"We saw {canary}.", "id": canary} for canary in canaries))
        self.tell("begin", "import", canaries)
        self.memory.import_(path)
        self.tell("kept", "import", canaries)
        self.kept |= {canary: {"source": canary} for canary in canaries[:3]}

    def export(self) -> None:
        path = self.folder / f"{self.name}-export.jsonl"
        if path.exists() and self.chance.random() < 0.5:
            self.memory.import_(path, trust_export=self.chance.random() < 0.5)  # what was erased since must not return
        else:
            self.memory.export(path, overwrite=True)

    def vault(self) -> None:
        self.memory.export_vault(self.folder / f"{self.name}-vault")

    def copy(self) -> None:
        if self.address != IN_RAM:
            copy_store(self.address, str(self.folder / f"{self.canary()}-copy.db"))

    def backup(self) -> None:
        if "://" not in self.address:
            path = self.folder / f"{self.canary()}.backup"
            self.memory.backup(path)
            self.tell("backup", str(path), [])

    def next_verb(self, verbs: str = "") -> str:
        """The name of a random verb: of all, or of these, with commas between them."""
        chosen = verbs.split(",") if verbs else list(WEIGHTS)
        return self.chance.choices(chosen, [WEIGHTS[one] for one in chosen])[0]

    def run(self, verbs: str, ends: float) -> None:
        while time.monotonic() < ends:
            verb = self.next_verb(verbs)
            try:
                getattr(self, verb)()
            except BusyError:
                continue
            except NotFoundError:
                if verb not in {"consolidate", "erase"}:  # there is no such conversation yet; another process erased it
                    raise
        self.memory.close()


def live(job: dict[str, Any]) -> None:
    """One writer: until it is killed, or its seconds are over."""
    notes = os.open(job["notes"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(*row: object) -> None:
        os.write(notes, (json.dumps(row) + "\n").encode())

    try:
        writer = Writer(job["address"], job["name"], job["seed"], Path(job["folder"]), tell)
        tell("ready", "", [])
        writer.run(job.get("verbs", ""), time.monotonic() + float(job["seconds"]))
    except BaseException as error:  # noqa: BLE001 - the campaign reports it
        import traceback  # noqa: PLC0415 - only after a fault

        tell("fault", f"{type(error).__name__}: {error}", traceback.format_exc().splitlines()[-12:])
        os._exit(1)
    os._exit(0)


def main() -> None:
    """Read jobs, one a line; print the process of each, and the end of each on demand."""
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:  # loads the tables
        memory.add_messages([Message("user", "I live in Berlin."), Message("user", "My dog is called Rex.")], "c")
        memory.consolidate("c", force=True)
        memory.sleep()
        memory.context("where do I live?")
        memory.erase(text="Berlin")
    for line in sys.stdin:
        job = json.loads(line)
        if "wait" in job:
            _, status = os.waitpid(job["wait"], 0)
            answer: object = os.waitstatus_to_exitcode(status)
        else:
            pid = os.fork()
            if not pid:
                live(job)
            answer = pid
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
