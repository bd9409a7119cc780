"""Caveats of a run: its trials, blocks, missing values, failed transactions, earlier runs.

Enters: the plan, trials, comparisons, environment.json. Leaves: each caveat once. Never: estimates
or tests.

A fixed-sample interval holds only at the number of blocks that was fixed beforehand. A run that is
stopped by somebody who watches the figures stops more often where they happen to please.

Each run has its own 5 %. Somebody who repeats a file until it says "better" and reports that run
has the error of all of them. A run of the same file that measures another build is not counted, nor
is an A/A run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from pgassay.analysis.compare.alternating.rounds import FEWEST_ROUNDS
from pgassay.analysis.compare.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.measures.within_run import is_left_out
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.idle_rounds import rounds_that_count
from pgassay.analysis.verdicts.other_programs import is_of_other_programs
from pgassay.analysis.verdicts.withdrawal import set_by_load
from pgassay.notes import Importance, Note, Term, Value
from pgassay.plan import risks
from pgassay.plan.model import Arm, Plan
from pgassay.plan.steps import at_load
from pgassay.samples.forms.environment import EnvironmentFile

_MOST_NUMBERS = 6
"""Trials that are named by their numbers; more are counted."""


def invalid_trial_caveats(
    invalid: Sequence[TrialMeasures], trials: Sequence[TrialMeasures]
) -> list[Caveat]:
    """Lists each invalid trial with its reasons, and whether a repeat replaced it."""
    replaced = {t.repeats: t.number for t in trials if t.repeats is not None}
    repeated = {t.repeats: t.number for t in invalid if t.repeats is not None}
    found = []
    for trial in invalid:
        note = Note("analysis/verdicts/invalid", {"number": trial.number, "items": trial.invalid})
        if (value := replaced.get(trial.number)) is not None:
            note = Note("analysis/verdicts/invalid-replaced", {"text": note, "value": value})
        elif (value := repeated.get(trial.number)) is not None:
            note = Note("analysis/verdicts/invalid-twice", {"text": note, "value": value})
        elif trial.repeats is None:
            note = Note("analysis/verdicts/invalid-not-repeated", {"text": note})
        found.append(Caveat.of("invalid-trial", note, trials=(trial.number,)))
    return found


def run_caveats(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    complete: int,
    invalid: Sequence[TrialMeasures] = (),
) -> list[Caveat]:
    """Makes the caveats of the plan, of single trials, of unmeasured metrics and of incomplete
    blocks."""
    found = [Caveat.of("plan", note) for note in _risks_left(plan, trials, invalid, comparisons)]
    found += _of_trials(trials)
    found += unmeasured(plan.arms, trials)
    ran = Counter(trial.block for trial in trials)
    left_over = sum(count for block, count in ran.items() if count < plan.sizes[block])
    if plan.factors and left_over > 0:
        note = Note("analysis/verdicts/incomplete-block", {"n": left_over})
        found.append(Caveat.of("incomplete-block", note))
    primary = [c for c in comparisons if c.metric == plan.metric]
    if plan.factors and complete and not primary:
        title = Term(METRICS[plan.metric].title)
        note = Note("analysis/verdicts/no-estimate", {"metric": title})
        found.append(Caveat.of("no-estimate", note))
    found += _of_comparisons(plan, trials, primary, complete)
    return [*found, *_of_few_transactions(primary)]


def _risks_left(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    invalid: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
) -> Iterator[Note]:
    """Those of the plan, without the risk of no checkpoints where most trials had some, of ending
    undecided where no verdict has, and without those of settings that trials were seen to set, of
    which there is a caveat."""
    seen = set_by_load((*trials, *invalid))
    counted = [one.whole.values.get("checkpoints_per_min") or 0.0 for one in trials]
    had_some = 2 * sum(rate > 0.0 for rate in counted) > len(trials)
    judged = [one.verdict for one in comparisons if one.metric == plan.metric]
    for note in plan.notes:
        match note.code:
            case risks.NO_CHECKPOINTS:
                is_settled = had_some
            case risks.NO_EQUIVALENCE:
                is_settled = bool(judged) and Verdict.UNDECIDED not in judged
            case risks.SET_BY_LOAD:
                is_settled = str(note.values["name"]) in seen
            case _:
                is_settled = False
        if not is_settled:
            yield note


def _of_trials(trials: Sequence[TrialMeasures]) -> list[Caveat]:
    """The caveats of trials, each once with the trials that have it, whatever its figures."""
    where: dict[Hashable, dict[int, Caveat]] = {}
    for trial in trials:
        for caveat in trial.warnings:
            if trial.others and is_of_other_programs(caveat):
                continue  # other_programs.py makes one caveat of these
            key = caveat.kind, caveat.note.without_figures
            where.setdefault(key, {}).setdefault(trial.number, caveat)
    found = []
    for own in where.values():
        first, *others = own.values()
        whose = _named(tuple(own), len(trials))
        if any(other.note != first.note for other in others):
            whose = Note("analysis/verdicts/figures-of-the-first", {"trials": whose})
        note = Note("analysis/verdicts/of-trials", {"trials": whose, "note": first.note})
        found.append(replace(first, note=note, trials=tuple(own)))
    return found


def _named(numbers: tuple[int, ...], of: int) -> Note:
    if len(numbers) == of > 1:
        return Note("analysis/verdicts/all-trials", {"of": of})
    if len(numbers) > _MOST_NUMBERS:
        return Note("analysis/verdicts/some-trials", {"number": len(numbers), "of": of})
    return Note("analysis/verdicts/trials", {"n": len(numbers), "numbers": numbers})


def _of_comparisons(
    plan: Plan, trials: Sequence[TrialMeasures], primary: Sequence[Comparison], complete: int
) -> Iterator[Caveat]:
    """Blocks without a value, and differences that do not vary."""
    rounds = rounds_that_count(plan, trials).values() if plan.alternates else ()
    short = plan.alternates and max(rounds, default=0) < FEWEST_ROUNDS
    for comparison in primary:
        of = {"metric": Term(METRICS[comparison.metric].title), **_named_comparison(comparison)}
        # idle_rounds.py and left_out_trials.py have a caveat of their own for these.
        explained = plan.alternates or comparison.withdrawn is Withdrawn.STANDSTILL
        if comparison.blocks < complete and not explained:
            values = {**of, "missing": complete - comparison.blocks}
            yield Caveat.of("missing-values", Note("analysis/verdicts/missing-values", values))
        has_interval = comparison.p_t is not None or comparison.resolution
        if comparison.blocks > 1 and not has_interval and not short:
            yield Caveat.of("constant", Note("analysis/verdicts/constant", of))


def _named_comparison(one: Comparison) -> dict[str, Value]:
    at = at_load(one.step, one.step_unit)
    return {"factor": one.factor, "level": one.level, "at": at}


def _of_few_transactions(primary: Sequence[Comparison]) -> Iterator[Caveat]:
    """Counts too coarse for small differences: one caveat of all levels and loads that it limits
    alike."""
    limited: dict[tuple[Importance, str, str], list[Note]] = {}
    for one in primary:
        undecided = one.verdict is Verdict.UNDECIDED and one.withdrawn is None
        importance = Importance.VERDICT if undecided else Importance.DETAIL
        values, durations = _named_comparison(one), one.by_duration
        if durations is not None and durations.effect_pct is not None:
            code = "analysis/verdicts/by-durations"
            values["effect"] = durations.effect_pct
            each = Note("analysis/verdicts/by-durations-of", values)
        elif one.resolution:
            code = "analysis/verdicts/by-rounding"
            values["off"] = 100 * math.expm1(one.resolution)
            each = Note("analysis/verdicts/by-rounding-of", values)
        else:
            continue
        limited.setdefault((importance, code, one.metric), []).append(each)
    for (importance, code, metric), found in limited.items():
        said: dict[str, Value] = {"metric": Term(METRICS[metric].title), "each": tuple(found)}
        yield Caveat.of("few-transactions", Note(code, said), importance)


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
    by_arm = tuple(
        Note("analysis/verdicts/share-of-arm", {"share": 100 * share, "label": label})
        for label, share in shares.items()
    )
    yield Caveat.of("failures", Note("analysis/verdicts/failures", {"by_arm": by_arm}))


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
    """Counts the trials a fixed run still needs, repeats included; 0 with other stopping rules."""
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
        yield Caveat.of("unfinished", Note("analysis/verdicts/unfinished", {"n": missing}))


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
                Note("analysis/verdicts/and-more-arms", {"number": len(without) - _MOST_ARMS})
                if len(without) > _MOST_ARMS
                else ""
            )
            values: dict[str, Value] = {
                "title": Term(METRICS[name].title),
                "named": tuple(without[:_MOST_ARMS]),
                "more": more,
            }
            yield Caveat.of("not-measured", Note("analysis/verdicts/not-measured", values))


EARLIER_RUNS = "earlier_runs"
"""The key of environment.json."""
_ERROR = 0.05
_MOST = 10_000
_DIFFERENT = (Verdict.BETTER, Verdict.WORSE)


def earlier_runs(environment: EnvironmentFile) -> int:
    """How many runs of the same file, scripts and builds of servers this machine's noise history
    held as the run began."""
    return min(max(environment.earlier_runs, 0), _MOST)


def repeated_run_caveats(
    environment: EnvironmentFile, verdicts: Sequence[Comparison]
) -> Iterator[Caveat]:
    """States what a difference is worth that one of several runs found; a detail where none was
    found, or where each holds after a correction for the number of runs."""
    number = earlier_runs(environment) + 1
    if number == 1:
        return
    share = 100.0 * (1.0 - (1.0 - _ERROR) ** number)
    note = Note("analysis/verdicts/repeated-run", {"number": number, "share": share})
    found = any(one.verdict in _DIFFERENT and not _holds_for(one, number) for one in verdicts)
    yield Caveat.of("repeated-run", note, Importance.SIZE if found else Importance.DETAIL)


def _holds_for(verdict: Comparison, runs: int) -> bool:
    """Whether a difference holds although one of so many runs found it (Bonferroni)."""
    p = verdict.p_t if verdict.p_looks is None else verdict.p_looks
    return p is not None and p * runs < _ERROR
