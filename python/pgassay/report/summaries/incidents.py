"""The top of a report of incidents.

Enters: the context. Leaves: (name, value) pairs. Never: judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pgassay.findings.incidents.signs import kind_of
from pgassay.language import clauses, tr
from pgassay.quantities import clock
from pgassay.report.context import IncidentsContext
from pgassay.report.tables.cells import moment


def facts(context: IncidentsContext) -> tuple[tuple[str, str], ...]:
    """Returns (name, value): what was looked at, and how many incidents of each kind it has."""
    return tuple(_facts(context))


def _facts(context: IncidentsContext) -> Iterator[tuple[str, str]]:
    found = context.incidents
    span = clock((found.end_ns - found.start_ns) / 1e9)
    began = moment(found.start_ns)
    yield tr("Observed"), tr("{span}, from {began} (UTC)", span=span, began=began)
    kinds = Counter(str(kind_of(one)) for one in found.found)
    counted = clauses(f"{kind} {number}×" for kind, number in kinds.items())
    yield tr("Incidents"), counted or tr("none")
