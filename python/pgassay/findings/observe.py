"""What a run shows beside its verdicts, in sentences.

Enters: an Analysis. Leaves: observations. Never: decides what is sure: a band or an interval that
contains zero is not told as a difference, and an association never as a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pgassay.analysis.course_model import Association, CheckpointContrast, CheckpointEffect
from pgassay.analysis.curves_model import (
    Crossing,
    EffectByLoad,
    Estimate,
    Interval,
    LoadCurve,
    QuantileShift,
)
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Analysis
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import TEXTS, count, plain_number, quantity, signed_percent

_MOST_ASSOCIATIONS = 5


def observe(analysis: Analysis) -> list[Finding]:
    """All of them, in the order of the report."""
    labels = {arm.id: arm.label for arm in analysis.arms}
    margin = 100 * analysis.smallest_effect
    texts = [
        *(("quantiles", t) for s in analysis.quantile_shifts if (t := _quantiles(s, margin))),
        *(("by_load", t) for effect in analysis.by_load for t in _by_load(effect, margin)),
        *(("load_curve", t) for c in analysis.load_curves if (t := _knee(c, labels))),
        *(("checkpoints", t) for e in analysis.checkpoint_effects if (t := _dip(e, labels))),
        *(("checkpoints", t) for c in analysis.checkpoint_contrasts if (t := _costlier(c))),
    ]
    if analysis.associations is not None:
        told = analysis.associations.found[:_MOST_ASSOCIATIONS]
        texts += [("association", _together(association)) for association in told]
    titles = TEXTS["titles"]
    return [Finding(FindingKind.OBSERVATION, titles[kind], text) for kind, text in texts]


def _quantiles(shift: QuantileShift, margin: float) -> str | None:
    """Over whole trials; those by step are in the report's chart."""
    if shift.step is not None:
        return None

    def where(first: int, last: int) -> str:
        names = [_ordinal(round(100 * shift.shares[at])) for at in (first, last)]
        form = "quantile" if first == last else "quantiles"
        return str(TEXTS["ranges"][form]).format(first=names[0], last=names[1])

    ranges, everywhere = _ranges(shift.shift_pct, shift.band95_pct, margin, where)
    if not ranges:
        return None
    return str(TEXTS["quantiles"]["clear"]).format(
        what=TEXTS["quantiles"][shift.of],
        subject=f"{shift.factor} = {shift.level}",
        baseline=shift.baseline,
        ranges=ranges,
        rest=TEXTS["quantiles"]["all" if everywhere else "rest"],
        blocks=shift.blocks,
    )


def _by_load(effect: EffectByLoad, margin: float) -> list[str]:
    subject = f"{effect.factor} = {effect.level}"

    def where(first: int, last: int) -> str:
        form = "load" if first == last else "loads"
        one = first == last and effect.loads[first] == 1
        return str(TEXTS["ranges"][form]).format(
            first=f"{effect.loads[first]:g}",
            last=f"{effect.loads[last]:g}",
            unit=effect.step_unit.removesuffix("s") if one else effect.step_unit,
        )

    ranges, everywhere = _ranges(effect.effect_pct, effect.band95_pct, margin, where)
    if not ranges:
        return []
    clear = str(TEXTS["by_load"]["clear"]).format(
        metric=METRICS[effect.metric].title,
        subject=subject,
        baseline=effect.baseline,
        ranges=ranges,
        rest=TEXTS["by_load"]["all" if everywhere else "rest"],
        blocks=effect.blocks,
    )
    return [clear, *(_crossing(effect, crossing) for crossing in effect.crossings)]


def _crossing(effect: EffectByLoad, crossing: Crossing) -> str:
    return str(TEXTS["by_load"]["crossing"]).format(
        subject=f"{effect.factor} = {effect.level}",
        baseline=effect.baseline,
        at=plain_number(crossing.at),
        low=plain_number(crossing.low),
        high=plain_number(crossing.high),
        unit=effect.step_unit,
        below=crossing.below,
        above="worse" if crossing.below == "better" else "better",
    )


