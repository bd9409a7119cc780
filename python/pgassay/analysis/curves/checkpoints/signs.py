"""Signs of each cause of a dip, yes or no in each trial.

Enters: trials around their checkpoints. Leaves: in how many trials each sign is seen.
Never: weighs signs; limits are in causes.toml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgassay.analysis.curves.checkpoints.around import RULES, Around
from pgassay.analysis.curves.checkpoints.model import Sign
from pgassay.notes import Note, Value


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
