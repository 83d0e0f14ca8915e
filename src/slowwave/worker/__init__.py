"""Workers: sleep passes of a Postgres store on many machines, on a DBOS queue in the same database.

DBOS stores the names of scopes, never memory content. The store's lease ensures that one process at a time sleeps a
scope, and rejects the writes of a process whose lease has expired; the store also says which scopes are due, and when one
that failed is tried again. A queue that is lost therefore loses no work.
"""

from slowwave.worker.queue import SCHEMA, QueueStatus, RunningWorker, queue_status
from slowwave.worker.worker import AT_ONCE, FleetLimits, Worker, process_name

__all__ = [
    "AT_ONCE",
    "SCHEMA",
    "FleetLimits",
    "QueueStatus",
    "RunningWorker",
    "Worker",
    "process_name",
    "queue_status",
]
