"""Many scopes in one process: descriptors, private memory, and the processor time of an add and of a search.

    python bench/many_scopes.py [--scopes 10000] [--messages 50] [--mb 256] [--store agent.db | postgresql://… | postgres]

One `Slowwave` is open all the time. Each scope gets one `add_messages`, and then each scope is searched once, in turn, as
in an application where every user writes once. "postgres" starts a private server. The figures are those of this process
without a server, from /proc (Linux only).
"""

import argparse
import gc
import os
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import number, save, table
from slowwave import AgentMemory, Config, Message, Slowwave
from slowwave.policy.text.word_frequency import commonest
from slowwave.testing.postgres import postgres_server

WORDS = 14
"""Words of a message."""
PAGE = 100
FINDS = 5
"""How often an id is looked for; the mean counts."""


def descriptors() -> int:
    """The open descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only


def kilobytes(*names: str) -> int:
    """The sum of these lines of /proc/self/smaps_rollup, in kB."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))


def private() -> int:
    """The private memory of this process, in kB."""
    gc.collect()
    return kilobytes("Private_Clean:", "Private_Dirty:")


def sentences(seed: int, count: int) -> list[Message]:
    """Messages of random common words."""
    chance, words = random.Random(seed), VOCABULARY
    texts = (" ".join(chance.choices(words, k=WORDS)) for _ in range(count))
    return [Message(role="assistant" if place % 2 else "user", content=text) for place, text in enumerate(texts)]


VOCABULARY = list(commonest(5000))


@contextmanager
def place(store: str | None) -> Iterator[str]:
    """The location of the store: the given one, a new file, or a new database of a private server."""
    with TemporaryDirectory() as folder:
        if store == "postgres":
            with postgres_server() as server:
                yield server.database()
        else:
            yield store or str(Path(folder) / "agent.db")


def measured(store: Slowwave, scopes: int, messages: int) -> dict[str, float]:
    """All figures."""
    result: dict[str, float] = {}
    store.within("warm").add_messages(sentences(-1, messages))
    store.within("warm").search("what did they say?")
    files, before = descriptors(), private()
    idle = [store.within("idle", user) for user in range(scopes)]
    result["idle: descriptors per further scope"] = (descriptors() - files) / scopes
    result["idle: private kB per further scope"] = (private() - before) / scopes
    del idle
    adds, searches, handles = [], [], list[AgentMemory]()
    for user in range(scopes):
        said = sentences(user, messages)
        start = time.process_time()
        handles.append(store.within("users", user))
        handles[-1].add_messages(said, conversation="chat")
        adds.append(1000 * (time.process_time() - start))
    grown = 0
    for user, memory in enumerate(handles):
        if user == scopes // 2:
            grown = private()
        question = " ".join(VOCABULARY[user % 4000 : user % 4000 + 4])
        start = time.process_time()
        memory.search(question)
        searches.append(1000 * (time.process_time() - start))
    result["used: private kB per further scope, second half"] = (private() - grown) / (scopes - scopes // 2)
    result[f"ms per add_messages of {messages}, median"] = statistics.median(adds)
    result["ms per first search of a scope, median"] = statistics.median(searches)
    again = handles[-PAGE:]
    start = time.process_time()
    for memory in again:
        memory.search("what did they say again?")
    result["ms per search of a cached scope"] = 1000 * (time.process_time() - start) / len(again)
    start = time.process_time()
    assert len(store.scopes("users", after="users", limit=PAGE)) == PAGE
    result[f"ms per page of {PAGE} scopes"] = 1000 * (time.process_time() - start)
    identity = again[-1].search("what did they say?")[0].memory.id
    start = time.process_time()
    for _ in range(FINDS):
        store.find(identity)
    result["ms to find an id among all scopes"] = 1000 * (time.process_time() - start) / FINDS
    result["descriptors at the end"] = descriptors()
    result["descriptors after the first scope"] = files
    result["RSS at the end, MB"] = kilobytes("Rss:") / 1024
    result["of it private, MB"] = private() / 1024
    result["RSS after the first scope, MB, private"] = before / 1024
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scopes", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=50)
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--store")
    options = parser.parse_args()
    with place(options.store) as address:
        config = Config(index_cache_mb=options.mb)
        with Slowwave.open(address, llm=None, config=config) as store:
            result = measured(store, options.scopes, options.messages)
    print(f"{options.scopes:,} scopes of {options.messages} messages, index_cache_mb={options.mb}\n")
    print(table(["figure", "value"], [(name, number(value)) for name, value in result.items()]))
    save("many_scopes", result)


if __name__ == "__main__":
    main()
