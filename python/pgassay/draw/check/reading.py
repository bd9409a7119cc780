"""What the statements of a run took, in all trials of its baseline.

Enters: a run directory. Leaves: sums by query id, the texts, and figures of the whole server.
Never: reads the other arms, or a trial that does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.signals import read_signals
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.measures.statements import read_plans, read_statements
from pgassay.analysis.reading.own_statements import own_among
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.run_directory import RunDirectory

_NO_WAIT = "CPU"
_OTHERS = "("
"""Begins the names of rows that stand for several statements."""


@dataclass(frozen=True)
class RunFigures:
    """The baseline of a run."""

    arm: str
    trials: int
    grown: Mapping[str, Mapping[str, float]]
    """queryid → column of pg_stat_statements → growth; without statements of pgassay."""
    texts: Mapping[str, str]
    commits: float | None
    """Per second, as the blocks."""
    blocks_found: float | None
    blocks_read: float | None
    sessions: Mapping[str, float]
    """Wait type → active sessions on average."""
    plans: Mapping[str, str]
    """Statement, as it was sent → fingerprint of its plan."""


def read_run(run: RunDirectory) -> RunFigures:
    """Reads the baseline of a run; raises DirectoryRefused where arms alternate in its trials, or
    nothing is known of its statements."""
    plan = run.plan()
    if plan.alternates:
        raise DirectoryRefused("check-of-alternating", run.path)
    arm = plan.arms[0].id
    texts = run.statements()
    own = own_among(texts)
    grown: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    signals: list[TrialSignals] = []
    plans: dict[str, str] = {}
    for trial in run.trials():
        if trial.summary().arm != arm or not trial.validity().valid:
            continue
        sources = TrialSources(trial)
        signals.append(read_signals(trial, sources))
        for one in read_plans(trial):
            if one.arm == arm and one.shape is not None:
                plans[one.sql] = one.shape.fingerprint
        found = read_statements(trial, sources)
        for queryid, columns in found.grown.items() if found is not None else ():
            if queryid not in own and not queryid.startswith(_OTHERS):
                for name, value in columns.items():
                    grown[queryid][name] += value
    if not grown:
        raise DirectoryRefused("no-figures-of-statements", run.path)
    return RunFigures(
        arm,
        len(signals),
        grown,
        texts,
        _mean_of(signals, "xact_commit"),
        _mean_of(signals, "blks_hit"),
        _mean_of(signals, "blks_read"),
        _sessions(signals),
        plans,
    )


def _mean_of(signals: Sequence[TrialSignals], name: str) -> float | None:
    """Growth a second of a counter of the database."""
    found = [one.values.get(("database", "", name)) for one in signals]
    known = [one for one in found if one is not None]
    return sum(known) / len(known) if known else None


def _sessions(signals: Sequence[TrialSignals]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for trial in signals:
        for (source, _, event), sessions in trial.values.items():
            if source == "sessions" and (event == _NO_WAIT or ":" in event):
                found[event.partition(":")[0]] += sessions / len(signals)
    return dict(found)
