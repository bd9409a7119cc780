"""`pgassay load` prints what pgbench prints about the same load on the same server."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from pgassay.server.owned.installation import embedded_installation
from support.runs.command import pgassay
from support.servers.lab import LabServer

SCRIPT = r"""\set x 3
\if :x > 2
\sleep 1 ms
SELECT 1;
\elif :x > 1
SELECT 2;
\else
SELECT 3;
\endif
SELECT 4 AS y \gset
\startpipeline
SELECT 5;
\endpipeline
"""
PROGRESS = (
    r"progress: \d+\.\d s, [\d.]+ tps, lat [\d.]+ ms stddev [\d.]+, \d+ failed,"
    r" lag [\d.]+ ms, \d+ skipped, \d+ retried, \d+ retries"
)
SLICES = """
length = "250ms"
[[variants]]
name = "as it was"
[[variants]]
name = "little"
settings = { work_mem = "2MB" }
"""


MOSTLY_FAILS = "\\set n (:n + 1) % 100\n\\if :n > 0\n{fails}\n\\endif\nSELECT 1;\n"
CLASH = "DO $$ BEGIN RAISE SQLSTATE '{}' USING MESSAGE = 'clash'; END $$;"
# Options, script or none, exit status of pgbench.
STATUSES: list[tuple[str, str | None, int]] = [
    ("-n -t 100 -D n=0", MOSTLY_FAILS.format(fails=CLASH.format("40001")), 0),
    ("-n -t 100 -D n=0", MOSTLY_FAILS.format(fails=CLASH.format("40P01")), 0),
    ("-n -t 100 -D n=0", MOSTLY_FAILS.format(fails="SELECT 1/0;"), 2),
    ("-n -t 100 -D n=0", MOSTLY_FAILS.format(fails="\\set x 1/0"), 2),
    ("-n -t 9", "BEGIN; SELECT 1;", 2),
    ("-n -t 1", "SELECT 1 AS x WHERE false \\aset\n\\set y :x", 2),
    ("-n -t 1 -M extended", "\\startpipeline\n\\startpipeline", 2),
    ("-n -t 1 -M extended", "\\startpipeline\nSELECT 1;\n\\syncpipeline", 2),
    ("-n -t 9 -c 2", "SELECT pg_terminate_backend(pg_backend_pid());", 2),
    ("-n -t 10 -R 100000 -L 1 -r", "\\sleep 2ms", 0),
    ("-n -t 1 --debug", "SELECT 1;", 0),
    ("-S " * 129, None, 1),
    ("-t 1 no-such-database", "SELECT 1;", 1),
    ("-V", None, 0),
]


def both(server: LabServer, *arguments: str | Path) -> list[subprocess.CompletedProcess[str]]:
    """pgbench, then pgassay, with the same arguments."""
    pgbench = str(embedded_installation(18).bin_directory / "pgbench")
    theirs = subprocess.run(
        [pgbench, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | server.variables(),
        check=False,
    )
    return [theirs, pgassay("load", *arguments, **server.variables())]


def test_the_report_per_command_lists_the_commands_of_pgbench(
    lab_server: LabServer, tmp_path: Path
) -> None:
    (tmp_path / "all.sql").write_text(SCRIPT)
    results = both(lab_server, "-n", "-t", "5", "-r", "-M", "extended", "-f", tmp_path / "all.sql")
    assert [done.returncode for done in results] == [0, 0], results
    theirs = re.findall(r"^ +[\d.]+ +\d+ (.*?) *$", results[0].stdout, re.MULTILINE)
    ours = re.findall(
        r"^ *\d+  (.*?)  +[\d.–]+ +[\d.–]+ +\d+ +\d+$", results[1].stdout, re.MULTILINE
    )
    assert len(theirs) == 13
    assert ours == theirs


def test_progress_lines_and_aggregated_logs_have_the_columns_of_pgbench(
    lab_server: LabServer, tmp_path: Path
) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    load = ("-n", "-T", "2", "-P", "1", "-R", "50", "-L", "500", "--max-tries", "3")
    log = ("-l", "--log-prefix", tmp_path / "log", "--aggregate-interval", "1")
    for done in both(lab_server, *load, *log, "--failures-detailed", "-f", tmp_path / "one.sql"):
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("progress")]
        assert lines
        for line in lines:
            assert re.fullmatch(PROGRESS, line), line
    theirs, ours = (
        {len(line.split()) for line in path.read_text().splitlines()}
        for path in sorted(tmp_path.glob("log.*"), key=lambda path: path.stat().st_mtime_ns)
    )
    assert ours == theirs
    assert len(ours) == 1


@pytest.mark.parametrize(("options", "script", "status"), STATUSES, ids=range(len(STATUSES)))
def test_the_exit_status_is_that_of_pgbench(
    lab_server: LabServer, tmp_path: Path, options: str, script: str | None, status: int
) -> None:
    path = tmp_path / "it.sql"
    arguments: list[str | Path] = [*options.split()]
    if script is not None:
        path.write_text(script)
        arguments += ["-f", path]
    theirs, ours = both(lab_server, *arguments)
    assert theirs.returncode == status, theirs.stderr
    assert ours.returncode == status, ours.stderr


def test_failures_of_other_kinds_have_a_warning_and_may_keep_status_zero(
    lab_server: LabServer, tmp_path: Path
) -> None:
    path = tmp_path / "it.sql"
    path.write_text(MOSTLY_FAILS.format(fails="SELECT 1/0;"))
    load = ("load", "-n", "-t", "200", "-D", "n=0", "-f", path)
    done = pgassay(*load, **lab_server.variables())
    assert done.returncode == 2
    assert "transactions  2, failed 198 (99.000%)" in done.stdout
    assert "warning: 198 transactions failed; first 22012" in done.stderr
    assert pgassay(*load, "--continue-on-error", **lab_server.variables()).returncode == 0


def test_a_script_with_weight_zero_never_runs(lab_server: LabServer, tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    (tmp_path / "two.sql").write_text("SELECT 1 / 0;\n")
    for done in both(
        lab_server, "-n", "-t", "9", "-f", tmp_path / "one.sql", "-f", f"{tmp_path}/two.sql@0"
    ):
        assert done.returncode == 0, done.stderr
    for done in both(lab_server, "-n", "-t", "1", "-f", f"{tmp_path}/two.sql@0"):
        assert done.returncode == 1
        assert "weight" in done.stderr


def test_slices_of_a_file_are_reported_per_variant(lab_server: LabServer, tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT current_setting('work_mem');\n")
    (tmp_path / "slices.toml").write_text(SLICES)
    load = (
        "-n",
        "-T",
        "1",
        "-c",
        "2",
        "-f",
        tmp_path / "one.sql",
        "--slices",
        tmp_path / "slices.toml",
    )
    done = both(lab_server, *load)[1]
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(as it was|little) +(\d+) +(\d+) ", done.stdout, re.MULTILINE)
    assert [(name, slices) for name, slices, _ in rows] == [("as it was", "2"), ("little", "2")]
    assert all(int(transactions) > 0 for _, _, transactions in rows)
