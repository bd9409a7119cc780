"""Which series rise and fall together with throughput or latency inside trials.

Enters: an Analysis. Leaves: findings. Never: calls an association a cause.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import Association
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import texts_of
from pgassay.notes import Note, Term

_RULE = "findings/behaviour/associations"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """One sentence for each of the strongest associations.

    What moves after throughput or latency explains neither; the table has it.
    """
    if analysis.behaviour.associations is None:
        return []
    leading = [one for one in analysis.behaviour.associations.found if one.lag_s >= 0]
    title, most = Note(f"{_RULE}/title"), texts_of(__name__)["most"]
    return [
        Finding(FindingKind.OBSERVATION, title, _claim(one), rule="associations")
        for one in leading[:most]
    ]


def _claim(association: Association) -> Note:
    low, high = association.ci95
    leads = association.lag_s > 0
    return Note.of(
        f"{_RULE}/{'before' if leads else 'with'}",
        series=Term(association.series),
        moves=Term("rises"),
        goal=Term(METRICS[association.with_].title),
        answers=Term("rises") if association.correlation > 0 else Term("falls"),
        r=association.correlation,
        low=low,
        high=high,
        trials=association.trials,
        lead=association.lag_s,
    )
