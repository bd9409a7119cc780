"""What the server's settings are, and whether a wanted value is in force.

Enters: a session, wanted values as the user wrote them. Leaves: `Setting`s, a SettingRejected, or
a note on a value that the server spells in its own way. Never: changes a setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from psycopg.rows import dict_row

from pgassay.notes import Note
from pgassay.refusals.refusal import SettingRefused
from pgassay.server.connection.session import jit_of_the_server
from pgassay.server.protocol import Connection, Context, Setting
from pgassay.server.settings.scope import SERVER, Scope
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import split_names
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import shown_of
from pgassay.spec.settings.catalogue import CANNOT_VARY, misfit

# pg_settings shows a real through %g, which keeps six digits.
REAL_TOLERANCE = 1e-5


def read_settings(session: Connection) -> dict[str, Setting]:
    """Returns every setting that this session may see, by name."""
    with jit_of_the_server(session), session.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement("settings/settings"), prepare=False)
        return {
            row["name"]: Setting(
                **{**row, "context": Context(row["context"]), "enumvals": tuple(row["enumvals"])}
            )
            for row in cursor
        }


def show(session: Connection, names: Iterable[str]) -> dict[str, str]:
    """Returns each setting as `current_setting` shows it."""
    rows = session.execute(
        statement("settings/current_settings"), (list(names),), prepare=False
    ).fetchall()
    return {name: value for name, value in rows}  # noqa: C416 (rows are tuples of Any)


def find(settings: Mapping[str, Setting], name: str) -> Setting | None:
    """Finds a setting by name; PostgreSQL's names know no case."""
    return (
        settings.get(name)
        or settings.get(name.lower())
        or next((setting for key, setting in settings.items() if key.lower() == name.lower()), None)
    )


def check_value(settings: Mapping[str, Setting], name: str, value: str) -> Setting | None:
    """Refuse an unknown name, a setting that cannot vary, and a value its type cannot hold.

    None for a setting of an extension that is not loaded yet: only the server can tell.
    """
    if name.lower() in CANNOT_VARY:
        raise SettingRefused(name, "setting-does-not-vary", why=CANNOT_VARY[name.lower()])
    if "\n" in value or "\0" in value:
        raise SettingRefused(name, "value-of-several-lines")
    setting = find(settings, name)
    if setting is None:
        if "." in name:
            return None
        raise SettingRefused(name, "setting-not-of-this-server", near=did_you_mean(name, settings))
    if setting.context is Context.INTERNAL:
        raise SettingRefused(name, "setting-fixed")
    problem = misfit(
        value, setting.unit, setting.vartype, setting.min_val, setting.max_val, setting.enumvals
    )
    if problem is not None:
        raise SettingRefused(name, problem.code, **{**problem.values, "value": value})
    return setting


def same_value(wanted: str, setting: Setting) -> bool:
    """Whether the server's value is the wanted one, whatever the units and spelling."""
    try:
        asked = to_base(wanted, setting.unit, setting.vartype)
        found = to_base(setting.value, setting.unit, setting.vartype)
    except ValueError:
        return wanted == setting.value
    match setting.vartype:
        case "real":
            return math.isclose(float(asked), float(found), rel_tol=REAL_TOLERANCE)
        case "enum":
            return asked == found or _boolean_word(asked) == found
        case "string":
            return asked == found or split_names(asked) == split_names(found)
        case _:
            return asked == found


def confirm(wanted: str, setting: Setting | None, name: str, scope: Scope = SERVER) -> Note | None:
    """Raises SettingRejected for a value that is not in force; returns a note where it is, but
    reads back differently."""
    if setting is None:
        raise SettingRefused(name, "setting-gone")
    if setting.pending_restart:
        raise SettingRefused(name, "setting-waits-for-restart", wanted=wanted)
    if same_value(wanted, setting):
        return None
    shown = shown_of(name, f"{setting.value}{f' × {setting.unit}' if setting.unit else ''}")
    by = scope.overriding.get(setting.source)
    if by is not None:
        raise SettingRefused(name, "setting-from-elsewhere", shown=shown, by=by, wanted=wanted)
    automatic = setting.source == "override" and wanted.strip() in ("-1", "0")
    if automatic:
        return Note.of("server/settings/automatic", name=name, wanted=wanted, shown=shown)
    if setting.source == scope.source and setting.vartype in ("string", "enum"):
        shown = shown_of(name, setting.value)
        return Note.of("server/settings/reads-back", name=name, wanted=wanted, shown=shown)
    raise SettingRefused(
        name, "setting-not-taken", wanted=wanted, shown=shown, source=setting.source
    )


def _boolean_word(value: str) -> str:
    try:
        return to_base(value, None, "bool")
    except ValueError:
        return value
