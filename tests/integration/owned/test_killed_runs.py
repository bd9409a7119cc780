"""A run that was killed is recovered or resumed: servers as found, finished trials kept.

A few phases stand for all here; the other ones are heavy. `recover` at every phase of a change to
an existing server is proved in service/test_killed_at_each_phase.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from pgassay.server.owned.installation import Installation
from pgassay.server.owned.postmaster import end_programs
from support.runs.broken import (
    LOAD,
    RESET,
    WARM_UP,
    WatchedRun,
    assert_no_server_left,
    assert_nothing_open,
    prints_of,
    spec_file,
    watched,
)
from support.runs.command import pgassay
from support.runs.killed_at_phase import (
    Phase,
    after_a_trial,
    assert_resumed_to_the_end,
    kill_and_repair,
    killed,
    when_journaled,
    when_said,
    when_storing,
)
from support.servers.lab import SECRET, LabServer, installation_named, wait_until


@pytest.fixture(scope="module")
def server_installation() -> Installation:
    """One PostgreSQL is enough for what the tool does about its own death."""
    return installation_named("embedded-18")


def when_there(pattern: str) -> Phase:
    """A file or directory of the owned server."""

    def wait(tool: WatchedRun, base: Path) -> None:
        tool.wait_for(lambda: any(base.glob(pattern)), pattern)

    return wait


def when_starting_with_other_settings(tool: WatchedRun, base: Path) -> None:
    def data() -> Path:
        return next(base.glob("run-*")) / "data"

    def configured() -> bool:
        try:
            thawed = data().stat().st_ino != before
            return thawed and "work_mem" in (data() / "postgresql.auto.conf").read_text()
        except OSError:
            return False

    tool.wait_for(lambda: tool.says("warm-up, "), "the first load")
    before = data().stat().st_ino
    after_a_trial(tool)
    tool.wait_for(configured, "the next arm's settings")


OWNED: dict[str, Phase] = {
    "opening": when_journaled('"owned server"'),
    "making the cluster": when_there("run-*/data/global"),
    "building": when_said("building payments-write"),
    "freezing": when_there("run-*/snapshot/base"),
    "resetting": when_said(RESET, later=True),
    "starting with other settings": when_starting_with_other_settings,
    "warm-up": when_said(WARM_UP, later=True),
    "load": when_said(LOAD, later=True),
    "storing": when_storing,
    "restoring": when_said("restoring the server"),
    "analysing": when_said("writing the report"),
}
EXISTING: dict[str, Phase] = {
    "opening": when_said("connecting to the server"),
    "changing a held setting": when_journaled('"maintenance_work_mem"'),
    "building": when_journaled('"kind": "schema"'),
    "resetting": when_said(RESET, later=True),
    "changing a setting": when_journaled('"work_mem"'),
    "warm-up": when_said(WARM_UP, later=True),
    "load": when_said(LOAD, later=True),
    "storing": when_storing,
    "restoring": when_said("restoring the server"),
    "analysing": when_said("writing the report"),
}
VARYING: dict[str, Phase] = {
    "trying the variant": when_said("making extra = table"),
    "making the variant": when_journaled('"kind": "variant"'),
    "load": when_said(LOAD, later=True),
}


def phases_and_ends(
    phases: Iterable[str], light: Collection[tuple[str, str]]
) -> list[ParameterSet]:
    """Every phase with every end; all but the `light` ones are heavy."""
    return [
        pytest.param(*pair, marks=() if pair in light else pytest.mark.heavy)
        for pair in product(phases, ("recover", "resume"))
    ]


EXTRA = """
[factors.schema.extra]
none = ""
[factors.schema.extra.table]
sql = "SELECT pg_sleep(1); CREATE TABLE public.extra (i int)"
undo = "DROP TABLE public.extra"
"""


@pytest.mark.parametrize(
    ("phase", "then"),
    phases_and_ends(
        OWNED,
        [
            ("making the cluster", "recover"),
            ("starting with other settings", "resume"),
            ("load", "recover"),
        ],
    ),
)
def test_nothing_is_left_of_an_owned_server_whose_run_was_killed(
    tmp_path: Path, own_base: Path, phase: str, then: str
) -> None:
    run = tmp_path / "run"
    with watched(run, spec_file(tmp_path)) as tool:
        kept = killed(tool, own_base, phase, OWNED[phase])
    if then == "recover":
        done = pgassay("recover", run)
        assert done.returncode == 0, done.stderr
        assert prints_of(run, tool.finished()) == kept
        assert_nothing_open(run)
        assert "nothing to undo" in pgassay("recover", run).stdout
    else:
        assert_resumed_to_the_end(run, kept)
    assert_no_server_left(own_base)


def test_programs_that_a_killed_run_had_called_are_ended_and_no_others(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "run-1", tmp_path / "run-12"
    for folder in (ours, theirs):
        folder.mkdir()
    commands = [subprocess.Popen(["tee", f / "log"], stdin=subprocess.PIPE) for f in (ours, theirs)]
    try:
        for folder in (ours, theirs):
            wait_until((folder / "log").exists, "the program")
        end_programs(ours, os.geteuid())
        assert commands[0].wait(timeout=20) == -signal.SIGKILL
        assert commands[1].poll() is None
    finally:
        for command in commands:
            command.kill()
            command.communicate()


@pytest.fixture
def found(lab_server: LabServer) -> Iterator[Path]:
    """postgresql.auto.conf with a line of somebody else's for the setting that is varied."""
    path = lab_server.cluster.workspace.data / "postgresql.auto.conf"
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET log_min_duration_statement = '10min'")
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = path.read_bytes()
    yield path
    with lab_server.admin() as session:
        here = session.execute("SELECT to_regnamespace('pgassay')").fetchone()
        in_force = session.execute("SHOW work_mem").fetchone()
    assert path.read_bytes() == before
    assert (here, in_force) == ((None,), ("6MB",))


def lab_target(server: LabServer) -> str:
    return server.target(
        "allow_changes = true", "[settings.postgres]", "maintenance_work_mem = '32MB'"
    )


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize(
    ("phase", "then"),
    phases_and_ends(EXISTING, [("changing a setting", "recover"), ("storing", "resume")]),
)
def test_an_existing_server_is_as_found_after_a_killed_run(
    tmp_path: Path, lab_server: LabServer, own_base: Path, phase: str, then: str
) -> None:
    spec = spec_file(tmp_path, target=lab_target(lab_server))
    kill_and_repair(
        tmp_path / "run", spec, own_base, (phase, EXISTING[phase]), then, PGPASSWORD=SECRET
    )


@pytest.fixture
def without_extra(lab_server: LabServer) -> Iterator[None]:
    yield
    with lab_server.admin() as session:
        left = session.execute("SELECT to_regclass('public.extra')").fetchone()
    assert left == (None,)


@pytest.mark.usefixtures("found", "without_extra")
@pytest.mark.parametrize(
    ("phase", "then"), phases_and_ends(VARYING, [("making the variant", "recover")])
)
def test_a_variant_of_the_schema_is_gone_after_a_killed_run(
    tmp_path: Path, lab_server: LabServer, own_base: Path, phase: str, then: str
) -> None:
    spec = spec_file(tmp_path, target=lab_target(lab_server), factor=EXTRA)
    kill_and_repair(
        tmp_path / "run", spec, own_base, (phase, VARYING[phase]), then, PGPASSWORD=SECRET
    )
