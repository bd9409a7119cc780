"""The server's settings that matter most for an experiment, by arm where arms differ.

Enters: the context. Leaves: a table without secrets. Never: relies on a key of environment.json.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import Message, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.table import Column, Table, table
from pgassay.samples.forms.environment import Setting
from pgassay.spec.secrets.redaction import shown_of

_NAMES: tuple[str, ...] = tuple(
    tomllib.loads((files(__package__) / "key_settings.toml").read_text("utf-8"))["names"]
)
_COLUMNS = (
    Column(Message("Setting"), "heading"),
    Column(Message("Value"), "text"),
    Column(Message("Set by"), "text"),
)


def settings_table(context: ReportContext) -> Table:
    """Returns the table of settings, what the arms vary first; empty where none were stored."""
    stored = context.environment.server.every_setting
    varied = [
        name
        for name in dict.fromkeys(n for one in context.facts.asked for n in one.settings)
        if name not in _NAMES
    ]
    rows = [row for name in (*varied, *_NAMES) for row in _rows(name, context, stored)]
    by_arm_first = sorted(rows, key=lambda row: len(row.values) == 1)
    return table(_COLUMNS, [row.cells for row in by_arm_first] if stored else [])


@dataclass(frozen=True)
class _Row:
    name: str
    values: Sequence[str]
    """Those of the arms, each once."""
    source: str

    @property
    def cells(self) -> tuple[str, str, str]:
        shown = " / ".join(shown_of(self.name, value) for value in self.values)
        return self.name, shown + (tr(", by arm") if len(self.values) > 1 else ""), self.source


def _rows(name: str, context: ReportContext, stored: Mapping[str, Setting]) -> Iterator[_Row]:
    """One; none where this version of the server does not have the setting."""
    found = stored.get(name, Setting())
    own = [one.settings.get(name) for one in context.facts.asked] or [None]
    values = list(dict.fromkeys(_shown(found.value) if v is None else v for v in own))
    if any(values) or name in stored:
        is_asked = any(value is not None for value in own)
        yield _Row(name, values, tr("the experiment") if is_asked else found.source or "")


def _shown(value: Any) -> str:
    return "" if value is None else setting_text(str(value))
