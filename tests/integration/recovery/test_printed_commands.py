"""The SQL and the command that an error prints restore the server when a person runs them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.protocol import SchemaVariant, Testbed
from pgassay.server.recovery.recover import recover
from support.runs.targets import existing
from support.servers.accounts import build_few_accounts
from support.servers.debian import BIN, NAME, VERSION, DebianServer, shut_out
from support.servers.existing import die
from support.servers.lab import RecordingJournal

SHELL = " then in a shell: "
PARTS = {"the index": "CREATE INDEX one ON account (i)", "the role": "CREATE ROLE lab_hand"}
UNDO = {"the index": "DROP INDEX one -- for now", "the role": "DROP ROLE lab_hand;"}


pytestmark = pytest.mark.usefixtures("untouched")


def paste(server: DebianServer, text: str) -> None:
    """Into psql, as a person who stops at the first mistake."""
    words: list[str | Path] = [BIN / "psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", server.dsn()]
    done = subprocess.run(words, input=text, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr


@pytest.fixture(params=["sql", "pg_ctlcluster"])
def changed(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> ExistingTarget:
    """A target whose run has changed all that SQL takes back."""
    target = existing(request.param, debian, journal, request)
    target.open()
    target.prepare(build_few_accounts, {"maintenance_work_mem": "33MB"})
    target.vary(SchemaVariant("both", PARTS, UNDO))
    target.choose(Testbed(schema="both"))
    late = {"shared_buffers": "24MB"} if request.param == "pg_ctlcluster" else {}
    target.reset({"work_mem": "9MB"} | late)
    return target


def assert_pasted(server: DebianServer, error: RestoreFailed) -> None:
    """Run what the error says; then all is as it was found."""
    sql, _, command = str(error).partition("run there yourself: ")[2].partition(SHELL)
    paste(server, sql)
    if command:
        assert command == f"pg_ctlcluster {VERSION} {NAME} restart"
        server.ctl("restart")
    with server.admin() as session:
        rows = session.execute(
            "SELECT to_regnamespace('pgassay'), to_regrole('lab_hand'),"
            " current_setting('work_mem'), current_setting('maintenance_work_mem')"
        ).fetchall()
    assert rows == [(None, None, "6MB", "64MB")]


def test_commands_that_a_run_prints_undo_what_it_could_not(
    debian: DebianServer, journal: RecordingJournal, changed: ExistingTarget
) -> None:
    with shut_out(debian), pytest.raises(RestoreFailed) as failed:
        changed.close()
    assert_pasted(debian, failed.value)
    changed.close()
    assert journal.open == []


def test_commands_that_recover_prints_undo_what_it_could_not(
    debian: DebianServer, journal: RecordingJournal, changed: ExistingTarget
) -> None:
    with debian.admin() as session:
        session.execute("CREATE TABLE held (i int); ALTER TABLE held OWNER TO lab_hand")
    die(changed)
    with pytest.raises(RestoreFailed, match="cannot be dropped") as failed:
        recover(debian.dsn(), journal.open, journal, changed._access)
    with debian.admin() as session:
        session.execute("DROP TABLE held")
    assert_pasted(debian, failed.value)
    assert recover(debian.dsn(), journal.open, journal, changed._access) == []
    assert journal.open == []
