"""A process that adds facts to a store one after the other once it reads a line, and prints the seconds of each add."""

import json
import sys
import time

from slowwave import AgentMemory


def main(path: str, name: str, number: int) -> None:
    with AgentMemory.open(path, scope="s", llm=None, embedder="none") as memory:
        memory.add(f"{name} is ready")
        print("ready", flush=True)  # noqa: T201 - a program
        sys.stdin.readline()
        taken = []
        for place in range(number):
            begun = time.perf_counter()
            memory.add(f"{name} owns boat {place}")
            taken.append(time.perf_counter() - begun)
    print(json.dumps(taken))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
