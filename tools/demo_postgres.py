"""The demo on Postgres: a server of its own from a wheel, gone when the story is told."""

from slowwave.cli.demo import replay
from slowwave.cli.paper import Paper
from slowwave.cli.story import told
from slowwave.testing.postgres import postgres_server

with postgres_server() as server, replay(server.database()) as tale:
    told(Paper(json=False), tale)
    print(
        f"\nAll of it was in {tale.memory.ports.store.name}, and {len(tale.memory.doctor(deep=True))} problems were found."
    )
