"""When autovacuum takes a table up: by its storage parameters, or else the server's settings."""

from __future__ import annotations

from support.servers.lab import LabServer, wait_until
from support.servers.pool import on_every_version
from support.servers.views import rows_of


@on_every_version
def test_dead_rows_are_set_against_the_number_that_starts_autovacuum_on_that_table(
    lab_server: LabServer,
) -> None:
    with lab_server.admin() as session:
        at_200 = "autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0"
        forms = {"due_own": at_200, "due_off": "autovacuum_enabled = off"}
        if session.info.server_version >= 180000:
            forms["due_most"] = (
                "autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_max_threshold = 400"
            )
        try:
            for name, form in forms.items():
                session.execute(
                    f"CREATE TABLE {name} WITH ({form}) AS SELECT generate_series(1, 100)"
                )
                session.execute(f"DELETE FROM {name}")

            def due() -> dict[str, float | None]:
                rows = {row["relation"]: row for row in rows_of(session, "tables")}
                found = {name: rows.get(name, {"dead_rows": 0}) for name in forms}
                if any(row["dead_rows"] != 100 for row in found.values()):
                    return {}
                return {name: row["vacuum_due"] for name, row in found.items()}

            wait_until(lambda: bool(due()), "dead rows are counted")
            wanted = {"due_own": 0.5, "due_off": None, "due_most": 0.25}
            assert due() == {name: wanted[name] for name in forms}
        finally:
            for name in forms:
                session.execute(f"DROP TABLE IF EXISTS {name}")
