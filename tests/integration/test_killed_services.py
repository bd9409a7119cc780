"""SIGKILL to the tool at every phase of a run that restarts somebody's server, here and over ssh:
the server is up as it was found, finished trials are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.broken_runs import LOAD, WARM_UP, WatchedRun, spec_file
from support.deaths import (
    At,
    Phase,
    after_a_trial,
    die_and_mend,
    when_said,
    when_storing,
)
from support.existing_runs import COPIES, as_found, target_of
from support.services import DebianServer

RECORD = "pgassay.target.server_memory:RememberedJournal.record"
JOURNAL = "pgassay.samples.journal:FileJournal.record"
EXECUTE = "pgassay.target.alter_system:execute"
SETTINGS = "pgassay.target.alter_system:SystemSettings"
SERVICE = "pgassay.target.service:Service"
CONTROL = "pgassay.target.service_control:DebianCluster"
AT_THE_END = 5
"""The restart after those of four trials."""


def when_down(tool: WatchedRun, data: Path) -> None:
    """In a restart of a later trial, whose command then goes on without the tool."""
    after_a_trial(tool)
    tool.wait_for(lambda: not (data / "postmaster.pid").exists(), "a restart")


PHASES: dict[str, Phase] = {
    "before the first change": At(RECORD),
    "remembered, not journaled": At(JOURNAL),
    "journaled, not changed": At(EXECUTE),
    "journaled for a restart, not changed": At(EXECUTE, number=2),
    "changed, not restarted": At(f"{SERVICE}.restart"),
    "stopped, not started": At(f"{CONTROL}.restart", "half-way"),
    "a restart under way": when_down,
    "restarted": At(f"{SERVICE}.restart", "after"),
    "warm-up": when_said(WARM_UP, later=True),
    "load": when_said(LOAD, later=True),
    "storing": when_storing,
    "restoring": At(f"{SETTINGS}.restore"),
    "back in the file": At(f"{SERVICE}.restart", number=AT_THE_END),
    "stopped to be as found": At(f"{CONTROL}.restart", "half-way", AT_THE_END),
    "restored, not said": At(f"{SETTINGS}._see_restored"),
}
ON_COPIES: dict[str, Phase] = {
    "changed, not restarted": At(f"{SERVICE}.restart"),
    "stopped, not started": At(f"{CONTROL}.restart", "half-way"),
    "load": when_said(LOAD, later=True),
    "storing": when_storing,
    "restoring": when_said("restoring the server"),
}
LOCAL, SSH, COPIED = "pg_ctlcluster", "ssh", f"pg_ctlcluster{COPIES}"
FOLLOWED = (
    "remembered, not journaled",
    "changed, not restarted",
    "stopped, not started",
    "a restart under way",
    "load",
    "stopped to be as found",
)
"""By the next run too; the others are alike to one of these for whoever comes after."""
DEATHS = [
    *((LOCAL, phase, "recover") for phase in PHASES),
    *((LOCAL, phase, "next run") for phase in FOLLOWED),
    *((SSH, phase, "recover") for phase in PHASES),
    *((SSH, phase, "next run") for phase in ("stopped, not started", "load")),
    *((COPIED, phase, "recover") for phase in ON_COPIES),
    (COPIED, "load", "next run"),
]


@contextmanager
def restarted(kind: str, server: DebianServer, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A spec whose trials begin with a restart; afterwards nothing of it is in force."""
    held = "[settings.postgres]\nmaintenance_work_mem = '32MB'\n[factors.postgres]"
    with as_found(kind, server, request, factor='shared_buffers = ["16MB", "24MB"]') as spec:
        spec.write_text(spec.read_text().replace("[factors.postgres]", held))
        before = in_force(server)
        yield spec
    assert in_force(server) == before


def without_restarts(kind: str, server: DebianServer, folder: Path) -> Path:
    """The spec of a short run by the same way, whose own trials leave the server up."""
    (folder / "next").mkdir()
    target = target_of(kind.removesuffix(COPIES), server)
    return spec_file(folder / "next", target=target, step="0.2s")


def in_force(server: DebianServer) -> object:
    with server.admin() as session:
        return session.execute(
            "SELECT name, setting, source, pending_restart FROM pg_settings WHERE name IN"
            " ('shared_buffers', 'maintenance_work_mem', 'work_mem') ORDER BY 1"
        ).fetchall()


@pytest.mark.parametrize(("kind", "phase", "then"), DEATHS)
def test_a_server_that_a_run_restarts_is_as_it_was_after_the_death_of_the_tool(
    tmp_path: Path,
    debian: DebianServer,
    request: pytest.FixtureRequest,
    kind: str,
    phase: str,
    then: str,
) -> None:
    waits = (ON_COPIES if kind.endswith(COPIES) else PHASES)[phase]
    with restarted(kind, debian, request) as spec:
        next_run = without_restarts(kind, debian, tmp_path)
        after = next_run if then == "next run" else then
        die_and_mend(tmp_path / "run", spec, debian.data, (phase, waits), after)
