"""Edits of files that nobody has loaded stop a run, which does not load them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.existing.access import Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.settings.pending_changes import PendingChanges
from pgassay.server.settings.statements import reload
from support.runs.broken import spec_file
from support.runs.command import pgassay
from support.servers.existing import nothing
from support.servers.lab import LabServer, RecordingJournal

EDITS: dict[str, tuple[str, str, str]] = {
    "a setting": (
        "postgresql.conf",
        "work_mem = 7MB\n",
        r"nobody has loaded yet: .*/postgresql.conf edited since the last load;"
        r" SELECT pg_reload_conf\(\) first",
    ),
    "who is let in": (
        "pg_hba.conf",
        "# host all all 10.0.0.0/8 trust\n",
        r"nobody has loaded yet: .*/pg_hba.conf edited since the last load; SELECT",
    ),
    "a mistake": (
        "postgresql.conf",
        "work_mem = 7MB extra\n",
        r"the server cannot load its files: .*/postgresql.conf line \d+: syntax error; correct",
    ),
    "a wrong value": (
        "postgresql.conf",
        "work_mem = 7parsecs\n",
        r"cannot load its files: .*/postgresql.conf line \d+: work_mem: setting could not be app",
    ),
    "a mistake in who is let in": (
        "pg_hba.conf",
        "host all all 10.0.0.0 nonsense\n",
        r"the server cannot load its files: .*/pg_hba.conf line \d+: ",
    ),
}


SET = "work_mem = 7MB\n"


@pytest.fixture
def edited(lab_server: LabServer) -> Iterator[Callable[[str, str], None]]:
    """Appends lines to a file of the server, in a later second than that of its last load."""
    data = lab_server.cluster.workspace.data
    texts: dict[Path, str] = {}

    def edit(name: str, lines: str) -> None:
        file = data / name
        texts.setdefault(file, file.read_text())
        with lab_server.admin() as session:
            # The clock that files are stamped with is a few milliseconds behind.
            later = "date_trunc('second', pg_conf_load_time()) + '1.1 s'"
            query = f"SELECT clock_timestamp() >= {later}"
            while session.execute(query.encode()).fetchone() != (True,):
                pass
        with file.open("a") as out:
            out.write(lines)

    yield edit
    for file, text in texts.items():
        with file.open("w") as out:
            out.write(text)
    with lab_server.admin() as session:
        reload(session)


@pytest.mark.parametrize("what", EDITS)
def test_edits_that_nobody_has_loaded_stop_a_run_before_it_changes_a_setting(
    lab_server: LabServer,
    journal: RecordingJournal,
    tmp_path: Path,
    edited: Callable[[str, str], None],
    what: str,
) -> None:
    name, lines, words = EDITS[what]
    edited(name, lines)
    target = ExistingTarget(lab_server.dsn(), journal, allow_changes=True, accept=["commits"])
    with closing(target):
        target.open()
        with pytest.raises(PendingChanges, match=words):
            target.check_settings({"maintenance_work_mem": "65MB"})
        assert journal.changes == []
        where = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits', 'sessions']\n"
        spec = spec_file(tmp_path, target=where)
        shown = pgassay("plan", spec, **lab_server.variables(), COLUMNS="500").stdout
        assert "stops: " in shown
        # A run that changes none may reload nothing.
        target.prepare(nothing, {})


def test_loaded_edits_do_not_stop_a_run(
    lab_server: LabServer, journal: RecordingJournal, edited: Callable[[str, str], None]
) -> None:
    for file, lines in (
        ("pgassay.conf", "DateStyle = 'sql, european'\n"),
        ("postgresql.conf", SET),
    ):
        edited(file, lines)
        with lab_server.admin() as session:
            reload(session)
    target = ExistingTarget(lab_server.dsn(), journal, allow_changes=True, accept=["commits"])
    with closing(target):
        target.open()
        target.prepare(nothing, {"maintenance_work_mem": "65MB"})
        target.reset({"work_mem": "8MB"})


def test_a_mistake_made_during_a_run_is_reported_at_its_end_as_not_restored(
    lab_server: LabServer, journal: RecordingJournal, edited: Callable[[str, str], None]
) -> None:
    target = ExistingTarget(lab_server.dsn(), journal, allow_changes=True, accept=["commits"])
    target.open()
    target.prepare(nothing, {"work_mem": "8MB"})
    file = lab_server.cluster.workspace.data / "postgresql.conf"
    text = file.read_text()
    edited("postgresql.conf", "nonsense here\n")
    with pytest.raises(
        RestoreFailed, match="work_mem is back in the file and comes into force"
    ) as it:
        target.close()
    assert "the server did not reload its files" in str(it.value)
    assert "postgresql.conf line" in str(it.value)
    assert [change.what.split()[1] for change in journal.open] == ["work_mem"]
    with file.open("w") as out:
        out.write(text)
    target.close()
    assert journal.open == []
    with lab_server.admin() as session:
        assert session.execute("SHOW work_mem").fetchone() == ("4MB",)


def test_a_user_who_may_not_read_the_files_may_run(
    lab_server: LabServer, journal: RecordingJournal, edited: Callable[[str, str], None]
) -> None:
    edited("postgresql.conf", "work_mem = 7MB\n")
    with lab_server.admin() as session:
        session.execute("ALTER ROLE lab NOSUPERUSER")
    access = Access(settings_at="role")
    try:
        for user in ("plain", "lab"):
            target = ExistingTarget(
                lab_server.dsn(user=user), journal, allow_changes=True, accept=["commits"],
                access=access,
            )  # fmt: skip
            with closing(target):
                target.open()
                target.check_settings({"maintenance_work_mem": "65MB"})
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER ROLE lab SUPERUSER")
    assert issubclass(PendingChanges, TargetError)
