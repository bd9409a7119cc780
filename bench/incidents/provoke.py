"""Ten incidents, each with one cause, as contexts around the time they last.

Enters: a running server. Leaves: while a context lasts, its cause is at work; afterwards the server
is as before. Never: says what was found.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from bench.checkpoints.slow_disk import can_be_slowed, slow_disk
from bench.server import Server
from pgassay.server.hosts.account import server_account
from pgassay.server.owned.workspace import base_directory

SLOW_BYTES_PER_S = 300_000
_SPILL = (
    "SELECT count(*) FROM (SELECT md5(x::text) AS y FROM generate_series(1, 400000) AS x"
    " ORDER BY y) AS sorted"
)
_BATCH = "UPDATE orders SET total = total + 1 WHERE id % 40 = {turn}"
_VACUUM = "VACUUM (DISABLE_PAGE_SKIPPING, INDEX_CLEANUP ON, FREEZE) bloated"
_TELL = (
    "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'"
)
_TRIGGER = (
    "CREATE TRIGGER tell AFTER UPDATE ON pgbench_accounts FOR EACH ROW EXECUTE FUNCTION tell()"
)
Provoked = Callable[[Server], AbstractContextManager[object]]


def dsn_of(server: Server) -> str:
    """Returns how any client of libpq connects."""
    at = server.parameters
    return make_conninfo(host=at.host, port=at.port, user=at.user, dbname=at.dbname)


def run_sql(server: Server, *statements: str) -> None:
    """Runs statements, each in a transaction of its own."""
    with psycopg.connect(dsn_of(server), autocommit=True) as session:
        for text in statements:
            session.execute(text.encode())


@contextmanager
def again_and_again(server: Server, *statements: str, pause_s: float = 0.0) -> Iterator[None]:
    """A session that runs statements one after the other until the end; {turn} counts up."""
    over = threading.Event()
    with psycopg.connect(dsn_of(server), autocommit=True) as session:

        def run() -> None:
            turn = 0
            with suppress(psycopg.Error):  # cancelled at the end
                while not over.wait(pause_s):
                    for text in statements:
                        session.execute(text.format(turn=turn % 40).encode())
                    turn += 1

        at_work = threading.Thread(target=run)
        at_work.start()
        try:
            yield
        finally:
            over.set()
            while at_work.is_alive():
                session.cancel_safe()
                at_work.join(0.5)


@contextmanager
def lock_queue(server: Server) -> Iterator[None]:
    """A session that is idle in a transaction, and behind it an ALTER TABLE, and all others."""
    with ExitStack() as ends:
        idle = ends.enter_context(psycopg.connect(dsn_of(server)))
        idle.execute("SELECT count(*) FROM orders")
        ends.enter_context(again_and_again(server, "ALTER TABLE orders ADD late int"))
        yield
        idle.rollback()
        time.sleep(0.5)
    run_sql(server, "ALTER TABLE orders DROP COLUMN IF EXISTS late")


@contextmanager
def dropped_index(server: Server) -> Iterator[None]:
    """An index that a frequent statement needs is dropped."""
    run_sql(server, "DROP INDEX orders_customer")
    yield
    run_sql(server, "CREATE INDEX orders_customer ON orders (customer)")


@contextmanager
def plan_flip(server: Server) -> Iterator[None]:
    """Statistics that are wrong make the planner prefer a sequential scan."""
    run_sql(server, "ALTER TABLE visits ALTER page SET (n_distinct = 1)", "ANALYZE visits")
    yield
    run_sql(server, "ALTER TABLE visits ALTER page RESET (n_distinct)", "ANALYZE visits")


@contextmanager
def wrong_index(server: Server) -> Iterator[None]:
    """Wrong statistics make the planner walk another index, so that no table is read whole."""
    run_sql(server, "ALTER TABLE events ALTER kind SET (n_distinct = 1)", "ANALYZE events")
    yield
    run_sql(server, "ALTER TABLE events ALTER kind RESET (n_distinct)", "ANALYZE events")


@contextmanager
def slow_trigger(server: Server) -> Iterator[None]:
    """A trigger waits as it would for another system: no sign says what it waits for."""
    run_sql(server, _TELL, _TRIGGER)
    yield
    run_sql(server, "DROP FUNCTION tell() CASCADE")


@contextmanager
def checkpoint_storm(server: Server) -> Iterator[None]:
    """Checkpoints are made after every 32 MB of WAL, beside a job that writes."""
    run_sql(server, "ALTER SYSTEM SET max_wal_size = '32MB'", "SELECT pg_reload_conf()")
    with again_and_again(server, _BATCH, pause_s=0.2):
        yield
    run_sql(server, "ALTER SYSTEM RESET max_wal_size", "SELECT pg_reload_conf()")


@contextmanager
def temp_spill(server: Server) -> Iterator[None]:
    """Two reports sort more than their work_mem holds."""
    with again_and_again(server, _SPILL), again_and_again(server, _SPILL):
        yield


@contextmanager
def connection_flood(server: Server) -> Iterator[None]:
    """Sixty clients that open a connection for each short transaction."""
    command = [sys.executable, "-m", "pgassay", "load", dsn_of(server)]
    command += ["--select-only", "--connect", "--client", "60", "--time", "600", "--no-vacuum"]
    at_work = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        at_work.terminate()
        at_work.wait()


@contextmanager
def vacuum(server: Server) -> Iterator[None]:
    """A bloated table is vacuumed at full speed with little memory for dead rows."""
    memory = "SET maintenance_work_mem = '1MB'"
    with again_and_again(server, "SET vacuum_cost_delay = 0", memory, _VACUUM):
        yield


@contextmanager
def slow_writes(server: Server) -> Iterator[None]:
    """The server's processes may write 300 kB a second; without control groups a rival writes."""
    folder = base_directory(server_account())
    with ExitStack() as ends:
        if can_be_slowed(folder):
            main = psutil.Process(server.pid)
            pids = [one.pid for one in (main, *main.children(recursive=True))]
            ends.enter_context(slow_disk(folder, SLOW_BYTES_PER_S, pids))
        else:
            ends.enter_context(_rival(folder))
        yield


@contextmanager
def _rival(folder: Path) -> Iterator[None]:
    file = folder / "rival"
    script = f"while :; do dd if=/dev/zero of={file} bs=1M count=500 conv=fsync; done 2>/dev/null"
    writer = subprocess.Popen(["/bin/sh", "-c", script])
    try:
        yield
    finally:
        for one in (*psutil.Process(writer.pid).children(), psutil.Process(writer.pid)):
            one.kill()
        writer.wait()
        file.unlink(missing_ok=True)


INCIDENTS: dict[str, Provoked] = {
    "lock-queue": lock_queue,
    "dropped-index": dropped_index,
    "checkpoint-storm": checkpoint_storm,
    "temp-spill": temp_spill,
    "connection-flood": connection_flood,
    "plan-flip": plan_flip,
    "wrong-index": wrong_index,
    "slow-trigger": slow_trigger,
    "vacuum": vacuum,
    "slow-disk": slow_writes,
}
