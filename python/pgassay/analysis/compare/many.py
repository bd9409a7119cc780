"""Many figures beside the verdicts: each in every arm, against the arm of all baselines.

Enters: the plan, each figure's value in every trial, comparisons. Leaves: `ArmFigure`s.
Never: calls a change clear that the correction for all figures does not.

The unit is the block. Arms are compared by Student's t over block differences, corrected for all
figures of all arms (Benjamini and Yekutieli); intervals have the level at which they agree with
that, and in a run that may end early hold at every look. A figure that is a metric with a
comparison of its own takes that one's result, so that no table contradicts the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.estimate import both, bounded, relative
from pgassay.analysis.compare.model import ArmFigure, Comparison, Verdict, Withdrawn
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.compare.secondary import SECONDARY, critical_for_many
from pgassay.analysis.statistics.intervals import mean_within, paired_t_p
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Plan

Place = tuple[int, str]
"""(block, arm)."""
_TOLD = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_NOT_COMPARED = set(Withdrawn) - {Withdrawn.SET_BY_LOAD}
"""Reasons for which nothing is said of a level."""


@dataclass(frozen=True)
class Measured:
    """One figure in every trial that has it."""

    values: Mapping[Place, float]
    scale: Literal["ratio", "difference"] = "difference"
    floor: float = 0.0
    """A smaller difference is never called clear."""
    metric: str = ""
    """The metric that it is, where it is one."""


@dataclass(frozen=True)
class _Contrast:
    """One figure of one arm against the baseline arm."""

    blocks: Sequence[int]
    """In which both arms have the figure."""
    differences: NDArray[np.float64]
    """By block; of logarithms where ratios are compared."""
    baseline: float
    p: float | None
    own: Comparison | None = None
    """The comparison of the same metric, level and baseline, where there is one."""


def figures_by_arm(
    plan: Plan,
    measured: Sequence[Measured],
    comparisons: Sequence[Comparison],
    fewest_blocks: int = 0,
) -> list[tuple[ArmFigure, ...]]:
    """Returns of each figure what every arm has, in the plan's order; nothing of a figure that no
    trial has. They are corrected together; with fewer blocks no change is called clear.

    The mean of an arm that is compared is of the blocks that its change is of, and that of the
    baseline arm of all these blocks: so the means do not contradict the change where a figure is
    missing in some trials.
    """
    contrasts = {} if plan.calibrates else dict(_contrasts(plan, measured, comparisons))
    family = [at for at, one in contrasts.items() if one.p is not None and one.own is None]
    p = np.array([contrasts[at].p for at in family], dtype=np.float64)
    corrected = dict(zip(family, yekutieli(p).tolist(), strict=True))
    rule, alpha = rule_of(plan), selected_alpha(p, SECONDARY["discovery_rate"])
    used = {at: set(one.blocks) for at, one in contrasts.items()}
    for (place, _), one in contrasts.items():
        used.setdefault((place, plan.arms[0].id), set()).update(one.blocks)

    def figure(place: int, one: Measured, arm: str) -> ArmFigure:
        blocks = used.get((place, arm), set[int]())
        values = [
            value
            for (block, own), value in one.values.items()
            if own == arm and (not blocks or block in blocks)
        ]
        mean = math.fsum(values) / len(values) if values else None
        found = ArmFigure(arm, mean, len(values))
        at = place, arm
        if at not in contrasts:
            return found
        made = _compared(found, one, contrasts[at], corrected.get(at), rule, alpha)
        enough = len(contrasts[at].differences) >= fewest_blocks
        large = abs(made.difference or 0.0) >= one.floor
        return replace(made, clear=made.clear and large and enough)

    return [
        tuple(figure(place, one, arm.id) for arm in plan.arms) if one.values else ()
        for place, one in enumerate(measured)
    ]


def _contrasts(
    plan: Plan, measured: Sequence[Measured], comparisons: Sequence[Comparison]
) -> Iterator[tuple[tuple[int, str], _Contrast]]:
    """(place of the figure, arm) → its contrast, of arms whose levels have no withdrawn verdict."""
    lost = {(c.factor, c.level) for c in comparisons if c.withdrawn in _NOT_COMPARED}
    whole = {(c.metric, c.level): c for c in comparisons if c.step is None}
    base = plan.arms[0].id
    for place, one in enumerate(measured):
        known = sorted({block for block, _ in one.values})
        for arm in plan.arms[1:]:
            if lost & set(arm.levels.items()):
                continue
            blocks = [
                block
                for block in known
                if (block, base) in one.values and (block, arm.id) in one.values
            ]
            pairs = np.array(
                [(one.values[block, base], one.values[block, arm.id]) for block in blocks]
            )
            if not len(pairs) or (one.scale == "ratio" and pairs.min() <= 0.0):
                continue
            scaled = np.log(pairs) if one.scale == "ratio" else pairs
            differences = scaled[:, 1] - scaled[:, 0]
            own = None
            if one.metric and len(plan.factors) == 1:
                own = whole.get((one.metric, arm.levels[plan.factors[0].name]))
            baseline = float(pairs[:, 0].mean())
            made = _Contrast(blocks, differences, baseline, paired_t_p(differences), own)
            yield (place, arm.id), made


def _compared(
    figure: ArmFigure,
    one: Measured,
    contrast: _Contrast,
    p: float | None,
    rule: Rule,
    alpha: float,
) -> ArmFigure:
    if contrast.own is not None:
        return _as_compared(figure, one, contrast.own)
    differences, baseline = contrast.differences, contrast.baseline
    mean = float(differences.mean())
    ends = mean_within(differences, critical_for_many(rule, len(differences), alpha))
    if one.scale == "ratio":
        found = replace(
            figure,
            difference=baseline * math.expm1(mean),
            change_pct=ratio_pct(mean),
            ci95_pct=bounded(both(ends, ratio_pct), least=-100.0),
        )
    else:
        to_pct = relative(False, baseline)
        found = replace(
            figure,
            difference=mean,
            ci95=ends,
            change_pct=to_pct(mean),
            # None of the figures can fall by more than 100 %.
            ci95_pct=bounded(both(ends, to_pct), least=-100.0),
        )
    if contrast.p is None:
        return replace(found, clear=len(differences) >= SECONDARY["constant_blocks"])
    outside = ends is not None and (ends[0] > 0.0 or ends[1] < 0.0)
    clear = p is not None and p <= SECONDARY["discovery_rate"] and outside
    return replace(found, p_by=p, clear=clear)


def _as_compared(figure: ArmFigure, one: Measured, own: Comparison) -> ArmFigure:
    """The result of the metric's own comparison, whose interval has been corrected."""
    return replace(
        figure,
        difference=own.level_mean - own.baseline_mean,
        change_pct=own.effect_pct,
        ci95_pct=own.ci95_pct,
        ci95=own.ci95 if one.scale == "difference" else None,
        p_by=own.p_by,
        clear=own.verdict in _TOLD if own.clear is None else own.clear,
    )
