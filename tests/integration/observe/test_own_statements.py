"""The statements that an observation lists are the server's load, and none of pgassay's own."""

from __future__ import annotations

import json
from pathlib import Path

from pgassay.server.hosts.account import Account
from support.runs.observing import busy_sessions, ended, observing
from support.servers.lab import SECRET, installation_named, running_lab_server

LOAD = ("SELECT count(*) FROM pg_class AS ours, pg_sleep(0.02)", "SELECT pg_sleep(0.05) AS ours")
BY_ROLE = """
SELECT queryid::text, min(query), bool_and(userid = 'watcher'::regrole)
  FROM pg_stat_statements WHERE calls > 0 GROUP BY queryid
"""


def test_an_observation_lists_none_of_its_own_statements(
    account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run, lines = tmp_path / "run", "shared_preload_libraries = 'pg_stat_statements'\n"
    installation = installation_named("embedded-18")
    with running_lab_server(installation, account, servers_base, lines) as server:
        with server.admin() as session:
            session.execute("CREATE EXTENSION pg_stat_statements")
            session.execute(f"CREATE ROLE watcher LOGIN PASSWORD '{SECRET}'".encode())
            session.execute("GRANT pg_monitor TO watcher")
        with (
            busy_sessions(server.dsn(), *LOAD),
            observing(
                server, run, "--segment", "2s", "--duration", "4s", user="watcher"
            ) as process,
        ):
            ended(process)
        with server.admin() as session:
            rows = session.execute(BY_ROLE).fetchall()
    listed = {
        one["queryid"] for one in json.loads((run / "analysis.json").read_text())["statements"]
    }
    own = {queryid for queryid, text, only_own in rows if only_own and not is_of_anyone(text)}
    assert len(own) > 20
    assert listed & own == set()
    load = {queryid for queryid, text, _ in rows if "ours" in text and queryid in listed}
    assert len(load) == len(LOAD)
    page = (run / "report.html").read_text()
    assert not [queryid for queryid in own if queryid in page]
    assert all(queryid in page for queryid in load)


def is_of_anyone(text: str) -> bool:
    """Any client may send these, the load of an observed server too."""
    return text.startswith(("SET ", "BEGIN", "COMMIT", "ROLLBACK"))
