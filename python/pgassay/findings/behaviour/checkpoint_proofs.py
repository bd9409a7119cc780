"""What the arms of a run say of a cause: checkpoints with it against checkpoints without it.

Enters: contrasts of checkpoints between levels. Leaves: proofs, clear or not, and their words.
Never: takes a level for one without the cause unless checkpoint_causes.toml says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.curves.model import CheckpointContrast
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import Evidence
from pgassay.findings.wording import count, plain_number


@dataclass(frozen=True)
class Proof:
    """A contrast of a control factor; the level that loses less, and the other one."""

    contrast: CheckpointContrast
    level: str
    other: str
    clear: bool


def proofs_of(
    contrasts: Sequence[CheckpointContrast], controls: Sequence[Mapping[str, Any]], cause: str
) -> list[Proof]:
    """The contrasts of factors that take the cause away, clear or not."""
    found = []
    for contrast in contrasts:
        rule = next(
            (
                one
                for one in controls
                if one["cause"] == cause and one["setting"] == contrast.factor
            ),
            None,
        )
        expected = None if rule is None else _expected(rule, contrast)
        if expected is None:
            continue
        # Below zero: the level loses less than the baseline.
        signs = {_clear_sign(contrast.lost_transactions), _clear_sign(contrast.depth_points)} - {0}
        clear = len(signs) == 1 and (expected == 0 or signs == {expected})
        better_is_level = (expected or min(signs, default=-1)) < 0
        pair = (contrast.level, contrast.baseline)
        found.append(Proof(contrast, *(pair if better_is_level else pair[::-1]), clear))
    return found


def _expected(rule: Mapping[str, Any], contrast: CheckpointContrast) -> int | None:
    """−1 where the level lacks the cause, 1 where the baseline does, 0 for either; None: both
    or neither."""
    if "without" not in rule and "with" not in rule:
        return 0
    lacks = [
        value in rule["without"] if "without" in rule else value not in rule["with"]
        for value in (contrast.level, contrast.baseline)
    ]
    if lacks[0] == lacks[1]:
        return None
    return -1 if lacks[0] else 1


def _clear_sign(estimate: Estimate) -> int:
    if estimate.low is None or estimate.high is None:
        return 0
    return 1 if estimate.low > 0.0 else -1 if estimate.high < 0.0 else 0


def proven(proof: Proof, words: Mapping[str, str]) -> dict[str, str]:
    """What a template of a confirmed cause asks for."""
    one = proof.contrast
    lost_is_clear = _clear_sign(one.lost_transactions) != 0
    name, estimate, wording = (
        ("lost", one.lost_transactions, count)
        if lost_is_clear
        else ("depth", one.depth_points, plain_number)
    )
    low, high = sorted(abs(end) for end in (estimate.low or 0.0, estimate.high or 0.0))
    share, part = one.lost_share_pct, ""
    if share is not None and share.high is not None and share.high < 0.0:
        part = words["part"].format(share=f"{min(abs(share.high), 100.0):.0f}")
    less = words[name].format(
        value=wording(abs(estimate.value)),
        other=proof.other,
        low=wording(low),
        high=wording(high),
        part=part,
    )
    return {"factor": one.factor, "level": proof.level, "less": less}


def evidence_of(proofs: Sequence[Proof], words: Mapping[str, str]) -> list[Evidence]:
    """Both figures of every contrast."""
    found = []
    for proof in proofs:
        one = proof.contrast
        names = {"level": f"{one.factor} = {one.level}", "other": one.baseline}
        figures = (("contrast", one.lost_transactions, count), ("depth", one.depth_points, _points))
        for name, estimate, wording in figures:
            low, high = (
                "?" if end is None else wording(end) for end in (estimate.low, estimate.high)
            )
            found.append(
                Evidence(
                    words[name].format(**names),
                    f"{wording(estimate.value)} (95 % CI {low} to {high}, {one.blocks} blocks)",
                )
            )
    return found


def _points(value: float) -> str:
    return f"{plain_number(value)} points"
