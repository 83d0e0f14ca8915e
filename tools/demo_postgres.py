"""The demo on Postgres: a server of its own from a wheel, gone when the story is told."""

from slowwave.cli.demo.replay import Replay, replay
from slowwave.cli.demo_cmd import write_story
from slowwave.cli.output import Output
from slowwave.testing.postgres import postgres_server

NEXT = """
With a database of your own:
  pip install 'slowwave[worker]'                               'slowwave[postgres]' without workers
  export SLOWWAVE_STORE=postgresql://you@host/memory
  slowwave doctor                                              is the server as it should be?
  slowwave copy agent.db postgresql://you@host/memory          bring a file along, proven by hashes
  slowwave worker                                              sleep whatever is due, on as many machines as you like

With Docker: POSTGRES_PASSWORD=… docker compose up --detach --wait
More: docs/scaling.md"""


def below(tale: Replay) -> None:
    """What is different from a file, and what is the same."""
    memory = tale.memory
    print(f"\nAll of it was in {memory.ports.store.name}:")
    for name, ok, found in memory.ports.store.about():
        print(f"  {'ok     ' if ok else 'PROBLEM'}  {name}: {found}")
    slept = memory.sleep_due()
    print(f"  {len(slept)} scope{'s were' if len(slept) != 1 else ' was'} due for sleep")
    wrong = memory.doctor(deep=True)
    print(
        f"  {len(wrong) or 'no'} problem{'s' if len(wrong) != 1 else ''} found when the journal was replayed from nothing"
    )


with postgres_server() as server, replay(server.database()) as tale:
    write_story(Output(json=False), tale)
    below(tale)
    print(NEXT)
