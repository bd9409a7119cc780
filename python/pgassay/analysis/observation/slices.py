"""The slices of an observation: every signal of a trial, in short windows of equal length.

Enters: the values of slices. Leaves: `Slices`, cut to a period, merged into longer windows, or as
the trials of one arm. Never: reads a file, or fills in what was not read.

Signals have the keys and meanings of `analysis/measures/signals.py`. These are added:

| source | object | name | value |
|---|---|---|---|
| `class` | empty | a wait class of wait_classes.toml | average active sessions |
| `checkpoints` | empty | `running` | share of the slice in which a checkpoint ran |
| `checkpoints` | empty | `started`, `requested` | checkpoints that began a minute; not by time |
| `log_read` | empty | empty | 1 where the server's log was read |
| `metric` | empty | `tps` | commits a second, without those of the samplers |
| `metric` | empty | `busy_ms_per_tx` | active sessions of all classes per transaction |
| `metric` | empty | `wait_CLASS_ms_per_tx`, `host_cpu_busy`, `host_steal` | as of a trial |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.observation.slice_metrics import METRIC, TPS, is_ratio, with_ratios
from pgassay.analysis.reading.binned import Floats, Times
from pgassay.analysis.reading.counters import Key
from pgassay.trials.sampling.queries import STATEMENTS

SLICE_S = 10.0
"""The length of a slice that was not thinned."""
_SECOND_NS = 10**9
_READ_AT_LEAST = 0.5
"""Share of a window that must have been read for it to count as a trial."""
_LEAST_WEIGHT = 1e-9
"""Of a slice in which the server gave no answer: its host may have been read."""
_KEYS_AT_ONCE = 256
_READ_TOGETHER: Mapping[str, Key] = {
    **dict.fromkeys(
        ("sessions", "scenario", "query", "process", "state", "class"), ("class", "", "cpu")
    ),
    "log": ("log_read", "", ""),
    **dict.fromkeys(("locks", "progress", "blocking"), ("cluster", "", "xact_commit")),
}
"""Source whose signals exist only while there is something to count → the signal that is known
where the source was read: there, a missing one is 0."""
_SOMETIMES = frozenset({"locks", "progress", "blocking"})
_BLOCKING, _WAITING = "blocking", "waiting"


@dataclass(frozen=True)
class Slices:
    """Slices in order of time; all arrays have one value for each."""

    starts_ns: Times
    seconds: Floats
    """How much of each slice was read; 0 in a gap."""
    width_s: Floats
    """The length of each slice; older ones are thinned, and longer."""
    values: Mapping[Key, Floats]
    """The mean or rate of each signal over the slice; NaN where it was not read."""

    def __len__(self) -> int:
        return len(self.starts_ns)

    def having(self, key: Key, values: Floats) -> Slices:
        """Returns the same slices with one more signal, or with other values of it."""
        return replace(self, values={**self.values, key: values})

    @property
    def ends_ns(self) -> Times:
        """The end of each slice."""
        ends: Times = self.starts_ns + (self.width_s * _SECOND_NS).astype(np.int64)
        return ends

    def between(self, start_ns: int, end_ns: int) -> Slices:
        """Returns the slices whose middle lies in a period."""
        middles = (self.starts_ns + self.ends_ns) // 2
        inside = (middles >= start_ns) & (middles < end_ns)
        return self if inside.all() else self.at(inside)

    def merged(self, width_s: float) -> Slices:
        """Averages over windows of this length, from the first slice on, weighted by the seconds
        that were read; windows without a slice are left out, longer slices stay as they are."""
        if not len(self):
            return self
        width_ns = round(width_s * _SECOND_NS)
        middles = (self.starts_ns + self.ends_ns) // 2
        window = (middles - self.starts_ns[0]) // width_ns
        first = np.flatnonzero(np.r_[True, window[1:] != window[:-1]])
        weight = np.maximum(self.seconds, _LEAST_WEIGHT)
        starts = self.starts_ns[0] + window[first] * width_ns
        return Slices(
            starts,
            np.add.reduceat(self.seconds, first),
            # The last window may be filled in part so far.
            (np.maximum.reduceat(self.ends_ns, first) - starts) / _SECOND_NS,
            with_ratios(_averages(self.values, weight, first)),
        )

    def signals(self, arm: str, width_s: float) -> ArmSignals:
        """Windows of this length as the trials of one arm, without those read for less than half
        of their time."""
        merged = self.merged(width_s)
        enough = np.flatnonzero(merged.seconds >= _READ_AT_LEAST * width_s).tolist()
        tps = merged.values.get((METRIC, "", TPS), np.zeros(len(merged)))
        trials = [
            TrialSignals(
                number,
                number,
                arm,
                float(merged.seconds[at]),
                round(float(np.nan_to_num(tps[at]) * merged.seconds[at])),
                {
                    key: float(row[at])
                    for key, row in merged.values.items()
                    if not np.isnan(row[at])
                },
            )
            for number, at in enumerate(enough, start=1)
        ]
        return ArmSignals(arm, tuple(trials))

    def at(self, chosen: NDArray[np.int64 | np.bool_]) -> Slices:
        """Returns the slices at these places, or those that are marked."""
        return Slices(
            self.starts_ns[chosen],
            self.seconds[chosen],
            self.width_s[chosen],
            {key: row[chosen] for key, row in self.values.items()},
        )


NO_SLICES = Slices(np.empty(0, np.int64), np.empty(0), np.empty(0), {})


def joined(parts: Sequence[Slices]) -> Slices:
    """Successive slices as one."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return NO_SLICES
    begins = np.cumsum([0, *map(len, parts)])
    keys = dict.fromkeys(key for part in parts for key in part.values if not is_ratio(key))
    matrix = np.full((len(keys), int(begins[-1])), np.nan)
    rows = dict(zip(keys, matrix, strict=True))
    for part, begin, end in zip(parts, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        for key, own in part.values.items():
            if key in rows:
                rows[key][begin:end] = own
    add_zeros(rows)
    return Slices(
        np.concatenate([part.starts_ns for part in parts]),
        np.concatenate([part.seconds for part in parts]),
        np.concatenate([part.width_s for part in parts]),
        with_ratios(rows),
    )


def is_steady(key: Key) -> bool:
    """Whether a signal's source has its row in every reading."""
    return key[0] not in _SOMETIMES


def is_zero_without_row(key: Key) -> bool:
    """Whether a signal counts what there is, so that it is 0 where there is nothing; how long one
    waits, and for which process, is not known then."""
    return key[0] in _READ_TOGETHER and (key[0] != _BLOCKING or key[2] == _WAITING)


def add_zeros(rows: Mapping[Key, Floats]) -> None:
    """Puts 0 where a signal is missing because there was nothing to count."""
    statements = [row for key, row in rows.items() if key[0] == STATEMENTS.source]
    were_read = ~np.all(np.isnan(statements), axis=0) if statements else np.empty(0, bool)
    for key, row in rows.items():
        known = rows.get(_READ_TOGETHER[key[0]]) if is_zero_without_row(key) else None
        if key[0] == STATEMENTS.source:
            row[np.isnan(row) & were_read] = 0.0
        elif known is not None and known is not row:
            row[np.isnan(row) & ~np.isnan(known)] = 0.0


def _averages(values: Mapping[Key, Floats], weight: Floats, first: Times) -> dict[Key, Floats]:
    """The averages of all but ratios, over the slices from each of `first` on."""
    keys = [key for key in values if not is_ratio(key)]
    found: dict[Key, Floats] = {}
    for begin in range(0, len(keys), _KEYS_AT_ONCE):
        own = keys[begin : begin + _KEYS_AT_ONCE]
        rows = np.array([values[key] for key in own])
        known = ~np.isnan(rows)
        sums = np.add.reduceat(np.where(known, rows, 0.0) * weight, first, axis=1)
        seen = np.add.reduceat(known * weight, first, axis=1)
        means = np.divide(sums, seen, out=np.full(sums.shape, np.nan), where=seen > 0.0)
        found.update(zip(own, means, strict=True))
    return found
