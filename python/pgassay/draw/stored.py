"""drawing.json: what a drawn workload is on its source, by which a run is checked.

Enters: a drawing with its scripts, or the object of the file. Leaves: a `DrawingFile`.
Never: has a constant of the user's, or a value of a parameter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema

from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    Figures,
    Lost,
    Parameter,
    SourceFigures,
)
from pgassay.notes import Note
from pgassay.stored_model import Codes, Items, SaidNotes, Stored, StoredFile, dataclass_of

DRAWING = "drawing.json"
_T = TypeVar("_T")
_Kept = Annotated[
    _T,
    GetPydanticSchema(
        lambda kind, known: core_schema.no_info_before_validator_function(
            lambda value: dataclass_of(kind, value) if isinstance(value, dict) else value,
            known(kind),
        )
    ),
]
"""A dataclass of the drawing, written with all its fields and read from an object."""


class StoredStatement(Stored):
    """A statement of a scenario."""

    fingerprint: str
    source_text: str
    query_id: int | None = None
    parameters: Items[_Kept[Parameter]] = ()
    figures: _Kept[Figures]


class StoredScenario(Stored):
    """A transaction."""

    name: str
    explicit: bool
    transactions: int
    order: str
    rows: int | None = None
    """Of its parameters; None without any."""
    script_sha256: str
    """Of the script as it was written."""
    statements: Items[StoredStatement]


class DrawingFile(StoredFile):
    """drawing.json of a workload folder."""

    schema_: Literal["pgassay.drawing/1"] = Field("pgassay.drawing/1", alias="schema")
    source: str
    protocol: str
    masked: bool
    figures: _Kept[SourceFigures]
    scenarios: Items[StoredScenario]
    lost: Items[_Kept[Lost]]
    schemas: Items[str] = ()
    """Where the source's sessions look for names."""
    notes: Annotated[SaidNotes, Codes("notes")] = Field((), alias="said")


def drawing_file(
    drawing: Drawing, scripts: Mapping[str, str], notes: tuple[Note, ...], *, masked: bool
) -> DrawingFile:
    """Makes the object of drawing.json; `scripts` by the name of their scenario."""
    return DrawingFile(
        source=drawing.source.value,
        protocol=drawing.protocol.value,
        masked=masked,
        figures=drawing.figures,
        scenarios=tuple(_scenario(one, scripts[one.name]) for one in drawing.scenarios),
        lost=drawing.lost,
        schemas=drawing.schemas,
        said=notes,
    )


def _scenario(scenario: DrawnScenario, script: str) -> StoredScenario:
    known: dict[str, Any] = {
        name: getattr(scenario, name) for name in ("name", "explicit", "transactions", "order")
    }
    return StoredScenario(
        **known,
        rows=None if scenario.parameters is None else scenario.parameters.num_rows,
        script_sha256=script_hash(script),
        statements=tuple(map(StoredStatement.of, scenario.statements)),
    )


def script_hash(script: str) -> str:
    """Returns what a script is known by."""
    return hashlib.sha256(script.encode()).hexdigest()
