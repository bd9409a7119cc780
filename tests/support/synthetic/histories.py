"""Runs of one experiment, a night apart, as their analysis.json has them.

Enters: a folder, the level of each night. Leaves: run directories without recorded trials.
Never: measures anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pgassay.plan.design import make_plan
from pgassay.plan.store import plan_to_json
from pgassay.spec.parse import parse_spec

SPEC = """
question = "Is the server as fast as yesterday?"
[load]
clients = 8
step = "10s"
[design]
min_blocks = 4
max_blocks = 4
seed = 1
endpoints = []
"""
_FIRST_NS = 1_772_330_400 * 10**9
"""2026-03-01, 02:00 UTC."""
_DAY_NS = 86_400 * 10**9


def nightly(
    folder: Path,
    levels: Sequence[float],
    *,
    spec: str = SPEC,
    versions: Sequence[str] = (),
    name: str = "night-{at:03d}",
    trial_sd: float = 0.005,
    days_earlier: int = 0,
) -> list[Path]:
    """Makes a run for each level, a logarithm of throughput; `versions` are those of the server."""
    plan = make_plan(parse_spec(spec, source="spec.toml", beside=Path()))
    source, found = np.random.default_rng(1), []
    for at, level in enumerate(levels):
        run = folder / name.format(at=at)
        (run / "trials").mkdir(parents=True)
        begin = _FIRST_NS + (at - days_earlier) * _DAY_NS
        trials = []
        for trial in plan.trials:
            tps = 1000.0 * float(np.exp(level + trial_sd * source.standard_normal()))
            whole = {
                "level": None,
                "start_ns": begin,
                "end_ns": begin + 10 * 10**9,
                "transactions": round(10 * tps),
                "values": {"tps": tps, "latency_mean": 8000.0 / tps},
            }
            trials.append(
                {"number": trial.number, "block": trial.block, "arm": trial.arm, "whole": whole}
            )
        version = versions[at] if versions else "PostgreSQL 18.6"
        files = {
            "plan.json": plan_to_json(plan),
            "environment.json": {
                "schema": "pgassay.environment/1",
                "server": {"version": version, "settings": {"fsync": "on"}},
            },
            "analysis.json": {"schema": "pgassay.analysis/1", "metric": "tps", "trials": trials},
        }
        (run / "spec.toml").write_text(spec, "utf-8")
        for file, content in files.items():
            (run / file).write_text(json.dumps(content), "utf-8")
        found.append(run)
    return found
