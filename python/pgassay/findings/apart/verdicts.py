"""The verdicts on runs made apart in words.

Enters: a comparison of runs. Leaves: badges and sentences. Never: decides a verdict.
"""

from __future__ import annotations

from pgassay.analysis.apart.model import ApartAnalysis, RunDifference, RunSpread
from pgassay.analysis.gates.judge import why_withdrawn
from pgassay.analysis.model import Comparison
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import texts_of
from pgassay.language import decimals, tr
from pgassay.quantities import margin_percent, short_share, signed_bound, signed_percent

_TEXTS = texts_of(__name__)


def badge_of(found: RunDifference, *, forced: bool) -> str:
    """Such as `worse, not randomised`; of a comparison that was forced `worse, not comparable`."""
    badge = _TEXTS["forced_badge" if forced else "badge"]
    return str(badge).format(verdict=tr(found.comparison.verdict.value))


def sentence_of(found: RunDifference, analysis: ApartAnalysis) -> tuple[str, str]:
    """The claim, and its interval in brackets."""
    one, metric = found.comparison, METRICS[found.comparison.metric]
    names = {"metric": metric.title, "side": found.side, "baseline": one.baseline}
    arm = str(_TEXTS["with_arm"]).format(arm=found.arm) if found.arm else ""
    if one.withdrawn is not None:
        reason = why_withdrawn(one.withdrawn)
        return arm + str(_TEXTS["sentence"]["withdrawn"]).format(**names, reason=reason), ""
    claim = str(_TEXTS["sentence"][one.verdict.value]).format(
        **names,
        size=signed_percent(abs(one.effect_pct or 0.0)).removeprefix("+"),
        way=tr("higher") if one.difference > 0.0 else tr("lower"),
        change=signed_percent(one.effect_pct),
        margin=margin_percent(analysis.smallest_effect),
    )
    return arm + claim, f"({interval_words(found, analysis.smallest_effect)})"


def limit_of(found: RunDifference) -> str:
    """How often trials may collapse although the sides are alike; empty where they are not."""
    limit = found.collapses
    if limit is None:
        return ""
    return str(_TEXTS["collapses"]["seen" if limit.seen else "unseen"]).format(
        side=found.side, trials=limit.trials, seen=limit.seen, most=short_share(limit.most_pct)
    )


def interval_words(found: RunDifference, margin: float) -> str:
    """Such as `95 % CI −14.2 to +3.1 %, 8 and 8 trials in 2 runs`."""
    texts = _TEXTS["interval"]
    runs = tr("{number} runs", number=sum(found.runs))
    if found.sessions is not None:
        runs = tr("{runs} of {number} sessions", runs=runs, number=sum(found.sessions))
    counts = str(texts["trials"]).format(first=found.trials[0], second=found.trials[1], runs=runs)
    ends = found.comparison.ci95_pct
    if ends is None:
        return f"{texts['none']}, {counts}"
    low, high = (signed_bound(end, 100.0 * margin).removesuffix(" %") for end in ends)
    return f"{str(texts['some']).format(low=low, high=high)}, {counts}"


def spread_sentence(found: RunDifference) -> str:
    """Where the spread between runs is known from; empty where nothing varies."""
    if found.spread is None:
        return ""
    spread = found.spread
    sentence = _spread_words(found, spread)
    if found.sessions is None:
        return sentence
    return f"{_TEXTS['sessions']['unit']} {sentence}"


def _spread_words(found: RunDifference, spread: RunSpread) -> str:
    return str(_TEXTS["spread"][spread.source.value.replace(" ", "-")]).format(
        sd=spread_text(spread, found.comparison),
        degrees=decimals(spread.degrees, "g"),
    )


def spread_text(spread: RunSpread, of: Comparison) -> str:
    """The standard deviation as a share of the baseline; in its unit where that is zero."""
    metric = METRICS[of.metric]
    if metric.scale == "ratio":
        return f"{decimals(100.0 * spread.sd, '.3g')} %"
    mean = max(abs(of.baseline_mean), abs(of.level_mean))
    return (
        f"{decimals(100.0 * spread.sd / mean, '.3g')} %"
        if mean
        else f"{decimals(spread.sd, '.3g')} {metric.unit}"
    )


def limits() -> tuple[str, ...]:
    """What a comparison of runs made apart cannot show."""
    return tuple(_TEXTS["never"]["lines"])
