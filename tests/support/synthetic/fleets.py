"""Runs whose blocks ran on several servers, with known answers.

Enters: a stored run, which server ran which block. Leaves: the run with servers in its trials.
Never: needs a server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pgassay.analysis.measures.model import TrialMeasures
from pgassay.plan.model import Plan
from pgassay.samples.run_directory import RunDirectory
from support.synthetic.folders import change
from support.synthetic.trials import trials_of


def by_turns(*servers: str) -> Callable[[int], str]:
    """Blocks dealt to servers in turn."""
    return lambda block: servers[(block - 1) % len(servers)]


def put_on_servers(run: RunDirectory, server_of: Callable[[int], str]) -> None:
    """Write the server of its block into each trial of a stored run."""
    for number in run.finished():
        path = run.trial(number).folder / "trial.json"
        change(path, server=server_of(run.trial(number).summary().block))


def fleet_trials(
    plan: Plan, effects: dict[str, float], server_of: Callable[[int], str], **noise: Any
) -> list[TrialMeasures]:
    """Every planned trial; the arms but the first differ by their server's effect (a logarithm)."""
    alike = trials_of(plan, **noise)
    found = []
    for trial in alike:
        server = server_of(trial.block)
        moved = 0.0 if trial.arm == plan.arms[0].id else effects[server]
        tps = trial.whole.values["tps"] * (1.0 + moved)
        whole = replace(trial.whole, values={"tps": tps})
        found.append(replace(trial, whole=whole, server=server))
    return found
