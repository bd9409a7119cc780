"""Convert values of settings to PostgreSQL's base units, however they are written.

Enters: a value as a user writes it, and the setting's unit and type from pg_settings.
Leaves: canonical text, or an error with the code of a refusal.
Never: asks a server.

Source: PostgreSQL documentation, "Setting Parameters: Parameter Names and Values"; the rounding
of fractional values is that of convert_to_base_unit in the server's guc.c.
"""

from __future__ import annotations

import re
from fractions import Fraction

from pgassay.refusals.refusal import UnfitValue

_MEMORY = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_TIME = {"us": 1, "ms": 1_000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_ALSO = {
    "kB": ("k", "kib"),
    "MB": ("m", "mib"),
    "GB": ("g", "gib"),
    "TB": ("t", "tib"),
    "ms": ("msec",),
    "s": ("sec", "secs", "second", "seconds"),
    "min": ("m", "mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
}
"""What else people write for a unit, in lower case."""
_NUMBER = re.compile(
    r"\s*([+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))\s*([A-Za-z]*)\s*$"
)
_LONGEST = 60
_TRUE = ("on", "true", "yes", "1", "tru", "tr", "t", "ye", "y")
_FALSE = ("off", "false", "no", "0", "fals", "fal", "fa", "f", "n", "of")


def to_base(value: str, unit: str | None, vartype: str) -> str:
    """Returns a setting's value in its base unit, in one spelling; raises UnfitValue."""
    match vartype:
        case "bool":
            return _boolean(value)
        case "enum":
            return value.strip().lower()
        case "integer" | "real":
            number = _in_base_unit(value, unit)
            return str(round(number)) if vartype == "integer" else repr(float(number))
        case _:
            return value


def duration_s(value: str | float) -> float:
    """Returns the seconds of a duration such as `90`, `"90s"` or `"1.5min"`."""
    if isinstance(value, bool):
        raise UnfitValue("duration-type")
    if isinstance(value, int | float):
        return float(value)
    return float(_in_base_unit(value, "us", bare_unit="s")) / 10**6


def _boolean(value: str) -> str:
    word = value.strip().lower()
    if word in _TRUE:
        return "on"
    if word in _FALSE:
        return "off"
    raise UnfitValue("not-a-boolean", value=value)


def _in_base_unit(value: str, unit: str | None, bare_unit: str | None = None) -> Fraction:
    match = _NUMBER.match(value)
    if not match:
        if unit is None:
            raise UnfitValue("not-a-number", value=value)
        raise UnfitValue("not-a-number-with-unit", value=value, units=_units(unit))
    digits, suffix = match.groups()
    exponent = re.search(r"[eE][+-]?(\d+)$", digits)
    if len(digits) > _LONGEST or (exponent and int(exponent[1]) > _LONGEST):
        raise UnfitValue("number-too-long", value=value[:20])
    number = Fraction(int(digits, 16)) if "x" in digits.lower() else Fraction(digits)
    if suffix == "":
        if bare_unit is None:
            return number
        suffix = bare_unit
    if unit is None:
        raise UnfitValue("number-without-unit", value=value)
    scale, base = _scale_of(unit)
    if suffix not in scale:
        written = suffix.lower()
        meant = (one for one in scale if written == one.lower() or written in _ALSO.get(one, ()))
        near = next(meant, None)
        if near is not None:
            raise UnfitValue("unit-misspelt", suffix=suffix, near=near)
        raise UnfitValue("unit-unknown", suffix=suffix, units=_units(unit))
    converted = number * scale[suffix] / base
    if number.denominator != 1:
        smaller = max((size for size in scale.values() if size < scale[suffix]), default=None)
        if smaller is not None:
            step = Fraction(smaller, base)
            converted = round(converted / step) * step
    return converted


def _scale_of(unit: str) -> tuple[dict[str, int], int]:
    match = re.fullmatch(r"(\d*)(\w+)", unit)
    multiple, name = (int(match[1] or 1), match[2]) if match else (1, unit)
    scale = _TIME if name in _TIME else _MEMORY
    return scale, multiple * scale[name]


def _units(unit: str) -> str:
    scale, _ = _scale_of(unit)
    return ", ".join(scale)
