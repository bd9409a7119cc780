"""Two poolers between a client and a real server: a minimal one, and pgbouncer where installed.

Enters: a server on loopback, a folder. Leaves: a connection string that leads through the pooler.
Never: outlives its test.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from psycopg.conninfo import make_conninfo

from pgassay.server.hosts.account import Account
from support.packages import needs
from support.servers.lab import SECRET, LabServer, wait_until

NOT_A_PROCESS = 0x7FFFFFFF
CONFIGURATION = """
[databases]
lab = host=127.0.0.1 port={port} user=lab password='{secret}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
"""


@contextmanager
def through_another_key(server: LabServer) -> Iterator[str]:
    """A pooler over plain connections that, as all poolers do, gives each session its own cancel
    key."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        accepting = threading.Thread(target=_accept, args=(listening, server.port, stack))
        accepting.start()
        try:
            yield _plain(listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()


def _plain(port: int) -> str:
    """A connection string without TLS; PGPASSWORD has the password."""
    return make_conninfo(
        host="127.0.0.1", port=port, user="lab", dbname="lab", sslmode="disable",
        gssencmode="disable",
    )  # fmt: skip


def _accept(listening: socket.socket, port: int, stack: ExitStack) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for one in (client, server):
                stack.enter_context(one)
            for relay in (_questions, _answers):
                threading.Thread(target=relay, args=(client, server), daemon=True).start()


def _questions(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError):
        while read := client.recv(65536):
            server.sendall(read)
        server.shutdown(socket.SHUT_WR)


def _answers(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError), server.makefile("rb") as file:
        while head := file.read(5):
            kind, length = struct.unpack("!cI", head)
            body = file.read(length - 4)
            if kind == b"K":
                body = struct.pack("!I", NOT_A_PROCESS) + body[4:]
            client.sendall(head + body)
        client.shutdown(socket.SHUT_WR)


@contextmanager
def through_pgbouncer(server: LabServer, account: Account, folder: Path) -> Iterator[str]:
    """pgbouncer in transaction mode; its test is skipped where it is not installed."""
    program = needs("pgbouncer")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = probe.getsockname()[1]
    file = folder / "pgbouncer.ini"
    file.write_text(CONFIGURATION.format(port=server.port, own=own, secret=SECRET))
    file.chmod(0o644)
    words = [program, "-q", str(file)]
    started = ["runuser", "-u", account.name, "--", *words] if account.switches else words
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:

        def answers() -> bool:
            assert process.poll() is None, "pgbouncer ended"
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", own)) == 0

        try:
            wait_until(answers, "pgbouncer answers")
            yield _plain(own)
        finally:
            process.terminate()
