"""Whose sessions a changed setting reaches: the server's, a database's, a role's.

Enters: the scope a spec asks for, a session. Leaves: the SQL of that scope, what is written there,
and which settings and rights it takes. Never: changes a setting.

PostgreSQL documentation: "Setting Parameters" (ALTER DATABASE, ALTER ROLE), pg_db_role_setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgassay.refusals.refusal import SettingRefused
from pgassay.server.connection.rights import own_role
from pgassay.server.protocol import Connection, Context, Setting
from pgassay.server.settings.auto_conf import NAME as AUTO_CONF
from pgassay.server.settings.auto_conf import value_in
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import alter_of
from pgassay.spec.server.access import SettingsAt

# Sources of pg_settings that win over a scope, for every session that we could open.
_OF_ROLE_HERE = {
    "database user": "ALTER ROLE … IN DATABASE … SET",
    "client": "the connection's options (dsn or PGOPTIONS)",
}
_OF_ROLE = {"user": "ALTER ROLE … SET", **_OF_ROLE_HERE}
OVERRIDING: Mapping[str, Mapping[str, str]] = {
    "server": {
        "database": "ALTER DATABASE … SET",
        "global": "ALTER ROLE ALL SET",
        "command line": "the server's command line",
        "environment variable": "the server's environment",
        **_OF_ROLE,
    },
    "database": _OF_ROLE,
    "role": _OF_ROLE_HERE,
}
_FOR_ALL = (Context.SIGHUP, Context.POSTMASTER)


def auto_conf_text(session: Connection) -> str | None:
    """Returns the text of postgresql.auto.conf; None where this user may not read it."""
    try:
        row = session.execute("SELECT pg_read_file(%s)", (AUTO_CONF,)).fetchone()
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedFile,
        psycopg.errors.CharacterNotInRepertoire,
    ):
        return None
    return str(row[0]) if row else None


@dataclass(frozen=True)
class Scope:
    """Where ALTER … SET writes a run's settings: the server, a database or a role."""

    at: SettingsAt = "server"
    of: str = ""
    """The database or the role."""

    @property
    def reloads(self) -> bool:
        """Whether a change needs a reload to take effect; otherwise each new session has it."""
        return self.at == "server"

    @property
    def source(self) -> str:
        """The name of this scope in pg_settings.source."""
        return {"server": "configuration file", "database": "database", "role": "user"}[self.at]

    @property
    def place(self) -> str:
        """The name of this scope in messages."""
        return AUTO_CONF if self.at == "server" else f"{self.at} {self.of}"

    @property
    def elsewhere(self) -> str:
        """Where else the value could be set instead, in messages."""
        return " (postgresql.conf may hold it)" if self.at == "server" else ""

    @property
    def overriding(self) -> Mapping[str, str]:
        """Names the sources that win over this scope, in words."""
        return OVERRIDING[self.at]

    @property
    def alter(self) -> sql.Composable:
        """The statement up to SET or RESET."""
        return alter_of(self.at, self.of)

    def written(self, session: Connection, name: str) -> tuple[bool, str | None]:
        """Whether this user may know what is written there of a setting, and that."""
        if self.at != "server":
            row = session.execute(
                statement("settings/role_setting"), {"at": self.at, "of": self.of, "name": name}
            ).fetchone()
            return True, None if row is None else row[0]
        try:
            row = session.execute(statement("settings/auto_conf_value"), (name,)).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            text = auto_conf_text(session)
            if text is not None:
                return True, value_in(text, name)
            row = session.execute(statement("settings/auto_conf_in_force"), (name,)).fetchone()
            return (row[0], row[1]) if row else (False, None)
        return True, None if row is None else row[0]

    def lines(self, session: Connection) -> list[tuple[str, str]] | None:
        """The entries of postgresql.auto.conf in their order; None where that is not this scope, or
        this user may not read them."""
        if self.at != "server":
            return None
        try:
            return session.execute(statement("settings/auto_conf_lines")).fetchall()
        except psycopg.errors.InsufficientPrivilege:
            return None

    def refuse(self, name: str, setting: Setting | None) -> None:
        """Raises SettingRejected for a setting that a database or a role cannot have, or that is
        overridden there."""
        if setting is None:
            return
        if self.at != "server" and setting.context in _FOR_ALL:
            raise SettingRefused(name, "setting-of-the-server", at=self.at)
        if setting.source in self.overriding:
            raise SettingRefused(
                name,
                "setting-overridden",
                place=self.overriding[setting.source],
                statement=self.alter.as_string(None),
            )

    def refuse_without_right(self, session: Connection, name: str, setting: Setting | None) -> None:
        """Raises SettingRejected for what this user may not write in this scope."""
        if self.at == "server":
            _refuse_alter_system(session, name)
            return
        user = session.info.user
        row = session.execute(statement("settings/may_alter_database"), (self.of,)).fetchone()
        if self.at == "database" and not (row and row[0]):
            raise SettingRefused(name, "database-of-another-owner", user=user, database=self.of)
        refuse_without_set(session, name, setting)


SERVER = Scope()


def refuse_without_set(session: Connection, name: str, setting: Setting | None) -> None:
    """Raises SettingRejected for what this user may not SET in a session of its own."""
    if setting is None or setting.context not in (Context.SUPERUSER, Context.SUPERUSER_BACKEND):
        return
    newer = session.info.server_version >= 150000
    row = session.execute(
        statement("settings/may_set_15" if newer else "settings/may_set_13"), (name,)
    ).fetchone()
    if not (row and row[0]):
        code = "may-not-set-without-grant" if newer else "may-not-set"
        user, role = session.info.user, own_role(session)
        raise SettingRefused(name, code, user=user, name=name, role=role)


def _refuse_alter_system(session: Connection, name: str) -> None:
    # From 17 on; without a value it is an older server, which always allows it.
    row = session.execute("SELECT current_setting('allow_alter_system', true)").fetchone()
    if row == ("off",):
        raise SettingRefused(name, "alter-system-off")
    newer = session.info.server_version >= 150000
    question = statement("settings/may_change_15" if newer else "settings/may_change_13")
    may_alter, may_reload = session.execute(question, (name,)).fetchone() or (False, False)
    user = session.info.user
    if not may_alter:
        code = "may-not-alter-system-without-grant" if newer else "may-not-alter-system"
        raise SettingRefused(name, code, user=user, name=name, role=own_role(session))
    if not may_reload:
        raise SettingRefused(name, "may-not-reload", user=user, role=own_role(session))
