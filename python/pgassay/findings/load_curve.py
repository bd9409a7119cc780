"""The number of clients at which throughput is greatest.

Enters: an Analysis. Leaves: a finding for each arm whose curve has a knee. Never: fits a curve.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import LoadCurve
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import bounds, plain_number, quantity, texts_of

_TEXTS = texts_of("load_curve")


def find(analysis: Analysis) -> list[Finding]:
    """One sentence for each arm."""
    labels = {arm.id: arm.label for arm in analysis.arms}
    texts = (_sentence(curve, labels) for curve in analysis.load_curves)
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], text, rule="load_curve")
        for text in texts
        if text is not None
    ]


def _sentence(curve: LoadCurve, labels: dict[str, str]) -> str | None:
    fit = curve.fit
    if fit is None or fit.knee_clients is None or fit.knee_tps is None:
        return None
    low, high = bounds(fit.knee_clients)
    return str(_TEXTS["knee"]).format(
        arm=labels[curve.arm],
        at=plain_number(fit.knee_clients.value),
        low=low,
        high=high,
        tps=quantity(fit.knee_tps.value, METRICS["tps"]),
    )
