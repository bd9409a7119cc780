"""A server under a service is restarted only as allowed, and comes back whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import RestoreFailed, SettingRejected, TargetError
from pgassay.samples.journal import FileJournal
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.service_control import START_LOG, DebianCluster, SystemdUnit
from support import forked
from support.broken_runs import assert_nothing_open, in_the_second_trial, spec_file, watched
from support.command import pgassay
from support.servers import RecordingJournal, wait_until
from support.services import BIN, UNIT, DebianServer, debian_server
from support.sshd import HOST, Sshd
from support.targets import ACCESS, existing, state_of

TARGET = """[target]
dsn = "{dsn}"
allow_changes = true
allow_restart = true
cluster = "15/lab"
accept = ["commits", "sessions"]
{more}
"""
RESTART = 'shared_buffers = ["16MB", "24MB"]'


@pytest.fixture(autouse=True)
def as_found(debian: DebianServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test leaves the server up, with its settings and without our schema."""
    monkeypatch.setenv("PG_CLUSTER_CONF_ROOT", str(debian.conf))
    with debian.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = state_of(debian)
    yield
    assert state_of(debian) == before


def spec_of(folder: Path, server: DebianServer, *, over_ssh: bool, **changes: object) -> Path:
    more = f'ssh = "{HOST}"' if over_ssh else ""
    target = TARGET.format(dsn=server.dsn(), more=more)
    return spec_file(folder, **{"target": target, "factor": RESTART, **changes})


@pytest.fixture(params=["here", "ssh"])
def over_ssh(request: pytest.FixtureRequest) -> bool:
    if request.param == "ssh":
        request.getfixturevalue("ssh_config")
    return bool(request.param == "ssh")


@pytest.mark.parametrize(
    ("kind", "control", "words"),
    [
        ("systemd", SystemdUnit("postgresql@15-main"), "has no unit postgresql@15-main"),
        ("pg_ctlcluster", DebianCluster("15", "main"), "has no cluster 15/main"),
    ],
)
def test_a_service_that_is_not_there_is_refused_at_once(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    kind: str,
    control: SystemdUnit | DebianCluster,
    words: str,
) -> None:
    existing(kind, debian, journal, request)
    access = replace(ACCESS[kind], control=control)
    target = ExistingTarget(debian.dsn(), journal, accept=["commits"], access=access)
    with pytest.raises(TargetError, match=words):
        target.open()
    target.close()


