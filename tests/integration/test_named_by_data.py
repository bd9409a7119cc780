"""What `target.data`, `bin` and `dsn` say together: where they lead, and what does not fit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.account import Account
from pgassay.target.by_data import look
from pgassay.target.existing import ExistingTarget
from pgassay.target.found_stopped import RUN_LOG
from pgassay.target.local_host import HERE
from pgassay.target.preview_stopped import look_by_data
from pgassay.target.recover import recover
from pgassay.target.service_control import PgCtl
from support.broken_runs import assert_nothing_open, spec_file
from support.command import last_line, pgassay
from support.servers import RecordingJournal, is_root
from support.services import BIN, CONF_ROOT, DebianServer
from support.sshd import HOST, Sshd
from support.stopped_clusters import StoppedCluster

DSN = "user=lab dbname=lab"


def access_to(data: Path, directory: Path = BIN) -> Access:
    return Access(control=PgCtl(directory), allow_restart=True, data=data)


@pytest.mark.parametrize(
    ("dsn", "added"),
    [
        ("", {"host", "port"}),
        ("user=lab", {"host", "port"}),
        ("host=127.0.0.1", {"port"}),
        ("port=5499", {"host"}),
        ("hostaddr=127.0.0.1 port=5499", set()),
        ("postgresql://lab@/lab", {"host", "port"}),
    ],
)
def test_what_dsn_does_not_name_is_taken_from_the_cluster(
    dsn: str, added: set[str], cluster: StoppedCluster
) -> None:
    own = {"host": str(cluster.sockets), "port": str(cluster.port)}
    at_rest = look(dsn, access_to(cluster.data), HERE)
    cluster.start()
    try:
        running = look(dsn, access_to(cluster.data), HERE)
    finally:
        cluster.stop()
    assert not at_rest.runs
    assert running.runs
    assert conninfo_to_dict(at_rest.dsn) == conninfo_to_dict(running.dsn)
    assert conninfo_to_dict(at_rest.dsn) == {
        **conninfo_to_dict(dsn),
        **{name: own[name] for name in added},
    }


def test_a_service_says_it_all(cluster: StoppedCluster) -> None:
    assert look("service=lab", access_to(cluster.data), HERE).dsn == "service=lab"


def test_the_options_of_the_last_start_are_those_of_the_next(cluster: StoppedCluster) -> None:
    """Such as the port, of which the configuration says nothing."""
    options = cluster.data / "postmaster.opts"
    found = options.read_text()
    options.write_text(found.rstrip() + f' "-p" "{cluster.port + 1}"\n')
    try:
        seen = look("", access_to(cluster.data), HERE)
        assert conninfo_to_dict(seen.dsn)["port"] == str(cluster.port + 1)
        target = ExistingTarget(DSN, RecordingJournal(), access=access_to(cluster.data))
        try:
            target.open()
            assert target.parameters().port == cluster.port + 1
        finally:
            target.close()
    finally:
        cluster.start()
        cluster.stop()
        options.write_text(found)


def test_a_directory_without_a_cluster_is_told(cluster: StoppedCluster) -> None:
    with pytest.raises(TargetError, match="is not the data directory of a cluster: no PG_VERSION"):
        look("", access_to(cluster.place), HERE)
    with pytest.raises(TargetError, match=r"give the one that initdb made \(SHOW data_directory"):
        look("", access_to(cluster.place / "nothing"), HERE)


def test_programs_of_another_version_are_told(cluster: StoppedCluster) -> None:
    version = cluster.data / "PG_VERSION"
    version.write_text("16\n")
    try:
        with pytest.raises(TargetError) as caught:
            look("", access_to(cluster.data), HERE)
    finally:
        version.write_text("15\n")
    assert f"target.bin: {BIN} of this host is PostgreSQL 15." in str(caught.value)
    assert "and target.data is of 16; name the bin directory of PostgreSQL 16" in str(caught.value)


def test_a_bin_without_programs_is_told(cluster: StoppedCluster) -> None:
    with pytest.raises(TargetError, match=r"has no postgres that .* can run"):
        look("", access_to(cluster.data, cluster.place), HERE)


def test_one_that_is_not_ours_to_read_is_told(cluster: StoppedCluster) -> None:
    if not is_root():
        pytest.skip("only root takes on another account")
    said = _as_somebody_else(lambda: look("", access_to(cluster.data), HERE))
    assert said == (
        f"target.data: {cluster.data} of this host cannot be read (Permission denied); run pgassay"
        " as root or as the server's account"
    )


def _as_somebody_else(step: Callable[[], object]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            step()
        except BaseException as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


def test_a_standby_that_is_stopped_is_not_started(cluster: StoppedCluster) -> None:
    signal = cluster.data / "standby.signal"
    signal.touch()
    try:
        _, refusals = look_by_data(DSN, access_to(cluster.data))
    finally:
        signal.unlink()
    (told,) = refusals
    assert "is a standby's (standby.signal), where no data can be made" in told


def test_one_last_started_elsewhere_is_told(cluster: StoppedCluster) -> None:
    options = cluster.data / "postmaster.opts"
    found = options.read_text()
    options.write_text(found.replace(str(cluster.data), "/srv/moved"))
    try:
        with pytest.raises(TargetError, match="was last started with -D /srv/moved"):
            look("", access_to(cluster.data), HERE)
    finally:
        options.write_text(found)


def test_a_dsn_that_leads_to_another_server_is_told(
    cluster: StoppedCluster, debian: DebianServer, tmp_path: Path
) -> None:
    table = cluster.target("allow_restart = true", dsn=debian.dsn().replace("'", ""))
    spec = spec_file(tmp_path, target=table)
    stopped = pgassay("run", spec, "--out", tmp_path / "run")
    assert stopped.returncode == 1
    assert "and another one answers at" in last_line(stopped.stderr)
    cluster.start()
    try:
        running = pgassay("run", spec, "--out", tmp_path / "run")
        planned = pgassay("plan", spec, COLUMNS="400")
    finally:
        cluster.stop()
    told = f"whose data directory is {debian.data}, not target.data = {cluster.data}; leave host"
    assert told in last_line(running.stderr)
    assert f"stops: target.dsn leads to {debian.sockets}" in planned.stdout


def test_a_cluster_of_debians_is_started_with_its_configuration_elsewhere(
    debian: DebianServer, account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONF_ROOT, str(debian.conf))
    debian.ctl("stop")
    names = sorted(path.name for path in debian.data.iterdir())
    file = debian.file.read_bytes()
    like = StoppedCluster(debian.data.parent, account, debian.port)
    spec = spec_file(tmp_path, target=like.target("allow_restart = true"), step="0.4s")
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert not debian.is_up()
    assert sorted(path.name for path in debian.data.iterdir()) == names
    assert debian.file.read_bytes() == file
    assert_nothing_open(tmp_path / "run")
    debian.ctl("start")


def test_over_ssh_it_is_started_there_and_the_port_is_found(
    cluster: StoppedCluster, sshd: Sshd, ssh_config: Sshd, tmp_path: Path
) -> None:
    way = f"{DSN} host={cluster.sockets}"
    table = cluster.target("allow_restart = true", f"ssh = '{HOST}'", dsn=way)
    spec = spec_file(tmp_path, target=table, factor='shared_buffers = ["128MB", "64MB"]')
    planned = pgassay("plan", spec, COLUMNS="300")
    assert f"{cluster.sockets}:{cluster.port} ({HOST}) (stopped)" in planned.stdout, planned.stdout
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_nothing_open(tmp_path / "run")


def test_a_next_run_by_dsn_leaves_it_up_and_says_so(cluster: StoppedCluster) -> None:
    dead, alive = RecordingJournal(), RecordingJournal()
    access = access_to(cluster.data)
    first = ExistingTarget(DSN, dead, allow_changes=True, accept=["commits"], access=access)
    first.open()
    assert first._control is not None
    first._control.close()
    way = f"{DSN} host={cluster.sockets} port={cluster.port}"
    second = ExistingTarget(way, alive, allow_changes=True, accept=["commits"])
    second.open()
    assert second._given_back == [
        f"server of {cluster.data}, which was stopped: a run that was killed had started it; once"
        " this one is over, `pgassay recover RUN` stops it"
    ]
    with pytest.raises(TargetError, match="another pgassay run is using this server"):
        recover(DSN, dead.open, dead, access)
    assert cluster.is_up()
    second.close()
    assert cluster.is_up()
    recover(DSN, dead.open, dead, access)
    assert dead.open == []


def test_its_log_lies_in_its_directory_while_it_runs_and_no_longer(cluster: StoppedCluster) -> None:
    target = ExistingTarget(DSN, RecordingJournal(), access=access_to(cluster.data))
    target.open()
    log = cluster.data / RUN_LOG
    assert "ready to accept connections" in log.read_text()
    target.close()
    assert not log.exists()
