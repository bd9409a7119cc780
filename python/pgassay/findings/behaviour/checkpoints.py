"""How far throughput falls after a checkpoint begins, and what a checkpoint costs.

Enters: an Analysis. Leaves: findings. Never: reports a cost whose interval contains zero as clear.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import CheckpointContrast, CheckpointEffect
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import ends
from pgassay.notes import Note, Term

_RULE = "findings/behaviour/checkpoints"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """One sentence for each arm, and one for each level whose checkpoints cost more or less."""
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    claims = (
        *(_dip(effect, labels) for effect in analysis.behaviour.checkpoint_effects),
        *(_contrast(one) for one in analysis.behaviour.checkpoint_contrasts),
    )
    return [
        Finding(FindingKind.OBSERVATION, Note(f"{_RULE}/title"), claim, rule="checkpoints")
        for claim in claims
        if claim is not None
    ]


def _dip(effect: CheckpointEffect, labels: dict[str, str]) -> Note | None:
    depth, lost, arm = effect.depth_pct, effect.lost_transactions, labels[effect.arm]
    if depth is None or lost is None or lost.low is None or lost.high is None:
        return None
    cost = Note.of(
        f"{_RULE}/{'lost' if lost.low > 0.0 or lost.high < 0.0 else 'lost_unclear'}",
        count=lost.value,
        low=lost.low,
        high=lost.high,
        window=effect.after_s,
        trials=effect.trials,
        checkpoints=effect.checkpoints,
    )
    recovery = effect.recovery_s
    if recovery is None:
        return Note.of(f"{_RULE}/none", arm=arm, lost=cost)
    low, high = ends(recovery)
    is_sure = recovery.low is not None and recovery.high is not None
    return Note.of(
        f"{_RULE}/dip",
        arm=arm,
        depth=depth.value,
        interval=_interval(depth),
        recovery=Note.of(
            f"{_RULE}/{'recovery' if is_sure else 'recovery_open'}",
            at=recovery.value,
            low=low,
            high=high,
            window=effect.after_s,
        ),
        lost=cost,
    )


def _interval(depth: Estimate) -> Note:
    """Nothing where all trials fall by the same, as where none commits."""
    if depth.low is None or depth.high is None:
        return Note(f"{_RULE}/depth_same")
    return Note.of(f"{_RULE}/depth_interval", low=depth.low, high=depth.high)


def _contrast(contrast: CheckpointContrast) -> Note | None:
    lost = contrast.lost_transactions
    if lost.low is None or lost.high is None or lost.low <= 0.0 <= lost.high:
        return None
    low, high = sorted((abs(lost.low), abs(lost.high)))
    return Note.of(
        f"{_RULE}/more",
        subject=f"{contrast.factor} = {contrast.level}",
        baseline=contrast.baseline,
        count=abs(lost.value),
        direction=Term("more") if lost.value > 0.0 else Term("fewer"),
        low=low,
        high=high,
        blocks=contrast.blocks,
    )
