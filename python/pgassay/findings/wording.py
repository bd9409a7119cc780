"""Estimates and intervals as a DBA would quote them, and the texts of the rules.

Enters: numbers, estimates. Leaves: short texts. Never: decides anything.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.compare import model
from pgassay.analysis.compare.accounting import TimePart
from pgassay.analysis.compare.estimate import FEW_BLOCKS
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.reading.metrics import Metric
from pgassay.analysis.statistics.values import Estimate, Interval
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.language import messages_of, ntr, tr
from pgassay.quantities import bound, digits_of, plain_number, size, spaced

NO_MESSAGES = (
    "avoided_by", "avoided_by_none", "caveat", "control", "costs", "events", "factors", "limits",
    "rule", "signs", "thresholds", "varied", "when",
)  # fmt: skip
"""Keys of the rules' files whose texts are names and not sentences."""


@cache
def texts_of(module: str) -> dict[str, Any]:
    """The limits and sentences of a rule, from the TOML file beside its module."""
    room, _, rule = module.rpartition(".")
    found: dict[str, Any] = messages_of(
        tomllib.loads((files(room) / f"{rule}.toml").read_text("utf-8")), besides=NO_MESSAGES
    )
    return found


Estimated = Comparison | model.Estimate


def interval_text(estimate: Estimated, margin: float = 0.0, *, unsigned: bool = False) -> str:
    """Such as `95 % CI 1.8 to 4.4 %, 11 blocks`; `margin` is the smallest effect, a share.

    Unsigned beside a word for the direction: "4.2 % lower (95 % CI 3.1 to 5.3 %)".
    """
    blocks = ntr("{n} block", "{n} blocks", estimate.blocks)
    if estimate.rounds is not None:
        blocks = tr("{rounds} rounds of slices in {blocks}", rounds=estimate.rounds, blocks=blocks)
    if estimate.ci95_pct is None:
        return tr("no interval yet, {blocks}", blocks=blocks)
    low, high = _bounds(estimate.ci95_pct, margin, unsigned)
    return tr("95 % CI {low} to {high} %, {blocks}", low=low, high=high, blocks=blocks)


def bare_interval(
    comparison: Comparison, margin: float, *, in_points: bool, unsigned: bool = False
) -> str:
    """The same without blocks; in points for a metric that is a share."""
    ends = comparison.ci95 if in_points else comparison.ci95_pct
    return percent_interval(
        ends, margin, unit=tr("points") if in_points else "%", unsigned=unsigned
    )


def percent_interval(
    ends: Interval | None, margin: float, *, unit: str = "%", unsigned: bool = False
) -> str:
    """Such as `95 % CI 1.8 to 4.4 %`."""
    if ends is None:
        return tr("no interval yet")
    low, high = _bounds(ends, margin, unsigned)
    return tr("95 % CI {low} to {high} {unit}", low=low, high=high, unit=unit)


def slow_range(comparison: Comparison, margin: float) -> str:
    """The effects that are possible if they build up slowly: `−1.2 to +5.3 %`."""
    if comparison.slow_ci90_pct is None:
        return tr("of any size")
    low, high = (bound(end, 100.0 * margin) for end in comparison.slow_ci90_pct)
    return tr("{low} to {high} %", low=low, high=high)


def quantity(value: float, metric: Metric) -> str:
    """A value with its unit, such as `8 015 tps` or `12.3 kB`."""
    if metric.unit == "B":
        return size(value)
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{spaced(value, digits_of(value, metric.digits or _FEWEST_DIGITS))}{unit}"


_FEWEST_DIGITS = 2
"""Of a metric without decimals, such as throughput, where it is below a hundred."""


def share_interval(part: TimePart) -> str:
    """Such as ` (60 to 88)`, in per cent; nothing where there is none."""
    if part.share_ci95_pct is None:
        return ""
    low, high = (spaced(end, 0) for end in part.share_ci95_pct)
    return tr(" ({low} to {high} %)", low=low, high=high)


def bounds(estimate: Estimate) -> tuple[str, str]:
    """The ends of an interval; `?` for an end that is not known."""
    low, high = ("?" if end is None else plain_number(end) for end in (estimate.low, estimate.high))
    return low, high


def where(arm: ArmSummary, arms: Sequence[ArmSummary]) -> str:
    """Such as `with max_wal_size = 4GB`; a run of one arm needs no name for it."""
    return tr("with {arm}", arm=arm.label) if len(arms) > 1 else tr("in this run")


def more_blocks(number: int | None) -> str:
    """Such as `one more block`."""
    return tr("one more block") if number == 1 else tr("{number} more blocks", number=number)


def outlook(estimate: Estimated) -> str:
    """Which sentence says how many more blocks an undecided estimate needs."""
    if estimate.blocks < FEW_BLOCKS:
        return "few"
    return "unknown" if estimate.blocks_to_decide is None else "more"


def _bounds(ends: tuple[float, float], margin: float, unsigned: bool) -> tuple[str, str]:
    """Both ends; those of an interval below zero without their signs, if that is asked for."""
    low, high = ends
    if unsigned and high < 0.0:
        low, high = -high, -low
    return bound(low, 100.0 * margin), bound(high, 100.0 * margin)
