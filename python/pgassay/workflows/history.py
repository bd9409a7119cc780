"""Stored runs of one experiment → their history.

Enters: paths of run directories, or of folders that hold several. Leaves: what they show over time.
Never: touches a server, or writes into a run.

The estimates of trials are those of analysis.json where that is up to date: to measure all trials
of a year's runs again would take minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay import __version__
from pgassay.analysis.apart.model import ApartRun
from pgassay.analysis.apart.spread import session_of
from pgassay.analysis.history.series import Asked, history_of
from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.report.context import HistoryContext
from pgassay.samples.forms.analysis import AnalysedTrial, Estimates
from pgassay.samples.layout import ANALYSIS
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.run_files import RunFiles
from pgassay.workflows.comparing import apart_run, read_run, refuse_twice, runs_of


def stored_history(paths: Sequence[Path], asked: Asked) -> HistoryContext:
    """Reads runs and makes their history.

    Raises DirectoryRefused where a path holds no run, or fewer than two ask the same.
    """
    refuse_twice(paths)
    runs = [_read(found) for path in paths for found in runs_of(path)]
    return HistoryContext(history_of(runs, asked), __version__)


def _read(path: Path) -> ApartRun:
    run = RunDirectory.open(path)
    if not RunFiles.open(path).is_up_to_date(ANALYSIS):
        return read_run(run, has_charts=False)
    stored = run.analysis()
    trials = [_trial(one) for one in stored.trials]
    starts = [one.whole.start_ns for one in trials]
    session = session_of(starts or [0], [None] * len(starts))
    return apart_run(run, run.plan(), trials, len(stored.invalid_trials), session)


def _trial(stored: AnalysedTrial) -> TrialMeasures:
    return TrialMeasures(
        number=stored.number,
        block=stored.block,
        position=stored.position,
        arm=stored.arm,
        whole=_step(stored.whole),
        steps=tuple(map(_step, stored.steps)),
        warnings=(),
    )


def _step(stored: Estimates) -> StepMeasures:
    return StepMeasures(
        level=stored.level,
        start_ns=stored.start_ns,
        end_ns=stored.end_ns,
        transactions=stored.transactions,
        values={name: value for name, value in stored.values.items() if value is not None},
    )
