"""Whether a setting can be changed, on an existing server or in a session, and what undoes that.

Enters: a session, settings, why the server may not be restarted. Leaves: a SettingRejected, or the
setting as it was found. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg import sql

from pgassay.refusals.refusal import SettingRefused
from pgassay.server.change import SettingChange
from pgassay.server.connection.rights import own_role
from pgassay.server.protocol import Connection, Setting
from pgassay.server.settings.scope import SERVER, Scope, refuse_without_set
from pgassay.server.settings.values import check_value, find, read_settings
from pgassay.server.undo.undo_sql import assignment, reset
from pgassay.spec.secrets.redaction import shown_of

NO_RESTART = "setting-without-way-to-restart"
NOT_ALLOWED = "setting-without-leave-to-restart"


@dataclass
class Touched:
    """A setting that a run changes: its value before, and the journal entries that are
    still open."""

    name: str
    written: str | None
    """The value that was written in postgresql.auto.conf, the database or the role, if any."""
    in_force: Setting
    undo: sql.Composed
    changes: list[SettingChange] = field(default_factory=list)
    ours: str | None = None
    """The value of ours that the server has accepted and that was not taken back."""
    line: tuple[bool, str | None] | None = None
    """What was written once that value was in force; None until then."""
    reported: bool = False
    """Whether the run has reported that others have changed it."""

    @property
    def undo_text(self) -> str:
        return self.undo.as_string(None)


def refuse_unchangeable(
    session: Connection,
    settings: Mapping[str, str],
    *,
    restarts: str = NO_RESTART,
    scope: Scope = SERVER,
) -> None:
    """Refuse what cannot be changed. Changes nothing.

    `restarts` says why the server may not be restarted; empty where it may.
    """
    known = read_settings(session)
    for name, value in settings.items():
        setting = check_value(known, name, value)
        scope.refuse(name, setting)
        if setting is not None and setting.context.needs_restart and restarts:
            raise SettingRefused(name, restarts)
        as_found(session, name, setting, scope)
        scope.refuse_without_right(session, name, setting)


def refuse_in_sessions(session: Connection, settings: Mapping[str, str]) -> None:
    """Raises SettingRejected for what no session of this user can set for itself; changes
    nothing."""
    known = read_settings(session)
    for name, value in settings.items():
        refuse_without_set(session, name, check_value(known, name, value))


def as_found(
    session: Connection, name: str, setting: Setting | None, scope: Scope = SERVER
) -> Touched:
    """Returns a setting as it is before it is changed, with the statement that undoes a change;
    raises SettingRejected where it could not be put back."""
    if setting is None:
        raise SettingRefused(name, "setting-not-loaded")
    scope.refuse(name, setting)
    visible, written = scope.written(session, name)
    if not visible and setting.source in (scope.source, "session"):
        raise SettingRefused(
            name, "setting-of-a-hidden-file", user=session.info.user, role=own_role(session)
        )
    if written and shown_of(name, written) != written:
        raise SettingRefused(
            name, "setting-may-hold-password", place=scope.place, elsewhere=scope.elsewhere
        )
    undo = reset(name, scope.alter) if written is None else assignment(name, written, scope.alter)
    return Touched(name, written, setting, undo)


def needs_restart(session: Connection, name: str) -> bool:
    """Returns whether a server takes a setting at its start only."""
    setting = find(read_settings(session), name)
    return setting is not None and setting.context.needs_restart
