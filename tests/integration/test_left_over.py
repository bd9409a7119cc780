"""What a killed run left on an existing server is undone by the next, whatever its directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import TargetError
from pgassay.spec.reset import EXISTING_RULE, ResetLevel, ResetRule
from pgassay.target import schema, server_memory
from pgassay.target.existing import ExistingTarget
from pgassay.target.protocol import Connection
from pgassay.target.recover import recover
from support.broken_runs import spec_file, watched
from support.command import pgassay
from support.servers import SECRET, LabServer, RecordingJournal


def build(session: Connection) -> None:
    session.execute("CREATE TABLE account (id int)")


def scalar(server: LabServer, query: str) -> Any:
    with server.admin() as session:
        row = session.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This test's own; a run of "another machine" has none in it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pgassay" / "servers"


@pytest.fixture
def server(lab_server: LabServer, memory: Path) -> Iterator[LabServer]:
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    yield lab_server
    databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'pgassay%'"
    left = scalar(lab_server, databases)
    written = scalar(
        lab_server,
        "SELECT array_agg(name || '=' || setting) FROM pg_file_settings"
        " WHERE sourcefile ~ 'auto.conf$'",
    )
    schema_left = scalar(lab_server, "SELECT to_regnamespace('pgassay')")
    with lab_server.admin() as session:
        session.execute("DROP SCHEMA IF EXISTS pgassay CASCADE")
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")
    assert (left, written, schema_left) == (0, ["work_mem=6MB"], None)
    assert list(memory.glob("*")) == []


def opened(server: LabServer, rule: ResetRule, dbname: str = "lab") -> ExistingTarget:
    target = ExistingTarget(
        server.dsn(dbname=dbname),
        RecordingJournal(),
        allow_changes=True,
        accept=["commits"],
        rule=rule,
    )
    target.open()
    return target


def killed(server: LabServer, rule: ResetRule = EXISTING_RULE) -> None:
    """A run that changes a setting and makes its data, and is then no more."""
    target = opened(server, rule)
    target.prepare(build, {"work_mem": "8MB"})
    target.reset({"work_mem": "16MB"})
    assert target._control is not None
    target._control.close()


@pytest.mark.parametrize("level", ["vacuum", "template"])
@pytest.mark.parametrize("dbname", ["lab", "other"])
def test_the_next_run_undoes_it_before_it_looks_at_what_it_finds(
    server: LabServer, memory: Path, level: str, dbname: str
) -> None:
    killed(server, ResetRule(ResetLevel(level)))
    (file,) = memory.glob("*.json")
    assert file.stem.isdigit()
    assert file.stat().st_mode & 0o077 == 0
    assert scalar(server, "SHOW work_mem") == "16MB"
    with closing(opened(server, EXISTING_RULE, dbname)) as target:
        assert scalar(server, "SHOW work_mem") == "6MB"
        assert list(memory.glob("*")) == []
        target.prepare(build, {})
        assert target.reset({"work_mem": "9MB"}).notes == ()


def test_what_somebody_has_changed_since_is_left_and_told(server: LabServer) -> None:
    killed(server)
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '12MB'")
        session.execute("SELECT pg_reload_conf()")
    with closing(opened(server, EXISTING_RULE)) as target:
        target.prepare(build, {})
        (note,) = target.reset({}).notes
        assert note.startswith("work_mem is 12MB now, which this run did not write")
    assert scalar(server, "SHOW work_mem") == "12MB"
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")


def test_recover_forgets_it_and_plan_tells_of_it(server: LabServer, tmp_path: Path) -> None:
    target = opened(server, EXISTING_RULE)
    journal = target._journal._journal
    assert isinstance(journal, RecordingJournal)
    target.prepare(build, {"work_mem": "8MB"})
    assert target._control is not None
    target._control.close()
    where = f"[target]\ndsn = 'host=127.0.0.1 port={server.port} user=lab dbname=lab'\n"
    shown = pgassay("plan", spec_file(tmp_path, target=where + "allow_changes = true"),
                    PGPASSWORD=SECRET).stdout  # fmt: skip
    assert "undo what a killed run left: setting work_mem" in " ".join(shown.split())
    assert "reload would bring" not in shown
    recover(server.dsn(), journal.open, journal)
    assert journal.open == []


def test_a_run_of_another_machine_that_died_stops_one_that_changes_settings(
    server: LabServer, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = opened(server, EXISTING_RULE)
    journal = target._journal._journal
    assert isinstance(journal, RecordingJournal)
    target.prepare(build, {"work_mem": "8MB"})
    assert target._control is not None
    target._control.close()
    (file,) = memory.glob("*.json")
    away = file.rename(memory.parent / "on-the-other-machine")
    monkeypatch.setattr(schema, "this_machine", lambda: "db-lab-7")
    here = ExistingTarget(server.dsn(), RecordingJournal(), allow_changes=True, accept=["commits"])
    with closing(here), pytest.raises(TargetError, match="died has left its schema here"):
        here.open()
    reader = ExistingTarget(server.dsn(), RecordingJournal(), accept=["commits"])
    with closing(reader):
        reader.open()
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(memory.parent.parent))
    away.rename(file)
    recover(server.dsn(), journal.open, journal)


def test_a_memory_that_cannot_be_read_stops_the_run(server: LabServer, memory: Path) -> None:
    killed(server)
    (file,) = memory.glob("*.json")
    whole = file.read_text()
    file.write_text("{")
    target = ExistingTarget(server.dsn(), RecordingJournal(), allow_changes=True)
    with closing(target), pytest.raises(Exception, match="cannot be read"):
        target.open()
    file.write_text(whole)
    changes = server_memory.remembered(json.loads(whole)["server"])
    assert [change.setting for change in changes] == ["", "work_mem", "work_mem"]
    opened(server, EXISTING_RULE).close()


def test_a_run_after_one_that_was_killed_leaves_the_server_as_the_first_found_it(
    tmp_path: Path, server: LabServer
) -> None:
    where = f"[target]\ndsn = 'host=127.0.0.1 port={server.port} user=lab dbname=lab'\n"
    spec = spec_file(tmp_path, target=where + "allow_changes = true\naccept = ['commits']")
    with watched(tmp_path / "first", spec, PGPASSWORD=SECRET) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    done = pgassay("run", spec, "--out", tmp_path / "second", "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    assert scalar(server, "SHOW work_mem") == "6MB"
    late = pgassay("recover", tmp_path / "first", PGPASSWORD=SECRET)
    assert late.returncode == 0, late.stderr
    assert scalar(server, "SHOW work_mem") == "6MB"


def test_a_change_that_was_recorded_and_never_made_does_not_hide_the_one_before(
    server: LabServer, memory: Path
) -> None:
    killed(server)
    (file,) = memory.glob("*.json")
    kept = json.loads(file.read_text())
    (made,) = [one for one in kept["changes"] if one["value"] == "16MB"]
    kept["changes"].append({**made, "id": "later", "value": "32MB"})
    file.write_text(json.dumps(kept))
    with closing(opened(server, EXISTING_RULE)) as target:
        assert scalar(server, "SHOW work_mem") == "6MB"
        target.prepare(build, {})
        assert target.reset({}).notes == ()
