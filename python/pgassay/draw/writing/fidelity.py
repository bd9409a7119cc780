"""FIDELITY.md: what a drawn workload covers, what is guessed, lost and expected to differ.

Enters: a drawing, how it was written. Leaves: Markdown in plain English, the short part first.
Never: shows a value of a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from pgassay.draw.model import Drawing, Origin, Parameter, Source
from pgassay.draw.writing.coverage import (
    Coverage,
    coverage_of,
    losses_by_reason,
    note_of_code,
    time_of,
)
from pgassay.draw.writing.expectations import Written, expected_of, improvements, notes_of
from pgassay.notes import Note
from pgassay.quantities import duration, share

FIDELITY = "FIDELITY.md"
_ORIGINS = {
    Origin.LOG: "draw/origin-log",
    Origin.RETURNED: "draw/origin-returned",
    Origin.SESSIONS: "draw/origin-sessions",
    Origin.ROWS: "draw/origin-rows",
    Origin.COMMON: "draw/origin-common",
    Origin.PARENT: "draw/origin-parent",
    Origin.ABOVE: "draw/origin-above",
    Origin.TYPE: "draw/origin-type",
}
_MOST_CHARACTERS = 120
_MOST_LOST = 10
"""Statements of one reason that are named; drawing.json has all."""


def fidelity_md(drawing: Drawing, written: Written) -> str:
    """Returns the text of FIDELITY.md."""
    environment = Environment(  # noqa: S701 - Markdown, whose cells the filters escape
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(
        percent=share,
        line=_line,
        said=_said,
        capitalised=_capitalised,
        code=code,
        duration=duration,
    )
    coverage = coverage_of(drawing)
    statements = [one for scenario in drawing.scenarios for one in scenario.statements]
    template = (files(__package__) / f"{FIDELITY}.j2").read_text("utf-8")
    return environment.from_string(template).render(
        coverage=coverage,
        is_statistics=drawing.source is Source.STATISTICS,
        seconds=drawing.figures.seconds,
        statements=len(statements),
        scenarios=list(_scenarios(drawing, coverage)),
        expected=list(_expected(drawing, coverage, skew=written.skew)),
        notes=notes_of(drawing, written),
        parameters=list(_parameters(drawing)),
        lost=list(_lost(drawing, coverage)),
        lost_calls=coverage.calls - coverage.drawn_calls,
        lost_share=1.0 - coverage.time_share,
        improvements=improvements(drawing),
    )


def _scenarios(drawing: Drawing, coverage: Coverage) -> Iterator[dict[str, Any]]:
    for one in sorted(drawing.scenarios, key=lambda one: -time_of(one)):
        calls = sum(each.figures.calls for each in one.statements)
        yield {
            "name": one.name,
            "statements": len(one.statements),
            "transactions": one.transactions,
            "calls_share": calls / coverage.calls if coverage.calls else 0.0,
            "share": coverage.share_of(time_of(one)),
        }


def _expected(drawing: Drawing, coverage: Coverage, *, skew: bool) -> Iterator[dict[str, Any]]:
    found = [
        (scenario, statement, why)
        for scenario in drawing.scenarios
        for statement in scenario.statements
        if (why := expected_of(scenario, statement, drawing.source, skew=skew))
    ]
    for scenario, statement, why in sorted(found, key=lambda item: -item[1].figures.time_ms):
        yield {
            "scenario": scenario.name,
            "text": statement.source_text,
            "share": coverage.share_of(statement.figures.time_ms),
            "why": "; ".join(map(str, why)),
        }


def _parameters(drawing: Drawing) -> Iterator[dict[str, Any]]:
    for scenario in drawing.scenarios:
        rows = "" if scenario.parameters is None else scenario.parameters.num_rows
        used = [one for each in scenario.statements for one in each.parameters]
        # Where one is used several times, a place that says its column.
        known = {one.name: one for one in sorted(used, key=lambda one: one.column is not None)}
        alike: dict[object, list[Parameter]] = {}
        for name in dict.fromkeys(one.name for one in used):
            one = known[name]
            # Those of a list, and of the rows of an insert.
            same = (one.column, one.type, one.role, one.origin) if one.column else one.name
            alike.setdefault(same, []).append(one)
        for one, *others in alike.values():
            yield {
                "scenario": scenario.name,
                "name": one.name,
                "more": len(others),
                "column": one.column or "",
                "type": one.type,
                "role": one.role,
                "origin": Note(_ORIGINS[one.origin]),
                "rows": rows,
            }


def _lost(drawing: Drawing, coverage: Coverage) -> Iterator[dict[str, Any]]:
    for reason, own in losses_by_reason(drawing).items():
        yield {
            "why": note_of_code(reason),
            "calls": sum(one.calls for one in own),
            "share": coverage.share_of(sum(one.time_ms for one in own)),
            "statements": [
                {"text": one.text, "calls": one.calls, "share": coverage.share_of(one.time_ms)}
                for one in own[:_MOST_LOST]
            ],
            "more": max(len(own) - _MOST_LOST, 0),
        }


def _line(text: object) -> str:
    """One line of a list or a cell, with what would end a cell escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _said(note: object) -> str:
    """A note as a sentence of its own."""
    return f"{_capitalised(_line(note))}."


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def code(text: str) -> str:
    """Returns a text from outside as code in a cell; nothing where it is empty."""
    shown = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    if len(shown) > _MOST_CHARACTERS:
        shown = f"{shown[: _MOST_CHARACTERS - 1]}…"
    return f"`{shown}`" if shown else ""
