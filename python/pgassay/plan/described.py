"""The design in words: what is an arm, what a fraction cannot tell apart, how blocks are ordered.

Enters: a Plan. Leaves: short lines, the same for `pgassay plan` and the report.
Never: decides anything.
"""

from __future__ import annotations

import math

from pgassay.plan.aliases import alias_lines
from pgassay.plan.combinations import ROMAN
from pgassay.plan.model import Plan
from pgassay.plan.plots import whole_plots
from pgassay.plan.turns import rounds_of


def combinations_line(plan: Plan) -> str:
    """Which combinations of levels are arms."""
    arms, every = len(plan.arms), math.prod(len(factor.levels) for factor in plan.factors)
    match plan.combinations:
        case "fraction":
            return (
                f"a fraction of resolution {ROMAN[plan.resolution or 3]}, {arms} of {every}"
                f" combinations; {_MEANING[plan.resolution or 3]}"
            )
        case "one-at-a-time":
            return (
                f"one factor at a time, {arms} of {every} combinations: each effect holds at the"
                " baseline of the others, and interactions cannot be seen"
            )
        case _:
            return f"all {every} combinations"


_MAIN_AND_PAIRS = "main effects and interactions of two factors stand alone"
_MEANING = {
    3: "a main effect cannot be told from interactions of two others",
    4: "main effects stand alone; some interactions of two cannot be told from each other",
    **dict.fromkeys(range(5, 10), _MAIN_AND_PAIRS),
}
"""Resolution → what it means, where interactions of three and more are nothing."""


def aliases(plan: Plan) -> tuple[str, ...]:
    """Effects that a fraction cannot tell apart; nothing for other designs."""
    return alias_lines(plan.factors, plan.arms) if plan.combinations == "fraction" else ()


def plots_line(plan: Plan) -> str:
    """How a block is randomised, and why."""
    if plan.plots == "split":
        many = len(plan.whole_plots(1))
        size = len(plan.arms) / many
        stuck = ", ".join(_constant_inside(plan))
        told = f"; {stuck} never changes inside a whole plot of this fraction" if stuck else ""
        return (
            f"split: {many} whole plots of {size:g} arms in every block, by"
            f" {', '.join(plan.hard)}, in random order, and inside each its arms;"
            f" {plan.plots_reason}{told}"
        )
    return f"complete: all arms of a block in one random order; {plan.plots_reason}"


def _constant_inside(plan: Plan) -> list[str]:
    """Factors that are easy to change, and yet follow from those of the whole plot."""
    plots = whole_plots(plan.arms, plan.hard)
    return [
        factor.name
        for factor in plan.factors
        if factor.name not in plan.hard
        and all(len({arm.levels[factor.name] for arm in plot}) == 1 for plot in plots)
    ]


def mode_lines(plan: Plan) -> tuple[str, ...]:
    """How arms are spread over trials, why, and why not otherwise."""
    if not plan.factors:
        return ()
    lines = [f"{plan.mode}: {plan.mode_reason}"]
    if plan.alternates:
        lengths = dict.fromkeys(t.slice_s for t in plan.trials if t.slice_s)
        told = " and ".join(f"{length:g} s" for length in lengths)
        where = ", each on a server of its own" if plan.side_by_side else ""
        lines.append(
            f"every trial has all {len(plan.arms)} arms in turn{where}, in slices of {told}"
        )
    others = plan.modes_refused.items()
    lines += [f"not {name}: {why}" for name, why in others if why not in plan.mode_reason]
    return tuple(lines)


def restarts_line(plan: Plan, *, every_trial: bool) -> str:
    """How often a run starts the server anew for a trial."""
    if plan.side_by_side:
        return f"{len(plan.arms)} a block: every trial starts all servers"
    if every_trial:
        return f"{len(plan.block(1))} a block: the reset before every trial is one"
    if plan.plots == "split":
        return f"{len(plan.whole_plots(1))} a block at most, one per whole plot"
    if plan.hard:
        return f"up to {len(plan.arms)} a block"
    return "none"


def order_of(plan: Plan, block: int) -> str:
    """The arms of a block in their order, whole plots in brackets."""
    if plan.alternates:
        (trial,) = plan.block(block)
        rounds = rounds_of(plan, trial)
        first = " | ".join(" ".join(arms) for arms in rounds[:3])
        return f"{first} | … ({len(rounds)} rounds of {trial.slice_s:g} s slices)"
    if plan.plots != "split":
        return " ".join(trial.arm for trial in plan.block(block))
    return " ".join(
        f"[{' '.join(trial.arm for trial in plot)}]" for plot in plan.whole_plots(block)
    )
