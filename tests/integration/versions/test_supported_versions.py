"""Every supported version of PostgreSQL: what is sent to it, a run on it, its settings put back.

The queries of the samplers are in trials/test_views.py, also on every version.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from pgassay.server.owned.installation import Installation
from pgassay.server.recovery.recover import recover
from support.runs.broken import assert_no_server_left, spec_file
from support.runs.command import pgassay
from support.servers.existing import auto_conf, killed_after_changes, settings_left_alone
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar
from support.servers.npm import MAJORS
from support.servers.pool import on_every_version

SENT = files("pgassay.server") / "sql"
FILLED_IN = re.compile(r"\{[a-z_]*\}")
OTHERS = [f"npm-{major}" for major in MAJORS]
on_other_versions = pytest.mark.parametrize(
    "server_installation",
    [pytest.param(name, marks=pytest.mark.heavy) for name in (*OTHERS, "embedded-16")],
    indirect=True,
    scope="module",
)
"""Runs on 15 and 18 are in other files."""
SETTINGS = (
    "SELECT jsonb_object_agg(name, setting) FROM pg_settings WHERE source = 'configuration file'"
)


def statements_for(major: int) -> dict[str, str]:
    """File → its text with $1 for a parameter; whole statements only, `NAME_15.sql` from 15 on."""
    found = {}
    for folder in (one for one in SENT.iterdir() if one.is_dir()):
        for file in (one for one in folder.iterdir() if one.name.endswith(".sql")):
            text, floor = file.read_text("utf-8"), re.search(r"_(\d\d)\.sql$", file.name)
            if FILLED_IN.search(text) or (floor and int(floor[1]) > major):
                continue
            found[f"{folder.name}/{file.name}"] = numbered(text)
    return found


def numbered(text: str) -> str:
    """psycopg's parameters as the server's."""
    named = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    for at, name in enumerate(named, start=1):
        text = text.replace(f"%({name})s", f"${at}")
    count = iter(range(1, 100))
    return re.sub(r"%s", lambda _: f"${next(count)}", text).replace("%%", "%")


_OUTSIDE_OF_BODIES = re.compile(
    r";\n(?=(?:(?:(?!\$\$).)*\$\$(?:(?!\$\$).)*\$\$)*(?:(?!\$\$).)*\Z)", re.DOTALL
)
"""The end of a statement, with an even number of dollar quotes behind it."""


@on_every_version
def test_every_statement_sent_to_a_server_is_one_that_it_accepts(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        major = session.info.server_version // 10000
        for table in ("branches", "tellers", "accounts", "history"):
            session.execute(f"CREATE TABLE pgbench_{table} ()".encode())
        sent = statements_for(major)
        assert len(sent) > 50
        for name, text in sent.items():
            for statement in filter(str.strip, _OUTSIDE_OF_BODIES.split(text)):
                found = session.pgconn.prepare(b"", statement.encode())
                refused = found.error_message.decode()
                assert found.status == psycopg.pq.ExecStatus.COMMAND_OK, (name, refused)


@on_other_versions
def test_a_run_on_a_new_server_of_the_version_gives_findings_and_a_report(
    server_installation: Installation, own_base: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    target = f'[target]\nbin = "{server_installation.bin_directory}"'
    spec = spec_file(tmp_path, target=target, blocks=3)
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["blocks"], answer["invalid_trials"]) == (3, [])
    analysed = json.loads((run / "analysis.json").read_text())
    assert analysed["environment"]["server"]["version_num"] == server_installation.version_num
    assert {"verdict", "explanation", "observation"} & {f["kind"] for f in analysed["findings"]}
    assert analysed["latency_modes"]
    metrics = analysed["trials"][0]["whole"]["values"]
    assert metrics["wal_bytes_per_tx"] > 0.0
    assert any(name.startswith("wait_") for name in metrics)
    # What the version does not tell is said, and nothing that it does.
    missing = {one["name"] for one in answer["not_seen"]}
    assert ("query ids" in missing) == (server_installation.major < 14)
    assert ("pg_stat_wal" in missing) == (server_installation.major < 14)
    assert ("pg_stat_io" in missing) == (server_installation.major < 16)
    assert ("pg_stat_statements" in missing) == (server_installation.major == 16)  # no contrib
    assert "<section" in (run / "report.html").read_text()
    assert_no_server_left(own_base)


@on_other_versions
def test_a_run_on_an_existing_server_of_the_version_leaves_its_settings_as_they_were(
    lab_server: LabServer, tmp_path: Path
) -> None:
    with lab_server.admin() as session:
        before = scalar(session, SETTINGS)
    target = lab_server.target("allow_changes = true", 'accept = ["commits", "sessions"]')
    spec = spec_file(tmp_path, target=target)
    with settings_left_alone(lab_server):
        done = pgassay("run", spec, "--out", tmp_path / "run", "--json", PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["trials"], answer["invalid_trials"]) == (4, [])
    with lab_server.admin() as session:
        assert scalar(session, SETTINGS) == before
        assert scalar(session, "SELECT to_regnamespace('pgassay')") is None


@on_other_versions
def test_recover_puts_back_the_settings_that_a_killed_run_changed(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    with settings_left_alone(lab_server):
        killed_after_changes(lab_server, journal)
        assert auto_conf(lab_server) == {"work_mem": "16MB"}
        assert recover(lab_server.dsn(), journal.open, journal) == []
        assert journal.open == []
