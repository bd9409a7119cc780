"""Coverage of the intervals of curves, by simulation: part of `make validate`.

Enters: nothing. Leaves: docs/measured/validation-estimates.md. Never: touches a server.

Each row runs pgassay's own code on simulated trials with a known truth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.alternating import duet_errors, switchback_errors
from bench.validate.alternating.switchback_errors import A_A, World, make_trials
from bench.validate.parallel import spread
from bench.validate.within_trials.courses import (
    BASE_TPS,
    CHECKPOINTS_S,
    course_of,
    dip,
    inert_noise,
    named,
)
from bench.validate.within_trials.paired_estimates import checkpoints_of_two, disagreeing
from pgassay.analysis.compare.blocks.contrasts import BlockTable
from pgassay.analysis.curves import association, effect_curves, load_curve
from pgassay.analysis.curves.checkpoints import effect as checkpoint_effect
from pgassay.analysis.curves.model import Association
from pgassay.analysis.measures.courses.trial_course import RULES, TrialCourse
from pgassay.analysis.noise.switchback_noise import switchback_noise
from pgassay.analysis.noise.trial_noise import noise_of
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.sequential import critical_t_at
from pgassay.analysis.statistics.simultaneous import Band, max_t_band
from pgassay.analysis.statistics.values import Estimate
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

Array = NDArray[np.float64]
Row = tuple[str, str, str, str]
OUTPUT = MEASURED / "validation-estimates.md"
COVERAGE = Aim(93.0, 97.0)
AT_LEAST = Aim(93.0, 100.0)
SELDOM = Aim(0.0, 5.0)
_LOOKS = tuple(range(6, 25))
LOADS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0])


def share(hits: Iterable[bool], aim: Aim | None = None) -> str:
    """The share of true values, with its interval."""
    found = list(hits)
    return rate(sum(found), len(found), aim)


def band_over(rows: Array) -> Band:
    """The band of rows that vary."""
    found = max_t_band(rows)
    if found is None:
        raise ValueError("these rows have no band")
    return found


def holds(estimate: Estimate | None, truth: float) -> bool:
    """Whether there is an interval and the truth is in it."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return estimate.low <= truth <= estimate.high


def bands(runs: int, blocks: int, heavy: bool) -> Iterable[Row]:
    """Does the band hold at all places together?"""
    source = np.random.default_rng(blocks + heavy)
    covers = []
    for _ in range(runs):
        band = band_over(_rows(source, blocks, heavy))
        covers.append(bool(np.all((band.low <= 0.0) & (band.high >= 0.0))))
    yield (
        "band over 11 quantiles",
        f"{blocks} blocks, {'t3' if heavy else 'normal'}",
        "93 % or more" if heavy else "93 to 97 %",
        share(covers, Aim(93.0, 100.0) if heavy else COVERAGE),
    )


def stopped_bands(runs: int) -> Iterable[Row]:
    """The same in runs that stop by their verdict."""
    source = np.random.default_rng(1)
    covers = [_holds_when_stopped(source) for _ in range(runs)]
    yield (
        "band, run stopped by its verdict",
        "6 to 24 blocks",
        "93 to 97 %",
        share(covers, COVERAGE),
    )


def _rows(source: np.random.Generator, blocks: int, heavy: bool) -> Array:
    """Rows in which neighbouring quantiles correlate and slow ones scatter more."""
    rows = inert_noise(source, blocks, 11, 0.8)
    if heavy:
        rows = rows * np.sqrt(3.0 / source.chisquare(3, (blocks, 1))) / np.sqrt(3.0)
    return rows * np.linspace(0.01, 0.05, 11)


def _holds_when_stopped(source: np.random.Generator) -> bool:
    rows = _rows(source, 24, heavy=False)
    for blocks in _LOOKS:
        seen = rows[:blocks, 4]
        t = abs(seen.mean()) / (seen.std(ddof=1) / np.sqrt(blocks))
        reach = critical_t_at(blocks, 0.10, _LOOKS) * seen.std(ddof=1) / np.sqrt(blocks)
        if t > critical_t_at(blocks, 0.05, _LOOKS) or abs(seen.mean()) + reach < 0.02:
            break
    band = band_over(rows[:blocks])
    return bool(np.all((band.low <= 0.0) & (band.high >= 0.0)))


