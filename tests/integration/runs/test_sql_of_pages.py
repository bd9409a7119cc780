"""The SQL that pages tell a DBA to run, run on a real server."""

from __future__ import annotations

from pgassay import _core
from support.docs.pages import every_block
from support.servers.lab import LabServer


def test_the_sql_that_pages_tell_to_run_is_accepted_by_a_server(lab_server: LabServer) -> None:
    found = [
        block
        for block in every_block()
        if block.language == "sql" and not block.asks_duckdb
        # Scripts of a load are run by test_workloads_page.py, or checked by tests/unit/docs.
        and block.file is None and "\\" not in block.text
    ]  # fmt: skip
    with lab_server.admin() as session:
        session.execute("CREATE ROLE pgassay")
        # What the demo database of docs/workloads.md has.
        session.execute("CREATE SCHEMA bookings")
        session.execute("CREATE TABLE bookings.flights (flight_id int NOT NULL)")
        for block in found:
            for _, statement in _core.script_statements(block.place, block.text.encode()):
                session.execute(statement)
    assert found
