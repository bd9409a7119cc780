"""Sizes among the values of PostgreSQL's settings, as it counts them and as people write them.

Enters: a stored value, such as `65536 × 8kB`. Leaves: bytes, or text such as `512MB`.
Never: touches a value that is no size.
"""

from __future__ import annotations

_UNITS = {"B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}


def setting_bytes(value: str | None) -> int | None:
    """Returns the bytes of `512MB` or, as PostgreSQL counts, `65536 × 8kB`; None if the value is no
    size."""
    product = 1
    for factor in (value or "?").replace(" ", "").split("×"):
        digits = factor.rstrip("BkMGT")
        unit = factor.removeprefix(digits)
        if not digits.isdecimal() or (unit and unit not in _UNITS):
            return None
        product *= int(digits) * _UNITS.get(unit, 1)
    return product


def setting_text(value: str) -> str:
    """A size in the largest unit that divides it, such as `512MB`; other values as they are."""
    number = setting_bytes(value) if value.endswith("B") else None
    if not number:
        return value
    unit = next(unit for unit in reversed(_UNITS) if number % _UNITS[unit] == 0)
    return f"{number // _UNITS[unit]}{unit}"
