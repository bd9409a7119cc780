"""Queries of pgassay's own are not compiled, and that hides nothing of the server."""

from __future__ import annotations

from pgassay.server.connection.session import connect, for_sql, resolve
from pgassay.server.existing.snapshot import snapshot
from pgassay.server.protocol import Connection
from pgassay.server.settings.statements import reload
from pgassay.server.settings.values import read_settings, show
from support.servers.lab import LabServer


def jit_of(session: Connection) -> object:
    return session.execute("SHOW jit").fetchall()


def test_own_sessions_never_compile_and_those_with_sql_of_users_as_the_server(
    lab_server: LabServer,
) -> None:
    parameters = resolve(lab_server.dsn())
    with connect(parameters) as session:
        assert jit_of(session) == [("off",)]
    with for_sql(parameters) as session:
        assert jit_of(session) == [("on",)]


def test_where_the_servers_jit_comes_from_is_read_beside_ours(lab_server: LabServer) -> None:
    parameters = resolve(lab_server.dsn())
    before = snapshot(parameters)
    with lab_server.admin() as admin:
        admin.execute("ALTER SYSTEM SET jit = on")
        reload(admin)
    try:
        with connect(parameters) as session:
            found = read_settings(session)["jit"]
            assert (found.value, found.source) == ("on", "configuration file")
            assert show(session, ["jit"]) == {"jit": "on"}
            assert jit_of(session) == [("off",)]
        changed = {thing.name for thing, like in snapshot(parameters).things.items()
                   if before.things.get(thing) != like}  # fmt: skip
        assert "jit" in changed
    finally:
        with lab_server.admin() as admin:
            admin.execute("ALTER SYSTEM RESET jit")
            reload(admin)
