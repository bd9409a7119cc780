"""Whether arms can be compared as a duet: each on a server of its own, all up at the same time.

Enters: a Spec, its factors. Leaves: why not, or nothing; whether a factor makes it worth while.
Never: chooses the mode; `modes.py` does.

What has a server of its own may differ in all that a start of it takes. What is done in the
background is done in the slices of the others too; `background.toml` names the settings that are
about such work.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pgassay.plan.model import Factor
from pgassay.plan.plots import is_hard_to_change
from pgassay.plan.turns import (
    SCRIPTS,
    why_load_takes_no_turns,
    why_no_room,
    why_scripts_take_no_turns,
)
from pgassay.spec.parse import Spec
from pgassay.spec.settings import is_known

MOST_SERVERS = 4
_OWN_SERVER = ("target", "postgres", "schema", "client.settings")
_NEEDS: Mapping[str, str] = {
    "workload": "servers with other data do not have the same load",
    "host": "a knob of the host holds for all servers on it",
    "client": "the load has one kind of client for all servers",
}
"""Kind of factor → why servers side by side cannot differ in it."""


def is_worth_while(factors: Sequence[Factor]) -> bool:
    """Whether a factor takes another server, or a start of it, and none the memory of the others:
    those are duets only where they are asked for."""
    if any(factor.name == "shared_buffers" for factor in factors):
        return False
    return any(
        factor.kind == "target"
        or (factor.kind == "postgres" and is_known(factor.name, None) and is_hard_to_change(factor))
        for factor in factors
    )


def why_no_duet(spec: Spec, factors: Sequence[Factor]) -> str | None:
    """What keeps arms from having a server each, side by side; None where nothing does."""
    if spec.file.target.is_existing:
        return "an existing server is there once; pgassay starts servers of its own from target.bin"
    for factor in factors:
        problem = _why_not(factor, spec)
        if problem is not None:
            return f"{factor.name}: {problem}"
    problem = why_load_takes_no_turns(spec)
    if problem is not None:
        return problem
    if spec.file.load.rate is not None:
        return "with a rate, arrivals come to no server in particular"
    return why_no_room(spec, math.prod(len(factor.levels) for factor in factors), MOST_SERVERS)


def _why_not(factor: Factor, spec: Spec) -> str | None:
    if factor.kind in SCRIPTS:
        return why_scripts_take_no_turns(spec)
    if factor.kind not in _OWN_SERVER:
        return _NEEDS.get(factor.kind, "servers side by side cannot differ in it")
    for pattern, reason in background().items():
        if factor.kind == "postgres" and fnmatchcase(factor.name, pattern):
            return f"works in the slices of the other servers too: {reason}"
    return None


@cache
def background() -> Mapping[str, str]:
    """Name or pattern of a setting → what it lets a server do while it should rest."""
    return tomllib.loads((files("pgassay.plan") / "background.toml").read_text("utf-8"))
