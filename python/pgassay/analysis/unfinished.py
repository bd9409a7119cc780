"""A run of a number of blocks fixed beforehand that has not run them all.

Enters: the plan, its finished trials. Leaves: whether verdicts have to wait, and the doubt.
Never: speaks of a run that may stop by its rule, whose intervals hold at every look.

An interval for a fixed number of blocks holds at that number. Broken off by somebody who sees the
figures, a run ends oftener where they happen to please.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.model import Doubt, TrialMeasures
from pgassay.plan.model import Plan


def missing_trials(plan: Plan, finished: Sequence[TrialMeasures]) -> int:
    """How many a fixed run still lacks, repeats among them. 0 where another rule stops."""
    if plan.stops != "fixed" or plan.calibrates or not plan.factors:
        return 0
    planned = {trial.number for trial in plan.trials if trial.block <= plan.min_blocks}
    repeated = {trial.repeats for trial in finished}
    to_repeat = {t.number for t in finished if t.is_repeated and t.number in planned}
    return len(planned - {trial.number for trial in finished}) + len(to_repeat - repeated)


def unfinished_doubts(missing: int) -> Iterator[Doubt]:
    """Told once, with what brings the verdict."""
    if missing:
        trials_lack = "trials are" if missing > 1 else "trial is"
        yield Doubt(
            "unfinished",
            f"{missing} {trials_lack} missing of a number that was fixed beforehand; its interval"
            " holds at that number only, so no verdict is given before (pgassay run --resume RUN)",
        )
