"""The verdict in one sentence, with the endpoints beside it, such as the tail of latency.

Enters: an Analysis. Leaves: a finding for each verdict. Never: decides or changes a verdict.
"""

from __future__ import annotations

from pgassay.analysis.model import Analysis, ArmSummary, Comparison, RunFacts, Verdict
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.findings.answer.endpoints import (
    MEASURED,
    badge,
    endpoints_beside,
    few_blocks,
    plain_badge,
)
from pgassay.findings.answer.limits import limits
from pgassay.findings.answer.undecided import why
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import (
    as_sentences,
    aside,
    digits_for,
    interval,
    measured,
    percent,
    slow_range,
)
from pgassay.notes import Note, Term
from pgassay.plan.steps import load_of
from pgassay.quantities import is_multiple

_RULE = "findings/answer/verdicts"
NEVER = f"{_RULE}/withdrawn.never"
"""The code of the claim that a level has no figure."""


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Every verdict, every level without one, or the figures of a single arm.

    The first sentence of a verdict answers the question; the others say what limits it.
    """
    found = [
        Finding(
            FindingKind.VERDICT,
            badge(verdict, analysis),
            as_sentences(
                _answer(verdict, analysis), *why(verdict, analysis), *limits(verdict, analysis)
            ),
            verdict,
        )
        for verdict in analysis.answer.verdicts()
    ]
    found += [
        Finding(FindingKind.VERDICT, plain_badge(Verdict.UNDECIDED), claim)
        for claim in unanswered(analysis)
    ]
    return found if analysis.answer.verdicts() else [*found, *_single_arm(analysis)]


def _answer(verdict: Comparison, analysis: Analysis) -> Note:
    """The answer with the endpoints beside it, without what limits it."""
    sentence = verdict_sentence(verdict, analysis, endpoints_beside(verdict, analysis))
    return as_sentences(sentence, few_blocks(verdict), early_end(verdict))


def verdict_sentence(comparison: Comparison, analysis: Analysis, beside: Note | str = "") -> Note:
    """One sentence that answers the question; `beside` is what it says of the endpoints."""
    if comparison.verdict is Verdict.DESCRIBED:
        return _side_by_side(comparison, analysis)
    metric = METRICS[comparison.metric]
    title, margin = Term(metric.title), analysis.answer.smallest_effect
    family, form = _template(comparison, metric)
    effect = comparison.effect_pct or 0.0
    sentence = Note.of(
        f"{_RULE}/{family}.{form}",
        subject=f"{comparison.factor} = {comparison.level}",
        baseline=comparison.baseline,
        metric=title,
        of="" if metric.name == "tps" else Note.of("findings/answer/in-metric", metric=title),
        size=abs(effect),
        effect=effect,
        signed=percent(effect),
        interval=aside(interval(comparison, margin, unsigned=family in ("faster", "slower"))),
        margin=100.0 * margin,
        idle=_idle(comparison, analysis),
        slow=slow_range(comparison, margin),
        beside=beside,
    )
    if comparison.aliases and comparison.withdrawn is None:
        aliases = tuple(alias.lstrip("\u2212") for alias in comparison.aliases)
        aliased = Note.of("findings/answer/aliased", factor=comparison.factor, list=aliases)
        sentence = as_sentences(sentence, aliased)
    if comparison.step is None:
        return sentence
    load = load_of(comparison.step, comparison.step_unit)
    return Note.of("findings/answer/sentence-at-load", load=load, sentence=sentence)


_DESCRIBING = ("tps", "latency_mean", "latency_p99", "response_mean", "response_p99")


def _side_by_side(comparison: Comparison, analysis: Analysis) -> Note:
    """The figures of both levels, of described levels."""
    at = (comparison.factor, comparison.level, comparison.step)
    of_level = {
        c.metric: c for c in analysis.answer.comparisons if (c.factor, c.level, c.step) == at
    }
    shown = dict.fromkeys((comparison.metric, *_DESCRIBING))
    sentence = Note.of(
        f"{_RULE}/described.any",
        factor=comparison.factor,
        baseline=comparison.baseline,
        level=comparison.level,
        figures=tuple(
            Note.of(
                f"{_RULE}/described.figure",
                metric=Term(METRICS[one.metric].title),
                first=measured(one.baseline_mean, METRICS[one.metric]),
                second=measured(one.level_mean, METRICS[one.metric]),
            )
            for one in (of_level[name] for name in shown if name in of_level)
        ),
    )
    if comparison.step is None:
        return sentence
    load = load_of(comparison.step, comparison.step_unit)
    return Note.of("findings/answer/sentence-at-load", load=load, sentence=sentence)


def early_end(comparison: Comparison) -> Note | None:
    """A sentence of the effect adjusted for an early end, where that differs visibly."""
    adjusted, effect = comparison.effect_adjusted_pct, comparison.effect_pct
    if comparison.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return None
    if adjusted is None or effect is None or round(abs(adjusted), 1) == round(abs(effect), 1):
        return None
    if is_multiple(effect):
        return Note.of(f"{_RULE}/early.multiple", adjusted=adjusted)
    return Note.of(f"{_RULE}/early.any", adjusted=abs(adjusted))


def unanswered(analysis: Analysis) -> list[Note]:
    """A sentence for each level without a figure, because an arm committed nothing."""
    known = {(c.factor, c.level) for c in analysis.answer.verdicts() if c.step is None}
    idle = [one for one in analysis.answer.standstills if one.step is None]
    levels = dict.fromkeys(level for one in idle for level in one.takes if level not in known)
    return [
        Note.of(
            NEVER,
            subject=f"{factor} = {level}",
            idle=tuple(one.note() for one in idle if (factor, level) in one.takes),
        )
        for factor, level in levels
    ]


def _template(comparison: Comparison, metric: Metric) -> tuple[str, str]:
    form = "tps" if metric.name == "tps" else "latency"
    match comparison.verdict:
        case Verdict.BETTER | Verdict.WORSE as found:
            is_large = is_multiple(comparison.effect_pct)
            family = "faster" if found is Verdict.BETTER else "slower"
            return family, f"{form}-multiple" if is_large else form
        case Verdict.UNDECIDED if comparison.withdrawn is not None:
            return "withdrawn", comparison.withdrawn.value
        case Verdict.UNDECIDED:
            return "undecided", "any"
        case other:
            return other.value, "any"


def _idle(comparison: Comparison, analysis: Analysis) -> tuple[Note, ...]:
    """The trials that committed nothing and therefore count for nothing here."""
    return tuple(
        one.note(comparison.step_unit)
        for one in analysis.answer.standstills
        if one.step == comparison.step and (comparison.factor, comparison.level) in one.takes
    )


def _single_arm(analysis: Analysis) -> list[Finding]:
    """The primary metric and the tail of each arm, where nothing was compared."""
    metric = METRICS[analysis.answer.metric]
    tail = METRICS["response_p99" if metric.name.startswith("response") else "latency_p99"]
    arms = [arm for arm in analysis.answer.arms if metric.name in arm.means]
    return [
        Finding(
            FindingKind.VERDICT,
            MEASURED,
            _measured(arm, metric, tail if tail.name in arm.means else None, alone=len(arms) == 1),
        )
        for arm in arms
    ]


def _measured(arm: ArmSummary, metric: Metric, tail: Metric | None, *, alone: bool) -> Note:
    """Such as `Throughput 742 tps (95 % CI 738 to 746), 99th percentile … 4.2 ms; 6 trials.`"""
    values = Note.of(
        "findings/answer/measured-value", metric=Term(metric.title), value=_mean_of(metric, arm)
    )
    if tail not in (metric, None):
        second = Note.of(
            "findings/answer/measured-value-lower",
            metric=Term(tail.title),
            value=_mean_of(tail, arm),
        )
        values = Note.of("findings/answer/two-values", first=values, second=second)
    text = Note.of("findings/answer/measured", n=arm.trials, values=values)
    return text if alone else Note.of("findings/answer/arm-measured", arm=arm.label, text=text)


def _mean_of(metric: Metric, arm: ArmSummary) -> Note:
    mean, ends = arm.means[metric.name], arm.intervals.get(metric.name)
    value = measured(mean, metric)
    if ends is None:
        return value
    return Note.of(
        "findings/answer/value-with-interval",
        value=value,
        interval=aside(
            Note.of(
                "findings/answer/interval-of-mean",
                low=ends[0],
                high=ends[1],
                digits=digits_for(mean, metric),
            )
        ),
    )
