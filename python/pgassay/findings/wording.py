"""Estimates and intervals as a DBA would quote them, and the texts of the rules.

Enters: numbers, estimates. Leaves: short texts. Never: decides anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from pgassay.analysis.compare import model
from pgassay.analysis.compare.model import FEW_BLOCKS, Comparison, TimePart
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.values import Estimate, Interval
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.language import messages_of
from pgassay.note_catalogues import VALUES, table_of
from pgassay.notes import Note, Term
from pgassay.quantities import RATE_DIGITS, IntervalForm, beyond, digits_of, interval_form


@cache
def texts_of(module: str) -> dict[str, Any]:
    """The limits and sentences of a rule, from the TOML file beside its module."""
    rule = module.removeprefix("pgassay.").replace(".", "/")
    return messages_of(dict(table_of(f"{rule}.toml")), besides=(VALUES,))


Estimated = Comparison | model.Estimate


def interval(estimate: Estimated, margin: float = 0.0, *, unsigned: bool = False) -> Note:
    """Return an interval with its blocks, such as `95 % CI 1.8 to 4.4 %, 11 blocks`.

    `margin` is the smallest effect, a share.

    Unsigned beside a word for the direction: "4.2 % lower (95 % CI 3.1 to 5.3 %)".
    """
    blocks = Note.of("findings/blocks", n=estimate.blocks)
    if estimate.rounds is not None:
        blocks = Note.of("findings/rounds", rounds=estimate.rounds, blocks=blocks)
    if estimate.ci95_pct is None:
        return Note.of("findings/no-interval-of-blocks", blocks=blocks)
    low, high = _bounds(estimate.ci95_pct, margin, unsigned)
    form = interval_form(low, high, estimate.effect_pct)
    return Note.of(_OF_BLOCKS[form], low=low, high=high, blocks=blocks)


_FORMS = {
    IntervalForm.PER_CENT: "findings/interval",
    IntervalForm.TO_MULTIPLE: "findings/interval-to-multiple",
    IntervalForm.MULTIPLES: "findings/multiples",
}
_OF_BLOCKS = {
    IntervalForm.PER_CENT: "findings/interval-of-blocks",
    IntervalForm.TO_MULTIPLE: "findings/interval-to-multiple-of-blocks",
    IntervalForm.MULTIPLES: "findings/multiples-of-blocks",
}
_RANGES = {
    IntervalForm.PER_CENT: "findings/range",
    IntervalForm.TO_MULTIPLE: "findings/range-to-multiple",
    IntervalForm.MULTIPLES: "findings/range-of-multiples",
}


def aside(interval: Note) -> Note:
    """Returns the note of an interval in brackets."""
    return Note.of("findings/aside", interval=interval)


def bare_interval(
    comparison: Comparison, margin: float, *, in_points: bool, unsigned: bool = False
) -> Note:
    """Return the interval without blocks; in points for a metric that is a share."""
    if in_points:
        return percent_interval(comparison.ci95, margin, unit=Term("points"), unsigned=unsigned)
    return percent_interval(
        comparison.ci95_pct, margin, unsigned=unsigned, effect_pct=comparison.effect_pct
    )


def percent_interval(
    ends: Interval | None,
    margin: float,
    *,
    unit: str = "%",
    unsigned: bool = False,
    effect_pct: float | None = None,
) -> Note:
    """Return an interval of per cent, of a change `effect_pct`, or of another unit, such as
    `95 % CI 1.8 to 4.4 %`."""
    if ends is None:
        return Note("findings/no-interval")
    low, high = _bounds(ends, margin, unsigned)
    form = interval_form(low, high, effect_pct) if unit == "%" else IntervalForm.PER_CENT
    with_unit = {"unit": unit} if form is IntervalForm.PER_CENT else {}
    return Note.of(_FORMS[form], low=low, high=high, **with_unit)


def slow_range(comparison: Comparison, margin: float) -> Note:
    """The effects that are possible if they build up slowly: `−1.2 to +5.3 %`."""
    if comparison.slow_ci90_pct is None:
        return Note("findings/range-unknown")
    low, high = _bounds(comparison.slow_ci90_pct, margin, unsigned=False)
    return Note.of(_RANGES[interval_form(low, high)], low=low, high=high)


def percent(value: float | None) -> Note | Term:
    """Return a change in per cent with its sign, such as `+3.1 %`; a large one as a multiple."""
    return Term("n/a") if value is None else Note.of("findings/percent", pct=value)


def change(value: float, limit: float = 0.0, *, in_points: bool = False) -> Note:
    """Return a change, such as `+1.2 %`.

    It has as many decimals as keep it on its side of zero and of ± `limit`.
    """
    end = beyond(value, abs(limit))
    if math.isinf(end):
        return Note.of("findings/unbounded-change", value=end)
    return Note.of("findings/change", value=end, unit=Term("points") if in_points else "%")


def as_sentences(*said: Note | None) -> Note:
    """Several sentences, one after the other; those that are None are left out."""
    return Note.of("findings/sentences", said=tuple(one for one in said if one is not None))


def measured(value: float, metric: Metric, *, with_unit: bool = True) -> Note:
    """A value with its unit, such as `8 015 tps` or `12.3 kB`."""
    if metric.unit == "B":
        return Note.of("findings/bytes", value=value)
    digits = digits_for(value, metric)
    if not (metric.unit and with_unit):
        return Note.of("findings/quantity", value=value, digits=digits)
    return Note.of("findings/quantity-with-unit", value=value, digits=digits, unit=metric.unit)


def quantity(value: float, metric: Metric) -> str:
    """Return a value with its unit as text."""
    return str(measured(value, metric))


def digits_for(value: float, metric: Metric) -> int:
    """Returns the decimals that a value has, and the ends of its interval."""
    return digits_of(value, metric.digits or RATE_DIGITS)


def share_interval(part: TimePart) -> Note | str:
    """Return the interval of a part of time, such as ` (60 to 88 %)`, or the empty text."""
    if part.share_ci95_pct is None:
        return ""
    low, high = part.share_ci95_pct
    return Note.of("findings/share-interval", low=low, high=high)


def ends(estimate: Estimate) -> tuple[float | str, float | str]:
    """The ends of an interval as values of a note; `?` for an end that is not known."""
    low, high = ("?" if end is None else end for end in (estimate.low, estimate.high))
    return low, high


def time_of(milliseconds: float) -> Note:
    """A latency to three significant digits."""
    return Note.of("findings/latency", value=milliseconds)


def where(arm: ArmSummary, arms: Sequence[ArmSummary]) -> Note:
    """Return where a figure holds: `with max_wal_size = 4GB`; a single arm is not named."""
    if len(arms) > 1:
        return Note.of("findings/with-arm", arm=arm.label)
    return Note("findings/in-this-run")


def metric_note(name: str) -> Note:
    """Returns the note of a metric's title."""
    return Note.of("findings/metric", name=name, title=Term(METRICS[name].title))


def more_blocks(number: int | None) -> Note:
    """Return a number of further blocks in words, such as `one more block`."""
    return Note.of("findings/more-blocks", number=number or 0)


def outlook(estimate: Estimated) -> str:
    """Which sentence says how many more blocks an undecided estimate needs."""
    if estimate.blocks < FEW_BLOCKS:
        return "few"
    return "unknown" if estimate.blocks_to_decide is None else "more"


def _bounds(ends: Interval, margin: float, unsigned: bool) -> Interval:
    """Both ends; those of an interval below zero without their signs, if that is asked for."""
    low, high = ends
    if unsigned and high < 0.0:
        low, high = -high, -low
    return beyond(low, 100.0 * margin), beyond(high, 100.0 * margin)
