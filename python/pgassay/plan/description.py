"""Describe a design: its arms, the aliases of a fraction, the order of blocks.

Enters: a Plan. Leaves: short lines, for `pgassay plan` and the report.
Never: decides anything.
"""

from __future__ import annotations

import math

from pgassay.plan.factorial.aliases import alias_lines
from pgassay.plan.factorial.combinations import ROMAN
from pgassay.plan.model import Plan
from pgassay.plan.plots import whole_plots
from pgassay.plan.switchback import rounds_of
from pgassay.spec.reading.units import clock


def time_range(plan: Plan) -> str:
    """How long its trials take: of the fewest blocks, to the most."""
    least, most = (
        clock(blocks * len(plan.block(1)) * plan.trial_s)
        for blocks in (plan.min_blocks, plan.last_block)
    )
    return least if least == most else f"{least} to {most}"


def combinations_line(plan: Plan) -> str:
    """Which combinations of levels are arms."""
    arms, every = len(plan.arms), math.prod(len(factor.levels) for factor in plan.factors)
    match plan.combinations:
        case "fraction":
            return (
                f"a fraction of resolution {ROMAN[plan.resolution or 3]}, {arms} of {every}"
                f" combinations: {_MEANING[plan.resolution or 3]}"
            )
        case "one-at-a-time":
            return (
                f"one factor at a time, {arms} of {every} combinations: each effect holds at the"
                " baseline of the others, and interactions are not measured"
            )
        case _:
            return f"all {every} combinations"


_MAIN_AND_PAIRS = "every effect of a factor, and every interaction of two, is estimated separately"
_MEANING = {
    3: "the effect of a factor cannot be separated from some interactions of two others",
    4: "effects of factors are separate; some interactions of two cannot be separated",
    **dict.fromkeys(range(5, 10), _MAIN_AND_PAIRS),
}
"""Resolution → what it means if interactions of three and more factors are zero."""


def aliases(plan: Plan) -> tuple[str, ...]:
    """The aliased effects of a fraction; none for other designs."""
    return alias_lines(plan.factors, plan.arms) if plan.combinations == "fraction" else ()


def plots_line(plan: Plan) -> str:
    """How a block is randomised, and why."""
    if plan.plots == "split":
        many = len(plan.whole_plots(1))
        size = len(plan.arms) / many
        stuck = ", ".join(_constant_inside(plan))
        note = (
            f"; in this fraction {stuck} does not change within a whole plot either"
            if stuck
            else ""
        )
        return (
            f"split: every block has {many} whole plots of {size:g} arms, each with one value of"
            f" {', '.join(plan.hard)}; whole plots and the arms in them are in random order;"
            f" {plan.plots_reason}{note}"
        )
    return f"complete: all arms of a block in one random order; {plan.plots_reason}"


def _constant_inside(plan: Plan) -> list[str]:
    """Factors that are easy to change but constant in every whole plot."""
    plots = whole_plots(plan.arms, plan.hard)
    return [
        factor.name
        for factor in plan.factors
        if factor.name not in plan.hard
        and all(len({arm.levels[factor.name] for arm in plot}) == 1 for plot in plots)
    ]


EXCHANGE = (
    "the servers exchange their data directories from block to block, so that each arm is in each"
    " as often"
)
"""Said of a duet whose plan says so."""


def mode_lines(plan: Plan) -> tuple[str, ...]:
    """The mode, why it was chosen, and why others are not valid."""
    if not plan.factors:
        return ()
    lines = [f"{plan.mode}: {plan.mode_reason}"]
    if plan.alternates:
        lengths = dict.fromkeys(t.slice_s for t in plan.trials if t.slice_s)
        slices = " and ".join(f"{length:g} s" for length in lengths)
        where = ", each on its own server" if plan.side_by_side else ""
        lines.append(
            f"all {len(plan.arms)} arms alternate in every trial{where}, in slices of {slices}"
        )
        if own := plan.arms[0].session_settings:
            lines.append(f"only the sessions of the load are given {' and '.join(own)}")
    if plan.exchanges_directories:
        lines.append(EXCHANGE)
    others = plan.modes_refused.items()
    lines += [f"not {name}: {why}" for name, why in others if why not in plan.mode_reason]
    return tuple(lines)


def restarts_line(plan: Plan, *, every_trial: bool) -> str:
    """How often a run restarts the server."""
    if plan.side_by_side:
        return f"{len(plan.arms)} a block: every trial starts all servers"
    if every_trial:
        return f"{len(plan.block(1))} a block: every reset restarts the server"
    if plan.plots == "split":
        return f"{len(plan.whole_plots(1))} a block at most, one per whole plot"
    if plan.hard:
        return f"up to {len(plan.arms)} a block"
    return "none"


def order_of(plan: Plan, block: int) -> str:
    """The arms of a block in order, whole plots in brackets."""
    if plan.alternates:
        (trial,) = plan.block(block)
        rounds = rounds_of(plan, trial)
        first = " | ".join(" ".join(arms) for arms in rounds[:3])
        places = ", ".join(f"{arm} in {number}" for arm, number in trial.directories.items())
        where = f"; directories: {places}" if places else ""
        return f"{first} | … ({len(rounds)} rounds of {trial.slice_s:g} s slices{where})"
    if plan.plots != "split":
        return " ".join(trial.arm for trial in plan.block(block))
    return " ".join(
        f"[{' '.join(trial.arm for trial in plot)}]" for plot in plan.whole_plots(block)
    )
