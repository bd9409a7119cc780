"""A workload drawn from a server's statistics runs there as it is, and the server is only read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from pgassay.draw.model import Drawing, DrawnScenario, Origin
from pgassay.draw.statements.scopes import TableName
from pgassay.draw.statistics.drawing import draw_statistics
from pgassay.draw.statistics.options import StatisticsOptions
from pgassay.draw.tables.catalogue import Catalogue
from pgassay.draw.tables.rows import Sampler
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.spec.workload.queries import read_queries
from pgassay.trials.plans.calls import counted_calls
from support.draw.shop import (
    CALLS,
    PRELOADED,
    WITH_CONSTANTS,
    WITH_PARAMETERS,
    executed,
    make_shop,
    shop_load,
    shop_look,
)
from support.refusals import refused
from support.servers.lab import LabServer, running_lab_server
from support.servers.pool import on_every_version

OPTIONS = StatisticsOptions(seconds=0.5, rows=300)
FINGERPRINT = """
SELECT (SELECT md5(string_agg(name || setting, '' ORDER BY name)) FROM pg_settings),
       (SELECT md5(string_agg(oid::text || relname || relfilenode, '' ORDER BY oid)) FROM pg_class),
       (SELECT md5(string_agg(r::text, '' ORDER BY rolname)) FROM pg_roles r),
       (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables),
       (SELECT stats_reset FROM pg_stat_database WHERE datname = current_database()),
       (SELECT sum(calls) FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
         WHERE rolname = 'looker')
