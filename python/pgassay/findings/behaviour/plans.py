"""Statements whose plan is another one in other arms, or in other trials of an arm.

Enters: an Analysis. Leaves: findings of kind DIAGNOSIS. Never: says that a plan made a difference
of time; that takes an experiment in which the plan alone differs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.statements.model import StatementEffect, StatementPlan, StatementPlans
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec
from pgassay.findings.wording import as_sentences, texts_of
from pgassay.notes import Note, Single, Value

_TEXTS = texts_of(__name__)
_VALUES = _TEXTS["values"]
Levels = list[bool | int]
_SHARED = texts_of("pgassay.findings.limits")
_RULE = "findings/behaviour/plans"


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """Returns a finding for each statement whose plan varies, those that take most first."""
    rank = {use.queryid: use.ranked for use in analysis.explanation.statement_use}
    found = [one for one in analysis.explanation.plans if one.differs or one.varies]
    found.sort(key=lambda one: min((rank[id_] for id_ in one.queryids if id_ in rank), default=999))
    shown = found[: _TEXTS["most_findings"]]
    hidden = len(found) - len(shown)
    others = Note.of(f"{_RULE}/others", count=hidden) if hidden else None
    return [
        _changed(one, analysis, facts, others if one is shown[-1] else None)
        if one.differs and _is_steady(one)
        else _unsteady(one, analysis, others if one is shown[-1] else None)
        for one in shown
    ]


def _is_steady(statement: StatementPlans) -> bool:
    """Whether nearly all trials of each arm had the arm's plan."""
    trials = statement.trials_of_arm
    return all(
        plan.trials[arm] >= _SHARED["nearly_all"] * trials[arm]
        for plan in statement.plans
        for arm in plan.trials
        if statement.plan_of_arm[arm] == plan.fingerprint
    )


def _changed(
    statement: StatementPlans, analysis: Analysis, facts: RunFacts, others: Note | None
) -> Finding:
    factor = statement.factor
    effects = [
        effect
        for use in analysis.explanation.statement_use
        if use.queryid in statement.queryids
        for effect in use.effects
        if factor is None or effect.factor == factor
    ]
    clear = next((one for one in effects if one.clear), None)
    own = set(statement.plan_of_arm.values())
    plans = [plan for plan in statement.plans if plan.fingerprint in own]
    return Finding(
        FindingKind.DIAGNOSIS,
        _of_statement("title", statement),
        as_sentences(
            _of_statement(
                "by_factor" if factor else "by_arm",
                statement,
                factor=factor or "",
                plans=_named(plans, statement, analysis),
            ),
            _time(clear, any(one.ci95_ms for one in effects)),
            others,
        ),
        confidence=_confidence(statement, analysis),
        factors=(factor,) if factor else (),
        evidence=(
            *_seen(statement, analysis),
            *(_measured(one) for one in effects if one.ci95_ms is not None),
        ),
        confirm=_how_to_confirm(factor, plans),
        refute=Note(f"{_RULE}/refute"),
        next_spec=_next(plans, analysis, facts),
    )


def _of_statement(form: str, statement: StatementPlans, **values: Value) -> Note:
    of: dict[str, Value] = {"scenario": statement.scenario, "line": statement.line}
    return Note(f"{_RULE}/{form}", of | values)


def _next(plans: Sequence[StatementPlan], analysis: Analysis, facts: RunFacts) -> str:
    """The experiment in which the plan alone differs; none where no setting avoids it."""
    if (avoiding := _avoiding(plans)) is None:
        return ""
    node, settings = avoiding
    arms = [arm for plan in plans if any(node in one for one in plan.nodes) for arm in plan.trials]
    levels = next((arm.levels for arm in analysis.answer.arms if arm.id in arms), {})
    factors = {"client": {"settings": dict(settings)}}
    return next_spec(facts.spec_text, levels, _TEXTS["question"], factors)


def _unsteady(statement: StatementPlans, analysis: Analysis, others: Note | None) -> Finding:
    plans = _named(statement.plans, statement, analysis)
    return Finding(
        FindingKind.DIAGNOSIS,
        _of_statement("unsteady_title", statement),
        as_sentences(_of_statement("unsteady", statement, plans=plans), others),
        confidence=Confidence.HYPOTHESIS,
        evidence=tuple(_seen(statement, analysis)),
        confirm=Note(f"{_RULE}/unsteady_confirm"),
        refute=Note(f"{_RULE}/unsteady_refute"),
    )


def _confidence(statement: StatementPlans, analysis: Analysis) -> Confidence:
    """Confirmed where chance would hardly make arms the border between plans, in any statement."""
    if statement.varies:
        return Confidence.SUPPORTED
    trials = statement.trials_of_arm
    of_arms = Counter(statement.plan_of_arm.values())
    of_trials = [sum(plan.trials.values()) for plan in statement.plans]
    chance = _divisions(of_arms.values()) / _divisions(of_trials)
    tested = sum(bool(one.plans) for one in analysis.explanation.plans)
    sure = len(trials) > 1 and chance * tested <= _TEXTS["error_rate"]
    return Confidence.CONFIRMED if sure else Confidence.SUPPORTED


