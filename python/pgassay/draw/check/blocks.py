"""A check as blocks, for a terminal and for Markdown.

Enters: a `Checked`. Leaves: paragraphs and tables. Never: computes or judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pgassay.draw.check.model import Checked, CheckedPlan, CheckedStatement, Pair
from pgassay.language import Message, listed, tr
from pgassay.notes import Note
from pgassay.quantities import share, significant
from pgassay.report.document.blocks import Block, Heading, Paragraph
from pgassay.report.document.table import column, view
from pgassay.report.tables.cells import ABSENT

_LEAST_LOST = 0.0005
_MOST_CHARACTERS = 80
_WORDS = {
    "missing": Message("never called"),
    "calls": Message("calls"),
    "blocks": Message("blocks per call"),
    "plan": Message("plan"),
}


@dataclass(frozen=True)
class _Figure:
    """A row of the table of the whole server."""

    title: str
    pair: Pair
    write: Callable[[float], str] = significant


def summary_of(checked: Checked) -> Note:
    """Returns in one sentence whether the run is as its source."""
    matter = [one for one in checked.statements if one.matters]
    differ = sum(bool(one.differs) for one in matter)
    of_time = sum(one.time_share.source or 0.0 for one in matter) * (1.0 - checked.lost_share)
    values = {"statements": len(matter), "percent": 100 * of_time}
    if differ:
        return Note("draw/check-differs", {**values, "differ": differ})
    return Note("draw/check-calls" if checked.is_of_calls else "draw/check-true", values)


def blocks_of(checked: Checked) -> Iterator[Block]:
    """Yields the summary, the statements and the whole; in each cell first the source, then the
    run."""
    yield Paragraph(str(summary_of(checked)))
    if checked.lost_share >= _LEAST_LOST:
        yield Paragraph(str(Note("draw/check-lost", {"percent": 100 * checked.lost_share})))
    for note in checked.notes:
        yield Paragraph(str(note))
    yield Heading(tr("Statements: source → run, blocks, rows and WAL per call"))
    shown = [
        column("text", "Statement", _text, "heading"),
        column("scenarios", "Scenarios", lambda one: listed(list(one.scenarios)), "text"),
        column("calls_share", "Calls", lambda one: _both(one.calls_share, share)),
        column("time_share", "Time", lambda one: _both(one.time_share, share)),
        column("rows", "Rows", lambda one: _both(one.rows)),
        column("found", "Blocks found", lambda one: _both(one.found)),
        column("read", "Blocks read", lambda one: _both(one.read)),
        column("dirtied", "Blocks dirtied", lambda one: _both(one.dirtied)),
        column("wal_bytes", "WAL bytes", lambda one: _both(one.wal_bytes)),
        column("differs", "Differs by", _differs, "text"),
    ]
    if any(one.plan is not None for one in checked.statements):
        shown.insert(-1, column("plan", "Plan", lambda one: _plan(one.plan), "text"))
    yield view(shown, checked.statements)
    yield Heading(tr("The whole server"))
    figures = [
        _Figure(tr("Commits per second"), checked.commits),
        _Figure(tr("Blocks found in shared buffers"), checked.hit_ratio, share),
        *(
            _Figure(tr("Active sessions: {wait}", wait=wait), pair)
            for wait, pair in checked.sessions.items()
        ),
    ]
    yield view(
        (
            column("title", "Figure", lambda one: one.title, "heading"),
            column("pair.source", "Source", lambda one: _one(one.pair.source, one.write)),
            column("pair.run", "Run", lambda one: _one(one.pair.run, one.write)),
        ),
        figures,
    )


def _text(one: CheckedStatement) -> str:
    text = " ".join(one.text.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _differs(one: CheckedStatement) -> str:
    return listed([str(_WORDS[word]) for word in one.differs]) or ABSENT


def _plan(plan: CheckedPlan | None) -> str:
    if plan is None or plan.source is None or plan.run is None:
        return ABSENT
    return tr("the same") if plan.source == plan.run else tr("another")


def _both(pair: Pair, write: Callable[[float], str] = significant) -> str:
    return f"{_one(pair.source, write)} → {_one(pair.run, write)}"


def _one(value: float | None, write: Callable[[float], str]) -> str:
    return ABSENT if value is None else write(value)
