"""How far an observed standby was behind, and for how long that is not known, and why.

Enters: the readings of the source `standby`, segment by segment. Leaves: sizes over time, what is
not known of each. Never: bridges a time in which the standby could not tell, or takes it for 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.analysis.binned import Gaps, LevelTrack
from pgassay.analysis.counters import CounterSeries

SOURCE = "standby"
_KNOWN = {
    "replay_lag_ms": "lag_known",
    "replay_behind_bytes": "replay_known",
    "receive_behind_bytes": "receive_known",
}
"""Figure → what says whether the standby could tell it."""
_RECEIVERS = "receivers"
_HEARD = "silent_ms"
"""Of a sender that is hidden from the role it is too."""


@dataclass(frozen=True)
class Unknown:
    """A figure that a standby could not tell."""

    seconds: float
    share: float
    """Of the time in which the standby answered."""
    cause: str
    """`no_receiver`, `hidden`, `no_word`, `no_commit`, `not_streamed`."""


class StandbyLag:
    """Filled by segments in the order of time."""

    def __init__(self) -> None:
        self.levels: dict[str, LevelTrack] = {}
        self._flags: dict[str, LevelTrack] = {}
        self._is_heard = False

    def add(self, found: CounterSeries) -> None:
        """One more segment."""
        for source, thing, name in found.keys():  # noqa: SIM118 (not a mapping)
            if source != SOURCE or thing:
                continue
            if name in _KNOWN:
                self.levels.setdefault(name, LevelTrack()).add(*found.points((source, "", name)))
            elif name == _HEARD:
                self._is_heard = True
            elif name == _RECEIVERS or name in _KNOWN.values():
                self._flags.setdefault(name, LevelTrack()).add(*found.points((source, "", name)))

    def untold(self, name: str) -> Gaps:
        """When the standby answered, and could not tell this figure."""
        flag = self._flags.get(_KNOWN[name])
        return () if flag is None else flag.stretches_at_zero()

    def unknown(self, gaps: Gaps) -> Mapping[str, Unknown]:
        """Of each figure that was not known all the time; `gaps`: when nothing was read."""
        found = {}
        for name, flag in self._flags.items():
            figure = next((figure for figure, known in _KNOWN.items() if known == name), None)
            stretches = flag.stretches_at_zero()
            if figure is None or not (stretches or flag.largest() == 0):
                continue
            answered = flag.growth(gaps)[1]
            told = flag.growth((*gaps, *stretches))[1]
            seconds = answered - told
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
            return "hidden"  # whatever came between
        if receivers is None or receivers.smallest() == 0:
            return "no_receiver"
        return "no_word" if self._is_heard else "hidden"
