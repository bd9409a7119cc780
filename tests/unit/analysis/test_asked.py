"""What each arm of a stored run was run with."""

from __future__ import annotations

from pathlib import Path

from pgassay.analysis.measures.asked import ArmAsked, asked_of
from pgassay.plan.design import make_plan
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import load_spec


def _asked(folder: Path, text: str) -> tuple[ArmAsked, ...]:
    """Of a run directory without trials."""
    (folder / "count.sql").write_text("SELECT count(*) FROM till;")
    (folder / "experiment.toml").write_text(text)
    spec = load_spec(folder / "experiment.toml", seed=1)
    run, plan = RunDirectory.create(folder / "run"), make_plan(spec)
    run.store_design(spec, plan)
    return asked_of(run.path, run.plan())


def test_each_arm_has_its_settings_and_scripts(tmp_path: Path) -> None:
    found = _asked(
        tmp_path,
        """
        [workload]
        use = "payments"
        [factors.scenarios]
        balance = ["", "count.sql"]
        [factors.postgres]
        max_wal_size = ["32MB", "4GB"]
        [settings.postgres]
        shared_buffers = "256MB"
        [load]
        settings = { jit = "off" }
        """,
    )

    held = {"shared_buffers": "256MB", "jit": "off"}
    assert [(one.settings, "till" in one.scripts["balance"]) for one in found] == [
        (held | {"max_wal_size": size}, counts)
        for counts in (False, True)
        for size in ("32MB", "4GB")
    ]


def test_a_program_of_the_users_own_has_no_scripts(tmp_path: Path) -> None:
    found = _asked(
        tmp_path,
        """
        [workload]
        use = "payments"
        [load]
        command = ["true"]
        throughput = { pattern = "([0-9]+)" }
        """,
    )

    assert [one.scripts for one in found] == [{}]
