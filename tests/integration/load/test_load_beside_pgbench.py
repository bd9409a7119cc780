"""`pgassay load` prints what pgbench prints about the same load on the same server."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

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
