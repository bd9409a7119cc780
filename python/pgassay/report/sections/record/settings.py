"""The server's settings that matter most for an experiment, by arm where arms differ.

Enters: the context. Leaves: a table. Never: relies on a key of environment.json.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import Message, tr
from pgassay.report.context import ReportContext
from pgassay.report.tables.table import Column, Table, table

_NAMES: tuple[str, ...] = tuple(
    tomllib.loads((files(__package__) / "key_settings.toml").read_text("utf-8"))["names"]
)
_COLUMNS = (
    Column(Message("Setting"), "heading"),
    Column(Message("Value"), "text"),
    Column(Message("Set by"), "text"),
)


def settings_table(context: ReportContext) -> Table:
    """What the arms vary first; empty where no server's settings were stored."""
    stored = _stored(context.environment)
    varied = [
        name
        for name in dict.fromkeys(n for one in context.analysis.asked for n in one.settings)
        if name not in _NAMES
    ]
    rows = [row for name in (*varied, *_NAMES) for row in _rows(name, context, stored)]
    rows.sort(key=lambda row: not row[1].endswith(_BY_ARM))
    return table(_COLUMNS, rows if stored else [])


_BY_ARM = Message(", by arm")


def _rows(
    name: str, context: ReportContext, stored: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    found = stored.get(name)
    found = found if isinstance(found, Mapping) else {}
    own = [one.settings.get(name) for one in context.analysis.asked]
    values = list(dict.fromkeys(_shown(found.get("value")) if v is None else v for v in own))
    if not any(values) and not found:
        return  # this version does not have it
    value = " / ".join(values) if values else _shown(found.get("value"))
    source = (
        tr("the experiment") if any(v is not None for v in own) else str(found.get("source", ""))
    )
    yield name, value + (_BY_ARM if len(values) > 1 else ""), source


def _shown(value: Any) -> str:
    return "" if value is None else setting_text(str(value))


def _stored(environment: Mapping[str, Any]) -> Mapping[str, Any]:
    server = environment.get("server")
    every = server.get("every_setting") if isinstance(server, Mapping) else None
    return every if isinstance(every, Mapping) else {}
