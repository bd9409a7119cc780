"""Undoing on an existing server what a killed run has changed, change by change.

Enters: the changes that its journal holds open, a session. Leaves: the newest undone, or a sentence
where others have changed the same thing since. Never: overwrites what is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.server.data.schema import DROP, refuse_foreign
from pgassay.server.data.schema_variants import as_psql, is_undo_of_a_variant, take_back
from pgassay.server.protocol import Change, Connection
from pgassay.server.settings.own_lines import Author, line_of
from pgassay.server.settings.scope import scope_of
from pgassay.server.settings.statements import RELOAD, reload


def undo_newest(session: Connection, left: Sequence[Change], settled: set[str]) -> str | None:
    """Undo the last of the changes left; a sentence where it is left as it is.

    `settled` are the settings that have been undone already. A change may have been recorded and
    never made, or taken back to an older one of ours: each of those values is ours.
    """
    change = left[-1]
    if change.is_restart:
        return None  # the server is up, which is all there is to undo
    if not change.setting:
        if change.undo == DROP.as_string(session) and not refuse_foreign(session):
            return None
        if is_undo_of_a_variant(session, change.undo):
            take_back(session, change.undo)
        else:
            session.execute(change.undo.encode(), prepare=False)
        return None
    scope = scope_of(change.scope)
    place = f"{change.setting} {change.scope}"
    if place in settled:
        return None  # a later change of ours to the same setting has been undone already
    settled.add(place)
    ours = [one.value for one in left if (one.setting, one.scope) == (change.setting, change.scope)]
    line = line_of(session, scope, change.setting, change.found, ours)
    if line.author is Author.AS_FOUND:
        return None
    if line.author is Author.OTHERS:
        return line.described(change.setting, change.undo)
    session.execute(change.undo.encode(), prepare=False)
    if scope.reloads:
        reload(session)
    return None


def sql_to_paste(left: Sequence[Change]) -> list[str]:
    """What a person would run in psql to undo changes that are left, oldest first."""
    return [*(as_psql(one.undo) for one in reversed(left) if not one.is_restart), RELOAD]
