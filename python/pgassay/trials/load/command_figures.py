"""Reads the throughput that a user's program reports.

Enters: its output, and where in it the figure stands. Leaves: transactions per second.
Never: guesses: a figure that is not there is a TrialError.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pgassay.errors import TrialError
from pgassay.spec.load.table import ThroughputTable


def throughput(text: str, where: ThroughputTable) -> float:
    """Returns the throughput that the program printed; `text` is the program's stdout or the file
    that was named."""
    if where.json_ is not None:
        found = _at(_json(text), where.json_)
        named = f"load.throughput.json = {where.json_!r}"
    else:
        matches = re.findall(where.pattern or "", text)
        named = f"load.throughput.pattern = {where.pattern!r}"
        if not matches:
            raise TrialError(f"{named}: nothing in the command's output matches")
        found = matches[-1]
    try:
        if isinstance(found, bool):
            raise ValueError
        tps = float(found)
    except (TypeError, ValueError):
        raise TrialError(f"{named}: {str(found)[:60]!r} is not a number") from None
    if not math.isfinite(tps) or tps < 0:
        raise TrialError(f"{named}: {tps} is not a throughput")
    return tps


def _json(text: str) -> Any:
    """The whole output, or the last line of it that is JSON: programs talk before they report."""
    for candidate in (text, *reversed(text.splitlines())):
        if candidate.strip():
            try:
                return json.loads(candidate)
            except ValueError:
                continue
    raise TrialError("load.throughput.json: the command's output holds no JSON")


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            known = ", ".join(list(value)[:8]) if isinstance(value, dict) else "nothing by name"
            raise TrialError(f"load.throughput.json: no {part!r} of {path!r}; there is {known}")
    return value
