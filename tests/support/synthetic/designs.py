"""Plans of experiments that are never run.

Enters: a spec's text, or settings with their levels. Leaves: a `Plan`.
Never: needs a server or a file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec


def plan_of_spec(text: str, *, calibrates: bool = False) -> Plan:
    """The plan of an experiment file with this text."""
    return make_plan(parse_spec(text, source="lab.toml", beside=Path()), calibrates=calibrates)


def plan_of_factors(
    factors: Mapping[str, Collection[str]],
    *,
    least: int = 6,
    most: int | None = None,
    seed: int = 1,
    more: str = "",
    design: str = "",
) -> Plan:
    """Settings with their levels; as many blocks as the least unless `most` is given.

    `more` follows the levels, `design` the other keys of [design].
    """
    levels = "\n".join(f"{name} = {json.dumps(list(own))}" for name, own in factors.items())
    return plan_of_spec(f"""
        [factors.postgres]
        {levels}
        {more}
        [design]
        seed = {seed}
        min_blocks = {least}
        max_blocks = {least if most is None else most}
        {design}
    """)


def plan_of_levels(
    levels: Collection[str] = ("1GB", "2GB"), *, setting: str = "max_wal_size", **how: Any
) -> Plan:
    """One arm for each level of the setting."""
    return plan_of_factors({setting: levels}, **how)
