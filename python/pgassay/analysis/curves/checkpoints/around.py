"""One trial around its checkpoints: transactions, what sessions spent, and signals, by second.

Enters: a trial's course, a window. Leaves: an `Around`. Never: says what a figure means.

The clock is that of the load's sessions. The extra time is what they spent, less what the same
transactions took before the checkpoint began. What the samples do not explain is a part of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.checkpoints.profiles import Window, edges_around
from pgassay.analysis.measures.courses.checkpoint_signals import GROUPS
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.notes import terms_of

Array = NDArray[np.float64]
RULES = terms_of(
    tomllib.loads((files(__package__) / "causes.toml").read_text("utf-8")),
    ("cause", "title", "unit"),
)
UNACCOUNTED = "unaccounted"


@dataclass(frozen=True)
class Around:
    """The sums over one trial's checkpoints at each place of the window."""

    checkpoints: int
    before: int
    step_s: float
    transactions: Array
    spent: Mapping[str, Array]
    """Seconds of sessions: of each group, `unaccounted`, and their sum `whole`."""
    sums: Mapping[str, Array]
    """Of rates: totals; of states and shares: their mean times the seconds."""

    @property
    def reference(self) -> slice:
        """The places before the start, without the last one if there are three or more: counters
        are read each second, so it has a part of what follows."""
        return slice(self.before - 1 if self.before > 2 else self.before)

    def before_per_tx(self, values: Array) -> float:
        """Returns a value per transaction, in the seconds before."""
        return float(values[self.reference].sum() / self.transactions[self.reference].sum())

    def beyond(self, values: Array) -> Array:
        """Beyond what the same transactions took before; zero on average in the seconds before."""
        found: Array = values - self.before_per_tx(values) * self.transactions
        return found

    def lost_s(self, name: str) -> float:
        """Extra seconds of sessions after the start, per checkpoint."""
        return float(self.beyond(self.spent[name])[self.before :].sum()) / self.checkpoints

    def sessions(self, name: str) -> float:
        """Average sessions over the whole window."""
        return float(self.spent[name].mean()) / (self.step_s * self.checkpoints)

    def level(self, name: str, *, first_s: float | None = None) -> tuple[float, float]:
        """Returns (before, after) per second, after over the first seconds or the whole window."""
        per_s = self.sums[name] / (self.step_s * self.checkpoints)
        after = per_s[self.before :]
        if first_s is not None:
            after = after[: max(1, round(first_s / self.step_s))]
        return float(per_s[self.reference].mean()), float(after.mean())


def around(course: TrialCourse, window: Window) -> Around | None:
    """Sums a trial's checkpoints; None without one that can be used, or without samples."""
    places = window.before + window.after
    groups = [name for name in GROUPS if name in course.signals]
    others = [name for name in course.signals if name not in GROUPS]
    lengths = np.diff(course.edges_s)
    series = {
        "transactions": course.transactions,
        "whole": np.nan_to_num(course.latency_ms) / 1000.0 * course.transactions,
        "sessions": _clients(course) * lengths,
        **{name: course.signals[name] * lengths for name in (*groups, *others)},
    }
    sums = {name: np.zeros(places) for name in series}
    cumulated = {name: np.r_[0.0, np.cumsum(values)] for name, values in series.items()}
    usable = edges_around(course, window)
    for edges in usable:
        for name, values in cumulated.items():
            sums[name] += np.diff(np.interp(edges, course.edges_s, values))
    done = sums.pop("transactions")
    if not usable or not groups or np.any(done[: window.before] <= 0.0):
        return None
    spent = {name: sums.pop(name) for name in (*groups, "whole")}
    spent["whole"] = _whole(course, spent, sums.pop("sessions"), slice(window.before))
    spent[UNACCOUNTED] = spent["whole"] - sum(spent[name] for name in groups)
    return Around(len(usable), window.before, window.step_s, done, spent, sums)


def _clients(course: TrialCourse) -> Array:
    """How many clients there are in each interval of a closed loop."""
    found = np.zeros(len(course.transactions))
    for span in () if course.open_loop else course.steps:
        found[span.begin : span.end] = span.level
    return found


def _whole(
    course: TrialCourse, spent: Mapping[str, Array], sessions: Array, before: slice
) -> Array:
    """What all transactions took.

    The latency of a transaction is known when it ends, so a stall has none until it is over. Where
    clients do not pause between transactions, their number is the time of transactions instead.
    """
    latency = spent["whole"]
    if not latency.any():  # a load that reports no latency
        return np.asarray(sum(spent[name] for name in GROUPS if name in spent))
    never_pause = latency[before].sum() >= RULES["whole"]["busy_share"] * sessions[before].sum()
    return sessions if never_pause and not course.open_loop else latency
