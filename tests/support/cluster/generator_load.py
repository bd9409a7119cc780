"""A load whose transactions can be counted on the server, by its statistics and by rows.

Enters: a lab server. Leaves: what is asked of generators, what the server counted. Never: runs it.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.plan.steps import Step
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from support.runs.command import shop_workload
from support.servers.lab import LabServer, scalar, wait_until

SCRIPT = "INSERT INTO public.done VALUES (:client_id);"


def dsn_of(server: LabServer, host: str = "127.0.0.1") -> str:
    """Without the password, as a run sends it to nodes."""
    return f"host={host} port={server.port} user=lab dbname=lab"


def request_of(steps: list[Step], each: int | None = None) -> LoadRequest:
    """Each client leaves a row with its number for each transaction."""
    scenarios = [Scenario("insert", "insert.sql", SCRIPT, 1.0)]
    return LoadRequest(scenarios, steps, {}, seed=7, transactions_per_client=each)


def committed(server: LabServer) -> int:
    """By the server's statistics of the load's database, once all its sessions have ended."""
    with server.admin("postgres") as session:
        there = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'lab'"
        wait_until(lambda: scalar(session, there) == 0, "the sessions have ended")
        query = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'lab'"
        return int(scalar(session, query))


def rows_of(server: LabServer) -> dict[int, int]:
    """How many transactions of each client are there."""
    with server.admin() as session:
        found = session.execute("SELECT client, count(*) FROM public.done GROUP BY 1").fetchall()
    return {int(client): int(count) for client, count in found}


def emptied(server: LabServer) -> None:
    """A table for them, made anew."""
    with server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.done")
        session.execute("CREATE UNLOGGED TABLE public.done (client int)")


def spread_run(server: LabServer, ray: str, folder: Path) -> Path:
    """An experiment on that server whose load comes from two nodes of a cluster at `ray`."""
    spec = folder / "spread.toml"
    spec.write_text(f"""
question = "Does more work_mem help?"
[target]
dsn = "{dsn_of(server)}"
[workload]
use = "{shop_workload(folder, "SELECT pg_sleep(0.001);")}"
[factors.client.settings]
work_mem = ["4MB", "8MB"]
[load]
clients = 4
step = "1s"
warmup = "0.2s"
[load.generators]
ray = "{ray}"
count = 2
[design]
min_blocks = 2
max_blocks = 2
""")
    return spec
