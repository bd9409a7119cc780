"""Rows that a log inserted are there on a copy: their keys become new, in the whole transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import psycopg
import pyarrow as pa
import pytest

from pgassay.draw.log.new_keys import with_new_keys
from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Figures,
    Origin,
    Parameter,
    Protocol,
    Role,
    Source,
    SourceFigures,
)
from support.draw.shop import executed
from support.servers.lab import LabServer

ROWS, TRANSACTIONS = 40, 80
TABLES = b"""
CREATE SCHEMA keys;
CREATE TABLE keys.purchase (shop int, number int, who int, PRIMARY KEY (shop, number));
CREATE TABLE keys.line (shop int, number int, place int, PRIMARY KEY (shop, number, place));
CREATE TABLE keys.ticket (id uuid PRIMARY KEY, code char(6) UNIQUE);
CREATE TABLE keys.tag (code char(6) PRIMARY KEY);
CREATE TABLE keys.parcel (id uuid, placed timestamptz, PRIMARY KEY (id, placed));
CREATE TABLE keys.doc (tenant int, id int, version int, PRIMARY KEY (tenant, id, version));
CREATE TABLE keys.cart (id bigint PRIMARY KEY);
CREATE TABLE keys.item (cart bigint, product bigint, PRIMARY KEY (cart, product));
CREATE TABLE keys.friend (
    one int REFERENCES keys.person, other int REFERENCES keys.person, PRIMARY KEY (one, other)
);
CREATE TABLE keys.mark (
    purchase int, at timestamptz, who int REFERENCES keys.person, UNIQUE (who, at)
);
INSERT INTO keys.purchase SELECT n % 2, n, n FROM generate_series(1, 40) AS n;
INSERT INTO keys.line SELECT n % 2, n, 1 FROM generate_series(1, 40) AS n;
"""


@pytest.fixture(scope="module")
def server(lab_server: LabServer) -> Iterator[LabServer]:
    person = b"CREATE TABLE keys.person (id int PRIMARY KEY); INSERT INTO keys.person VALUES (7);"
    schema, _, rest = TABLES.partition(b";")
    with lab_server.admin() as session:
        session.execute(schema)
        session.execute(person)
        session.execute(rest)
    yield lab_server
    with lab_server.admin() as session:
        session.execute(b"DROP SCHEMA keys CASCADE")


@contextmanager
def in_keys(server: LabServer) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of which nothing stays."""
    with server.admin() as session, session.transaction(force_rollback=True):
        session.execute(b"SET LOCAL search_path = keys")
        yield session


def inserting(table: str, columns: str, *names: str) -> DrawnStatement:
    text = f"INSERT INTO {table} ({columns}) VALUES ({', '.join(f':{name}' for name in names)})"
    return statement(text, Role.VALUES, names)


def looking(text: str, name: str, column: str) -> DrawnStatement:
    parameter = Parameter(name, "", Origin.LOG, column, Role.EQUAL)
    return DrawnStatement("0" * 16, text, text, (parameter,), Figures(ROWS, 1.0))


def statement(text: str, role: Role, names: tuple[str, ...]) -> DrawnStatement:
    parameters = tuple(Parameter(name, "", Origin.LOG, role=role) for name in names)
    return DrawnStatement("0" * 16, text, text, parameters, Figures(ROWS, 1.0))


def drawn(
    server: LabServer, values: Mapping[str, Sequence[object]], *statements: DrawnStatement
) -> Drawing:
    """A drawing of ten seconds of a log, with new keys."""
    parameters = pa.table(values)
    scenario = DrawnScenario("one", statements, True, TRANSACTIONS, parameters)
    found = Drawing(
        Source.LOG,
        Protocol.PREPARED,
        (scenario, replace(scenario, name="two")),
        (),
        SourceFigures(100.0),
        schemas=("keys",),
    )
    with server.admin() as session:
        return with_new_keys(found, session)


def test_each_row_can_be_inserted_once_more_with_what_belongs_to_it(server: LabServer) -> None:
    numbers = [*range(1, ROWS + 1)]
    found = drawn(
        server,
        {"shop": [n % 2 for n in numbers], "number": numbers, "place": [1] * ROWS},
        inserting("purchase", "shop, number", "shop", "number"),
        inserting("line", "shop, number, place", "shop", "number", "place"),
        statement("SELECT 1 FROM line WHERE number = :number", Role.EQUAL, ("number",)),
    )
    with in_keys(server) as session:
        # Both scenarios, and half an hour of each: no key is given twice.
        for one in found.scenarios:
            assert one.parameters is not None
            assert one.order == "sequential"
            rows = one.parameters.num_rows
            assert rows == TRANSACTIONS * 18
            assert executed(session, one, most=rows) == [rows] * 3
    origins = {one.name: one.origin for one in found.scenarios[0].statements[1].parameters}
    assert origins == {"shop": Origin.LOG, "number": Origin.ABOVE, "place": Origin.LOG}
    assert found.notes == (("draw/in-sequence", {"count": 2, "rows": TRANSACTIONS * 18}),)


