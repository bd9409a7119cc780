"""In which arms a rule's signs hold, and whether an arm's levels brought them about.

Enters: rules, the facts of every arm, the run's rule of intervals. Leaves: a `Judgement` for each
rule that is seen. Never: puts anything into words, or tests seconds: one value a trial.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.rule import Rule as RuleOfRun
from pgassay.analysis.compare.secondary import critical_for_many
from pgassay.analysis.statistics.intervals import mean_estimate, paired_t_p
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.diagnosis.quantities import ArmFacts, Value, values_of
from pgassay.findings.diagnosis.rule_file import Rule, Sign
from pgassay.findings.model import Confidence
from pgassay.findings.wording import texts_of

_SHARED = texts_of("pgassay.findings.limits")
_LIMITS = texts_of("pgassay.findings.diagnosis.recognised")["limits"]
_ORDER = (Confidence.CONFIRMED, Confidence.SUPPORTED, Confidence.HYPOTHESIS)


@dataclass(frozen=True)
class SignInArm:
    """One sign in one arm."""

    sign: Sign
    values: tuple[Value, ...]
    reached: int
    """In how many trials its limit is reached."""
    holds: bool
    """Whether in nearly all trials."""

    @property
    def known(self) -> list[float]:
        """The values of trials in which it was measured."""
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class RuleInArm:
    """One rule in one arm."""

    facts: ArmFacts
    signs: tuple[SignInArm, ...]
    seen: Confidence | None
    """None where a leading sign does not hold."""

    @property
    def leads(self) -> bool:
        """Returns whether every leading sign of the rule holds in this arm."""
        return all(one.holds for one in self.signs if one.sign.role == "leading")


@dataclass(frozen=True)
class ArmContrast:
    """The compared quantity in an arm with the mechanism and in one without, over blocks."""

    arm: str
    other: str
    sign: Sign
    mean: float
    other_mean: float
    differences: NDArray[np.float64]
    """By block."""
    p: float
    difference: Estimate
    """At the level at which interval and corrected p agree, and of the run's rule."""
    p_corrected: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Returns whether arms differ in the sign's direction, after correction for all tests."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None or self.p_corrected > _LIMITS["error_rate"]:
            return False
        return low > 0.0 if self.sign.most is None else high < 0.0


@dataclass(frozen=True)
class Judgement:
    """A rule that is seen in some arm."""

    rule: Rule
    confidence: Confidence
    arms: tuple[RuleInArm, ...]
    """Those it is seen in, the surest first."""
    contrast: ArmContrast | None = None
    """What confirms it."""


def judge(
    rules: Sequence[Rule],
    arms: Sequence[ArmFacts],
    interval: RuleOfRun | None,
    compared: Collection[str],
) -> list[Judgement]:
    """Every rule that is seen, the surest first.

    `compared` are the arms that may be held against each other: none of those of an A/A run, nor
    any with a level whose verdict is withdrawn.
    """
    readings = {rule.name: [_read(rule, facts) for facts in arms] for rule in rules}
    contrasts = _corrected(
        [
            (rule.name, contrast)
            for rule in rules
            for contrast in _contrasts(
                rule, [one for one in readings[rule.name] if one.facts.signals.arm in compared]
            )
        ],
        interval,
    )
    found = []
    for rule in rules:
        seen = sorted(
            (one for one in readings[rule.name] if one.seen is not None),
            key=lambda one: _ORDER.index(one.seen or Confidence.HYPOTHESIS),
        )
        if seen:
            mine = [contrast for name, contrast in contrasts if name == rule.name]
            found.append(_judged(rule, seen, readings[rule.name], mine))
    return sorted(found, key=lambda one: _ORDER.index(one.confidence))


def _read(rule: Rule, facts: ArmFacts) -> RuleInArm:
    signs = tuple(_sign_in(sign, facts) for sign in rule.sign)
    found = RuleInArm(facts, signs, None)
    if not found.leads:
        return found
    needed = all(one.holds for one in signs if one.sign.role == "required")
    helps = sum(one.holds for one in signs if one.sign.role == "supporting")
    whole = needed and helps >= rule.supporting
    enough = len(facts.signals.trials) >= _SHARED["least_trials"]
    seen = Confidence.SUPPORTED if whole and enough else Confidence.HYPOTHESIS
    return replace(found, seen=_at_most(seen, rule.reaches))


