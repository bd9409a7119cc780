"""Keys that an INSERT returned are taken from it again, where later statements sent them."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from pgassay.draw.log.returned import inserted_keys, with_returned
from pgassay.draw.model import DrawnScenario, DrawnStatement, Figures, Origin, Parameter, Role
from pgassay.draw.writing.coverage import Coverage
from pgassay.draw.writing.scripts import script_of

ROWS = 12


def drawn(first: str, key: str = "order_id", values: list[int] | None = None) -> DrawnScenario:
    """An order and its line, as a log shows them."""
    names = ("note", key)
    texts = (first, "INSERT INTO line (order_id, n) VALUES ($1, 1)")
    statements = tuple(
        DrawnStatement(
            fingerprint="0" * 16,
            text=text.replace("$1", f":{name}"),
            source_text=text,
            parameters=(Parameter(name, "", Origin.LOG, role=Role.VALUES),),
            figures=Figures(ROWS, 1.0),
        )
        for name, text in zip(names, texts, strict=True)
    )
    table = pa.table({"note": ["a"] * ROWS, key: values or [*range(ROWS)]})
    return DrawnScenario("order", statements, explicit=True, transactions=ROWS, parameters=table)


ORDER = 'INSERT INTO "Order" (note) VALUES ($1) RETURNING id'


def test_a_returned_key_is_no_value_of_the_log() -> None:
    found = with_returned(drawn(ORDER))
    assert found.parameters is not None
    assert found.parameters.column_names == ["note"]
    assert found.statements[1].parameters[0].origin is Origin.RETURNED
    script = script_of(found, Coverage(0, 0.0, 0, 0.0))
    assert "VALUES (:note) RETURNING id \\gset order_\n" in script
    assert "VALUES (:order_id, 1);" in script


def test_a_key_that_clients_gave_is_named_since_the_copy_has_it() -> None:
    assert list(inserted_keys(drawn(ORDER))) == ["order.order_id"]
    assert list(inserted_keys(with_returned(drawn(ORDER)))) == []
    assert list(inserted_keys(drawn(ORDER, values=[1] * ROWS))) == []
    of_texts = drawn(ORDER)
    for text, is_key in (("0b5e7c9e-8d5f-4f0e-9a55-0000000000{:02}", True), ("note {}", False)):
        table = pa.table({"order_id": [text.format(n) for n in range(ROWS)]})
        assert bool(list(inserted_keys(replace(of_texts, parameters=table)))) == is_key


def test_a_key_is_known_by_its_column_where_its_variable_has_another_name() -> None:
    scenario = drawn(ORDER, key="p1")
    update = DrawnStatement(
        "0" * 16, 'UPDATE "Order" SET n = 1 WHERE id = :p1', "",
        (Parameter("p1", "", Origin.LOG, "Order.id", Role.EQUAL),), Figures(ROWS, 1.0),
    )  # fmt: skip
    found = with_returned(replace(scenario, statements=(*scenario.statements, update)))
    assert found.parameters is not None
    assert found.parameters.column_names == ["note"]
    script = script_of(found, Coverage(0, 0.0, 0, 0.0))
    assert "RETURNING id \\gset order_\n" in script
    assert "VALUES (:order_id, 1);" in script
    assert "WHERE id = :order_id;" in script


def deleting(name: str) -> DrawnStatement:
    """A row of another table, whose key has the same name."""
    text = f"DELETE FROM carts WHERE id = :{name}"
    return DrawnStatement(
        "0" * 16,
        text,
        "",
        (Parameter(name, "", Origin.LOG, "carts.id", Role.EQUAL),),
        Figures(ROWS, 1.0),
    )


def test_a_key_of_another_table_is_not_taken_for_the_returned_one() -> None:
    scenario = drawn(ORDER)
    values = scenario.parameters
    assert values is not None
    table = values.append_column("id", pa.array(range(100, 100 + ROWS)))
    first, second = scenario.statements
    both = replace(scenario, statements=(first, deleting("id"), second), parameters=table)
    found = with_returned(both)
    assert found.parameters is not None
    assert found.parameters.column_names == ["note", "id"]
    assert found.statements[2].parameters[0].origin is Origin.RETURNED
    alone = replace(scenario, statements=(first, deleting("id")), parameters=table)
    assert with_returned(alone) is alone


def test_one_key_in_two_types_is_taken_in_both_places() -> None:
    scenario = drawn(ORDER)
    values = scenario.parameters
    assert values is not None
    table = values.append_column("order", values.column("order_id").cast(pa.string()))
    looks = DrawnStatement(
        "0" * 16, "SELECT 1 FROM bill WHERE ref = :order", "",
        (Parameter("order", "", Origin.LOG, "bill.order_id", Role.EQUAL),), Figures(ROWS, 1.0),
    )  # fmt: skip
    found = with_returned(
        replace(scenario, statements=(*scenario.statements, looks), parameters=table)
    )
    assert found.parameters is not None
    assert found.parameters.column_names == ["note"]
    assert found.statements[2].text == "SELECT 1 FROM bill WHERE ref = :order_id"


@pytest.mark.parametrize(
    "kept",
    [
        drawn('INSERT INTO "Order" (note) VALUES ($1)'),
        drawn(f"{ORDER}, note"),
        drawn('INSERT INTO "Order" (note) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id'),
        drawn(ORDER, key="product_id"),
        drawn(ORDER, values=[1] * ROWS),
    ],
)
def test_what_may_be_another_value_stays_that_of_the_log(kept: DrawnScenario) -> None:
    assert with_returned(kept) is kept
