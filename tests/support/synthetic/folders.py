"""A folder of runs with known answers, for questions to many runs.

Enters: a folder. Leaves: three analysed runs, an unfinished one and an observation in it.
Never: measures anything.
"""

from __future__ import annotations

import json
from pathlib import Path

from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.record import Piece
from pgassay.workflows.reporting import report_run
from support.synthetic.directories import synthetic_run
from support.synthetic.segments import NOTHING, end_of, waits, write

EFFECTS = {"wal": 0.2, "wal-again": 0.0, "wal-worse": -0.2}


def folder_of_runs(folder: Path) -> Path:
    """Runs whose second arm differs by `EFFECTS`."""
    for seed, (name, effect) in enumerate(EFFECTS.items()):
        run, _, _ = synthetic_run(folder / name, effects={"a2": effect}, seed=seed)
        change(
            run.path / "environment.json",
            created_at=f"2026-01-0{seed + 1}T10:00:00+00:00",
            server={"version": "PostgreSQL 18.4", "settings": {"work_mem": f"{seed + 4}MB"}},
        )
        report_run(run)
    synthetic_run(folder / "unfinished", blocks=2)
    observation = ObservationDirectory.create(folder / "watched")
    write(observation, 1, Piece(waits(100, 10), NOTHING, NOTHING), end_of(100, 101))
    described = {"schema": "pgassay.observation/1", "server": "lab"}
    observation.write_json("observation.json", described)
    return folder


def change(path: Path, **values: object) -> None:
    """Put other values into a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **values}), "utf-8")
