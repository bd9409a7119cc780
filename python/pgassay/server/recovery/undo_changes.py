"""Undoing on an existing server what a killed run has changed, change by change.

Enters: the changes that its journal holds open, a session. Leaves: the newest undone, or a sentence
where others have changed the same thing since. Never: overwrites what is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import Change, DatabaseChange, SchemaChange, SettingChange, VariantChange
from pgassay.server.data.schema import is_mark, refuse_foreign
from pgassay.server.data.schema_variants import take_back
from pgassay.server.protocol import Connection
from pgassay.server.settings.own_lines import Author, line_of
from pgassay.server.settings.scope import Scope
from pgassay.server.settings.statements import reload
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import DROP_SCHEMA, drop_database, undo_of_setting

Place = tuple[str, str, str]
"""A setting and where it is written."""


def undo_newest(session: Connection, left: Sequence[Change], settled: set[Place]) -> str | None:
    """Undo the last of the changes left; a sentence where it is left as it is.

    `settled` are the settings that have been undone already. A change may have been recorded and
    never made, or taken back to an older one of ours: each of those values is ours.
    """
    match left[-1]:
        case SettingChange() as change:
            return _undo_setting(session, change, left, settled)
        case SchemaChange():
            if refuse_foreign(session):
                session.execute(DROP_SCHEMA)
        case DatabaseChange(name=name):
            _refuse_foreign_database(session, name)
            session.execute(drop_database(name), prepare=False)
        case VariantChange() as change:
            take_back(session, change)
    return None  # after a restart the server is up, which is all there is to undo


def _undo_setting(
    session: Connection, change: SettingChange, left: Sequence[Change], settled: set[Place]
) -> str | None:
    place = (change.name, change.scope, change.of)
    if place in settled:
        return None  # a later change of ours to the same setting has been undone already
    settled.add(place)
    ours = [
        one.value
        for one in left
        if isinstance(one, SettingChange) and (one.name, one.scope, one.of) == place
    ]
    scope, undo = Scope(change.scope, change.of), undo_of_setting(change)
    line = line_of(session, scope, change.name, change.found, ours)
    if line.author is Author.AS_FOUND:
        return None
    if line.author is Author.OTHERS:
        return line.described(change.name, undo.as_string(session))
    session.execute(undo, prepare=False)
    if scope.reloads:
        reload(session)
    return None


def _refuse_foreign_database(session: Connection, name: str) -> None:
    """A run draws the name, makes the database, and marks it then: without any mark it is a run's
    that was killed between."""
    row = session.execute(statement("data/database_comment"), (name,)).fetchone()
    if row is not None and row[0] is not None and not is_mark(row[0]):
        raise TargetRefused("comment-not-ours", database=name)
