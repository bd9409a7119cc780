"""Numbers with their units as a reader writes them, in the language in force.

Enters: numbers. Leaves: short texts. Never: rounds a value that is stored or compared.
"""

from __future__ import annotations

from pgassay.language import tr


def clock(seconds: float) -> str:
    """A time such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return tr("{value} s", value=f"{seconds:.0f}")
    minutes = round(seconds / 60)
    if minutes < 90:
        return tr("{minutes} min", minutes=minutes)
    return tr("{hours} h {minutes} min", hours=minutes // 60, minutes=f"{minutes % 60:02d}")
