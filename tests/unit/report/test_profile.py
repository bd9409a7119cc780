"""The profile of a recorded run has a cell for every arm in each row, and the host's figures."""

from __future__ import annotations

from pathlib import Path

from tools.archives import unpack

from pgassay.report.tables.cells import ABSENT
from pgassay.report.tables.infrastructure import disk_titles
from pgassay.report.tables.profile import machine_table, profile_table, top_statements
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run

GOLDEN = Path(__file__).parents[2] / "golden"


def test_every_row_has_a_cell_for_each_arm_and_every_disk_its_operations(
    tmp_path: Path,
) -> None:
    unpack(GOLDEN / "recomputed.tar.xz", tmp_path)
    (run,) = tmp_path.iterdir()
    context = analyse_run(RunDirectory(run))
    profile, machine = profile_table(context), machine_table(context)
    for found in (profile, machine):
        assert {len(row.cells) for row in found.rows} == {2 + len(context.plan.arms)}
    assert {row.cells for row in machine.rows} < {row.cells for row in profile.rows}
    for disk in disk_titles(context).values():
        (operations,) = (row for row in machine.rows if (row[0], row[1]) == (disk, "IOPS"))
        assert all(cell.text != ABSENT for cell in operations.cells[2:])
    arms = {row[0] for row in top_statements(context).rows}
    assert arms <= {arm.label for arm in context.plan.arms}
