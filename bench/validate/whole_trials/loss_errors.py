"""Runs whose better arm loses its slow trials, levels that collapse rarely, typical trials.

Enters: nothing. Leaves: docs/measured/validation-losses.md, by `make validate`. Never: touches a
server, or orders arms by other rules than pgassay's.

A lost trial is run again, as pgassay does, until one is not lost.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.parallel import counted
from bench.validate.whole_trials import typical_trials
from bench.validate.whole_trials.adverse_conditions import SCATTER
from bench.validate.whole_trials.false_positives import MARGIN, Rule, plan_of
from pgassay.analysis.judge import judge
from pgassay.analysis.model import Analysis, Answer, StepMeasures, TrialMeasures, Verdict
from pgassay.analysis.verdicts.collapses import most_unseen, unseen_collapses
from pgassay.analysis.verdicts.losses import losses_of
from pgassay.findings.answer.endpoints import badge, plain_badge
from pgassay.notes import legacy
from pgassay.plan.model import Plan
from pgassay.trials.model.record import FailedTrial

OUTPUT = MEASURED / "validation-losses.md"
PART = 100
"""Experiments that share a generator, and orders of arms that there are."""
SLOWER = 0.30
"""Of a lost trial, against the others of its arm."""
COLLAPSE = 0.40
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class Losing:
    """The share of the level's trials that are lost."""

    name: str
    effect: float
    share: float

    @property
    def truth_pct(self) -> float:
        """The effect on the mean of all trials, lost ones included, of logarithms."""
        logs = math.log1p(self.effect) + self.share * math.log1p(-SLOWER)
        return 100.0 * math.expm1(logs)


LOSING = (
    Losing("the level is 3 % faster, and loses one trial of five", 0.03, 0.2),
    Losing("it loses one of two", 0.03, 0.5),
)
RULE = Rule("8 blocks", 8, 8)


@dataclass(frozen=True)
class Rare:
    """Trials of the level that are much slower, in a run of so many blocks."""

    blocks: int
    share: float

    @property
    def name(self) -> str:
        return f"{100 * self.share:.0f} % of trials are {100 * COLLAPSE:.0f} % slower"


RARE = (
    *(Rare(n, most_unseen(n)) for n in (6, 12)),
    *(Rare(n, 0.05) for n in (6, 12)),
)


def do_losing(task: tuple[Losing, int]) -> Counter[str]:
    """Experiments of one part of one world."""
    world, part = task
    source = np.random.default_rng([part, *world.name.encode()])
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(RULE, seed, 2)
        trials, failed = _run(plan, world, source)
        analysis = _judged(plan, trials, failed)
        (verdict,) = analysis.verdicts()
        better = verdict.verdict is Verdict.BETTER
        lost = analysis.losses[0] if analysis.losses else None
        reached = lost is not None and (lost.tips_at_pct or -100.0) >= -100.0 * SLOWER
        found.update(
            runs=1,
            none_lost=not failed,
            plain=better and badge(verdict, Analysis(analysis)) == plain_badge(Verdict.BETTER),
            reported=better and lost is not None,
            reached=better and reached,
            withdrawn=verdict.withdrawn is not None,
        )
    return found


def _run(
    plan: Plan, world: Losing, source: np.random.Generator
) -> tuple[list[TrialMeasures], list[FailedTrial]]:
    trials, failed = [], []
    for trial in plan.trials:
        changed = trial.arm != plan.arms[0].id
        while changed and source.random() < world.share:
            failed.append(
                FailedTrial(trial.number, trial.block, trial.arm, legacy("the server died"))
            )
        gain = math.log1p(world.effect) if changed else 0.0
        log = 9.0 + gain + SCATTER * source.standard_normal()
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log)})
        trials.append(
            TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())
        )
    return trials, failed


def _judged(plan: Plan, trials: Sequence[TrialMeasures], failed: Sequence[FailedTrial]) -> Answer:
    """As in a report, without what needs more than the verdicts."""
    found = judge(plan, trials, failed, of_verdicts_only=True)
    verdicts = found.verdicts.verdicts()
    losses = losses_of(
        plan, verdicts, trials, found.tables, found.verdicts.reached.rules, found.lost
    )
    return replace(found.verdicts, losses=losses)


