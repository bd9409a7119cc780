"""A server with a service is restarted only as allowed, and comes back whatever happens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.connection import answering
from pgassay.server.connection.session import user_path
from pgassay.server.existing.access import Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.server_process import find_server_process
from pgassay.server.service import service as service_module
from pgassay.server.service.control import DebianCluster, RestartCommand, SystemdUnit
from pgassay.server.service.service import Service
from support.hosts.sshd import HOST, Sshd
from support.refusals import refused
from support.runs import forked
from support.runs.broken import assert_nothing_open, in_the_second_trial, spec_file, watched
from support.runs.command import pgassay
from support.runs.targets import ACCESS, CLUSTER, existing, state_of
from support.servers.debian import NAME, UNIT, VERSION, DebianServer, debian_server, lets_in
from support.servers.existing import nothing
from support.servers.lab import RecordingJournal, wait_until

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


def commanded(server: DebianServer, journal: RecordingJournal, command: str) -> ExistingTarget:
    access = Access(control=RestartCommand(command), allow_restart=True)
    return ExistingTarget(
        server.dsn(), journal, allow_changes=True, accept=["commits"], access=access
    )


@pytest.mark.parametrize(
    ("kind", "control", "expected"),
    [
        (
            "systemd",
            SystemdUnit("postgresql@15-main"),
            refused("no-such-unit", unit="postgresql@15-main"),
        ),
        (
            "pg_ctlcluster",
            DebianCluster("15", "main"),
            refused("no-such-cluster", version="15", name="main"),
        ),
    ],
)
def test_a_service_that_does_not_exist_is_refused_at_once(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    kind: str,
    control: SystemdUnit | DebianCluster,
    expected: refused,
) -> None:
    existing(kind, debian, journal, request)
    access = replace(ACCESS[kind], control=control)
    target = ExistingTarget(debian.dsn(), journal, accept=["commits"], access=access)
    with closing(target), expected:
        target.open()


def test_the_service_of_another_server_is_refused_at_once(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    target = existing("systemd", debian, journal, request)
    program = tmp_path / "systemctl"
    program.write_text(program.read_text().replace("MainPID=$(head", "MainPID=1 #$(head"))
    words = rf"{UNIT} runs process 1 .*, the server is \d+; name"
    with closing(target), pytest.raises(TargetError, match=words):
        target.open()


def test_a_cluster_whose_directories_have_blanks_is_recognised_and_restarted(
    servers_base: Path, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with debian_server(servers_base, "a server  of ours") as server:
        before = state_of(server)
        with closing(existing("pg_ctlcluster", server, journal, request)) as target:
            target.open()
            target.prepare(nothing, {"shared_buffers": "24MB"})
            with target.connect() as session, user_path(session):
                assert session.execute("SHOW shared_buffers").fetchone() == ("24MB",)
        assert state_of(server) == before
    assert journal.open == []


def test_a_restart_needs_allow_restart(debian: DebianServer, journal: RecordingJournal) -> None:
    target = ExistingTarget(
        debian.dsn(), journal, allow_changes=True, accept=["commits"],
        access=Access(control=CLUSTER),
    )  # fmt: skip
    with closing(target):
        target.open()
        with refused("setting-without-leave-to-restart"):
            target.check_settings({"shared_buffers": "24MB"})


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo no leave >&2; exit 4", refused("restart-failed", said="no leave")),
        ("true", refused("restart-failed")),
    ],
)
def test_a_command_that_restarts_nothing_is_an_error(
    debian: DebianServer,
    journal: RecordingJournal,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    expected: refused,
) -> None:
    monkeypatch.setattr(service_module, "APPEAR_LIMIT_S", 0.3)
    target = commanded(debian, journal, command)
    target.open()
    with expected:
        target.prepare(nothing, {"shared_buffers": "24MB"})
    target.close()
    assert journal.open == []


def test_a_command_that_starts_another_cluster_in_the_servers_place_is_an_error(
    debian: DebianServer, journal: RecordingJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = commanded(debian, journal, f"pg_ctlcluster {VERSION} {NAME} restart")
    target.open()
    with monkeypatch.context() as patch:
        patch.setattr(service_module, "identity", lambda _: "7")
        with refused("restart-of-another-server"):
            target.prepare(nothing, {"shared_buffers": "24MB"})
    target.close()
    assert journal.open == []


def test_a_command_that_loses_the_servers_log_is_an_error(
    debian: DebianServer, journal: RecordingJournal
) -> None:
    start = (
        f"su {debian.account} -c '/usr/lib/postgresql/15/bin/pg_ctl -s -w -D {debian.data} -o"
        f' "-c config_file={debian.conf}/15/lab/postgresql.conf" restart -m fast{{}}\''
    )
    target = commanded(debian, journal, start.format(""))
    target.open()
    with refused("restart-loses-the-log"):
        target.prepare(nothing, {"shared_buffers": "24MB"})
    debian.ctl("restart")
    target.close()
    assert journal.open == []


def test_a_server_that_cannot_come_back_is_an_error_that_names_what_is_left_to_do(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(nothing, {})
    settings = debian.conf / "15" / "lab" / "postgresql.conf"
    text = settings.read_text()
    # pg_file_settings does not show this mistake; one that it shows keeps the run from restarting.
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


@pytest.mark.parametrize(
    "moment", [(Service, "auto_conf"), (DebianCluster, "start")], ids=["as we look", "as we start"]
)
def test_a_start_by_another_user_before_ours_is_accepted(
    debian: DebianServer, monkeypatch: pytest.MonkeyPatch, moment: tuple[type, str]
) -> None:
    with debian.admin() as session:
        server = find_server_process(session, HERE)
    service = Service(debian.dsn(), HERE, CLUSTER, server)
    debian.ctl("stop")
    owner, name = moment
    ours = getattr(owner, name)

    def others_first(*arguments: Any) -> Any:
        debian.ctl("start")
        return ours(*arguments)

    monkeypatch.setattr(owner, name, others_first)
    service.start_with({"nothing.of_ours": None})
    assert not service.is_down()


def test_settings_that_a_start_by_another_user_brought_into_force_are_undone(
    debian: DebianServer,
    journal: RecordingJournal,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(nothing, {"shared_buffers": "24MB", "maintenance_work_mem": "33MB"})
    debian.ctl("stop")
    looked = Service.comes_up

    def started_meanwhile(service: Service) -> bool:
        up = looked(service)
        if not up:
            debian.ctl("start")
        return up

    monkeypatch.setattr(Service, "comes_up", started_meanwhile)
    target.close()
    assert journal.open == []


def shut_rules(server: DebianServer, rule: str) -> Callable[[], None]:
    """The next start has this rule alone; what takes that back."""
    rules = server.conf / VERSION / NAME / "pg_hba.conf"
    allowed = rules.read_text()
    rules.write_text(rule)

    def allow() -> None:
        rules.write_text(allowed)
        server.ctl("reload")

    return allow


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("local all all reject\n", "pg_hba.conf rejects connection"),
        ("local all all scram-sha-256\n", "no password supplied"),
    ],
)
def test_a_server_that_refuses_us_after_a_restart_is_not_waited_for(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    words: str,
) -> None:
    monkeypatch.setattr(answering, "REFUSED_LIMIT_S", 0.5)
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(nothing, {})
    restart, allows = Service.restart, []

    def shut_out(service: Service) -> None:
        # Just before the restart: earlier checks of the run would stop at it.
        allows.append(shut_rules(debian, rule))
        restart(service)

    monkeypatch.setattr(Service, "restart", shut_out)
    try:
        with pytest.raises(TargetError, match=rf"the server is up, and refuses us: .*{words}"):
            target.reset({"shared_buffers": "24MB"})
        monkeypatch.setattr(Service, "restart", restart)
        with pytest.raises(RestoreFailed, match=words):
            target.close()
    finally:
        allows[0]()
    wait_until(lambda: lets_in(debian), "it lets us in again")
    target.close()
    assert journal.open == []


# Kills itself by SIGKILL once the tool has found that the server did not start.
KILLED_WHEN_DOWN = """
import os, signal
from pgassay.server.existing import system_settings
system_settings.put_back_stopped = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from pgassay.entry import main
main()
"""


def test_a_setting_that_keeps_the_server_down_ends_the_run_and_is_recovered_after_a_kill(
    tmp_path: Path, debian: DebianServer
) -> None:
    run = tmp_path / "run"
    spec = spec_of(tmp_path, debian, over_ssh=False, factor='huge_pages = ["off", "on"]')
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 2, done.stderr
    last = " ".join(done.stderr.strip().splitlines()[-1].split())
    assert "huge_pages = on: the server did not start: could not map anonymous" in last
    assert "it has been started again without" in last
    assert_nothing_open(run)
    killed = tmp_path / "killed"
    ended = forked.run(["-c", KILLED_WHEN_DOWN, "run", str(spec), "--out", str(killed)])
    assert ended.returncode == -9, ended.stderr
    assert not debian.is_up()
    assert "huge_pages" in debian.file.read_text()
    recovered = pgassay("recover", killed)
    assert recovered.returncode == 0, recovered.stderr
    assert "undone: setting huge_pages" in recovered.stdout
    assert_nothing_open(killed)


@pytest.fixture
def no_ssh_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """No connection outlives a test."""
    yield
    sshd: Sshd = request.getfixturevalue("sshd")
    wait_until(lambda: sshd.sessions() == 0, "every connection has ended")


@pytest.mark.usefixtures("no_ssh_left")
def test_a_connection_cut_in_a_trial_is_made_again_and_the_run_ends_well(
    tmp_path: Path, debian: DebianServer, ssh_config: Sshd
) -> None:
    run = tmp_path / "run"
    spec = spec_of(tmp_path, debian, over_ssh=True, factor='work_mem = ["5MB", "9MB"]', step="2s")
    with watched(run, spec) as tool:
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


@pytest.mark.usefixtures("ssh_config")
def test_plan_and_doctor_say_what_a_run_would_do_or_stop_at(
    tmp_path: Path, debian: DebianServer
) -> None:
    spec = spec_of(tmp_path, debian, over_ssh=True)
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
    words = ["doctor", debian.dsn(), "--cluster", "15/lab", "--ssh", HOST]
    doctor = pgassay(*words, COLUMNS="300").stdout
    assert "restarts: `pg_ctlcluster 15 lab restart` is this server's" in doctor
    assert f"data in {debian.data}" in doctor
