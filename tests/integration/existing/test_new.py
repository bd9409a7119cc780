"""`pgassay new` asks an existing server for its settings, and leaves it as it was."""

from __future__ import annotations

import tomllib
from pathlib import Path

from support.runs.command import pgassay
from support.runs.terminal import talk
from support.servers.existing import auto_conf
from support.servers.lab import LabServer


def test_a_connected_server_is_read_for_its_settings_and_the_file_passes_plan(
    lab_server: LabServer, tmp_path: Path
) -> None:
    variables = lab_server.variables()
    with lab_server.admin() as session:
        session.execute("ALTER ROLE lab SET work_mem = '7MB'")
    file = tmp_path / "x.toml"
    shown, status = talk(
        ["new", file],
        [
            ("Server", "host=127.0.0.1 port=1"),
            ("Connect to it now", "maybe"),
            ("answer y or n", "y"),
            ("this server is not running", f"host=127.0.0.1 port={lab_server.port} dbname=lab"),
            ("Connect to it now", ""),
            ("Setting to vary", "?"),
            ("which of these?", "work_mem"),
            ("Values of work_mem", ""),
            ("Setting to vary", "max_wal_size"),
            ("Values of max_wal_size", "1GB, 2GB"),
            ("Setting to vary", ""),
            ("May pgassay change work_mem, max_wal_size", "n"),
            ("cannot be varied without changing", "y"),
            ("Workload", ""),
            ("Scale", "1"),
            ("Clients", ""),
            ("Measured time", ""),
            ("Smallest effect", ""),
            ("Question", ""),
        ],
        **variables,
    )
    assert status == 0, shown
    assert "now 7MB" in shown
    found = tomllib.loads(file.read_text())
    assert found["factors"]["postgres"]["work_mem"] == ["7MB", "64MB"]
    assert found["target"]["allow_changes"] is True
    # Sessions get the role's value over any of ALTER SYSTEM, which would stop the run.
    planned = pgassay("plan", file, **variables)
    assert planned.returncode == 1
    assert "stops: work_mem: " in planned.stdout
    with lab_server.admin() as session:
        session.execute("ALTER ROLE lab RESET work_mem")
    planned = pgassay("plan", file, **variables)
    assert planned.returncode == 0, planned.stderr
    assert auto_conf(lab_server) == {}


def test_a_setting_is_checked_against_the_server_itself(
    lab_server: LabServer, tmp_path: Path
) -> None:
    flags = ["--dsn", "", "--allow-changes", "--vary", "wal_compression=off,lz4"]
    assert pgassay("new", tmp_path / "a.toml", *flags, "--no-connect").returncode == 0
    done = pgassay("new", tmp_path / "b.toml", *flags, "--connect", **lab_server.variables())
    assert done.returncode == 1
    assert "'lz4'" in done.stderr
    assert "pglz, on, off" in done.stderr
    assert not (tmp_path / "b.toml").exists()