def crossings(runs: int, blocks: int) -> Iterable[Row]:
    """A level that is faster with few clients and slower with many; and one without effect."""
    truth = 0.04 * (np.log(12.0) - np.log(LOADS))
    source = np.random.default_rng(blocks)
    named, covers, false = [], [], []
    for _ in range(runs):
        noise = 0.03 * source.standard_normal((blocks, len(LOADS)))
        band = band_over(truth + noise)
        found = effect_curves._crossings(LOADS.tolist(), band, METRICS["tps"])
        named.append(len(found) == 1)
        covers += [c.low <= 12.0 <= c.high for c in found]
        same = effect_curves._crossings(LOADS.tolist(), band_over(noise), METRICS["tps"])
        false.append(bool(same))
    where = f"{blocks} blocks"
    yield "crossing is named", f"{where}, at 12 clients", "", share(named)
    yield "its interval holds", where, "95 % or more", share(covers, Aim(95.0, 100.0))
    yield "crossing of identical arms", where, "5 % or less", share(false, SELDOM)


def knees(runs: int, blocks: int, coherence: float) -> Iterable[Row]:
    """Throughput by the law, with trial noise; or by a law without a knee."""
    source = np.random.default_rng(blocks)
    law = np.log(load_curve.scaling_law(LOADS, 1000.0, 0.05, coherence))
    named, covers = [], []
    for _ in range(runs):
        noise = 0.03 * source.standard_normal((blocks, len(LOADS)))
        shared = 0.02 * source.standard_normal((blocks, 1))
        fit = load_curve._fit(LOADS, law + noise + shared)
        named.append(fit.knee_clients is not None)
        if coherence and fit.knee_clients is not None:
            covers.append(holds(fit.knee_clients, float(np.sqrt(0.95 / coherence))))
    where = f"{blocks} blocks"
    if coherence:
        yield "knee is named", f"{where}, at 44 of 96 clients", "", share(named)
        yield "its interval holds", where, "93 to 97 %", share(covers, COVERAGE)
    else:
        yield "knee named where there is none", where, "5 % or less", share(named, SELDOM)


def unrelated(runs: int, correlation: float) -> Iterable[Row]:
    """Thirty series that have nothing to do with throughput, eight trials of 150 s."""
    source = np.random.default_rng(round(100 * correlation))
    false = [_any_found(source, correlation, cycle=False) for _ in range(runs)]
    kind = "random walks" if correlation == 1.0 else f"ρ = {correlation:g}"
    yield "unrelated series reported as associated", kind, "5 % or less", share(false, SELDOM)


def unrelated_at_checkpoints(runs: int) -> Iterable[Row]:
    """The same, where all dip together."""
    source = np.random.default_rng(5)
    false = [_any_found(source, 0.8, cycle=True) for _ in range(runs)]
    where = "ρ = 0.8, every 30 s"
    yield "the same, both dip at checkpoints", where, "5 % or less", share(false, SELDOM)


def ahead(runs: int) -> Iterable[Row]:
    """One of 21 series has to do with throughput."""
    source = np.random.default_rng(6)
    found = [_true_lag_found(source) for _ in range(runs)]
    yield "a series 3 s ahead is found, at its lag", "r = 0.5 in ρ = 0.9", "", share(found)


def _any_found(source: np.random.Generator, correlation: float, *, cycle: bool) -> bool:
    courses = []
    for number in range(8):
        rows = 0.03 * inert_noise(source, 31, 150, correlation)
        if correlation == 1.0:
            rows /= 10.0
        starts = [10.0, 40.0, 70.0, 100.0, 130.0] if cycle else []
        shape = dip(150, starts, 0.3, 8.0)
        tps = BASE_TPS * np.exp(rows[0]) * shape
        series = named(1.0 + rows[1:] + (1.0 - shape))
        courses.append(course_of(tps, number=number + 1, series=series, checkpoints_s=starts))
    return bool(_all_found(courses))