"""

pytestmark = on_every_version


@pytest.fixture(scope="module")
def shop(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    if server_installation.major == 16:
        pytest.skip("this installation of 16 has no contrib")
    with running_lab_server(server_installation, account, servers_base, PRELOADED) as server:
        make_shop(server)
        yield server


@pytest.fixture(scope="module")
def drawn(shop: LabServer) -> Drawing:
    return draw_under_load(shop)


def draw_under_load(
    shop: LabServer, options: StatisticsOptions = OPTIONS, user: str = "lab"
) -> Drawing:
    """Draws while the load runs, once."""
    loads = iter([shop_load])

    def load(_: float) -> None:
        for one in loads:
            one(shop)

    return draw_statistics(shop.dsn(user), replace(options, progress=load))


def scenario(drawn: Drawing, piece: str) -> DrawnScenario:
    (found,) = [one for one in drawn.scenarios if one.statements[0].source_text.startswith(piece)]
    return found


def test_each_drawn_statement_runs_with_each_row_of_its_parameters(
    shop: LabServer, drawn: Drawing
) -> None:
    assert len(drawn.scenarios) == len(WITH_PARAMETERS) + len(WITH_CONSTANTS)
    assert {one.transactions for one in drawn.scenarios} == {CALLS}
    gave = {}
    for one in drawn.scenarios:
        # As another role, which by itself looks for names elsewhere.
        with psycopg.connect(shop.dsn()) as session:
            path = ",".join(drawn.schemas)
            session.execute("SELECT set_config('search_path', %s, false)", (path,))
            (gave[one.name],) = executed(session, one)
            session.rollback()
    # How far back reports look are constants that the statistics do not have.
    assert {name for name, rows in gave.items() if rows == 0} <= {
        "select-orders",
        "select-orders-2",
        "select-orders-3",
    }
    assert gave["insert-taken"] > 0


def test_parameters_have_the_names_types_and_values_of_their_columns(drawn: Drawing) -> None:
    insert = scenario(drawn, "INSERT INTO event")
    (statement,) = insert.statements
    assert [(one.name, one.type, one.column, one.origin) for one in statement.parameters] == [
        ("id", "bigint", "shop.event.id", Origin.ABOVE),
        ("at", "timestamp with time zone", "shop.event.at", Origin.ABOVE),
        ("kind", "smallint", "shop.event.kind", Origin.ROWS),
        ("ratio", "double precision", "shop.event.ratio", Origin.ROWS),
        ("fine", "boolean", "shop.event.fine", Origin.ROWS),
    ]
    assert insert.order == "sequential"
    table = insert.parameters
    assert table is not None
    ids = table["id"].to_pylist()
    assert len(set(ids)) == table.num_rows >= OPTIONS.rows
    assert min(ids) > 10**7
    # Columns of one table are of one row: these five were made of one number.
    assert {(kind % 2 == 0) == fine for _, _, kind, _, fine in rows_of(insert)} == {True}
    # New events come after all others: these are of the first 52 days of the year.
    assert {str(at)[:10] for _, at, *_ in rows_of(insert)} == {"2026-02-22"}
    limit = scenario(drawn, "SELECT id FROM orders").statements[0].parameters[1]
    assert (limit.role, limit.origin) == ("limit", Origin.TYPE)
    colour = scenario(drawn, "SELECT about ->>")
    assert {key for key, _ in rows_of(colour)} == {"colour", "weight"}
    with_key = rows_of(scenario(drawn, "SELECT customer FROM orders WHERE about ->>"))
    assert {key: value[0] == "c" for key, value in with_key} == {"colour": True, "weight": False}
    joined = scenario(drawn, "SELECT o.id FROM orders o JOIN unnest").statements[0].parameters[0]
    assert (joined.column, joined.origin) == ("shop.orders.customer", Origin.ROWS)
    since = scenario(drawn, "SELECT status FROM orders WHERE placed")
    assert {first == last for first, last, _ in rows_of(since)} == {True}
    of_a_view = scenario(drawn, "SELECT placed FROM sent").statements[0].parameters[0]
    assert (of_a_view.column, of_a_view.origin) == ("shop.customer.email", Origin.ROWS)
    quoted = scenario(drawn, 'INSERT INTO "Order Line"').statements[0]
    assert quoted.parameters[1].column == 'shop."Order Line"."No"'
    assert "IN (:no" in scenario(drawn, "SELECT l.sku").statements[0].text
    # Of keys to delete there are more than of others: each is used once.
    deleted = scenario(drawn, "DELETE FROM").parameters
    assert deleted is not None
    assert len(set(deleted["order"].to_pylist())) > OPTIONS.rows


def test_names_are_looked_up_where_the_sources_role_does(drawn: Drawing) -> None:
    assert drawn.schemas == ("shop", "public")
    said = {code: values for code, values in drawn.notes if code == "draw/role-settings"}
    assert said == {"draw/role-settings": {"names": ("app: jit",)}}


def test_a_stretch_of_a_column_gives_as_many_rows_as_on_the_source(
    shop: LabServer, drawn: Drawing
) -> None:
    days = scenario(drawn, "SELECT * FROM orders WHERE placed")
    (statement,) = days.statements
    with psycopg.connect(shop.dsn("app")) as session:
        (rows,) = executed(session, days)
        session.rollback()
    per_call = (statement.figures.rows or 0) / statement.figures.calls
    assert 0.5 < rows / OPTIONS.rows / per_call < 2.0


def test_what_is_not_drawn_is_named_without_its_constants(drawn: Drawing) -> None:
    lost = {one.text: one.reason for one in drawn.lost}
    assert lost["SET application_name = $1"] == "draw/utility"
    assert lost["SELECT count(*) FROM pg_stat_activity"] == "draw/monitoring"
    assert lost["VACUUM login"] == "draw/maintenance"
    # What the drawing itself sends is no load of the source.
    assert not [one for one in drawn.lost if "queryid" in one.text or "xact_commit" in one.text]
    assert "secret" not in json.dumps([str(one) for one in drawn.lost])


def test_the_source_is_the_same_afterwards(shop: LabServer) -> None:
    looks = iter([shop_look])

    def load(_: float) -> None:
        for one in looks:
            one(shop)

    with shop.admin() as session:
        before = session.execute(FINGERPRINT).fetchall()
        drawn = draw_statistics(shop.dsn(), replace(OPTIONS, progress=load))
        assert session.execute(FINGERPRINT).fetchall() == before
    assert scenario(drawn, "SELECT * FROM customer").parameters is not None


def test_a_server_without_load_is_refused(shop: LabServer) -> None:
    with refused("draw-found-nothing"):
        draw_statistics(shop.dsn(), OPTIONS)


def test_a_role_that_may_not_read_tables_draws_statements_with_guessed_values(
    shop: LabServer,
) -> None:
    drawn = draw_under_load(shop, user="looker")
    found = scenario(drawn, "INSERT INTO event").statements[0]
    assert {one.origin for one in found.parameters} <= {Origin.TYPE, Origin.ABOVE}
    assert "draw/rows-not-read" in [code for code, _ in drawn.notes]


def test_statements_are_grouped_as_the_user_says(shop: LabServer, tmp_path: Path) -> None:
    file = tmp_path / "transactions.toml"
    file.write_text(
        """
