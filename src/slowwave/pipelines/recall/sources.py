"""Names the messages on which a summary of facts rests."""

from slowwave.model.memory import MESSAGE, Memory, SourceRef
from slowwave.ports import Ports


def sources_of_members(ports: Ports, memory: Memory) -> tuple[SourceRef, ...]:
    """The source messages of the members of a summary, and of those of its members that are summaries."""
    found: dict[SourceRef, None] = {}
    seen, waiting = {memory.id}, [memory]
    while waiting:  # a loop, not recursion: a store may hold summaries that name each other as members
        one = waiting.pop()
        if one.kind == MESSAGE:
            found[SourceRef(memory=one.id, ref=one.ref or one.id)] = None
        elif one.members and not one.is_cascade:
            members = [member for member in ports.store.get(ports.scopes, one.members) if member.id not in seen]
            seen |= {member.id for member in members}
            waiting += reversed(members)
        else:
            found |= dict.fromkeys(one.sources)
    return tuple(found)
