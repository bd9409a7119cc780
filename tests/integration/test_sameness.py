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

from pgassay.pipeline import Outcome, run_experiment
from pgassay.plan.model import PlannedTrial
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import load_spec
from pgassay.target.existing import ExistingTarget
from pgassay.target.local_host import HERE
from pgassay.trials.fingerprint import take_fingerprint
from pgassay.trials.glance import Seen
from pgassay.trials.host_look import look_at
from pgassay.trials.observer import SilentObserver
from pgassay.trials.processor_times import processor_times
from support.servers import LabServer, RecordingJournal

SPEC = """
question = "Is it left alone?"
[workload]
use = "bank-write"
scale = 1
{target}
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = 2
step = "{step}"
warmup = "0.5s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""
BURN = "DO $$ BEGIN LOOP PERFORM count(*) FROM generate_series(1, 10000); END LOOP; END $$"


@dataclass
class Meddler(SilentObserver):
    """Does something once to the server while the load of chosen trials is measured."""

    act: Callable[[], None]
    in_trials: set[int]
    warnings: list[str] = field(default_factory=list)
    trials: list[PlannedTrial] = field(default_factory=list)
    _waiting: bool = False

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        self.trials.append(trial)
        self._waiting = trial.number in self.in_trials

    def loading(self, progress: Mapping[str, Any], seen: Seen | None = None) -> None:
        if self._waiting and progress["measured"]:
            self._waiting = False
            self.act()

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
    folder: Path, observer: Meddler, *, target: str = "", step: str = "1500ms"
) -> tuple[Outcome, dict[int, Any]]:
    """Run it; the outcome, and every trial.json by its number."""
    path = folder / "lab.toml"
    path.write_text(SPEC.format(target=target, step=step))
    outcome = run_experiment(load_spec(path), RunDirectory.create(folder / "run"), observer)
    stored = [trial.summary() for trial in outcome.run.trials()]
    return outcome, {trial["number"]: trial for trial in stored}


def nothing() -> None:
    return None


def test_a_trial_left_alone_is_valid_and_not_run_again(tmp_path: Path, own_base: Path) -> None:
    outcome, trials = experiment(tmp_path, Meddler(nothing, set()))
    assert list(trials) == [1, 2, 3, 4]
    for trial in trials.values():
        assert trial["validity"] == {"valid": True, "reasons": []}
        assert trial["repeats"] is None
        before, after = (trial["fingerprint"][at] for at in ("before", "after"))
        assert before["settings"]["fsync"] in ("on", "off")
        assert before["settings"]["synchronous_commit"] == trial["levels"]["synchronous_commit"]
        assert "primary_conninfo" not in before["settings"]
        assert after["settings"] == {}
        assert after["database_bytes"] > 10**6
        processors = trial["fingerprint"]["processors"]
        assert 0 < processors["server_s"] <= processors["all_s"]
        assert 0 < processors["client_s"] <= processors["all_s"]
    analysis = outcome.context.analysis
    assert analysis.blocks == 2
    assert analysis.invalid_trials == ()
    # Tests of the host's knobs may run at the same time; they are the host's drift, not ours.
    drift = [doubt.text for doubt in analysis.warnings if doubt.kind == "drift"]
    assert [text for text in drift if not text.startswith(("vm.", "transparent_"))] == []


def test_a_setting_changed_by_another_session_costs_the_trial_and_it_is_run_again(
    tmp_path: Path, own_base: Path
) -> None:
    def meddle() -> None:
        with stranger(own_base) as session:
            session.execute("ALTER SYSTEM SET random_page_cost = 7")
            session.execute("SELECT pg_reload_conf()")

    observer = Meddler(meddle, {1})
    outcome, trials = experiment(tmp_path, observer)
    assert list(trials) == [1, 2, 3, 4, 5]
    first, again = trials[1], trials[5]
    assert first["validity"]["reasons"] == [
        "a setting changed in the trial: random_page_cost 4 → 7"
    ]
    assert first["fingerprint"]["after"]["settings"] == {"random_page_cost": "7"}
    assert all(trials[number]["validity"]["valid"] for number in (2, 3, 4, 5))
    assert [trial.number for trial in observer.trials] == [1, 2, 5, 3, 4]
    assert (again["repeats"], again["arm"], again["block"]) == (1, first["arm"], 1)
    assert again["position"] == 3
    assert any("it is run again at the end of its block" in text for text in observer.warnings)
    analysis = outcome.context.analysis
    assert (analysis.blocks, len(analysis.trials)) == (2, 4)
    assert any("trial 1 does not count" in doubt.text for doubt in analysis.warnings)


def test_a_session_that_burns_costs_the_trial_and_its_second_run_where_it_burns_again(
    tmp_path: Path, own_base: Path
) -> None:
    burning = []

    def meddle() -> None:
        def burn() -> None:
            with contextlib.suppress(psycopg.Error), stranger(own_base) as session:
                session.execute(BURN)

        burning.append(threading.Thread(target=burn))
        burning[-1].start()

    observer = Meddler(meddle, {1, 5})
    try:
        outcome, trials = experiment(tmp_path, observer, step="4s")
    finally:
        for thread in burning:
            thread.join(timeout=30)
    assert all(trials[number]["validity"]["valid"] for number in (2, 3, 4))
    for trial in (trials[1], trials[5]):
        (reason,) = trial["validity"]["reasons"]
        assert reason.startswith("sessions that are not pgassay's kept the server busy")
        assert trial["fingerprint"]["after"]["foreign_active"] == 1
    analysis = outcome.context.analysis
    assert (analysis.blocks, len(analysis.trials)) == (1, 3)
    assert {doubt.kind for doubt in analysis.warnings} >= {"invalid-trial", "incomplete-block"}
    assert "also in vain" in outcome.report.read_text()
    assert any("its block stays incomplete" in text for text in observer.warnings)


def test_a_forced_checkpoint_costs_the_trial(tmp_path: Path, own_base: Path) -> None:
    def meddle() -> None:
        with stranger(own_base) as session:
            session.execute("CHECKPOINT")

    _, trials = experiment(tmp_path, Meddler(meddle, {2}), step="3s")
    assert [n for n, trial in trials.items() if not trial["validity"]["valid"]] == [2]
    assert trials[2]["validity"]["reasons"] == ["a checkpoint was forced from outside the load"]
    assert trials[6]["repeats"] == 2


def test_an_existing_server_is_watched_too_with_no_password_in_the_fingerprint(
    tmp_path: Path, lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "s3cret word")
    dsn = f"host=127.0.0.1 port={lab_server.port} user=lab dbname=lab"

    def meddle() -> None:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM SET random_page_cost = 7")
            session.execute("SELECT pg_reload_conf()")

    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET primary_conninfo = 'host=db password=hidden'")
        session.execute("SELECT pg_reload_conf()")
    try:
        _, trials = experiment(
            tmp_path, Meddler(meddle, {1}), target=f"[target]\ndsn = '{dsn}'\nallow_changes = true"
        )
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET ALL")
            session.execute("SELECT pg_reload_conf()")
    assert [n for n, trial in trials.items() if not trial["validity"]["valid"]] == [1]
    assert "random_page_cost 4 → 7" in trials[1]["validity"]["reasons"][0]
    assert "hidden" not in json.dumps(trials)
    assert "primary_conninfo" not in trials[1]["fingerprint"]["before"]["settings"]


def test_a_plain_user_gets_a_fingerprint_too_and_a_superuser_sees_who_else_is_there(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    seen = {}
    with lab_server.admin() as session:
        session.execute("SET application_name = 'psql'")
        for user in ("plain", "lab"):
            target = ExistingTarget(lab_server.dsn(user), journal)
            try:
                seen[user] = take_fingerprint(target, target.open())
            finally:
                target.close()
    assert seen["lab"].foreign_sessions == 1
    assert seen["plain"].foreign_sessions <= 1
    assert seen["plain"].settings["work_mem"] == seen["lab"].settings["work_mem"]
    for fingerprint in seen.values():
        assert fingerprint.started_at_s == seen["lab"].started_at_s
        assert fingerprint.foreign_active == fingerprint.base_backups == 0
        assert fingerprint.host is not None
        assert processor_times(look_at(HERE, None, postmaster=fingerprint.postmaster)) is not None
