"""Texts that the server keeps for a while, such as the results of jobs. They are in the store, where an erase deletes them.

A text in the RAM of the server would outlive an erase that another process carries out.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.model.access import StoredAnswer
from slowwave.pipelines.admin.access import KEPT as ANSWERS_KEPT

KEPT_HOURS: Final = 12
KEPT: Final = timedelta(hours=KEPT_HOURS)


@dataclass(frozen=True, slots=True)
class StoredText:
    """The place of a text in the store. It is claimed before the text is made.

    An erase in the scope deletes the claim and the text: what was made of memories that are gone since is not stored.

    Attributes:
        name: of the place, in its scope.
    """

    name: str

    def claim(self, memory: AgentMemory) -> None:
        """Claim the place."""
        now = memory.now()
        memory.ports.store.claim_answer(
            memory.scope, self.name, StoredAnswer(self.name, self.name, now, None), now - ANSWERS_KEPT
        )

    def put(self, memory: AgentMemory, text: str) -> None:
        """Store the text, unless an erase deleted the claim meanwhile."""
        memory.ports.store.put_answer(memory.scope, self.name, self.name, text)

    def read(self, memory: AgentMemory) -> str | None:
        """The text; None if an erase deleted it, or if it is older than 12 hours."""
        found = memory.ports.store.answer(memory.scope, self.name)
        return None if found is None or memory.now() - found.at > KEPT else found.answer
