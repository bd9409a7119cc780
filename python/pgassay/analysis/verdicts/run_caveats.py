"""Caveats of a run: its trials, blocks, missing values and failed transactions.

Enters: the plan, trials, comparisons. Leaves: each caveat once. Never: estimates or tests.

A fixed-sample interval holds only at the number of blocks that was fixed beforehand. A run that is
stopped by somebody who watches the figures stops more often where they happen to please.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from pgassay.analysis.compare.alternating.rounds import FEWEST_ROUNDS
from pgassay.analysis.compare.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.measures.one_server import is_left_out
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.idle_rounds import rounds_that_count
from pgassay.analysis.verdicts.not_in_force import set_by_load
from pgassay.language import clauses, decimals, listed, ntr, retold, tr
from pgassay.notes import Importance, Note
from pgassay.plan.model import Arm, Plan
from pgassay.plan.risks import NO_CHECKPOINTS, SET_BY_LOAD

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
WHOSE = ": "
"""Between the trials that have a caveat and the caveat, which is stored in English."""
_MOST_NUMBERS = 6
"""Trials that are named by their numbers; more are counted."""


def invalid_trial_caveats(
    invalid: Sequence[TrialMeasures], trials: Sequence[TrialMeasures]
) -> list[Caveat]:
    """Each invalid trial with its reasons, and whether a repeat replaced it."""
    replaced = {t.repeats: t.number for t in trials if t.repeats is not None}
    repeated = {t.repeats: t.number for t in invalid if t.repeats is not None}
    found = []
    for trial in invalid:
        text = tr(
            "trial {number} does not count: {items}",
            number=trial.number,
            items=clauses(map(retold, trial.invalid)),
        )
        importance = Importance.SIZE
        if trial.number in replaced:
            text += tr("; trial {value} repeats it", value=replaced[trial.number])
            importance = Importance.DETAIL
        elif trial.number in repeated:
            text += tr(
                "; its repeat, trial {value}, does not count either", value=repeated[trial.number]
            )
        elif trial.repeats is None:
            text += tr("; it was not repeated")
        found.append(Caveat("invalid-trial", text, (trial.number,), importance))
    return found


def run_caveats(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    complete: int,
    invalid: Sequence[TrialMeasures] = (),
) -> list[Caveat]:
    """Those of the plan, of single trials, of unmeasured metrics and of incomplete blocks."""
    found = [
        Caveat("plan", str(note), importance=note.importance, note=note)
        for note in _risks_left(plan, trials, invalid)
    ]
    found += _of_trials(trials)
    found += unmeasured(plan.arms, trials)
    ran = Counter(trial.block for trial in trials)
    left_over = sum(count for block, count in ran.items() if count < plan.sizes[block])
    if plan.factors and left_over > 0:
        text = ntr(
            "{n} trial is left out: of a block that lacks a trial of some arm",
            "{n} trials are left out: of a block that lacks a trial of some arm",
            left_over,
        )
        found.append(Caveat("incomplete-block", text))
    primary = [c for c in comparisons if c.metric == plan.metric]
    if plan.factors and complete and not primary:
        found.append(
            Caveat(
                "no-estimate",
                tr(
                    "no block has a value of {metric} for every arm",
                    metric=METRICS[plan.metric].title,
                ),
            )
        )
    return [*found, *_of_comparisons(plan, trials, primary, complete)]


def _risks_left(
    plan: Plan, trials: Sequence[TrialMeasures], invalid: Sequence[TrialMeasures]
) -> Iterator[Note]:
    """Those of the plan, without the risk of no checkpoints where most trials had some, and
    without those of settings that trials were seen to set, of which there is a caveat."""
    seen = set_by_load((*trials, *invalid))
    counted = [one.whole.values.get("checkpoints_per_min") or 0.0 for one in trials]
    had_some = 2 * sum(rate > 0.0 for rate in counted) > len(trials)
    for note in plan.notes:
        is_settled = (
            had_some
            if note.code == NO_CHECKPOINTS
            else (note.code == SET_BY_LOAD and str(note.values["name"]) in seen)
        )
        if not is_settled:
            yield note


def _of_trials(trials: Sequence[TrialMeasures]) -> list[Caveat]:
    """The caveats of trials, each once with the trials that have it, whatever its figures."""
    where: dict[Hashable, dict[int, Caveat]] = {}
    for trial in trials:
        for caveat in trial.warnings:
            where.setdefault(_said(caveat), {}).setdefault(trial.number, caveat)
    found = []
    for own in where.values():
        first, *others = own.values()
        whose = _named(list(own), len(trials))
        if any(other.text != first.text for other in others):
            whose = tr("{trials} (figures of the first)", trials=whose)
        text = f"{whose}{WHOSE}{first.text}"
        found.append(replace(first, text=text, trials=tuple(own)))
    return found


def _said(caveat: Caveat) -> Hashable:
    """What two trials share that differ only in figures."""
    if caveat.note is None:
        return caveat.kind, _NUMBER.sub("0", caveat.text)
    return caveat.note.without_figures


def _named(numbers: Sequence[int], of: int) -> str:
    if len(numbers) == of > 1:
        return tr("all {of} trials", of=of)
    if len(numbers) > _MOST_NUMBERS:
        return tr("{number} of {of} trials", number=len(numbers), of=of)
    return ntr("trial {numbers}", "trials {numbers}", len(numbers), numbers=listed(numbers))


def _of_comparisons(
    plan: Plan, trials: Sequence[TrialMeasures], primary: Sequence[Comparison], complete: int
) -> Iterator[Caveat]:
    """Blocks without a value, and differences that do not vary."""
    rounds = rounds_that_count(plan, trials).values() if plan.alternates else ()
    short = plan.alternates and max(rounds, default=0) < FEWEST_ROUNDS
    for comparison in primary:
        name = f"{METRICS[comparison.metric].title}, {comparison.level}"
        # idle_rounds.py and left_out_trials.py have a caveat of their own for these.
        explained = plan.alternates or comparison.withdrawn is Withdrawn.STANDSTILL
        if comparison.blocks < complete and not explained:
            missing = complete - comparison.blocks
            yield Caveat(
                "missing-values",
                tr(
                    "{name}: {missing} blocks without a value are left out",
                    name=name,
                    missing=missing,
                ),
            )
        yield from _of_few_transactions(comparison, name)
        has_interval = comparison.p_t is not None or comparison.resolution
        if comparison.blocks > 1 and not has_interval and not short:
            yield Caveat(
                "constant",
                tr(
                    "{name}: the block differences do not vary; no interval can be given", name=name
                ),
            )


def _of_few_transactions(comparison: Comparison, name: str) -> Iterator[Caveat]:
    """Counts too coarse for small differences."""
    undecided = comparison.verdict is Verdict.UNDECIDED and comparison.withdrawn is None
    importance = Importance.VERDICT if undecided else Importance.DETAIL
    durations = comparison.by_duration
    if durations is not None and durations.effect_pct is not None:
        text = tr(
            "{name}: clients end too few transactions in a trial for a count to show small"
            " differences; the interval covers the effect by counts and the effect by the mean"
            " duration of a transaction ({effect} %); longer trials make it narrower",
            name=name,
            effect=decimals(durations.effect_pct, "+.1f"),
        )
        yield Caveat("few-transactions", text, importance=importance)
    elif comparison.resolution:
        text = tr(
            "{name}: the values are too coarse to show small differences; the interval is wider by"
            " {resolution} % on each side, which they may be off by; longer trials make it"
            " narrower",
            name=name,
            resolution=decimals(100 * math.expm1(comparison.resolution), ".2g"),
        )
        yield Caveat("few-transactions", text, importance=importance)


_LARGEST_DIFFERENCE = 0.01
"""A difference of failed shares from which a caveat is raised; half the smallest effect if less."""


def failure_caveats(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Caveat]:
    """Failed transactions enter no figures, so an arm that gives up early may look fast."""
    shares = {}
    for arm in plan.arms:
        share = _over_slices(arm.id, trials) if plan.alternates else _over_trials(arm.id, trials)
        if share is not None:
            shares[arm.label] = share
    if len(shares) < 2:
        return
    difference = max(shares.values()) - min(shares.values())
    if difference < min(_LARGEST_DIFFERENCE, plan.smallest_effect / 2):
        return
    by_arm = listed(
        tr("{share} % of {label}", share=decimals(100 * share, ".1f"), label=label)
        for label, share in shares.items()
    )
    yield Caveat(
        "failures",
        tr(
            "arms differ in the share of transactions that failed ({by_arm}); these enter "
            "no figures, so the arm that fails more may look better or worse than it is",
            by_arm=by_arm,
        ),
    )


def _over_slices(arm: str, trials: Sequence[TrialMeasures]) -> float | None:
    own = [one for trial in trials for one in trial.turns if one.arm == arm]
    failed, done = sum(t.failed for t in own), sum(t.transactions for t in own)
    return failed / (failed + done) if failed + done else None


def _over_trials(arm: str, trials: Sequence[TrialMeasures]) -> float | None:
    """The mean of the trials' shares: trials count equally, as they do in every figure."""
    values = (t.whole.values.get("failed_share") for t in trials if t.arm == arm)
    own = [value for value in values if value is not None]
    return sum(own) / len(own) / 100.0 if own else None


