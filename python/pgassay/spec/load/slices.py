"""The `[load.slices]` table: variants that alternate within every measured step.

Enters: the table that tomllib made. Leaves: a frozen `SlicesTable`, or an error that names its key.
Never: writes SQL or schedules a slice; `spec/refusals/arms.py` checks it against an experiment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from pgassay.notes import Note
from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.tables import parsed_toml, read_table
from pgassay.spec.reading.texts import text_of
from pgassay.spec.reading.units import duration_s
from pgassay.spec.reading.values import SettingValue, Table
from pgassay.spec.settings.catalogue import SettingNames, entries_of

SHORTEST_S = 0.25
LONGEST_S = 86_400.0
OF_A_SESSION = frozenset({"user", "superuser"})
AT_ITS_BEGIN = OF_A_SESSION | {"backend", "superuser-backend"}
FIXED = {
    "postmaster": Note("spec/load/by-restart"),
    "sighup": Note("spec/load/of-the-server"),
    "backend": Note("spec/load/fixed-at-begin"),
    "superuser-backend": Note("spec/load/fixed-at-begin"),
    "transaction": Note("spec/load/of-a-transaction"),
}
"""Contexts of pg_settings in which one session cannot change a setting, and why."""
_OF_A_TRANSACTION = ("transaction_isolation", "transaction_read_only", "transaction_deferrable")


def _length(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnfitValue("slice-length-form")
    seconds = duration_s(value)
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise UnfitValue("not-a-slice-length", value=value)
    return seconds


Length = Annotated[
    float,
    BeforeValidator(_length),
    WithJsonSchema({"type": ["string", "number"], "description": "seconds, or '500ms', '2s'"}),
]
Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class VariantTable(Table):
    """One variant of `[load.slices]`: its name, and what differs while its slices run."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        description="its name in results; required"
    )
    settings: Annotated[dict[str, SettingValue], SettingNames] = Field(
        default_factory=dict, description="settings of every session while its slices run"
    )
    sql: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description="statements that every session runs when its slice begins"
    )
    scenarios: Names | None = Field(None, description="scenarios that may run; left out, all")
    length: Length | None = Field(
        None, description="length of its slices; left out, that of the table"
    )


class SlicesTable(Table):
    """The `[load.slices]` table: variants that alternate within every measured step."""

    length: Length = Field(1.0, description="length of a slice, 250ms to 1d")
    variants: Annotated[tuple[VariantTable, ...], Field(strict=False, min_length=2)] = Field(
        description="the variants, two or more; required"
    )
    schedule: Names | None = Field(
        None, description="order of the variants in a round; left out, as listed"
    )

    @property
    def turns(self) -> tuple[str, ...]:
        """The names of the variants of one round, in order."""
        return self.schedule or tuple(variant.name for variant in self.variants)

    def length_of(self, name: str) -> float:
        """Returns the length in seconds of the slices of one variant."""
        own = next(variant.length for variant in self.variants if variant.name == name)
        return self.length if own is None else own

    @property
    def round_s(self) -> float:
        """The length in seconds of one round, in which each variant has its turns."""
        return sum(self.length_of(name) for name in self.turns)

    @model_validator(mode="after")
    def _names_agree(self) -> SlicesTable:
        names = [variant.name for variant in self.variants]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UnfitValue("variants-called-alike", name=twice)
        for name in self.schedule or ():
            if name not in names:
                raise UnfitValue("no-such-variant", name=name, near=did_you_mean(name, names))
        idle = next((name for name in names if name not in self.turns), None)
        if idle is not None:
            raise UnfitValue("variant-never-run", name=idle)
        return self


class _Load(Table):
    model_config = ConfigDict(extra="ignore")

    slices: SlicesTable


class _Experiment(Table):
    model_config = ConfigDict(extra="ignore")

    load: _Load


def read_slices(named: str) -> SlicesTable:
    """Reads the table in the file of `pgassay load --slices`, checked without a workload.

    The file is an experiment file with `[load.slices]`, or has only the keys of that table.
    """
    text = text_of(Path(named))
    if "load" in parsed_toml(text, named):
        return read_table(_Experiment, text, named).load.slices
    return read_table(SlicesTable, text, named)


def why_fixed(name: str, major: int | None, allowed: frozenset[str]) -> str | None:
    """Why no session can set this setting: "transaction", or its context in pg_settings (a key of
    `FIXED`); None where one of the contexts `allowed` has it, or no catalogue knows it."""
    if name in _OF_A_TRANSACTION:
        return "transaction"
    contexts = [str(entry["context"]) for entry in entries_of(name, major)]
    return contexts[0] if contexts and allowed.isdisjoint(contexts) else None
