"""Ready workloads: read, parsed by the engine, and described on their page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgassay.spec.parse import load_spec
from pgassay.spec.workload.folder import Workload, ready_workloads
from pgassay.trials.load.scripts import parse_scripts
from support.load.ready import ready, scripts_of
from support.load.workloads_page import PAGE
from support.refusals import refused

DISTINCT = "[workload]\nuse = 'distinct-or-group-by'\n[factors.scenarios]\nvalues = "


@pytest.mark.parametrize("workload", ready(), ids=lambda one: one.name)
def test_every_script_of_a_ready_workload_is_one_that_the_engine_takes(workload: Workload) -> None:
    assert workload.scenarios
    for script, free in parse_scripts(scripts_of(workload), protocol="prepared"):
        assert set(free) <= {"scale"}, script.name


def test_every_ready_workload_has_a_row_on_its_page_and_every_row_a_workload() -> None:
    page = PAGE.read_text("utf-8").partition("\n## Ready workloads\n")[2]
    table = page.partition("\n| `workload.use` ")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` ", table, re.MULTILINE)) == sorted(ready_workloads())


def test_levels_name_scripts_beside_the_experiment_file_or_in_the_workloads_folder(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(DISTINCT + "['group-by.sql', 'distinct.sql']")
    scripts = load_spec(file).variants.scripts["values"]
    assert {name: one and "DISTINCT" in one.script for name, one in scripts.items()} == {
        "group-by": False,
        "distinct": True,
    }
    (tmp_path / "distinct.sql").write_text("SELECT 1;")
    nearest = load_spec(file).variants.scripts["values"]["distinct"]
    assert nearest is not None
    assert nearest.script == "SELECT 1;"
    file.write_text(DISTINCT + "['group-by.sql', 'unique.sql']")
    with refused("no-such-script", script="'unique.sql'"):
        load_spec(file)
