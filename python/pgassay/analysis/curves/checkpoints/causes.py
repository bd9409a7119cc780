"""What the time that is lost after a checkpoint goes into: an event study of waits and signals.

Enters: the courses of trials. Leaves: `CheckpointCauses` per arm, with the number of trials in
which each sign of a cause is seen; limits are in causes.toml. Never: counts a second or a
checkpoint as a unit, or calls a share a proof; only an arm without the cause proves it.

The clock is that of the load's sessions. At each place of the window the extra time is what the
sessions spent, less what the same transactions took before the checkpoint began. It is split by
what sampled sessions waited for, and what the samples do not explain is a part of its own, so the
parts sum to the whole. Within each trial the extra time of each group is then regressed on two
courses without an intercept, jointly: the extra WAL (its bytes beyond those the same transactions
wrote before) and the checkpointer's waits for data files. The first part belongs to full-page
images; the rest goes to the cause that a group names (causes.toml).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.checkpoints.around import RULES, UNACCOUNTED, Around, around
from pgassay.analysis.curves.checkpoints.model import (
    CheckpointCauses,
    Sign,
    SignalProfile,
    TimeShare,
)
from pgassay.analysis.curves.checkpoints.profiles import FEWEST_TRIALS, Window, window_of
from pgassay.analysis.measures.courses.checkpoint_signals import GROUPS
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.intervals import mean_with_interval, ratio_of_means
from pgassay.notes import Note, Value
from pgassay.plan.model import Plan

Array = NDArray[np.float64]
_TITLES = {**GROUPS, UNACCOUNTED: "Unaccounted"}
_PER_CENT, _MEGABYTE, _KILOBYTE = 100.0, 2.0**-20, 2.0**-10


def checkpoint_causes(plan: Plan, courses: Sequence[TrialCourse]) -> tuple[CheckpointCauses, ...]:
    """Explains each arm with sampled sessions and enough trials that have a whole window."""
    found = []
    for arm in plan.arms:
        own = [course for course in courses if course.arm == arm.id]
        if any(len(course.checkpoints_s) for course in own):
            window = window_of(own)
            one = None if window is None else _causes(arm.id, own, window)
            found += [] if one is None else [one]
    return tuple(found)


def _causes(arm: str, own: Sequence[TrialCourse], window: Window) -> CheckpointCauses | None:
    trials = [found for course in own if (found := around(course, window)) is not None]
    if len(trials) < FEWEST_TRIALS:
        return None
    whole = np.array([trial.lost_s("whole") for trial in trials])
    flushing = float(np.mean([trial.sessions("wal_sync") for trial in trials]))
    parts = [_by_cause(trial, flushing) for trial in trials]
    return CheckpointCauses(
        arm=arm,
        trials=len(trials),
        checkpoints=sum(trial.checkpoints for trial in trials),
        whole=_share("whole", "Transactions", whole, whole, trials),
        groups=tuple(
            _share(name, title, np.array([one.lost_s(name) for one in trials]), whole, trials)
            for name, title in _TITLES.items()
        ),
        causes=tuple(
            _share(name, title, np.array([part[name] for part in parts]), whole)
            for name, title in RULES["cause"].items()
        ),
        signs=signs_of(trials),
        offset_s=tuple(window.offset_s.tolist()),
        signals=_signals(trials),
    )


def _by_cause(trial: Around, flushing: float) -> Mapping[str, float]:
    """The extra seconds of one trial by cause, per checkpoint."""
    rules = RULES["groups"]
    writeback, locks = set(rules["of_writeback"]), set(rules["of_wal_locks"])
    (writeback if flushing >= rules["flushing_sessions"] else locks).add(rules["shared_lock"])
    found = dict.fromkeys(RULES["cause"], 0.0)
    for name in (*GROUPS, UNACCOUNTED):
        extra = trial.beyond(trial.spent[name])
        images, checkpointer = _moved_by(trial, extra, with_images=name in rules["of_images"])
        rest = float(extra[trial.before :].sum()) - images - checkpointer
        found["images"] += images
        found["wal_locks" if name in locks else "writeback"] += checkpointer
        target = "writeback" if name in writeback else "wal_locks" if name in locks else "rest"
        found[target] += rest
    return {name: value / trial.checkpoints for name, value in found.items()}


def _moved_by(trial: Around, extra: Array, *, with_images: bool) -> tuple[float, float]:
    """The parts of a group's extra time that move with the extra WAL and with the checkpointer."""
    courses = []
    for name, used in (("wal_bytes", with_images), ("checkpointer_io", True)):
        course = np.zeros(len(extra))
        if used and name in trial.sums:
            raw = trial.sums[name]
            course = trial.beyond(raw) if name == "wal_bytes" else raw - raw[trial.reference].mean()
        scale = float(np.abs(course).max())
        courses.append(course / scale if scale > 0.0 else course)
    weights, *_ = np.linalg.lstsq(np.column_stack(courses), extra, rcond=1e-6)
    images, checkpointer = (
        float(weight * course[trial.before :].sum())
        for weight, course in zip(weights, courses, strict=True)
    )
    return images, checkpointer


