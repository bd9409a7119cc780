"""Analyses with nothing in them but what a test gives.

Enters: arms with their levels, fields. Leaves: an `Analysis`. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.model import Analysis, ArmSummary


def analysis_of_arms(arms: Mapping[str, Mapping[str, str]], **fields: Any) -> Analysis:
    """Of these arms, without a trial."""
    return Analysis(
        question="",
        metric="tps",
        smallest_effect=0.02,
        interval=IntervalKind.T,
        simultaneous=1,
        blocks=0,
        arms=tuple(
            ArmSummary(
                id=arm,
                label=", ".join(f"{name} = {level}" for name, level in levels.items()),
                levels=levels,
                trials=0,
                means={},
            )
            for arm, levels in arms.items()
        ),
        trials=(),
        invalid_trials=(),
        comparisons=(),
        warnings=(),
        **fields,
    )