def _sign_in(sign: Sign, facts: ArmFacts) -> SignInArm:
    values = values_of(sign, facts)
    reached = sum(value is not None and _reaches(sign, value) for value in values)
    needed = math.ceil(_SHARED["nearly_all"] * len(values))
    return SignInArm(sign, values, reached, reached >= needed)


def _reaches(sign: Sign, value: float) -> bool:
    if sign.least is None and sign.most is None:
        return value > 0.0
    above = sign.least is None or value >= sign.least
    return above and (sign.most is None or value <= sign.most)


def _judged(
    rule: Rule,
    seen: Sequence[RuleInArm],
    every: Sequence[RuleInArm],
    contrasts: Sequence[ArmContrast],
) -> Judgement:
    confidence = seen[0].seen or Confidence.HYPOTHESIS
    with_it = {one.facts.signals.arm for one in seen if one.seen is Confidence.SUPPORTED}
    without = {one.facts.signals.arm for one in every if not one.leads}
    clear = [c for c in contrasts if c.is_clear and c.arm in with_it and c.other in without]
    if clear and rule.reaches is Confidence.CONFIRMED:
        return Judgement(
            rule, Confidence.CONFIRMED, tuple(seen), min(clear, key=lambda c: c.p_corrected)
        )
    return Judgement(rule, confidence, tuple(seen))


def _contrasts(rule: Rule, arms: Sequence[RuleInArm]) -> list[ArmContrast]:
    """Every arm in which the rule is seen against every other one.

    Those that show it too are tested as well, because leaving them out would choose tests by their
    results.
    """
    sign = rule.compared
    if sign is None:
        return []
    at = rule.sign.index(sign)
    found, done = [], set()
    for arm in arms:
        for other in arms:
            pair = frozenset((arm.facts.signals.arm, other.facts.signals.arm))
            if arm.seen is None or arm is other or pair in done:
                continue
            contrast = _contrast(sign, arm, other, at)
            if contrast is not None:
                done.add(pair)
                found.append(contrast)
    return found


def _contrast(sign: Sign, arm: RuleInArm, other: RuleInArm, at: int) -> ArmContrast | None:
    with_it, without = (
        {
            trial.block: value
            for trial, value in zip(one.facts.signals.trials, one.signs[at].values, strict=True)
            if value is not None
        }
        for one in (arm, other)
    )
    blocks = sorted(with_it.keys() & without.keys())
    if len(blocks) < _LIMITS["least_blocks"]:
        return None
    high, low = (np.array([values[block] for block in blocks]) for values in (with_it, without))
    p = paired_t_p(high - low)
    if p is None:
        return None
    return ArmContrast(
        arm.facts.signals.arm,
        other.facts.signals.arm,
        sign,
        float(high.mean()),
        float(low.mean()),
        high - low,
        p,
        Estimate(float((high - low).mean()), None, None),
    )


def _corrected(
    contrasts: Sequence[tuple[str, ArmContrast]], interval: RuleOfRun | None
) -> list[tuple[str, ArmContrast]]:
    """With p for all tests, and intervals that agree with it and hold at every look."""
    if interval is None:
        return []
    family = np.array([one.p for _, one in contrasts], dtype=np.float64)
    alpha = selected_alpha(family, _LIMITS["error_rate"])
    found = []
    for (name, one), p in zip(contrasts, yekutieli(family), strict=True):
        critical = critical_for_many(interval, len(one.differences), alpha)
        difference = mean_estimate(one.differences, critical)
        found.append((name, replace(one, difference=difference, p_corrected=float(p))))
    return found


def _at_most(found: Confidence, limit: Confidence) -> Confidence:
    return _ORDER[max(_ORDER.index(found), _ORDER.index(limit))]