def test_the_service_of_another_server_is_refused_at_once(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    target = existing("systemd", debian, journal, request)
    program = tmp_path / "systemctl"
    lines = program.read_text().replace("MainPID=$(head", "MainPID=1 #$(head")
    program.write_text(lines)
    with pytest.raises(TargetError, match=rf"{UNIT} runs process 1 .*, the server is \d+; name"):
        target.open()
    target.close()


def test_a_cluster_whose_directories_have_blanks_is_known_and_restarted(
    servers_base: Path, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with debian_server(servers_base, "a server  of ours") as server:
        before = state_of(server)
        target = existing("pg_ctlcluster", server, journal, request)
        with closing(target):
            target.open()
            target.prepare(lambda _: None, {"shared_buffers": "24MB"})
            with target.connect() as session:
                assert session.execute("SHOW shared_buffers").fetchone() == ("24MB",)
        assert state_of(server) == before
    assert journal.open == []


def test_a_restart_takes_leave_of_its_own(debian: DebianServer, journal: RecordingJournal) -> None:
    access = Access(control=DebianCluster("15", "lab"))
    target = ExistingTarget(
        debian.dsn(), journal, allow_changes=True, accept=["commits"], access=access
    )
    target.open()
    with pytest.raises(SettingRejected, match=r"target\.allow_restart = true allows it"):
        target.check_settings({"shared_buffers": "24MB"})
    target.close()


def test_no_restart_brings_the_changes_of_others_into_force(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = existing("pg_ctlcluster", debian, journal, request)
    with debian.admin() as session:
        session.execute("ALTER SYSTEM SET max_connections = 90")
        session.execute("SELECT pg_reload_conf()")
    try:
        target.open()
        with pytest.raises(TargetError, match=r"others' changes into force.*max_connections"):
            target.check_settings({"shared_buffers": "24MB"})
        target.check_settings({"work_mem": "8MB"})
        target.close()
    finally:
        with debian.admin() as session:
            session.execute("ALTER SYSTEM RESET max_connections")
        debian.ctl("restart")


def test_a_service_that_restarts_nothing_is_told(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    target = existing("systemd", debian, journal, request)
    program = tmp_path / "systemctl"
    script = program.read_text()
    target.open()
    program.write_text(script.replace("*)\n", "*)\n  echo no leave >&2; exit 4\n"))
    with pytest.raises(TargetError, match=r"did not restart the server: no leave"):
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
    program.write_text(script)
    target.close()
    assert journal.open == []


def test_a_server_that_cannot_come_back_is_told_with_what_is_left_to_do(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(lambda _: None, {})
    settings = debian.conf / "15" / "lab" / "postgresql.conf"
    text = settings.read_text()
    # No look at the files shows this mistake; one that it shows keeps the run from the restart.
    settings.write_text(f"{text}\nssl = on\nssl_cert_file = '/nonexistent/certificate'\n")
    try:
        with pytest.raises(
            RestoreFailed, match=r"server certificate file .*/nonexistent/certificate"
        ):
            target.reset({"shared_buffers": "24MB"})
        with pytest.raises(RestoreFailed, match=r"pg_ctlcluster 15 lab restart"):
            target.close()
    finally:
        settings.write_text(text)
    target.close()
    assert journal.open == []


@pytest.mark.usefixtures("no_ssh_left")
def test_a_setting_refused_at_the_restart_ends_the_run_in_the_servers_words(
    tmp_path: Path, debian: DebianServer, over_ssh: bool
) -> None:
    run = tmp_path / "run"
    factor = 'huge_pages = ["off", "on"]'
    spec = spec_of(tmp_path, debian, over_ssh=over_ssh, factor=factor)
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 2, done.stderr
    last = " ".join(done.stderr.strip().splitlines()[-1].split())
    assert "huge_pages = on: the server did not start: could not map anonymous" in last
    assert "it has been started again without" in last
    assert_nothing_open(run)


# Dies as by SIGKILL where the tool has seen that the server did not come up.
DYING = """
import os, signal
from pgassay.target import alter_system
alter_system.put_back_stopped = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from pgassay.entry import main
main()
"""


@pytest.mark.usefixtures("no_ssh_left")
def test_recover_brings_back_a_server_that_a_killed_run_left_down(
    tmp_path: Path, debian: DebianServer, over_ssh: bool
) -> None:
    run = tmp_path / "run"
    spec = spec_of(tmp_path, debian, over_ssh=over_ssh, factor='huge_pages = ["on", "off"]')
    died = forked.run(["-c", DYING, "run", str(spec), "--out", str(run)])
    assert died.returncode == -9, died.stderr
    assert not debian.is_up()
    assert "huge_pages" in debian.file.read_text()
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert "settled: setting huge_pages" in done.stdout
    assert_nothing_open(run)
    assert pgassay("recover", run).stdout == "nothing to undo\n"


# Dies as by SIGKILL where the server is up again, before the file of its start is removed.
DYING_AT_ITS_LOG = """
import os, signal
from pgassay.target.local_host import LocalHost
LocalHost.remove = lambda self, path: os.kill(os.getpid(), signal.SIGKILL)
from pgassay.entry import main
main()
"""


@pytest.mark.parametrize("then", ["recover", "next run"])
def test_the_log_of_a_start_that_a_killed_run_left_in_the_data_is_removed(
    tmp_path: Path, debian: DebianServer, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = debian.conf / "15" / "lab" / "postgresql.conf"
    text = settings.read_text()
    settings.write_text(f"{text}\nlogging_collector = on\n")
    debian.ctl("restart")
    try:
        run, left = tmp_path / "run", debian.data / START_LOG
        spec = spec_of(tmp_path, debian, over_ssh=False)
        spec.write_text(spec.read_text().replace('cluster = "15/lab"', f'bin = "{BIN}"'))
        died = forked.run(["-c", DYING_AT_ITS_LOG, "run", str(spec), "--out", str(run)])
        assert died.returncode == -9, died.stderr
        assert left.exists()
        with debian.admin() as session:
            session.execute("ALTER SYSTEM RESET shared_buffers")
        debian.ctl("restart")
        if then == "recover":
            done = pgassay("recover", run)
            assert done.returncode == 0, done.stderr
        else:
            with closing(
                ExistingTarget(
                    debian.dsn(), FileJournal(tmp_path / "next"), allow_changes=True,
                    accept=("commits", "sessions"), access=ACCESS["pg_ctl"],
                )
            ) as target:  # fmt: skip
                target.open()
        assert not left.exists()
        assert_nothing_open(run)
    finally:
        settings.write_text(text)
        debian.ctl("restart")


@pytest.mark.usefixtures("no_ssh_left")
def test_recover_restarts_a_server_that_a_killed_run_left_changed(
    tmp_path: Path, debian: DebianServer, over_ssh: bool
) -> None:
    run = tmp_path / "run"
    with watched(run, spec_of(tmp_path, debian, over_ssh=over_ssh, step="3s")) as tool:
        in_the_second_trial(tool)
        tool.kill()
    with debian.admin() as session:
        assert session.execute("SHOW shared_buffers").fetchone() in [("16MB",), ("24MB",)]
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert_nothing_open(run)


def test_the_next_run_restarts_a_server_that_a_killed_run_left_changed(
    tmp_path: Path, debian: DebianServer, over_ssh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with watched(
        tmp_path / "dead", spec_of(tmp_path, debian, over_ssh=over_ssh, step="3s")
    ) as tool:
        in_the_second_trial(tool)
        tool.kill()
    memory = tmp_path / "state" / "pgassay" / "servers"

    def opened(access: Access, accept: Sequence[str] = ("commits", "sessions")) -> list[str]:
        target = ExistingTarget(
            debian.dsn(), RecordingJournal(), allow_changes=True, accept=accept, access=access
        )
        with closing(target):
            target.open()
            return target._left_alone

    before = debian.started_at()
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(psycopg.connect(debian.dsn(), application_name="shop"))
        with pytest.raises(TargetError, match="sessions"):
            opened(ACCESS["pg_ctlcluster"], accept=())
    for _ in range(2):
        (note,) = opened(SQL_ONLY)
        assert "in force after the next restart" in note
    assert list(memory.glob("*.json"))
    assert debian.started_at() == before
    assert opened(ACCESS["pg_ctlcluster"]) == []
    assert list(memory.glob("*.json")) == []
    assert debian.started_at() > before


@pytest.mark.usefixtures("no_ssh_left")
def test_a_connection_cut_in_a_trial_is_made_again_and_the_run_ends_well(
    tmp_path: Path, debian: DebianServer, ssh_config: Sshd
) -> None:
    run = tmp_path / "run"
    with watched(run, spec_of(tmp_path, debian, over_ssh=True, step="2s")) as tool:
        in_the_second_trial(tool)
        ssh_config.cut()
        assert tool.end() == 0, tool.text
    assert len(tool.finished()) == 4
    environment = json.loads((run / "environment.json").read_text())
    assert environment["target"] == "existing, host over ssh"
    assert environment["host"]["kernel"].startswith("Linux ")
    assert_nothing_open(run)


@pytest.mark.usefixtures("no_ssh_left")
def test_a_host_that_is_gone_is_recovered_once_it_is_back(
    tmp_path: Path, debian: DebianServer, ssh_config: Sshd
) -> None:
    run = tmp_path / "run"
    with watched(run, spec_of(tmp_path, debian, over_ssh=True, step="2s")) as tool:
        in_the_second_trial(tool)
        ssh_config.end()
        try:
            assert tool.end() == 5, tool.text
            assert f"ssh {HOST}: " in tool.text
            assert f"pgassay recover {run}" in " ".join(tool.text.split())
            again = pgassay("recover", run)
            assert again.returncode in (1, 5), again.stderr
            assert f"ssh {HOST}: " in again.stderr
            assert "Traceback" not in again.stderr
        finally:
            ssh_config.start()
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert_nothing_open(run)


@pytest.fixture
def no_ssh_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """No connection outlives a test."""
    yield
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if "ssh_config" in request.fixturenames or parameters.get("over_ssh") == "ssh":
        sshd: Sshd = request.getfixturevalue("sshd")
        wait_until(lambda: sshd.sessions() == 0, "every connection has ended")


def test_a_plan_and_doctor_tell_what_a_run_would_do_or_stop_at(
    tmp_path: Path, debian: DebianServer, over_ssh: bool
) -> None:
    spec = spec_of(tmp_path, debian, over_ssh=over_ssh)
    shown = pgassay("plan", spec, COLUMNS="300")
    assert shown.returncode == 0, shown.stderr
    assert "stops:" not in shown.stdout
    assert "by `pg_ctlcluster 15 lab restart`" in shown.stdout
    assert "which ends everybody's sessions; before trials" in shown.stdout
    assert "16MB / 24MB in the run; restart" in shown.stdout
    text = spec.read_text()
    spec.write_text(text.replace("15/lab", "15/main"))
    assert "stops: target.cluster: " in pgassay("plan", spec, COLUMNS="300").stdout
    spec.write_text(text.replace("allow_restart = true\n", ""))
    assert "shared_buffers: needs a restart" in pgassay("plan", spec, COLUMNS="300").stdout
    words = ["doctor", debian.dsn(), "--cluster", "15/lab", *(["--ssh", HOST] * over_ssh)]
    doctor = pgassay(*words, COLUMNS="300").stdout
    assert "restarts: `pg_ctlcluster 15 lab restart` is this server's" in doctor
    assert f"data in {debian.data}" in doctor
