"""The experiment file as frozen values: one class per table, one field per key.

Enters: the dict tomllib made. Leaves: `ExperimentFile`, or pydantic's ValidationError.
Never: reads files, knows servers; `parse.py` turns errors into words.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from pgassay.spec.access import HostAccess
from pgassay.spec.factors import FactorsTable
from pgassay.spec.host_knobs import DottedNames
from pgassay.spec.load_table import LoadTable
from pgassay.spec.passwords import refuse_password
from pgassay.spec.placement import PlacementTable
from pgassay.spec.reset import ResetLevel, ResetRule, ResetTable, rule_for
from pgassay.spec.sampling import SamplingTable
from pgassay.spec.setting_names import SettingNames
from pgassay.spec.signs import SIGNS, refuse_unknown_signs
from pgassay.spec.slices import Length
from pgassay.spec.stopping import StoppingKeys
from pgassay.spec.values import SettingValue, Share, Table

_ACCEPTABLE = {"type": "array", "items": {"enum": list(SIGNS)}}


def _dsn(value: Any) -> Any:
    if isinstance(value, str):
        refuse_password(value)
    return value


class TargetTable(HostAccess):
    """The PostgreSQL under test; left out, an embedded server."""

    version: Literal[16, 18] | None = Field(None, description="embedded server: major version")
    bin: str | None = Field(
        None,
        description="the bin directory of any installation; beside dsn, that of its pg_ctl",
    )
    dsn: str | None = Field(None, description="an existing server: a libpq connection string")
    allow_changes: bool = Field(False, description="existing server: settings may be changed")
    allow_host_changes: bool = Field(False, description="knobs of this host may be changed")
    accept: Annotated[tuple[str, ...], Field(strict=False), WithJsonSchema(_ACCEPTABLE)] = Field(
        (), description="existing server: signs of production that may be there"
    )

    _no_password = model_validator(mode="before")(
        lambda table: {**table, "dsn": _dsn(table["dsn"])} if "dsn" in table else table
    )

    @field_validator("accept")
    @classmethod
    def _known(cls, accept: tuple[str, ...]) -> tuple[str, ...]:
        refuse_unknown_signs(accept)
        return accept

    @model_validator(mode="after")
    def _one_of(self) -> TargetTable:
        given = [n for n in ("version", "bin", "dsn") if getattr(self, n) is not None]
        if len(given) > 1 and given != ["bin", "dsn"]:
            raise ValueError(f"{' and '.join(given)} exclude each other; keep one")
        if self.allow_changes and not self.is_existing:
            raise ValueError("allow_changes belongs to an existing server; give dsn too")
        if self.accept and not self.is_existing:
            raise ValueError("accept belongs to an existing server; give dsn too")
        return self

    @property
    def is_existing(self) -> bool:
        """Whether it is a server that pgassay did not make."""
        return self.dsn is not None or self.data is not None

    @property
    def way(self) -> str | None:
        """The connection string of an existing server, or what is given of it beside `data`."""
        return self.dsn or "" if self.is_existing else None


class WorkloadTable(Table):
    """Schema, data and scenarios."""

    use: str = Field("bank-write", description="a ready workload, or a folder with workload.toml")
    scale: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class SettingsTable(Table):
    """What is held the same in every arm."""

    postgres: Annotated[dict[str, SettingValue], SettingNames] = Field(default_factory=dict)
    host: Annotated[dict[str, SettingValue], DottedNames] = Field(default_factory=dict)


class DesignTable(StoppingKeys):
    """Blocks, the smallest effect that matters, and when to stop."""

    smallest_effect: Share = 0.02
    metric: Literal["tps", "latency_mean", "latency_p50", "latency_p95", "latency_p99"] = Field(
        "tps", description="the primary endpoint, the one the verdict speaks of"
    )
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = Field(
        None, description="orders the trials; drawn and recorded when left out"
    )
    combinations: Literal["full", "fraction", "one-at-a-time"] = Field(
        "full",
        description="several factors: all combinations of levels, a regular fraction of them, or"
        " the baseline and each change of it",
    )
    resolution: Literal[3, 4, 5] = Field(
        4, description="of a fraction, at least: with 4 main effects are free of interactions"
    )
    plots: Literal["auto", "split", "complete"] = Field(
        "auto",
        description="factors that take a restart: changed in stretches of a block (split), or"
        " like all others (complete)",
    )

    mode: Literal["auto", "blocks", "switchback", "duet"] = Field(
        "blocks",
        description="blocks: an arm per trial; switchback: every trial alternates all arms in"
        " slices; duet: the same, each arm on a server of its own; auto: the cheapest that is"
        " valid",
    )
    slice: Length = Field(
        1.0,
        description="switchback, duet: of each arm's turn; half of the trials have half of it",
    )

    @model_validator(mode="after")
    def _ordered(self) -> DesignTable:
        if "resolution" in self.model_fields_set and self.combinations != "fraction":
            raise ValueError('resolution is a fraction\'s; write combinations = "fraction" too')
        if "slice" in self.model_fields_set and self.mode == "blocks":
            raise ValueError(
                'slice belongs to mode = "switchback", "duet" or "auto"; write one, or drop it'
            )
        return self


MOST_ARMS = 256


class ExperimentFile(Table):
    """The whole file."""

    question: str = ""
    target: TargetTable = Field(default_factory=TargetTable)
    workload: WorkloadTable = Field(default_factory=WorkloadTable)
    factors: FactorsTable = Field(default_factory=FactorsTable)
    settings: SettingsTable = Field(default_factory=SettingsTable)
    load: LoadTable = Field(default_factory=LoadTable)
    placement: PlacementTable = Field(default_factory=PlacementTable)
    sampling: SamplingTable = Field(default_factory=SamplingTable)
    reset: ResetTable = Field(default_factory=ResetTable)
    design: DesignTable = Field(default_factory=DesignTable)

    @model_validator(mode="after")
    def _may_change(self) -> ExperimentFile:
        changes = [*self.factors.postgres, *self.settings.postgres]
        if self.target.is_existing and changes and not self.target.allow_changes:
            raise ValueError(
                f"{changes[0]} would change an existing server, whose settings change only with"
                " target.allow_changes = true"
            )
        place = self.placement
        if self.target.is_existing and (place.server or place.server_nice is not None):
            raise ValueError(
                "placement.server places a server that pgassay starts, not an existing one; leave"
                " it out and pin that server by its service (CPUAffinity=, Nice=)"
            )
        knobs = [*self.factors.host, *self.settings.host]
        if knobs and not (self.target.allow_host_changes and self._server_may_change()):
            also = "" if self._server_may_change() else ", and target.allow_changes = true"
            raise ValueError(
                f"{knobs[0]} would change this host, whose knobs change only with"
                f" target.allow_host_changes = true{also}"
            )
        rule = self.reset_rule()
        if self.target.settings_at == "database" and rule.level is ResetLevel.TEMPLATE:
            raise ValueError(
                'the trials of reset.level = "template" have a database of their own, which has no'
                ' settings of yours; target.settings_at = "role"'
            )
        arms = math.prod(len(levels) for _, _, levels in self.factors.every())
        if arms > MOST_ARMS and self.design.combinations == "full":
            raise ValueError(
                f"the factors make {arms} arms; more than {MOST_ARMS} cannot be compared,"
                ' drop levels or factors, or write design.combinations = "fraction"'
            )
        return self

    def reset_rule(self) -> ResetRule:
        """What is done before every trial."""
        return rule_for(
            self.reset,
            existing=self.target.is_existing,
            may_change=self.target.allow_changes,
            may_copy=self.target.allow_data_copy,
        )

    def _server_may_change(self) -> bool:
        return not self.target.is_existing or self.target.allow_changes
