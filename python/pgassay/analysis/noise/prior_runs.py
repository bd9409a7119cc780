"""What to expect of a new run, from the noise of prior runs.

Enters: a spec, its plan, records of earlier runs. Leaves: an `Expectation`, or a record.
Never: reads the records itself (samples/noise_history.py does), or lets them change a verdict.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.noise.model import Noise, NoiseFloor, Outlook, SwitchbackFloor
from pgassay.analysis.noise.power import Spreading, difference_sd, outlook
from pgassay.analysis.noise.switchback_noise import overhead_with, spreading
from pgassay.plan.model import Plan
from pgassay.spec.experiment import Spec

_SHARED = tomllib.loads((files(__package__) / "prior_runs.toml").read_text("utf-8"))
_OTHERS_METRIC = "tps"
"""The metric that the general figures in prior_runs.toml are for."""
_FIELDS = ("trial_sd", "second_sd", "start_sd", "degrees", "measured_s", "trials")


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


def record_of(spec: Spec, target: str, floor: NoiseFloor) -> dict[str, Any]:
    """The record that a finished run stores for later ones."""
    return {
        "load": load_of(spec),
        "target": _target(spec, target),
        "workload": f"{spec.workload.name} at scale {spec.file.workload.scale}",
        "overhead_s": floor.overhead_s,
        "metrics": {noise.metric: asdict(noise) for noise in floor.metrics},
        **({} if floor.turns is None else {"turns": asdict(floor.turns)}),
    }


def load_of(spec: Spec) -> str:
    """A hash of workload, scale and load, whatever factor is varied."""
    file, workload = spec.file, spec.workload
    scenarios = [[s.name, s.weight, s.script] for s in workload.scenarios]
    stages = [asdict(stage) for stage in file.load.stages or ()]
    parts = [
        workload.building_sql(file.workload.scale), scenarios, list(file.load.clients), stages,
        list(file.load.rate or ()), list(file.load.command or ()),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


def expect(spec: Spec, plan: Plan, records: Iterable[Mapping[str, Any]]) -> Expectation | None:
    """The expectation; None without factors, or for a duet on a host without prior duets."""
    if not plan.factors:
        return None
    if plan.alternates:
        return _expect_turns(spec, plan, records)
    target = _target(spec, None)
    here = [r for r in records if _like(r.get("target"), target) and _noise(r, plan.metric)]
    same = [r for r in here if r.get("load") == load_of(spec)][: _SHARED["most_runs"]]
    if same:
        sds = [_pooled(same, plan)]
    elif here:
        each = [_pooled([r], plan) for r in here]
        sds = [min(each), max(each)]
    else:
        sds = [_SHARED["quiet"], _SHARED["noisy"]]
    overheads = [float(r["overhead_s"]) for r in same or here]
    overhead_s = float(np.median(overheads)) if overheads else plan.trial_s - plan.measured_s
    return Expectation(
        known_from="this load" if same else "other loads" if here else "others",
        runs=len(same or here),
        cases=tuple(ExpectedCase(sd, _outlook(plan, sd)) for sd in dict.fromkeys(sds)),
        overhead_s=overhead_s,
        block_s=len(plan.block(1)) * (plan.measured_s + overhead_s),
    )


def _expect_turns(
    spec: Spec, plan: Plan, records: Iterable[Mapping[str, Any]]
) -> Expectation | None:
    """For a switchback or duet, from runs of the same mode, metric and slices."""
    target = _target(spec, None)
    here = [
        (record, turns)
        for record in records
        if _like(record.get("target"), target) and (turns := _turns(record, plan)) is not None
    ]
    same = [one for one in here if one[0].get("load") == load_of(spec)][: _SHARED["most_runs"]]
    known = [turns for _, turns in same or here]
    if same:
        weights = [turns.trials for turns in known]
        sds = [_root_mean([_at_length(turns, plan) for turns in known], weights)]
        lasting = [_root_mean([_lasting(turns, plan) for turns in known], weights)]
    elif here:
        each = sorted((_at_length(turns, plan), _lasting(turns, plan)) for turns in known)
        sds, lasting = ([first, last] for first, last in zip(each[0], each[-1], strict=True))
    elif plan.side_by_side or plan.metric != _OTHERS_METRIC:
        return None
    else:
        longer = math.sqrt(_SHARED["turns"]["seconds"] / plan.measured_s)
        sds = [_SHARED["turns"][name] * longer for name in ("quiet", "noisy")]
        lasting = [0.0, 0.0]
    units = _units(known, plan)
    overheads = [float(record["overhead_s"]) for record, _ in same or here]
    overhead_s = float(np.median(overheads)) if overheads else plan.trial_s - plan.measured_s
    if overheads and plan.side_by_side:
        overhead_s = overhead_with(len(plan.arms), overhead_s, plan)
    rule = rule_of(plan)
    spreads = {
        sd: spreading(sd, units, plan, start_sd) for sd, start_sd in zip(sds, lasting, strict=True)
    }
    return Expectation(
        known_from="this load" if same else "other loads" if here else "others",
        runs=len(same or here),
        cases=tuple(
            ExpectedCase(sd, outlook(rule, spread, plan.min_blocks, plan.last_block))
            for sd, spread in spreads.items()
        ),
        overhead_s=overhead_s,
        block_s=plan.measured_s + overhead_s,
    )


def _at_length(turns: SwitchbackFloor, plan: Plan) -> float:
    """The scatter of trials as long as the plan's; only the part from rounds depends on length."""
    return math.hypot(
        _beside_rounds(turns), turns.rounds_sd * math.sqrt(turns.measured_s / plan.measured_s)
    )