def _share(
    name: str, title: str, extra_s: Array, whole_s: Array, trials: Sequence[Around] = ()
) -> TimeShare:
    whole = mean_with_interval(whole_s)
    share, interval = None, None
    if whole.low is not None and whole.low > 0.0:
        share = _PER_CENT * float(extra_s.mean() / whole_s.mean())
        critical = float(special.stdtrit(len(whole_s) - 1, 0.975))
        ends = ratio_of_means(extra_s, whole_s, critical)
        if ends is not None and name != "whole":
            interval = (_PER_CENT * ends[0], _PER_CENT * ends[1])
    before, after = (_per_tx(trials, name, late=late) for late in (False, True))
    return TimeShare(name, title, before, after, mean_with_interval(extra_s), share, interval)


def _per_tx(trials: Sequence[Around], name: str, *, late: bool) -> float | None:
    """Milliseconds per transaction, before or after the start."""
    if not trials:
        return None
    of = [slice(one.before, None) if late else one.reference for one in trials]
    ratios = [
        1000.0 * float(one.spent[name][part].sum() / max(one.transactions[part].sum(), 1.0))
        for one, part in zip(trials, of, strict=True)
    ]
    return float(np.mean(ratios))


def _signals(trials: Sequence[Around]) -> tuple[SignalProfile, ...]:
    """The means of all trials that have the signal."""
    found = []
    for name, texts in RULES["signal"].items():
        source, scale, per_tx = _SIGNALS[name]
        own = [one for one in trials if source in one.sums]
        if not own:
            continue
        sums, below = (np.zeros(len(own[0].transactions)) for _ in range(2))
        for one in own:
            sums += scale * one.sums[source] / one.checkpoints
            below += one.transactions / one.checkpoints if per_tx else one.step_s
        # Where no transaction ended there is nothing per transaction.
        values = [
            float(top / bottom) if bottom >= 1.0 or not per_tx else None
            for top, bottom in zip(sums, below, strict=True)
        ]
        reference = own[0].reference
        before = float(sums[reference].sum() / below[reference].sum())
        found.append(SignalProfile(name, texts["title"], texts["unit"], before, tuple(values)))
    return tuple(found)


_SIGNALS = {
    "wal_kb_per_tx": ("wal_bytes", _KILOBYTE, True),
    "images_per_tx": ("full_page_images", 1.0, True),
    "checkpointer_io": ("checkpointer_io", _PER_CENT, False),
    "disk_queue": ("disk_queue", 1.0, False),
    "disk_write_ms": ("disk_write_ms", 1.0, False),
    "io_pressure": ("io_pressure", _PER_CENT, False),
    "dirty_mb": ("dirty_bytes", _MEGABYTE, False),
    "writeback_mb": ("writeback_bytes", _MEGABYTE, False),
}
"""Signal → (series, scale, whether it is per transaction)."""


