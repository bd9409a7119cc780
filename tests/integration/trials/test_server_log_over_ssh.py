"""The log of a server behind ssh: read where the connection does not give it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.doctor.host import check_access
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.ssh import SshHost
from pgassay.trials.server_log.log_files import HostFiles, LogUnreadable, backend_process
from pgassay.trials.server_log.place import Place, find_place, log_settings
from pgassay.trials.server_log.reader import LogReading, ServerLog
from support.hosts.sshd import HOST, Sshd
from support.runs.targets import ACCESS
from support.servers.debian import DebianServer
from support.servers.lab import wait_until
from support.servers.sessions import connect

ELSEWHERE = "db.example"


@pytest.fixture
def machine(ssh_config: Sshd) -> Iterator[Host]:
    host = SshHost(HOST)
    yield host
    host.close()


@contextmanager
def followed(server: DebianServer, machine: Host) -> Iterator[ServerLog]:
    yield ServerLog(server.admin, ELSEWHERE, machine=machine)


def kinds(reading: LogReading) -> set[str]:
    return {event.kind for event in reading.events or ()}


def make_events(server: DebianServer) -> None:
    with server.admin() as session:
        session.execute("CHECKPOINT")


def read_until(log: ServerLog, kind: str) -> LogReading:
    found: list[LogReading] = []

    def there() -> bool:
        found.append(log.read(goes_on=True))
        return kind in kinds(found[-1])

    wait_until(there, f"a {kind} in the log")
    return found[-1]


def test_debians_log_is_a_file_without_a_collector_and_is_read_over_ssh(
    debian: DebianServer, machine: Host
) -> None:
    with debian.log.open("a") as file:
        file.write("what was there before is nobody's\n")
    with followed(debian, machine) as log:
        make_events(debian)
        reading = read_until(log, "checkpoint_end")
    assert reading.described["where"] == f"{debian.log} of {HOST}, over ssh"
    assert reading.described["form"] == "stderr"
    assert reading.described["unread_lines"] == 0
    # As logrotate does it with copytruncate.
    with followed(debian, machine) as log:
        debian.log.write_bytes(b"")
        make_events(debian)
        assert "checkpoint_end" in kinds(read_until(log, "checkpoint_end"))


@pytest.fixture
def collecting(debian: DebianServer) -> Iterator[DebianServer]:
    """The same server with a collector and a user that may read nothing."""
    settings = debian.conf / "15" / "lab" / "postgresql.conf"
    text = settings.read_text()
    settings.write_text(
        f"{text}\nlogging_collector = on\nlog_filename = 'pg-%H%M%S.log'\n"
        "log_line_prefix = '%m [%p] '\n"
    )
    debian.ctl("restart")
    with debian.admin() as session:
        session.execute("CREATE ROLE plain LOGIN")
        session.execute("GRANT EXECUTE ON FUNCTION pg_current_logfile(text) TO plain")
        session.execute("GRANT pg_read_all_settings TO plain")
    try:
        yield debian
    finally:
        with debian.admin() as session:
            session.execute("DROP OWNED BY plain")
            session.execute("DROP ROLE plain")
        settings.write_text(text)
        debian.ctl("restart")


def test_a_collected_log_comes_over_the_connection_first_and_over_ssh_without_its_rights(
    collecting: DebianServer, machine: Host
) -> None:
    with collecting.admin() as session:
        found = find_place(session, collecting.admin, ELSEWHERE, machine=machine)
    assert isinstance(found, Place)
    assert found.where.endswith(", over the connection")
    parameters = resolve(collecting.dsn().replace("user=lab", "user=plain"))
    log = ServerLog(lambda: connect(parameters), ELSEWHERE, machine=machine)

    def rotated() -> bool:
        with collecting.admin() as session:
            session.execute("SELECT pg_rotate_logfile()")
            now = session.execute("SELECT pg_current_logfile()").fetchone()
        return now != before

    with collecting.admin() as session:
        before = session.execute("SELECT pg_current_logfile()").fetchone()
    make_events(collecting)
    wait_until(rotated, "another file")
    make_events(collecting)
    # One checkpoint is at the end of the file that was, one in the file that is.
    readings: list[LogReading] = []

    def both() -> bool:
        readings.append(log.read(goes_on=True))
        events = [event for reading in readings for event in reading.events or ()]
        return [event.kind for event in events].count("checkpoint_end") >= 2

    wait_until(both, "both checkpoints")
    assert f"of {HOST}, over ssh" in readings[-1].described["where"]


def test_a_file_of_another_account_than_the_servers_is_not_taken_for_its_log(
    debian: DebianServer, machine: Host
) -> None:
    with debian.admin() as session:
        settings = log_settings(session)
        there = backend_process(settings, ELSEWHERE, machine)
        assert there is not None
        assert there.standard_error() == str(debian.log)
        assert there.own_file(str(debian.log)) == debian.log
        assert there.own_file("postgresql.auto.conf") == debian.file
        assert there.own_file(str(debian.log.parent / "gone")) is None
        assert replace(there, owner=there.owner + 1).own_file(str(debian.log)) is None
        assert backend_process(settings, ELSEWHERE, HERE) is None


def test_only_the_servers_own_plain_files_are_listed_and_no_link_is_read(
    machine: Host, tmp_path: Path
) -> None:
    (tmp_path / "a b.log").write_bytes(b"first\nsecond\n")
    (tmp_path / "link.log").symlink_to(tmp_path / "a b.log")
    (tmp_path / "folder.log").mkdir()
    owner = tmp_path.stat().st_uid
    files = HostFiles(machine, tmp_path, owner, lambda: None)
    with files.opened() as opened:
        assert {name: file.size for name, file in opened.listing().items()} == {"a b.log": 13}
        assert opened.read("a b.log", 6, 3) == b"sec"
        assert opened.read("a b.log", 13, 100) == b""
        with pytest.raises(LogUnreadable, match=r"link\.log of lab-host"):
            opened.read("link.log", 0, 10)
    stranger = HostFiles(machine, tmp_path, owner + 1, lambda: None)
    with stranger.opened() as opened:
        assert opened.listing() == {}
    with (
        pytest.raises(LogUnreadable, match=r"gone: .*cd"),
        HostFiles(machine, tmp_path / "gone", owner, lambda: None).opened() as opened,
    ):
        opened.listing()


def test_a_host_that_is_gone_is_a_note_in_the_log_reading(
    debian: DebianServer, ssh_config: Sshd
) -> None:
    with closing(SshHost(HOST)) as machine, followed(debian, machine) as log:
        ssh_config.end()
        try:
            reading = log.read()
        finally:
            ssh_config.start()
    assert reading.events is None
    assert reading.notes[-1].code == "trials/server_log/not-to-end"
    assert str(reading.notes[-1].values["error"]).startswith(f"ssh {HOST}: ")


@pytest.mark.usefixtures("ssh_config")
def test_doctor_says_that_the_log_is_read_over_ssh(debian: DebianServer) -> None:
    (check,) = [
        one
        for one in check_access(debian.dsn(), ACCESS["ssh, no service"])
        if one.name == "server log"
    ]
    assert (check.state, check.found) == ("ok", f"stderr, {debian.log} of {HOST}, over ssh")
