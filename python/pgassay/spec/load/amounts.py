"""Parse numbers of clients, rates, stages with a time each, and think times.

Enters: text such as `8`, `5,8,12`, `5..22 log 6`, `5..20 lin 4` or `30s:10,2m:50`, or numbers.
Leaves: numbers, `Stage` or `ThinkTime` values, or ValueError with a message for the user.
Never: knows whether the numbers are clients or transactions per second.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.units import duration_s

_RANGE = re.compile(r"\s*([0-9.]+?)\s*\.\.\s*([0-9.]+?)(?:\s+(\w+)\s+(\d+))?\s*$")
_STAGE = re.compile(r"\s*([^:]+):\s*([0-9.]+)\s*$")
_TIME_PART = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|min|m|h|d)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_MOST = 1000
_PAUSES: dict[str, Literal["constant", "exponential"]] = {
    "": "constant",
    "constant": "constant",
    "exp": "exponential",
    "exponential": "exponential",
}
MOST_CLIENTS = 1_000_000


@dataclass(frozen=True)
class Stage:
    """A time at a constant number of clients (k6 would ramp to that number)."""

    amount: int
    duration_s: float


@dataclass(frozen=True)
class ThinkTime:
    """How long a client waits between its transactions."""

    mean_s: float
    kind: Literal["constant", "exponential"]


def amounts(text: str, *, whole: bool) -> tuple[float, ...]:
    """Returns the levels that a text such as `5..22 log 6` lists; with `whole` only whole
    numbers."""
    match = _RANGE.match(text)
    if match:
        return _spread(match, whole=whole)
    return tuple(_number(part, whole=whole) for part in text.split(","))


def stages(text: str) -> tuple[Stage, ...]:
    """Returns the stages that a text such as `30s:10,2m:50` lists: seconds and clients of each."""
    found = []
    for part in text.split(","):
        match = _STAGE.match(part)
        if not match:
            raise UnfitValue("not-a-stage", stage=part.strip())
        clients = int(_number(match[2], whole=True))
        if clients < 1:
            raise UnfitValue("stage-without-clients", stage=part.strip())
        found.append(Stage(clients, stage_time_s(match[1])))
    return tuple(found)


def is_stages(text: str) -> bool:
    """Returns whether a text lists stages with times, rather than levels."""
    return ":" in text


def stage_time_s(text: str) -> float:
    """Returns the seconds of a stage written as `90`, `90s`, `2m` (minutes, as k6 writes them) or
    `1h30m`."""
    word = text.strip()
    parts = _TIME_PART.findall(word)
    if parts and "".join(number + unit for number, unit in parts) == word:
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    else:
        try:
            seconds = float(word)
        except ValueError:
            raise UnfitValue("not-a-stage-time", time=word) from None
    if not 0 < seconds < 1e9:
        raise UnfitValue("not-a-stage-length", time=word)
    return seconds


def think_time(value: Any) -> ThinkTime:
    """Returns the think time of `10ms` or of seconds; `10ms:exp` is drawn from an exponential
    distribution with that mean."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnfitValue("think-time-form")
    written, _, kind = value.partition(":") if isinstance(value, str) else (value, "", "")
    mean_s = duration_s(written)
    if kind.strip() not in _PAUSES:
        raise UnfitValue("think-time-unknown", kind=kind.strip())
    if not 0 < mean_s < 1e6:
        raise UnfitValue("think-time-of-nothing")
    return ThinkTime(mean_s, _PAUSES[kind.strip()])


def _spread(match: re.Match[str], *, whole: bool) -> tuple[float, ...]:
    first, last = (_number(match[i], whole=whole) for i in (1, 2))
    kind, count = match[3], int(match[4] or 0)
    if kind not in ("log", "lin") or not 2 <= count <= _MOST:
        raise UnfitValue("range-without-steps", given=match[0].strip(), most=_MOST)
    if first <= 0 or last <= first:
        raise UnfitValue("range-not-rising", given=match[0].strip())
    shares = [index / (count - 1) for index in range(count)]
    if kind == "log":
        exact = [first * (last / first) ** share for share in shares]
    else:
        exact = [first + (last - first) * share for share in shares]
    levels = [round(level) if whole else float(f"{level:.4g}") for level in exact]
    levels[-1] = last  # rounding must not move the end of the range
    if len(set(levels)) < count:
        raise UnfitValue("range-too-fine", given=match[0].strip())
    return tuple(levels)


def _number(text: str, *, whole: bool) -> float:
    word = text.strip()
    try:
        number: float = int(word) if whole else float(word)
        if not math.isfinite(number):
            raise ValueError
    except (ValueError, OverflowError):
        code = "not-a-whole-number" if whole else "not-an-amount"
        raise UnfitValue(code, given=word) from None
    if whole and number > MOST_CLIENTS:
        raise UnfitValue("amount-too-large", given=word, most=MOST_CLIENTS)
    return number
