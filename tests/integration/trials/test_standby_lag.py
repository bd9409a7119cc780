"""How far a standby is behind, and where it cannot know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pgassay.server.hosts.account import Account
from pgassay.server.protocol import Connection
from support.runs.command import pgassay
from support.runs.observing import ended, observing
from support.servers.lab import LabServer, running_standby, wait_until
from support.servers.views import rows_of

CUT_OFF = ("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")


def lag_of(session: Connection) -> dict[str, Any]:
    (row,) = rows_of(session, "standby")
    return row


def heard_of(session: Connection, primary: LabServer) -> None:
    """An idle sender has not said yet what it has."""
    with primary.admin() as writer:
        writer.execute("CREATE TABLE said ()")
        writer.execute("DROP TABLE said")
    wait_until(lambda: lag_of(session)["receive_known"] == 1, "a word of the sender")


def cut_off(session: Connection) -> None:
    for sql in CUT_OFF:
        session.execute(sql.encode())
    wait_until(lambda: lag_of(session)["receivers"] == 0, "no receiver")


def test_a_standby_reports_its_lag_and_since_when_and_why_it_is_unknown(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run, hidden = tmp_path / "run", tmp_path / "hidden"
    with (
        running_standby(lab_server, account, servers_base) as standby,
        standby.admin() as session,
    ):
        heard_of(session, lab_server)
        assert lag_of(session)["silent_ms"] is not None
        with observing(standby, hidden, "--duration", "2s", user="plain") as process:
            assert_hidden(ended(process), hidden)
        with observing(standby, run, "--segment", "1s", "--duration", "7s") as process:
            wait_until((run / "segments" / "000002").is_dir, "seconds in which it was known")
            cut_off(session)
            observed = ended(process)
        found = lag_of(session)
        assert (found["receive_behind_bytes"], found["receive_known"]) == (None, 0)
        assert found["silent_ms"] is None
        # It still knows what it had received.
        assert (found["replay_behind_bytes"] is not None, found["replay_known"]) == (True, 1)
        # As where all WAL comes from an archive: nothing was streamed since the start.
        standby.cluster.stop(gently=True)
        standby.cluster.start()
        with standby.admin() as again:
            found = lag_of(again)
        assert (found["replay_behind_bytes"], found["replay_known"]) == (None, 0)
        assert found["receivers"] == 0
    unknown = observed["unknown"]["receive_behind_bytes"]
    assert unknown["cause"] == "no_receiver"
    assert 0 < unknown["seconds"] < 7
    assert 0 < unknown["share"] < 1
    shown = " ".join(pgassay("show", run).stdout.split())
    assert "; unknown for " in shown
    assert "no WAL receiver ran" in (run / "report.html").read_text()


def assert_hidden(observed: dict[str, Any], run: Path) -> None:
    """Without pg_monitor the sender's position is unknown, and never 0."""
    assert "receive_behind_bytes" not in observed["averages"]
    assert "receive_behind_bytes" not in observed["largest"]
    unknown = observed["unknown"]["receive_behind_bytes"]
    assert (unknown["cause"], unknown["share"]) == ("hidden", 1.0)
    shown = " ".join(pgassay("show", run).stdout.split())
    assert "WAL not received yet: unknown: the primary's WAL position is hidden" in shown


def test_replay_that_was_paused_before_any_commit_has_no_known_lag(
    lab_server: LabServer, account: Account, servers_base: Path
) -> None:
    # The delay keeps whatever commits before the pause is asked for.
    delayed = "recovery_min_apply_delay = '1h'\n"
    with (
        running_standby(lab_server, account, servers_base, delayed) as standby,
        standby.admin() as session,
        lab_server.admin() as primary,
    ):
        session.execute("SELECT pg_wal_replay_pause()")
        primary.execute("CREATE TABLE behind AS SELECT generate_series(1, 20000) AS x")
        try:
            wait_until(
                lambda: (lag_of(session)["replay_behind_bytes"] or 0) > 500_000, "WAL received"
            )
            found = lag_of(session)
        finally:
            primary.execute("DROP TABLE behind")
        assert found["paused"] == 1
        assert (found["replay_lag_ms"], found["lag_known"]) == (None, 0)


def test_a_primary_has_no_row(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        assert rows_of(session, "standby") == []
