"""Numbers, comparisons and other estimates as cells and columns of a table.

Enters: estimates. Leaves: short texts, cells, columns; what is absent is an en dash.
Never: computes an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pgassay.analysis.compare.model import Estimate
from pgassay.analysis.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics import values
from pgassay.findings.wording import quantity
from pgassay.language import Message, decimals, tr
from pgassay.quantities import (
    IntervalForm,
    interval_form,
    load,
    multiple,
    plain_number,
    signed,
    signed_percent,
    spaced,
    times,
)
from pgassay.report.charts.style import TONES
from pgassay.report.document.table import Absent, Cell, Column, Form, column, raw

ABSENT = Absent("–")
NO_BREAK = "\u00a0"
"""A space at which no line breaks."""
INTERVAL = Message("95\xa0% interval")
SIGN_FLIP = Message("Sign-flip\xa0p")
EVIDENCE = Message("Evidence")
"""One figure, which belongs to the rule by which the run ended."""


def moment(time_ns: int) -> str:
    """A time in UTC, to the second."""
    return f"{datetime.fromtimestamp(time_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S}"


def subject(one: Any) -> str:
    """Names the level that a fact is of, such as `max_wal_size = 4GB`."""
    return f"{one.factor} = {one.level}"


def change(comparison: Comparison) -> str:
    """Writes a change in per cent; where that says nothing, in the metric's unit."""
    if is_in_per_cent(comparison):
        return signed_percent(comparison.effect_pct)
    return _signed(comparison.difference, METRICS[comparison.metric])


def difference(comparison: Comparison) -> str:
    """Writes a difference in the metric's unit, such as `+1 369 tps`."""
    return _signed(comparison.level_mean - comparison.baseline_mean, METRICS[comparison.metric])


def interval_of(comparison: Comparison) -> str:
    """The 95 % interval of the change, in the same unit."""
    in_per_cent = comparison.ci95_pct is not None and is_in_per_cent(comparison)
    if in_per_cent or comparison.ci95 is None:
        return interval(comparison.ci95_pct, comparison.effect_pct)
    metric = METRICS[comparison.metric]
    return tr(" to ").join(_signed(end, metric) for end in comparison.ci95)


def is_in_per_cent(comparison: Comparison) -> bool:
    """Returns whether per cent say anything: not of nearly nothing, nor of a figure below zero."""
    effect, means = comparison.effect_pct, (comparison.baseline_mean, comparison.level_mean)
    return effect is not None and abs(effect) <= values.USELESS_PCT and min(means) >= 0.0


_WITHOUT_VERDICT = (Verdict.UNDECIDED, Verdict.DESCRIBED)


def result(comparison: Comparison) -> Cell:
    """The verdict; of a metric beside the primary one whether it differs, where none is given."""
    text = comparison.verdict.value
    if comparison.clear is not None and comparison.verdict in _WITHOUT_VERDICT:
        text = tr("different") if comparison.clear else tr("no clear difference")
        text = text if comparison.withdrawn is None else _withdrawn(comparison.withdrawn)
    return tone_cell(text, TONES[comparison.verdict])


def _withdrawn(why: Withdrawn) -> str:
    return tr("set by the load") if why is Withdrawn.SET_BY_LOAD else tr("withdrawn")


def tone_cell(text: str, tone: str) -> Cell:
    """Returns the cell of a verdict in its colour."""
    return Cell(tr(text), style=f"word {tone}")


def _signed(value: float, metric: Metric) -> str:
    return f"{'+' if value > 0 else ''}{quantity(value, metric)}"


def measured(value: float | None, metric: Metric) -> Cell:
    """A value with its unit, or a dash."""
    known = value is not None and math.isfinite(value)
    return valued(value if known else None, lambda known: quantity(known, metric))


def valued(value: Any, write: Callable[[Any], str] = str) -> Cell:
    """A raw value, as a format writes it; a dash where there is none."""
    return Cell(ABSENT) if value is None else Cell(write(value), value=value)


def interval(ends: tuple[float, float] | None, change_pct: float | None = None) -> str:
    """Return an interval of a change, such as `−1.2 % to +3.4 %`."""
    if ends is None:
        return ABSENT
    low, high = (signed_percent(end, like=change_pct) for end in ends)
    return tr("{low} to {high}", low=low, high=high)


def with_interval(change_pct: float | None, ends: tuple[float, float] | None) -> str:
    """A change and its interval, which break only between the two: `+3.1 % (1.8 to 4.4 %)`."""
    change = _unbroken(signed_percent(change_pct))
    if ends is None:
        return change
    form = interval_form(*ends, change_pct)
    if form is IntervalForm.PER_CENT:
        low, high = map(signed, ends)
        return f"{change} ({_unbroken(tr('{low} to {high} %', low=low, high=high))})"
    first = multiple if form is IntervalForm.MULTIPLES else signed_percent
    words = tr("{low} to {high}", low=first(ends[0]), high=times(ends[1]))
    return f"{change} ({_unbroken(words)})"


