"""What to expect of a new run, from the noise of prior runs.

Enters: a plan, its load and server, records of earlier runs. Leaves: an `Expectation`, or a record.
Never: reads the records itself (samples/noise_history.py does), or lets them change a verdict.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from statistics import median
from typing import Any, Literal

import numpy as np

from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.simulated_runs import Spreading
from pgassay.analysis.noise.best_plan import BestPlan, best_plan
from pgassay.analysis.noise.model import NoiseFloor, Outlook
from pgassay.analysis.noise.power import blocks_spreading, outlook
from pgassay.analysis.noise.prior_noise import Prior, of_trials, of_turns
from pgassay.analysis.noise.switchback_noise import overhead_with, spreading
from pgassay.plan.model import Plan
from pgassay.spec.experiment import Spec

_SHARED = tomllib.loads((files(__package__) / "prior_runs.toml").read_text("utf-8"))
_OTHERS_METRIC = "tps"
"""The metric that the general figures in prior_runs.toml are for; where trials have one arm, they
serve latency too, but not response times, which a queue can make far more unsteady."""


@dataclass(frozen=True)
class ExpectedCase:
    """One level of noise, and what can be expected with it."""

    trial_sd: float
    outlook: Outlook


@dataclass(frozen=True)
class Expectation:
    """What to expect of a plan: one case for a known load, else a quiet and a noisy one."""

    known_from: Literal["this load", "other loads", "others"]
    """Prior runs of this load on this host; of other loads; or general figures."""
    runs: int
    cases: tuple[ExpectedCase, ...]
    overhead_s: float
    block_s: float
    """Of one block, with resets."""
    outside_s: float | None = None
    """Of the run outside its trials; None where no prior run of this load says."""
    planned: BestPlan | None = None
    """The time as written and the best plan; None without prior runs of this load."""


@dataclass(frozen=True)
class Conditions:
    """What a run must share with another to forecast it, whatever factors they vary."""

    load: str
    """A hash of workload, scale and load."""
    server: tuple[str, str]
    """Its kind, and its version or, where it is not ours, a hash of its address."""
    workload: str
    """In words."""
    sets_checkpoints: bool = False
    """Whether how often there are checkpoints is held or varied."""

    def is_like(self, stored: Any) -> bool:
        """Whether two servers compare: all owned ones do, an existing one only with itself."""
        if not isinstance(stored, list) or len(stored) != 2:
            return False
        return stored == list(self.server) if "existing" in (stored[0], self.server[0]) else True


def conditions_of(spec: Spec) -> Conditions:
    """The conditions that the trials of an experiment share."""
    file, workload = spec.file, spec.workload
    scale = file.workload.scale
    scenarios = [
        [s.name, s.weight, s.script, *([s.parameters.sha256] if s.parameters else [])]
        for s in workload.scenarios
    ]
    load = file.load
    stages = [asdict(stage) for stage in load.stages or ()]
    steps = [list(load.clients), stages, list(load.rate or ()), list(load.command or ())]
    parts = [workload.building_sql(scale), scenarios, *steps]
    server = "embedded", str(file.target.version or 18)
    if file.target.is_existing:
        fleet = file.target.fleet
        address = file.target.dsn if fleet is None else " ".join(fleet.servers)
        address = f"copy of {address}" if file.copies_existing else address
        server = "existing", _hash(str(address))
    elif file.target.bin:
        server = "local", str(file.target.bin)
    set_here = {*file.settings.postgres, *file.factors.postgres}
    return Conditions(
        _hash(json.dumps(parts, default=str)),
        server,
        f"{workload.name} at scale {scale}",
        not set_here.isdisjoint(("checkpoint_timeout", "max_wal_size")),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def runs_of(experiment: str, records: Iterable[Mapping[str, Any]]) -> int:
    """Counts the records of runs of this experiment; A/A runs ask no question."""
    return sum(
        record.get("experiment") == experiment and not record.get("calibrates")
        for record in records
    )


def record_of(
    conditions: Conditions,
    floor: NoiseFloor,
    warmup_s: float | None = None,
    settled_s: float | None = None,
    experiment: str = "",
    *,
    calibrates: bool = False,
    outside_s: float | None = None,
) -> dict[str, Any]:
    """The record that a finished run stores for later ones.

    `warmup_s` is its warm-up, `settled_s` one after which its trials were steady; `experiment` is a
    hash of what it measures; `outside_s` its time outside trials.
    """
    return {
        "load": conditions.load,
        "target": list(conditions.server),
        "workload": conditions.workload,
        "experiment": experiment,
        "calibrates": calibrates,
        "overhead_s": floor.overhead_s,
        "warmup_s": warmup_s,
        "settled_s": settled_s,
        "outside_s": outside_s,
        "metrics": {noise.metric: asdict(noise) for noise in floor.metrics},
        **({} if floor.turns is None else {"turns": asdict(floor.turns)}),
    }


def expect(
    conditions: Conditions, plan: Plan, records: Sequence[Mapping[str, Any]]
) -> Expectation | None:
    """The expectation; None without factors, or where nothing is known of such a design."""
    if not plan.factors or plan.describes:
        return None
    plan = timed(plan, conditions, records)
    same, others = _prior_runs(conditions, plan, records)
    priors = same or others
    if same:
        weights = [prior.weight for prior in same]
        sds = [
            (
                _root_mean([prior.sd for prior in same], weights),
                _root_mean([prior.start_sd for prior in same], weights),
            )
        ]
    elif others:
        # Of many other loads the middle half: one of trials of a second says nothing of minutes.
        each = sorted((prior.sd, prior.start_sd) for prior in priors)
        outside = len(each) // 4
        sds = [each[outside], each[-1 - outside]]
    else:
        sds = [(sd, 0.0) for sd in _general_figures(plan)]
    if not sds:
        return None
    overhead_s = plan.trial_s - plan.measured_s
    rule = rule_of(plan)
    spreads = {sd: _spreading(sd, start_sd, priors, plan) for sd, start_sd in sds}
    return Expectation(
        known_from="this load" if same else "other loads" if others else "others",
        runs=len(priors),
        cases=tuple(
            ExpectedCase(sd, outlook(rule, spread, plan.min_blocks, plan.last_block))
            for sd, spread in spreads.items()
        ),
        overhead_s=overhead_s,
        block_s=len(plan.block(1)) * plan.trial_s,
        outside_s=plan.outside_s,
        planned=_planned(same, plan, overhead_s - _warmup_s(plan), conditions),
    )


def known_sd(
    conditions: Conditions, plan: Plan, records: Iterable[Mapping[str, Any]]
) -> float | None:
    """Returns the noise of the plan's metric by prior runs of this load here; None without any."""
    same, _ = _prior_runs(conditions, plan, records)
    return _root_mean([one.sd for one in same], [one.weight for one in same]) if same else None


