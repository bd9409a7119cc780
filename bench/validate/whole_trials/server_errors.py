"""How often an effect is said to differ between servers of a fleet, or to agree: `make validate`.

Enters: a number of experiments a row. Leaves: docs/measured/validation-servers.md.
Never: touches a server.

Each experiment has its blocks on the servers by turns. Servers differ in speed, which cancels, and
drift; the effect itself may differ between them.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.parallel import counted
from pgassay.analysis.compare.by_server import effects_by_server
from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.judge import judge
from pgassay.analysis.model import StepMeasures, TrialMeasures
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-servers.md"
RUNS = 2000
PART = 100
MARGIN = 0.02
"""The smallest effect that matters, if the spec does not say."""
_APART = 1.05 * (1.0 + MARGIN) - 1.0
"""An effect that is apart from one of 5 % by the smallest that matters."""
SPEED, DRIFT = 0.2, 0.002
"""Standard deviation of servers' speeds; what each trial is faster than the one before."""


@dataclass(frozen=True)
class World:
    """Servers and what the change does on each, as shares of throughput."""

    name: str
    effects: tuple[float, ...]
    """Of each server."""
    blocks: int
    noise: float = 0.01
    """Standard deviation of a trial."""
    heavy: bool = False
    uneven: bool = False
    """The first server takes three of four blocks, the others take turns with the rest."""

    @property
    def apart(self) -> float:
        """The largest difference of two servers' effects."""
        return max(self.effects) - min(self.effects)


def _worlds(effects: tuple[float, ...], blocks: tuple[int, ...]) -> tuple[World, ...]:
    return tuple(World("normal noise", effects, count) for count in blocks)


SAME = (
    *_worlds((0.05, 0.05), (4, 6, 8, 12, 24)),
    *_worlds((0.05,) * 4, (8, 12, 24)),
    *(World("t with 3 degrees of freedom", (0.05,) * n, 12, heavy=True) for n in (2, 4)),
    *(World("uneven blocks", (0.05,) * n, 12, uneven=True) for n in (2, 4)),
)
APART = (
    *_worlds((0.05, _APART), (6, 12, 24)),
    *_worlds((0.0, 0.10), (6, 12)),
    *_worlds((0.05, 0.05, 0.05, _APART), (12, 24)),
    *_worlds((0.0, 0.0, 0.0, 0.10), (8, 12)),
    World("uneven blocks", (0.05, _APART), 12, uneven=True),
)
SECTIONS = {"The same effect on every server": SAME, "An effect that differs": APART}
HEAD = ("servers", "blocks", "world", "effects differ by", "said to depend on the server",
        "said not to", "a server's interval misses", "verdict misses the mean")  # fmt: skip


def main(runs: int = RUNS) -> None:
    """The page."""
    about = (
        "This page shows how often effects by server of a [fleet](../fleet.md) are judged wrongly."
        f" {datetime.now(UTC):%Y-%m-%d}; {runs}"
        f" experiments a row, smallest effect {100 * MARGIN:g} %; the speeds of servers differ by"
        f" {100 * SPEED:g} % (standard deviation), trials of one arm and server by 1 %. Effects are"
        " those of one factor of two levels. Target: the same effect is said to depend on the"
        " server in 5 % or less; effects that are apart by the smallest effect are said not to"
        " depend on it in 5 % or less; the intervals of all servers together miss an effect in 5 %"
        " or less. Made by `make validate`."
    )
    found = {heading: table(HEAD, _rows(worlds, runs)) for heading, worlds in SECTIONS.items()}
    OUTPUT.write_text(page("Validation of effects by server", about, found), "utf-8")


def _rows(worlds: tuple[World, ...], runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, worlds, -(-runs // PART)).items():
        every = counts["experiments"]
        yield [
            str(len(world.effects)),
            str(world.blocks),
            world.name,
            f"{100 * world.apart:.3g} %",
            rate(counts["depends"], every, None if world.apart else Aim(0.0, 5.0)),
            rate(counts["agrees"], every, Aim(0.0, 5.0) if world.apart >= MARGIN else None),
            rate(counts["missed"], every, Aim(0.0, 5.0)),
            rate(counts["mean missed"], every),
        ]


def simulate(task: tuple[World, int], experiments: int = PART) -> Counter[str]:
    """Experiments of one part of a world."""
    world, part = task
    source = np.random.default_rng([part, world.blocks, len(world.effects), world.uneven])
    plan = plan_of(world.blocks)
    on_server = _dealt(world)
    mean = 100.0 * math.expm1(float(np.mean(np.log1p(world.effects)[on_server])))
    counts = Counter[str]()
    for _ in range(experiments):
        judged = judge(plan, list(_trials(world, on_server, plan, source)), of_verdicts_only=True)
        given = judged.verdicts.verdicts()
        (found,) = effects_by_server(
            plan, judged.verdicts.trials, given, judged.tables, judged.rule
        )
        counts["experiments"] += 1
        counts["depends"] += found.verdict in (Dependence.DEPENDS, Dependence.NEGLIGIBLE)
        counts["agrees"] += found.verdict in (Dependence.INDEPENDENT, Dependence.NEGLIGIBLE)
        counts["missed"] += any(
            _misses(one.ci95_pct, 100.0 * effect)
            for one, effect in zip(found.servers, world.effects, strict=True)
        )
        counts["mean missed"] += _misses(given[0].ci95_pct, mean)
    return counts


@cache
def plan_of(blocks: int) -> Plan:
    """Two arms, so many blocks."""
    text = "[factors.postgres]\nsynchronous_commit = ['on', 'off']\n"
    text += f"[design]\nmin_blocks = {blocks}\nmax_blocks = {blocks}\nseed = 1\n"
    plan = make_plan(parse_spec(text, source="simulated", beside=Path()))
    return replace(plan, endpoints=())


def _dealt(world: World) -> NDArray[np.int64]:
    """The place of each block's server."""
    servers, blocks = len(world.effects), np.arange(world.blocks)
    if not world.uneven:
        return blocks % servers
    found: NDArray[np.int64] = np.where(blocks % 4 < 3, 0, 1 + blocks // 4 % (servers - 1))
    return found


def _trials(
    world: World, on_server: NDArray[np.int64], plan: Plan, source: np.random.Generator
) -> Iterator[TrialMeasures]:
    speeds = SPEED * source.standard_normal(len(world.effects))
    for trial in plan.trials:
        server = int(on_server[trial.block - 1])
        noise = source.standard_t(3) / math.sqrt(3) if world.heavy else source.standard_normal()
        log_tps = 9.0 + speeds[server] + DRIFT * trial.number + world.noise * noise
        if trial.arm != plan.arms[0].id:
            log_tps += math.log1p(world.effects[server])
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log_tps)})
        yield TrialMeasures(
            trial.number, trial.block, trial.position, trial.arm, step, (), (), server=f"s{server}"
        )


def _misses(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and not interval[0] <= truth <= interval[1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
