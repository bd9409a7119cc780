"""For a server that only SQL reaches, plan and doctor say that no guard watches its host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.broken import spec_file
from support.runs.command import pgassay
from support.servers.lab import SECRET, LabServer

ELSEWHERE, HERE = "0.0.0.0", "127.0.0.1"  # noqa: S104 (an address to connect to)
WORDS = "no guard watches its host: kernel settings, processors used by others"


@pytest.mark.parametrize(("address", "said"), [(ELSEWHERE, True), (HERE, False)])
def test_plan_and_doctor_say_what_is_not_watched(
    tmp_path: Path, lab_server: LabServer, address: str, said: bool
) -> None:
    """0.0.0.0 reaches this machine, but looks like the address of another one."""
    dsn = f"host={address} port={lab_server.port} user=lab dbname=lab"
    spec = spec_file(tmp_path, target=f"[target]\ndsn = '{dsn}'\nallow_changes = true")
    shown = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="500")
    assert shown.returncode == 0, shown.stderr
    assert (f"risk: only SQL reaches this server, so {WORDS}" in shown.stdout) == said
    as_json = pgassay("plan", spec, "--json", PGPASSWORD=SECRET)
    assert json.loads(as_json.stdout)["server"]["sees_host"] is not said
    doctor = pgassay("doctor", dsn, PGPASSWORD=SECRET, COLUMNS="500")
    assert (WORDS in doctor.stdout) == said
