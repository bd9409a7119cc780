"""Lines to be pasted name a role as PostgreSQL would."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from pgassay.errors import SettingRejected
from pgassay.server.protocol import Connection
from pgassay.server.settings.scope import SERVER
from pgassay.trials.host.host_sources import sources_over_sql
from support.notes import codes_in

ROLE = '"app-user"'


class Refusing:
    """A session of a role that may do nothing."""

    info = SimpleNamespace(server_version=160000, user="app-user")

    def execute(self, query: Any, *_: Any, **__: Any) -> Any:
        if "quote_ident" in str(query):
            return SimpleNamespace(fetchone=lambda: (ROLE,))
        if "pg_read_file" in str(query):
            raise psycopg.errors.InsufficientPrivilege
        return SimpleNamespace(fetchone=lambda: (False, False))


def test_what_to_grant_for_the_hosts_files_can_be_pasted() -> None:
    (note,) = sources_over_sql(cast(Connection, Refusing())).notes
    assert codes_in(note) == ["trials/host/not-measured", "trials/host/grants"]
    assert f"GRANT pg_read_server_files TO {ROLE};" in str(note)
    assert f"boolean) TO {ROLE};" in str(note)


def test_what_to_grant_for_a_setting_can_be_pasted() -> None:
    with pytest.raises(SettingRejected) as refused:
        SERVER.refuse_without_right(cast(Connection, Refusing()), "work_mem", None)
    assert f"GRANT ALTER SYSTEM ON PARAMETER work_mem TO {ROLE}, or" in str(refused.value)
