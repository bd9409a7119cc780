"""What is said of the metrics beside the primary one: each verdict corrected for all of them.

Enters: all comparisons, each judged by itself. Leaves: the same; of a secondary metric better,
worse and negligible stand only where it differs clearly. Never: touches the primary metric's.

A run compares dozens of metrics, at every level. One that is looked at because it stands out is one
of many that could have. So Student's p of all of them together passes Benjamini and Yekutieli's
rule, and the interval excludes zero besides, which in a sequential run holds at every look.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np

from pgassay.analysis.false_discovery import yekutieli
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Comparison, Verdict

_LIMITS = tomllib.loads((files(__package__) / "secondary.toml").read_text("utf-8"))
_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def corrected(comparisons: Sequence[Comparison], primary: str) -> tuple[Comparison, ...]:
    """All of them in their order."""
    found = list(comparisons)
    for whole in (True, False):
        family = [
            at for at, c in enumerate(found) if c.metric != primary and (c.step is None) is whole
        ]
        tested = [at for at in family if found[at].p_t is not None]
        p = np.array([found[at].p_t for at in tested], dtype=np.float64)
        adjusted = dict(zip(tested, yekutieli(p).tolist(), strict=True))
        for at in family:
            found[at] = _said(found[at], adjusted.get(at))
    return tuple(found)


def _said(comparison: Comparison, p: float | None) -> Comparison:
    clear = _never_varies(comparison) if p is None else _is_clear(comparison, p)
    verdict = comparison.verdict
    if verdict is Verdict.NEGLIGIBLE and not clear:
        verdict = Verdict.EQUIVALENT
    elif verdict in _DIFFERENT and not clear:
        verdict = Verdict.UNDECIDED
    elif verdict is Verdict.UNDECIDED and clear and comparison.withdrawn is None:
        verdict = _way(comparison)
    return replace(comparison, verdict=verdict, p_by=p, clear=clear)


def _is_clear(comparison: Comparison, p: float) -> bool:
    if comparison.withdrawn is not None or p > _LIMITS["discovery_rate"]:
        return False
    interval = comparison.ci95
    outside = interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)
    return comparison.verdict in _DIFFERENT or outside


def _never_varies(comparison: Comparison) -> bool:
    """The same difference in every block."""
    known = comparison.withdrawn is None and comparison.blocks >= _LIMITS["constant_blocks"]
    return known and comparison.difference != 0.0


def _way(comparison: Comparison) -> Verdict:
    """Which way it goes; where neither is good, none."""
    good = METRICS[comparison.metric].good
    if good == "neither":
        return Verdict.UNDECIDED
    up = comparison.difference > 0.0
    return Verdict.BETTER if up == (good == "higher") else Verdict.WORSE
