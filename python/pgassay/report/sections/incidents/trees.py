"""Lock trees: what is at the root of each queue, and who waits behind it.

Enters: the context of an observation or of its incidents. Leaves: a table.
Never: shows values of a statement.
"""

from __future__ import annotations

from typing import Any

from pgassay.analysis.observation.incidents.model import Blocked
from pgassay.findings.incidents.signs import root_of
from pgassay.language import tr
from pgassay.quantities import clock, spaced
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.sections.incidents.found import Context, statement_cell
from pgassay.report.tables.cells import ABSENT

sentence = texts_of(__name__)


@section("incidents/lock_trees", "Lock trees")
def lock_trees(context: Context) -> Blocks:
    """Shows who waited for a lock behind whom, by incident; nothing where nobody did."""
    if context.incidents is None:
        return
    found = [
        {"number": number, "one": one}
        for number, incident in enumerate(context.incidents.found, start=1)
        for one in incident.blocked
    ]
    if not found:
        return

    def text(queryid: str) -> Cell:
        return statement_cell(context, queryid)

    def lock(one: Blocked) -> str:
        return " ".join(filter(None, (one.locktype, one.mode)))

    columns: Any = (
        column("number", "No.", lambda row: str(row["number"]), "heading", merges=True),
        column("", "Root", lambda row: str(root_of(row["one"])), "text", merges=True),
        column(
            "",
            "Its statement",
            lambda row: text(row["one"].root_queryid),
            "text",
            merges=True,
        ),
        column("one.depth", "Level", lambda row: str(row["one"].depth)),
        column("one.waiting", "Sessions", lambda row: spaced(row["one"].waiting, 1)),
        column("one.longest_ms", "Longest", lambda row: clock(row["one"].longest_ms / 1e3)),
        column("", "Waits for", lambda row: lock(row["one"]), "text"),
        column("one.held", "Relation", lambda row: row["one"].held or str(ABSENT), "text"),
        column("", "Statement", lambda row: text(row["one"].queryid), "text"),
    )
    yield view(columns, found, tr("Lock trees"))
    yield note(sentence("levels"))
