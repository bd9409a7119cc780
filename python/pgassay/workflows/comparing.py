"""Stored runs made apart → their comparison.

Enters: paths of run directories, or of folders that hold several of one side. Leaves: what they
say.
Never: touches a server, or writes into a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay import __version__
from pgassay.analysis.apart.compare import Question, compare_runs
from pgassay.analysis.apart.model import ApartRun, Session, Side
from pgassay.analysis.apart.spread import session_of
from pgassay.analysis.measures.asked import asked_of
from pgassay.analysis.measures.courses.chart_series import chart_series
from pgassay.analysis.measures.courses.even_series import read_even_series
from pgassay.analysis.measures.courses.latencies import read_latencies
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.measures.trial import measure_trial
from pgassay.errors import PgassayError
from pgassay.plan.model import Plan
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.context import ApartContext
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.reading.tables import parsed_toml
from pgassay.spec.stored import WORKLOAD_COPY, stored_materials


def compare_stored(
    paths: Sequence[Path], question: Question, *, has_charts: bool = True
) -> ApartContext:
    """Compares stored runs, the first of which is the baseline; without charts it reads less of
    each."""
    if len(paths) < 2:
        raise DirectoryRefused("one-run-alone")
    refuse_twice(paths)
    names = _names(paths)
    sides = [
        Side(name, tuple(_side(path, has_charts))) for name, path in zip(names, paths, strict=True)
    ]
    _refuse_copies(sides)
    return ApartContext(compare_runs(sides, question), __version__)


def refuse_twice(paths: Sequence[Path]) -> None:
    """Refuses a run that is named twice, by itself or in a folder."""
    seen = set[Path]()
    for path in (run for given in paths for run in runs_of(given)):
        if path.resolve() in seen:
            raise DirectoryRefused("named-twice", path)
        seen.add(path.resolve())


def _refuse_copies(sides: Sequence[Side]) -> None:
    """A copy has the seed, the moment and the throughput of the run that it is of."""
    seen = dict[tuple[int, int, float | None], str]()
    for run in (run for side in sides for run in side.runs):
        first = run.trials[0].whole
        same = (run.plan.seed, first.start_ns, first.values.get("tps"))
        if same in seen:
            raise DirectoryRefused("copy-of-another", run.name, other=seen[same])
        seen[same] = run.name


def _names(paths: Sequence[Path]) -> list[str]:
    """The last parts of the paths; as many of them as tell all sides apart."""
    parts = [path.resolve().parts for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-length:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def runs_of(path: Path) -> list[Path]:
    """Returns the run itself, or the runs directly in a folder, by their names."""
    if not path.is_dir() or (path / RunDirectory.MARK).is_file():
        return [path]
    return sorted(found.parent for found in path.glob(f"*/{RunDirectory.MARK}")) or [path]


def _side(path: Path, has_charts: bool) -> Iterator[ApartRun]:
    for found in runs_of(path):
        yield read_run(RunDirectory.open(found), has_charts)


def read_run(run: RunDirectory, has_charts: bool) -> ApartRun:
    """Measures the trials of one run, and reads what else is compared of it.

    Raises DirectoryRefused where no trial counts.
    """
    plan = run.plan()
    valid, series, latencies, sampled, invalid = [], [], [], [], 0
    for trial in run.trials():
        sources = TrialSources(trial)
        measured = measure_trial(trial, sources, plan=plan)
        if measured.invalid:
            invalid += 1
            continue
        valid.append(measured)
        # A switchback is refused later; its latencies are of all arms.
        if plan.alternates:
            continue
        even = read_even_series(trial, sources)
        sampled.append(even)
        if has_charts:
            series.append(chart_series(trial, sources, even))
            latencies.append(read_latencies(trial, sources))
    found = apart_run(run, plan, valid, invalid, _session(run))
    return replace(
        found,
        asked=asked_of(run.path, plan),
        series=tuple(series),
        latencies=tuple(latencies),
        even=tuple(sampled),
    )


def apart_run(
    run: RunDirectory,
    plan: Plan,
    trials: Sequence[TrialMeasures],
    invalid: int,
    session: Session,
) -> ApartRun:
    """Returns the measured trials of a run with what else is compared of it.

    Raises DirectoryRefused where there are none.
    """
    if not trials:
        raise DirectoryRefused("no-trial-counts", run.path)
    scripts = run.path / WORKLOAD_COPY
    return ApartRun(
        name=run.path.resolve().name,
        plan=plan,
        trials=tuple(sorted(trials, key=lambda trial: trial.number)),
        invalid=invalid,
        materials=stored_materials(scripts) if scripts.is_file() else None,
        spec=_spec_of(run),
        environment=run.environment(),
        session=session,
    )


def _session(run: RunDirectory) -> Session:
    """The day on which it began, and the server's start where it was not started again."""
    summaries = [trial.summary() for trial in run.trials()]
    starts = [
        None if one.fingerprint.before is None else one.fingerprint.before.started_at_s
        for one in summaries
    ]
    return session_of([one.started_ns or one.load.steps[0].start_ns for one in summaries], starts)


def _spec_of(run: RunDirectory) -> dict[str, Any]:
    """spec.toml as written; what a later version would refuse in it does not matter here."""
    with suppress(PgassayError):
        return parsed_toml(run.read_text("spec.toml"), "spec.toml")
    return {}
