"""A run that passes a limit of [guard] ends in order: restored, reported, with one line and 2."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import LimitPassed
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.spec.model import GuardTable
from pgassay.trials.run.limits import LimitWatch, Seen
from support.runs.command import pgassay
from support.servers.lab import (
    SECRET,
    LabServer,
    RecordingJournal,
    running_standby,
    scalar,
    wait_until,
)

SPEC = """
[target]
dsn = "host=127.0.0.1 port={port} user={user} dbname=lab"
allow_changes = true
accept = ["commits"]
[workload]
use = "payments-write"
[factors.postgres]
checkpoint_timeout = ["5min", "10min"]
[load]
clients = 1
rate = 50
step = "0.8s"
warmup = "0.2s"
[design]
min_blocks = 6
max_blocks = 6
[guard]
{limit}
"""


OF_THE_SERVER = 'postgres]\ncheckpoint_timeout = ["5min", "10min"]'
OF_THE_CLIENT = 'client]\nprotocol = ["simple", "prepared"]'


def spec_of(folder: Path, server: LabServer, limit: str, user: str) -> Path:
    spec = folder / "spec.toml"
    text = SPEC if user == "lab" else SPEC.replace(OF_THE_SERVER, OF_THE_CLIENT)
    spec.write_text(text.format(port=server.port, limit=limit, user=user))
    return spec


def run(folder: Path, server: LabServer, limit: str, user: str = "lab") -> tuple[int, str]:
    spec = spec_of(folder, server, limit, user)
    done = pgassay("run", spec, "--out", folder / "run", PGPASSWORD=SECRET)
    return done.returncode, " ".join(done.stderr.split())


def assert_as_found(server: LabServer) -> None:
    with server.admin() as session:
        assert scalar(session, "SELECT to_regnamespace('pgassay') IS NULL")
        assert scalar(session, "SHOW checkpoint_timeout") == "5min"


def test_slow_answers_beside_the_load_end_the_run_and_its_finished_trials_are_reported(
    tmp_path: Path, lab_server: LabServer
) -> None:
    code, said = run(tmp_path, lab_server, 'other_latency = "1us"')
    assert code == 2, said
    assert "guard.other_latency = 0.001 ms: 3 times in a row a query of one row" in said
    assert (tmp_path / "run" / "report.html").exists()
    assert_as_found(lab_server)


def test_a_full_disk_ends_the_run_in_its_first_trial(tmp_path: Path, lab_server: LabServer) -> None:
    code, said = run(tmp_path, lab_server, 'free_disk = "900000GB"')
    assert code == 2, said
    assert "guard.free_disk = 900000 GB" in said
    assert_as_found(lab_server)


@pytest.mark.parametrize(
    ("user", "limit", "words"),
    [
        ("plain", 'replication_lag = "30s"', "guard.replication_lag: this role sees no lag"),
        ("lab", 'replication_lag = "30s"', "guard.replication_lag: no standby is connected"),
        ("lab", 'replication_lag = "0s"', "guard.replication_lag: '0s' given"),
    ],
)
def test_a_limit_that_cannot_be_kept_to_is_refused_before_anything_is_made(
    tmp_path: Path, lab_server: LabServer, user: str, limit: str, words: str
) -> None:
    code, said = run(tmp_path, lab_server, limit, user)
    assert code == 1, said
    assert words in said
    assert_as_found(lab_server)
    planned = pgassay("plan", tmp_path / "spec.toml", PGPASSWORD=SECRET)
    assert words in " ".join((planned.stdout + planned.stderr).split())


def test_a_standby_that_is_lost_passes_the_limit_of_its_lag_in_a_later_trial(
    lab_server: LabServer, account: Account, servers_base: Path
) -> None:
    table, seen = GuardTable.model_validate({"replication_lag": "2s"}), Seen()
    with closing(ExistingTarget(lab_server.dsn(), RecordingJournal())) as target:
        target.open()

        def looked() -> bool:
            watch.look()
            return bool(seen.standbys.get(0))

        def passed() -> bool:
            watch.look()
            return False

        with (
            running_standby(lab_server, account, servers_base),
            closing(LimitWatch(table, [target], seen)) as watch,
        ):
            wait_until(looked, "a look at the standby")
        with closing(LimitWatch(table, [target], seen)) as watch:
            said = "2 s: the standby pgassay has not been connected for [23]"
            with pytest.raises(LimitPassed, match=said):
                wait_until(passed, "the limit is passed")
        with (
            closing(LimitWatch(table, [target], Seen())) as watch,
            pytest.raises(LimitPassed, match="no standby has been connected for"),
        ):
            wait_until(passed, "the limit is passed")


def test_plan_names_each_limit(tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    limits = 'replication_lag = "30s"\nother_latency = "50ms"\nfree_disk = "20GB"'
    of_ours = SPEC.format(port=1, limit=limits, user="lab").partition("[workload]")[2]
    spec.write_text(f"[workload]{of_ours}")
    done = pgassay("plan", spec)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for limit in ("replication_lag = 30 s", "other_latency = 50 ms", "free_disk = 20 GB"):
        assert f"limit {limit}: " in said
    told = json.loads(pgassay("plan", spec, "--json").stdout)["guard"]
    assert told == {"replication_lag": 30.0, "other_latency": 0.05, "free_disk": 20 * 2**30}
