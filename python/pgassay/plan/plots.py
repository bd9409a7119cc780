"""Whole plots: which factors are hard to change, and the order of trials that respects it.

Enters: factors, arms, the experiment's file. Leaves: whether plots are split, why, and each block's
whole plots. Never: draws an order; `design.py` does.

Source: Jones & Nachtsheim, "Split-Plot Designs: What, Why, and How", Journal of Quality
Technology 41 (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.plan.model import Arm, Factor
from pgassay.spec.host_knobs import HUGE, TAKEN_AT_START
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reset import STARTS
from pgassay.spec.settings import CATALOGUED, catalogue

_EASY_KINDS = ("client", "client.settings", "scenarios", "weights")
"""Kinds of factor that only the load's own sessions see. Of a kind that is not known here it is
taken that the server must be started, built or loaded anew."""
_HARD_KNOBS = (HUGE, *TAKEN_AT_START)
_MADE_BY_SQL = ("schema", "workload")
"""Kinds that are SQL on the running server where that is not ours."""


@dataclass(frozen=True)
class Plots:
    """How trials of a block are ordered."""

    split: bool
    hard: tuple[str, ...]
    """The factors whose levels are whole plots, if any."""
    reason: str


def is_hard_to_change(factor: Factor, *, existing: bool = False) -> bool:
    """Whether another level takes a restart of the server, or more."""
    match factor.kind:
        case kind if existing and kind in _MADE_BY_SQL:
            return False
        case "postgres":
            entries = [catalogue(m).get(factor.name) for m in CATALOGUED]
            known = [entry for entry in entries if entry is not None]
            # What the catalogue does not know belongs to an extension: often a restart's.
            return not known or known[-1]["context"] == "postmaster"
        case "host":
            return factor.name.startswith(_HARD_KNOBS)
        case kind:
            return kind not in _EASY_KINDS


def restarts_every_trial(file: ExperimentFile) -> bool:
    """Whether the reset before a trial starts the server anew, whatever the arm needs."""
    return file.reset_rule().level in STARTS


def choose_plots(
    factors: Sequence[Factor], wanted: str, *, every_trial: bool, existing: bool = False
) -> Plots:
    """Split plots where they save restarts, or where the user wants them.

    `every_trial` says that each trial restarts the server whatever its arm needs, `existing` that
    the server is not ours.
    """
    hard = tuple(f.name for f in factors if is_hard_to_change(f, existing=existing))
    easy = [factor.name for factor in factors if factor.name not in hard]
    names = ", ".join(hard)
    if len(factors) < 2 or not hard or not easy:
        return Plots(False, hard, _nothing_to_split(factors, hard))
    if wanted == "split":
        return Plots(True, hard, f"as asked for: {names} changes with the whole plot")
    if wanted == "complete":
        return Plots(False, hard, "as asked for: every order of a block's arms is as likely")
    if every_trial:
        reason = "the reset starts the server before every trial, so whole plots would save nothing"
        return Plots(False, hard, reason)
    return Plots(True, hard, f"a change of {names} takes a restart, of {', '.join(easy)} none")


def _nothing_to_split(factors: Sequence[Factor], hard: Sequence[str]) -> str:
    if len(factors) < 2:
        return "one factor at most: there is nothing to split"
    if hard:
        return "every factor is as hard to change, so every trial is a whole plot of its own"
    return "no factor takes a restart"


def whole_plots(arms: Sequence[Arm], hard: Sequence[str]) -> tuple[tuple[Arm, ...], ...]:
    """The arms by their levels of the hard factors, in the order of the arms."""
    plots: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms:
        plots.setdefault(tuple(arm.levels[name] for name in hard), []).append(arm)
    return tuple(tuple(plot) for plot in plots.values())
