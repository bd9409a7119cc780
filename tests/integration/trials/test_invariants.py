"""Trials disturbed on purpose: found out, run once more, kept out of the answer."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay.plan.model import PlannedTrial
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.local import HERE
from pgassay.spec.parse import load_spec
from pgassay.trials.guards.fingerprint import take_fingerprint
from pgassay.trials.host.processes import read_processes
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.workflows.pipeline import run_experiment
from pgassay.workflows.reporting import Outcome
from support.servers.lab import LabServer, RecordingJournal

SPEC = """
question = "Is it left alone?"
[workload]
use = "payments-write"
scale = 1
{target}
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = 2
rate = 200
step = "{step}"
warmup = "0.5s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""
BURN = "DO $$ BEGIN LOOP PERFORM count(*) FROM generate_series(1, 10000); END LOOP; END $$"


@dataclass
class Meddler(ProgressListener):
    """Does something to the server once while the load of a chosen trial is measured."""

    acts: Mapping[int, Callable[[], None]]
    warnings: list[str] = field(default_factory=list)
    trials: list[PlannedTrial] = field(default_factory=list)
    _next: Callable[[], None] | None = None

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        self.trials.append(trial)
        self._next = self.acts.get(trial.number)

    def loading(self, progress: Mapping[str, Any], live: LiveFigures | None = None) -> None:
        if self._next is not None and progress["measured"]:
            act, self._next = self._next, None
            act()

    def warned(self, text: str) -> None:
        self.warnings.append(text)


def sockets_below(base: Path) -> str:
    """The directory of the one server's socket under a folder."""
    (socket,) = base.rglob(".s.PGSQL.[0-9]*[0-9]")
    return str(socket)


@contextmanager
def stranger(base: Path) -> Iterator[psycopg.Connection[Any]]:
    """A session on the embedded server that is not pgassay's."""
    socket = Path(sockets_below(base))
    session = psycopg.connect(
        host=str(socket.parent), port=socket.suffix[1:], user="postgres", dbname="postgres",
        autocommit=True, application_name="stranger",
    )  # fmt: skip
    with session:
        yield session


def experiment(
    folder: Path, listener: Meddler, *, target: str = "", step: str = "800ms"
) -> tuple[Outcome, dict[int, Any]]:
    """Run it; the outcome, and every trial.json by its number."""
    path = folder / "lab.toml"
    path.write_text(SPEC.format(target=target, step=step))
    outcome = run_experiment(load_spec(path), RunDirectory.create(folder / "run"), listener)
    files = (trial.folder / "trial.json" for trial in outcome.directory.trials())
    stored = [json.loads(file.read_text()) for file in files]
    return outcome, {trial["number"]: trial for trial in stored}


def test_a_disturbed_trial_does_not_count_and_is_run_once_more(
    tmp_path: Path, own_base: Path
) -> None:
    burning = []

    def change_a_setting() -> None:
        with stranger(own_base) as session:
            session.execute("ALTER SYSTEM SET random_page_cost = 7")
            session.execute("SELECT pg_reload_conf()")

    def force_a_checkpoint() -> None:
        with stranger(own_base) as session:
            session.execute("CHECKPOINT")

    def use_the_server() -> None:
        def burn() -> None:
            with contextlib.suppress(psycopg.Error), stranger(own_base) as session:
                session.execute(BURN)

        burning.append(threading.Thread(target=burn))
        burning[-1].start()

    # Trials 5 to 7 are the repeats of 1 to 3.
    acts = {1: change_a_setting, 2: force_a_checkpoint, 3: use_the_server, 7: use_the_server}
    listener = Meddler(acts)
    try:
        outcome, trials = experiment(tmp_path, listener, step="1s")
    finally:
        for thread in burning:
            thread.join(timeout=30)
    assert [trial.number for trial in listener.trials] == [1, 2, 5, 6, 3, 4, 7]
    assert [n for n, trial in trials.items() if not trial["validity"]["valid"]] == [1, 2, 3, 7]
    changed = {"changes": ["random_page_cost 4 → 7"]}
    assert trials[1]["validity"]["notes"] == [{"code": "trials/guards/settings", "values": changed}]
    assert trials[1]["fingerprint"]["after"]["settings"] == {"random_page_cost": "7"}
    assert codes_of(trials[2]) == ["trials/guards/forced-checkpoint"]
    for number in (3, 7):
        assert codes_of(trials[number]) == ["trials/guards/foreign-sessions"]
        assert trials[number]["fingerprint"]["after"]["foreign_active"] == 1
    again = trials[5]
    assert (again["repeats"], again["arm"], again["block"]) == (1, trials[1]["arm"], 1)
    assert again["position"] == 3
    for number in (4, 5, 6):
        assert_undisturbed(trials[number])
    analysis = outcome.context.analysis
    assert (analysis.answer.blocks, len(analysis.answer.trials)) == (1, 3)
    assert {caveat.kind for caveat in analysis.warnings} >= {"invalid-trial", "incomplete-block"}
    assert [trial.number for trial in analysis.answer.invalid_trials] == [1, 2, 3, 7]
    assert "does not count either" in outcome.report.read_text()
    assert any("is run again" in text for text in listener.warnings)
    assert any("stays incomplete" in text for text in listener.warnings)


