"""A stored run, observation or trace, finished or not → its analysis, findings and report.

Enters: its directory. Leaves: everything it says, and on request analysis.json and report.html.
Never: touches a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pgassay import __version__
from pgassay.analysis.analyse import analyse
from pgassay.analysis.gates.forecast import with_caught
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.measures.asked import asked_of
from pgassay.analysis.methods.tables import observed_cells
from pgassay.analysis.model import RunFacts
from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.stored_slices import slices_in
from pgassay.analysis.observation.summary import summarise_observation
from pgassay.analysis.observation.windows import observed_windows
from pgassay.findings.diagnosis.observed import diagnose
from pgassay.findings.registry import find
from pgassay.plan.model import Gate
from pgassay.readings.trial_readings import TrialReadings
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.context import (
    ObservationContext,
    ReportContext,
    StoredContext,
    TraceContext,
)
from pgassay.report.flame_graphs import flame_graphs
from pgassay.report.formats.html import render_html
from pgassay.report.objects.analysis import render_json
from pgassay.report.objects.observed import render_object
from pgassay.report.repeat_command import repeat_command
from pgassay.samples.layout import ANALYSIS, REPORT, SPEC
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.comparison import ServerCompared

if TYPE_CHECKING:  # runs need nothing of the rooms of traces
    from pgassay.samples.trace_directory import TraceDirectory

_Directory = TypeVar("_Directory", bound="RunDirectory | ObservationDirectory | TraceDirectory")
_Context = TypeVar("_Context", bound=StoredContext)


def directory_at(path: Path) -> RunDirectory | ObservationDirectory | TraceDirectory:
    """Returns the directory at a path as what it is; raises RunDirectoryError for any other
    folder."""
    if ObservationDirectory.is_at(path):
        return ObservationDirectory(path)
    if RunDirectory.is_at(path):
        return RunDirectory(path)
    from pgassay.samples.trace_directory import TraceDirectory  # runs need none of it

    return TraceDirectory(path) if TraceDirectory.is_at(path) else RunDirectory.open(path)


@dataclass(frozen=True)
class Reported(Generic[_Directory, _Context]):
    """A finished run, observation or trace: where it lies, and what it says."""

    directory: _Directory
    report: Path
    context: _Context
    compared: tuple[ServerCompared, ...] = ()
    """How each existing server of a run differs from what it found."""


Outcome = Reported[RunDirectory, ReportContext]


def reported(directory: _Directory, context: _Context) -> Reported[_Directory, _Context]:
    """Writes report.html anew and, except of a trace, analysis.json."""
    if isinstance(context, ReportContext):
        directory.write_text(ANALYSIS, render_json(context))
    elif isinstance(context, ObservationContext):
        directory.write_text(ANALYSIS, render_object(context))
    return Reported(directory, directory.write_text(REPORT, render_html(context)), context)


def context_of(
    directory: RunDirectory | ObservationDirectory | TraceDirectory,
    gates: Sequence[Gate] | None = None,
) -> StoredContext:
    """Analyses what a directory has stored; `gates` take the place of those that a run was made
    with."""
    if isinstance(directory, RunDirectory):
        return analyse_run(directory, gates=gates)
    if isinstance(directory, ObservationDirectory):
        return observation_context(directory)
    return trace_context(directory)


def trace_context(directory: TraceDirectory) -> TraceContext:
    """Summarises a stored trace."""
    from pgassay.analysis.trace.summary import summarise_trace

    return TraceContext(
        run_name=directory.name,
        described=directory.described(),
        traced=summarise_trace(directory),
        version=__version__,
    )


def observation_context(directory: ObservationDirectory) -> ObservationContext:
    """Summarises a stored observation, finished or not."""
    segments = list(directory.segments())
    if not segments:
        raise DirectoryRefused("no-finished-segment", directory.path)
    described, environment = directory.described(), directory.environment()
    texts, windows = directory.statements(), observed_windows(segments)
    return ObservationContext(
        run_name=directory.name,
        described=described,
        observed=summarise_observation(segments, described.notes, environment, texts),
        environment=environment,
        version=__version__,
        texts=texts,
        findings=diagnose(windows, environment),
        methods=observed_cells(windows, environment),
        incidents=find_incidents(slices_in(directory)),
    )


def report_run(
    run: RunDirectory, readings: TrialReadings | None = None, gates: Sequence[Gate] | None = None
) -> Outcome:
    """Analyses what a run has stored and writes its report anew; `gates` in place of those it was
    run with."""
    return reported(run, analyse_run(run, readings, gates))


def analyse_run(
    run: RunDirectory, readings: TrialReadings | None = None, gates: Sequence[Gate] | None = None
) -> ReportContext:
    """Analyses a stored run, finished or not; `readings` has the trials that were read already."""
    readings = readings or TrialReadings(run, run.plan())
    plan, trials = readings.plan, readings.every()
    if not trials:
        raise DirectoryRefused("no-finished-trial", run.path)
    folder = run.profiles()
    facts = RunFacts(
        environment=readings.environment(),
        spec_text=run.read_text(SPEC),
        asked=tuple(asked_of(run.path, plan)),
        statements=run.statements(),
    )
    analysis = analyse(plan, trials, facts, run.failed(), folder.read())
    valid = [one for one in trials if not one.measures.invalid]
    return ReportContext(
        run_name=run.name,
        question=plan.question,
        facts=facts,
        plan=plan,
        analysis=analysis,
        findings=find(analysis, facts),
        series=tuple(one.series for one in valid if one.series is not None),
        command=repeat_command(run.path, plan, facts.spec_text),
        version=__version__,
        flame_graphs=flame_graphs(folder, plan, analysis.explanation.profiles),
        gates=with_caught(
            judge_gates(plan.gates if gates is None else gates, analysis.answer),
            plan,
            analysis.answer.rule,
        ),
    )
