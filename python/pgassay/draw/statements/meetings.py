"""What each `$n` of a statement is compared with or written to.

Enters: a tree, and what is known of tables. Leaves: a `Meeting` for each parameter, and the tables.
Never: asks a server, or gives a column that it is not sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pgassay.draw.model import Role
from pgassay.draw.statements.parsing import Node, ast, children
from pgassay.draw.statements.scopes import Column, ColumnsOf, Derived, Scope, TableName

_MIRRORED = {
    Role.BELOW: Role.ABOVE, Role.UP_TO: Role.FROM, Role.ABOVE: Role.BELOW, Role.FROM: Role.UP_TO,
}  # fmt: skip
_PATTERNS = {"~~", "~~*", "!~~", "!~~*"}
_WITH_FIELD = {"extract", "date_part", "date_trunc"}
_BETWEEN = {"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"}
_BOUNDS = 2


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a statement does with one parameter."""

    number: int
    role: Role = Role.OTHER
    column: Column | None = None
    """That it is compared with or written to as it is; None beside an expression."""
    near: str = ""
    """A column's name for that of the variable, where `column` is None."""
    row: int = 0
    """Values of one occurrence of a table and one `row` belong together."""
    upper: bool = False
    """The second bound of BETWEEN."""
    key: int = 0
    """The parameter that says which key of a document in the column it is compared with
    (`column ->> $key = $number`)."""


@dataclass(frozen=True, slots=True)
class Met:
    """The parameters and tables of a statement."""

    meetings: tuple[Meeting, ...]
    """By the number of the parameter, each once."""
    tables: tuple[TableName, ...]
    """In their order, each once; no common table expressions."""


ViewOf = Callable[[TableName], Node | None]
"""The query of a view; None of a table, or where it is not known."""


def meetings_of(
    tree: Node, columns_of: ColumnsOf = lambda _: None, view_of: ViewOf = lambda _: None
) -> Met:
    """Returns what the parameters of a statement meet; `columns_of` says what a table has, without
    which a column is sure where it has its table's name or there is one table. A view is what its
    query is."""
    walk = _Walk(view_of)
    walk.statement(tree, Scope(columns_of))
    found = tuple(walk.found[number] for number in sorted(walk.found))
    return Met(found, tuple(dict.fromkeys(walk.tables)))


