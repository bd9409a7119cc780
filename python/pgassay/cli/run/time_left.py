"""How long a run may still take.

Enters: the plan, how long its trials took. Leaves: seconds left until the run may end, and until it
ends at the latest, each from … to …. Never: says one number before it has seen a few trials.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.quantities import clock, in_clock

_KNOWN_AFTER = 3
"""Trials; from then on their mean is used alone."""
_SAME_S = 1.0
"""Lengths that differ by less are shown as one."""


@dataclass(frozen=True)
class Span:
    """A length of time in seconds, as far as it is known: the least and the most."""

    low_s: float
    high_s: float

    def __str__(self) -> str:
        low, high = in_clock(self.low_s), in_clock(self.high_s)
        if self.high_s - self.low_s < _SAME_S or low == high:
            return clock(self.high_s)
        shares_unit = low[1] == high[1] != "h"
        return f"{low[0] if shares_unit else clock(self.low_s)} to {clock(self.high_s)}"


class TimeLeft:
    """Learns from finished trials how long one takes with its reset."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._load_s = sum(step.duration_s for step in plan.steps)
        self._took: list[float] = []

    def replanned(self, plan: Plan) -> None:
        """Notes that some arms have no trials in later blocks."""
        self._plan = plan

    def before(self, trial: PlannedTrial) -> int:
        """Returns how many trials of the plan come before one."""
        return sum(
            other.number < trial.number
            for block in range(1, trial.block + 1)
            for other in self._plan.block(block)
        )

    def up_to(self, block: int) -> int:
        """Returns how many trials the plan has to the end of a block."""
        return sum(size for number, size in self._plan.sizes.items() if number <= block)

    def trial_took(self, seconds: float) -> None:
        """Notes how long a trial took."""
        self._took.append(seconds)

    def each(self) -> Span:
        """Returns how long one trial takes."""
        planned = max(self._plan.trial_s, self._load_s)
        if not self._took:
            return Span(self._load_s, 2 * planned - self._load_s)
        if len(self._took) < _KNOWN_AFTER:
            return Span(min(*self._took, planned), max(*self._took, planned))
        mean = sum(self._took) / len(self._took)
        return Span(mean, mean)

    def until(self, block: int, done: int, into_trial_s: float, at_once: int = 1) -> Span:
        """Time left to the end of a block, after so many trials and seconds of the next ones, of
        which so many run at a time."""
        trials = max(self.up_to(block) - done, 0) / at_once
        each = self.each()
        return Span(
            max(trials * each.low_s - into_trial_s, 0.0),
            max(trials * each.high_s - into_trial_s, 0.0),
        )

    def text(self, trial: PlannedTrial, done: int, into_trial_s: float, at_once: int = 1) -> str:
        """Returns text such as `5 to 7 min left`; where the run may end early, also to that
        block."""
        plan = self._plan
        last = max(plan.last_block, trial.block)
        blocks = range(trial.block, last)
        first = next((block for block in blocks if plan.may_stop_after(block)), last)
        latest = self.until(last, done, into_trial_s, at_once)
        if first == last:
            return f"{latest} left"
        soonest = self.until(first, done, into_trial_s, at_once)
        if len(self._took) < _KNOWN_AFTER:
            either = Span(soonest.low_s, latest.high_s)
            return f"{either} left (to block {first} at least, {last} at most)"
        if soonest.high_s < _SAME_S:
            return f"block {first} may be the last, at most {latest} (block {last})"
        return f"at least {soonest} left (block {first}), at most {latest} (block {last})"