def test_a_key_keeps_its_type_and_a_reference_its_row(server: LabServer) -> None:
    made = [f"2026-01-01 00:00:{n:02}+00" for n in range(ROWS)]
    found = drawn(
        server,
        {
            "id": [str(uuid4()) for _ in made], "code": [f"A{n:05}" for n in range(ROWS)],
            "who": [7] * ROWS, "at": made,
        },
        inserting("ticket", "id, code", "id", "code"),
        inserting("mark", "who, at", "who", "at"),
    )  # fmt: skip
    (one, _) = found.scenarios
    with in_keys(server) as session:
        assert executed(session, one) == [300, 300]
    origins = {each.name: each.origin for two in one.statements for each in two.parameters}
    assert origins["who"] is Origin.LOG
    assert {origins[name] for name in ("id", "code", "at")} == {Origin.ABOVE}


NUMBERS = [*range(1, ROWS + 1)]
MOMENTS = [f"2026-01-01 00:00:{n:02}+00" for n in range(ROWS)]


@pytest.mark.parametrize(
    ("values", "statements", "new"),
    [
        ({"code": NUMBERS}, [inserting("tag", "code", "code")], {"code"}),
        (
            {"id": [str(uuid4()) for _ in MOMENTS], "placed": MOMENTS},
            [inserting("parcel", "id, placed", "id", "placed")],
            {"id"},
        ),
        (
            {"one": [1] * ROWS, "id": NUMBERS},
            [statement("INSERT INTO doc VALUES (:one, :id, :one)", Role.VALUES, ("one", "id"))],
            {"id"},
        ),
        (
            {"tenant": [1] * ROWS, "id": NUMBERS},
            [statement("INSERT INTO doc VALUES (:tenant, :id, 1)", Role.VALUES, ("tenant", "id"))],
            {"id"},
        ),
        (
            {"cart": NUMBERS, "product": [n % 30 for n in NUMBERS]},
            [
                looking("SELECT FROM cart WHERE id = :cart FOR UPDATE", "cart", "cart.id"),
                inserting("item", "cart, product", "cart", "product"),
            ],
            {"product"},
        ),
    ],
    ids=["a number that is a text", "times with ids", "repeated", "constant", "of a parent"],
)
def test_of_a_key_that_is_new_which_need_not_be_there(
    server: LabServer,
    values: dict[str, list[object]],
    statements: list[DrawnStatement],
    new: set[str],
) -> None:
    found = drawn(server, values, *statements)
    (one, _) = found.scenarios
    parameters = [each for two in one.statements for each in two.parameters]
    assert {each.name for each in parameters if each.origin is Origin.ABOVE} == new
    with in_keys(server) as session:
        assert executed(session, one)[-1] == 300


def test_keys_that_only_refer_are_named(server: LabServer) -> None:
    values = {"one": NUMBERS, "other": NUMBERS[::-1]}
    found = drawn(server, values, inserting("friend", "one, other", "one", "other"))
    assert found.notes == (("draw/log/keys-taken", {"names": ("keys.friend",), "count": 1}),)


def test_what_failed_on_the_source_fails_again(server: LabServer) -> None:
    insert = inserting("ticket", "code", "code")
    failing = replace(insert, figures=Figures(ROWS, 1.0, failed=ROWS))
    found = drawn(server, {"code": NUMBERS}, failing)
    assert found.scenarios[0].parameters == pa.table({"code": NUMBERS})


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO purchase VALUES (:shop, :number, 1) ON CONFLICT DO NOTHING",
        "INSERT INTO purchase (number, who) VALUES (:shop, :number)",
        "UPDATE purchase SET number = :number WHERE shop = :shop",
    ],
    ids=["conflicts are dealt with", "the key is not given", "no insert"],
)
def test_other_values_stay_those_of_the_log(server: LabServer, text: str) -> None:
    values: dict[str, list[int]] = {"shop": [1] * ROWS, "number": [*range(ROWS)]}
    found = drawn(server, values, statement(text, Role.VALUES, ("shop", "number")))
    assert all(one.parameters == pa.table(values) for one in found.scenarios)
    assert found.notes == ()
