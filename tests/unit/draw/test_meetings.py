"""Each parameter of a statement is known by the column that it meets."""

from __future__ import annotations

import pytest

from pgassay.draw.statements.kinds import left_out
from pgassay.draw.statements.meetings import Meeting, meetings_of
from pgassay.draw.statements.names import scenario, variables
from pgassay.draw.statements.parsing import parsed
from pgassay.draw.statements.scopes import TableName

TABLES = {
    "orders": ("id", "customer", "placed", "status"),
    "items": ("id", "order_id", "price"),
    "Quoted Name": ("Id", "kind"),
}


def met(text: str) -> list[Meeting]:
    found = meetings_of(parsed(text), lambda table: TABLES.get(table.name))
    return list(found.meetings)


def said(text: str) -> list[str]:
    """Each meeting as "role table.column occurrence.row"."""
    return [
        f"{one.role} {one.column.table.name}.{one.column.name} {one.column.occurrence}.{one.row}"
        if one.column
        else f"{one.role} {one.near}".strip()
        for one in met(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT * FROM orders o JOIN items i ON i.order_id = o.id"
            " WHERE o.id = $1 AND price > $2 AND placed BETWEEN $3 AND $4 LIMIT $5",
            [
                "= orders.id 0.0",
                "> items.price 1.0",
                "between orders.placed 0.0",
                "between orders.placed 0.0",
                "limit",
            ],
        ),
        (
            "SELECT 1 FROM orders WHERE (id, customer) IN (($1, $2), ($3, $4)) AND $5 <= placed",
            [
                "in orders.id 0.0",
                "in orders.customer 0.0",
                "in orders.id 0.1",
                "in orders.customer 0.1",
                ">= orders.placed 0.0",
            ],
        ),
        (
            "INSERT INTO orders (id, status) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE"
            " SET status = $3",
            ["values orders.id 1.0", "values orders.status 1.0", "set orders.status 2.0"],
        ),
        ("INSERT INTO items VALUES ($1, $2::int, $3 + 1)", None),
        (
            "UPDATE orders SET (status, placed) = ($1, $2), customer = customer + $3 WHERE id = $4",
            ["set orders.status 1.0", "set orders.placed 1.0", "+ customer", "= orders.id 0.0"],
        ),
        (
            "WITH c AS (SELECT id AS number FROM orders WHERE customer = $1)"
            " SELECT * FROM c JOIN (SELECT order_id, sum(price) s FROM items GROUP BY 1) t"
            " ON t.order_id = c.number WHERE number = ANY($2) AND t.order_id = $3 AND t.s > $4",
            ["= orders.customer 0.0", "any orders.id 0.0", "= items.order_id 1.0", "> s"],
        ),
        (
            'SELECT 1 FROM "Quoted Name" WHERE "Id" = $1 AND lower(kind) = $2 AND kind ILIKE $3',
            ["= Quoted Name.Id 0.0", "= kind", "like Quoted Name.kind 0.0"],
        ),
        (
            "SELECT date_trunc($1, placed) FROM orders o JOIN unnest($2::int[]) AS u(no)"
            " ON u.no = o.id WHERE status ->> $3 = $4 AND placed < $5 + $6",
            [
                "field",
                "any orders.id 0.0",
                "->> orders.status 0.0",
                "= orders.status 0.0",
                "+ orders.placed 0.0",
                "+",
            ],
        ),
        (
            "DELETE FROM orders USING items WHERE items.order_id = orders.id AND price < $1"
            " AND EXISTS (SELECT FROM items AS x WHERE x.id = $2 AND customer = $3)",
            ["< items.price 1.0", "= items.id 3.0", "= orders.customer 0.0"],
        ),
    ],
)
def test_a_parameter_meets_the_column_that_it_is_compared_with(
    text: str, expected: list[str] | None
) -> None:
    expected = expected or ["values items.id 1.0", "values items.order_id 1.0", "+"]
    assert said(text) == expected


def test_a_column_of_a_view_is_that_of_the_table_below_it() -> None:
    tree = parsed(
        "SELECT 1 FROM late v JOIN items i ON i.id = v.number WHERE number = $1 AND n = $2"
    )
    view = parsed("SELECT o.id AS number, count(*) AS n FROM shop.orders o GROUP BY o.id")
    found = meetings_of(
        tree,
        lambda table: TABLES.get(table.name),
        lambda table: view if table.name == "late" else None,
    )
    column, of_a_count = (one.column for one in found.meetings)
    assert column is not None
    assert (column.table, column.name) == (TableName("shop", "orders"), "id")
    assert of_a_count is None
    assert [table.name for table in found.tables] == ["late", "orders", "items"]


def test_a_column_is_sure_where_it_has_the_name_of_a_table_of_which_nothing_is_known() -> None:
    text = "SELECT 1 FROM unknown AS u JOIN orders ON u.x = id WHERE u.elsewhere = $1"
    assert said(text) == ["= unknown.elsewhere 0.0"]


def test_a_column_that_may_be_of_two_tables_is_not_guessed() -> None:
    assert said("SELECT 1 FROM unknown, orders WHERE elsewhere = $1") == ["= elsewhere"]


def test_scenarios_and_variables_have_readable_names_that_a_script_takes() -> None:
    text = 'SELECT 1 FROM "Quoted Name" q WHERE "Id" BETWEEN $1 AND $2 AND kind IN ($3, $4)'
    tree = parsed(text)
    found = meetings_of(tree, lambda table: TABLES.get(table.name))
    assert scenario(tree, found) == "select-quoted-name-by-id-kind"
    assert variables(found.meetings) == {1: "id_from", 2: "id_to", 3: "kind", 4: "kind_2"}
    reserved = meetings_of(parsed("SELECT 1 FROM t WHERE client_id = $1 AND x = $2 || $3"))
    assert variables(reserved.meetings)[1] == "client_id_2"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT count(*) FROM orders", None),
        ("SELECT $1", None),
        ("SELECT * FROM generate_series(1, $1)", None),
        ("SELECT pg_sleep($1)", None),
        ("SELECT * FROM pg_stat_activity JOIN pg_catalog.pg_class ON $1", "draw/monitoring"),
        ("SELECT pg_database_size($1)", "draw/monitoring"),
        ("VACUUM orders", "draw/maintenance"),
        ("FETCH 10 FROM c", "draw/cursor"),
        ("COPY orders FROM STDIN", "draw/copy"),
        ("BEGIN", "control"),
        ("CREATE TABLE x (y int)", "draw/ddl"),
        ("SET x = '1'", "draw/utility"),
    ],
)
def test_what_is_no_statement_of_a_load_is_left_out_by_its_kind(
    text: str, reason: str | None
) -> None:
    tree = parsed(text)
    assert left_out(tree, meetings_of(tree).tables) == reason


def test_tables_are_named_once_without_common_table_expressions() -> None:
    text = "WITH c AS (SELECT 1 FROM items) SELECT 1 FROM c, s.orders, s.orders AS o"
    tables = meetings_of(parsed(text)).tables
    assert tables == (TableName(None, "items"), TableName("s", "orders"))
