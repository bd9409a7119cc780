"""The thresholds of the guards: those that ship, and a user's own over them.

Enters: guards.toml, the file that PGASSAY_GUARDS names. Leaves: checked `Limits`.
Never: judges a trial.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import SetupRefused

Limits = Mapping[str, Mapping[str, Any]]
VARIABLE = "PGASSAY_GUARDS"
_GRADES = ("doubt", "invalid")


@cache
def shipped_limits() -> Limits:
    """Returns the thresholds of guards.toml, by guard."""
    return tomllib.loads((files(__package__) / "guards.toml").read_text("utf-8"))


def own_limits() -> Limits:
    """Returns the thresholds that the user's own file changes; empty where none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        return {}
    try:
        found = tomllib.loads(Path(named).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SetupRefused("thresholds-unusable", f"{VARIABLE}: {named}", why=error) from None
    for guard, changes in found.items():
        known = shipped_limits().get(guard)
        if known is None or not isinstance(changes, dict):
            raise SetupRefused(
                "no-such-guard",
                f"{VARIABLE}: {named}",
                guard=guard,
                known=", ".join(shipped_limits()),
            )
        for key, value in changes.items():
            if not _fits(known, key, value):
                code = "guard-of-words" if "is" in known else "guard-of-numbers"
                raise SetupRefused(code, f"{VARIABLE}: {named}: {guard}.{key}")
    return found


def overlaid(own: Limits) -> Limits:
    """Returns the thresholds of guards.toml with a user's own in their places."""
    return {guard: {**limit, **own.get(guard, {})} for guard, limit in shipped_limits().items()}


def unwatched() -> str:
    """Returns a sentence on what no guard measures on a server that only SQL reaches, in words;
    guards of this machine's clock, and all that need SQL alone, still work."""
    words = [limit["on_host"] for limit in shipped_limits().values() if "on_host" in limit]
    return (
        "only SQL reaches this server, so no guard watches its host:"
        f" {', '.join(words[:-1])} and {words[-1]} are not measured"
    )


def _fits(known: Mapping[str, Any], key: str, value: object) -> bool:
    if "is" in known:
        return key == "is" and value in _GRADES
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return key in _GRADES and is_number