[[transaction]]
name = "Buy!"
statements = ["select * from customer WHERE id", "INSERT INTO login", "UPDATE customer SET"]
"""
    )
    options = replace(OPTIONS, transactions=file, skew=("shop.customer.id=zipf:1.2",))
    drawn = draw_under_load(shop, options)
    (buy,) = [one for one in drawn.scenarios if one.explicit]
    assert (buy.name, buy.transactions, len(buy.statements)) == ("buy", CALLS, 3)
    # The same customer is looked up and changed, and some far more often than others.
    assert buy.parameters is not None
    customers = buy.parameters["id"].to_pylist()
    assert customers == buy.parameters["id_2"].to_pylist()
    assert max(map(customers.count, set(customers))) > 20
    with psycopg.connect(shop.dsn("app")) as session:
        assert executed(session, buy) == [OPTIONS.rows] * 3
        session.rollback()


def test_constants_beside_parameters_are_those_that_sessions_showed(shop: LabServer) -> None:
    text = "SELECT note FROM orders WHERE customer = %s AND status = 'paid' LIMIT 4"
    with psycopg.connect(shop.dsn("app"), autocommit=True) as client:
        if client.info.server_version < 140000:
            pytest.skip("sessions show no queryid before 14")

        def load(_: float) -> None:
            for n in range(1, CALLS + 1):
                client.execute(text.encode(), (n,))

        drawn = draw_statistics(shop.dsn(), replace(OPTIONS, progress=load))
    (found,) = drawn.scenarios
    origins = {one.name: one.origin for one in found.statements[0].parameters}
    assert origins == {
        "customer": Origin.ROWS,
        "status": Origin.SESSIONS,
        "limit_rows": Origin.SESSIONS,
    }
    assert {row[1:] for row in rows_of(found)} == {("paid", 4)}


def test_a_table_that_the_search_path_does_not_have_is_said_to_be_missing(shop: LabServer) -> None:
    with psycopg.connect(shop.dsn("app"), autocommit=True) as client:
        client.execute("CREATE TEMP TABLE scratch (x int)")

        def load(_: float) -> None:
            for n in range(1, CALLS + 1):
                client.execute("SELECT x FROM scratch WHERE x = %s", (n,))
                client.execute("SELECT * FROM customer WHERE id = %s", (n,))

        drawn = draw_statistics(shop.dsn(), replace(OPTIONS, progress=load))
    assert "draw/table-not-found" in [one.reason for one in drawn.lost]
    assert ("draw/tables-not-found", {"paths": ("shop, public",), "count": 1}) in drawn.notes


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (replace(OPTIONS, skew=("zipf:much",)), "draw-skew-unreadable"),
        (replace(OPTIONS, skew=("shop.event.fine=zipf:1",)), "draw-skew-of-nothing"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    shop: LabServer, options: StatisticsOptions, code: str
) -> None:
    with refused(code):
        draw_under_load(shop, options)


def test_wide_values_are_not_fetched_beyond_a_limit_and_leave_keys_alone(
    lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgassay.draw.tables.rows._MOST_BYTES", 1 << 20)
    with lab_server.admin() as session:
        session.execute(
            "CREATE TABLE wide (shop int, id int, about text, UNIQUE (shop, id));"
            "ALTER TABLE wide ALTER about SET STORAGE EXTERNAL;"
            "INSERT INTO wide SELECT 1, n, repeat('x', 100000) FROM generate_series(1, 100) AS n;"
            "ANALYZE wide"
        )
        table = Catalogue(session).table("public", TableName(None, "wide"))
        assert table is not None
        sampler = Sampler(session, 1000, np.random.default_rng(1))
        sampler.sample(table, ["id"])
        sampler.sample(table, ["id", "about"], written=True)
        assert sampler.size(table) == 100
        assert 10 <= sampler.size(table, written=True) <= 20 + 41
        # No index begins with it, so the server would read the whole table.
        assert sampler.highest(table, "id") == max(
            sampler.values(table, "id", written=True) or [], key=lambda one: int(one or 0)
        )
        assert sampler.highest(table, "shop") == "1"


def test_a_server_without_the_statistics_is_refused_with_what_to_do(lab_server: LabServer) -> None:
    if lab_server.cluster.installation.major == 16:
        pytest.skip("this installation of 16 has no contrib")
    with refused("draw-without-statements"):
        draw_statistics(lab_server.dsn(), OPTIONS)
    with lab_server.admin() as session:
        session.execute("CREATE EXTENSION pg_stat_statements")
    with refused("draw-statements-not-loaded"):
        draw_statistics(lab_server.dsn(), OPTIONS)


def test_calls_of_a_query_are_those_of_the_same_statement_with_any_values(
    shop: LabServer, tmp_path: Path
) -> None:
    with psycopg.connect(shop.dsn(), autocommit=True) as session:
        for n in range(5):
            session.execute(f"SELECT relname FROM pg_class WHERE relpages = {n}".encode())
        for n in range(3):
            session.pgconn.exec_params(b"SELECT oid FROM pg_class WHERE relpages > $1", [b"%d" % n])
    (tmp_path / "fixed.sql").write_text(
        "-- as it is\nSELECT relname  FROM pg_class WHERE relpages = 77"
    )
    (tmp_path / "given.sql").write_text("SELECT oid FROM pg_class WHERE relpages > :pages")
    (tmp_path / "given.csv").write_text("pages\n9\n")
    (tmp_path / "never.sql").write_text("SELECT reltype FROM pg_class")
    (tmp_path / "wrong.sql").write_text("SELECT no_such_column FROM pg_class")
    found = counted_calls(shop.dsn(), read_queries(tmp_path))
    if shop.cluster.installation.major < 14:
        assert found is None
        return
    assert found is not None
    assert found["calls"] == {"fixed": 5, "given": 3}
    assert found["since"] is not None
    assert counted_calls(f"{shop.dsn()} port=1", read_queries(tmp_path)) is None


def rows_of(one: DrawnScenario) -> list[tuple[Any, ...]]:
    """The rows of its parameters, in the order of the columns."""
    assert one.parameters is not None
    return [tuple(row.values()) for row in one.parameters.to_pylist()]
