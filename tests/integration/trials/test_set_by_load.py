"""A load that sets the factor itself is named, and gives no verdict of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.connection.session import resolve
from pgassay.spec.parse import load_spec
from pgassay.trials.load.overriding import overridden
from support.servers.lab import LabServer

SPEC = """
[workload]
use = "w"
[factors.postgres]
work_mem = ["4MB", "16MB"]
[settings.postgres]
random_page_cost = "1.1"
[load]
clients = 1
protocol = "{protocol}"
"""


def set_by(
    folder: Path,
    server: LabServer,
    script: str,
    *,
    protocol: str = "prepared",
    in_sessions: bool = False,
) -> dict[str, list[str]]:
    workload = folder / "w"
    workload.mkdir(exist_ok=True)
    (workload / "workload.toml").write_text("title = 'x'\n[scenarios.a]\nfile = 'a.sql'\n")
    (workload / "schema.sql").write_text("CREATE TABLE t (i int)")
    (workload / "data.sql").write_text("SELECT 1")
    (workload / "a.sql").write_text(script)
    (folder / "s.toml").write_text(SPEC.format(protocol=protocol))
    spec = load_spec(folder / "s.toml")
    quick = {"scenarios": [{"name": "a", "latency_ms": {"mean": 1.0}}]}
    return overridden(spec, resolve(server.dsn()), quick, in_sessions=in_sessions)


HIDDEN = "DO $$ BEGIN EXECUTE 'SET work' || '_mem = ''1MB'''; END $$;\nSELECT 1;\n"


@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_what_is_put_together_at_run_time_is_seen_in_a_session(
    tmp_path: Path, lab_server: LabServer, protocol: str
) -> None:
    assert set_by(tmp_path, lab_server, HIDDEN, protocol=protocol) == {"work_mem": ["a"]}


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("BEGIN;\nSET LOCAL work_mem = '1MB';\nSELECT 1;\nEND;\n", {"work_mem"}),
        ("SELECT set_config('work_mem', '1MB', true);\n", {"work_mem"}),
        ("SELECT outer_report();\n", {"work_mem"}),
        ("SET random_page_cost TO 4;\nRESET random_page_cost;\n", {"random_page_cost"}),
        ("SET hash_mem_multiplier = 3;\nSET statement_timeout = 0;\nSELECT 1;\n", set()),
        ("-- SET work_mem = '1MB'\nDISCARD ALL;\nRESET work_mem;\n", set()),
    ],
)
def test_what_a_script_or_a_function_sets_is_named_and_nothing_else(
    tmp_path: Path, lab_server: LabServer, script: str, named: set[str]
) -> None:
    with lab_server.admin() as session:
        session.execute(
            "CREATE OR REPLACE FUNCTION report() RETURNS int LANGUAGE sql SET work_mem = '1MB'"
            " AS 'SELECT 1';"
            "CREATE OR REPLACE FUNCTION outer_report() RETURNS int LANGUAGE plpgsql"
            " SET search_path = public AS 'BEGIN RETURN report(); END'"
        )
    found = set_by(tmp_path, lab_server, script, protocol="simple")
    assert found == {name: ["a"] for name in named}


def test_where_the_experiment_sets_it_in_sessions_setting_it_back_counts_too(
    tmp_path: Path, lab_server: LabServer
) -> None:
    found = set_by(tmp_path, lab_server, "DISCARD ALL;\nSELECT 1;\n", in_sessions=True)
    assert found == {"random_page_cost": ["a"], "work_mem": ["a"]}
