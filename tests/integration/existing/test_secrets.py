"""Passwords reach the server and nothing else: no file of a run, no message, no argument."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pgassay.errors import SettingRejected
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.settings.statements import reload
from support.runs.command import LIMIT_S, pgassay
from support.runs.forked import begin
from support.servers.lab import SECRET, LabServer, RecordingJournal, configure

HELD = "canary-5e11"
"""A password that the server's own settings hold."""
SPEC = """
[target]
dsn = "{dsn}"
[workload]
use = "pgbench"
[load]
clients = 2
step = "1s"
{load}
[design]
min_blocks = 2
max_blocks = 2
"""
# A program that prints the password it was given.
INDISCREET = """
import os, sys, urllib.parse
import psycopg
word = open(os.environ["PGPASSFILE"]).read().split(":", 4)[4].strip()
print(word, f"password='{word}'", f"postgres://lab:{urllib.parse.quote(word)}@127.0.0.1/lab")
print(word, file=sys.stderr)
open(os.path.join(os.environ["PGASSAY_OUTPUT"], "own.log"), "w").write("mine")
with psycopg.connect(autocommit=True) as session:
    for _ in range(50):
        session.execute("SELECT count(*) FROM pgbench_branches")
sys.exit(int(sys.argv[1]))
"""
UNDER_OPEN_UMASK = "import os; os.umask(0); from pgassay.entry import main; main()"
ENGINE = 'rate = 100\nwarmup = "0.5s"'


def command(status: int = 0) -> str:
    return f"command = {json.dumps([sys.executable, 'own.py', str(status)])}"


@pytest.fixture
def server(lab_server: LabServer) -> Iterator[LabServer]:
    """Its settings hold a password in several ways."""
    lab_server_holds = (
        f"ALTER SYSTEM SET primary_conninfo = 'host=/nonexistent password={HELD}'",
        f"ALTER SYSTEM SET archive_command = 'curl -u me:{HELD} %p'",
        f"ALTER SYSTEM SET log_line_prefix = 'postgres://me:{HELD}@db/app '",
        "SELECT pg_reload_conf()",
    )
    with lab_server.admin() as session:
        for statement in lab_server_holds:
            session.execute(statement.encode())
    yield lab_server
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")


def by_variable(_: Path, server: LabServer) -> tuple[str, dict[str, str]]:
    return server.place(), {"PGPASSWORD": SECRET}


def by_password_file(folder: Path, server: LabServer) -> tuple[str, dict[str, str]]:
    file = folder / "pgpass"
    file.write_text(f"127.0.0.1:{server.port}:lab:lab:{SECRET}\n")
    file.chmod(0o600)
    return by_variable(folder, server)[0], {"PGPASSFILE": str(file)}


def by_service(folder: Path, server: LabServer) -> tuple[str, dict[str, str]]:
    file = folder / "pg_service.conf"
    file.write_text(
        f"[lab]\nhost=127.0.0.1\nport={server.port}\nuser=lab\ndbname=lab\npassword={SECRET}\n"
    )
    return "service=lab", {"PGSERVICEFILE": str(file)}


def processes() -> set[int]:
    return {int(one.name) for one in os.scandir("/proc") if one.name.isdigit()}


def arguments_of(pids: set[int]) -> bytes:
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes())
    return b"\n".join(found).replace(b"\0", b" ")


def watched(spec: Path, run: Path, environment: dict[str, str]) -> tuple[int, str, list[bytes]]:
    """A run under an open umask, and every argument list of a process that started meanwhile and
    had a secret."""
    leaks, before = [], processes()
    words = ["-c", UNDER_OPEN_UMASK, "run", str(spec), "--out", str(run), "--json"]
    with begin(words, os.environ | environment) as process:
        end = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < end:
            before &= (now := processes())
            arguments = arguments_of(now - before)
            leaks += (
                [arguments] if HELD.encode() in arguments or SECRET.encode() in arguments else []
            )
            time.sleep(0.005)
        process.kill()
        said = "".join(process.communicate())
    return process.wait(), said, leaks


def secrets_in(run: Path) -> list[str]:
    """Files of a run that hold one of the passwords, compressed ones read."""
    found = []
    for path in run.rglob("*"):
        if path.is_dir():
            continue
        text = path.read_bytes()
        if path.suffix == ".parquet":
            text += repr(pq.read_table(path).to_pydict()).encode()
        if any(secret.encode() in text for secret in (SECRET, HELD, SECRET.replace(" ", "%20"))):
            found.append(str(path))
    return found


