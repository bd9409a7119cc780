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
    "draw",
    "cli.draw",
)
COMMAND = """
import json, sys
from pgassay.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
{more}
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
FORTRAN = "numpy.f2py.crackfortran"
"""What scipy's special functions load unless it is put off."""
PLAN = COMMAND.format(more="import pgassay.cli.run.execution, pgassay.report.formats.registry")
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


@pytest.mark.parametrize(
    ("words", "libraries"),
    [
        (("show", "run"), {"numpy", "scipy", "pyarrow", "psycopg", "polib", "jinja2", "loky"}),
        (("show", "run", "--json"), {"numpy", "scipy", "pyarrow", "psycopg", "polib", "jinja2"}),
        (("plan", "ordinary.toml"), {"psycopg", "pyarrow", "polib", "jinja2", "loky", FORTRAN}),
        (("report", "run"), {"psycopg", "polib", "loky", "xlsxwriter", "scipy.ndimage", FORTRAN}),
    ],
)
def test_a_command_loads_no_library_that_its_work_does_not_take(
    words: tuple[str, ...], libraries: set[str], reported: Path
) -> None:
    own = [sys.executable, "-c", COMMAND.format(more=""), *words]
    done = subprocess.run(own, check=True, capture_output=True, text=True, cwd=reported)
    assert libraries & set(json.loads(done.stderr.splitlines()[-1])) == set()


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an experiment file and a run with its report."""
    folder = tmp_path_factory.mktemp("reported")
    (folder / "ordinary.toml").write_text(EXPERIMENT)
    report_run(synthetic_run(folder / "run")[0])
    return folder
