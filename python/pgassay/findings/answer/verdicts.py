"""The verdict in one sentence, with the endpoints beside it, such as the tail of latency.

Enters: an Analysis. Leaves: a finding for each verdict. Never: decides or changes a verdict.
"""

from __future__ import annotations

from pgassay.analysis.model import Analysis, ArmSummary, Comparison, RunFacts, Verdict
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.verdicts.left_out_trials import describe_idle
from pgassay.findings.answer.endpoints import badge, with_endpoints
from pgassay.findings.answer.limits import limits
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import (
    interval_text,
    more_blocks,
    outlook,
    quantity,
    slow_range,
    texts_of,
)
from pgassay.language import Message, decimals, ntr, tr
from pgassay.quantities import margin_percent, signed_percent, spaced

_TEXTS = texts_of(__name__)


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Every verdict, every level without one, or the figures of a single arm."""
    found = [
        Finding(
            FindingKind.VERDICT,
            badge(verdict, analysis),
            " ".join((claim(verdict, analysis), *limits(verdict, analysis))),
            verdict,
        )
        for verdict in analysis.answer.verdicts()
    ]
    found += [
        Finding(FindingKind.VERDICT, Verdict.UNDECIDED.value, text) for text in unanswered(analysis)
    ]
    return found if analysis.answer.verdicts() else [*found, *_single_arm(analysis)]


def claim(verdict: Comparison, analysis: Analysis) -> str:
    """The answer with the endpoints beside it, without what limits it."""
    sentence = with_endpoints(verdict_sentence(verdict, analysis), verdict, analysis)
    return sentence + early_end(verdict)


def verdict_sentence(comparison: Comparison, analysis: Analysis) -> str:
    """One sentence that answers the question."""
    metric = METRICS[comparison.metric]
    family, form = _template(comparison, metric)
    effect = comparison.effect_pct or 0.0
    sentence: str = _TEXTS[family][form].format(
        subject=f"{comparison.factor} = {comparison.level}",
        baseline=comparison.baseline,
        metric=metric.title.lower(),
        of="" if metric.name == "tps" else tr(" in {metric}", metric=metric.title.lower()),
        size=_size(effect),
        signed=signed_percent(effect),
        interval=interval_text(
            comparison, analysis.answer.smallest_effect, unsigned=family in ("faster", "slower")
        ),
        margin=margin_percent(analysis.answer.smallest_effect),
        more=more_blocks(comparison.blocks_to_decide),
        idle=_idle(comparison, analysis),
        slow=slow_range(comparison, analysis.answer.smallest_effect),
    )
    if comparison.aliases and comparison.withdrawn is None:
        sentence += tr(
            " This fractional design cannot tell the effect of {factor} from the interaction"
            " {list}.",
            factor=comparison.factor,
            list=tr(" or ").join(alias.lstrip("\u2212") for alias in comparison.aliases),
        )
    return (
        sentence
        if comparison.step is None
        else tr("At {load}: {sentence}", load=comparison.load, sentence=sentence)
    )


def early_end(comparison: Comparison) -> str:
    """A sentence of the effect adjusted for an early end, where that differs visibly."""
    adjusted, effect = comparison.effect_adjusted_pct, comparison.effect_pct
    if comparison.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return ""
    if adjusted is None or effect is None or _size(adjusted) == _size(effect):
        return ""
    return " " + str(_TEXTS["early"]["any"]).format(adjusted=_size(adjusted))


def _size(effect: float) -> str:
    return f"{decimals(abs(effect), '.1f')} %"


def unanswered(analysis: Analysis) -> list[str]:
    """A sentence for each level without a figure, because an arm committed nothing."""
    known = {(c.factor, c.level) for c in analysis.answer.verdicts() if c.step is None}
    idle = [one for one in analysis.answer.standstills if one.step is None]
    levels = dict.fromkeys(level for one in idle for level in one.takes if level not in known)
    never: str = _TEXTS["withdrawn"]["never"]
    return [
        never.format(
            subject=f"{factor} = {level}",
            idle=tr(" and ").join(
                str(describe_idle(one, "")) for one in idle if (factor, level) in one.takes
            ),
        )
        for factor, level in levels
    ]


def _template(comparison: Comparison, metric: Metric) -> tuple[str, str]:
    form = "tps" if metric.name == "tps" else "latency"
    match comparison.verdict:
        case Verdict.BETTER:
            return "faster", form
        case Verdict.WORSE:
            return "slower", form
        case Verdict.UNDECIDED if comparison.withdrawn is not None:
            return "withdrawn", comparison.withdrawn.value
        case Verdict.UNDECIDED:
            return "undecided", outlook(comparison)
        case other:
            return other.value, "any"


def _idle(comparison: Comparison, analysis: Analysis) -> str:
    """The trials that committed nothing and therefore count for nothing here."""
    return tr(" and ").join(
        str(describe_idle(one, comparison.step_unit))
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
            Message("measured"),
            _measured(arm, metric, tail if tail.name in arm.means else None, alone=len(arms) == 1),
        )
        for arm in arms
    ]


def _measured(arm: ArmSummary, metric: Metric, tail: Metric | None, *, alone: bool) -> str:
    """Such as `Throughput 742 tps (95 % CI 738 to 746), 99th percentile … 4.2 ms; 6 trials.`"""
    values = f"{metric.title} {_mean_of(metric, arm)}"
    if tail not in (metric, None):
        values = tr(
            "{first}, {second}", first=values, second=f"{tail.title.lower()} {_mean_of(tail, arm)}"
        )
    text = ntr(
        "{values}; mean of {n} trial.", "{values}; mean of {n} trials.", arm.trials, values=values
    )
    return text if alone else tr("{arm}: {text}", arm=arm.label, text=text)


def _mean_of(metric: Metric, arm: ArmSummary) -> str:
    ends = arm.intervals.get(metric.name)
    if ends is None:
        return quantity(arm.means[metric.name], metric)
    low, high = (spaced(end, metric.digits) for end in ends)
    value = quantity(arm.means[metric.name], metric)
    return tr("{value} (95 % CI {low} to {high})", value=value, low=low, high=high)
