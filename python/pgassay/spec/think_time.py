"""Think time as users write it: `10ms`, or `10ms:exp` for an exponential one of that mean.

Enters: text or seconds. Leaves: a `ThinkTime`, or ValueError with a message for the user.
Never: draws a time; the engine does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgassay.spec.units import duration_s

_KINDS: dict[str, Literal["constant", "exponential"]] = {
    "": "constant",
    "constant": "constant",
    "exp": "exponential",
    "exponential": "exponential",
}


@dataclass(frozen=True)
class ThinkTime:
    """How long a client waits between its transactions."""

    mean_s: float
    kind: Literal["constant", "exponential"]


def think_time(value: str | float) -> ThinkTime:
    """A mean and its distribution."""
    written, _, kind = value.partition(":") if isinstance(value, str) else (value, "", "")
    mean_s = duration_s(written)
    if kind.strip() not in _KINDS:
        raise ValueError(f"{kind.strip()!r} is no kind of think time; write '10ms' or '10ms:exp'")
    if not 0 < mean_s < 1e6:
        raise ValueError("a think time is above 0; leave it out for none")
    return ThinkTime(mean_s, _KINDS[kind.strip()])
