"""What the analysis and the report take from one stored trial.

Enters: a run directory, the number of a trial, the plan. Leaves: its measures, course, charts,
signals, even series, statements, plans and latencies. Never: holds its samples afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgassay.analysis.measures.courses.chart_series import ChartSeries, chart_series
from pgassay.analysis.measures.courses.correlations import correlated
from pgassay.analysis.measures.courses.even_series import EvenSeries, read_even_series
from pgassay.analysis.measures.courses.latencies import TrialLatencies, read_latencies
from pgassay.analysis.measures.courses.trial_course import TrialCourse, read_course
from pgassay.analysis.measures.model import TrialMeasures, TrialSignals
from pgassay.analysis.measures.signals import read_signals
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.measures.statements import (
    SeenPlan,
    TrialStatements,
    read_plans,
    read_statements,
)
from pgassay.analysis.measures.trial import measure_trial
from pgassay.plan.model import Plan
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial


@dataclass(frozen=True)
class TrialReading:
    """The parts of one stored trial that the analysis uses."""

    trial: StoredTrial
    measures: TrialMeasures
    course: TrialCourse | None
    """None for an invalid trial, and for one without a course."""
    series: ChartSeries | None
    """None for an invalid trial."""
    signals: TrialSignals | None = None
    """None for an invalid trial."""
    even: EvenSeries | None = None
    """None for an invalid trial."""
    statements: TrialStatements | None = None
    """None for an invalid trial, and where they were not read."""
    plans: tuple[SeenPlan, ...] = ()
    """None of an invalid trial."""
    latencies: TrialLatencies | None = None
    """None for an invalid trial, and for one of several arms."""


def read_trial(run: Path, number: int, plan: Plan) -> TrialReading:
    """Read one finished trial of the run in this directory."""
    trial = RunDirectory.open(run).trial(number)
    sources = TrialSources(trial)
    measures = measure_trial(trial, sources, plan=plan)
    if measures.invalid:
        return TrialReading(trial, measures, None, None)
    course = read_course(trial, sources)
    even = read_even_series(trial, sources)
    return TrialReading(
        trial,
        measures,
        None if course is None else correlated(course),
        chart_series(trial, sources, even),
        read_signals(trial, sources),
        even,
        read_statements(trial, sources),
        read_plans(trial),
        None if plan.alternates else read_latencies(trial, sources),
    )