def _all_found(courses: list[TrialCourse]) -> tuple[Association, ...]:
    """All significant associations, also those too weak to be reported."""
    least, RULES["least_correlation"] = RULES["least_correlation"], 0.0
    try:
        return association.associations(courses).found
    finally:
        RULES["least_correlation"] = least


def _true_lag_found(source: np.random.Generator) -> bool:
    courses = []
    for number in range(8):
        driver, own = inert_noise(source, 2, 153, 0.9)
        tps = BASE_TPS * np.exp(0.02 * (0.5 * driver[:-3] + own[3:] * np.sqrt(0.75)))
        others = inert_noise(source, 20, 150, 0.9)
        series = named(np.vstack([driver[3:], others]))
        courses.append(course_of(tps, number=number + 1, series=series))
    found = association.associations(courses).found
    return any(a.series == "s0" and a.lag_s == 3.0 for a in found)


def checkpoints(runs: int, trials: int) -> Iterable[Row]:
    """A dip of 30 % that recovers in 8 s, and none."""
    plan = _plan()
    truth_lost = BASE_TPS * float((1.0 - dip(120, [20.0], 0.3, 8.0)).sum())
    source = np.random.default_rng(trials)
    lost: list[bool] = []
    dips: list[bool] = []
    false: list[bool] = []
    for _ in range(runs):
        for depth, hits in ((0.3, dips), (0.0, false)):
            courses = dipping(source, trials, depth, 8.0)
            (effect,), _ = checkpoint_effect.checkpoint_effects(plan, courses)
            hits.append(effect.dip_at_s is not None)
            if depth:
                lost.append(holds(effect.lost_transactions, truth_lost))
    where = f"{trials} trials"
    yield "transactions lost, interval holds", where, "93 to 97 %", share(lost, COVERAGE)
    yield "dip of 30 % is found", where, "", share(dips)
    yield "dip where there is none", where, "2.5 % or less", share(false, Aim(0.0, 2.5))


def dipping(
    source: np.random.Generator, trials: int, depth: float, length_s: float, spread: float = 0.0
) -> list[TrialCourse]:
    """Trials of 120 s that dip at each of three checkpoints, for longer in one than in another."""
    found = []
    for number in range(1, trials + 1):
        noise = np.exp(0.05 * inert_noise(source, 1, 120, 0.8)[0])
        lasts_s = length_s * np.exp(spread * source.standard_normal()) if spread else length_s
        tps = BASE_TPS * noise * dip(120, CHECKPOINTS_S, depth, lasts_s)
        found.append(course_of(tps, number=number, checkpoints_s=CHECKPOINTS_S))
    return found


def dip_times(runs: int, trials: int) -> Iterable[Row]:
    """Duration and recovery of dips that differ by 30 % between trials."""
    plan = _plan()
    source = np.random.default_rng(100 + trials)
    lasts: list[bool] = []
    recovers: list[bool] = []
    for _ in range(runs):
        courses = dipping(source, trials, 0.5, 20.0, spread=0.3)
        (effect,), _ = checkpoint_effect.checkpoint_effects(plan, courses)
        if effect.dip_at_s is not None:
            lasts.append(holds(effect.duration_s, 10.0))
            recovers.append(holds(effect.recovery_s, 18.5))
    wanted, where = Aim(93.0, 100.0), f"{trials} trials"
    yield "duration of a dip, interval holds", where, "93 % or more", share(lasts, wanted)
    yield "recovery from it, interval holds", where, "93 % or more", share(recovers, wanted)


def noise_floors(runs: int, blocks: int, arms: int) -> Iterable[Row]:
    """The scatter of identical trials, by blocks of two; or by neighbours, in an A/A switchback."""
    for name, heavy in (("normal", False), ("t3", True)):
        source = np.random.default_rng([blocks, arms, heavy])
        covers = []
        for _ in range(runs):
            shape = (blocks, arms)
            draws = source.standard_t(3, shape) if heavy else source.standard_normal(shape)
            values = 0.02 * draws / (np.sqrt(3.0) if heavy else 1.0)
            table = BlockTable(tuple(range(blocks)), values)
            found = noise_of("tps", table, (), 60.0, alike=True)
            low, high = (np.nan, np.nan) if found is None else found.trial_sd_ci95 or (0.0, 0.0)
            covers.append(bool(low <= 0.02 <= high))
        by = f"{blocks} blocks of two" if arms == 2 else f"{blocks} neighbours"
        wanted = ("", None) if heavy else ("93 to 97 %", COVERAGE)
        yield "noise floor, interval holds", f"{by}, {name}", wanted[0], share(covers, wanted[1])


