"""How often two periods of an observation show a difference that is none, and a real one.

Enters: a number of observations a row. Leaves: docs/measured/validation-periods.md. Never: touches
a server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.tables import page, rate, table
from bench.validate.parallel import counted
from bench.validate.within_trials.observations import EVENTS, HOUR_NS, START_NS, recorded
from pgassay.analysis.observation.periods.compare import Period, compare_periods

OUTPUT = Path("docs/measured/validation-periods.md")
RUNS = 200
PART = 10


@dataclass(frozen=True)
class World:
    """An observation, and which hours of it are compared."""

    about: str
    hours: float
    first_h: float
    second_h: float
    width_s: float
    slow: float = 0.1
    times: float = 1.0
    """What one figure is multiplied with in the second period."""


_WHERE = (
    ("a day apart, of two weeks", 336, 307, 331, 60.0),
    ("six hours apart, of two weeks", 336, 312, 318, 60.0),
    ("two hours apart, of two days", 48, 40, 42, 60.0),
    ("one after the other, of two hours", 2, 0, 1, 10.0),
)
QUIET = tuple(World(*where, slow=slow) for where in _WHERE for slow in (0.0, 0.1, 0.3))
CHANGED = tuple(World(*where, times=times) for where in _WHERE for times in (1.2, 1.5, 2.0, 4.0))


def simulate(task: tuple[World, int], observations: int = PART) -> Counter[str]:
    """Counts what is found in one part of a world."""
    world, part = task
    counts = Counter[str]()
    second_ns = START_NS + round(world.second_h * HOUR_NS)
    key = ("sessions", "", EVENTS[0])
    for number in range(observations):
        slices = recorded(
            world.hours,
            1000 * part + number,
            width_s=world.width_s,
            slow=world.slow,
            times={key: world.times},
            from_ns=second_ns,
        )
        first, second = (
            Period(str(hour), begin, begin + HOUR_NS, slices)
            for hour in (world.first_h, world.second_h)
            for begin in (START_NS + round(hour * HOUR_NS),)
        )
        found = compare_periods(first, second).differences
        changed = [one for one in found if one.figure.thing == EVENTS[0]]
        others = [one for one in found if one.figure.thing != EVENTS[0]]
        counts["observations"] += 1
        counts["figures"] += len(others)
        counts["beyond"] += sum(abs(one.times_usual or 0.0) > 1.0 for one in others)
        counts["called"] += sum(one.is_unusual for one in others)
        counts["any"] += any(one.is_unusual for one in others)
        counts["found"] += any(one.is_unusual for one in changed)
    return counts


def main(runs: int = RUNS) -> None:
    """Writes the page."""
    about = (
        "This page shows how often [two periods compared](../periods.md) differ by more than usual"
        " where nothing differs, and where one figure does."
        f" {datetime.now(UTC):%Y-%m-%d}; {runs} observations a row, 49 figures in each, periods of"
        " an hour. Logarithms of the figures vary by 0.1 with a memory of a minute, and slowly by"
        " what the table says, with a memory of two hours, around a day's wave of half of the"
        " mean. Made by `make validate`."
    )
    found = {
        "Nothing differs": table(
            (
                "periods",
                "slow variation",
                "figures beyond what is usual",
                "figures called unusual",
                "observations with any",
            ),
            _quiet(runs),
        ),
        "One figure is a multiple of what it was (slow variation 0.1)": table(
            ("periods", "times", "found", "other figures called unusual"), _changed(runs)
        ),
    }
    OUTPUT.write_text(page("Validation of two periods", about, found), "utf-8")


def _quiet(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, QUIET, -(-runs // PART)).items():
        shares = (rate(counts[name], counts["figures"]) for name in ("beyond", "called"))
        any_of = rate(counts["any"], counts["observations"])
        yield [world.about, f"{world.slow:g}", *shares, any_of]


def _changed(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, CHANGED, -(-runs // PART)).items():
        found = rate(counts["found"], counts["observations"])
        yield [world.about, f"{world.times:g}", found, rate(counts["called"], counts["figures"])]


if __name__ == "__main__":
    main()
