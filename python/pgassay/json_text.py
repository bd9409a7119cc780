"""JSON of files, decoded as far as pgassay itself writes it.

Enters: the text or bytes of a JSON value. Leaves: the value, or a ValueError in one line.
Never: leaves a number that no float or 64-bit integer holds, or ends in RecursionError.
"""

from __future__ import annotations

import json
import math
from typing import Any

_DIGITS = 20
"""Of a 64-bit integer with its sign."""


def decoded(text: str | bytes) -> Any:
    """Returns the value of a JSON text; ValueError says what is wrong with it."""
    try:
        found = json.loads(text, parse_int=_whole)
        at = _not_finite(found, "")
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if at is not None:
        raise ValueError(f"'{at}' is no finite number")
    return found


def first_decoded(text: str, at: int) -> tuple[Any, int]:
    """Returns the JSON value that begins at a place of a text, and the place where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


TOO_DEEP = "values lie too deep in each other"


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS or not -(2**63) <= (found := int(digits)) < 2**63:
        raise ValueError("a whole number is longer than 64 bits")
    return found


def _not_finite(value: Any, at: str) -> str | None:
    """The place of the first number that is none, such as NaN, which Python reads."""
    if isinstance(value, float):
        return None if math.isfinite(value) else at
    if isinstance(value, dict):
        places = ((one, f"{at}.{name}" if at else name) for name, one in value.items())
    elif isinstance(value, list):
        places = ((one, f"{at}[{number}]") for number, one in enumerate(value))
    else:
        return None
    return next((found for one, place in places if (found := _not_finite(one, place))), None)


_DECODER = json.JSONDecoder(parse_int=_whole)
