"""Each distinct text of a log as the parser knows it.

Enters: templates of the native module, with `$n`. Leaves: fingerprints, trees, what parameters
meet. Never: sees a constant of the user's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pgassay.draw.model import Origin, Parameter
from pgassay.draw.statements import names
from pgassay.draw.statements.kinds import left_out
from pgassay.draw.statements.meetings import Meeting, Met, meetings_of
from pgassay.draw.statements.parsing import Node, Unparsable, ast, fingerprint, parsed
from pgassay.draw.statements.scopes import Column, TableName

_MONITORING = "monitoring"
_REASONS = {"draw/monitoring": _MONITORING, "draw/ddl": "utility"}
_TEMPORARY = "t"
_UNPARSABLE = "unparsable"


@dataclass(frozen=True)
class Text:
    """One template; `parameters` of the source come before `constants` that became parameters."""

    text: str
    parameters: int
    constants: int
    data: bool

    @cached_property
    def fingerprint(self) -> str | None:
        """None of a text that is no statement."""
        try:
            return fingerprint(self.text)
        except Unparsable:
            return None

    @cached_property
    def tree(self) -> Node | None:
        """None of a text that is no single statement."""
        try:
            return parsed(self.text)
        except Unparsable:
            return None

    @cached_property
    def met(self) -> Met:
        """What its parameters meet, by names in the text alone."""
        return meetings_of(self.tree)

    @cached_property
    def lost(self) -> str | None:
        """Why no scenario has it, a code of this room; None where one may."""
        if self.tree is None or self.fingerprint is None:
            return _UNPARSABLE
        return _REASONS.get(left_out(self.tree, self.met.tables) or "") if self.data else None

    @cached_property
    def temporary(self) -> str | None:
        """The name of the temporary table that it makes; None of any other text."""
        tree: Any = self.tree
        into = getattr(tree, "into", None) or getattr(tree, "intoClause", None)
        relation = tree.relation if isinstance(tree, ast.CreateStmt) else None
        made = into.rel if into else relation
        return str(made.relname) if made and made.relpersistence == _TEMPORARY else None

    @property
    def tables(self) -> Sequence[TableName]:
        """The tables that it reads or writes."""
        return self.met.tables if self.data else ()

    @property
    def values(self) -> int:
        """How many values each execution has."""
        return self.parameters + self.constants

    def meetings(self) -> Mapping[int, Meeting]:
        """What each parameter meets, by its number."""
        if not self.data:
            return {}
        known = {one.number: one for one in self.met.meetings}
        return {n: known.get(n, Meeting(n)) for n in range(1, self.values + 1)}


def texts_of(summary: Mapping[str, Any]) -> Sequence[Text]:
    """Returns the templates of a summary by their numbers."""
    return [Text(**template) for template in summary["templates"]]


def parameter(name: str, meeting: Meeting) -> Parameter:
    """Returns a variable that has the logged values."""
    place = column_name(meeting.column) if meeting.column else None
    return Parameter(name, "", Origin.LOG, place, meeting.role)


def column_name(column: Column) -> str:
    """Returns table.column, with the schema where the statement has it."""
    return ".".join(filter(None, (*column.table, column.name)))


def name_of(texts: Sequence[Text], *, rolled_back: bool) -> str:
    """Returns what a transaction does, by its first statement of data and the number of others."""
    told = next((text for text in texts if text.data), texts[0])
    first = names.scenario(told.tree, told.met)
    more = f"-and-{len(texts) - 1}-more" if len(texts) > 1 else ""
    return f"{first[:40].strip('-')}{more}{'-rolled-back' if rolled_back else ''}"
