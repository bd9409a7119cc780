"""The USE, RED and LTES tables: every cell in every arm, against the arm of all baselines.

Enters: the plan, trials, comparisons, signals, environment.json. Leaves: `MethodCell`s.
Never: compares a cell apart from the others (`compare/many.py` corrects for all of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.compare.many import figures_by_arm
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.measures.model import ArmSignals, TrialMeasures
from pgassay.analysis.methods.cell_values import cell_values
from pgassay.analysis.methods.model import MethodCell
from pgassay.plan.model import Plan
from pgassay.samples.forms.environment import EnvironmentFile


def method_cells(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    signals: Sequence[ArmSignals],
    environment: EnvironmentFile,
) -> tuple[MethodCell, ...]:
    """Returns all three tables; none where arms alternate, because samples are known by trial."""
    if plan.alternates or not trials:
        return ()
    found = cell_values(plan, trials, signals, environment)
    figures = figures_by_arm(plan, [one.measured for one in found], comparisons)
    return tuple(replace(one.cell, figures=own) for one, own in zip(found, figures, strict=True))
