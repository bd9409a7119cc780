"""A server that SQL alone reaches: what no guard will see of its host is told before a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.target.installation import Installation
from support.broken_runs import spec_file
from support.command import pgassay
from support.servers import SECRET, LabServer, installation_named

ELSEWHERE, HERE = "0.0.0.0", "127.0.0.1"  # noqa: S104 (an address to connect to)
WORDS = "no guard watches its host in a trial: kernel settings, processors used by others"


@pytest.fixture(scope="module")
def server_installation() -> Installation:
    return installation_named("embedded-18")


@pytest.mark.parametrize(("address", "told"), [(ELSEWHERE, True), (HERE, False)])
def test_plan_and_doctor_tell_what_is_not_watched(
    tmp_path: Path, lab_server: LabServer, address: str, told: bool
) -> None:
    """That address leads to this machine, and says so no more than one of another machine."""
    dsn = f"host={address} port={lab_server.port} user=lab dbname=lab"
    spec = spec_file(tmp_path, target=f"[target]\ndsn = '{dsn}'\nallow_changes = true")
    shown = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="500")
    assert shown.returncode == 0, shown.stderr
    assert (f"risk: only SQL reaches this server, so {WORDS}" in shown.stdout) == told
    as_json = pgassay("plan", spec, "--json", PGPASSWORD=SECRET)
    assert json.loads(as_json.stdout)["server"]["sees_host"] is not told
    doctor = pgassay("doctor", dsn, PGPASSWORD=SECRET, COLUMNS="500")
    assert (WORDS in doctor.stdout) == told
