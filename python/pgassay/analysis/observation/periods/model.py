"""Two periods compared, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pgassay.analysis.measures.model import SignalKey
from pgassay.notes import Term

Source = Literal["days", "hours", "within"]
"""What the usual difference is known from: pairs of periods of other days, pairs of other hours, or
the course inside the two periods alone."""


@dataclass(frozen=True)
class Figure:
    """One figure that is compared: sums of signals, or the ratio of two sums."""

    name: str
    """Of its kind, such as `ms-per-call`; with `thing` it is unique."""
    group: str
    title: Term
    unit: str
    top: tuple[SignalKey, ...]
    below: tuple[SignalKey, ...] = ()
    times: float = 1.0
    floor: float = 0.0
    """In its unit: smaller values are all alike."""
    thing: str = ""
    """The wait event, the statement's query id, the table, the disk; empty for the whole server."""
    good: Literal["higher", "lower", "neither"] = "neither"


@dataclass(frozen=True)
class Usual:
    """How much equal periods differ in a figure, as logarithms of ratios."""

    centre: float
    """The mean difference of other pairs: 0 where nothing but the two periods is known."""
    reach: float
    """95 % of pairs of equal periods differ from `centre` by less."""
    pairs: int
    """Pairs of other periods that it is known from; 0 where it is from within."""


@dataclass(frozen=True)
class Difference:
    """One figure in both periods."""

    figure: Figure
    first: float
    second: float
    """Means over the periods, in the figure's unit."""
    usual: Usual | None
    """None where too little of a period was read."""
    times_usual: float | None
    """The change less the usual one, in multiples of `usual.reach`; its sign is the change's."""
    p: float | None
    """Of a change as large as this by chance, before the correction for the number of figures."""
    is_unusual: bool
    """Whether it is beyond what is usual, with at most one in twenty of such figures expected to be
    there by chance."""

    @property
    def change_pct(self) -> float | None:
        """Returns the change in per cent; None where the figure begins below its floor."""
        if self.first <= max(self.figure.floor, 0.0):
            return None
        return 100.0 * (self.second / self.first - 1.0)


@dataclass(frozen=True)
class SettingChange:
    """A setting, or the server's version, that is not the same in two observations."""

    name: str
    first: str
    second: str
    at_ns: int | None = None
    """When it was changed last, where both periods are of one observation."""


@dataclass(frozen=True)
class PeriodFacts:
    """One of the two periods."""

    label: str
    start_ns: int
    end_ns: int
    read_s: float
    """Seconds of it in which the server was read."""
    width_s: float
    """Length of its longest slice: 10, 60 or 600 s."""

    @property
    def seconds(self) -> float:
        """Returns the length of the period."""
        return (self.end_ns - self.start_ns) / 1e9


@dataclass(frozen=True)
class Course:
    """One figure over both periods, by the seconds since each began."""

    figure: Figure
    seconds: tuple[tuple[float, ...], tuple[float, ...]]
    values: tuple[tuple[float | None, ...], tuple[float | None, ...]]
    """In the figure's unit; None where it was not read."""


@dataclass(frozen=True)
class PeriodsAnalysis:
    """What two periods of observations show beside each other."""

    periods: tuple[PeriodFacts, PeriodFacts]
    differences: tuple[Difference, ...]
    """In the order of the catalogue; those of one kind by their size."""
    source: Source
    pairs: int
    """Pairs of other periods; 0 where the usual difference is from within."""
    settings: tuple[SettingChange, ...] = ()
    """Between the two observations, or from the begin of the earlier period to the end of the
    later one."""
    courses: tuple[Course, ...] = ()
    """Of throughput, SPEED, active sessions and what changed most."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Query id → text of a statement."""

    @property
    def unusual(self) -> tuple[Difference, ...]:
        """Returns what differs by more than usual, the largest multiple first."""
        found = [one for one in self.differences if one.is_unusual]
        return tuple(sorted(found, key=lambda one: -abs(one.times_usual or 0.0)))

    def of(self, *names: str) -> tuple[Difference, ...]:
        """Returns the differences of these figures of the whole server, in this order."""
        known = {one.figure.name: one for one in self.differences if not one.figure.thing}
        return tuple(known[name] for name in names if name in known)

    def of_group(self, group: str) -> tuple[Difference, ...]:
        """Returns the differences of one group."""
        return tuple(one for one in self.differences if one.figure.group == group)
