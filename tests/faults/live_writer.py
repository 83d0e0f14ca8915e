"""A program of any version that writes, searches and sleeps until its input ends; started by test_live_migrations.

It prints "wrote N" after each acknowledged message. A call that raises an error ends it with "failed ERROR".
"""

import sys
import threading

from slowwave import AgentMemory


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def turn(memory: AgentMemory, name: str, number: int) -> None:
    text = f"{name} painted boat {number}"
    memory.add_messages([{"role": "user", "content": text, "id": f"{name}-{number}"}], "chat")
    say("wrote", number)
    if text not in {hit.text for hit in memory.search(text)}:
        say("failed", "not found", number)
    memory.add(f"{name} owns garden {number}")
    memory.context("garden")
    if number % 4 == 0:
        memory.sleep()
        memory.delete(memory.add(f"{name} sold tractor {number}").ids[0])


def main(address: str, name: str) -> None:
    stopped = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stopped.set()

    with AgentMemory.open(address, scope="live", llm=None, embedder="none") as memory:
        threading.Thread(target=wait, daemon=True).start()
        number = 0
        while not stopped.is_set():
            number += 1
            try:
                turn(memory, name, number)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test names it
                say("failed", type(error).__name__, str(error).replace("\n", " "))
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