def codes_of(trial: Mapping[str, Any]) -> list[str]:
    """Why it does not count."""
    return [note["code"] for note in trial["validity"]["notes"]]


def assert_undisturbed(trial: Mapping[str, Any]) -> None:
    """A valid trial: its fingerprint has the arm's settings, and none that changed."""
    assert trial["validity"] == {"valid": True, "reasons": [], "notes": []}
    before, after = (trial["fingerprint"][at] for at in ("before", "after"))
    assert before["settings"]["fsync"] in ("on", "off")
    assert before["settings"]["synchronous_commit"] == trial["levels"]["synchronous_commit"]
    assert "primary_conninfo" not in before["settings"]
    assert after["settings"] == {}
    assert after["database_bytes"] > 10**6
    processors = trial["fingerprint"]["processors"]
    assert 0 < processors["server_s"] <= processors["all_s"]
    assert 0 < processors["client_s"] <= processors["all_s"]


def test_an_existing_server_is_guarded_and_its_fingerprint_holds_no_password(
    tmp_path: Path, lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "s3cret word")

    def meddle() -> None:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM SET random_page_cost = 7")
            session.execute("SELECT pg_reload_conf()")

    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET primary_conninfo = 'host=db password=hidden'")
        session.execute("SELECT pg_reload_conf()")
    try:
        target = lab_server.target("allow_changes = true")
        _, trials = experiment(tmp_path, Meddler({1: meddle}), target=target)
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET ALL")
            session.execute("SELECT pg_reload_conf()")
    assert [n for n, trial in trials.items() if not trial["validity"]["valid"]] == [1]
    assert codes_of(trials[1]) == ["trials/guards/settings"]
    assert "hidden" not in json.dumps(trials)
    assert "primary_conninfo" not in trials[1]["fingerprint"]["before"]["settings"]


def test_an_unprivileged_user_gets_a_fingerprint_and_a_superusers_counts_other_sessions(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    fingerprints = {}
    with lab_server.admin() as session:
        session.execute("SET application_name = 'psql'")
        for user in ("plain", "lab"):
            target = ExistingTarget(lab_server.dsn(user), journal)
            try:
                fingerprints[user] = take_fingerprint(target, target.open())
            finally:
                target.close()
    assert fingerprints["lab"].foreign_sessions == 1
    assert fingerprints["plain"].foreign_sessions <= 1
    assert fingerprints["plain"].settings["work_mem"] == fingerprints["lab"].settings["work_mem"]
    for fingerprint in fingerprints.values():
        assert fingerprint.started_at_s == fingerprints["lab"].started_at_s
        assert fingerprint.foreign_active == fingerprint.base_backups == 0
        assert fingerprint.host is not None
        seen = read_processes(HERE)
        assert seen is not None
        assert fingerprint.postmaster in seen.processes
