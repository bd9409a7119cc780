"""`recover` restores a server whose run was killed, in whatever phase, and brings it up again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.samples.journal import FileJournal, open_changes, run_of
from pgassay.server.recovery.recover import recover
from pgassay.server.undo.change_record import forget_never_made
from support.runs.killed_target import Phase, killed_in
from support.runs.targets import ACCESS, state_of
from support.servers.debian import DebianServer

RECORD = "pgassay.server.undo.change_record:RecordedJournal.record"
JOURNAL = "pgassay.samples.journal:FileJournal.record"
EXECUTE = "pgassay.server.existing.system_settings:execute"
SETTINGS = "pgassay.server.existing.system_settings:SystemSettings"
RESTART = "pgassay.server.service.service:Service.restart"
CLUSTER = "pgassay.server.service.control:DebianCluster.restart"
COMMAND = "pgassay.server.service.control:RestartCommand.restart"
UNIT = "pgassay.server.service.control:SystemdUnit.restart"
DROP = "pgassay.server.data.schema:WorkloadSchema.drop"
AT_THE_END = 3
"""The restart after those of two trials."""

PHASES = {
    "before the first change": Phase(RECORD),
    "recorded, not journaled": Phase(JOURNAL, number=2),
    "journaled, not changed": Phase(EXECUTE, number=2),
    "changed, not restarted": Phase(RESTART),
    "stopped, not started": Phase(CLUSTER, "half-way"),
    "restarted": Phase(RESTART, "after"),
    "in a later trial": Phase(RESTART, "after", 2),
    "restoring": Phase(f"{SETTINGS}.restore"),
    "back in the file, not restarted": Phase(RESTART, number=AT_THE_END),
    "stopped to restore it": Phase(CLUSTER, "half-way", AT_THE_END),
    "restored, not noted": Phase(f"{SETTINGS}._confirm_restored"),
    "settings restored, data still there": Phase(DROP),
}
EVERY_TIME = (
    "recorded, not journaled",
    "journaled, not changed",
    "stopped, not started",
    "stopped to restore it",
    "settings restored, data still there",
)
"""One of each thing that may be left half done."""
OTHER_KINDS = [
    pytest.param("ssh", PHASES["stopped, not started"], id="ssh"),
    pytest.param("command", Phase(COMMAND, "half-way"), id="command"),
    pytest.param("sql", Phase(EXECUTE, "after", 3), id="sql"),
    *(
        pytest.param("ssh", PHASES[name], id=f"ssh, {name}", marks=pytest.mark.heavy)
        for name in PHASES
    ),
]


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        *(
            pytest.param(
                "pg_ctlcluster",
                PHASES[name],
                id=name,
                marks=() if name in EVERY_TIME else pytest.mark.heavy,
            )
            for name in PHASES
        ),
        *OTHER_KINDS,
    ],
)
@pytest.mark.usefixtures("untouched")
def test_recover_restores_a_server_whose_run_was_killed(
    debian: DebianServer,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    kind: str,
    phase: Phase,
) -> None:
    if kind == "ssh":
        request.getfixturevalue("ssh_config")
    before = state_of(debian)
    journal = tmp_path / "killed" / "journal.jsonl"
    killed_in(phase, kind, debian, journal)
    changes = open_changes(journal)
    forget_never_made(run_of(journal), {change.id for change in changes})
    assert recover(debian.dsn(), changes, FileJournal(journal), ACCESS[kind]) == []
    assert open_changes(journal) == []
    assert debian.is_up()
    assert state_of(debian) == before
    assert list((tmp_path / "state" / "pgassay" / "servers").glob("*.json")) == []
