"""Which statements of a server are drawn, and why others are not.

Enters: what was called, a session that only reads. Leaves: statements with types and columns, and
what is lost with its reason. Never: executes a statement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from pgassay.draw.model import Figures, Lost
from pgassay.draw.roles import Role, roles_of
from pgassay.draw.statements.constants import masked
from pgassay.draw.statements.kinds import CONTROL, aggregates, left_out
from pgassay.draw.statements.meetings import meetings_of
from pgassay.draw.statements.parsing import Node, Unparsable, ast, fingerprint, parsed
from pgassay.draw.statements.rewriting import SQUASHED, preparable, unsquashed, without_comments
from pgassay.draw.statements.seen import Seen, seen_in
from pgassay.draw.statistics.constants import Constants
from pgassay.draw.statistics.preparing import NOT_FOUND, Preparer
from pgassay.draw.statistics.ranges import Width
from pgassay.draw.statistics.readings import Called, Readings
from pgassay.draw.statistics.statement import Statement
from pgassay.draw.tables.catalogue import Catalogue
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement as sql

_MOSTLY = 0.5
_FEWEST = 5
"""Calls; a statement with fewer is drawn only if it took a share of the time."""
_SHARE = 0.01
_HAS_EXTRACT = 140000
"""The version from which extract() is a function of its own."""
_ELEMENTS = (1, 100)
_IN_A_LIST = (2, 20)
_USUAL_ELEMENTS = 10
_HIDDEN = "<insufficient privilege>"
_SCHEMA = re.compile(r"\S+\.(pg_stat_statements\()")
"""Fingerprints know schemas, and the extension's may be any."""
_WHILE_READING = ("database", "sessions", "session_texts", "statements", "texts")
"""Our own statements between the two readings, in server/sql/drawing."""


class Selection:
    """Tells the statements of a load from all others."""

    def __init__(self, session: Connection, catalogue: Catalogue, version_num: int) -> None:
        self._session = session
        self._catalogue = catalogue
        self._preparer = Preparer(session)
        self._extract = "extract" if version_num >= _HAS_EXTRACT else "date_part"
        self._roles: Mapping[int, Role] = {}
        self.calls: Counter[Role] = Counter()
        """Of the statements that are drawn."""
        self._texts: Mapping[int, Mapping[str, int]] = {}
        self.not_found: dict[str, None] = {}
        """Search paths in which tables of statements were looked for in vain."""

    def of(self, readings: Readings) -> tuple[list[Statement], list[Lost]]:
        """Returns what is drawn and what is lost, most time first. Raises psycopg.Error where the
        server fails."""
        self._roles = roles_of(self._session, {one.role for one in readings.called})
        self._texts = readings.seen
        called = [one for one in readings.called if not _is_ours(one.text)]
        total_ms = sum(one.figures.time_ms for one in called) + readings.hidden.time_ms
        drawn: list[Statement] = []
        lost: list[Lost] = []
        if readings.hidden.calls:
            lost.append(_lost("draw/hidden", _HIDDEN, readings.hidden))
        for one in called:
            few = one.figures.calls < _FEWEST and one.figures.time_ms < _SHARE * total_ms
            found = self._statement(one, few=few)
            if isinstance(found, str):
                if found != CONTROL:
                    lost.append(_lost(found, one.text, one.figures))
            else:
                drawn.append(found)
                if one.role in self._roles:
                    self.calls[self._roles[one.role]] += one.figures.calls
        return drawn, sorted(lost, key=lambda one: -one.time_ms)

    def _seen(self, called: Called) -> list[Seen]:
        """What each sight of a client's text shows."""
        found: list[Seen] = []
        for query_id in called.query_ids:
            for text, times in self._texts.get(query_id, {}).items():
                if (seen := seen_in(called.text, text)) is not None:
                    found += [seen] * times
        return found

    def _statement(self, called: Called, *, few: bool) -> Statement | str:
        """The statement, or the code of why it is not drawn."""
        if not called.text or called.text == _HIDDEN:
            return "draw/hidden"
        try:
            tree = parsed(called.text)
        except Unparsable:
            return "draw/cut"
        reason = left_out(tree, meetings_of(tree).tables)
        if reason is not None or few:
            return reason or "draw/few-calls"
        role = self._roles.get(called.role)
        path = "pg_catalog" if role is None else role.path
        figures, per_call = called.figures, (called.figures.rows or 0) / called.figures.calls
        width = Width(None if aggregates(tree) or per_call == 0 else per_call)
        seen = self._seen(called)
        lengths = Counter(length for one in seen for length in one.elements)
        listed = max(lengths, key=lambda one: lengths[one], default=_within(_IN_A_LIST, width.rows))
        text = preparable(unsquashed(called.text, listed)[0], self._extract)
        prepared = self._preparer.prepared(text, path)
        if isinstance(prepared, str):
            if prepared == NOT_FOUND:
                self.not_found[path] = None
            return prepared
        text, types = prepared.text, prepared.types
        tree = parsed(text)
        met = meetings_of(
            tree,
            lambda name: self._catalogue.columns_of(path, name),
            lambda name: self._catalogue.view_of(path, name),
        )
        tables = {
            name: found for name in met.tables if (found := self._catalogue.table(path, name))
        }
        is_limited = getattr(tree, "limitCount", None) is not None
        return Statement(
            query_ids=called.query_ids,
            fingerprint=fingerprint(text),
            tree=tree,
            met=met,
            source_text=without_comments(called.text),
            text=text,
            types=types,
            tables=tables,
            figures=figures,
            elements=_within(_ELEMENTS, per_call if is_limited else width.rows),
            width=width,
            keeps=_keeps(tree, per_call),
            constants=Constants.of(seen),
            guesses_lists=SQUASHED in called.text and not lengths,
            deletes=isinstance(tree, ast.DeleteStmt),
        )


@cache
def _our_fingerprints() -> frozenset[str]:
    texts = (sql(f"drawing/{name}").decode() for name in _WHILE_READING)
    return frozenset(
        fingerprint(text.replace("%s", "$1").replace("{extension}", "public")) for text in texts
    )


def _is_ours(text: str) -> bool:
    """Whether this drawing sent it, which is then no load of the source."""
    try:
        return fingerprint(_SCHEMA.sub(r"public.\1", text)) in _our_fingerprints()
    except Unparsable:
        return False


def _keeps(tree: Node, rows: float) -> bool:
    """Whether an insert mostly finds its row there: one that then changes the row may, one that
    does nothing says so by the rows of a call."""
    conflict = getattr(tree, "onConflictClause", None)
    return conflict is not None and (bool(conflict.targetList) or rows < _MOSTLY)


def _within(limits: tuple[int, int], rows: float | None) -> int:
    least, most = limits
    return _USUAL_ELEMENTS if rows is None else max(least, min(most, round(rows)))


def _lost(reason: str, text: str, figures: Figures) -> Lost:
    shown = text if text == _HIDDEN else masked(text)
    return Lost(reason, shown, figures.calls, figures.time_ms)
