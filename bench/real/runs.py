"""Runs on a fresh embedded server.

Enters: an experiment. Leaves: its trials that count, in the order they ran; a line each meanwhile.
Never: keeps the run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Protocol, TypeVar

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial
from pgassay.spec.parse import parse_spec
from pgassay.trials.model.record import Validity
from pgassay.trials.run.progress import ProgressListener
from pgassay.workflows.pipeline import run_experiment


class Finished(Protocol):
    """The part of a stored trial that their order needs."""

    def validity(self) -> Validity:
        """Whether it counts."""
        ...

    def summary(self) -> TrialFile:
        """trial.json."""
        ...


Ran = TypeVar("Ran", bound=Finished)


class TrialLines(ProgressListener):
    """One line a trial."""

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        print(f"trial {trial.number}: {tps or 0.0:.0f} tps", flush=True)


@contextmanager
def trials_of(
    text: str, scenario: str = "simple-update", scripts: Mapping[str, str] | None = None
) -> Iterator[list[StoredTrial]]:
    """Of an experiment whose workload is one scenario of pgbench's, perhaps with other scripts."""
    with tempfile.TemporaryDirectory() as folder:
        workload = Path(folder) / scenario
        shutil.copytree(str(files("pgassay") / "workloads" / "pgbench"), workload)
        (workload / "workload.toml").write_text(
            f'title = "pgbench\'s {scenario}"\n'
            f"[scenarios]\n{scenario} = {{ file = '{scenario}.sql' }}\n",
            "utf-8",
        )
        for name, script in (scripts or {}).items():
            (workload / name).write_text(script, "utf-8")
        with ran(text, Path(folder)) as found:
            yield found


@contextmanager
def ran(text: str, beside: Path | None = None) -> Iterator[list[StoredTrial]]:
    """The trials of an experiment whose paths start at `beside`."""
    with tempfile.TemporaryDirectory() as folder:
        spec = parse_spec(text, source="real.toml", beside=beside or Path(folder))
        run = RunDirectory.create(Path(folder) / "run")
        run_experiment(spec, run, TrialLines())
        yield in_order(run.trials())


def with_short_slices(plan: Plan) -> Plan:
    """The plan with the slices of its first trials in all of them, as runs of few trials have."""
    lengths = [trial.slice_s or 1.0 for trial in plan.trials[:2]]
    blocks = range(len(plan.trials))
    trials = [replace(plan.trials[at], slice_s=lengths[at % len(lengths)]) for at in blocks]
    return replace(plan, trials=tuple(trials))


def in_order(trials: Iterable[Ran]) -> list[Ran]:
    """The valid trials in the order they ran: repeats have higher numbers than all others."""
    valid = [trial for trial in trials if trial.validity().valid]
    return sorted(valid, key=lambda trial: trial.summary().started_ns or 0)
