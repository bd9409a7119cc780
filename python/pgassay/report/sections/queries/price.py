"""What a level costs beside what it does to queries: writes, room, and time to make it.

Enters: the context, the summary of a level. Leaves: rows of facts; none for what is not known.
Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.model import Comparison
from pgassay.analysis.queries.model import SchemaPrice, SetSummary
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import verdict_words
from pgassay.findings.wording import quantity
from pgassay.language import clauses, tr
from pgassay.quantities import significant, size
from pgassay.report.context import ReportContext
from pgassay.report.tables.cells import with_interval


def price_rows(context: ReportContext, one: SetSummary) -> Iterator[tuple[str, str]]:
    """Yields what a level does to the writes, and what its SQL made."""
    analysis, level = context.analysis, (one.factor, one.level)
    for found in analysis.answer.comparisons:
        if found.metric == "writes_tps" and (found.factor, found.level) == level:
            yield tr("Writes"), _writes(found)
    for price in analysis.explanation.schema_prices:
        if (price.factor, price.level) == level:
            yield from _of_schema(price)


def _writes(one: Comparison) -> str:
    metric = METRICS[one.metric]
    means = " → ".join(quantity(mean, metric) for mean in (one.baseline_mean, one.level_mean))
    return clauses((means, with_interval(one.effect_pct, one.ci95_pct), str(verdict_words(one))))


def _of_schema(price: SchemaPrice) -> Iterator[tuple[str, str]]:
    before, after = price.baseline_bytes, price.bytes
    if before is not None and after is not None:
        more = f"{'+' if after > before else ''}{size(after - before)}"
        words = [f"{size(before)} → {size(after)}", more]
        if price.made_in_s is not None:
            words.append(tr("made in {seconds} s", seconds=significant(price.made_in_s)))
        yield tr("Size of the database"), clauses(words)
