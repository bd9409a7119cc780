"""The key of a run's arms, and sentences that the captions of several charts have.

Enters: the context, figures. Leaves: a key, sentences. Never: draws.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.language import tr
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Key
from pgassay.report.svg.model import Figure


def arm_key(context: ReportContext) -> Key:
    """Return the key of all arms of a run: their colours, names and factors."""
    plan = context.plan
    return Key(tuple(arm_styles(plan.arms).values()), [one.name for one in plan.factors])


def cut(figure: Figure) -> Iterator[str]:
    """Returns the sentence on what a drawing cannot show whole."""
    if figure.runs_out:
        yield tr("A band or bar without an end in the chart continues beyond its edge.")
    if figure.has_hollow:
        yield tr("A hollow symbol has no interval yet.")


def quantile_curve(of_whom: str, *, has_range: bool) -> str:
    """What a line of latency by quantile is; `of_whom` is a sentence without its end."""
    band = tr("; the band reaches from the lowest of its trials to the highest")
    end = tr(". A line ends where fewer than ten transactions were slower.")
    return f"{of_whom}{band if has_range else ''}{end}"


def happened(*, has_rows: bool, log_was_read: bool) -> Iterator[str]:
    """Yield what the rows of events beneath a chart over time mean."""
    if has_rows:
        yield (
            tr(
                "Below: when a checkpoint was under way, darkest while it waited for the disk "
                "(fsync), when autovacuum ran, and what the server’s log reports besides."
            )
            if log_was_read
            else tr(
                "Below: when a checkpoint was under way, darkest while it waited for the disk "
                "(fsync)."
            )
        )
    elif log_was_read:
        yield tr("No checkpoint and no autovacuum ran, and the server’s log reports no error.")
    if not log_was_read:
        yield tr("The server’s log was not read, so autovacuum and errors are not shown.")
