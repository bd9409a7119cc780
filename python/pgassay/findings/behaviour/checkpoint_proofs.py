"""What the arms of a run say of a cause: checkpoints with it against checkpoints without it.

Enters: contrasts of checkpoints between levels, effects of checkpoints. Leaves: proofs, clear or
not, and their figures.
Never: takes a level for one without the cause unless checkpoint_causes.toml says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.curves.model import CheckpointContrast, CheckpointEffect
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import Evidence
from pgassay.findings.wording import ends
from pgassay.notes import Note, Value

_RULE = "findings/behaviour/checkpoint_causes"


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


def proven(proof: Proof, of_level: Sequence[CheckpointEffect]) -> dict[str, Value]:
    """What the sentence of a confirmed cause asks for; `of_level`: of the better level's arms."""
    one = proof.contrast
    lost_is_clear = _clear_sign(one.lost_transactions) != 0
    name, estimate = (
        ("lost", one.lost_transactions) if lost_is_clear else ("depth", one.depth_points)
    )
    low, high = sorted(abs(end) for end in (estimate.low or 0.0, estimate.high or 0.0))
    share, part = one.lost_share_pct, None
    if share is not None and share.high is not None and share.high < 0.0:
        least = min(abs(share.high), 100.0)
        part = Note.of(f"{_RULE}/less.part", share=least, other=proof.other)
    less = Note.of(
        f"{_RULE}/less.{name}",
        value=abs(estimate.value),
        other=proof.other,
        low=low,
        high=high,
        part=part or "",
    )
    own = _own_cost(proof.level, of_level) or ""
    return {"factor": one.factor, "level": proof.level, "less": less, "own": own}


def _own_cost(level: str, effects: Sequence[CheckpointEffect]) -> Note | None:
    """That checkpoints of the level have no clear cost, where that is so: then they may seem to
    save more than the others cost."""
    costs = [one.lost_transactions for one in effects]
    if not costs or any(one is None or _clear_sign(one) > 0 for one in costs):
        return None
    figure: Note | str = ""
    if len(costs) == 1 and (cost := costs[0]) is not None:
        low, high = ends(cost)
        form = "own_negative" if cost.value < 0.0 else "own_figure"
        figure = Note.of(f"{_RULE}/less.{form}", value=cost.value, low=low, high=high)
    return Note.of(f"{_RULE}/less.own", level=level, figure=figure)


def evidence_of(proofs: Sequence[Proof]) -> list[tuple[Evidence, bool]]:
    """The clear figures of every contrast; of one without any, that it has none.

    Each with whether it speaks for the cause.
    """
    found = []
    for proof in proofs:
        one = proof.contrast
        figures = {"contrast": one.lost_transactions, "depth": one.depth_points}
        clear = [name for name, estimate in figures.items() if _clear_sign(estimate) != 0]
        for name in clear or ["contrast"]:
            metric = Note.of(
                f"{_RULE}/evidence.{name}",
                level=f"{one.factor} = {one.level}",
                other=one.baseline,
            )
            low, high = ends(figures[name])
            form = f"{name}_figure" if clear else "unclear"
            figure = Note.of(
                f"{_RULE}/evidence.{form}",
                value=figures[name].value,
                low=low,
                high=high,
                blocks=one.blocks,
            )
            found.append((Evidence(metric, figure), proof.clear))
    return found
