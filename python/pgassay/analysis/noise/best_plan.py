"""The length, number and warm-up of trials that decide soonest, as against those of the spec.

Enters: a plan, the noise of a trial by its length, the cost of a trial. Leaves: a `BestPlan`.
Never: changes the error of verdicts, or shortens trials that checkpoints must fit into.

Both designs are timed by the same demand: nine of ten runs have a verdict, with the smallest effect
and with none. Slow drift counts to the part of noise that length does not change, so what is
expected of shorter trials, whose blocks share more drift, is cautious.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.noise.power import blocks_for, blocks_spreading
from pgassay.analysis.noise.trial_length import FEWEST_BLOCKS, lengths_to_try
from pgassay.plan.model import Plan

SHORTEST_STEP_S = 5.0
"""The steadiness of shorter steps can hardly be judged."""
_WORTH_IT = 0.9
"""The share of the time as written that another design may take to be named."""
_MOST_BLOCKS = (24, 48)
"""Values of max_blocks that are tried where the spec's own is too small."""


@dataclass(frozen=True)
class Design:
    """What the planner may choose, and how soon it decides."""

    step_s: float
    warmup_s: float
    min_blocks: int
    max_blocks: int
    blocks: int | None
    """Blocks by which 90 % of runs have a verdict; None where fewer have one by `max_blocks`."""
    total_s: float
    """Until then."""


@dataclass(frozen=True)
class BestPlan:
    """The design as written, and the quickest where it gains a tenth or more."""

    written: Design
    best: Design | None
    lengths_known: bool = True
    """Whether other lengths of trial were tried: not where earlier trials were too short for it."""


def best_plan(
    plan: Plan,
    sd_at: Callable[[float], float],
    reset_s: float,
    settled_s: float | None,
    *,
    keeps_length: bool = False,
    in_cycles: bool = False,
) -> BestPlan:
    """`sd_at` gives the noise of trials of a length; `settled_s` is a warm-up that was enough.

    `keeps_length`: the noise at other lengths is not known. `in_cycles`: checkpoints are set or
    varied, so only multiples of the present length are tried.
    """
    measured = [step.duration_s for step in plan.steps if step.measured]
    now_s, steps = measured[0], len(measured)
    warmup_s = sum(step.duration_s for step in plan.steps if not step.measured)

    def design(trial: Plan, step_s: float, warm_s: float) -> Design:
        length_s = step_s * steps
        spread = blocks_spreading(plan, sd_at(length_s))
        blocks = blocks_for(rule_of(trial), spread, trial.min_blocks, trial.last_block)
        trials = len(plan.block(1)) * (blocks or trial.last_block)
        total_s = trials * (length_s + warm_s + reset_s)
        least, most = trial.min_blocks, trial.last_block
        if blocks is not None and plan.stops == "fixed" and trial is not plan:
            least = most = blocks
        return Design(step_s, warm_s, least, most, blocks, total_s)

    def quickest_of(step_s: float) -> Design | None:
        warm_s = warmup_s if settled_s is None or not warmup_s else settled_s
        tried = (design(one, step_s, warm_s) for one in _by_number(plan))
        return next((one for one in tried if one.blocks is not None), None)

    if keeps_length or len(set(measured)) > 1:
        lengths = [now_s]
    elif in_cycles:
        lengths = [now_s * times for times in (1, 2, 3, 4)]
    else:
        lengths = lengths_to_try(now_s, SHORTEST_STEP_S)
    written = design(plan, now_s, warmup_s)
    found = [one for length in lengths if (one := quickest_of(length)) is not None]
    best = min(found, key=lambda one: one.total_s, default=None)
    if best and written.blocks is not None and best.total_s > _WORTH_IT * written.total_s:
        best = None
    return BestPlan(written, best, not keeps_length)


def _by_number(plan: Plan) -> Iterator[Plan]:
    """The plan with its own number of blocks, then with more; looks once chosen are kept."""
    least = max(plan.min_blocks, FEWEST_BLOCKS)
    if plan.stops == "fixed":
        # A single look after any number: `blocks_for` finds the least.
        yield replace(plan, min_blocks=FEWEST_BLOCKS, max_blocks=200, stopping="fixed")
        return
    yield plan
    if plan.stops == "sequential":
        for most in _MOST_BLOCKS:
            if most > plan.max_blocks:
                yield replace(plan, min_blocks=least, max_blocks=most)