def _unbroken(text: str) -> str:
    return text.replace(" ", NO_BREAK)


def between(estimate: values.Estimate) -> str:
    """Return the interval of an estimate, such as ` (18 to 26)`, or the empty text."""
    return f" ({found})" if (found := ends_of(estimate)) else ""


def ends_of(estimate: values.Estimate) -> str:
    """Return the interval of an estimate, such as `18 to 26`, or the empty text."""
    if estimate.low is None and estimate.high is None:
        return ""
    ends = ("?" if end is None else plain_number(end) for end in (estimate.low, estimate.high))
    return tr(" to ").join(ends)


_LEAST_P = 0.0005
"""A smaller p is shown as less than 0.001."""


def probability(value: float | None) -> str:
    """Writes a p-value to three decimals."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return "< 0.001" if value < _LEAST_P else decimals(value, ".3f")


def compared_p(value: float) -> str:
    """A p as it stands behind its letter, such as `= 0.031` or `< 0.001`."""
    return probability(value) if value < _LEAST_P else f"= {probability(value)}"


def evidence(one: Comparison | Estimate) -> str:
    """The sign-flip p, or the p that holds at every look: what the run's rule has.

    A dash where a verdict is withdrawn.
    """
    if isinstance(one, Comparison) and one.withdrawn is not None:
        return ABSENT
    if one.p_sign_flip is not None:
        return f"p {compared_p(one.p_sign_flip)}"
    return ABSENT if one.p_looks is None else f"p ≤ {decimals(one.p_looks, 'g')}"


_SMALL_P = 0.05


def looks_decided(one: Comparison) -> bool:
    """Whether p is small although the verdict, which rests on the interval, is undecided."""
    undecided = one.verdict is Verdict.UNDECIDED and one.withdrawn is None
    return undecided and one.p_sign_flip is not None and one.p_sign_flip <= _SMALL_P


def whole(value: float) -> str:
    """Writes a number without decimals, its thousands apart."""
    return spaced(value, 0)


def written(
    name: str,
    title: str,
    write: Callable[[Any], str | Cell] = str,
    form: Form = "number",
    *,
    merges: bool = False,
    full_title: str = "",
) -> Column:
    """A column of a value of facts, as a format writes it; a dash where there is none."""

    def show(one: Any) -> str | Cell:
        value = raw(one, name)
        return ABSENT if value is None else write(value)

    return column(name, title, show, form, merges=merges, full_title=full_title)


def percent_column(name: str, title: str = "Change") -> Column:
    """A column of the change that an attribute of facts is, in per cent."""
    return column(name, title, lambda one: signed_percent(raw(one, name)))


def interval_column(name: str, title: str = INTERVAL, of: str = "effect_pct") -> Column:
    """A column of the interval that an attribute of facts is, written as the change `of`."""
    return column(name, title, lambda one: interval(raw(one, name), raw(one, of)))


def verdict_column(tones: Mapping[Any, str], title: str = "Verdict") -> Column:
    """A column of verdicts in their colours."""
    return column(
        "verdict", title, lambda one: tone_cell(one.verdict.value, tones[one.verdict]), "text"
    )


def inside(part: str, columns: Iterable[Column]) -> tuple[Column, ...]:
    """Columns of a part of facts, such as their estimate."""

    def of_part(one: Column) -> Column:
        return replace(one, name=f"{part}.{one.name}", show=lambda fact: one.show(raw(fact, part)))

    return tuple(map(of_part, columns))


LOAD = column("step", "Load", lambda one: load(one.step, one.step_unit), "line")
MEANS = (
    column("baseline_mean", "Baseline", lambda c: quantity(c.baseline_mean, METRICS[c.metric])),
    column("level_mean", "Level", lambda c: quantity(c.level_mean, METRICS[c.metric])),
)
CHANGE = (
    column("effect_pct", "Change", lambda c: Cell(change(c), value=c.effect_pct or c.difference)),
    column("ci95_pct", INTERVAL, lambda c: Cell(interval_of(c), value=c.ci95_pct or c.ci95)),
)
BLOCKS = written("blocks", "Blocks")
P = column("p_sign_flip", EVIDENCE, evidence)
RESULT = column("verdict", "Result", result, "text")
ESTIMATE = inside("estimate", (percent_column("effect_pct"), interval_column("ci95_pct"), P))
"""Of facts with an `Estimate`."""
