"""The server of the bench: PostgreSQL 18, or other programs, with the tables of a workload.

Enters: programs and settings. Leaves: a running `Server`, gone afterwards. Never: measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from pgassay.server.change import Change
from pgassay.server.connection.session import connect
from pgassay.server.hosts.local import HERE
from pgassay.server.owned.installation import Installation, embedded_installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection, ConnectionParameters, ServerFacts
from pgassay.spec.workload.folder import Scenario, load_workload
from pgassay.spec.workload.scripts import builtin_script
from pgassay.trials.host.host_sources import HostSources, host_sources

MAJOR = 18
SCALE = 10
# What a server of a known speed does: two programs must report the same of it.
SLEEP = Scenario("sleep", "sleep.sql", "SELECT pg_sleep(0.01);\n", 1.0)
SETTINGS = {"shared_buffers": "512MB", "max_connections": "1100", "max_wal_size": "8GB"}


class NoJournal:
    """Records nothing: the only server that changes is deleted afterwards."""

    place = ""
    run = machine = ""

    def record(self, change: Change) -> None: ...
    def undone(self, change_id: str) -> None: ...
    def undone_at(self, place: str, change_id: str) -> None: ...


@dataclass(frozen=True)
class Server:
    """A running server and its facts."""

    parameters: ConnectionParameters
    facts: ServerFacts
    pid: int
    programs: Path

    @property
    def version(self) -> str:
        """Its version, as it says."""
        return self.facts.version

    def sources(self) -> HostSources:
        """The host sources that a trial would read."""
        with connect(self.parameters) as session:
            return host_sources(HERE, session, self.facts)

    def scenario(self, name: str) -> Scenario:
        """One of pgbench's builtins, or the sleep."""
        return SLEEP if name == SLEEP.name else builtin_script(name)

    def pin(self, processors: list[int]) -> None:
        """Keep the server and the sessions to come on these processors."""
        server = psutil.Process(self.pid)
        for process in [server, *server.children(recursive=True)]:
            process.cpu_affinity(processors)


@contextmanager
def running_server(
    installation: Installation | None = None,
    settings: Mapping[str, str] = SETTINGS,
    data: str = "pgbench",
    scale: int = SCALE,
) -> Iterator[Server]:
    """Start it, fill it, and stop it at the end; the embedded one where no other is named."""
    workload = load_workload(data, Path(), file="bench")
    installation = installation or embedded_installation(MAJOR)
    target = OwnedTarget(NewCluster(installation), NoJournal(), kind="embedded")

    def build(connection: Connection) -> None:
        for statements in workload.building_sql(scale):
            connection.execute(statements.encode())

    try:
        facts = target.open()
        target.prepare(build, settings)
        pid_file = Path(facts.data_directory or "") / "postmaster.pid"
        yield Server(
            parameters=target.parameters(),
            facts=facts,
            pid=int(pid_file.read_text("utf-8").split()[0]),
            programs=installation.bin_directory,
        )
    finally:
        target.close()
