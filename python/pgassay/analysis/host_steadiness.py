"""How steady the host was during a run.

Enters: the summaries of its trials. Leaves: a `HostSteadiness`; what was not seen is None.
Never: judges it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgassay.analysis.calibration_model import HostSteadiness


def host_steadiness(summaries: Sequence[Mapping[str, Any]]) -> HostSteadiness:
    """From the looks around each trial (`fingerprint` in trial.json)."""
    prints = [summary.get("fingerprint") or {} for summary in summaries]
    splits = [p["processors"] for p in prints if p.get("processors")]
    steal = _shares(splits, "steal_s")
    others = _shares(splits, "foreign_user_s")
    looks = [
        look.get("host") or {}
        for one in prints
        for look in (one.get("before"), one.get("after"))
        if look
    ]
    speeds = [look["frequency_mhz"] for look in looks if look.get("frequency_mhz")]
    heat = [look["throttled"] for look in looks if look.get("throttled") is not None]
    return HostSteadiness(
        steal_pct=float(np.mean(steal)) if steal else None,
        worst_steal_pct=max(steal, default=None),
        others_pct=float(np.mean(others)) if others else None,
        frequency_spread_pct=100.0 * float(np.std(speeds) / np.mean(speeds))
        if len(speeds) > 2
        else None,
        throttled=max(heat) - min(heat) if heat else None,
    )


def _shares(splits: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    """Of all processors' time, in per cent, where both are known."""
    return [
        100.0 * s[name] / s["all_s"] for s in splits if s.get("all_s") and s.get(name) is not None
    ]
