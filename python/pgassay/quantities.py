"""Numbers with their units as a reader writes them, in the language in force.

Enters: numbers. Leaves: short texts. Never: rounds a value that is stored or compared.
"""

from __future__ import annotations

import math

from pgassay.language import decimals, localised, tr


def clock(seconds: float) -> str:
    """A time such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return tr("{value} s", value=f"{seconds:.0f}")
    minutes = round(seconds / 60)
    if minutes < 90:
        return tr("{minutes} min", minutes=minutes)
    return tr("{hours} h {minutes} min", hours=minutes // 60, minutes=f"{minutes % 60:02d}")


def signed_percent(value: float | None) -> str:
    """Such as `+3.1 %`, with a true minus sign."""
    return tr("n/a") if value is None else f"{'+' if value > 0 else ''}{_one(value)} %"


def margin_percent(share: float) -> str:
    """A share as `2 %`."""
    return f"{decimals(100 * share, 'g')} %"


def short_share(percent: float) -> str:
    """Such as `39 %` or `8.3 %`."""
    return f"{decimals(float(f'{percent:.2g}'), 'g')} %"


TIME_DIGITS = 3
"""Decimals of milliseconds: samples tell no less than microseconds apart."""


def digits_of(value: float, most: int) -> int:
    """Decimals of a value: three significant digits, or fewer."""
    return max(0, min(most, 2 - math.floor(math.log10(abs(value))))) if value else 0


def time_digits(whole: float) -> int:
    """Decimals of parts that stand below each other and sum to a whole, in milliseconds."""
    return min(TIME_DIGITS, digits_of(whole, TIME_DIGITS) + 1)


def milliseconds(value: float, digits: int | None = None) -> str:
    """A time per transaction, to three significant digits or so many decimals; no negative zero."""
    places = digits_of(value, TIME_DIGITS) if digits is None else digits
    return tr("{value} ms", value=spaced(round(value, places) + 0.0, places))


def signed_milliseconds(value: float, digits: int | None = None) -> str:
    """A difference of such times, with a true minus sign."""
    text = milliseconds(value, digits)
    return text if value < 0.0 or not round(value, TIME_DIGITS) else f"+{text}"


def latency(milliseconds: float) -> str:
    """To three significant digits: `0.087 ms`, `2.34 ms`, `1 230 ms`."""
    return tr("{value} ms", value=significant(milliseconds))


def significant(value: float) -> str:
    """To three significant digits."""
    rounded = float(format(value, ".3g"))
    digits = 0 if rounded == 0.0 else max(0, 2 - math.floor(math.log10(abs(rounded))))
    return spaced(rounded, digits)


def size(value: float) -> str:
    """Bytes, such as `12.5 MB`."""
    if abs(value) < 1024:
        return tr("{value} B", value=decimals(value, ".0f"))
    for unit in (tr("kB"), tr("MB")):
        value /= 1024
        if abs(value) < 1024:
            return f"{decimals(value, '.1f')} {unit}"
    value /= 1024
    return tr("{value} GB", value=spaced(value, 1))


def plain_number(value: float) -> str:
    """To the digits that a reader can use: `3.4`, `12`, `1 200`."""
    return spaced(value, 1 if abs(value) < 10 else 0)


def count(value: float) -> str:
    """A number of things, to three significant digits."""
    return spaced(float(format(value, ".3g")), 0)


def correlation(value: float) -> str:
    """Such as `+0.42`, with a true minus sign."""
    return decimals(value, "+.2f")


def bound(value: float, margin: float) -> str:
    """One decimal, or as many as keep it on its side of zero and of both margins, up to four."""
    digits = 1 if abs(value) < 1000 else 0
    edges = (-margin, 0.0, margin)
    while digits < 4 and any(
        (round(value, digits) - edge) * (value - edge) <= 0.0 for edge in edges if value != edge
    ):
        digits += 1
    return spaced(value, digits)


def signed_bound(value: float, edge: float) -> str:
    """Such as `+1.2 %`, to as many decimals as keep it on its side of zero and of ± `edge`."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{'+' if value > 0 else ''}{bound(value, abs(edge))} %"


def _one(value: float) -> str:
    return spaced(value, 1 if abs(value) < 1000 else 0)


def spaced(value: float, digits: int) -> str:
    """Thousands apart, with a true minus sign, as the language in force writes numbers."""
    return localised(f"{value:,.{digits}f}")