class _Walk:
    """One way through a tree."""

    def __init__(self, view_of: ViewOf) -> None:
        self._view_of = view_of
        self.found: dict[int, Meeting] = {}
        self.tables: list[TableName] = []
        self._lists: dict[tuple[str, str], int] = {}
        """Columns of `unnest($1) AS alias (column)` → the parameter."""

    def statement(self, tree: Node, scope: Scope) -> Derived:
        """Visits a statement; returns the columns that it gives."""
        for expression in tree.withClause.ctes if getattr(tree, "withClause", None) else ():
            inside = scope.inside()
            # A recursive one sees itself; what that gives is known afterwards only.
            inside.expressions[expression.ctename] = {}
            given = self.statement(expression.ctequery, inside)
            names = [one.sval for one in expression.aliascolnames or ()]
            scope.expressions[expression.ctename] = _renamed(given, names)
        if isinstance(tree, ast.SelectStmt):
            return self._select(tree, scope)
        if isinstance(tree, ast.InsertStmt):
            self._insert(tree, scope)
        elif isinstance(tree, ast.UpdateStmt | ast.DeleteStmt):
            self._change(tree, scope)
        elif isinstance(tree, ast.MergeStmt):
            self._from(tree.relation, scope)
            self._from(tree.sourceRelation, scope)
            table = TableName(tree.relation.schemaname, tree.relation.relname)
            for clause in tree.mergeWhenClauses or ():
                self._set_or_insert(clause, table, scope)
            self._rest(tree, scope, {"relation", "sourceRelation", "withClause"})
        else:
            self._rest(tree, scope, {"withClause"})
        return self._given(getattr(tree, "returningClause", None), scope)

    def _select(self, tree: Node, scope: Scope) -> Derived:
        if tree.larg is not None:
            given = self.statement(tree.larg, scope.inside())
            self.statement(tree.rarg, scope.inside())
        else:
            for one in tree.fromClause or ():
                self._from(one, scope)
            given = _named(tree.targetList or (), scope)
        for node, role in ((tree.limitCount, Role.LIMIT), (tree.limitOffset, Role.OFFSET)):
            if (number := _parameter(node)) is not None:
                self._meets(Meeting(number, role))
        self._rest(tree, scope, {"larg", "rarg", "fromClause", "withClause"})
        return given

    def _insert(self, tree: Node, scope: Scope) -> None:
        target = scope.add_table(tree.relation)
        if target is None:
            return
        self.tables.append(target.table)
        names: Sequence[str] = [one.name for one in tree.cols or ()]
        names = names or scope.columns_of(target.table) or ()
        source = tree.selectStmt
        rows = () if source is None else source.valuesLists or (_values(source.targetList),)
        for row in rows:
            self._row(names, row, target.table, scope)
        if source is not None:
            inside = Scope(scope.columns_of, scope.numbers, expressions=scope.expressions)
            self.statement(source, inside)
        if tree.onConflictClause is not None:
            scope.sources["excluded"] = {}
            self._set(tree.onConflictClause.targetList, target.table, scope)
            self._rest(tree.onConflictClause, scope, set())

    def _change(self, tree: Node, scope: Scope) -> None:
        target = scope.add_table(tree.relation)
        if target is None:
            return
        self.tables.append(target.table)
        for one in (getattr(tree, "fromClause", None) or getattr(tree, "usingClause", None)) or ():
            self._from(one, scope)
        self._set(getattr(tree, "targetList", None), target.table, scope)
        self._rest(tree, scope, {"relation", "fromClause", "usingClause", "withClause"})

    def _set_or_insert(self, clause: Node, table: TableName, scope: Scope) -> None:
        """A WHEN of MERGE."""
        if not clause.values:
            self._set(clause.targetList, table, scope)
            return
        names: Sequence[str] = [one.name for one in clause.targetList or ()]
        self._row(names or scope.columns_of(table) or (), clause.values, table, scope)

    def _row(
        self, names: Sequence[str], row: Sequence[Node], table: TableName, scope: Scope
    ) -> None:
        """A row to insert."""
        into = scope.occurrence(table)
        for name, node in zip(names, row, strict=False):
            if (number := _parameter(node)) is not None:
                self._meets(Meeting(number, Role.VALUES, Column(table, name, into.number)))

    def _set(self, targets: Iterable[Node] | None, table: TableName, scope: Scope) -> None:
        """SET: values for columns, which fit each other, but not the row that is changed."""
        into = scope.occurrence(table)
        for target in targets or ():
            node = target.val
            if isinstance(node, ast.MultiAssignRef):
                given = node.source.args if isinstance(node.source, ast.RowExpr) else ()
                node = given[node.colno - 1] if node.colno <= len(given) else None
            number = _parameter(node)
            if number is not None and not target.indirection:
                self._meets(Meeting(number, Role.SET, Column(table, target.name, into.number)))

    def _from(self, node: Node, scope: Scope) -> None:
        if isinstance(node, ast.RangeVar):
            occurrence = scope.add_table(node)
            if occurrence is None:
                return
            self.tables.append(occurrence.table)
            if (view := self._view_of(occurrence.table)) is not None:
                given = self.statement(view, Scope(scope.columns_of, scope.numbers))
                scope.sources[node.alias.aliasname if node.alias else node.relname] = given
        elif isinstance(node, ast.JoinExpr):
            self._from(node.larg, scope)
            self._from(node.rarg, scope)
            self._visit(node.quals, scope)
        elif isinstance(node, ast.RangeSubselect):
            given = self.statement(node.subquery, scope.inside())
            if node.alias is not None:
                names = [one.sval for one in node.alias.colnames or ()]
                scope.sources[node.alias.aliasname] = _renamed(given, names)
        else:
            if getattr(node, "alias", None) is not None:
                scope.sources[node.alias.aliasname] = {}
                self._unnested(node)
            self._visit(node, scope)

    def _unnested(self, node: Node) -> None:
        """Takes the column of a list of values that is joined."""
        if isinstance(node, ast.RangeFunction) and len(node.functions) == 1:
            number = _list_of(node.functions[0][0])
            names = [one.sval for one in node.alias.colnames or ()] or [node.alias.aliasname]
            if number is not None:
                self._lists[node.alias.aliasname, names[0]] = number

    def _given(self, clause: Node, scope: Scope) -> Derived:
        return _named(clause.exprs, scope) if clause is not None else {}

    def _rest(self, tree: Node, scope: Scope, done: set[str]) -> None:
        """Visits what hangs on a node but for what has been visited."""
        for name in tree:
            if name not in done:
                self._visit(getattr(tree, name), scope)

    def _visit(self, node: Node, scope: Scope) -> None:
        if isinstance(node, tuple):
            for one in node:
                self._visit(one, scope)
        elif isinstance(node, ast.SelectStmt):
            self.statement(node, scope.inside())
        elif isinstance(node, ast.ParamRef):
            self._meets(Meeting(node.number))
        elif isinstance(node, ast.Node):
            if isinstance(node, ast.A_Expr):
                self._expression(node, scope)
            elif isinstance(node, ast.FuncCall):
                self._call(node)
            for child in children(node):
                self._visit(child, scope)

    def _call(self, node: Node) -> None:
        if node.funcname[-1].sval in _WITH_FIELD and node.args:
            number = _parameter(node.args[0])
            if number is not None:
                self._meets(Meeting(number, Role.FIELD))

    def _expression(self, node: Node, scope: Scope) -> None:
        operator = node.name[-1].sval
        left, right = node.lexpr, node.rexpr
        if operator in _BETWEEN:
            for bound, one in enumerate(right):
                meeting = self._beside(one, left, Role.BETWEEN, scope)
                if meeting is not None:
                    self._meets(replace(meeting, upper=bound == _BOUNDS - 1))
        elif isinstance(right, tuple):
            for row, one in enumerate(right):
                for mine, its in _pairs(one, left):
                    meeting = self._beside(mine, its, Role.IN, scope)
                    if meeting is not None:
                        self._meets(replace(meeting, row=row))
        else:
            is_list = node.kind.name in {"AEXPR_OP_ANY", "AEXPR_OP_ALL"}
            role = Role.ANY if is_list else Role(operator)
            role = Role.LIKE if operator in _PATTERNS else role
            # On the left side of ->> stands a document, and no key.
            mirrored = Role.OTHER if role.is_key else _MIRRORED.get(role, role)
            for mine, its in _pairs(right, left):
                for one, other, as_role in ((mine, its, role), (its, mine, mirrored)):
                    if (meeting := self._beside(one, other, as_role, scope)) is not None:
                        self._meets(meeting)

    def _beside(self, one: Node, other: Node, role: Role, scope: Scope) -> Meeting | None:
        """The meeting of a parameter with what stands on the other side; None of anything else."""
        number, of = _parameter(one), role
        if number is None and role.compares:
            number, of = self._list_or_step(one)
        if number is None:
            return None
        column = _column(other, scope)
        if column is not None and role.meets_column:
            return Meeting(number, of, column)
        if isinstance(other, ast.A_Expr) and other.name[-1].sval == "->>" and role.compares:
            document, key = _column(other.lexpr, scope), _parameter(other.rexpr)
            if document is not None and key is not None:
                return Meeting(number, of, document, key=key)
        return Meeting(number, of, None, column.name if column else _near(other))

    def _list_or_step(self, one: Node) -> tuple[int | None, Role]:
        """The parameter of a comparison whose side is no parameter itself, and its role."""
        if isinstance(one, ast.ColumnRef):
            names = tuple(field.sval for field in one.fields if isinstance(field, ast.String))
            return self._lists.get(names[-2:] if names[1:] else names * 2), Role.ANY
        if isinstance(one, ast.A_Expr) and one.lexpr is not None:
            role = Role(one.name[-1].sval)
            return (_parameter(one.lexpr) if role.is_step else None), role
        return None, Role.OTHER

    def _meets(self, meeting: Meeting) -> None:
        """Keeps the first that has a column, or else the first of which anything is known."""
        before = self.found.get(meeting.number, Meeting(meeting.number))
        has_column = before.column is None and meeting.column is not None
        if has_column or (before.role is Role.OTHER and not before.near):
            self.found[meeting.number] = meeting


