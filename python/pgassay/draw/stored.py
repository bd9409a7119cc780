"""drawing.json: what a drawn workload is on its source, by which a run is checked.

Enters: a drawing with its scripts, or the object of the file. Leaves: a `DrawingFile`.
Never: has a constant of the user's, or a value of a parameter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pgassay.draw.model import Drawing, DrawnScenario
from pgassay.notes import Note
from pgassay.stored_model import Codes, Items, Number, SaidNotes, Stored, StoredFile

DRAWING = "drawing.json"


class StoredFigures(Stored):
    """What a statement did on the source."""

    calls: int
    time_ms: Number
    rows: int | None = None
    blocks_found: int | None = None
    blocks_read: int | None = None
    blocks_dirtied: int | None = None
    wal_bytes: int | None = None
    failed: int = 0


class StoredParameter(Stored):
    """A variable of a script, and where its values come from."""

    name: str
    type: str
    origin: str
    column: str | None = None
    role: str = ""


class StoredStatement(Stored):
    """A statement of a scenario."""

    fingerprint: str
    source_text: str
    query_id: int | None = None
    parameters: Items[StoredParameter] = ()
    figures: StoredFigures


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


class StoredLost(Stored):
    """A statement that no scenario has."""

    reason: str
    text: str
    calls: int
    time_ms: Number


class StoredSource(Stored):
    """The source as a whole, in the time that was drawn."""

    seconds: Number
    server_version_num: int | None = None
    database: str = ""
    commits: int | None = None
    rollbacks: int | None = None
    blocks_found: int | None = None
    blocks_read: int | None = None
    active_sessions: Number | None = None
    sessions: int | None = None
    waits: dict[str, Number] = Field({})


class DrawingFile(StoredFile):
    """drawing.json of a workload folder."""

    schema_: Literal["pgassay.drawing/1"] = Field("pgassay.drawing/1", alias="schema")
    source: str
    protocol: str
    masked: bool
    figures: StoredSource
    scenarios: Items[StoredScenario]
    lost: Items[StoredLost]
    notes: Annotated[SaidNotes, Codes("notes")] = Field((), alias="said")


def drawing_file(
    drawing: Drawing, scripts: Mapping[str, str], notes: tuple[Note, ...], *, masked: bool
) -> DrawingFile:
    """Makes the object of drawing.json; `scripts` by the name of their scenario."""
    return DrawingFile(
        source=drawing.source.value,
        protocol=drawing.protocol.value,
        masked=masked,
        figures=StoredSource.of(drawing.figures),
        scenarios=tuple(_scenario(one, scripts[one.name]) for one in drawing.scenarios),
        lost=tuple(map(StoredLost.of, drawing.lost)),
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
