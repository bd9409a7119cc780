"""The raw trials: every estimate of every trial, its slices, quantiles and scenarios.

Enters: the context. Leaves: tables. Never: leaves out a trial that does not count; it says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pgassay.analysis.model import StepMeasures, TrialMeasures
from pgassay.analysis.reading.histograms import CURVE_SHARES
from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.model import ALL_ARMS
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import metric_column, table_of
from pgassay.report.document.table import Column, Table, data_column


def every_trial(context: ReportContext) -> tuple[TrialMeasures, ...]:
    """Return the trials that count and those that do not, in the order they ran."""
    analysis = context.analysis
    answer = analysis.answer
    every = (*answer.trials, *answer.partial_trials, *answer.invalid_trials)
    return tuple(sorted(every, key=lambda one: (one.whole.start_ns, one.number)))


def trial_data(context: ReportContext) -> Table:
    """A row for the whole of each trial and, of a load with several steps, one for each step."""
    levels = tuple(
        data_column(f"level_{factor.name}", "", f"Level of {factor.name}")
        for factor in context.plan.factors
        if not context.plan.alternates
    )
    rows, measured = [], []
    for order, trial in enumerate(every_trial(context), 1):
        for step in _parts(context, trial):
            measured.append(step.values)
            own = _trial(context, trial, order) | _step(step)
            rows.append((own, step.values))
    metrics = _metrics(measured)
    return table_of(
        "trials",
        ({**own, **_values(metrics, values)} for own, values in rows),
        (*levels, *metrics.values()),
    )


def detail_tables(context: ReportContext) -> Iterator[Table]:
    """Yields the tables of slices, of quantiles and of scenarios of all trials."""
    yield _slice_table(context)
    yield table_of("latency_quantiles", _quantiles(context))
    yield table_of("latency_curves", _curves(context))
    yield table_of("scenarios", _scenarios(context))


def label_of(context: ReportContext, arm: str) -> str:
    """Returns the levels of an arm as its label."""
    return "all arms" if arm == ALL_ARMS else context.labels.get(arm, arm)


def _parts(context: ReportContext, trial: TrialMeasures) -> Iterator[StepMeasures]:
    yield trial.whole
    if context.has_several_steps:
        yield from trial.steps


def _trial(context: ReportContext, trial: TrialMeasures, order: int) -> dict[str, Any]:
    levels = {} if trial.arm == ALL_ARMS else context.plan.arm(trial.arm).levels
    return {
        "order": order,
        "trial": trial.number,
        "block": trial.block,
        "position": trial.position,
        "server": trial.server or None,
        "arm": trial.arm,
        "label": label_of(context, trial.arm),
        "step_unit": context.plan.step_unit,
        "counts": not trial.invalid,
        "invalid": [*map(str, trial.invalid)] or None,
        "caveats": [one.text for one in trial.warnings] or None,
        "repeats": trial.repeats,
        **{f"level_{factor}": level for factor, level in levels.items()},
    }


def _step(step: StepMeasures) -> dict[str, Any]:
    return {
        "scope": "trial" if step.level is None else "step",
        "step": step.level,
        "start_ns": step.start_ns,
        "duration_s": (step.end_ns - step.start_ns) / 1e9,
        "transactions": step.transactions,
    }


def _metrics(measured: Iterable[Mapping[str, float]]) -> dict[str, Column]:
    """The columns of the metrics that any of them has, in the order of their list."""
    known = {name for values in measured for name in values}
    return {name: metric_column(name) for name in METRICS if name in known}


def _values(metrics: Mapping[str, Column], values: Mapping[str, float]) -> dict[str, Any]:
    return {column.name: values.get(name) for name, column in metrics.items()}


def _slice_table(context: ReportContext) -> Table:
    every = [(trial, turn) for trial in every_trial(context) for turn in trial.turns]
    metrics = _metrics(turn.values for _, turn in every)
    rows = (
        {
            "trial": trial.number,
            "block": trial.block,
            "round": turn.round + 1,
            "arm": turn.arm,
            "label": label_of(context, turn.arm),
            "start_ns": turn.start_ns,
            "transactions": turn.transactions,
            "failed": turn.failed,
            "counts": not trial.invalid,
            **_values(metrics, turn.values),
        }
        for trial, turn in every
    )
    return table_of("slices", rows, tuple(metrics.values()))


def _curves(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.behaviour.latency_curves:
        rows = zip(one.shares, one.latency_ms, one.low_ms, one.high_ms, strict=True)
        for share, latency, low, high in (*rows, (1.0, one.max_ms, None, None)):
            yield {
                **vars(one),
                "quantile": share,
                "latency_ms": latency,
                "low_ms": low,
                "high_ms": high,
            }


def _quantiles(context: ReportContext) -> Iterator[dict[str, Any]]:
    for trial in every_trial(context):
        for step in _parts(context, trial):
            curve = step.latency_curve
            if curve is None:
                continue
            for share, latency in zip(CURVE_SHARES, curve.quantiles_ms, strict=True):
                yield {
                    "trial": trial.number,
                    "block": trial.block,
                    "arm": trial.arm,
                    "step": step.level,
                    "of": curve.of,
                    "quantile": share,
                    "latency_ms": latency,
                }


def _scenarios(context: ReportContext) -> Iterator[dict[str, Any]]:
    for trial in every_trial(context):
        for one in trial.scenarios:
            yield {
                **vars(one),
                "trial": trial.number,
                "block": trial.block,
                "arm": trial.arm,
                "errors": [f"{code} {count}" for code, count in one.errors.items()] or None,
                **{f"{name}_ms": one.quantiles_ms.get(name) for name in _QUANTILES},
            }


_QUANTILES = ("mean", "p50", "p95", "p99")
