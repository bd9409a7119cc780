"""Analyses with nothing in them but what a test gives.

Enters: arms with their levels, fields. Leaves: an `Analysis`, or another with changed fields.
Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.model import Analysis, Answer, ArmSummary, Behaviour, Explanation


def changed(analysis: Analysis, **given: Any) -> Analysis:
    """The analysis with other values of fields, in whichever of its parts they lie; `warnings` take
    the place of those of all parts."""
    parts: dict[str, Any] = {}
    if "warnings" in given:
        for name in ("behaviour", "noise", "explanation"):
            parts[name] = replace(getattr(analysis, name), warnings=())
        analysis = replace(analysis, **parts)
    for part, kind in (("answer", Answer), ("behaviour", Behaviour), ("explanation", Explanation)):
        own = {one.name for one in fields(kind)} & given.keys()
        if own:
            parts[part] = replace(
                getattr(analysis, part), **{name: given.pop(name) for name in own}
            )
    return replace(analysis, **parts, **given)


def analysis_of_arms(arms: Mapping[str, Mapping[str, str]], **given: Any) -> Analysis:
    """Of these arms, without a trial."""
    answer = Answer(
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
    )
    return changed(Analysis(answer), **given)
