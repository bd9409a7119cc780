"""Analyses a simulated run after each block, as `pgassay run` does.

Enters: a plan, its trials in the order of blocks. Leaves: the verdicts at which the run ends.
Never: decides anything itself; pgassay's stopping rule and analysis do.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pgassay.analysis.gates.judge import may_end
from pgassay.analysis.judge import verdicts, without_settled
from pgassay.analysis.model import Answer, TrialMeasures
from pgassay.plan.model import Plan


def conclude(plan: Plan, trials: Iterable[TrialMeasures]) -> tuple[Answer, int]:
    """The verdicts and block at which the run ends; later trials are not simulated."""
    seen: list[TrialMeasures] = []
    analysis: Answer | None = None
    ends_here = False
    for block, own in groupby(trials, key=lambda trial: trial.block):
        seen += (trial for trial in own if block <= plan.dropped.get(trial.arm, block))
        ends_here = plan.may_stop_after(block)
        if ends_here:
            analysis = verdicts(plan, seen, before=analysis)
            if may_end(plan, analysis):
                return analysis, block
            plan = without_settled(plan, analysis, block)
    return analysis if analysis and ends_here else verdicts(plan, seen), plan.last_block
