"""What is expected to differ from the source, before anything is run, and what would help.

Enters: a drawing, how it was written. Leaves: notes. Never: measures anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Origin,
    Parameter,
    Role,
    Source,
)
from pgassay.draw.writing.coverage import note_of_code
from pgassay.notes import Note

_UPDATES = re.compile(r"\s*(with\b.*)?update\b", re.IGNORECASE | re.DOTALL)
_DELETES = re.compile(r"\s*delete\b", re.IGNORECASE)
_INSERTS = re.compile(r"\s*insert\b", re.IGNORECASE)
_SEVERAL = 2.0
"""With more rows of a call it matters how many each value has."""
_FEW_KEYS = 100
"""So few rows are all changed often, whatever the skew."""
_FEW_CALLS = 100
_MORE_STATEMENTS = 1.1
"""Times as many in a transaction of the source are worth a word."""


@dataclass(frozen=True)
class Written:
    """How a drawing was written."""

    think_times: bool
    masked: bool
    secrets: tuple[str, ...] = ()
    """Parameters that were replaced because they hold secrets."""
    nulls: tuple[str, ...] = ()
    """Parameters that masking made NULL."""
    skew: bool = False
    """Whether the user said how often keys are asked for."""


def expected_of(
    scenario: DrawnScenario, statement: DrawnStatement, source: Source, *, skew: bool
) -> list[Note]:
    """Returns why a statement is expected to miss the limits of `draw --check`; nothing where it
    is not. `skew`: the user said how often keys are asked for."""
    guessed = [
        one
        for one in statement.parameters
        if one.origin is Origin.TYPE and (not one.role.is_written or one.type == "interval")
    ]
    if source is Source.LOG:
        return [
            *_because("draw/expects-guess", guessed),
            *_because("draw/expects-gone", _deleted(statement)),
        ]
    # The constants that sessions showed are those of the load.
    drawn = [one for one in statement.parameters if one.origin is not Origin.SESSIONS]
    ranges = [one for one in drawn if one.role.is_range]
    counts = [one for one in drawn if one.role.counts]
    guessed = [one for one in guessed if one not in counts]
    keys = [] if skew or not _UPDATES.match(statement.text) else _keys(scenario, statement)
    return [
        *_because("draw/expects-guess", guessed),
        *_because("draw/expects-range", [one for one in ranges if one not in guessed]),
        *_because("draw/expects-rows", _of_several_rows(statement, drawn)),
        *_because("draw/expects-count", counts),
        *_because("draw/expects-hot", keys),
    ]


def _keys(scenario: DrawnScenario, statement: DrawnStatement) -> list[Parameter]:
    """The parameters that choose among many rows."""
    table = scenario.parameters
    return [
        one
        for one in statement.parameters
        if table is not None
        and one.name in table.column_names
        and one.role.chooses
        and one.origin is not Origin.TYPE
        and pc.count_distinct(table.column(one.name)).as_py() > _FEW_KEYS
    ]


def _of_several_rows(statement: DrawnStatement, drawn: Sequence[Parameter]) -> list[Parameter]:
    """The parameters that choose the several rows that each call gave."""
    figures = statement.figures
    if (figures.rows or 0) <= _SEVERAL * figures.calls or _INSERTS.match(statement.text):
        return []
    return [one for one in drawn if one.role.chooses and one.role is not Role.ANY]


def _deleted(statement: DrawnStatement) -> list[Parameter]:
    """The parameters by which rows of the log are deleted one by one."""
    if not _DELETES.match(statement.text):
        return []
    return [one for one in statement.parameters if one.origin is Origin.LOG and one.role.chooses]


def _because(code: str, parameters: list[Parameter]) -> list[Note]:
    names = tuple(dict.fromkeys(one.name for one in parameters))
    return [note_of_code(code, names=names)] if names else []


def notes_of(drawing: Drawing, written: Written) -> tuple[Note, ...]:
    """Returns what holds for the whole workload, that which changes most first."""
    return tuple(_notes_of(drawing, written))


def _notes_of(drawing: Drawing, written: Written) -> Iterator[Note]:
    if written.masked:
        yield note_of_code("draw/masked")
    if written.nulls:
        yield note_of_code("draw/masked-as-null", names=written.nulls)
    if written.secrets:
        yield note_of_code("draw/secret-parameters", names=written.secrets)
    for code, values in drawing.notes:
        yield note_of_code(code, **values)
    source, own = _statements_per_transaction(drawing)
    if source > own * _MORE_STATEMENTS:
        of_log = drawing.source is Source.LOG
        code = "draw/log/commits-more-often" if of_log else "draw/commits-more-often"
        yield note_of_code(code, source=source, own=own)
    if drawing.source is Source.STATISTICS and not written.skew:
        yield note_of_code("draw/skew-unknown")
    if not written.think_times and any(any(one.pauses_us) for one in drawing.scenarios):
        yield note_of_code("draw/pauses-left-out")


def _statements_per_transaction(drawing: Drawing) -> tuple[float, float]:
    """Those of the source, 0 where it is not known, and those of the workload."""
    calls = sum(each.figures.calls for one in drawing.scenarios for each in one.statements)
    ended = (drawing.figures.commits or 0) + (drawing.figures.rollbacks or 0)
    own = sum(one.transactions for one in drawing.scenarios)
    return (calls / ended if ended else 0.0), (calls / own if own else 1.0)


def improvements(drawing: Drawing) -> list[Note]:
    """Returns what would make the next drawing truer."""
    found, of_log = [], drawing.source is Source.LOG
    if not of_log:
        found.append(note_of_code("draw/improve-log"))
    if any(one.transactions < _FEW_CALLS for one in drawing.scenarios):
        found.append(note_of_code("draw/improve-longer-log" if of_log else "draw/improve-longer"))
    return found
