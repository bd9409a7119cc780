"""A server that a killed run has left down in a restart comes up again, also where that run had
changed no setting; one that is up and refuses us is not waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import ConnectionRefused, RestoreFailed, TargetError
from pgassay.samples.handover import held
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target import answering
from pgassay.target import existing as existing_room
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.preview import preview_existing
from pgassay.target.recover import recover
from pgassay.target.service import Service
from support import forked
from support.data_copies import build
from support.servers import RecordingJournal, wait_until
from support.services import NAME, VERSION, DebianServer, lets_in, shut_out
from support.targets import ACCESS, existing

ACCEPT = ("commits", "sessions")

# Dies as by SIGKILL in a restart that no setting asks for, with the command it waits for.
DYING = """
import os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target.existing import ExistingTarget
from pgassay.target.service_control import DebianCluster
from support.data_copies import build
from support.targets import ACCESS

dsn, journal, kind = sys.argv[1:4]
target = ExistingTarget(
    dsn, FileJournal(Path(journal)), allow_changes=True, accept=["commits", "sessions"],
    access=ACCESS[kind],
)
target.open()
target.prepare(build, {})
def stop_and_die(self, *where):
    self.stop(*where)
    os.kill(os.getpid(), signal.SIGKILL)
DebianCluster.restart = stop_and_die
target.reset({}, restart=True)
"""


@pytest.fixture(autouse=True)
def forgotten(untouched: None, tmp_path: Path) -> Iterator[None]:
    """Every test leaves nothing remembered of the server."""
    yield
    servers = tmp_path / "state" / "pgassay" / "servers"
    assert [*servers.glob("*")] == []


@pytest.fixture(params=["pg_ctlcluster", "ssh"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "ssh":
        request.getfixturevalue("ssh_config")
    return str(request.param)


def left_down(kind: str, server: DebianServer, journal: Path) -> None:
    journal.parent.mkdir()
    died = forked.run(["-c", DYING, server.dsn(), str(journal), kind])
    assert died.returncode == -9, died.stderr
    assert not server.is_up()
    assert [change.setting for change in open_changes(journal)] == ["", ""]


def following(server: DebianServer, access: Access, folder: Path) -> ExistingTarget:
    journal = FileJournal(folder / "next.jsonl")
    return ExistingTarget(server.dsn(), journal, allow_changes=True, accept=ACCEPT, access=access)


def test_recover_starts_it_also_where_no_setting_was_changed(
    debian: DebianServer, kind: str, tmp_path: Path
) -> None:
    journal = tmp_path / "dead" / "journal.jsonl"
    left_down(kind, debian, journal)
    recover(debian.dsn(), open_changes(journal), FileJournal(journal), ACCESS[kind])
    assert open_changes(journal) == []


def test_the_next_run_starts_it_and_says_so(
    debian: DebianServer, kind: str, tmp_path: Path
) -> None:
    journal = tmp_path / "dead" / "journal.jsonl"
    left_down(kind, debian, journal)
    with pytest.raises(ConnectionRefused, match=r"left it down in a restart .*: a run starts it"):
        preview_existing(
            debian.dsn(), accept=ACCEPT, settings={}, building_sql=(), access=ACCESS[kind]
        )
    assert not debian.is_up()
    with closing(following(debian, ACCESS[kind], tmp_path)) as target:
        target.open()
        assert open_changes(journal) == []
        target.prepare(build, {})
        (note,) = target.reset({}).notes
        assert "a run that was killed while it restarted it" in note
        assert target.reset({}).notes == (), "it is told once"


def test_the_host_is_put_back_before_it_is_started(
    debian: DebianServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "dead" / "journal.jsonl"
    left_down("pg_ctlcluster", debian, journal)
    was_up: list[bool] = []
    monkeypatch.setattr(existing_room, "sweep_host", lambda _: was_up.append(debian.is_up()))
    with closing(following(debian, ACCESS["pg_ctlcluster"], tmp_path)) as target:
        target.open()
    assert was_up == [False]


def test_a_run_that_may_not_restart_it_names_who_may(debian: DebianServer, tmp_path: Path) -> None:
    journal = tmp_path / "dead" / "journal.jsonl"
    left_down("pg_ctlcluster", debian, journal)
    words = r"left it down in a restart \(`pg_ctlcluster 15 lab restart`\): `pgassay recover RUN`"
    with (
        closing(following(debian, ACCESS["sql"], tmp_path)) as target,
        pytest.raises(ConnectionRefused, match=words),
    ):
        target.open()
    assert not debian.is_up()
    debian.ctl("start")
    with (
        shut_out(debian),
        closing(following(debian, ACCESS["pg_ctlcluster"], tmp_path)) as target,
        pytest.raises(ConnectionRefused, match=r"^(?!.*left it down)"),
    ):
        target.open()
    recover(debian.dsn(), open_changes(journal), FileJournal(journal), ACCESS["pg_ctlcluster"])


def test_a_server_that_a_living_run_has_down_is_left_to_it(
    debian: DebianServer, tmp_path: Path
) -> None:
    run = tmp_path / "alive"
    run.mkdir()
    living = ExistingTarget(
        debian.dsn(), FileJournal(run / "journal.jsonl"), allow_changes=True, accept=ACCEPT,
        access=ACCESS["pg_ctlcluster"],
    )  # fmt: skip
    with held(run), closing(living):
        living.open()
        living.prepare(build, {})
        living.reset({}, restart=True)
        debian.ctl("stop")
        with (
            closing(following(debian, ACCESS["pg_ctlcluster"], tmp_path)) as second,
            pytest.raises(TargetError, match=r"another pgassay run, .*alive, is using"),
        ):
            second.open()
        assert not debian.is_up()
    assert open_changes(run / "journal.jsonl") == []


def without_us(server: DebianServer) -> Callable[[], None]:
    """The next start refuses us by a rule; what takes that back."""
    rules = server.conf / VERSION / NAME / "pg_hba.conf"
    allowed = rules.read_text()
    rules.write_text("local all all reject\n")

    def allow() -> None:
        rules.write_text(allowed)
        server.ctl("reload")

    return allow


def without_our_password(server: DebianServer) -> Callable[[], None]:
    rules = server.conf / VERSION / NAME / "pg_hba.conf"
    allow = without_us(server)
    rules.write_text("local all all scram-sha-256\n")
    return allow


def without_our_database(server: DebianServer) -> Callable[[], None]:
    def named(old: str, new: str) -> None:
        with server.admin("postgres") as session:
            session.execute(f"ALTER DATABASE {old} RENAME TO {new}".encode())

    with server.admin("postgres") as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lab'"
        )
    named("lab", "elsewhere")
    return lambda: named("elsewhere", "lab")


@pytest.mark.parametrize(
    ("shut", "words"),
    [
        (without_us, "pg_hba.conf rejects connection"),
        (without_our_password, "no password supplied"),
        (without_our_database, "database .* does not exist"),
    ],
)
def test_a_server_that_is_up_and_refuses_us_for_good_is_not_waited_for(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    shut: Callable[[DebianServer], Callable[[], None]],
    words: str,
) -> None:
    monkeypatch.setattr(answering, "REFUSED_LIMIT_S", 0.5)
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(build, {})
    restart, allows = Service.restart, []

    def shut_out(service: Service) -> None:
        # Just before the restart: its own looks before that would stop at it.
        allows.append(shut(debian))
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
