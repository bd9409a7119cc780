"""Which series rise and fall together with throughput or latency inside trials.

Enters: an Analysis. Leaves: findings. Never: calls an association a cause.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import Association
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import correlation, texts_of
from pgassay.language import decimals, tr

_TEXTS = texts_of(__name__)


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """One sentence for each of the strongest associations.

    What moves after throughput or latency explains neither; the table has it.
    """
    if analysis.behaviour.associations is None:
        return []
    leading = [one for one in analysis.behaviour.associations.found if one.lag_s >= 0]
    return [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], _sentence(one), rule="associations")
        for one in leading[: _TEXTS["most"]]
    ]


def _sentence(association: Association) -> str:
    form = "first" if association.lag_s > 0 else "together"
    goal = METRICS[association.with_].title.lower()
    sentence = str(_TEXTS[form]).format(
        series=association.series,
        moves=tr("rises"),
        lead=decimals(abs(association.lag_s), ".0f"),
        goal=goal,
        answers=tr("rises") if association.correlation > 0 else tr("falls"),
    )
    low, high = association.ci95
    return sentence + str(_TEXTS["strength"]).format(
        r=correlation(association.correlation),
        low=correlation(low),
        high=correlation(high),
        trials=association.trials,
    )
