"""A stored run, finished or not → its analysis, findings and report.

Enters: a run directory. Leaves: everything it says, and on request analysis.json and report.html.
Never: touches a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pgassay import __version__
from pgassay.analysis.analyse import (
    analyse,
    with_classic,
    with_curves,
    with_modes,
    with_noise,
    with_profiles,
    with_signals,
    with_statements,
)
from pgassay.analysis.gates.forecast import with_caught
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.measures.asked import asked_of
from pgassay.analysis.verdicts.drift import drift_caveats
from pgassay.errors import RunDirectoryError
from pgassay.findings.registry import find
from pgassay.plan.model import Gate
from pgassay.readings.trial_readings import TrialReadings
from pgassay.report.context import ReportContext
from pgassay.report.flame_graphs import flame_graphs
from pgassay.report.formats.html import render_html
from pgassay.report.objects.analysis import render_json
from pgassay.report.repeat_command import repeat_command
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.comparison import ServerCompared


@dataclass(frozen=True)
class Outcome:
    """A finished run: where it lies, and what it says."""

    run: RunDirectory
    report: Path
    context: ReportContext
    compared: tuple[ServerCompared, ...] = ()
    """How each existing server of the run differs from what it found."""


def report_run(
    run: RunDirectory, readings: TrialReadings | None = None, gates: Sequence[Gate] | None = None
) -> Outcome:
    """Analyse what a run has stored and write analysis.json and report.html anew; `gates` in place
    of those it was run with."""
    context = analyse_run(run, readings, gates)
    run.write_text("analysis.json", render_json(context))
    report = run.write_text("report.html", render_html(context))
    return Outcome(run, report, context)


def analyse_run(
    run: RunDirectory, readings: TrialReadings | None = None, gates: Sequence[Gate] | None = None
) -> ReportContext:
    """Everything a stored run says, finished or not; `readings` are of trials read already."""
    readings = readings or TrialReadings(run, run.plan())
    plan, trials = readings.plan, readings.every()
    if not trials:
        raise RunDirectoryError(f"{run.path}: holds no finished trial; there is nothing to report")
    valid = [one for one in trials if not one.measures.invalid]
    courses = [one.course for one in valid if one.course is not None]
    drift = drift_caveats([one.trial for one in valid])
    analysis = analyse(plan.question, plan, [one.measures for one in trials], drift, run.failed())
    analysis = with_curves(analysis, plan, courses)
    analysis = with_noise(analysis, plan, courses, [one.trial.summary() for one in valid])
    environment = readings.environment()
    signals = [one.signals for one in valid if one.signals is not None]
    latencies = [one.latencies for one in valid if one.latencies is not None]
    analysis = with_modes(analysis, plan, latencies)
    spec_text = run.read_text("spec.toml")
    asked = asked_of(run.path, plan)
    analysis = with_signals(analysis, plan, signals, environment, spec_text, asked)
    even = [one.even for one in valid if one.even is not None]
    analysis = with_classic(analysis, plan, even)
    statements = [one.statements for one in valid if one.statements is not None]
    plans = [seen for one in valid for seen in one.plans]
    analysis = with_statements(analysis, plan, statements, signals, plans, run.statements())
    folder = run.profiles()
    analysis = with_profiles(analysis, plan, folder.read())
    return ReportContext(
        run_name=run.path.resolve().name,
        question=analysis.question,
        spec_text=spec_text,
        plan=plan,
        analysis=analysis,
        findings=find(analysis),
        series=tuple(one.series for one in valid if one.series is not None),
        environment=environment,
        command=repeat_command(run.path, plan, spec_text),
        version=__version__,
        flame_graphs=flame_graphs(folder, plan, analysis.profiles),
        gates=with_caught(
            judge_gates(plan.gates if gates is None else gates, analysis), plan, analysis.rule
        ),
    )
