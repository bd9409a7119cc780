"""Options that are lengths of time.

Enters: an option and its text. Leaves: seconds. Never: takes one beyond the option's limits.
"""

from __future__ import annotations

from pgassay.errors import SpecError
from pgassay.spec.reading.units import duration_s


def seconds_of(option: str, text: str, least: float, most: float) -> float:
    """`90s` or `5 min` in seconds."""
    try:
        seconds = duration_s(text)
    except ValueError as error:
        raise SpecError(str(error), key=option) from None
    if not least <= seconds <= most:
        raise SpecError(f"{text}: give {least:g} s to {most:g} s", key=option)
    return seconds
