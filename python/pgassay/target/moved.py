"""A server that may be the one a dead run has changed, at another place by now.

Enters: a session, what is remembered of other servers with this one's system identifier. Leaves: a
sentence where a line of that run stands here too. Never: undoes it: a copy that was made after the
kill has the line as well, and what is left is left on both.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.errors import TargetError
from pgassay.target.dead_run import folders_of, is_alive, recovering
from pgassay.target.own_lines import Whose, line_of
from pgassay.target.protocol import Change, Connection
from pgassay.target.seat import Seat, seat_of
from pgassay.target.server_memory import elsewhere
from pgassay.target.setting_scope import scope_of


def refuse_moved(session: Connection, server: str, here: Seat) -> None:
    """TargetError where what a dead run wrote would be taken for what was found."""
    for text in lines_of_dead_runs(session, server, here):
        raise TargetError(text)


def lines_of_dead_runs(session: Connection, server: str, here: Seat) -> list[str]:
    """A sentence for each dead run that was elsewhere, and whose line is here too."""
    return [
        _told(line, changes)
        for changes in elsewhere(server, here)
        if not is_alive(changes) and (line := _line_here(session, changes)) is not None
    ]


def _line_here(session: Connection, changes: Sequence[Change]) -> Change | None:
    for change in changes:
        if change.setting:
            scope, ours = scope_of(change.scope), [change.value]
            line = line_of(session, scope, change.setting, change.found, ours)
            # Where this user may not see what is written, nothing is known of it.
            if line.whose is Whose.OURS and line.written not in (None, change.found):
                return change
    return None


def _told(line: Change, changes: Sequence[Change]) -> str:
    return (
        f"{line.setting} is written here as a run that was killed has written it, on another server"
        f" with this one's system identifier ({seat_of(line)}); if this is that server, moved"
        f" since: {recovering(folders_of(changes))} with --moved-to DSN; if it is a copy, made"
        f" since: {line.undo}"
    )
