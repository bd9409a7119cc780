"""Whether a host is fit for measurements, judged by an A/A run.

Enters: a Calibration. Leaves: a grade and a claim per check, and the worst of the grades.
Never: estimates.
"""

from __future__ import annotations

import math
from enum import StrEnum

from pgassay.analysis.noise.model import Calibration, RunTrend
from pgassay.findings.wording import texts_of
from pgassay.notes import Note

_RULE = "findings/noise/fitness"
_TEXTS = texts_of(__name__)


class Fitness(StrEnum):
    """How fit a host is for measurements like these."""

    FIT = "fit"
    DOUBTFUL = "doubtful"
    UNFIT = "unfit"


def fitness_of(found: Calibration, smallest_effect: float) -> Fitness:
    """Returns the worst result of all checks of a calibration."""
    states = (state for state, _, _ in checks(found, smallest_effect))
    return max(states, key=list(Fitness).index, default=Fitness.FIT)


def checks(found: Calibration, smallest_effect: float) -> list[tuple[Fitness, Note, Note]]:
    """(state, title, clause) of each check that could be made."""
    host, effect = found.host, 100.0 * smallest_effect
    reach = None if found.ci95_pct is None else max(abs(end) for end in found.ci95_pct) / effect
    detectable = found.outlook.detectable
    values: dict[str, float | None] = {
        # The differences between whole trials cancel in a switchback.
        "spread": 100.0 * found.noise.trial_sd if found.turns is None else None,
        "detectable": None if detectable is None else detectable / smallest_effect,
        "interval": reach,
        "trend": None if found.trend is None else abs(found.trend.pct),
        "steal": host.worst_steal_pct,
        "others": host.others_pct,
        "frequency": host.frequency_spread_pct,
        "throttled": host.throttled,
    }
    checked = []
    for name, value in values.items():
        rule = _TEXTS["check"][name]
        code = f"{_RULE}/check.{name}"
        title = Note(f"{code}.title")
        if value is None and "none" in rule:
            checked.append((Fitness.UNFIT, title, Note(f"{code}.none")))
        elif value is not None:
            state = _state(value, rule["doubtful"], rule["unfit"])
            # Drift that the noise of trials explains is no fault of the host.
            if name == "trend" and found.trend is not None and not found.trend.is_sure:
                state = Fitness.FIT
            figure = _figure(value, rule.get("most", math.inf))
            clause = Note.of(f"{code}.text", value=figure, interval=_interval(name, found.trend))
            checked.append((state, title, clause))
    return checked


def _figure(value: float, most: float) -> Note:
    if value > most:
        return Note.of(f"{_RULE}/more_than", most=most)
    return Note.of("findings/two-digits", value=value)


def _interval(name: str, trend: RunTrend | None) -> Note | str:
    """Of a trend, behind its figure."""
    if name != "trend" or trend is None:
        return ""
    low, high = trend.ci95_pct
    return Note.of(
        f"{_RULE}/check.trend.{'sure' if trend.is_sure else 'chance'}", low=low, high=high
    )


def _state(value: float, doubtful: float, unfit: float) -> Fitness:
    if value >= unfit:
        return Fitness.UNFIT
    return Fitness.DOUBTFUL if value >= doubtful else Fitness.FIT
