"""A port for a server that cannot be asked which free one it took."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def free_port() -> Iterator[int]:
    """A port of the loopback interface for a server that starts in the block.

    On Linux no other program gets the port during the block: the socket here stays bound and does not listen, and a server
    that sets SO_REUSEADDR, as HTTP servers do, can bind it too.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        if sys.platform != "linux":
            held.close()
        yield port
