"""A folder of many runs, made without a server.

Enters: a folder, how many runs. Leaves: that many analysed run directories in it, which share the
files of their samples (hard links), or have none, and differ in name, date and question.
Never: measures anything.
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.analysis import make_run
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import report_run

BLOCKS, SECONDS, SERIES = 6, 10, 100
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_PLAN, _ENVIRONMENT = "plan.json", "environment.json"


def make_many_runs(
    folder: Path, number: int, *, blocks: int = BLOCKS, samples: bool = True
) -> list[Path]:
    """Runs of two arms, each as long as those of `pgassay demo`."""
    template = RunDirectory.create(folder / ".template")
    make_run(template, blocks, SECONDS, SERIES)
    settings = {f"setting_{n}": str(n) for n in range(350)}
    environment = {"schema": "pgassay.environment/1", "created_at": "", "pgassay": "0.1.0"}
    server = {"version": "PostgreSQL 18.4 (made up)", "settings": settings}
    template.write_json(_ENVIRONMENT, {**environment, "server": server})
    report_run(template)
    (template.path / "report.html").unlink()
    if not samples:
        for trial in template.path.glob("trials/*/*"):
            trial.unlink()
    runs = [_copied(template.path, folder / f"run-{n:04d}", n) for n in range(number)]
    shutil.rmtree(template.path)
    return runs


def _copied(template: Path, run: Path, number: int) -> Path:
    shutil.copytree(template, run, copy_function=os.link)
    at = (_FIRST + timedelta(hours=number)).isoformat()
    _change(run / _ENVIRONMENT, {"created_at": at})
    _change(run / _PLAN, {"question": f"Does more WAL pay, try {number}?"})
    return run


def _change(path: Path, values: dict[str, str]) -> None:
    found = json.loads(path.read_text("utf-8"))
    path.unlink()  # a link: the template stays as it is
    path.write_text(json.dumps({**found, **values}), "utf-8")