def _ranges(
    effects: Sequence[float],
    bands: Sequence[Interval | None],
    margin: float,
    where: Callable[[int, int], str],
) -> tuple[str, bool]:
    """Runs of neighbours that are clear the same way, in words; whether all of them are in one.

    What is surely within ± the smallest effect is not told, however clear it is.
    """
    signs = [
        0 if b is None or -margin < b[0] <= b[1] < margin else (b[0] > 0.0) - (b[1] < 0.0)
        for b in bands
    ]
    parts = []
    begin = 0
    for at in range(1, len(signs) + 1):
        if at < len(signs) and signs[at] == signs[begin]:
            continue
        if signs[begin]:
            least, most = min(effects[begin:at], key=abs), max(effects[begin:at], key=abs)
            sizes = dict.fromkeys((signed_percent(least), signed_percent(most)))
            parts.append(
                str(TEXTS["ranges"]["higher" if signs[begin] > 0 else "lower"]).format(
                    where=where(begin, at - 1), sizes=" to ".join(sizes)
                )
            )
        begin = at
    return ", ".join(parts), len(set(signs)) == 1 and bool(parts)


def _knee(curve: LoadCurve, labels: dict[str, str]) -> str | None:
    fit = curve.fit
    if fit is None or fit.knee_clients is None or fit.knee_tps is None:
        return None
    low, high = _bounds(fit.knee_clients)
    return str(TEXTS["load_curve"]["knee"]).format(
        arm=labels[curve.arm],
        at=plain_number(fit.knee_clients.value),
        low=low,
        high=high,
        tps=quantity(fit.knee_tps.value, METRICS["tps"]),
    )


def _dip(effect: CheckpointEffect, labels: dict[str, str]) -> str | None:
    depth, lost = effect.depth_pct, effect.lost_transactions
    if depth is None or lost is None or lost.low is None or lost.high is None:
        return None
    texts = TEXTS["checkpoints"]
    window = f"{effect.after_s:.0f}"
    clear = lost.low > 0.0 or lost.high < 0.0
    costs = str(texts["lost" if clear else "lost_unclear"]).format(
        count=count(lost.value),
        low=count(lost.low),
        high=count(lost.high),
        window=window,
        trials=effect.trials,
        checkpoints=effect.checkpoints,
    )
    if effect.recovery_s is None or depth.low is None or depth.high is None:
        return str(texts["none"]).format(arm=labels[effect.arm], lost=costs)
    back = effect.recovery_s
    low, high = _bounds(back)
    surely = back.low is not None and back.high is not None
    return str(texts["dip"]).format(
        arm=labels[effect.arm],
        depth=plain_number(depth.value),
        depth_low=plain_number(depth.low),
        depth_high=plain_number(depth.high),
        recovery=str(texts["recovery" if surely else "recovery_open"]).format(
            at=plain_number(back.value), low=low, high=high, window=window
        ),
        lost=costs,
    )


def _costlier(contrast: CheckpointContrast) -> str | None:
    lost = contrast.lost_transactions
    if lost.low is None or lost.high is None or lost.low <= 0.0 <= lost.high:
        return None
    more = lost.value > 0.0
    low, high = sorted((abs(lost.low), abs(lost.high)))
    return str(TEXTS["checkpoints"]["more"]).format(
        subject=f"{contrast.factor} = {contrast.level}",
        baseline=contrast.baseline,
        count=count(abs(lost.value)),
        direction="more" if more else "fewer",
        low=count(low),
        high=count(high),
        blocks=contrast.blocks,
    )


def _together(association: Association) -> str:
    texts: dict[str, Any] = TEXTS["association"]
    form = "together" if association.lag_s == 0 else "first" if association.lag_s > 0 else "after"
    goal = METRICS[association.with_].title.lower()
    sentence = str(texts[form]).format(
        series=association.series,
        moves="rises",
        lead=f"{abs(association.lag_s):.0f}",
        goal=goal,
        answers="rises" if association.correlation > 0 else "falls",
    )
    low, high = association.ci95
    return sentence + str(texts["strength"]).format(
        r=_two(association.correlation), low=_two(low), high=_two(high), trials=association.trials
    )


def _bounds(estimate: Estimate) -> tuple[str, str]:
    low, high = (
        "?" if bound is None else plain_number(bound) for bound in (estimate.low, estimate.high)
    )
    return low, high


def _two(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def _ordinal(number: int) -> str:
    return f"{number}th"