def turn_floors(runs: int, mode: str, trials: int) -> Iterable[Row]:
    """The scatter of a trial's difference between two arms that take turns; in a duet with starts
    whose luck is 2 % apart."""
    if mode == "duet":
        plan = duet_errors.make_design(trials, trials, 1)
        worlds = [World("starts differ by 2 %", memory=0.9, between=0.02)]
    else:
        plan = switchback_errors.make_design(trials, trials, 16, 1)
        worlds = [A_A[0], A_A[1], A_A[3]]
    for world in worlds:
        source = np.random.default_rng([trials, len(world.name)])
        floors = (switchback_noise(plan, make_trials(plan, world, source)) for _ in range(runs))
        found = [floor for floor in floors if floor is not None]
        truth = float(np.sqrt(np.mean([floor.trial_sd**2 for floor in found])))
        ends = [floor.trial_sd_ci95 or (np.nan, np.nan) for floor in found]
        covers = [bool(low <= truth <= high) for low, high in ends]
        wanted = ("", None) if world.heavy else ("93 % or more", AT_LEAST)
        where = f"{mode}, {trials} trials, {world.name}"
        yield "noise floor in turn, interval holds", where, wanted[0], share(covers, wanted[1])


def _plan() -> Plan:
    text = (
        "[load]\nclients = 8\nstep = '120s'\n[design]\nmin_blocks = 4\nmax_blocks = 4\nseed = 1\n"
    )
    return make_plan(parse_spec(text, source="simulated", beside=Path()))


CASES: tuple[Callable[[int], Iterable[Row]], ...] = (
    *(partial(unrelated, correlation=rho) for rho in (0.0, 0.5, 0.9, 0.95, 0.99, 1.0)),
    unrelated_at_checkpoints,
    ahead,
    *(partial(checkpoints, trials=trials) for trials in (4, 8, 12)),
    *(partial(dip_times, trials=trials) for trials in (5, 8, 12)),
    *(partial(checkpoints_of_two, blocks=blocks) for blocks in (4, 8, 12)),
    *(partial(disagreeing, trials=trials) for trials in (2, 4, 6, 12)),
    *(
        partial(bands, blocks=blocks, heavy=heavy)
        for heavy in (False, True)
        for blocks in (4, 6, 8, 12, 24)
    ),
    stopped_bands,
    *(partial(crossings, blocks=blocks) for blocks in (6, 12)),
    partial(knees, blocks=6, coherence=0.0005),
    partial(knees, blocks=12, coherence=0.0005),
    partial(knees, blocks=6, coherence=0.0),
    *(partial(noise_floors, blocks=blocks, arms=2) for blocks in (6, 12)),
    *(partial(noise_floors, blocks=blocks, arms=1) for blocks in (4, 12)),
    *(
        partial(turn_floors, mode=mode, trials=trials)
        for mode in ("switchback", "duet")
        for trials in (6, 12)
    ),
)
"""What is simulated; what takes longest begins first."""


def rows_of(task: tuple[int, int]) -> list[Row]:
    """All rows of one case, by its index, which can be sent to another process."""
    case, runs = task
    return list(CASES[case](runs))


def main(runs: int = 400) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} experiments a row; in brackets the 95 %"
        " interval of the share. Made by `make validate`"
        " (`bench/validate/within_trials/estimates.py`). What each estimate is:"
        " [verdicts](../methods/verdicts.md) and [diagnosis](../methods/diagnosis.md)."
    )
    parts = spread(rows_of, [(case, runs) for case in range(len(CASES))])
    body = table(
        ("estimate", "case", "target", "observed"), (row for rows in parts for row in rows)
    )
    text = page("Validation of curves by simulation", about, {"": body})
    OUTPUT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
