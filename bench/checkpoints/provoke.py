"""Provokes one cause of lost throughput on a fresh embedded server, and analyses the run.

Enters: the name of an experiment in this folder. Leaves: its run directory and what it says.
Never: needs root, but for the experiments that need a slow disk.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

from bench.checkpoints.slow_disk import can_be_slowed, slow_disk
from bench.real.runs import TrialLines
from pgassay.report.context import ReportContext
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.owned.workspace import DATA_VARIABLE, ROOT_BASE
from pgassay.spec.parse import parse_spec
from pgassay.workflows.pipeline import run_experiment
from pgassay.workflows.reporting import analyse_run

HERE = Path(__file__).parent
LIMITS_BYTES_PER_S = {
    "full-page-images": 10_000_000,
    "slow-sync": 10_000_000,
    "wal-contention": None,
}
"""Experiment → the disk's limit. Where the disk is slow, processors that are busy with something
else at the same time hardly matter."""


def can_be_provoked(name: str) -> bool:
    """Whether this machine can slow its disk down, where that is needed."""
    return LIMITS_BYTES_PER_S[name] is None or can_be_slowed(_base())


def provoke(name: str, run: Path) -> ReportContext:
    """Run an experiment of this folder and keep it at `run`."""
    path, limit = HERE / f"{name}.toml", LIMITS_BYTES_PER_S[name]
    # Relative, so that a run that is kept does not name the folders of this machine.
    beside = Path(os.path.relpath(HERE))
    spec = parse_spec(path.read_text("utf-8"), source=path.name, beside=beside)
    directory = RunDirectory.create(run)
    with nullcontext() if limit is None else slow_disk(_base(), limit):
        run_experiment(spec, directory, TrialLines())
    return analyse_run(directory)


def _base() -> Path:
    """The folder of the servers that pgassay makes, or the one it will be made in."""
    base = Path(os.environ.get(DATA_VARIABLE, ROOT_BASE))
    return next(folder for folder in (base, *base.parents) if folder.exists())