def _pairs(one: Node, other: Node) -> list[tuple[Node, Node]]:
    """Both sides, or those of rows element by element."""
    if isinstance(one, ast.RowExpr) and isinstance(other, ast.RowExpr):
        return list(zip(one.args, other.args, strict=False))
    return [(one, other)]


def _parameter(node: Node) -> int | None:
    """The number of a parameter that stands alone or with its type."""
    while isinstance(node, ast.TypeCast):
        node = node.arg
    return node.number if isinstance(node, ast.ParamRef) else None


def _list_of(node: Node) -> int | None:
    """The parameter of `unnest($1)`."""
    is_list = isinstance(node, ast.FuncCall) and node.funcname[-1].sval == "unnest"
    return _parameter(node.args[0]) if is_list and len(node.args or ()) == 1 else None


def _column(node: Node, scope: Scope) -> Column | None:
    while isinstance(node, ast.TypeCast | ast.CollateClause):
        node = node.arg
    return scope.column(node) if isinstance(node, ast.ColumnRef) else None


def _near(node: Node) -> str:
    """The name of the first column in an expression."""
    if isinstance(node, ast.ColumnRef):
        last = node.fields[-1]
        return str(last.sval) if isinstance(last, ast.String) else ""
    below = (
        node if isinstance(node, tuple) else children(node) if isinstance(node, ast.Node) else ()
    )
    return next((found for one in below if (found := _near(one))), "")


def _values(targets: Iterable[Node] | None) -> list[Node]:
    return [one.val for one in targets or ()]


def _named(targets: Iterable[Node], scope: Scope) -> Derived:
    """The columns of a select list by name."""
    found: dict[str, Column | None] = {}
    for target in targets:
        value = target.val
        if isinstance(value, ast.ColumnRef) and isinstance(value.fields[-1], ast.A_Star):
            found.update(scope.all_columns())
            continue
        column = _column(value, scope)
        name = target.name or (column.name if column else _near(value))
        found[name] = column
    return found


def _renamed(given: Derived, names: Sequence[str]) -> Derived:
    """The same columns, the first of them by other names."""
    if not names:
        return given
    columns = list(given.items())
    return {
        (names[place] if place < len(names) else name): column
        for place, (name, column) in enumerate(columns)
    }