def timed(plan: Plan, conditions: Conditions, records: Sequence[Mapping[str, Any]]) -> Plan:
    """The plan with trials as long, resets included, as those of prior runs on this host were, and
    with the time outside trials that prior runs of this load took."""
    same, others = _prior_runs(conditions, plan, records)
    if not (priors := same or others):
        return plan
    overhead_s = median(prior.overhead_with(_warmup_s(plan)) for prior in priors)
    if plan.side_by_side:
        overhead_s = overhead_with(len(plan.arms), overhead_s, plan)
    outside_s = [prior.outside_s for prior in same if prior.outside_s is not None]
    return replace(
        plan,
        trial_s=plan.measured_s + overhead_s,
        outside_s=median(outside_s) if outside_s else None,
    )


def _prior_runs(
    conditions: Conditions, plan: Plan, records: Iterable[Mapping[str, Any]]
) -> tuple[list[Prior], list[Prior]]:
    """Prior runs on such a server: those of this load, the latest few, and those of other loads."""
    read = of_turns if plan.alternates else of_trials
    same, others = list[Prior](), list[Prior]()
    for record in records:
        if conditions.is_like(record.get("target")) and (prior := read(record, plan)) is not None:
            (same if record.get("load") == conditions.load else others).append(prior)
    return same[: _SHARED["most_runs"]], others


def _warmup_s(plan: Plan) -> float:
    return sum(step.duration_s for step in plan.steps if not step.measured)


def _planned(
    priors: Sequence[Prior], plan: Plan, reset_s: float, conditions: Conditions
) -> BestPlan | None:
    """The best plan, by prior runs of this load; None of a switchback, duet, A/A run, query set."""
    if plan.alternates or plan.calibrates or plan.queries is not None or not priors:
        return None
    noises = [prior.noise for prior in priors if prior.noise is not None]
    parted = [noise for noise in noises if noise.second_sd is not None]
    used = parted or noises

    def sd_at(measured_s: float) -> float:
        sds = [noise.trial_sd_at(measured_s) for noise in used]
        return _root_mean(sds, [noise.degrees for noise in used])

    settled = [prior.settled_s for prior in priors if prior.settled_s is not None]
    return best_plan(
        plan,
        sd_at,
        max(0.0, reset_s),
        max(settled, default=None),
        keeps_length=not parted,
        in_cycles=conditions.sets_checkpoints,
    )


def _general_figures(plan: Plan) -> list[float]:
    """The range on other hosts.

    Of a duet, of response times, and of a switchback's latency nothing is known.
    """
    if plan.metric.startswith("response"):
        return []
    if not plan.alternates:
        return [_SHARED["quiet"], _SHARED["noisy"]]
    if plan.side_by_side or plan.metric != _OTHERS_METRIC:
        return []
    longer = math.sqrt(_SHARED["turns"]["seconds"] / plan.measured_s)
    return [_SHARED["turns"][name] * longer for name in ("quiet", "noisy")]


def _spreading(sd: float, start_sd: float, priors: Sequence[Prior], plan: Plan) -> Spreading:
    """The scatter of a block's difference; without prior runs every round is independent."""
    if not plan.alternates:
        return blocks_spreading(plan, sd)
    units = plan.measured_s / (2.0 * (plan.trials[0].slice_s or 1.0))
    if plan.side_by_side:
        units = 1.0
    elif priors:
        units = float(np.median([prior.units for prior in priors]))
    return spreading(sd, units, plan, start_sd)


def _root_mean(sds: Sequence[float], weights: Sequence[float]) -> float:
    return math.sqrt(float(np.average(np.square(sds), weights=weights)))
