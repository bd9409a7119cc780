"""`pgassay observe --ssh` records the host and the log of a server on another host."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from pgassay.errors import ExitCode
from support.hosts.sshd import HOST, Sshd
from support.runs.command import pgassay
from support.runs.observing import busy_sessions, ended, last_reading_ns, observing
from support.servers.debian import DebianServer
from support.servers.lab import wait_until

SLEEP = "SELECT pg_sleep(0.02) FROM (SELECT FROM pg_database LIMIT 1) AS one"


def read_since(run: Path, then_ns: int) -> bool:
    return min(last_reading_ns(run, source) for source in ("stat", "processes")) > then_ns


def test_the_host_is_sampled_again_after_a_lost_connection_and_a_restart(
    debian: DebianServer, ssh_config: Sshd, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with (
        busy_sessions(debian.dsn(), SLEEP, SLEEP),
        observing(debian, run, "--ssh", HOST, "--segment", "1s") as process,
    ):
        wait_until(lambda: read_since(run, 0), "samples of the host")
        with debian.admin() as session:
            session.execute("CHECKPOINT")

        ssh_config.cut()
        cut_ns = time.time_ns()
        wait_until(lambda: read_since(run, cut_ns), "samples of the host over another connection")

        debian.ctl("restart")
        back_ns = time.time_ns()
        wait_until(lambda: read_since(run, back_ns), "samples of the restarted processes")

        process.send_signal(signal.SIGINT)
        found = ended(process)
    wait_until(lambda: ssh_config.sessions() == 0, "its connection is closed")
    assert found["ended_by"] == "stopped"
    assert any("the host's reader stopped" in text for text in found["warnings"]), found["warnings"]
    assert found["averages"]["busy"] > 0
    assert found["host"]["vmstat"]["us"] > 0
    whole = json.loads((run / "analysis.json").read_text())
    assert whole["environment"]["host"]["name"] == HOST
    assert whole["environment"]["host"]["storage"]["data"]["path"].startswith(str(debian.base))
    # Only the host can read the log file of a Debian cluster.
    assert whole["checkpoints_from"] == "log"
    assert any(one["cause"].strip() for one in whole["checkpoints"])
    assert "over ssh" in (run / "segments" / "000001" / "segment.json").read_text()


def test_a_host_that_ssh_cannot_reach_is_one_line_and_no_directory(
    debian: DebianServer, ssh_config: Sshd, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    for ssh, words in (
        ("nowhere.invalid", "ssh nowhere.invalid: "),
        ("-oX", "as ssh knows it"),
    ):
        done = pgassay("observe", debian.dsn(), f"--ssh={ssh}", "--duration", "1s", "--out", run)
        assert done.returncode == ExitCode.USAGE, done.stderr
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        assert not run.exists()
    assert ssh_config.sessions() == 0
