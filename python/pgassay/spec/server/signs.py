"""Signs that an existing server is in production: names, thresholds and texts.

Enters: signs.toml; names that a user accepts. Leaves: `SIGNS`, or a ValueError with the nearest
name. Never: reads a server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.suggest import did_you_mean


@dataclass(frozen=True)
class KnownSign:
    """One sign of production, which a server gives at `at_least` or more; `found` has the fields
    {count} and {seen}."""

    name: str
    at_least: int
    found: str
    why: str


_TABLE = tomllib.loads((files(__package__) / "signs.toml").read_text("utf-8"))
LOOK_S: float = _TABLE.pop("look")["seconds"]
SIGNS: Mapping[str, KnownSign] = {
    name: KnownSign(name, **fields) for name, fields in _TABLE.items()
}


def refuse_unknown_signs(names: Iterable[str]) -> None:
    """Raise ValueError for a name that is not a sign."""
    for name in names:
        if name not in SIGNS:
            raise UnfitValue("no-such-sign", name=name, near=did_you_mean(name, SIGNS))
