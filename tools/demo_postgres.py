"""Runs the demo on a temporary Postgres server from a wheel."""

from slowwave.cli.demo.replay import Replay, replay
from slowwave.cli.demo_cmd import write_story
from slowwave.cli.output import Output
from slowwave.testing.postgres import postgres_server

NEXT = """
With your own database:
  pip install 'slowwave[worker]'                               'slowwave[postgres]' without workers
  export SLOWWAVE_STORE=postgresql://you@host/memory
  slowwave doctor                                              check the server
  slowwave copy agent.db postgresql://you@host/memory          copy a file, verified by hashes
  slowwave worker                                              run due sleep passes, on any number of machines

With Docker: POSTGRES_PASSWORD=… docker compose up --detach --wait
More: docs/scaling.md"""


def below(tale: Replay) -> None:
    """Print the checks of the server, the due scopes, and the result of a journal replay."""
    memory = tale.memory
    print(f"\nThe demo ran in {memory.ports.store.name}:")
    for name, ok, found in memory.ports.store.about():
        print(f"  {'ok     ' if ok else 'PROBLEM'}  {name}: {found}")
    slept = memory.sleep_due()
    print(f"  {len(slept)} scope{'s were' if len(slept) != 1 else ' was'} due for sleep")
    wrong = memory.doctor(deep=True)
    print(f"  {len(wrong) or 'no'} problem{'s' if len(wrong) != 1 else ''} found by replaying the journal")


with postgres_server() as server, replay(server.database()) as tale:
    write_story(Output(json=False), tale)
    below(tale)
    print(NEXT)
