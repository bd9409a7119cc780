"""The `[reset]` table: the state of server and data that every trial starts from.

Enters: the table, and whether `target.dsn` names a server. Leaves: a `ResetRule`, or a ValueError.
Never: touches a server. What each level does, and what it leaves different, is in reset.toml.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Annotated, Any

from pydantic import Field

from pgassay.notes import Note
from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.values import Table
from pgassay.stored_notes import coded

_LEVELS: dict[str, dict[str, Any]] = tomllib.loads(
    (files(__package__) / "reset.toml").read_text("utf-8")
)


class ResetLevel(StrEnum):
    """How much the reset before every trial makes the same, from the most equal starts to the
    least."""

    SNAPSHOT = "snapshot"
    TEMPLATE = "template"
    RESTART = "restart"
    VACUUM = "vacuum"
    NONE = "none"

    @property
    def does(self) -> Note:
        """Returns what a reset of this level does, in a few words."""
        return Note(f"spec/server/{self.value}-does")

    @property
    def differs(self) -> tuple[Note, ...]:
        """Returns what may still differ between trials after a reset of this level, a line each."""
        return tuple(Note(f"spec/server/{code}") for code in _LEVELS[self]["differs"])

    @property
    def servers(self) -> tuple[str, ...]:
        """The kinds of server that this level is for: "owned", "existing"."""
        return tuple(_LEVELS[self]["servers"])


STARTS = frozenset({ResetLevel.SNAPSHOT, ResetLevel.RESTART})
"""Levels that start the server anew for every trial."""


class Caches(StrEnum):
    """What the caches of server and host hold when a trial's warm-up begins."""

    AS_IS = "as-is"
    """What the reset itself has left there."""
    WARM = "warm"
    """The tables and indexes of the workload, as far as they fit."""
    COLD = "cold"
    """Nothing of the data."""


class ResetTable(Table):
    """The `[reset]` table: what is done before every trial."""

    level: Annotated[ResetLevel, Field(strict=False)] | None = Field(
        None, description="how much is put back; snapshot for owned servers, else vacuum"
    )
    caches: Annotated[Caches, Field(strict=False)] = Field(
        Caches.AS_IS, description="what caches hold when the warm-up begins"
    )


@dataclass(frozen=True)
class ResetRule:
    """The reset of every trial of a run: its level, and the state of the caches."""

    level: ResetLevel
    caches: Caches = Caches.AS_IS

    def described(self) -> dict[str, Any]:
        """Returns the object of environment.json that describes the rule."""
        return {
            "level": self.level.value,
            **coded("does", self.level.does),
            "caches": self.caches.value,
            **coded("not the same", self.level.differs),
        }


OWNED_RULE = ResetRule(ResetLevel.SNAPSHOT)
EXISTING_RULE = ResetRule(ResetLevel.VACUUM)


def rule_for(table: ResetTable, *, existing: bool, may_change: bool) -> ResetRule:
    """Returns the rule that a table means for a kind of server; raises ValueError where such a
    server cannot follow it."""
    standard = EXISTING_RULE if existing else OWNED_RULE
    level = table.level or standard.level
    server = "existing" if existing else "owned"
    if server not in level.servers:
        fitting = ", ".join(one for one in ResetLevel if server in one.servers)
        kind = "an existing server" if existing else "an owned server"
        raise UnfitValue("reset-not-for-this", level=level.value, kind=kind, fitting=fitting)
    if level is ResetLevel.TEMPLATE and not may_change:
        raise UnfitValue("template-without-permission")
    needed = (ResetLevel.SNAPSHOT, ResetLevel.TEMPLATE, ResetLevel.RESTART)
    if table.caches is Caches.COLD and level not in needed:
        raise UnfitValue("cold-caches-kept-warm", level=level.value)
    return ResetRule(level, table.caches)
