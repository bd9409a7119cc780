"""At which quantiles and loads the levels differ, where the better one changes, where a knee is.

Enters: an Analysis. Leaves: findings of the rules `quantiles`, `by_load` and `load_curve`.
Never: computes a band or fits a curve, or reports a difference whose band contains zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pgassay.analysis.curves.model import Crossing, EffectByLoad, LoadCurve, QuantileShift
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import Interval
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import bounds, quantity, texts_of
from pgassay.language import decimals, listed, tr
from pgassay.quantities import plain_number, signed_percent

_TEXTS = texts_of(__name__)


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """A sentence per level and curve that has something clear, one per crossing and per knee."""
    margin = 100 * analysis.answer.smallest_effect
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    texts = {
        "quantiles": [
            t for shift in analysis.behaviour.quantile_shifts for t in _shift(shift, margin)
        ],
        "by_load": [t for effect in analysis.behaviour.by_load for t in _effect(effect, margin)],
        "load_curve": [t for curve in analysis.behaviour.load_curves for t in _knee(curve, labels)],
    }
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS[rule]["title"], text, rule=rule)
        for rule, own in texts.items()
        for text in own
    ]


def _shift(shift: QuantileShift, margin: float) -> Iterator[str]:
    """Over whole trials; curves by step are in analysis.json."""
    texts = _TEXTS["quantiles"]

    def where(first: int, last: int) -> str:
        names = [
            tr("{value}th", value=decimals(100 * shift.shares[at], ".0f")) for at in (first, last)
        ]
        form = "quantile" if first == last else "quantiles"
        return str(texts[form]).format(first=names[0], last=names[1])

    ranges, rest = clear_ranges(shift.shift_pct, shift.band95_pct, margin, where)
    if ranges and shift.step is None:
        yield str(texts["clear"]).format(
            what=texts[shift.of],
            subject=f"{shift.factor} = {shift.level}",
            baseline=shift.baseline,
            ranges=ranges,
            rest=texts[rest],
            blocks=shift.blocks,
        )


def _effect(effect: EffectByLoad, margin: float) -> Iterator[str]:
    texts = _TEXTS["by_load"]
    subject = f"{effect.factor} = {effect.level}"

    def where(first: int, last: int) -> str:
        form = "load" if first == last else "loads"
        one = first == last and effect.loads[first] == 1
        return str(texts[form]).format(
            first=decimals(effect.loads[first], "g"),
            last=decimals(effect.loads[last], "g"),
            unit=tr("client", context="at 1")
            if one and effect.step_unit == "clients"
            else effect.step_unit,
        )

    ranges, rest = clear_ranges(effect.effect_pct, effect.band95_pct, margin, where)
    if ranges:
        yield str(texts["clear"]).format(
            metric=METRICS[effect.metric].title,
            subject=subject,
            baseline=effect.baseline,
            ranges=ranges,
            rest=texts[rest],
            blocks=effect.blocks,
        )
        yield from (_crossing(effect, crossing) for crossing in effect.crossings)


def _crossing(effect: EffectByLoad, crossing: Crossing) -> str:
    return str(_TEXTS["by_load"]["crossing"]).format(
        subject=f"{effect.factor} = {effect.level}",
        baseline=effect.baseline,
        at=plain_number(crossing.at),
        low=plain_number(crossing.low),
        high=plain_number(crossing.high),
        unit=effect.step_unit,
        below=tr(crossing.below),
        above=tr("worse") if crossing.below == "better" else tr("better"),
    )


def _knee(curve: LoadCurve, labels: dict[str, str]) -> Iterator[str]:
    """The number of clients at which throughput is greatest, where the curve shows it."""
    fit = curve.fit
    if fit is not None and fit.knee_clients is not None and fit.knee_tps is not None:
        low, high = bounds(fit.knee_clients)
        yield str(_TEXTS["load_curve"]["knee"]).format(
            arm=labels[curve.arm],
            at=plain_number(fit.knee_clients.value),
            low=low,
            high=high,
            tps=quantity(fit.knee_tps.value, METRICS["tps"]),
        )


def clear_ranges(
    effects: Sequence[float],
    bands: Sequence[Interval | None],
    margin: float,
    where: Callable[[int, int], str],
) -> tuple[str, str]:
    """Neighbouring points that clearly differ the same way, in words; and whether that is all
    points (`all`), or there are others (`rest`).

    A difference that is surely within ± the margin is left out, however clear it is.
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
            sizes = {signed_percent(least), signed_percent(most)}
            way = tr("higher") if signs[begin] > 0 else tr("lower")
            if len(sizes) > 1:
                size = tr(
                    "{least} to {most}", least=signed_percent(least), most=signed_percent(most)
                )
            else:
                size = signed_percent(least)
            parts.append(f"{way} {where(begin, at - 1)} ({size})")
        begin = at
    return listed(parts), "all" if len(set(signs)) == 1 else "rest"
