"""What commands load: of pgassay no room with one door, of libraries what they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pgassay.workflows.reporting import report_run
from support.synthetic.directories import synthetic_run

LEFT_OUT = (
    "fleet",
    "cluster",
    "stores",
    "trials.load.generators",
    "workflows.tracing",
    "trials.trace",
    "analysis.trace",
    "analysis.classic",
    "samples.trace_directory",
    "report.sections.trace",
    "report.summaries.trace",
    "report.charts.over_time.trace",
    "report.data_tables.traced",
    "report.objects.traced",
    "cli.trace",
)
PLAN = """
import json, sys
from pgassay.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
import pgassay.cli.run.execution, pgassay.report.formats.registry
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
SHOW = """
import json, sys
from pgassay.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
EXPERIMENT = """
question = "Does work_mem matter?"
[workload]
use = "payments"
[load]
step = "20s"
[factors.postgres]
work_mem = ["4MB", "64MB"]
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The modules of pgassay that planning, running and reporting an ordinary experiment loads."""
    file = tmp_path_factory.mktemp("plan") / "ordinary.toml"
    Path(file).write_text(EXPERIMENT)
    done = subprocess.run(
        [sys.executable, "-c", PLAN, "plan", str(file)], check=True, capture_output=True, text=True
    )
    names: list[str] = json.loads(done.stderr.splitlines()[-1])
    return [name.removeprefix("pgassay.") for name in names if name.startswith("pgassay.")]


@pytest.mark.parametrize("room", LEFT_OUT)
def test_an_ordinary_run_loads_nothing_of_a_room_with_one_door(
    room: str, loaded: list[str]
) -> None:
    assert "workflows.pipeline" in loaded
    assert [name for name in loaded if f"{name}.".startswith(f"{room}.")] == []


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_show_loads_no_library_that_analyses_reads_tables_or_renders(
    tmp_path: Path, more: list[str]
) -> None:
    report_run(synthetic_run(tmp_path / "run")[0])
    words = [sys.executable, "-c", SHOW, "show", str(tmp_path / "run"), *more]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    heavy = {"numpy", "scipy", "pyarrow", "psycopg", "polib", "jinja2", "loky"}
    assert heavy & set(json.loads(done.stderr.splitlines()[-1])) == set()
