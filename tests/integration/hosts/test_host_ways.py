"""The host of a server is sampled alike here, over ssh and through SQL."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from pgassay import _core
from pgassay.doctor.checks import check_server
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.block_devices import read_mounts
from pgassay.server.hosts.control_groups import control_group_files
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.protocol import Connection, ServerFacts
from pgassay.server.settings.values import read_settings
from pgassay.trials.host.host_sources import (
    HostSources,
    describe_storage,
    grants,
    host_sources,
    sources_over_sql,
)
from pgassay.trials.sampling.samplers import open_sampler
from support.hosts.sshd import HOST
from support.servers.lab import LabServer, is_root, wait_until
from support.servers.sessions import connect

READINGS = 3
BLKIO = Path("/sys/fs/cgroup/blkio")


@pytest.fixture
def session(lab_server: LabServer) -> Iterator[Connection]:
    with connect(resolve(lab_server.dsn())) as session:
        yield session


def facts(session: Connection) -> ServerFacts:
    settings = read_settings(session)
    data = settings["data_directory"].value
    return ServerFacts(session.info.server_version, "", data, True, None, settings)


def sampled(lab_server: LabServer, sources: HostSources) -> tuple[set[tuple[str, str]], list[str]]:
    """(source, object) of everything read, and the sampler's warnings."""
    parameters = resolve(lab_server.dsn())
    began = _core.now_ns()
    with connect(parameters) as session:
        version = session.info.server_version
    sampler, _ = open_sampler(parameters, version, load=None, host=sources)

    def read_often() -> bool:
        return int(json.loads(sampler.cost())["host_reads"]) >= READINGS

    try:
        wait_until(read_often, "readings of the host")
    finally:
        sampler.stop()
    taken = sampler.take_host()
    times = [at for at in taken["time_ns"] if isinstance(at, int)]
    assert min(times) >= began
    assert max(times) <= _core.now_ns()
    pairs = zip(taken["source"], taken["object"], strict=True)
    return {(str(source), str(thing)) for source, thing in pairs}, sampler.warnings()


def over_ssh(request: pytest.FixtureRequest, session: Connection) -> HostSources:
    request.getfixturevalue("ssh_config")
    host = SshHost(HOST)
    request.addfinalizer(host.close)
    return host_sources(host, session, facts(session))


WAYS: dict[str, Callable[[pytest.FixtureRequest, Connection], HostSources]] = {
    "here": lambda _, session: host_sources(HERE, session, facts(session)),
    "ssh": over_ssh,
    "sql": lambda _, session: sources_over_sql(session),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_samples_the_host_and_the_processes_of_the_server(
    way: str, lab_server: LabServer, session: Connection, request: pytest.FixtureRequest
) -> None:
    sources = WAYS[way](request, session)
    found, warnings = sampled(lab_server, sources)
    assert warnings == []
    kinds = {source for source, _ in found}
    assert kinds >= {"stat", "meminfo", "vmstat", "diskstats", "loadavg", "net", "processes"}
    processes = {thing for source, thing in found if source == "processes"}
    assert processes >= {"client backend", "checkpointer", "walwriter", "background writer"}
    if way != "sql":
        assert any(source == "file_system" for source, _ in found)
        disks = {thing for source, thing in found if source == "diskstats"}
        assert not sources.devices or disks <= set(sources.devices)


def test_the_reading_program_ends_with_its_sampler(
    lab_server: LabServer, session: Connection, request: pytest.FixtureRequest
) -> None:
    here = host_sources(HERE, session, facts(session))
    script = "while read -r _; do echo '/proc/loadavg:1.5 1 1'; echo .; done; : pgassay-test-reader"
    words = ("sh", "-c", script)
    found, warnings = sampled(lab_server, replace(here, reader=words))
    assert ("loadavg", "") in found
    assert warnings == []
    left = []
    for process in psutil.Process().children(recursive=True):
        # Other children of this process may end meanwhile.
        with suppress(psutil.NoSuchProcess):
            unwaited = process.status() == psutil.STATUS_ZOMBIE and process.name() == words[0]
            left += [process] if unwaited or script in process.cmdline() else []
    assert left == []


@pytest.fixture
def writer(disk_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in its own control group of version 1 that has written directly to the disk."""
    if not is_root() or not os.access(BLKIO, os.W_OK):
        pytest.skip("this host has no control groups of version 1 for I/O, or we are not root")
    device = disk_path.stat().st_dev
    if not os.major(device):
        pytest.skip("temporary files of this host lie on no block device")
    group = BLKIO / f"pgassay-test-{os.getpid()}"
    group.mkdir()
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        # Recent kernels count only where there is a limit.
        (group / "blkio.throttle.write_bps_device").write_text(f"{number} {10**12}")
        dd = "dd if=/dev/zero bs=64k count=10 oflag=direct status=none"
        script = (
            f"echo $$ > {group}/cgroup.procs && {dd} of={disk_path}/file && echo done && read _"
        )
        words = ["sh", "-c", script]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"done\n"
            yield process
    finally:
        group.rmdir()


def test_io_of_a_control_group_of_version_1_is_counted_by_device(
    writer: subprocess.Popen[bytes], lab_server: LabServer, session: Connection, disk_path: Path
) -> None:
    here = host_sources(HERE, session, facts(session))
    files = control_group_files(HERE, writer.pid, read_mounts(HERE))
    found, warnings = sampled(lab_server, replace(here, files=tuple(files)))
    assert warnings == []
    device = disk_path.stat().st_dev
    assert ("cgroup", f"{os.major(device)}:{os.minor(device)}") in found


def test_a_role_that_may_not_read_files_is_shown_what_to_grant(lab_server: LabServer) -> None:
    with psycopg.connect(lab_server.dsn("plain"), autocommit=True) as plain:
        sources = sources_over_sql(plain)
        assert sources.files == ()
        assert grants("plain") in str(sources.notes[0])
        with lab_server.admin() as admin:
            admin.execute(grants("plain").encode())
            try:
                assert len(sources_over_sql(plain).files) >= 7
            finally:
                admin.execute("REVOKE pg_read_server_files FROM plain")
                admin.execute(
                    "REVOKE EXECUTE ON FUNCTION pg_read_file(text, bigint, bigint, boolean)"
                    " FROM plain"
                )


def test_the_environment_names_the_disks_of_data_and_wal(session: Connection) -> None:
    found = describe_storage(HERE, facts(session))
    assert {"data", "wal"} <= set(found["storage"])
    data = found["storage"]["data"]
    assert data["devices"] or data["reason"]
    for name in data["devices"]:
        assert found["devices"][name]["size_bytes"] > 0


def test_doctor_has_a_line_for_each_source_of_the_host(lab_server: LabServer) -> None:
    checks = {check.name: check for check in check_server(lab_server.dsn())}
    assert checks["server's processes"].found == "CPU time and CPU queue are measured separately"
    assert checks["server's disks"].found.split(":")[0] in ("data", "wal", "log")
    assert checks["sampling"].state == "ok"