def do_rare(task: tuple[Rare, int]) -> Counter[str]:
    """Experiments of one part of one world."""
    world, part = task
    source = np.random.default_rng([part, world.blocks, round(1000 * world.share)])
    rule = Rule("", world.blocks, world.blocks)
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(rule, seed, 2)
        analysis = judge(plan, list(_rare(plan, world, source)), of_verdicts_only=True).verdicts
        (verdict,) = analysis.verdicts()
        limits = list(unseen_collapses([verdict]))
        found.update(
            runs=1,
            same=verdict.verdict in _SAME,
            too_low=any(one.most_pct < 100.0 * world.share for one in limits),
        )
    return found


def _rare(plan: Plan, world: Rare, source: np.random.Generator) -> Iterator[TrialMeasures]:
    for trial in plan.trials:
        collapses = trial.arm != plan.arms[0].id and source.random() < world.share
        log = 9.0 + SCATTER / 3 * source.standard_normal() + collapses * math.log1p(-COLLAPSE)
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def _losing_rows(runs: int) -> Iterator[list[str]]:
    for world, found in counted(do_losing, LOSING, -(-runs // PART)).items():
        count = found["runs"]
        yield [
            world.name,
            f"{world.truth_pct:+.1f} %",
            rate(found["none_lost"], count),
            rate(found["plain"], count),
            rate(found["reported"], count),
            rate(found["reached"], count),
            rate(found["withdrawn"], count),
        ]


def _rare_rows(runs: int) -> Iterator[list[str]]:
    for world, found in counted(do_rare, RARE, -(-runs // PART)).items():
        at_limit = world.share == most_unseen(world.blocks)
        count = found["runs"]
        yield [
            world.name,
            f"{world.blocks}",
            f"{100 * most_unseen(world.blocks):.0f} %",
            rate(found["same"], count, Aim(0.0, 6.4) if at_limit else None),
            rate(found["too_low"], count, Aim(0.0, 6.4)),
        ]


def main(runs: int = 2000) -> None:
    """Write the page."""
    about = (
        f"{runs} experiments a row, {datetime.now(UTC):%Y-%m-%d}; smallest effect"
        f" {100 * MARGIN:g} %. In brackets the 95 % interval of the share. Made by `make validate`"
        " (`bench/validate/whole_trials/loss_errors.py`); what is done:"
        " [verdicts](../methods/verdicts.md#what-limits-a-verdict)."
    )
    sections = {
        "Lost trials": [
            f"Trials scatter by {100 * SCATTER:g} %, {RULE.name}. A lost trial would have been"
            f" {100 * SLOWER:.0f} % slower than the others of its arm, and is run again. The truth"
            " is the effect on the mean of all trials. A badge can be plain only where the level"
            " lost nothing. Tips: the trials that were lost are slow enough for the verdict to fall"
            " at the tipping point that the sentence names.",
            "",
            *table(
                ("lost", "truth", "level lost nothing", "plain BETTER",
                 "BETTER, losses named", "tipping point below the true loss", "withdrawn"),
                _losing_rows(runs),
            ),
        ],
        "Rare collapses": [
            f"Trials scatter by {100 * SCATTER / 3:g} %; some of the level's are"
            f" {100 * COLLAPSE:.0f} % slower. Equivalent includes negligible. The limit says how"
            " frequent a collapse may be that none of so many blocks has shown. Where collapses are"
            " as frequent, equivalent is wanted in 6.4 % or less, and everywhere a limit below the"
            " true share.",
            "",
            *table(
                ("level", "blocks", "limit without a collapse", "equivalent",
                 "equivalent, its limit too low"),
                _rare_rows(runs),
            ),
        ],
        "Typical trial": [
            f"The level is {100 * typical_trials.EFFECT:g} % faster, slow trials apart. Shown: the"
            " 20 % trimmed mean differs from the mean by more than the smallest effect.",
            "",
            *table(typical_trials.HEAD, typical_trials.rows(runs)),
        ],
    }  # fmt: skip
    OUTPUT.write_text(
        page("Validation of lost trials and rare collapses", about, sections),
        "utf-8",
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
