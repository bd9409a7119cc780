"""Tables with a column for each arm; the words for events in the server's log.

Enters: the context, rows of texts, kinds of events. Leaves: tables; events in listed order.
Never: computes an estimate, or shows an arm whose log was not read as quiet.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.tables.cells import ABSENT
from pgassay.report.tables.table import Cell, Column, Table, table


def arm_columns(context: ReportContext) -> tuple[Column, ...]:
    """One column for each arm."""
    styles = arm_styles(context.plan.arms)
    arms = (styles[arm.id] for arm in context.analysis.arms)
    return tuple(Column(arm.short, full_title=arm.label) for arm in arms)


def arm_table(
    context: ReportContext, title: str, rows: Sequence[tuple[str | Cell, Sequence[str]]]
) -> Table:
    """Rows of (what, its value in each arm)."""
    columns = arm_columns(context)
    return table([Column(title, "heading"), *columns], [(name, *values) for name, values in rows])


def log_event_table(context: ReportContext) -> Table:
    """How often each kind of event occurred in a trial of each arm, on average."""
    read = {
        arm.id: [t.logged for t in context.series if t.arm == arm.id and t.logged is not None]
        for arm in context.analysis.arms
    }
    kinds = {kind for trials in read.values() for trial in trials for kind in trial}
    rows = [
        (title, [_mean([trial.get(kind, 0) for trial in trials]) for trials in read.values()])
        for kind, title in event_words(kinds)
    ]
    return arm_table(context, "Mean per trial", rows)


def event_words(kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(kind, its words) of those that are listed, in the order of the list."""
    ranked = sorted(kinds)
    for listed, words in _listed().items():
        for kind in ranked:
            if kind == listed or (listed.endswith(" ") and kind.startswith(listed)):
                yield kind, words.format(kind.removeprefix(listed))


def _mean(counts: list[int]) -> str:
    if not counts:
        return ABSENT
    mean = sum(counts) / len(counts)
    return f"{mean:.1f}".removesuffix(".0") if mean < 100 else f"{mean:.0f}"


@cache
def _listed() -> dict[str, str]:
    """Kind of event → what it is called; {} stands for its cause or SQLSTATE."""
    text = (files(__package__) / "log_events.toml").read_text("utf-8")
    words: dict[str, str] = tomllib.loads(text)
    return words