def _beside_rounds(turns: SwitchbackFloor) -> float:
    return math.sqrt(max(0.0, turns.trial_sd**2 - turns.rounds_sd**2))


def _lasting(turns: SwitchbackFloor, plan: Plan) -> float:
    """The scatter between starts, which more arms do not increase; 0 in a switchback."""
    return _beside_rounds(turns) if plan.side_by_side else 0.0


def _root_mean(sds: Sequence[float], weights: Sequence[float]) -> float:
    return math.sqrt(float(np.average(np.square(sds), weights=weights)))


def _units(known: Sequence[SwitchbackFloor], plan: Plan) -> float:
    """Independent differences in a trial of the plan; every round without prior runs."""
    if plan.side_by_side:
        return 1.0
    if not known:
        return plan.measured_s / (2.0 * (plan.trials[0].slice_s or 1.0))
    return float(np.median([turns.units * plan.measured_s / turns.measured_s for turns in known]))


def _turns(record: Mapping[str, Any], plan: Plan) -> SwitchbackFloor | None:
    """The record's noise; None for another format, mode, metric or length of slices."""
    try:
        found = SwitchbackFloor(**record["turns"])
        float(record["overhead_s"])
        usable = min(found.trial_sd, found.measured_s, found.units, found.trials) > 0
    except (KeyError, TypeError, ValueError):
        return None
    as_here = (plan.mode, plan.metric, plan.trials[0].slice_s)
    return found if usable and (found.mode, found.metric, found.slice_s) == as_here else None


def _outlook(plan: Plan, trial_sd: float) -> Outlook:
    spread = Spreading(difference_sd(plan, trial_sd))
    return outlook(rule_of(plan), spread, plan.min_blocks, plan.last_block)


def _pooled(records: Sequence[Mapping[str, Any]], plan: Plan) -> float:
    """The noise of trials as long as the plan's, pooled by degrees of freedom."""
    noises = [noise for r in records if (noise := _noise(r, plan.metric)) is not None]
    weights = [noise.degrees for noise in noises]
    squares = [noise.trial_sd_at(plan.measured_s) ** 2 for noise in noises]
    return math.sqrt(float(np.average(squares, weights=weights)))


def _noise(record: Mapping[str, Any], metric: str) -> Noise | None:
    """The record's noise of a metric; None for another format."""
    try:
        stored = record["metrics"][metric]
        noise = Noise(**stored)
        float(record["overhead_s"])
    except (KeyError, TypeError, ValueError):
        return None
    numbers = [getattr(noise, name) for name in _FIELDS]
    usable = all(v is None or (isinstance(v, int | float) and v >= 0) for v in numbers)
    return noise if usable and noise.trial_sd and noise.degrees and noise.measured_s else None


def _target(spec: Spec, kind: str | None) -> list[str]:
    """The kind of server, and a hash of its address where it is not ours."""
    table = spec.file.target
    if table.is_existing:
        which = f"copy of {table.dsn}" if spec.file.copies_existing else table.dsn
        return ["existing", hashlib.sha256(str(which).encode()).hexdigest()[:16]]
    return [kind or ("local" if table.bin else "embedded"), str(table.bin or table.version or 18)]


def _like(stored: Any, target: Sequence[str]) -> bool:
    """Whether two servers compare: all owned ones do, an existing one only with itself."""
    if not isinstance(stored, list) or len(stored) != 2:
        return False
    return stored == list(target) if "existing" in (stored[0], target[0]) else True
