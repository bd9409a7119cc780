"""Which statements are no transaction of a client's that a load repeats.

Enters: a tree. Leaves: the code of a reason in draw/notes.toml, CONTROL, or None. Never: asks a
server.
"""

from __future__ import annotations

from pgassay.draw.statements.parsing import Node, ast, nodes_below
from pgassay.draw.statements.scopes import TableName

_DRAWN = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt, ast.MergeStmt)
CONTROL = "control"
"""Of what begins and ends transactions, and is no loss: a workload has its own."""
_REASONS = {
    CONTROL: (ast.TransactionStmt,),
    "draw/cursor": (ast.DeclareCursorStmt, ast.FetchStmt, ast.ClosePortalStmt),
    "draw/copy": (ast.CopyStmt,),
    "draw/maintenance": (
        ast.VacuumStmt,
        ast.CheckPointStmt,
        ast.ReindexStmt,
        ast.RefreshMatViewStmt,
    ),
    "draw/utility": (ast.VariableSetStmt, ast.VariableShowStmt, ast.DiscardStmt, ast.ExplainStmt),
}
_DEFINES = ("Create", "Alter", "Drop", "Index", "View", "Rename", "Grant", "Comment", "Truncate")
_AGGREGATES = {"count", "sum", "avg", "min", "max", "array_agg", "string_agg", "json_agg"}
_SYSTEM = {"pg_catalog", "information_schema"}
_OF_APPLICATIONS = ("pg_sleep", "pg_advisory", "pg_try_advisory", "pg_notify")


def left_out(tree: Node, tables: tuple[TableName, ...]) -> str | None:
    """Returns why a statement is not drawn; None where it is. `tables` are those of the tree."""
    if isinstance(tree, _DRAWN):
        if getattr(tree, "intoClause", None) is not None:
            return "draw/ddl"
        return "draw/monitoring" if _looks_at_the_server(tree, tables) else None
    for reason, kinds in _REASONS.items():
        if isinstance(tree, kinds):
            return reason
    return "draw/ddl" if type(tree).__name__.startswith(_DEFINES) else "draw/utility"


def _looks_at_the_server(tree: Node, tables: tuple[TableName, ...]) -> bool:
    """Whether all it reads are the catalogue and statistics."""
    if tables:
        return all(one.schema in _SYSTEM or one.name.startswith("pg_") for one in tables)
    called = [
        node.funcname[-1].sval for node in nodes_below(tree) if isinstance(node, ast.FuncCall)
    ]
    return bool(called) and all(
        name.startswith("pg_") and not name.startswith(_OF_APPLICATIONS) for name in called
    )


def aggregates(tree: Node) -> bool:
    """Returns whether a statement makes fewer rows of those that it reads, so that their number
    does not say how many these are."""
    if not isinstance(tree, ast.SelectStmt):
        return False
    called = nodes_below(tree.targetList or ())
    return bool(tree.groupClause or tree.distinctClause or tree.limitCount) or any(
        isinstance(node, ast.FuncCall) and node.funcname[-1].sval in _AGGREGATES for node in called
    )
