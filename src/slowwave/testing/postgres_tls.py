"""A server of TLS in front of a Postgres server on a Unix socket."""

import select
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_CHUNK = 1 << 16
_REQUEST_BYTES = 8


def certificate(folder: Path) -> ssl.SSLContext:
    """The context of a server with a new certificate for localhost."""
    program = shutil.which("openssl")
    if program is None:
        raise FileNotFoundError("no program `openssl` makes a certificate")
    key, chain = folder / "server.key", folder / "server.crt"
    made = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(chain)], check=True, capture_output=True)  # noqa: S603 - constants and own paths
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    return context


@contextmanager
def with_tls(address: str, folder: Path) -> Iterator[str]:
    """The address of a TLS server that passes everything on to a database."""
    parts = urlsplit(address)
    path = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
    context = certificate(folder)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        threading.Thread(target=_accept, args=(listener, context, path), daemon=True).start()
        port = listener.getsockname()[1]
        yield f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=require&gssencmode=disable"
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, context: ssl.SSLContext, path: str) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_pass, args=(client, context, path), daemon=True).start()


def _pass(client: socket.socket, context: ssl.SSLContext, path: str) -> None:
    with suppress(OSError, ssl.SSLError), client, socket.socket(socket.AF_UNIX) as server:
        client.recv(_REQUEST_BYTES, socket.MSG_WAITALL)  # the SSLRequest of libpq
        client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as secure:
            server.connect(path)
            while True:
                ready = [secure] if secure.pending() else select.select([secure, server], [], [])[0]
                for source in ready:
                    data = source.recv(_CHUNK)
                    if not data:
                        return
                    (server if source is secure else secure).sendall(data)
