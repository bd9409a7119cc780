"""How many queries of a set got which verdict, and the one that changed most, as one note.

Enters: a set of queries, or an analysis with one. Leaves: notes. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.model import Analysis
from pgassay.analysis.queries.model import QueryEffect, QuerySet, SetSummary
from pgassay.notes import Note


def counts_of(found: QuerySet, one: SetSummary) -> Note:
    """Returns such as `better 5, worse 1, equivalent 14, undecided 2; worst: q7 +31 %`."""
    return Note.of(
        "findings/answer/query-counts",
        better=one.better,
        worse=one.worse,
        equivalent=one.equivalent,
        undecided=one.undecided,
        extreme=_extreme(found.of(one.factor, one.level)),
    )


def query_counts(verdict: Comparison, analysis: Analysis) -> Note | None:
    """Returns the same of the level that a verdict is on; None where the load is no such set."""
    if (found := analysis.queries) is None:
        return None
    level = verdict.factor, verdict.level
    own = (one for one in found.summaries if (one.factor, one.level) == level)
    return next((counts_of(found, one) for one in own), None)


def _extreme(effects: tuple[QueryEffect, ...]) -> Note | str:
    """One that fails now, else the one that got worse most, else the one that got better most."""
    if failing := next((one.query for one in effects if one.fails_only_here), None):
        return Note.of("findings/answer/failing-query", query=failing)
    known = [(one.change_pct, one) for one in effects if one.change_pct is not None]
    worse = [pair for pair in known if pair[1].verdict is Verdict.WORSE]
    if worse:
        change, one = max(worse, key=lambda pair: pair[0])
        return Note.of("findings/answer/worst-query", query=one.query, change=change)
    better = [pair for pair in known if pair[1].verdict is Verdict.BETTER]
    if better:
        change, one = min(better, key=lambda pair: pair[0])
        return Note.of("findings/answer/best-query", query=one.query, change=change)
    return ""
