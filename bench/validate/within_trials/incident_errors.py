"""How many incidents are found on quiet days, and how often an incident is found with its sign.

Enters: a number of observations a row. Leaves: docs/measured/validation-incidents.md. Never:
touches a server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scipy import stats

from bench.tables import Aim, page, rate, table
from bench.validate.parallel import counted
from bench.validate.within_trials.quiet_days import (
    FIRST,
    LENGTH,
    PROVOKED,
    START_NS,
    WIDTH_S,
    quiet,
)
from pgassay.analysis.observation.incidents.find import find_incidents

OUTPUT = Path("docs/measured/validation-incidents.md")
RUNS = 8
_FOUND = Aim(90.0, 100.0)
_MOST_FALSE = 1.0
"""In 24 hours."""
_HALF_A_DAY = 0.5
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class World:
    """A server, and how long it was observed."""

    days: float
    inertia: float
    sd: float
    provoked: str = ""
    """The name of an incident; empty for none."""


_NOISE = ((0.0, 0.1), (0.8, 0.12), (0.95, 0.25))
QUIET = tuple(World(days, *noise) for days in (1.0, 7.0) for noise in _NOISE)
CHANGED = tuple(World(_HALF_A_DAY, *_NOISE[1], name) for name in PROVOKED)


def simulate(task: tuple[World, int]) -> Counter[str]:
    """Counts what is found in one observation of a world."""
    world, seed = task
    slices = quiet(seed, world.days, inertia=world.inertia, sd=world.sd, nightly=world.days > 1.0)
    if not world.provoked:
        return Counter(one.kind for one in find_incidents(slices).found)
    found = find_incidents(PROVOKED[world.provoked](slices)).found
    middle = START_NS + round((FIRST + LENGTH / 2) * WIDTH_S * 1e9)
    own = [one for one in found if one.start_ns <= middle < one.end_ns]
    is_named = [one.kind for one in own] == [world.provoked]
    return Counter(found=len(own), named=int(is_named), others=len(found) - len(own))


def main(runs: int = RUNS) -> None:
    """Writes the page."""
    about = (
        "This page shows how many [incidents](../incidents.md) are found on days on which nothing"
        " happens, and how often one that was put in is found with its sign."
        f" {datetime.now(UTC):%Y-%m-%d}; {runs} observations a row, slices of ten seconds, a day's"
        " wave of 60 %, rare requested checkpoints, temporary files and waits for locks of heavy"
        " tails. Made by `make validate`."
    )
    found = {
        "Nothing happens; in seven days, a job of ten minutes each night": table(
            (
                "observed",
                "correlation of neighbouring slices",
                "spread",
                "incidents in 24 hours",
                "kinds",
            ),
            _quiet(runs),
        ),
        "Two minutes of an incident in half a day": table(
            ("incident", "found", "found with its sign first", "others found in 24 hours"),
            _changed(runs),
        ),
    }
    OUTPUT.write_text(page("Validation of incidents", about, found), "utf-8")


def _quiet(runs: int) -> Iterator[list[str]]:
    for world, kinds in counted(simulate, QUIET, runs).items():
        named = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common()) or "–"
        span = "1 day" if world.days == 1.0 else f"{world.days:g} days"
        rarity = _in_a_day(kinds.total(), runs * world.days)
        yield [span, f"{world.inertia:g}", f"{100 * world.sd:.0f} %", rarity, named]


def _changed(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, CHANGED, runs).items():
        shares = (rate(counts[name], runs, _FOUND) for name in ("found", "named"))
        yield [world.provoked, *shares, _in_a_day(counts["others"], runs * world.days)]


def _in_a_day(number: int, days: float) -> str:
    """A rate with its interval, of Poisson's distribution; marked where it is surely too high."""
    tail = (1.0 - _CONFIDENCE) / 2
    low = stats.chi2.ppf(tail, 2 * number) / 2 if number else 0.0
    high = stats.chi2.ppf(1.0 - tail, 2 * number + 2) / 2
    missed = ", **missed**" if low / days > _MOST_FALSE else ""
    return f"{number / days:.2f} ({low / days:.2f} to {high / days:.2f}){missed}"


if __name__ == "__main__":
    main()
