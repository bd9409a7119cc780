"""Names of settings, spelled as the server spells them.

Enters: a table whose keys are names of settings. Leaves: the same under PostgreSQL's own spelling,
or a ValueError where two keys are one setting. Never: judges whether there is such a setting.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BeforeValidator

from pgassay.spec.settings import CATALOGUED, catalogue


@cache
def _spellings() -> dict[str, str]:
    """All of them are small letters, but DateStyle, IntervalStyle and TimeZone."""
    return {name.lower(): name for major in CATALOGUED for name in catalogue(major)}


def server_spelling(name: str) -> str:
    """PostgreSQL compares names without regard to case; one it does not have here stays."""
    return _spellings().get(name.lower(), name)


def _spelled(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    found: dict[str, Any] = {}
    written: dict[str, str] = {}
    for name, value in table.items():
        if not isinstance(name, str):
            return table
        before = written.setdefault(name.lower(), name)
        if before != name:
            raise ValueError(f"{before} and {name} are one setting; keep one of the two")
        found[server_spelling(name)] = value
    return found


SettingNames = BeforeValidator(_spelled)
"""For a table whose keys are settings, however they are spelled."""
