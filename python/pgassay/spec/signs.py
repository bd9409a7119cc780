"""What tells that an existing server serves somebody: names, thresholds and words.

Enters: signs.toml; names a user accepts. Leaves: `SIGNS`, or a ValueError with the nearest name.
Never: looks at a server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pgassay.spec.suggest import did_you_mean


@dataclass(frozen=True)
class KnownSign:
    """One sign: from `at_least` on it is one; `found` has the places {count} and {seen}."""

    name: str
    at_least: int
    found: str
    why: str


def _read() -> dict[str, Any]:
    return tomllib.loads((files("pgassay.spec") / "signs.toml").read_text("utf-8"))


_TABLE = _read()
LOOK_S: float = _TABLE.pop("look")["seconds"]
SIGNS: Mapping[str, KnownSign] = {
    name: KnownSign(name, **fields) for name, fields in _TABLE.items()
}


def refuse_unknown_signs(names: Iterable[str]) -> None:
    """Raise ValueError at the first name that is no sign."""
    for name in names:
        if name not in SIGNS:
            raise ValueError(f"there is no sign {name!r}{did_you_mean(name, SIGNS)}")
