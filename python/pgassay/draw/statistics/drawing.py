"""A workload drawn from the statistics of a running server: the way.

Enters: a connection string, what a user chose. Leaves: a `Drawing`. Never: writes on the server,
executes a statement of its load, or shows a value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Lost,
    Parameter,
    Source,
)
from pgassay.draw.roles import Notes, looked_up_by
from pgassay.draw.statements.names import apart, scenario, variables
from pgassay.draw.statements.rewriting import with_names
from pgassay.draw.statistics.options import StatisticsOptions
from pgassay.draw.statistics.preparing import NOT_FOUND
from pgassay.draw.statistics.readings import Readings, read_twice
from pgassay.draw.statistics.selecting import Selection
from pgassay.draw.statistics.skew import skew_of
from pgassay.draw.statistics.statement import Statement
from pgassay.draw.statistics.transactions import Group, grouped
from pgassay.draw.statistics.values import Column, Drawer
from pgassay.draw.tables.catalogue import Catalogue
from pgassay.draw.tables.rows import Sampler
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.existing.observed import ObservedServer

_MOST_SECONDS = 3600.0
"""Beside the time between the readings: for looking statements up and for sampling."""
_LASTS_S = 1800.0
"""As long as new values last, at the rate of the source."""
_MOST_ROWS = 500_000
_NAMED = 5
"""Tables in a note at most."""


def draw_statistics(dsn: str, options: StatisticsOptions) -> Drawing:
    """Draws a workload from a server's pg_stat_statements, catalogue and tables.

    Raises ConnectionRefused, TargetError (no pg_stat_statements, no statement that can be drawn, a
    server that fails), SetupRefused (options that do not fit).
    """
    skew = skew_of(options.skew)
    server = ObservedServer(dsn)
    facts, _ = server.facts()
    random = np.random.default_rng(options.seed)
    lasts_s = options.seconds + _MOST_SECONDS
    doing = "drawing a workload"
    with as_target_error(doing), server.connect(lasts_s=lasts_s) as session:
        readings = read_twice(session, options.seconds, facts.version_num, options.progress)
        catalogue = Catalogue(session)
        selection = Selection(session, catalogue, facts.version_num)
        statements, lost = selection.of(readings)
        if not statements:
            forbidden = any(one.reason == "draw/not-allowed" for one in lost)
            code = "draw-not-allowed" if forbidden else "draw-found-nothing"
            raise TargetRefused(code, seconds=options.seconds)
        schemas, of_roles = looked_up_by(session, selection.calls)
        groups = grouped(statements, options.transactions)
        sampler = Sampler(session, options.rows, random)
        drawer = Drawer(sampler, catalogue, skew, random)
        deleting = {one.query_id for one in statements if one.deletes}
        lasting = {
            one.query_id: _lasting(group, readings.figures.seconds)
            for group in groups
            for one in group.statements
            if one.query_id in deleting
        }
        drawer.sample(statements, lasting)
        skew.refuse_unknown(drawer.used_columns)
        scenarios = _scenarios(groups, drawer, readings.figures.seconds, options.rows)
    return Drawing(
        source=Source.STATISTICS,
        protocol=readings.protocol,
        scenarios=tuple(scenarios),
        lost=tuple(lost),
        figures=readings.figures,
        schemas=schemas,
        notes=(
            *_notes(readings, statements, scenarios, sampler, lost, selection.not_found),
            *of_roles,
        ),
    )


def _scenarios(
    groups: Sequence[Group], drawer: Drawer, seconds: float, rows: int
) -> list[DrawnScenario]:
    found: list[DrawnScenario] = []
    for group in groups:
        name = scenario(group.statements[0].tree, group.statements[0].met)
        name = apart(_plain(group.name) or name, {one.name for one in found})
        found.append(_scenario(name, group, drawer, seconds, rows))
    return found


def _lasting(group: Group, seconds: float) -> int:
    """The rows that are used once each at the rate of the source."""
    return min(_MOST_ROWS, math.ceil(group.happened / seconds * _LASTS_S))


def _scenario(name: str, group: Group, drawer: Drawer, seconds: float, rows: int) -> DrawnScenario:
    in_turn = any(drawer.has_new(one) or one.deletes for one in group.statements)
    if in_turn:
        rows = max(rows, _lasting(group, seconds))
    drawn: list[DrawnStatement] = []
    columns: dict[str, object] = {}
    for one, values in zip(group.statements, drawer.columns(group.statements, rows), strict=True):
        names = variables(one.met.meetings, columns)
        drawn.append(_statement(one, names, values))
        columns.update({names[number]: column.values for number, column in values.items()})
    return DrawnScenario(
        name=name,
        statements=tuple(drawn),
        explicit=group.explicit,
        transactions=group.happened,
        parameters=pa.table(columns) if columns else None,
        order="sequential" if in_turn else "random",
    )


def _statement(one: Statement, names: dict[int, str], values: dict[int, Column]) -> DrawnStatement:
    parameters = []
    for meeting in one.met.meetings:
        at = one.at(meeting)
        parameters.append(
            Parameter(
                name=names[meeting.number],
                type=one.type_of(meeting).name,
                origin=values[meeting.number].origin,
                column=None if at is None else f"{at[0].quoted}.{at[1].quoted}",
                role=meeting.role,
            )
        )
    return DrawnStatement(
        fingerprint=one.fingerprint,
        text=with_names(one.text, names),
        source_text=one.source_text,
        parameters=tuple(parameters),
        figures=one.figures,
        query_id=one.query_id,
    )


def _notes(
    readings: Readings,
    statements: Sequence[Statement],
    scenarios: Sequence[DrawnScenario],
    sampler: Sampler,
    lost: Sequence[Lost],
    not_found: Collection[str],
) -> Notes:
    notes: Notes = [(code, {}) for code in readings.codes]
    if any(one.reason == "draw/hidden" for one in lost):
        notes.append(("draw/statements-hidden", {}))
    if not_found:
        count = sum(one.reason == NOT_FOUND for one in lost)
        paths = tuple(list(not_found)[:_NAMED])
        notes.append(("draw/tables-not-found", {"paths": paths, "count": count}))
    if sampler.denied:
        tables = sorted(sampler.denied)
        notes.append(
            ("draw/rows-not-read", {"tables": tuple(tables[:_NAMED]), "count": len(tables)})
        )
    new = [one for one in scenarios if one.parameters is not None and one.order == "sequential"]
    if new:
        rows = min(one.parameters.num_rows for one in new if one.parameters is not None)
        notes.append(("draw/in-sequence", {"count": len(new), "rows": rows}))
    if any(one.guesses_lists for one in statements):
        notes.append(("draw/lists-shortened", {}))
    notes.append(("draw/protocol-inferred", {"protocol": readings.protocol.value}))
    return notes


def _plain(name: str) -> str:
    """Letters, digits and hyphens of a user's name for a transaction."""
    return "-".join(
        "".join(c if c.isalnum() and c.isascii() else " " for c in name).split()
    ).lower()
