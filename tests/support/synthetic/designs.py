"""Plans of experiments that are never run.

Enters: a spec's text, or the levels of one setting. Leaves: a `Plan`.
Never: needs a server or a file.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec


def plan_of_spec(text: str, *, calibrates: bool = False) -> Plan:
    """The plan of an experiment file with this text."""
    return make_plan(parse_spec(text, source="lab.toml", beside=Path()), calibrates=calibrates)


def plan_of_levels(
    levels: Collection[str] = ("1GB", "2GB"),
    *,
    setting: str = "max_wal_size",
    least: int = 6,
    most: int | None = None,
    more: str = "",
) -> Plan:
    """One arm for each level of the setting; as many blocks as the least unless `most` is given.

    `more` follows the levels.
    """
    return plan_of_spec(f"""
        [factors.postgres]
        {setting} = {json.dumps(list(levels))}
        {more}
        [design]
        seed = 1
        min_blocks = {least}
        max_blocks = {least if most is None else most}
    """)
