"""Trials whose dips after checkpoints have a known cause.

Enters: a cause, seeds. Leaves: courses with signals, as `read_course` makes them.
Never: measures anything.

Eight sessions without pause, a checkpoint each 30 s. A transaction takes 6 ms before one begins: 1
on CPU, 4 for WAL, 1 outside the server; a cause adds `extra_ms` at its height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from bench.validate.within_trials.courses import course_of

from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.measures.model import TrialCheckpoint
from pgassay.plan.model import Plan

Cause = Literal["images", "writeback", "both", "none"]
SECONDS, STARTS = 90, (30.0, 60.0)
_SESSIONS = 8.0


def trial_with_dips(
    cause: Cause, number: int = 1, arm: str = "a1", noise: float = 0.03, extra_ms: float = 6.0
) -> TrialCourse:
    """One trial; images decay with a time of 6 s, write-back begins 4 s after the start for 8 s."""
    source = np.random.default_rng([number, len(cause), ord(arm[-1])])
    since = np.full(SECONDS, np.inf)
    for at in STARTS:
        after = np.arange(SECONDS) - at
        since = np.where(after >= 0.0, after, since)
    images = np.exp(-since / 6.0) if cause in ("images", "both") else np.zeros(SECONDS)
    busy = ((since >= 4.0) & (since < 12.0)) * (1.0 if cause in ("writeback", "both") else 0.0)
    shaky = 1.0 + noise * source.standard_normal(SECONDS)
    ms = {
        "cpu": 1.0 + 0.3 * extra_ms * images,
        "wal_insert": np.zeros(SECONDS),
        "wal_lock": 3.0 + 0.5 * extra_ms * images + 0.5 * extra_ms * busy,
        "wal_write": np.zeros(SECONDS),
        "wal_sync": 1.0 + 0.2 * extra_ms * images + 0.2 * extra_ms * busy,
        "data": 0.3 * extra_ms * busy,
        "other": np.zeros(SECONDS),
    }
    latency_ms = (1.0 + sum(ms.values())) * shaky
    transactions = _SESSIONS * 1000.0 / latency_ms
    signals: dict[str, Any] = {
        name: each * transactions / 1000.0 * (1.0 + noise * source.standard_normal(SECONDS))
        for name, each in ms.items()
    }
    signals |= {
        "wal_bytes": transactions * (300.0 + 5000.0 * images),
        "full_page_images": transactions * 0.8 * images,
        "checkpointer_io": busy,
        "disk_queue": 0.5 + 4.0 * busy,
        "io_pressure": 0.1 + 0.6 * busy,
    }
    course = course_of(
        transactions,
        number=number,
        arm=arm,
        checkpoints_s=STARTS,
        series={"wal wal_bytes": signals["wal_bytes"]},
    )
    return replace(
        course,
        latency_ms=latency_ms,
        checkpoints=tuple(
            TrialCheckpoint(at, at + 12.5, "time", 20000, 12.0, 0.5, 0.2, 99000) for at in STARTS
        ),
        signals=signals,
    )


def trials_of_plan(plan: Plan, causes: Sequence[Cause], **options: float) -> list[TrialCourse]:
    """Each trial of a plan, with the cause of its arm; blocks are counted as the plan does."""
    ids = [arm.id for arm in plan.arms]
    return [
        replace(
            trial_with_dips(causes[ids.index(one.arm)], one.number, one.arm, **options),
            block=one.block,
        )
        for one in plan.trials
    ]
