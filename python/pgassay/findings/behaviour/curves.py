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
from pgassay.findings.wording import ends, measured
from pgassay.notes import Note, Term
from pgassay.quantities import LoadUnit

_RULE = "findings/behaviour/curves"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """A sentence per level and curve that has something clear, one per crossing and per knee."""
    margin = 100 * analysis.answer.smallest_effect
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    behaviour = analysis.behaviour
    claims = {
        "quantiles": [one for shift in behaviour.quantile_shifts for one in _shift(shift, margin)],
        "by_load": [one for effect in behaviour.by_load for one in _effect(effect, margin)],
        "load_curve": [one for curve in behaviour.load_curves for one in _knee(curve, labels)],
    }
    return [
        Finding(FindingKind.OBSERVATION, Note(f"{_RULE}/{rule}.title"), claim, rule=rule)
        for rule, own in claims.items()
        for claim in own
    ]


def _shift(shift: QuantileShift, margin: float) -> Iterator[Note]:
    """Over whole trials; curves by step are in analysis.json."""

    def where(first: int, last: int) -> Note:
        form = "quantile" if first == last else "quantiles"
        low, high = (100 * shift.shares[at] for at in (first, last))
        return Note.of(f"{_RULE}/quantiles.{form}", first=low, last=high)

    ranges, rest = clear_ranges(shift.shift_pct, shift.band95_pct, margin, where)
    if ranges and shift.step is None:
        yield Note.of(
            f"{_RULE}/quantiles.clear",
            what=Note(f"{_RULE}/quantiles.{shift.of}"),
            subject=f"{shift.factor} = {shift.level}",
            baseline=shift.baseline,
            ranges=ranges,
            rest=Note(f"{_RULE}/quantiles.{rest}"),
            blocks=shift.blocks,
        )


def _effect(effect: EffectByLoad, margin: float) -> Iterator[Note]:
    unit = Term(effect.step_unit)

    def where(first: int, last: int) -> Note:
        low, high = effect.loads[first], effect.loads[last]
        form = "loads"
        if first == last:
            form = "one" if low == 1 and effect.step_unit == LoadUnit.CLIENTS else "load"
        return Note.of(f"{_RULE}/by_load.{form}", first=low, last=high, unit=unit)

    ranges, rest = clear_ranges(effect.effect_pct, effect.band95_pct, margin, where)
    if ranges:
        yield Note.of(
            f"{_RULE}/by_load.clear",
            metric=Term(METRICS[effect.metric].title),
            subject=f"{effect.factor} = {effect.level}",
            baseline=effect.baseline,
            ranges=ranges,
            rest=Note(f"{_RULE}/by_load.{rest}"),
            blocks=effect.blocks,
        )
        yield from (_crossing(effect, crossing) for crossing in effect.crossings)


def _crossing(effect: EffectByLoad, crossing: Crossing) -> Note:
    return Note.of(
        f"{_RULE}/by_load.crossing",
        subject=f"{effect.factor} = {effect.level}",
        baseline=effect.baseline,
        at=crossing.at,
        low=crossing.low,
        high=crossing.high,
        unit=Term(effect.step_unit),
        below=Term(crossing.below),
        above=Term("worse") if crossing.below == "better" else Term("better"),
    )


def _knee(curve: LoadCurve, labels: dict[str, str]) -> Iterator[Note]:
    """The number of clients at which throughput is greatest, where the curve shows it."""
    fit = curve.fit
    if fit is not None and fit.knee_clients is not None and fit.knee_tps is not None:
        low, high = ends(fit.knee_clients)
        yield Note.of(
            f"{_RULE}/load_curve.knee",
            arm=labels[curve.arm],
            at=fit.knee_clients.value,
            low=low,
            high=high,
            tps=measured(fit.knee_tps.value, METRICS["tps"]),
        )


def clear_ranges(
    effects: Sequence[float],
    bands: Sequence[Interval | None],
    margin: float,
    where: Callable[[int, int], Note],
) -> tuple[tuple[Note, ...], str]:
    """Neighbouring points that clearly differ the same way; and whether that is all points
    (`all`), or there are others (`rest`).

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
            way = "higher" if signs[begin] > 0 else "lower"
            form = way if round(least, 1) == round(most, 1) else f"{way}_by_some"
            place = where(begin, at - 1)
            parts.append(Note.of(f"{_RULE}/ranges.{form}", where=place, least=least, most=most))
        begin = at
    return tuple(parts), "all" if len(set(signs)) == 1 else "rest"