def signs_of(trials: Sequence[Around]) -> tuple[Sign, ...]:
    """Signs that could be looked for in any trial."""
    found = []
    for name, test in TESTS.items():
        rule = RULES["signs"][name]
        seen = [answer for one in trials if (answer := test(one, rule)) is not None]
        if seen:
            note = Note(f"analysis/curves/{name.replace('_', '-')}", _limits(rule))
            found.append(Sign(name, rule["cause"], note, len(seen), sum(seen)))
    return tuple(found)


def _limits(rule: Mapping[str, Any]) -> dict[str, Value]:
    """The limits of a sign, as numbers and in per cent."""
    known = {name: rule[name] for name in ("least", "most") if name in rule}
    return {**known, **{f"{name}_pct": 100.0 * value for name, value in known.items()}}


def _first(trial: Around) -> slice:
    places = max(1, round(RULES["signs"]["first_s"] / trial.step_s))
    return slice(trial.before, trial.before + places)


def _wal_rise(trial: Around) -> float | None:
    """WAL per transaction of the first seconds, as a multiple of that before."""
    wal, first = trial.sums.get("wal_bytes"), _first(trial)
    if wal is None or trial.before_per_tx(wal) <= 0.0:
        return None
    at_first = float(wal[first].sum() / max(trial.transactions[first].sum(), 1.0))
    return at_first / trial.before_per_tx(wal)


def _images_jump(trial: Around, rule: Mapping[str, float]) -> bool | None:
    rise = _wal_rise(trial)
    return None if rise is None else rise >= rule["least"]


def _writeback_flat(trial: Around, rule: Mapping[str, float]) -> bool | None:
    rise = _wal_rise(trial)
    return None if rise is None else rise < rule["most"]


def _images_decay(trial: Around, rule: Mapping[str, float]) -> bool | None:
    wal = trial.sums.get("wal_bytes")
    if wal is None:
        return None
    extra = trial.beyond(wal) / np.maximum(trial.transactions, 1.0)
    after = extra[trial.before :]
    highest = float(np.convolve(after, np.full(3, 1 / 3), "valid").max())
    late = float(after[-max(1, len(after) // 3) :].mean())
    return highest > 0.0 and late <= rule["most"] * highest


def _images_cost(trial: Around, rule: Mapping[str, float]) -> bool | None:
    wal = trial.sums.get("wal_bytes")
    if wal is None:
        return None
    done = np.maximum(trial.transactions, 1.0)
    cost = sum(trial.beyond(trial.spent[name]) for name in RULES["groups"]["of_images"]) / done
    extra = trial.beyond(wal) / done
    if np.ptp(cost) == 0.0 or np.ptp(extra) == 0.0:
        return False
    # Of ranks: a single stall must not decide.
    ranks = [np.argsort(np.argsort(values)) for values in (cost, extra)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1]) >= rule["least"]


def _writeback_checkpointer(trial: Around, rule: Mapping[str, float]) -> bool | None:
    waiting = trial.sums.get("checkpointer_io")
    if waiting is None:
        return None
    return float(waiting[trial.before :].sum()) / trial.checkpoints >= rule["least"]


def _writeback_disk(trial: Around, rule: Mapping[str, float]) -> bool | None:
    whole = trial.lost_s("whole")
    names = [*RULES["groups"]["of_writeback"], RULES["groups"]["shared_lock"]]
    return whole > 0.0 and sum(trial.lost_s(name) for name in names) >= rule["least"] * whole


def _writeback_pressure(trial: Around, rule: Mapping[str, float]) -> bool | None:
    known = [name for name in ("disk_queue", "io_pressure") if name in trial.sums]
    levels = [trial.level(name) for name in known]
    return any(after >= rule["least"] * max(before, 0.01) for before, after in levels) or (
        False if known else None
    )


TESTS = {
    "images_jump": _images_jump,
    "images_decay": _images_decay,
    "images_cost": _images_cost,
    "writeback_flat": _writeback_flat,
    "writeback_checkpointer": _writeback_checkpointer,
    "writeback_disk": _writeback_disk,
    "writeback_pressure": _writeback_pressure,
}
