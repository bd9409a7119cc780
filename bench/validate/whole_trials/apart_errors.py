"""How often runs made apart get a verdict, by the spread between them: `make validate`.

Enters: a number of comparisons a row. Leaves: docs/measured/validation-apart.md.
Never: touches a server.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.tables import page, rate, table
from bench.validate.parallel import counted
from pgassay.analysis.apart.compare import Question, compare_runs
from pgassay.analysis.apart.model import ApartRun, Session, Side
from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec

OUTPUT = Path("docs/measured/validation-apart.md")
RUNS = 2000
PART = 100
TRIALS = 6
PLAN = replace(
    make_plan(
        parse_spec(
            f"[design]\nmin_blocks = {TRIALS}\nmax_blocks = {TRIALS}\nseed = 1",
            source="spec.toml",
            beside=Path(),
        )
    ),
    endpoints=(),
)
_CALLED = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class World:
    """Two sides of runs; all as shares."""

    effect: float
    run_sd: float
    trial_sd: float = 0.01
    runs: tuple[int, int] = (1, 1)
    session_sd: float = 0.0
    """Of the sessions; each side's runs are made on one day, unless it is 0."""
    has_own_starts: bool = False
    """Whether each run starts its own server, so that a side shares no more than the day."""


SINGLE = tuple(World(0.0, sd) for sd in (0.0, 0.01, 0.02, 0.03, 0.05, 0.10))
UNSTEADY = tuple(World(0.0, 0.02, sd) for sd in (0.03, 0.10))
REPEATED = tuple(
    World(0.0, sd, runs=runs) for runs in ((2, 2), (3, 1), (5, 1), (4, 4)) for sd in (0.0, 0.03)
)
SESSIONS = tuple(
    World(0.0, 0.005, runs=runs, session_sd=sd) for runs in ((3, 3), (5, 5)) for sd in (0.01, 0.03)
)
OWN_STARTS = tuple(replace(world, has_own_starts=True) for world in SESSIONS)
SLOWER = tuple(
    World(effect, 0.02, runs=runs)
    for runs in ((1, 1), (5, 1), (4, 4))
    for effect in (-0.05, -0.10, -0.20)
)
HEAD = ("runs", "effect", "sessions differ by", "runs differ by", "trials differ by",
        "called different", "by trials alone", "called equivalent")  # fmt: skip
SECTIONS = {
    "Single runs of the same thing, assumed spread": SINGLE,
    "The same with unsteady trials": UNSTEADY,
    "Repeated runs of the same thing": REPEATED,
    "Repeated runs of the same thing, each side in one session": SESSIONS,
    "The same, each run with its own start of the server": OWN_STARTS,
    "A slower side": SLOWER,
}


def main(runs: int = RUNS) -> None:
    """The page."""
    about = (
        "This page shows how often verdicts on runs made apart ([compare](../compare.md)) are"
        f" wrong. {datetime.now(UTC):%Y-%m-%d}; {runs} comparisons a row, {TRIALS} trials a run,"
        " smallest effect 2 %. What runs and trials differ by are standard deviations. `by"
        " trials alone` is Welch's test on the trials, which no verdict rests on. With an assumed"
        " spread of 5 % runs that differ by less are called different less often than 5 %, and runs"
        " that differ by more, more often: repeat them. Made by `make validate`."
    )
    found = {heading: table(HEAD, _rows(worlds, runs)) for heading, worlds in SECTIONS.items()}
    OUTPUT.write_text(page("Validation of runs made apart", about, found), "utf-8")


def _rows(worlds: tuple[World, ...], runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, worlds, -(-runs // PART)).items():
        every = counts["comparisons"]
        shares = [rate(counts[what], every) for what in ("called", "by trials", "equivalent")]
        yield [
            " and ".join(map(str, world.runs)),
            *(f"{100 * share:g} %" for share in _shares(world)),
            *shares,
        ]


def _shares(world: World) -> tuple[float, ...]:
    return world.effect, world.session_sd, world.run_sd, world.trial_sd


def simulate(task: tuple[World, int], comparisons: int = PART) -> Counter[str]:
    """Comparisons of one part of a world."""
    world, part = task
    source = np.random.default_rng([part, *world.runs, round(1000 * world.run_sd)])
    counts = Counter[str]()
    for _ in range(comparisons):
        sides = [
            side_of(name, runs, effect, world, source)
            for name, runs, effect in zip("ab", world.runs, (0.0, world.effect), strict=True)
        ]
        (found,) = compare_runs(sides, Question()).verdicts()
        verdict, inside = found.comparison.verdict, found.within
        counts["comparisons"] += 1
        counts["called"] += verdict in _CALLED
        counts["equivalent"] += verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
        counts["by trials"] += inside is not None and (inside[0] > 0.0 or inside[1] < 0.0)
    return counts


def side_of(name: str, runs: int, effect: float, world: World, source: np.random.Generator) -> Side:
    """Runs of one side; `effect` in the place of the world's."""
    day = name if world.session_sd else ""
    shift = math.log1p(effect)
    if world.session_sd:
        shift += world.session_sd * source.standard_normal()
    sessions = (Session(day, number if world.has_own_starts else None) for number in range(runs))
    every = (
        _run(f"{name}{number}", session, shift, world, source)
        for number, session in enumerate(sessions)
    )
    return Side(name, tuple(every))


def _run(
    name: str, session: Session, shift: float, world: World, source: np.random.Generator
) -> ApartRun:
    own = shift + world.run_sd * source.standard_normal()
    trials = []
    for trial in PLAN.trials:
        tps = math.exp(9.0 + own + world.trial_sd * source.standard_normal())
        step = StepMeasures(None, 0, 10 * 10**9, round(10 * tps), {"tps": tps})
        trials.append(
            TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())
        )
    return ApartRun(name, PLAN, tuple(trials), session=session)


if __name__ == "__main__":
    main()
