"""Whether a host is fit for measurements, judged by an A/A run.

Enters: a Calibration. Leaves: a grade per check, and the worst of them.
Never: estimates.
"""

from __future__ import annotations

import math
from enum import StrEnum

from pgassay.analysis.noise.model import Calibration, RunTrend
from pgassay.findings.wording import texts_of
from pgassay.language import decimals, tr

_TEXTS = texts_of(__name__)


class Fitness(StrEnum):
    """How fit a host is for measurements like these."""

    FIT = "fit"
    DOUBTFUL = "doubtful"
    UNFIT = "unfit"


def fitness_of(found: Calibration, smallest_effect: float) -> Fitness:
    """The worst of all checks."""
    states = (state for state, _, _ in checks(found, smallest_effect))
    return max(states, key=list(Fitness).index, default=Fitness.FIT)


def checks(found: Calibration, smallest_effect: float) -> list[tuple[Fitness, str, str]]:
    """(state, title, sentence) of each check that could be made."""
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
    for name in _TEXTS["order"]:
        value, rule = values[name], _TEXTS["check"][name]
        if value is None and "none" in rule:
            checked.append((Fitness.UNFIT, rule["title"], rule["none"]))
        elif value is not None:
            text = str(rule["text"]).format(value=_figure(value, rule.get("most", math.inf)))
            state = _state(value, rule["doubtful"], rule["unfit"])
            if name == "trend" and found.trend is not None:
                # Drift that the noise of trials explains is no fault of the host.
                state = state if found.trend.is_sure else Fitness.FIT
                text += _trend_interval(found.trend)
            checked.append((state, rule["title"], text))
    return checked


def _figure(value: float, most: float) -> str:
    if value > most:
        return tr("more than {most}", most=decimals(most, ".0f"))
    return decimals(value, ".2g") if value < 10 else decimals(value, ".0f")


def _trend_interval(trend: RunTrend) -> str:
    low, high = (decimals(end, ".2g").replace("-", "\u2212") for end in trend.ci95_pct)
    texts = _TEXTS["check"]["trend"]
    return str(texts["sure" if trend.is_sure else "chance"]).format(low=low, high=high)


def _state(value: float, doubtful: float, unfit: float) -> Fitness:
    if value >= unfit:
        return Fitness.UNFIT
    return Fitness.DOUBTFUL if value >= doubtful else Fitness.FIT
