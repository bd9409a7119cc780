"""The noise of one prior run, at the length of a plan's trials.

Enters: a stored record, a plan. Leaves: a `Prior`, or None where the record does not serve.
Never: trusts a record: it may be of another version, or edited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.noise.model import Noise, SwitchbackFloor
from pgassay.plan.model import Plan

_FIELDS = ("trial_sd", "second_sd", "start_sd", "degrees", "measured_s", "trials")


@dataclass(frozen=True)
class Prior:
    """The noise of one prior run, at the length of the plan's trials."""

    sd: float
    """Of a trial, or of its difference of two arms."""
    start_sd: float
    """The part of it that more arms do not increase: that of a duet's starts."""
    weight: float
    units: float
    """Independent differences in a trial."""
    overhead_s: float
    warmup_s: float | None = None
    """The part of its overhead that is warm-up; None where the record does not say."""
    settled_s: float | None = None
    """A warm-up after which its trials were steady."""
    outside_s: float | None = None
    """Seconds of its run outside trials; None where the record does not say."""
    noise: Noise | None = None

    def overhead_with(self, warmup_s: float) -> float:
        """The overhead of trials with another warm-up."""
        own = warmup_s if self.warmup_s is None else self.warmup_s
        return max(0.0, self.overhead_s - own) + warmup_s


def of_trials(record: Mapping[str, Any], plan: Plan) -> Prior | None:
    """The record's noise of the plan's metric; None for another format."""
    try:
        noise = Noise(**record["metrics"][plan.metric])
        overhead_s = float(record["overhead_s"])
    except (KeyError, TypeError, ValueError):
        return None
    numbers = [getattr(noise, name) for name in _FIELDS]
    usable = all(v is None or (isinstance(v, int | float) and v >= 0) for v in numbers)
    if not (usable and noise.trial_sd and noise.degrees and noise.measured_s):
        return None
    sd = noise.trial_sd_at(plan.measured_s)
    times = {name: _seconds(record, name) for name in ("warmup_s", "settled_s", "outside_s")}
    return Prior(sd, 0.0, noise.degrees, 1.0, overhead_s, **times, noise=noise)


def _seconds(record: Mapping[str, Any], key: str) -> float | None:
    """A time of the record; None where it has none, as those of early versions."""
    found = record.get(key)
    return float(found) if isinstance(found, int | float) and 0 <= found < math.inf else None


def of_turns(record: Mapping[str, Any], plan: Plan) -> Prior | None:
    """Returns the noise of a switchback or duet; None for another mode, metric or length of
    slices."""
    try:
        turns = SwitchbackFloor(**record["turns"])
        overhead_s = float(record["overhead_s"])
        usable = min(turns.trial_sd, turns.measured_s, turns.units, turns.trials) > 0
    except (KeyError, TypeError, ValueError):
        return None
    as_here = (plan.mode, plan.metric, plan.trials[0].slice_s)
    if not usable or (turns.mode, turns.metric, turns.slice_s) != as_here:
        return None
    # Only the part that rounds explain depends on the length of trials.
    rest = math.sqrt(max(0.0, turns.trial_sd**2 - turns.rounds_sd**2))
    longer = plan.measured_s / turns.measured_s
    sd = math.hypot(rest, turns.rounds_sd * math.sqrt(turns.measured_s / plan.measured_s))
    start_sd = rest if plan.side_by_side else 0.0
    outside_s = _seconds(record, "outside_s")
    return Prior(sd, start_sd, turns.trials, turns.units * longer, overhead_s, outside_s=outside_s)
