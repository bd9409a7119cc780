"""Cells of the classic view: values with their labels, arms side by side, disagreements in words.

Enters: the classic view and the arms' names. Leaves: texts and tables. Never: computes a figure, or
shows one that was not measured as zero.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pgassay.analysis.classic.model import Agreement, ClassicArm, ClassicView
from pgassay.analysis.reading.plain_text import one_line
from pgassay.language import Message, localised, messages_of
from pgassay.quantities import correlation
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.tables.cells import ABSENT

WORDS: dict[str, Any] = messages_of(
    tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
)
NOT_MEASURED: str = WORDS["not_measured"]
TRIALS = Message("trials")
_DOUBTFUL = "doubtful"
_WIDTH = 70
"""Characters of a statement in a table."""


@dataclass(frozen=True)
class Shown:
    """A classic view with what its tables need to name arms and statements."""

    view: ClassicView
    names: Mapping[str, tuple[str, str]]
    unit: str
    """What an arm was measured in: `trials` of a run, `segments` of an observation."""
    texts: Mapping[str, str]
    """Query id → text of a statement, in so far as texts were read."""

    @property
    def of_trials(self) -> bool:
        """Whether the view is of a run, not of an observation."""
        return self.unit == TRIALS

    def short(self, arm: str) -> str:
        """Names an arm in a row or column."""
        return self.names[arm][0]

    def side_by_side(self, title: str, rows: Sequence[tuple[str, Sequence[str | Cell]]]) -> Table:
        """Makes a table with a column for each arm, of rows of (what, its value in each arm)."""
        columns = [
            Column(short, full_title=full)
            for short, full in (self.names[one.arm] for one in self.view.arms)
        ]
        return table([Column(title, "heading"), *columns], [(what, *cells) for what, cells in rows])

    def statement(self, query_id: str) -> str:
        """Gives the text of a query in one line, or its id where the text is not known."""
        return one_line(self.texts.get(query_id, ""), _WIDTH) or query_id

    def of_arms(self, value: Callable[[ClassicArm], str | Cell]) -> list[str | Cell]:
        """Makes the cell of each arm."""
        return [value(arm) for arm in self.view.arms]


def labelled(value: float | None, form: str, label: str | None) -> str | Cell:
    """Writes a number and its label, such as `99.2 % OK`."""
    if value is None:
        return NOT_MEASURED
    return Cell(f"{localised(form.format(value))} {label or ''}".strip(), value=value)


def r_text(value: float | None) -> str:
    """Writes a correlation with its sign."""
    return NOT_MEASURED if value is None else correlation(value)


def series_name(name: str) -> str:
    """Names a series without its disk, which a heading names."""
    bare = name.rpartition("/")[2]
    return str(WORDS["series"].get(bare, bare))


def disk_of(name: str) -> str:
    """Names the disk that a series is of; empty where it is of none."""
    return name.partition("/")[0] if "/" in name else ""


def agreement(found: Agreement | None, label: str | None) -> Cell:
    """Says whether classic and tested figure agree; a dash where neither says anything."""
    if found is None:
        return Cell(ABSENT)
    style = "" if found is Agreement.AGREE else _DOUBTFUL
    return Cell(WORDS["agreement"][found.value].format(label=label), style)