def missing_trials(plan: Plan, finished: Sequence[TrialMeasures]) -> int:
    """How many trials a fixed run still needs, repeats included; 0 with other stopping rules."""
    if plan.stops != "fixed" or plan.calibrates or not plan.factors:
        return 0
    planned = {trial.number for trial in plan.trials if trial.block <= plan.min_blocks}
    counted = [trial for trial in finished if not is_left_out(trial)]
    repeated = {trial.repeats for trial in counted}
    to_repeat = {t.number for t in counted if t.is_repeated and t.number in planned}
    done = {trial.repeats or trial.number for trial in counted}
    return len(planned - done) + len(to_repeat - repeated)


def unfinished_caveats(missing: int) -> Iterator[Caveat]:
    """Says what is missing and how to go on."""
    if missing:
        yield Caveat(
            "unfinished",
            ntr(
                "{n} trial is missing of a number that was fixed beforehand; the interval holds"
                " at that number only, so there is no verdict yet (pgassay run --resume RUN)",
                "{n} trials are missing of a number that was fixed beforehand; the interval holds"
                " at that number only, so there is no verdict yet (pgassay run --resume RUN)",
                missing,
            ),
        )


_MOST_ARMS = 3


def unmeasured(arms: Sequence[Arm], trials: Sequence[TrialMeasures]) -> Iterator[Caveat]:
    """Metrics without a value in every trial of some arm: another version may lack the counter."""
    have: dict[str, set[str]] = {}
    for trial in trials:
        for name in trial.whole.values:
            have.setdefault(name, set()).add(trial.arm)
    measured = {trial.arm for trial in trials if trial.whole.transactions}
    lacking = {name: measured - of for name, of in have.items() if not measured <= of}
    for name in METRICS if lacking else ():
        without = [arm.label for arm in arms if arm.id in lacking.get(name, ())]
        if without:
            more = (
                tr(" and {number} more", number=len(without) - _MOST_ARMS)
                if len(without) > _MOST_ARMS
                else ""
            )
            named = clauses(without[:_MOST_ARMS]) + more
            text = tr(
                "{title} was not measured for {named}, so it is not compared",
                title=METRICS[name].title,
                named=named,
            )
            yield Caveat("not-measured", text)
