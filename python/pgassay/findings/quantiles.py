"""At which quantiles latency differs.

Enters: an Analysis. Leaves: a finding for each level whose band excludes zero somewhere.
Never: reports a difference that is surely smaller than the smallest effect.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import QuantileShift
from pgassay.analysis.model import Analysis
from pgassay.findings.bands import clear_ranges
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import texts_of

_TEXTS = texts_of("quantiles")


def find(analysis: Analysis) -> list[Finding]:
    """One sentence for each level."""
    margin = 100 * analysis.smallest_effect
    texts = (_sentence(shift, margin) for shift in analysis.quantile_shifts)
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], text, rule="quantiles")
        for text in texts
        if text is not None
    ]


def _sentence(shift: QuantileShift, margin: float) -> str | None:
    """Over whole trials; curves by step are in analysis.json."""
    if shift.step is not None:
        return None

    def where(first: int, last: int) -> str:
        names = [f"{100 * shift.shares[at]:.0f}th" for at in (first, last)]
        form = "quantile" if first == last else "quantiles"
        return str(_TEXTS[form]).format(first=names[0], last=names[1])

    ranges, everywhere = clear_ranges(shift.shift_pct, shift.band95_pct, margin, where)
    if not ranges:
        return None
    return str(_TEXTS["clear"]).format(
        what=_TEXTS[shift.of],
        subject=f"{shift.factor} = {shift.level}",
        baseline=shift.baseline,
        ranges=ranges,
        rest=_TEXTS["all" if everywhere else "rest"],
        blocks=shift.blocks,
    )
