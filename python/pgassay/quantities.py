"""Numbers with their units as a reader writes them, in the language in force.

Enters: numbers. Leaves: short texts. Never: rounds a value that is stored or compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum

from pgassay.language import Message, comma, decimals, localised, ntr, tr


def day(time_ns: int) -> str:
    """Writes the day (UTC) of a time in nanoseconds since 1970, such as `2026-11-27`."""
    return f"{datetime.fromtimestamp(time_ns / 1e9, UTC):%Y-%m-%d}"


def with_unit(title: str, unit: str) -> str:
    """Returns a title with its unit, such as `Wait for a read, ms`; alone where it has none."""
    return f"{title}{comma()}{unit}" if unit else str(title)


class IntervalForm(StrEnum):
    """How the ends of an interval of changes are written."""

    PER_CENT = "per-cent"
    TO_MULTIPLE = "to-multiple"
    """The lower end in per cent."""
    MULTIPLES = "multiples"


class LoadUnit(StrEnum):
    """What the levels of a load count, as it is stored and compared."""

    CLIENTS = "clients"
    RATE = "tps asked"

    @property
    def words(self) -> Message:
        """The unit as it is shown."""
        return Message("clients") if self is LoadUnit.CLIENTS else Message("tps asked")


def clock(seconds: float) -> str:
    """Writes a duration (s) such as `45 s`, `12 min` or `3 h 05 min`."""
    number, unit = in_clock(seconds)
    if unit == "s":
        return tr("{value} s", value=number)
    if unit == "min":
        return tr("{minutes} min", minutes=number)
    return tr("{hours} h {minutes} min", hours=number // 60, minutes=f"{number % 60:02d}")


def in_clock(seconds: float) -> tuple[int, str]:
    """Returns what a clock shows: whole seconds; or minutes, from 90 on as hours and minutes."""
    if seconds < 90:
        return round(seconds), "s"
    minutes = round(seconds / 60)
    return minutes, "min" if minutes < 90 else "h"


def duration(seconds: float) -> str:
    """Writes the same with three significant digits of a short one, such as `2.5 s`."""
    if seconds < 90:
        return tr("{value} s", value=decimals(seconds, ".3g"))
    return clock(seconds)


MULTIPLE_ABOVE = 100.0
"""Per cent of increase above which a change is written as a multiple of the baseline: `+420 %` is
read as 4.2 times, and is 5.2 times. A decrease stays in per cent, because it cannot pass 100 %.
Both ends of the interval of a multiple are multiples; of another one those above this limit."""


def is_multiple(change_pct: float | None) -> bool:
    """Returns whether a change is written as a multiple of the baseline."""
    return change_pct is not None and change_pct > MULTIPLE_ABOVE


def interval_form(low_pct: float, high_pct: float, change_pct: float | None = None) -> IntervalForm:
    """Returns how an interval of a change (all in per cent) is written."""
    if is_multiple(change_pct) or is_multiple(low_pct):
        return IntervalForm.MULTIPLES
    return IntervalForm.TO_MULTIPLE if is_multiple(high_pct) else IntervalForm.PER_CENT


def multiple(change_pct: float) -> str:
    """Writes a change (per cent) as a multiple of the baseline, to two significant digits or whole:
    `5.2` for +420 %."""
    value = 1.0 + change_pct / 100.0
    if math.isinf(value):
        return "∞"
    return spaced(max(value, 0.0), digits_of(value, 3) - 1 if 0.0 < value < 10.0 else 0)


def times(change_pct: float) -> str:
    """Writes a change (per cent) as a multiple with its noun, such as `5.2 times`."""
    value = 1.0 + change_pct / 100.0
    is_whole = 10.0 <= value < math.inf
    # Of a fraction, as of a few, the noun is in its plural of few, where a language has one.
    n = round(value) if is_whole else 2
    return ntr("{value} time", "{value} times", n, value=multiple(change_pct))


def gain(change_pct: float) -> str:
    """Writes an increase (per cent) without a sign to two digits, such as `15 %`; a large one as a
    multiple."""
    return times(change_pct) if is_multiple(change_pct) else f"{two_digits(change_pct)} %"


def share(value: float) -> str:
    """Writes a share (0 to 1) in per cent to three significant digits; a part is never 100 %."""
    text = significant(100.0 * value)
    return tr("{value} %", value=decimals(99.9, ".1f") if text == "100" and value < 1.0 else text)


def signed_percent(value: float | None, like: float | None = None) -> str:
    """Writes a change in per cent with a sign, such as `+3.1 %`, with a true minus sign; as a
    multiple, `5.2 times`, where it or the change that it is an end of (`like`) is large."""
    if value is None:
        return tr("n/a")
    if is_multiple(value) or is_multiple(like):
        return times(value)
    return f"{signed(value)} %"


def signed(value: float) -> str:
    """Writes a number to one decimal and with its sign."""
    return f"{'+' if value > 0 else ''}{spaced(value, 1 if abs(value) < 1000 else 0)}"


def short(value: float) -> str:
    """Writes a number to two significant digits."""
    return decimals(float(f"{value:.2g}"), "g")


def two_digits(value: float) -> str:
    """Writes a number to two significant digits, or whole, with a true minus sign."""
    return localised(format(value, ".2g" if abs(value) < 10 else ".0f"))


TIME_DIGITS = 3
"""Decimals of milliseconds: samples tell no less than microseconds apart."""


def digits_of(value: float, most: int) -> int:
    """Decimals of a value: three significant digits, or fewer."""
    return max(0, min(most, 2 - math.floor(math.log10(abs(value))))) if value else 0


RATE_DIGITS = 3
"""Most decimals of a rate, such as transactions per second."""


def rate(value: float) -> str:
    """Writes a rate to three significant digits or more: `2.35`, `16.6`, `8 041`."""
    return spaced(value, digits_of(value, RATE_DIGITS))


def time_digits(whole: float) -> int:
    """Decimals of parts that stand below each other and sum to a whole, in milliseconds."""
    return min(TIME_DIGITS, digits_of(whole, TIME_DIGITS) + 1)


def milliseconds(value: float, digits: int | None = None) -> str:
    """Writes a time per transaction (ms) to three significant digits or so many decimals; no
    negative zero."""
    places = digits_of(value, TIME_DIGITS) if digits is None else digits
    return tr("{value} ms", value=spaced(round(value, places) + 0.0, places))


def signed_milliseconds(value: float, digits: int | None = None) -> str:
    """Writes a difference of times (ms) with a sign, with a true minus sign."""
    text = milliseconds(value, digits)
    return text if value < 0.0 or not round(value, TIME_DIGITS) else f"+{text}"


def latency(milliseconds: float) -> str:
    """Writes a latency (ms) to three significant digits: `0.087 ms`, `2.34 ms`, `1 230 ms`."""
    return tr("{value} ms", value=significant(milliseconds))


def significant(value: float) -> str:
    """Writes a number to three significant digits."""
    rounded = float(format(value, ".3g"))
    digits = 0 if rounded == 0.0 else max(0, 2 - math.floor(math.log10(abs(rounded))))
    return spaced(rounded, digits)


def size(value: float) -> str:
    """Writes a number of bytes, such as `12.5 MB`."""
    if abs(value) < 1024:
        return tr("{value} B", value=decimals(value, ".0f"))
    for unit in (tr("kB"), tr("MB")):
        value /= 1024
        if abs(value) < 1024:
            return f"{decimals(value, '.1f')} {unit}"
    value /= 1024
    return tr("{value} GB", value=spaced(value, 1))


def plain_number(value: float) -> str:
    """Writes a number to the digits that a reader can use: `3.4`, `12`, `1 200`."""
    return spaced(value, 1 if abs(value) < 10 else 0)


def count(value: float) -> str:
    """Writes a number of things to three significant digits."""
    return spaced(float(format(value, ".3g")), 0)


def load(level: float | None, unit: LoadUnit) -> str:
    """Writes a load, such as `1 client` or `500 tps asked`; `whole trial` without a level."""
    if level is None:
        return tr("whole trial")
    if unit is LoadUnit.CLIENTS and float(level).is_integer():
        return ntr("{n} client", "{n} clients", int(level))
    return f"{decimals(level, 'g')} {unit.words}"


def rounded(value: float) -> float:
    """Rounds a number below ten to two significant digits, others to three and to whole ones."""
    return float(f"{value:.2g}") if abs(value) < 10 else round(float(f"{value:.3g}"))


def two_or_three(value: float) -> str:
    """Writes a number so rounded, with a true minus sign."""
    return decimals(value, "+.2g").removeprefix("+") if abs(value) < 10 else count(value)


def correlation(value: float) -> str:
    """Writes a correlation, such as `+0.42`, with a true minus sign."""
    return decimals(value, "+.2f")


def beyond(value: float, edge: float) -> float:
    """Rounded to one decimal, or as many as keep it on its side of zero and of ± `edge`."""
    if math.isinf(value):
        return value
    digits = 1 if abs(value) < 1000 else 0
    edges = (-edge, 0.0, edge)
    while digits < 4 and any(
        (round(value, digits) - one) * (value - one) <= 0.0 for one in edges if value != one
    ):
        digits += 1
    return round(value, digits)


def as_rounded(value: float) -> str:
    """A rounded value with all its decimals, one at least; none from a thousand on."""
    fewest = 1 if abs(value) < 1000 else 0
    return spaced(value, next((n for n in range(fewest, 4) if round(value, n) == value), 4))


def signed_rounded(value: float) -> str:
    """Return a rounded value with its sign and all its decimals; `∞` where there is no end."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{'+' if value > 0 else ''}{as_rounded(value)}"


def spaced(value: float, digits: int) -> str:
    """Thousands apart, with a true minus sign, as the language in force writes numbers."""
    return localised(f"{value:,.{digits}f}")


FORMATS: Mapping[str, Callable[[float], str]] = {
    "bytes": size,
    "change": signed_percent,
    "clock": clock,
    "duration": duration,
    "count": count,
    "gain": gain,
    "ms": milliseconds,
    "multiple": multiple,
    "plain": plain_number,
    "rounded": as_rounded,
    "short": short,
    "signed": signed,
    "signed-ms": signed_milliseconds,
    "significant": significant,
    "times": times,
    "signed-rounded": signed_rounded,
    "two-digits": two_digits,
    "two-or-three": two_or_three,
}
"""Formats of numbers in sentences, that Python does not have."""
