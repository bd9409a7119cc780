"""The use of the host by other programs, over all trials that it disturbed, as one caveat.

Enters: the plan, trials that count, verdicts. Leaves: a caveat with the share of the processors and
the largest programs. Never: judges a trial: which ones were disturbed is what their guard found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.measures.model import Caveat, OtherUse, TrialMeasures
from pgassay.analysis.statistics import special
from pgassay.notes import Importance, Note, Value
from pgassay.plan.model import Plan
from pgassay.trials.guards.noted_programs import OTHER_PROGRAMS, named

_OF_OLDER_RUNS = "trials/guards/foreign-cpu"
_UNEQUAL_P = 0.05


@dataclass(frozen=True)
class DisturbedBy:
    """The disturbed trials, and what disturbed them."""

    trials: tuple[TrialMeasures, ...]
    uses: tuple[OtherUse, ...]
    of: int
    """How many trials count."""

    @property
    def percent(self) -> float:
        """Returns the mean share of all processors in the disturbed trials, in per cent."""
        return float(np.mean([one.percent for one in self.uses]))

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the programs that used most in all of these trials together."""
        total: dict[str, float] = {}
        for use in self.uses:
            for name, share in use.programs:
                total[name] = total.get(name, 0.0) + share
        return tuple(sorted(total, key=lambda name: (-total[name], name)))


def is_of_other_programs(caveat: Caveat) -> bool:
    """Returns whether this caveat of a trial is its guard's on other programs."""
    return caveat.note.code in (OTHER_PROGRAMS, _OF_OLDER_RUNS)


def disturbed_by(trials: Sequence[TrialMeasures]) -> DisturbedBy | None:
    """Returns the trials that other programs disturbed; None without one whose figure is known."""
    hit = [(t, t.others) for t in trials if t.others and any(map(is_of_other_programs, t.warnings))]
    if not hit:
        return None
    return DisturbedBy(tuple(t for t, _ in hit), tuple(use for _, use in hit), len(trials))


def other_program_caveats(
    plan: Plan, trials: Sequence[TrialMeasures], verdicts: Sequence[Comparison]
) -> Iterator[Caveat]:
    """Makes one caveat for all trials. It could change a verdict that is not reached, as the noise
    is part of why, and one between arms whose unequal shares of the host can make as much."""
    found = disturbed_by(trials)
    if found is None:
        return
    each = [use.percent for use in found.uses]
    values: dict[str, Value] = {
        "share": found.percent,
        "hit": len(found.trials),
        "of": found.of,
        "low": min(each),
        "high": max(each),
        "named": named(found.names),
    }
    note = Note("analysis/verdicts/other-programs", values)
    numbers = [trial.number for trial in found.trials]
    judged = [one for one in verdicts if one.verdict is not Verdict.DESCRIBED]
    could_change = any(one.verdict is Verdict.UNDECIDED for one in judged)
    if means := _unequal(plan, trials):
        by_arm = tuple(
            Note("analysis/verdicts/use-of-arm", {"share": share, "label": label})
            for label, share in means.items()
        )
        note = Note("analysis/verdicts/other-programs-unequal", {"caveat": note, "by_arm": by_arm})
        could_change = not all(_exceeds(one, plan, means) for one in judged)
    importance = Importance.VERDICT if could_change else Importance.SIZE
    yield Caveat.of("other-programs", note, importance, numbers)


def _exceeds(one: Comparison, plan: Plan, shares: Mapping[str, float]) -> bool:
    """Whether the whole interval is a larger difference than unequal shares of the processors, in
    per cent by arm, can make: throughput follows the processors that are left, at the most, so a
    level that had fewer of them is not better for that reason."""
    if one.verdict not in (Verdict.BETTER, Verdict.WORSE) or one.ci95_pct is None:
        return False
    level, baseline = (
        np.mean(
            [100.0 - shares[arm.label] for arm in plan.arms if arm.levels.get(one.factor) == name]
        )
        for name in (one.level, one.baseline)
    )
    made = math.log(max(1.0, float(level)) / max(1.0, float(baseline)))
    low, high = (math.log1p(max(end, -99.9) / 100.0) for end in one.ci95_pct)
    made = made if one.verdict is Verdict.BETTER else -made
    return low * high > 0.0 and min(abs(low), abs(high)) > made


def _unequal(plan: Plan, trials: Sequence[TrialMeasures]) -> dict[str, float]:
    """The mean share in trials of each arm, in per cent by the arm's label, where these differ by
    more than chance explains (the test of Kruskal and Wallis) and by as much as an effect that
    matters: a load that lacks a hundredth of the processors may be slower by as much."""
    arms = {
        arm.label: [t.others.percent for t in trials if t.arm == arm.id and t.others]
        for arm in plan.arms
    }
    means = {label: float(np.mean(own)) for label, own in arms.items() if own}
    if len(means) < max(2, len(arms)):
        return {}
    if max(means.values()) - min(means.values()) < 100.0 * plan.smallest_effect:
        return {}
    return means if _kruskal_p(list(arms.values())) < _UNEQUAL_P else {}


def _kruskal_p(groups: Sequence[Sequence[float]]) -> float:
    """By the chi-squared approximation; shares have no ties that matter."""
    every = np.concatenate([np.asarray(group) for group in groups])
    ranks = np.empty(len(every))
    ranks[np.argsort(every, kind="stable")] = np.arange(1, len(every) + 1)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    sums = sum(float(part.sum()) ** 2 / len(part) for part in np.split(ranks, ends))
    n = len(every)
    statistic = 12.0 / (n * (n + 1)) * sums - 3.0 * (n + 1)
    return float(special.chdtrc(len(groups) - 1, max(0.0, statistic)))
