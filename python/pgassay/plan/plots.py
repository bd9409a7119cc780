"""Decide whether blocks are split into whole plots, by which factors are hard to change.

Enters: factors, arms, the experiment's file. Leaves: whether plots are split, why, and the whole
plots. Never: draws an order; `design.py` does.

Source: Jones & Nachtsheim, "Split-Plot Designs: What, Why, and How", Journal of Quality
Technology 41 (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.language import stored
from pgassay.plan.model import Arm, Factor
from pgassay.spec.factors.kinds import KINDS
from pgassay.spec.model import ExperimentFile
from pgassay.spec.server.reset import STARTS


@dataclass(frozen=True)
class Plots:
    """Whether the blocks are split plots, and why."""

    split: bool
    hard: tuple[str, ...]
    """The factors that are hard to change; in split plots they change between whole plots."""
    reason: str


def is_hard_to_change(factor: Factor, *, existing: bool = False) -> bool:
    """Whether another level takes a restart of the server, or more."""
    kind = KINDS[factor.kind]
    return not (existing and kind.made_by_sql) and kind.is_hard(factor.name)


def restarts_every_trial(file: ExperimentFile) -> bool:
    """Whether the reset before every trial restarts the server."""
    return file.reset_rule().level in STARTS


def choose_plots(
    factors: Sequence[Factor], wanted: str, *, every_trial: bool, existing: bool = False
) -> Plots:
    """Split plots if they save restarts or the user wants them.

    `every_trial`: the reset restarts the server before every trial. `existing`: the server is not
    one that pgassay started.
    """
    hard = tuple(f.name for f in factors if is_hard_to_change(f, existing=existing))
    easy = [factor.name for factor in factors if factor.name not in hard]
    names = ", ".join(hard)
    if len(factors) < 2 or not hard or not easy:
        return Plots(False, hard, _nothing_to_split(factors, hard))
    if wanted == "split":
        why = stored(f"as asked: {names} changes only between whole plots")
        return Plots(True, hard, why)
    if wanted == "complete":
        why = stored("as asked: all orders of a block's arms are equally likely")
        return Plots(False, hard, why)
    if every_trial:
        why = stored(
            "the reset restarts the server before every trial, so whole plots would save nothing"
        )
        return Plots(False, hard, why)
    others = ", ".join(easy)
    why = stored(f"a change of {names} takes a restart, a change of {others} does not")
    return Plots(True, hard, why)


def _nothing_to_split(factors: Sequence[Factor], hard: Sequence[str]) -> str:
    if len(factors) < 2:
        return stored("with fewer than two factors there is nothing to split")
    return stored("every factor takes a restart" if hard else "no factor takes a restart")


def whole_plots(arms: Sequence[Arm], hard: Sequence[str]) -> tuple[tuple[Arm, ...], ...]:
    """The arms grouped by their levels of the hard factors."""
    plots: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms:
        plots.setdefault(tuple(arm.levels[name] for name in hard), []).append(arm)
    return tuple(tuple(plot) for plot in plots.values())
