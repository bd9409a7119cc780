"""At which loads the levels differ, and at which load the better level changes.

Enters: an Analysis. Leaves: findings. Never: reports a difference whose band contains zero.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import Crossing, EffectByLoad
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.bands import clear_ranges
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import plain_number, texts_of

_TEXTS = texts_of("by_load")


def find(analysis: Analysis) -> list[Finding]:
    """One sentence for each metric and level, and one for each crossing."""
    margin = 100 * analysis.smallest_effect
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], text, rule="by_load")
        for effect in analysis.by_load
        for text in _sentences(effect, margin)
    ]


def _sentences(effect: EffectByLoad, margin: float) -> list[str]:
    subject = f"{effect.factor} = {effect.level}"

    def where(first: int, last: int) -> str:
        form = "load" if first == last else "loads"
        one = first == last and effect.loads[first] == 1
        return str(_TEXTS[form]).format(
            first=f"{effect.loads[first]:g}",
            last=f"{effect.loads[last]:g}",
            unit=effect.step_unit.removesuffix("s") if one else effect.step_unit,
        )

    ranges, everywhere = clear_ranges(effect.effect_pct, effect.band95_pct, margin, where)
    if not ranges:
        return []
    clear = str(_TEXTS["clear"]).format(
        metric=METRICS[effect.metric].title,
        subject=subject,
        baseline=effect.baseline,
        ranges=ranges,
        rest=_TEXTS["all" if everywhere else "rest"],
        blocks=effect.blocks,
    )
    return [clear, *(_crossing(effect, crossing) for crossing in effect.crossings)]


def _crossing(effect: EffectByLoad, crossing: Crossing) -> str:
    return str(_TEXTS["crossing"]).format(
        subject=f"{effect.factor} = {effect.level}",
        baseline=effect.baseline,
        at=plain_number(crossing.at),
        low=plain_number(crossing.low),
        high=plain_number(crossing.high),
        unit=effect.step_unit,
        below=crossing.below,
        above="worse" if crossing.below == "better" else "better",
    )
