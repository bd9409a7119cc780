"""The USE, RED and LTES tables: every cell in every arm, against the arm of all baselines; of an
observation in its windows.

Enters: the plan, trials, comparisons, signals, environment.json. Leaves: `MethodCell`s; of an
observation `ObservedCell`s.
Never: compares a cell apart from the others (`compare/many.py` corrects for all of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.compare.many import figures_by_arm
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.measures.model import ArmSignals, StepMeasures, TrialMeasures, TrialSignals
from pgassay.analysis.methods.cell_values import cell_values
from pgassay.analysis.methods.model import MethodCell, ObservedCell
from pgassay.plan.model import Arm, Plan
from pgassay.samples.forms.environment import EnvironmentFile

_METRIC = "metric"


def method_cells(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    signals: Sequence[ArmSignals],
    environment: EnvironmentFile,
) -> tuple[MethodCell, ...]:
    """Returns all three tables; none where arms alternate, because samples are known by trial. Of a
    query set only the resources: its queries have times of their own, and it has no throughput."""
    if plan.alternates or not trials:
        return ()
    found = cell_values(plan.arms, trials, signals, environment)
    if plan.queries is not None:
        found = [one for one in found if one.cell.method == "use"]
    figures = figures_by_arm(plan, [one.measured for one in found], comparisons)
    return tuple(replace(one.cell, figures=own) for one, own in zip(found, figures, strict=True))


def observed_cells(windows: ArmSignals, environment: EnvironmentFile) -> tuple[ObservedCell, ...]:
    """Returns the cells of an observation, whose windows stand for trials; without figures of a
    load, which nobody measured."""
    trials = [_as_trial(one) for one in windows.trials]
    found = cell_values([Arm(windows.arm, {})], trials, [windows], environment)
    return tuple(
        ObservedCell(one.cell, tuple(one.measured.values.values()))
        for one in found
        if one.measured.values or not one.measured.metric
    )


def _as_trial(window: TrialSignals) -> TrialMeasures:
    values = {
        name: value for (source, _, name), value in window.values.items() if source == _METRIC
    }
    whole = StepMeasures(None, 0, 0, window.transactions, values)
    return TrialMeasures(window.number, window.block, 0, window.arm, whole, (), ())