def _divisions(sizes: Iterable[int]) -> float:
    """In how many ways things can be divided into groups of these sizes."""
    sizes = list(sizes)
    return math.factorial(sum(sizes)) / math.prod(map(math.factorial, sizes))


def _named(
    plans: Sequence[StatementPlan], statement: StatementPlans, analysis: Analysis
) -> tuple[Note, ...]:
    return tuple(
        Note.of(
            f"{_RULE}/plan",
            nodes=_nodes(plan, plans),
            arms=arms_of(plan, statement, analysis, counted=False),
        )
        for plan in plans
    )


def arms_of(
    plan: StatementPlan, statement: StatementPlans, analysis: Analysis, *, counted: bool
) -> Note:
    """The arms that had a plan, such as `index = none`; by the factor that decides, where one does.

    `counted` adds in how many trials, where that is not all.
    """
    by = statement.factor
    found: dict[Single, None] = {}
    for arm in analysis.answer.arms:
        if arm.id in plan.trials:
            name = arm.label if by is None else f"{by} = {arm.levels[by]}"
            count, trials = plan.trials[arm.id], statement.trials_of_arm[arm.id]
            few = Note.of(f"{_RULE}/few", name=name, count=count, trials=trials)
            found[few if counted and count < trials else name] = None
    return Note.of("findings/clauses", items=tuple(found))


def _nodes(plan: StatementPlan, plans: Sequence[StatementPlan]) -> Note:
    """What this plan has that not all of them have; all nodes where only conditions differ."""
    shared = set.intersection(*(set(one.nodes) for one in plans))
    own = [node for node in plan.nodes if node not in shared] or list(plan.nodes)
    most: int = _TEXTS["most_nodes"]
    more = [Note.of(f"{_RULE}/more", count=len(own) - most)] if len(own) > most else []
    return Note.of("findings/plus", items=(*own[:most], *more))


def _time(clear: StatementEffect | None, is_known: bool) -> Note:
    if clear is None:
        return Note(f"{_RULE}/{'unclear' if is_known else 'unknown'}")
    return Note.of(
        f"{_RULE}/clear",
        factor=clear.factor,
        baseline=clear.baseline,
        level=clear.level,
        baseline_ms=clear.baseline_ms,
        level_ms=clear.level_ms,
        interval=_interval(clear),
    )


def _interval(effect: StatementEffect) -> Note | str:
    if effect.ci95_ms is None:
        return ""
    low, high = effect.ci95_ms
    change, blocks = effect.difference_ms, effect.blocks
    return Note.of(f"{_RULE}/interval", change=change, low=low, high=high, blocks=blocks)


def _seen(statement: StatementPlans, analysis: Analysis) -> Iterator[Evidence]:
    trials = statement.trials_of_arm
    for plan in statement.plans:
        count, of = sum(plan.trials.values()), sum(trials[arm] for arm in plan.trials)
        yield Evidence(
            Note.of(f"{_RULE}/evidence.plan", count=count, of=of),
            _nodes(plan, statement.plans),
            arms_of(plan, statement, analysis, counted=True),
            Note(f"{_RULE}/evidence.after_the_load"),
        )


def _measured(effect: StatementEffect) -> Evidence:
    return Evidence(
        Note(f"{_RULE}/evidence.time"),
        Note.of(
            f"{_RULE}/evidence.times",
            baseline_ms=effect.baseline_ms,
            level_ms=effect.level_ms,
            interval=_interval(effect),
        ),
        Note.of("findings/versus", arm=f"{effect.factor} = {effect.baseline}", other=effect.level),
        Note(f"{_RULE}/evidence.whole_load"),
    )


def _how_to_confirm(factor: str | None, plans: Sequence[StatementPlan]) -> Note:
    _, settings = _avoiding(plans) or ("", _VALUES["avoided_by_none"])
    if factor in settings:
        return Note(f"{_RULE}/confirm_own")
    ((name, levels),) = settings.items()
    return Note.of(f"{_RULE}/confirm", setting=f"{name} = {json.dumps(levels)}")


def _avoiding(plans: Sequence[StatementPlan]) -> tuple[str, Mapping[str, Levels]] | None:
    """A part of the name of a node which not all of the plans have, and the factor that forbids
    such nodes, with its levels."""
    shared = set.intersection(*(set(one.nodes) for one in plans))
    own = [node for plan in plans for node in plan.nodes if node not in shared]
    avoided_by: dict[str, Mapping[str, Levels]] = _VALUES["avoided_by"]
    return next(
        ((part, one) for part, one in avoided_by.items() if any(part in node for node in own)), None
    )
