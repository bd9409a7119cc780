"""The key `gates` of the JSON objects.

Enters: gates with their outcomes. Leaves: a list of plain objects.
Never: writes an infinity; such an end of an interval is null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pgassay.analysis.gates.model import GateCheck, GateResult
from pgassay.analysis.statistics.values import Interval
from pgassay.stored_notes import coded


def gates_object(results: Sequence[GateResult]) -> list[dict[str, Any]]:
    """Returns one JSON object per gate."""
    return [
        {
            "gate": one.gate.text,
            "metric": one.checks[0].comparison.metric if one.checks else one.gate.metrics[-1],
            "outcome": one.outcome,
            "checks": [_check(check) for check in one.checks],
        }
        for one in results
    ]


def _check(check: GateCheck) -> dict[str, Any]:
    names = ("factor", "baseline", "level", "step")
    return {
        **{name: getattr(check.comparison, name) for name in names},
        "change": check.change,
        "unit": check.unit,
        "ci95": _ends(check.ci95),
        "ci90": _ends(check.ci90),
        "outcome": check.outcome,
        "reason_coded": None,
        **coded("reason", check.reason),
        "caught_pct": check.caught_pct,
    }


def _ends(interval: Interval | None) -> list[float | None] | None:
    if interval is None:
        return None
    return [end if math.isfinite(end) else None for end in interval]
