"""What a plan would do, operation by operation, in a person's words."""

from collections.abc import Iterable, Mapping

from slowwave.model.memory import Memory
from slowwave.model.operation import Add, Advance, Change, Erase, Hold, Link, Operation, Refuse, Use


def intended(operation: Operation, texts: Mapping[str, str]) -> str | None:
    """What an operation would do, before and after; None for mere bookkeeping. `texts` are words of memories by id."""
    match operation:
        case Add(memory=memory):
            return f"+ [{memory.category}] {memory.text}"
        case Change(before=before, after=after) if not operation.redates:
            return _changed(before, after)
        case Link(source=source, target=target, kind=kind, weight=weight):
            verb = "linked" if weight else "unlinked"
            return f"{verb} ({kind}): {texts.get(source, source)} — {texts.get(target, target)}"
        case Use(seen=memory):
            return f"used: {memory.text}"
        case Refuse(text=text):
            return f"refused: {text}"
        case Change() | Advance() | Hold() | Erase():
            return None


def _changed(before: Memory, after: Memory) -> str:
    words = f"{before.text} → {after.text}" if before.text != after.text else before.text
    if (before.phase, before.reason) != (after.phase, after.reason):
        reason = f" ({after.reason})" if after.reason else ""
        return f"{before.phase} → {after.phase}{reason}: {words}"
    if before.text == after.text and before.wording != after.wording:
        return f"fewer words: {before.wording} → {after.wording}"
    return f"changed: {words}"


def linked(operations: Iterable[Operation]) -> set[str]:
    """The ids of the memories that links of these operations name."""
    return {end for one in operations if isinstance(one, Link) for end in (one.source, one.target)}
