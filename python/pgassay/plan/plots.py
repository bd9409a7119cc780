"""Decide whether blocks are split into whole plots, by which factors are hard to change.

Enters: factors, arms, the experiment's file. Leaves: whether plots are split, why, and the whole
plots. Never: draws an order; `design.py` does.

Source: Jones & Nachtsheim, "Split-Plot Designs: What, Why, and How", Journal of Quality
Technology 41 (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.notes import Note
from pgassay.plan.model import Arm, Factor
from pgassay.spec.factors.kinds import KINDS
from pgassay.spec.model import ExperimentFile
from pgassay.spec.server.reset import STARTS


@dataclass(frozen=True)
class Plots:
    """Whether blocks are split into whole plots, and why."""

    split: bool
    hard: tuple[str, ...]
    """The factors that are hard to change; in split plots they change between whole plots."""
    reason: Note


def is_hard_to_change(factor: Factor, *, by_sql: bool = False) -> bool:
    """Returns whether changing a factor to another level takes a restart of the server, or more."""
    kind = KINDS[factor.kind]
    return not (by_sql and kind.made_by_sql) and kind.is_hard(factor.name)


def restarts_every_trial(file: ExperimentFile) -> bool:
    """Returns whether the reset before every trial restarts the server."""
    return file.reset_rule().level in STARTS


def choose_plots(
    factors: Sequence[Factor], wanted: str, *, every_trial: bool, by_sql: bool = False
) -> Plots:
    """Splits blocks into whole plots if that saves restarts or the user asks for it.

    `every_trial`: the reset restarts the server before every trial. `by_sql`: the schema
    changes by SQL, on the server as it is.
    """
    hard = tuple(f.name for f in factors if is_hard_to_change(f, by_sql=by_sql))
    easy = tuple(factor.name for factor in factors if factor.name not in hard)
    if len(factors) < 2 or not hard or not easy:
        return Plots(False, hard, _nothing_to_split(factors, hard))
    if wanted == "split":
        return Plots(True, hard, Note("plan/split-as-asked", {"names": hard}))
    if wanted == "complete":
        return Plots(False, hard, Note("plan/complete-as-asked"))
    if every_trial:
        return Plots(False, hard, Note("plan/restarts-anyway"))
    return Plots(True, hard, Note("plan/some-restart", {"names": hard, "others": easy}))


def _nothing_to_split(factors: Sequence[Factor], hard: Sequence[str]) -> Note:
    if len(factors) < 2:
        return Note("plan/one-factor")
    return Note("plan/all-restart" if hard else "plan/none-restarts")


def whole_plots(arms: Sequence[Arm], hard: Sequence[str]) -> tuple[tuple[Arm, ...], ...]:
    """Returns the arms grouped by the levels of those factors that are hard to change."""
    plots: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms:
        plots.setdefault(tuple(arm.levels[name] for name in hard), []).append(arm)
    return tuple(tuple(plot) for plot in plots.values())
