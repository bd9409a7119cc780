"""A standby tells how far it is behind, and says so where it cannot know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from pgassay.target.account import Account
from pgassay.target.protocol import Connection
from support.command import pgassay
from support.observing import ended, observing
from support.servers import LabServer, running_standby, wait_until
from support.views import rows_of

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


def test_a_standby_that_is_cut_off_does_not_know_what_its_sender_has(
    lab_server: LabServer, account: Account, servers_base: Path
) -> None:
    with (
        running_standby(lab_server, account, servers_base) as standby,
        standby.admin() as session,
    ):
        heard_of(session, lab_server)
        assert lag_of(session)["silent_ms"] is not None
        cut_off(session)
        found = lag_of(session)
        assert (found["receive_behind_bytes"], found["receive_known"]) == (None, 0)
        assert found["silent_ms"] is None
        # What it had received it still knows.
        assert (found["replay_behind_bytes"] is not None, found["replay_known"]) == (True, 1)
        # As where all comes from an archive: nothing was streamed since the start.
        standby.cluster.stop(gently=True)
        standby.cluster.start()
        with standby.admin() as again:
            found = lag_of(again)
        assert (found["replay_behind_bytes"], found["replay_known"]) == (None, 0)
        assert found["receivers"] == 0


def test_without_pg_monitor_what_the_sender_has_is_unknown_and_not_nothing(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    with (
        running_standby(lab_server, account, servers_base) as standby,
        psycopg.connect(standby.dsn("plain"), autocommit=True) as session,
        observing(standby, tmp_path / "run", "--duration", "3s", user="plain") as process,
    ):
        found = lag_of(session)
        told = ended(process)
    assert found["receivers"] == 1
    assert (found["receive_behind_bytes"], found["silent_ms"]) == (None, None)
    assert found["replay_behind_bytes"] is not None
    assert "receive_behind_bytes" not in told["averages"]
    assert "receive_behind_bytes" not in told["largest"]
    unknown = told["unknown"]["receive_behind_bytes"]
    assert (unknown["cause"], unknown["share"]) == ("hidden", 1.0)
    shown = " ".join(pgassay("show", tmp_path / "run").stdout.split())
    assert "WAL not received yet: unknown: what its sender has is hidden" in shown


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


def test_a_report_says_since_when_it_is_not_known_and_why(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with (
        running_standby(lab_server, account, servers_base) as standby,
        standby.admin() as session,
        observing(standby, run, "--segment", "1s", "--duration", "9s") as process,
    ):
        heard_of(session, lab_server)
        known = len(list((run / "segments").glob("0*"))) + 2
        wait_until((run / "segments" / f"{known:06d}").is_dir, "seconds in which it was known")
        cut_off(session)
        told = ended(process)
    unknown = told["unknown"]["receive_behind_bytes"]
    assert unknown["cause"] == "no_receiver"
    assert 0 < unknown["seconds"] < 9
    assert 0 < unknown["share"] < 1
    shown = " ".join(pgassay("show", run).stdout.split())
    assert "; unknown for " in shown
    assert "no WAL receiver ran" in (run / "report.html").read_text()


def test_a_primary_has_no_row(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        assert rows_of(session, "standby") == []
