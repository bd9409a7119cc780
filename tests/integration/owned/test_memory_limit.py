"""A server with a limit of memory: every process of it is inside, its data come from the disk, and
nothing is left of its control group."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

import pgassay as package
from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.server.connection.session import user_path
from pgassay.server.hosts import page_cache
from pgassay.server.hosts.memory_group import MemoryUse, parent_group
from pgassay.server.hosts.placement import Place
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.postmaster import working_in
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection
from pgassay.spec.parse import load_spec
from pgassay.trials.run.refusals.before_servers import refuse_plan
from support.refusals import refused
from support.runs.command import pgassay
from support.servers.lab import RecordingJournal, installation_named, scalar

MIB = 2**20
LIMIT = 64 * MIB
HELD = {"shared_buffers": "16MB", "io_method": "sync", "max_parallel_workers_per_gather": "0"}
READ_ALL = "SELECT sum(length(filler)) FROM wide"


def build(session: Connection) -> None:
    session.execute(
        "CREATE TABLE wide AS SELECT i, repeat('x', 1000) AS filler"
        " FROM generate_series(1, 120000) i"
    )


@pytest.fixture
def parent() -> Path:
    """Where groups are made here; root on a host of ours must be able to."""
    try:
        return parent_group()[0]
    except Refusal as error:
        if os.geteuid() == 0 and "CI" in os.environ:
            raise
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def one_at_a_time() -> Iterator[None]:
    """These tests count the control groups of this host."""
    with Path(tempfile.gettempdir(), "pgassay-test-memory.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def limited(journal: RecordingJournal) -> OwnedTarget:
    installation = installation_named("embedded-18")
    return OwnedTarget(NewCluster(installation), journal, place=Place(memory_bytes=LIMIT))


def groups(parent: Path) -> list[str]:
    return sorted(path.name for path in parent.glob("pgassay-run-*"))


def read_bytes(pid: int) -> int:
    """What a process had fetched from storage, by the kernel's account."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


def use(target: OwnedTarget) -> MemoryUse:
    found = target.memory_use()
    assert found is not None
    return found


@pytest.mark.usefixtures("disk_base")
def test_a_server_with_less_memory_than_data_reads_them_from_the_disk_each_time(
    parent: Path, journal: RecordingJournal
) -> None:
    with closing(limited(journal)) as target:
        facts = target.open()
        (group,) = groups(parent)
        target.prepare(build, HELD)
        assert use(target).limit_bytes is None, "data are built without a limit"
        for _ in range(2):
            report = target.reset({})
            assert report.placement["memory"] == "64MB"
            assert not [one for one in report.notes if one.code.startswith("server/data/outside")]
            data = Path(facts.data_directory or "")
            for pid in working_in(data):
                assert f"/{group}\n" in Path(f"/proc/{pid}/cgroup").read_text()
            with target.connect() as session, user_path(session):
                pid = session.info.backend_pid
                for _ in range(2):
                    before = read_bytes(pid)
                    size = scalar(session, f"SELECT pg_table_size('wide') + 0 * ({READ_ALL})")
                    assert size > 1.5 * LIMIT
                    assert read_bytes(pid) - before > size / 2
            share = page_cache.cached_share([data / "base"])
            assert share is not None
            assert share * size < LIMIT
        assert use(target).limit_reached > 0
        assert use(target).oom_kills == 0
    assert groups(parent) == []
    assert journal.open == []


@pytest.mark.usefixtures("disk_base")
def test_a_process_that_the_kernel_killed_for_memory_is_counted(
    parent: Path, journal: RecordingJournal
) -> None:
    with closing(limited(journal)) as target:
        target.open()
        target.prepare(lambda _: None, HELD)
        target.reset({})
        with suppress(psycopg.OperationalError), target.connect() as session, user_path(session):
            session.execute("SELECT length(repeat('x', 300 * 1000 * 1000))")
        assert use(target).oom_kills > 0
    assert groups(parent) == []


OPEN_SERVER = """
import sys
from pgassay.server.hosts.placement import Place
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget

class Journal:
    def record(self, change): pass
    def undone(self, change_id): pass

place = Place(memory_bytes=512 * 2**20)
OwnedTarget(NewCluster(embedded_installation(18)), Journal(), place=place).open()
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.usefixtures("own_base")
def test_the_group_of_a_killed_run_is_removed_by_the_next(
    parent: Path, journal: RecordingJournal
) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", OPEN_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])},
    )
    with run:
        assert run.stdout is not None
        run.stdout.readline()
        run.kill()
    (left,) = groups(parent)
    with closing(limited(journal)) as target:
        target.open()
        assert left not in groups(parent)
        assert len(groups(parent)) == 1
    assert groups(parent) == []


SPEC = """
[workload]
use = "pgbench"
[settings.postgres]
shared_buffers = "{buffers}"
[reset]
level = "none"
[placement]
server_memory = "512MB"
[load]
clients = 1
rate = 100
step = "0.5s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


def test_every_trial_of_a_run_reads_the_limit_back_and_the_report_names_it(
    parent: Path, disk_base: Path, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(buffers="512MB"))
    planned = pgassay("plan", spec)
    assert planned.returncode == 1
    checked = load_spec(spec)
    with refused("lacks-memory-in-its-group", limit="512MB"):
        refuse_plan(checked, make_plan(checked))
    assert "stops: " in planned.stdout
    spec.write_text(SPEC.format(buffers="64MB"))
    assert "place     server: memory 512MB" in pgassay("plan", spec).stdout
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    environment = json.loads((run / "environment.json").read_text())
    assert environment["placement"] == {"server": "memory 512MB"}
    assert "memory 512MB" in pgassay("report", run, "--format", "md").stdout
    for trial in sorted((run / "trials").iterdir()):
        found = json.loads((trial / "trial.json").read_text())
        assert found["placement"]["server"]["memory"] == "512MB"
        for moment in ("before", "after"):
            memory = found["fingerprint"][moment]["memory"]
            assert (memory["limit_bytes"], memory["oom_kills"]) == (512 * MIB, 0)
    assert groups(parent) == []
    assert list(disk_base.iterdir()) == []
