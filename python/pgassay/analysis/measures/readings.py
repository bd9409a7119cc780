"""The finished trials of one run, each read once.

Enters: a run directory and its plan. Leaves: measures, courses, charts, signals, even series,
statements, plans and latencies of its trials. Never: holds the samples of more than two trials.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from pgassay.analysis.measures.courses.chart_series import ChartSeries, chart_series
from pgassay.analysis.measures.courses.correlations import correlated
from pgassay.analysis.measures.courses.even_series import EvenSeries, read_even_series
from pgassay.analysis.measures.courses.latencies import TrialLatencies, read_latencies
from pgassay.analysis.measures.courses.trial_course import TrialCourse, read_course
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.measures.one_server import of_one_server
from pgassay.analysis.measures.plans import SeenPlan, read_plans
from pgassay.analysis.measures.signals import TrialSignals, read_signals
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.measures.statements import TrialStatements, read_statements
from pgassay.analysis.measures.trial import measure_trial
from pgassay.plan.model import Plan
from pgassay.samples.run_directory import RunDirectory, StoredTrial

_MOST_AHEAD_BYTES = 16_000_000
"""Of a trial's files: ten minutes of 300 series have 1.5 MB, six hours of 500 have 81."""


@dataclass(frozen=True)
class TrialReading:
    """What the analysis and the report take from one trial."""

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


class TrialReadings:
    """Reads trials when they are asked for, and remembers them."""

    def __init__(self, run: RunDirectory, plan: Plan) -> None:
        self.run, self.plan = run, plan
        self._known: dict[int, TrialReading] = {}

    def of(self, number: int) -> TrialReading:
        """One finished trial."""
        self._read([number])
        return self._known[number]

    def every(self) -> list[TrialReading]:
        """All finished trials, by their numbers; of a block those of one server count."""
        numbers = self.run.finished()
        self._read(numbers)
        found = [self._known[number] for number in numbers]
        counted = of_one_server([one.measures for one in found])
        return [
            replace(one, measures=measures) for one, measures in zip(found, counted, strict=True)
        ]

    def _read(self, numbers: Sequence[int]) -> None:
        """Those that are not known yet; the next one's files are read while one is measured, unless
        both together would take much memory."""
        unknown = [number for number in numbers if number not in self._known]
        if not unknown:
            return
        trials = [self.run.trial(number) for number in unknown]
        with ThreadPoolExecutor(1) as thread:
            ahead: Future[TrialSources] | None = None
            for number, trial, after in zip(unknown, trials, [*trials[1:], None], strict=True):
                sources = TrialSources(trial) if ahead is None else ahead.result()
                ahead = None
                if after is not None and after.sample_bytes() < _MOST_AHEAD_BYTES:
                    ahead = thread.submit(TrialSources(after).read)
                self._known[number] = _measured(trial, sources, self.plan)

    def environment(self) -> dict[str, Any]:
        """environment.json, with the median duration of the resets."""
        stored = self.run.environment()
        if isinstance(stored.get("reset"), dict):
            resets = [one.trial.summary().get("reset") or {} for one in self.every()]
            took = [reset["duration_s"] for reset in resets if reset.get("duration_s") is not None]
            if took:
                stored["reset"]["seconds"] = round(statistics.median(took), 2)
        return stored


def _measured(trial: StoredTrial, sources: TrialSources, plan: Plan) -> TrialReading:
    measures = measure_trial(trial, sources, plan=plan)
    if measures.invalid:
        return TrialReading(trial, measures, None, None)
    course = read_course(trial, sources)
    return TrialReading(
        trial,
        measures,
        None if course is None else correlated(course),
        chart_series(trial, sources),
        read_signals(trial, sources),
        read_even_series(trial, sources),
        read_statements(trial, sources),
        read_plans(trial),
        None if plan.alternates else read_latencies(trial, sources),
    )
