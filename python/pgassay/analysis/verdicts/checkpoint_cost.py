"""Arms whose trials end before the checkpoint that their writes will cause.

Enters: the plan, trials, environment.json. Leaves: a caveat with how long a trial would have to be.
Never: estimates what such a checkpoint would cost.

What a transaction dirties is written by a later checkpoint. Where an arm has none within its
trials, that cost is in no figure of it, and the arm may look faster than it is over whole cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.notes import Importance, Note, Value
from pgassay.plan.model import Arm, Plan
from pgassay.refusals.refusal import UnfitValue
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.settings.catalogue import CATALOGUED, catalogue

_FEW = 0.5
"""Checkpoints of a trial, below which its arm counts as having none."""
_WRITES_BYTES_PER_S = 2**18
"""WAL of an arm that dirties enough for a checkpoint to matter: a segment in about a minute."""


def checkpoint_cost_caveats(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    environment: EnvironmentFile,
    asked: Sequence[ArmAsked] = (),
) -> Iterator[Caveat]:
    """Makes one caveat for all arms that had no checkpoint; it matters most where other arms had
    some."""
    if plan.alternates or plan.calibrates:
        return
    rates = {arm.id: _wal_rate(arm, trials) for arm in plan.arms}
    counts = {arm.id: _checkpoints(arm, trials) for arm in plan.arms}
    without = [
        arm
        for arm in plan.arms
        if (counts[arm.id] or 0.0) < _FEW and (rates[arm.id] or 0.0) > _WRITES_BYTES_PER_S
    ]
    if not without or any(counts[arm.id] is None for arm in without):
        return
    some = any((count or 0.0) >= _FEW for count in counts.values())
    held = {one.arm: one.settings for one in asked}
    longest = max(
        _cycle_s(held.get(arm.id, arm.settings), rates[arm.id] or 0.0, environment)
        for arm in without
    )
    is_all, is_one = len(without) == len(plan.arms), len(without) == 1
    most = max(rates[arm.id] or 0.0 for arm in without) / 2**20
    code = _NONE if is_all else _ONE_OF if is_one and some else _ONE if is_one else _SOME
    text = Note(code, {"arms": _named(without), "most": most})
    yield Caveat.of(
        "checkpoint-cost",
        Note("analysis/verdicts/checkpoint-cost", {"text": text, "cycle_s": longest}),
        Importance.VERDICT if some and plan.factors else Importance.SIZE,
    )


_NONE = "analysis/verdicts/no-arm-had-a-checkpoint"
_ONE = "analysis/verdicts/arm-without-checkpoint"
_ONE_OF = "analysis/verdicts/arm-alone-without-checkpoint"
_SOME = "analysis/verdicts/arms-without-checkpoint"


def _named(arms: Sequence[Arm]) -> Value:
    names: list[str | Note] = [arm.label for arm in arms[:3]]
    if len(arms) > 3:
        names.append(Note("analysis/verdicts/others"))
    if len(names) == 1:
        return names[0]
    return Note("analysis/verdicts/and", {"names": tuple(names[:-1]), "last": names[-1]})


def _checkpoints(arm: Arm, trials: Sequence[TrialMeasures]) -> float | None:
    """The mean number in a trial's measured time; None where it is not known."""
    found = [
        trial.whole.values["checkpoints_per_min"] * _seconds(trial) / 60.0
        for trial in trials
        if trial.arm == arm.id and "checkpoints_per_min" in trial.whole.values
    ]
    return sum(found) / len(found) if found else None


def _wal_rate(arm: Arm, trials: Sequence[TrialMeasures]) -> float | None:
    """Bytes of WAL a second."""
    found = [
        trial.whole.values["wal_bytes_per_tx"] * trial.whole.transactions / _seconds(trial)
        for trial in trials
        if trial.arm == arm.id and "wal_bytes_per_tx" in trial.whole.values
    ]
    return sum(found) / len(found) if found else None


def _seconds(trial: TrialMeasures) -> float:
    return max((trial.whole.end_ns - trial.whole.start_ns) / 1e9, 1e-9)


def _cycle_s(settings: Mapping[str, str], wal_rate: float, environment: EnvironmentFile) -> float:
    """Seconds from one checkpoint to the next, by WAL or by time, whichever comes first.

    WAL causes one after max_wal_size / (1 + checkpoint_completion_target), as the server computes
    it (PostgreSQL source, CalculateCheckpointSegments).
    """
    timeout_s = _setting("checkpoint_timeout", settings, environment)
    most = _setting("max_wal_size", settings, environment) * 2**20
    target = _setting("checkpoint_completion_target", settings, environment)
    return min(timeout_s, most / (1.0 + target) / max(wal_rate, 1.0))


def _setting(name: str, settings: Mapping[str, str], environment: EnvironmentFile) -> float:
    """What the arm sets, else the server's value, in the setting's own unit; the default where a
    stored file has neither, or what no server would take."""
    entry = catalogue(CATALOGUED[-1])[name]
    value = settings.get(name) or environment.server.value_of(name)
    try:
        found = float(to_base(value or "", entry.get("unit"), entry["vartype"]))
    except UnfitValue:
        return _DEFAULTS[name]
    return found if found >= 0.0 else _DEFAULTS[name]


_DEFAULTS = {
    "checkpoint_timeout": 300.0,
    "max_wal_size": 1024.0,
    "checkpoint_completion_target": 0.9,
}
"""PostgreSQL documentation, "Write Ahead Log"; used where no file has a
value that fits."""
