"""A process that writes to a store and prints each acknowledged write; started by the fault tests."""

import sys

from slowwave.model.operations import Erase, Link, MoveCursor, Suppress
from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing import Failpoint
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, group, message, plan, use


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def every_kind(store: SqliteStore) -> None:
    """Passes every point of the store; running it again finishes what was cut off."""
    for turn in range(3):
        batch = [add(message(f"Note {turn}.{n}", id=f"m{turn}.{n}", ref=f"{turn}.{n}")) for n in range(3)]
        store.apply(plan(*batch, id=f"observe{turn}", cause="observe"))
        tea = fact(f"Likes tea {turn}", id=f"f{turn}")
        link = Link(source=tea.id, target=f"m{turn}.0", kind="close", weight=1.0, before=0.0, because="near", at=NOW)
        move = MoveCursor(conversation="c1", cursor="distil", before=turn * 3, after=turn * 3 + 3, because="read")
        store.apply(plan(add(tea), link, move, Suppress(key=str(turn), because="undone"), id=f"distil{turn}"))
        say("ack", tea.id)
        changed = change(tea, text=f"Likes green tea {turn}")
        gone = [add(fact(f"Secret {turn}", id=f"s{turn}")), Erase(memory=f"s{turn}", because="asked to")]
        store.apply(plan(group([changed, use(tea)]), group(gone), id=f"edit{turn}"))
        store.index(SCOPE, {tea.id: entry(changed.after.text)})
        say("changed", tea.id)


def mixed(store: SqliteStore, name: str, rounds: int) -> None:
    """Adds messages and facts, uses and changes what all others use and change too."""
    shared = fact("Counts", id="shared")
    store.apply(plan(add(shared), id=f"start-{name}"))
    for turn in range(rounds):
        one = message(f"{name} says {turn}", id=f"{name}.{turn}", ref=f"{name}.{turn}")
        store.apply(plan(add(one), id=f"{name}-observe-{turn}", cause="observe"))
        say("ack", one.id)
        known = fact(f"Everybody knows {turn}", id=f"{name}-knows-{turn}")
        store.apply(plan(add(known), id=f"{name}-add-{turn}"))
        store.apply(plan(use(shared), id=f"{name}-use-{turn}", cause="use"))
        while True:
            (now,) = store.get([SCOPE], ["shared"])
            counted = {"count": str(int(now.metadata.get("count", "0")) + 1)}
            step = change(now, metadata=counted, used_at=None)
            if not store.apply(plan(step, id=f"{name}-change-{turn}")).dropped:
                break
    say("messages", len(store.select([SCOPE], Where(kinds=frozenset({"message"})))))


def main(path: str, what: str, *arguments: str) -> None:
    reached = None
    if what == "every_kind" and arguments:
        reached = Failpoint(arguments[0], at=int(arguments[1]), kill=True)
    if what == "mixed":
        sys.stdin.readline()  # all start at once
    store = SqliteStore(path, reached=reached)
    if what == "every_kind":
        every_kind(store)
    else:
        mixed(store, arguments[0], int(arguments[1]))
    store.close()
    say("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
