"""Types of values that several tables use: durations, shares, settings.

Enters: values as TOML gives them. Leaves: annotated types that check and convert them, and the
frozen base class of all tables. Never: knows a table's keys.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.units import duration_s, to_base


def _percent(value: Any) -> float:
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*%\s*", value)
        if not match:
            raise UnfitValue("share-form")
        return float(match[1]) / 100
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitValue("share-form")
    if 1 <= value < 100:
        raise UnfitValue("share-above-one", value=value, share=value / 100, percent=100 * value)
    return float(value)


def _duration(value: Any) -> float:
    if not isinstance(value, str | int | float):
        raise UnfitValue("duration-form")
    return duration_s(value)


def _memory_bytes(value: Any) -> int:
    # A bare number is refused: PostgreSQL reads it in a unit of each setting's own.
    if not isinstance(value, str) or value.strip().isdigit():
        raise UnfitValue("memory-form")
    return int(to_base(value, "B", "integer"))


def busy_poll_s(value: Any) -> float:
    """Returns the seconds of `off`, or of a duration of at most a second."""
    if value == "off":
        return 0.0
    try:
        seconds = _duration(value)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= 1:
        raise UnfitValue("busy-poll-form")
    return seconds


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float | str):
        return str(value)
    raise UnfitValue("setting-form")


Duration = Annotated[
    float,
    BeforeValidator(_duration),
    Field(gt=0, allow_inf_nan=False),
    WithJsonSchema({"type": ["string", "number"], "description": "seconds, or '90s', '10min'"}),
]
MemorySize = Annotated[
    int,
    BeforeValidator(_memory_bytes),
    Field(gt=0),
    WithJsonSchema({"type": "string", "description": "such as '1GB' or '512MB'"}),
]
Share = Annotated[
    float,
    BeforeValidator(_percent),
    Field(gt=0, lt=1),
    WithJsonSchema({"type": ["string", "number"], "description": "'2%' or 0.02"}),
]
SettingValue = Annotated[
    str, BeforeValidator(_setting), WithJsonSchema({"type": ["string", "number", "boolean"]})
]


class Table(BaseModel):
    """The base of all tables of an experiment file: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @classmethod
    def place_of(cls, name: str, value: Any) -> str | None:
        """Returns the table below this one to which a key belongs that this table does not have;
        None where no table is known to have it."""
        return None


_HOST_AND_PORT = re.compile(r"[^\s/]+:\d{1,5}")


def _joined(address: str) -> str:
    if address != "auto" and not _HOST_AND_PORT.fullmatch(address):
        raise UnfitValue("cluster-address-form")
    return address


def _joined_or_local(address: str) -> str:
    if address not in ("auto", "local") and not _HOST_AND_PORT.fullmatch(address):
        raise UnfitValue("cluster-address-or-local-form")
    return address


_TEXT: Any = Field(max_length=255)
ClusterAddress = Annotated[str, _TEXT, AfterValidator(_joined)]
ClusterOrLocal = Annotated[str, _TEXT, AfterValidator(_joined_or_local)]
"""`local` is a cluster of this machine alone, which ends with the run."""
