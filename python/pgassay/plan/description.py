"""Describe a design: its arms, the aliases of a fraction, the order of blocks.

Enters: a Plan. Leaves: short lines, for `pgassay plan` and the report.
Never: decides anything.
"""

from __future__ import annotations

import math

from pgassay.language import Message, decimals, listed, tr
from pgassay.plan.factorial.aliases import alias_lines
from pgassay.plan.factorial.combinations import ROMAN
from pgassay.plan.model import Plan
from pgassay.plan.plots import whole_plots
from pgassay.plan.switchback import rounds_of
from pgassay.quantities import clock


def run_lengths(plan: Plan) -> tuple[float, float]:
    """Returns how many seconds a run takes with the fewest blocks and with the most; without its
    set-up and report where no prior run says how long they take."""
    least, most = (
        sum(size for block, size in plan.sizes.items() if block <= last) * plan.trial_s
        + (plan.outside_s or 0.0)
        for last in (plan.min_blocks, plan.last_block)
    )
    return least, most


def time_range(plan: Plan) -> str:
    """Returns how long a run takes, such as `about 20 min to 2 h 05 min`."""
    least, most = map(clock, run_lengths(plan))
    without = " after set-up" if plan.outside_s is None else ""
    return f"about {least if least == most else f'{least} to {most}'}{without}"


def combinations_line(plan: Plan) -> str:
    """Returns a sentence that says which combinations of levels the plan runs as arms."""
    arms, every = len(plan.arms), math.prod(len(factor.levels) for factor in plan.factors)
    match plan.combinations:
        case "fraction":
            return tr(
                "a fraction of resolution {resolution}, {arms} of {every} combinations: {meaning}",
                resolution=ROMAN[plan.resolution or 3],
                arms=arms,
                every=every,
                meaning=_MEANING[plan.resolution or 3],
            )
        case "one-at-a-time":
            return tr(
                "one factor at a time, {arms} of {every} combinations: each effect holds at "
                "the baseline of the others, and interactions are not measured",
                arms=arms,
                every=every,
            )
        case _:
            return tr("all {every} combinations", every=every)


_MAIN_AND_PAIRS = Message(
    "every effect of a factor, and every interaction of two, is estimated separately"
)
_MEANING = {
    3: Message("the effect of a factor cannot be separated from some interactions of two others"),
    4: Message("effects of factors are separate; some interactions of two cannot be separated"),
    **dict.fromkeys(range(5, 10), _MAIN_AND_PAIRS),
}
"""Resolution → what it means if interactions of three and more factors are zero."""


def aliases(plan: Plan) -> tuple[str, ...]:
    """Returns the effects that a fractional design cannot separate, one line for each set; none for
    other designs."""
    return alias_lines(plan.factors, plan.arms) if plan.combinations == "fraction" else ()


def plots_line(plan: Plan) -> str:
    """Returns a sentence that says how the trials of a block are randomised, and why."""
    if plan.plots == "split":
        many = len(plan.whole_plots(1))
        size = len(plan.arms) / many
        stuck = listed(_constant_inside(plan))
        note = (
            tr("; in this fraction {stuck} does not change within a whole plot either", stuck=stuck)
            if stuck
            else ""
        )
        return tr(
            "split: every block has {many} whole plots of {size} arms, each with one value "
            "of {items}; whole plots and the arms in them are in random order; "
            "{plots_reason}{note}",
            many=many,
            size=decimals(size, "g"),
            items=listed(plan.hard),
            plots_reason=plan.plots_reason or "",
            note=note,
        )
    return tr(
        "complete: all arms of a block in one random order; {plots_reason}",
        plots_reason=plan.plots_reason or "",
    )


def _constant_inside(plan: Plan) -> list[str]:
    """Factors that are easy to change but constant in every whole plot."""
    plots = whole_plots(plan.arms, plan.hard)
    return [
        factor.name
        for factor in plan.factors
        if factor.name not in plan.hard
        and all(len({arm.levels[factor.name] for arm in plot}) == 1 for plot in plots)
    ]


EXCHANGE = Message(
    "the servers exchange their data directories from block to block, so that each "
    "arm is in each as often"
)
"""Said of a duet whose plan says so."""


def mode_lines(plan: Plan) -> tuple[str, ...]:
    """Returns lines with the mode of the plan, why it was chosen, and why other modes are not
    valid."""
    return (*mode_in_force(plan), *_modes_refused(plan))


def mode_in_force(plan: Plan) -> tuple[str, ...]:
    """Returns lines with the mode of the plan and why it was chosen."""
    if not plan.factors:
        return ()
    lines = [f"{plan.mode}: {plan.mode_reason or ''}"]
    if plan.alternates:
        lengths = dict.fromkeys(t.slice_s for t in plan.trials if t.slice_s)
        slices = tr(" and ").join(
            tr("{value} s", value=decimals(length, "g")) for length in lengths
        )
        where = tr(", each on its own server") if plan.side_by_side else ""
        lines.append(
            tr(
                "all {number} arms alternate in every trial{where}, in slices of {slices}",
                number=len(plan.arms),
                where=where,
                slices=slices,
            )
        )
        if own := plan.arms[0].session_settings:
            lines.append(
                tr("only the sessions of the load are given {items}", items=tr(" and ").join(own))
            )
    if plan.exchanges_directories:
        lines.append(str(EXCHANGE))
    return tuple(lines)


def _modes_refused(plan: Plan) -> tuple[str, ...]:
    if not plan.factors:
        return ()
    return tuple(
        tr("not {name}: {why}", name=name, why=why)
        for name, why in plan.modes_refused.items()
        if plan.mode_reason is None or plan.mode_reason.values.get("problem") != why
    )


def restarts_line(plan: Plan, *, every_trial: bool) -> str:
    """Returns how many times a run restarts the server in each block, in words."""
    if plan.side_by_side:
        return tr("{number} a block: every trial starts all servers", number=len(plan.arms))
    if every_trial:
        return tr("{number} a block: every reset restarts the server", number=len(plan.block(1)))
    if plan.plots == "split":
        return tr("{number} a block at most, one per whole plot", number=len(plan.whole_plots(1)))
    if plan.hard:
        return tr("up to {number} a block", number=len(plan.arms))
    return tr("none")


def order_of(plan: Plan, block: int) -> str:
    """Returns the ids of the arms of a block in the order of their trials; brackets hold a whole
    plot."""
    if plan.alternates:
        (trial,) = plan.block(block)
        rounds = rounds_of(plan, trial)
        first = " | ".join(" ".join(arms) for arms in rounds[:3])
        places = listed(
            tr("{arm} in {number}", arm=arm, number=number)
            for arm, number in trial.directories.items()
        )
        where = tr("; directories: {places}", places=places) if places else ""
        return tr(
            "{first} | … ({number} rounds of {slice_s} s slices{where})",
            first=first,
            number=len(rounds),
            slice_s=decimals(trial.slice_s or 0.0, "g"),
            where=where,
        )
    if plan.plots != "split":
        return " ".join(trial.arm for trial in plan.block(block))
    return " ".join(
        f"[{' '.join(trial.arm for trial in plot)}]" for plot in plan.whole_plots(block)
    )
