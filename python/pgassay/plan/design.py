"""Draw the plan: randomised complete blocks, split plots, switchbacks or duets.

Enters: a Spec. Leaves: a Plan; the same spec and seed give the same plan on every machine.
Never: reads a clock, a file or a server.

Every block has every arm once, in a random order (Fisher's randomised complete block design;
docs/methods/verdicts.md says why); `orders.py` balances the orders of consecutive blocks. In split
plots the whole plots are in random order, and the arms within each.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from pgassay.errors import SpecError
from pgassay.notes import Note
from pgassay.plan.factorial.combinations import combine
from pgassay.plan.model import Arm, Endpoint, Factor, Plan, PlannedTrial
from pgassay.plan.modes import BLOCKS, DUET, SWITCHBACK, blocks_of, choose_mode
from pgassay.plan.orders import balanced_orders, directories, plot_orders
from pgassay.plan.plots import choose_plots, restarts_every_trial, whole_plots
from pgassay.plan.risks import find_risks, lacks_of_trace, not_compared, overridden_settings
from pgassay.plan.server_settings import as_applied, refuse_changes
from pgassay.plan.steps import Step, steps_of
from pgassay.plan.switchback import alternating_trials, long_slice, slice_lengths
from pgassay.plan.whole_loads import QuerySet, Replayed
from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.endpoints import OF_A_STATEMENT, endpoint_metrics, scenario_of, statement_of
from pgassay.spec.experiment import Spec
from pgassay.spec.factors import kinds
from pgassay.spec.load.of_queries import counted_of
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.stopping import stopping_of
from pgassay.spec.workload.queries import calls_of

LABEL, LABELS = "A/A", ("A", "B")
"""The factor of an A/A run and its two labels, which change nothing."""
RESET_S = 3.0
"""Assumed seconds of a reset before one has been measured."""


def make_plan(spec: Spec, *, calibrates: bool = False) -> Plan:
    """Draws the plan of an experiment, up to `max_blocks`; `calibrates` makes it an A/A run."""
    try:
        plan = _experiment(spec, calibrates=calibrates)
    except SpecError as error:
        raise error.in_file(spec.source) from None
    plan = _calibration(plan) if calibrates else plan
    return _exchanging(plan) if spec.file.reset_rule().level is ResetLevel.SNAPSHOT else plan


def _exchanging(plan: Plan) -> Plan:
    """The arms of a duet in another data directory from block to block; other plans as they are."""
    if not plan.side_by_side:
        return plan
    source = random.Random(f"{plan.seed}/directories")
    by_block = directories([arm.id for arm in plan.arms], len(plan.trials), source)
    trials = zip(plan.trials, by_block, strict=True)
    return replace(plan, trials=tuple(replace(one, directories=found) for one, found in trials))


def _calibration(plan: Plan) -> Plan:
    """The same design for the baseline under two labels; in a duet with one server for each."""
    baseline = plan.arms[0]
    arms = tuple(
        Arm(
            f"a{number}",
            {**baseline.levels, LABEL: name},
            {**baseline.kinds, LABEL: kinds.LABEL.name},
        )
        for number, name in enumerate(LABELS, start=1)
    )
    return replace(
        plan,
        factors=(Factor(LABEL, kinds.LABEL.name, LABELS),),
        held=plan.factors,
        held_arms=plan.arms,
        held_combinations=plan.combinations,
        arms=arms,
        trials=plan.trials
        if plan.alternates
        else _ordered_trials(arms, (), plan.max_blocks, plan.seed),
        calibrates=True,
        trial_s=_trial_s(plan.steps, len(arms) if plan.side_by_side else 1),
        combinations="full",
        resolution=None,
        plots="complete",
        plots_reason=None,
    )


def _experiment(spec: Spec, *, calibrates: bool) -> Plan:
    design, load = spec.file.design, spec.file.load
    factors = tuple(
        Factor(
            factor.name,
            factor.kind.name,
            factor.levels,
            factor.name in design.describes,
        )
        for factor in kinds.written_factors(spec.file.factors)
    )
    combined = combine(factors, design.combinations, design.resolution)
    mode = choose_mode(spec.file, factors, spec.variants.schema)
    is_set = spec.file.workload.queries is not None
    plots = choose_plots(
        factors,
        design.plots,
        every_trial=restarts_every_trial(spec.file),
        by_sql=spec.file.loads_existing or (is_set and mode.name == SWITCHBACK),
    )
    steps = steps_of(load)
    # A trial of a query set has one arm, also where those of a block run at once.
    of_trials = BLOCKS if is_set else mode.name
    least, most = blocks_of(design, of_trials)
    # Without a verdict there is nothing that could end the run early.
    only_describes = bool(factors) and all(factor.describes for factor in factors)
    most = least if only_describes else most
    factors = as_applied(factors, mode.name)
    queries = _queries(spec)
    refuse_changes(spec.file, factors, mode)
    arms = _arms(factors, combined.levels)
    risks = find_risks(spec.file, spec.workload, combined.resolution, of_trials, len(arms))
    risks = (
        *not_compared(spec.variants.queries),
        *overridden_settings(spec, mode.name),
        *_lacks(spec),
        *risks,
    )
    if of_trials in (SWITCHBACK, DUET):
        measured_s = sum(step.duration_s for step in steps if step.measured)
        later_s = (
            long_slice(design.slice, measured_s, len(arms)) if mode.name == SWITCHBACK else None
        )
        trials = alternating_trials(least, most, slice_lengths(design.slice), later_s)
    else:
        hard = plots.hard if plots.split else ()
        trials = _ordered_trials(arms, hard, most, spec.seed)
    return Plan(
        question=spec.question,
        seed=spec.seed,
        factors=factors,
        arms=arms,
        steps=steps,
        trials=trials,
        min_blocks=least,
        max_blocks=most,
        smallest_effect=design.smallest_effect,
        metric=spec.file.metric,
        trial_s=_trial_s(steps, len(arms) if mode.name == DUET else 1)
        + (queries.writes_s if queries else 0.0),
        notes=risks,
        order=load.order,
        combinations=design.combinations,
        resolution=combined.resolution,
        plots="split" if plots.split else "complete",
        hard=plots.hard,
        plots_reason=plots.reason,
        stopping="fixed" if only_describes else stopping_of(design.stopping, least, most),
        looks=() if only_describes else design.looks_at(),
        mode=mode.name,
        mode_reason=mode.reason,
        modes_refused=mode.refused,
        held_mode=mode.name if calibrates else BLOCKS,
        endpoints=() if only_describes else _endpoints(spec, mode.name),
        replay=_replay(spec),
        queries=queries,
    )


def _replay(spec: Spec) -> Replayed | None:
    facts = spec.trace
    if facts is None:
        return None
    return Replayed(facts.statements, facts.sessions, spec.file.load.speed)


def _lacks(spec: Spec) -> tuple[Note, ...]:
    facts = spec.trace
    return () if facts is None else lacks_of_trace(facts.left_out, facts.values_cut, facts.fetched)


def _queries(spec: Spec) -> QuerySet | None:
    if spec.file.workload.queries is None:
        return None
    writes_s = 0.0 if spec.writes is None else sum(x.duration_s for x in steps_of(spec.writes.load))
    queries = spec.workload.scenarios
    return QuerySet(
        len(queries),
        counted_of(spec.file.load),
        calls={one.name: calls for one in queries if (calls := calls_of(one.script)) is not None},
        parameters=tuple(one.name for one in queries if one.parameters is not None),
        writes_s=writes_s,
        names=tuple(one.name for one in queries),
    )


def _endpoints(spec: Spec, mode: str) -> tuple[Endpoint, ...]:
    file, design = spec.file, spec.file.design
    try:
        _check_parts(spec, mode)
        found = endpoint_metrics(
            design.endpoints,
            file.metric,
            design.smallest_effect,
            file.load,
            writes=spec.writes is not None,
        )
    except UnfitValue as error:
        raise error.refusal from None
    return tuple(Endpoint(metric, margin) for metric, margin in found.items())


def _check_parts(spec: Spec, mode: str) -> None:
    """Raises UnfitValue for an endpoint of a scenario or statement that no trial measures."""
    file = spec.file
    scenarios = [one.name for one in spec.workload.scenarios] if file.runs_scripts else []
    for name in file.design.endpoints or {}:
        part, measure = scenario_of(name) or ("", "")
        if not part or part in scenarios:
            continue
        scenario, _ = statement_of(name) or (part, 0)
        if scenario not in scenarios:
            near = did_you_mean(scenario, scenarios)
            raise UnfitValue("endpoint-of-no-scenario", name=scenario, near=near)
        if measure != OF_A_STATEMENT:
            raise UnfitValue("endpoint-of-a-statement", name=name, part=part)
        if mode != BLOCKS:
            raise UnfitValue("endpoint-of-alternating-arms", name=name, mode=mode)
        if not file.sampling.plans or file.load.protocol == "simple":
            raise UnfitValue("endpoint-of-unplanned-statement", name=name)


def _trial_s(steps: Sequence[Step], resets: int) -> float:
    return sum(step.duration_s for step in steps) + resets * RESET_S


def _arms(factors: tuple[Factor, ...], combinations: Sequence[tuple[str, ...]]) -> tuple[Arm, ...]:
    """One arm for each combination of levels; the first has the baselines of all factors."""
    kind_of = {factor.name: factor.kind for factor in factors}
    return tuple(
        Arm(f"a{number}", dict(zip((f.name for f in factors), levels, strict=True)), kind_of)
        for number, levels in enumerate(combinations, start=1)
    )


def _ordered_trials(
    arms: tuple[Arm, ...], hard: tuple[str, ...], blocks: int, seed: int
) -> tuple[PlannedTrial, ...]:
    """The trials in order; `hard` are the factors that change between whole plots, if any."""
    source = random.Random(seed)
    if hard:
        orders = plot_orders(whole_plots(arms, hard), blocks, source)
    else:
        orders = [[order] for order in balanced_orders(arms, blocks, source)]
    trials: list[PlannedTrial] = []
    for block, order in enumerate(orders, start=1):
        in_block = [(number, arm) for number, plot in enumerate(order, start=1) for arm in plot]
        for position, (plot_number, arm) in enumerate(in_block, start=1):
            whole_plot = plot_number if hard else None
            trials.append(
                PlannedTrial(len(trials) + 1, block, position, arm.id, whole_plot=whole_plot)
            )
    return tuple(trials)
