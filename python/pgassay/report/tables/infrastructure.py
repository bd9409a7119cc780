"""The figures of the host, and of speed and waits, by arm.

Enters: the context. Leaves: tables. Never: shows a figure that was not read as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pgassay.analysis.apart.model import ApartAnalysis
from pgassay.analysis.compare.model import ArmFigure
from pgassay.analysis.measures.courses.even_series import WAIT_TYPES
from pgassay.analysis.sampled.model import (
    DISK,
    HOST,
    SPEED,
    HostFigure,
    IntervalSpread,
    wait_definition,
)
from pgassay.language import Message, clauses, colon, listed, tr
from pgassay.quantities import spaced, with_unit
from pgassay.report.context import ObservationContext, ReportContext
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.tables.by_arm import arm_columns
from pgassay.report.tables.cells import ABSENT, with_interval
from pgassay.samples.forms.environment import EnvironmentFile

ROLES = {
    "data": Message("data"),
    "wal": Message("WAL"),
    "log": Message("log"),
    "temp": Message("temporary files"),
}
TONES = {"better": "better", "worse": "worse", "different": "same", "no clear change": ""}
_WAITS = tuple(map(wait_definition, WAIT_TYPES))
_BY_NAME = {one.name: one for one in (*HOST, *DISK, *SPEED, *_WAITS)}


def disk_titles(context: ReportContext) -> dict[str, str]:
    """Maps each disk to its name and what lies on it, those with the server's files first."""
    return titles_of(context.environment, context.analysis.explanation.infrastructure)


def titles_of(environment: EnvironmentFile, figures: Sequence[HostFigure]) -> dict[str, str]:
    """Maps each disk of figures to its name and what lies on it there."""
    holds: dict[str, list[str]] = {}
    for role, place in environment.host.storage.items():
        for device in dict.fromkeys((*place.devices, *place.disks)):
            holds.setdefault(device, []).append(ROLES.get(role, role))
    found = [one.device for one in figures if one.device]
    disks = sorted(dict.fromkeys(found), key=lambda disk: disk not in holds)
    return {disk: f"{disk} ({listed(holds[disk])})" if disk in holds else disk for disk in disks}


def host_table(context: ReportContext, *, details: bool = True) -> Table:
    """Makes a row for each figure: its median, range and change in every arm."""
    found = _worth(context.analysis.explanation.infrastructure, details=details)
    return _host_table(found, disk_titles(context), arm_columns(context))


def observed_host_table(context: ObservationContext) -> Table:
    """Makes a row for each figure of an observation: its median, range and mean."""
    found = context.observed.infrastructure
    arms = dict.fromkeys(each.arm for one in found for each in one.figures)
    observed = [Column(Message("Median (smallest to largest)"), name=arm) for arm in arms]
    return _host_table(found, titles_of(context.environment, found), observed)


def _host_table(
    found: Sequence[HostFigure], titles: Mapping[str, str], arms: Sequence[Column]
) -> Table:
    columns = (
        Column(Message("Of"), "group", name="of"),
        Column(Message("Figure"), "heading"),
        *arms,
    )
    ordered = [one for of in ("", *titles) for one in found if one.device == of]
    rows: list[tuple[str | Cell, ...]] = [
        (titles.get(one.device, tr("Processors and memory")), *_row(arms, one)) for one in ordered
    ]
    return table(columns, rows)


def apart_table(
    analysis: ApartAnalysis, found: Mapping[str, Sequence[HostFigure]], disks: Mapping[str, str]
) -> Table:
    """Makes a row for each figure of each arm of runs made apart: its median, range and mean in
    every run; `found`: arm → figures."""
    sides = [Column(side.name, name=side.name) for side in analysis.sides]
    columns = (Column(Message("Of"), "group", name="of"), Column(Message("Figure"), "heading"))
    everywhere = tr("Processors and memory")
    has_disks = any(one.device for figures in found.values() for one in figures)
    rows: list[tuple[str | Cell, ...]] = [
        (
            colon().join(
                name for name in (arm, disks.get(device, everywhere) if has_disks else "") if name
            ),
            *_row(sides, one),
        )
        for arm, figures in found.items()
        for device in ("", *disks)
        for one in figures
        if one.device == device
    ]
    return table((*columns, *sides), rows).only_if(of=any(of for of, *_ in rows))


def speed_table(context: ReportContext, *, details: bool = True) -> Table:
    """Makes a row for SPEED, WAITINGS and each type of waits: median, range and change by arm."""
    arms = arm_columns(context)
    columns = (Column(Message("Figure"), "heading"), *arms)
    found = _worth(context.analysis.explanation.speed, details=details)
    return table(columns, [_row(arms, one) for one in found])


def _worth(found: Sequence[HostFigure], *, details: bool) -> list[HostFigure]:
    return [one for one in found if details or not _BY_NAME[one.name].detail]


def _row(arms: Sequence[Column], one: HostFigure) -> tuple[Cell, ...]:
    known = _BY_NAME[one.name]
    name = Cell(one.name, note=with_unit(known.title, known.unit))
    return (name, *_cells(arms, one))


def _cells(arms: Sequence[Column], one: HostFigure) -> Iterable[Cell]:
    spreads = {each.arm: each for each in one.spreads}
    figures = {each.arm: each for each in one.figures}
    for arm in arms:
        spread = spreads.get(arm.name)
        yield Cell(ABSENT) if spread is None else _cell(one, spread, figures[arm.name])


def _cell(one: HostFigure, spread: IntervalSpread, figure: ArmFigure) -> Cell:
    median, low, high = (
        spaced(value, one.digits) for value in (spread.median, spread.smallest, spread.largest)
    )
    text = (
        median
        if low == high
        else tr("{middle} ({low} to {high})", middle=median, low=low, high=high)
    )
    mean = tr("mean {mean}", mean=spaced(figure.mean or 0.0, one.digits))
    note = clauses(part for part in (mean, changed(figure)) if part)
    return Cell(text, TONES[figure.change(one.good)], note=note, value=figure.mean)


def changed(figure: ArmFigure) -> str:
    """Writes the change from the baseline arm with its interval; nothing of the baseline arm, and
    where that is zero."""
    if figure.change_pct is None:
        return ""
    return with_interval(figure.change_pct, figure.ci95_pct)