@pytest.mark.parametrize(
    ("way", "load"),
    [
        (by_password_file, ENGINE),
        (by_service, command()),
    ],
)
def test_a_whole_run_shows_the_password_nowhere(
    tmp_path: Path, server: LabServer, way: object, load: str
) -> None:
    assert callable(way)
    dsn, environment = way(tmp_path, server)
    (tmp_path / "own.py").write_text(INDISCREET)
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(dsn=dsn, load=load))
    run = tmp_path / "run"
    status, said, leaks = watched(spec, run, environment)
    assert status == 0, said
    assert leaks == []
    commands: list[list[str | Path]] = [
        ["show", run],
        ["report", run, "--format", "md"],
        ["plan", spec],
    ]
    for command_line in commands:
        said += (done := pgassay(*command_line, **environment)).stdout + done.stderr
        assert done.returncode == 0, done.stderr
    assert SECRET not in said
    assert HELD not in said
    assert secrets_in(run) == []
    stored = json.loads((run / "environment.json").read_text())["server"]
    settings, every = stored["settings"], stored["every_setting"]
    assert every["primary_conninfo"]["value"] == "(set)"
    assert every["log_line_prefix"]["value"] == "postgres://me:***@db/app "
    assert settings["primary_conninfo"] == settings["archive_command"] == "(set)"
    assert settings["log_line_prefix"] == "postgres://me:***@db/app "
    if load != ENGINE:
        log = (run / "trials/0001/command.log").read_text()
        assert "*** password=*** postgres://lab:***@127.0.0.1/lab" in log
    for path in [run, *run.rglob("*")]:
        tight = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == tight, path


def test_the_output_of_a_failed_command_is_shown_without_the_password(
    tmp_path: Path, server: LabServer
) -> None:
    dsn, environment = by_variable(tmp_path, server)
    (tmp_path / "own.py").write_text(INDISCREET)
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(dsn=dsn, load=command(3)))
    run = tmp_path / "run"
    status, said, _ = watched(spec, run, environment)
    assert status == 2
    assert "exit status 3: ***;" in said
    assert secrets_in(run) == []
    kept = run / "trials/output-0001/own.log"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "value"), [("primary_conninfo", "host=/elsewhere"), ("archive_command", "true")]
)
def test_a_setting_that_may_hold_a_password_is_not_varied(
    server: LabServer, name: str, value: str
) -> None:
    """Its undo would have to stand in the journal."""
    journal = RecordingJournal()
    target = ExistingTarget(server.dsn(), journal, allow_changes=True, accept=["commits"])
    try:
        target.open()
        words = f"{name}: its value in postgresql.auto.conf may hold a password"
        with pytest.raises(SettingRejected, match=words) as refused:
            target.check_settings({name: value})
        assert HELD not in str(refused.value)
        assert journal.changes == []
    finally:
        target.close()


def test_a_password_in_the_value_of_a_setting_that_is_held_reaches_no_file_of_ours(
    tmp_path: Path, server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ALTER SYSTEM the run is refused; in postgresql.conf it may stay while another is held."""
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    dsn, environment = by_variable(tmp_path, server)
    spec = tmp_path / "lab.toml"
    text = SPEC.format(dsn=dsn, load=ENGINE) + "[settings.postgres]\narchive_command = 'true'\n"
    spec.write_text(text.replace("[workload]", "allow_changes = true\n[workload]"))
    refused, run = tmp_path / "refused", tmp_path / "run"
    done = pgassay("run", spec, "--out", refused, "--json", **environment)
    assert done.returncode == 1
    assert "archive_command: its value in postgresql.auto.conf may hold a pass" in done.stderr
    configure(server.cluster, f"archive_command = 'curl -u me:{HELD} %p'\n")
    with server.admin() as session:
        session.execute("ALTER SYSTEM RESET archive_command")
        reload(session)
    status, said, leaks = watched(spec, run, environment | {"XDG_STATE_HOME": str(state)})
    assert status == 0, said
    assert "archive_command" in (run / "journal.jsonl").read_text()
    assert leaks == []
    for words in (done.stdout, done.stderr, said):
        assert HELD not in words
    for place in (refused, run, state):
        assert secrets_in(place) == []
    with server.admin() as session:
        # SHOW says that it is disabled.
        value = "SELECT reset_val FROM pg_settings WHERE name = 'archive_command'"
        row = session.execute(value.encode()).fetchone()
    configure(server.cluster, "archive_command = ''\n")
    assert row == (f"curl -u me:{HELD} %p",)


def test_plan_shows_no_value_that_may_hold_a_secret(tmp_path: Path, server: LabServer) -> None:
    dsn, environment = by_variable(tmp_path, server)
    spec = tmp_path / "lab.toml"
    held = "[settings.postgres]\nprimary_conninfo = 'host=/elsewhere'\nrestore_command = 'true'\n"
    text = SPEC.format(dsn=dsn, load=ENGINE) + held
    spec.write_text(text.replace("[workload]", "allow_changes = true\n[workload]"))
    done = pgassay("plan", spec, **environment)
    assert done.returncode == 1, done.stderr
    assert "restore_command: (set) now, true in the run; reload" in done.stdout
    assert "stops: primary_conninfo: its value in postgresql.auto.conf may" in done.stdout
    assert HELD not in done.stdout
    assert HELD not in pgassay("plan", spec, "--json", **environment).stdout
