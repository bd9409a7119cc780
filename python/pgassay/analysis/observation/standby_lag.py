"""Replication lag of an observed standby, and when and why it is unknown.

Enters: the readings of the source `standby`, segment by segment. Leaves: lag over time, and the
unknown part of each figure. Never: takes an unknown lag for 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.analysis.reading.binned import Gaps, LevelTrack
from pgassay.analysis.reading.counters import CounterSeries

SOURCE = "standby"
_KNOWN = {
    "replay_lag_ms": "lag_known",
    "replay_behind_bytes": "replay_known",
    "receive_behind_bytes": "receive_known",
}
"""Figure → the reading that says whether it was known."""
_RECEIVERS = "receivers"
_HEARD = "silent_ms"
"""Hidden from the role where the sender is."""


@dataclass(frozen=True)
class Unknown:
    """How long a figure of the standby was unknown."""

    seconds: float
    share: float
    """Share of the time in which the standby answered."""
    cause: str
    """`no_receiver`, `hidden`, `no_word`, `no_commit`, `not_streamed`."""


class StandbyLag:
    """Lag over segments, added in order of time."""

    def __init__(self) -> None:
        self.levels: dict[str, LevelTrack] = {}
        self._flags: dict[str, LevelTrack] = {}
        self._is_heard = False

    def add(self, found: CounterSeries) -> None:
        """Add one segment."""
        for source, thing, name in found.keys():  # noqa: SIM118 (not a mapping)
            if source != SOURCE or thing:
                continue
            if name in _KNOWN:
                self.levels.setdefault(name, LevelTrack()).add(*found.points((source, "", name)))
            elif name == _HEARD:
                self._is_heard = True
            elif name == _RECEIVERS or name in _KNOWN.values():
                self._flags.setdefault(name, LevelTrack()).add(*found.points((source, "", name)))

    def unknown_stretches(self, name: str) -> Gaps:
        """When the standby answered but did not know this figure."""
        flag = self._flags.get(_KNOWN[name])
        return () if flag is None else flag.stretches_at_zero()

    def unknown(self, gaps: Gaps) -> Mapping[str, Unknown]:
        """The figures that were unknown at times; `gaps`: when nothing was read."""
        found = {}
        for name, flag in self._flags.items():
            figure = next((figure for figure, known in _KNOWN.items() if known == name), None)
            stretches = flag.stretches_at_zero()
            if figure is None or not (stretches or flag.largest() == 0):
                continue
            answered = flag.growth(gaps)[1]
            known = flag.growth((*gaps, *stretches))[1]
            seconds = answered - known
            share = seconds / answered if answered else 1.0
            found[figure] = Unknown(seconds, share, self._cause(figure))
        return found

    def _cause(self, figure: str) -> str:
        if figure == "replay_lag_ms":
            return "no_commit"
        if figure == "replay_behind_bytes":
            return "not_streamed"
        receivers = self._flags.get(_RECEIVERS)
        is_seen = self._is_heard or figure in self.levels
        if receivers is not None and receivers.largest() and not is_seen:
            return "hidden"  # whatever came in between
        if receivers is None or receivers.smallest() == 0:
            return "no_receiver"
        return "no_word" if self._is_heard else "hidden"
