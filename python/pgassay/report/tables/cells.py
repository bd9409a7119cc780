"""Numbers, comparisons and other estimates as cells of a table.

Enters: estimates. Leaves: short texts and cells; what is absent is an en dash.
Never: computes an estimate.
"""

from __future__ import annotations

import math

from pgassay.analysis.compare.model import Estimate
from pgassay.analysis.model import Comparison, Verdict
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics import values
from pgassay.findings.wording import bounds, quantity, signed_percent
from pgassay.report.charts.style import TONES
from pgassay.report.tables.table import Cell, Column

ABSENT = "–"
INTERVAL = "95\u00a0% interval"
SIGN_FLIP = "Sign-flip\u00a0p"
MAX_T = "max-T\u00a0p"


def subject(one: Comparison) -> str:
    """Such as `max_wal_size = 4GB`."""
    return f"{one.factor} = {one.level}"


def change(comparison: Comparison) -> str:
    """In per cent; where the baseline is zero, in the metric's unit."""
    if comparison.effect_pct is not None:
        return signed_percent(comparison.effect_pct)
    return _signed(comparison.difference, METRICS[comparison.metric])


def interval_of(comparison: Comparison) -> str:
    """The 95 % interval of the change, in the same unit."""
    if comparison.ci95_pct is not None or comparison.ci95 is None:
        return interval(comparison.ci95_pct)
    metric = METRICS[comparison.metric]
    return " to ".join(_signed(end, metric) for end in comparison.ci95)


def means(comparison: Comparison) -> tuple[str, str]:
    """The baseline's mean, and the level's."""
    metric = METRICS[comparison.metric]
    return quantity(comparison.baseline_mean, metric), quantity(comparison.level_mean, metric)


def result(comparison: Comparison) -> Cell:
    """The verdict; of a metric beside the primary one whether it differs, where none is given."""
    text = comparison.verdict.value
    if comparison.clear is not None and comparison.verdict is Verdict.UNDECIDED:
        text = "different" if comparison.clear else "no clear difference"
        text = text if comparison.withdrawn is None else "withdrawn"
    return tone_cell(text, TONES[comparison.verdict])


def tone_cell(text: str, tone: str) -> Cell:
    """A verdict in its colour."""
    return Cell(text, style=f"word {tone}")


ESTIMATE_COLUMNS = tuple(map(Column, ("Change", INTERVAL, SIGN_FLIP, MAX_T, "e-value")))


def estimate_cells(estimate: Estimate) -> tuple[str, ...]:
    """The figures of `ESTIMATE_COLUMNS`."""
    return (
        signed_percent(estimate.effect_pct),
        interval(estimate.ci95_pct),
        probability(estimate.p_sign_flip),
        probability(estimate.p_max_t),
        evidence(estimate.e_value),
    )


def _signed(value: float, metric: Metric) -> str:
    return f"{'+' if value > 0 else ''}{quantity(value, metric)}"


def measured(value: float | None, metric: Metric) -> str:
    """A value with its unit, or a dash."""
    return ABSENT if value is None or not math.isfinite(value) else quantity(value, metric)


def interval(ends: tuple[float, float] | None) -> str:
    """Such as `−1.2 % to +3.4 %`."""
    return ABSENT if ends is None else f"{signed_percent(ends[0])} to {signed_percent(ends[1])}"


def between(estimate: values.Estimate) -> str:
    """Such as ` (18 to 26)`; nothing where there is no interval."""
    if estimate.low is None and estimate.high is None:
        return ""
    return f" ({' to '.join(bounds(estimate))})"


def probability(value: float | None) -> str:
    """A p to three decimals."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def evidence(value: float | None) -> str:
    """An e-value to the digits that matter."""
    if value is None or math.isnan(value):
        return ABSENT
    if value >= 1e6:
        return "> 10⁶"
    return f"{value:.2f}" if value < 10 else whole(value)


def whole(value: float) -> str:
    """A whole number, thousands apart."""
    return f"{value:,.0f}".replace(",", "\u202f")
