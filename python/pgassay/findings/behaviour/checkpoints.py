"""How far throughput falls after a checkpoint begins, and what a checkpoint costs.

Enters: an Analysis. Leaves: findings. Never: reports a cost whose interval contains zero as clear.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import CheckpointContrast, CheckpointEffect
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import bounds, texts_of
from pgassay.language import decimals, tr
from pgassay.quantities import count, plain_number

_TEXTS = texts_of(__name__)


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """One sentence for each arm, and one for each level whose checkpoints cost more or less."""
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    texts = (
        *(_dip(effect, labels) for effect in analysis.behaviour.checkpoint_effects),
        *(_contrast(one) for one in analysis.behaviour.checkpoint_contrasts),
    )
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], text, rule="checkpoints")
        for text in texts
        if text is not None
    ]


def _dip(effect: CheckpointEffect, labels: dict[str, str]) -> str | None:
    depth, lost = effect.depth_pct, effect.lost_transactions
    if depth is None or lost is None or lost.low is None or lost.high is None:
        return None
    window = decimals(effect.after_s, ".0f")
    clear = lost.low > 0.0 or lost.high < 0.0
    costs = str(_TEXTS["lost" if clear else "lost_unclear"]).format(
        count=count(lost.value),
        low=count(lost.low),
        high=count(lost.high),
        window=window,
        trials=effect.trials,
        checkpoints=effect.checkpoints,
    )
    if effect.recovery_s is None:
        return str(_TEXTS["none"]).format(arm=labels[effect.arm], lost=costs)
    recovery = effect.recovery_s
    low, high = bounds(recovery)
    is_sure = recovery.low is not None and recovery.high is not None
    return str(_TEXTS["dip"]).format(
        arm=labels[effect.arm],
        depth=plain_number(depth.value),
        interval=_interval(depth),
        recovery=str(_TEXTS["recovery" if is_sure else "recovery_open"]).format(
            at=plain_number(recovery.value), low=low, high=high, window=window
        ),
        lost=costs,
    )


def _interval(depth: Estimate) -> str:
    """Nothing where all trials fall by the same, as where none commits."""
    if depth.low is None or depth.high is None:
        return str(_TEXTS["depth_same"])
    low, high = plain_number(depth.low), plain_number(depth.high)
    return str(_TEXTS["depth_interval"]).format(low=low, high=high)


def _contrast(contrast: CheckpointContrast) -> str | None:
    lost = contrast.lost_transactions
    if lost.low is None or lost.high is None or lost.low <= 0.0 <= lost.high:
        return None
    more = lost.value > 0.0
    low, high = sorted((abs(lost.low), abs(lost.high)))
    return str(_TEXTS["more"]).format(
        subject=f"{contrast.factor} = {contrast.level}",
        baseline=contrast.baseline,
        count=count(abs(lost.value)),
        direction=tr("more") if more else tr("fewer"),
        low=count(low),
        high=count(high),
        blocks=contrast.blocks,
    )
