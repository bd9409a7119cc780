"""Statement statistics are differences of two readings; a reset or evicted statement has none."""

from __future__ import annotations

import pytest

from pgassay.notes import Note
from pgassay.trials.sampling.not_measured import Check, check_extensions
from pgassay.trials.sampling.queries import Extension, all_queries, queries_for
from pgassay.trials.sampling.statement_statistics import OTHERS, SINCE, changed, grown_only


def values(calls: float, ms: float) -> dict[str, float]:
    return {"calls": calls, "exec_time_ms": ms}


def test_statements_that_ran_have_both_readings() -> None:
    columns = changed(
        1, {"a": values(5, 50), "idle": values(3, 3)}, 9,
        {"a": values(7, 80), "idle": values(3, 3), "new": values(2, 4)},
    )  # fmt: skip
    rows = list(zip(*columns.values(), strict=True))
    assert (1, "statements", "a", "calls", 5.0) in rows
    assert (9, "statements", "a", "exec_time_ms", 80.0) in rows
    assert (1, "statements", "new", "calls", 0.0) in rows
    assert "idle" not in columns["object"]


def test_a_statement_that_went_backwards_is_left_out() -> None:
    assert changed(1, {"a": values(5, 50)}, 9, {"a": values(6, 3)})["value"] == []


def test_a_statement_that_is_counted_since_another_time_is_left_out() -> None:
    before = {"evicted": values(5, 50) | {SINCE: 1.0}, "kept": values(5, 50) | {SINCE: 1.0}}
    after = {
        "evicted": values(9, 90) | {SINCE: 7.0},
        "kept": values(9, 90) | {SINCE: 1.0},
        "new": values(1, 1) | {SINCE: 7.0},
    }
    columns = changed(2, before, 9, after)
    assert set(columns["object"]) == {"kept", "new"}
    assert SINCE not in columns["name"]


def test_the_lesser_ones_are_one_row() -> None:
    after = {str(n): values(1, n) for n in range(10)}
    columns = changed(1, {}, 9, after, most=3)
    assert set(columns["object"]) == {"9", "8", "7", OTHERS}
    rows = list(zip(*columns.values(), strict=True))
    assert (9, "statements", OTHERS, "exec_time_ms", float(sum(range(7)))) in rows
    assert (9, "statements", OTHERS, "calls", 7.0) in rows


def test_columns_that_did_not_grow_may_be_left_out() -> None:
    columns = grown_only(changed(1, {"a": values(5, 50)}, 9, {"a": values(7, 50)}))
    assert list(zip(*columns.values(), strict=True)) == [
        (1, "statements", "a", "calls", 5.0),
        (9, "statements", "a", "calls", 7.0),
    ]


def test_a_query_says_how_often_and_with_what_extension_it_runs() -> None:
    queries = queries_for(180000)
    assert queries["wal"].every_s == 1.0
    assert queries["buffercache"].every_s == 10.0
    assert queries["statements"].every_s is None
    assert queries["statements"].extension_floor == "1.12"
    assert all("{" not in query.sql for query in all_queries() if query.extension is None)


def test_a_query_whose_extension_is_absent_or_too_old_is_not_asked() -> None:
    query = queries_for(150000)["statements"]
    assert query.sql_with({}) is None
    assert query.sql_with({"pg_stat_statements": Extension("public", "1.7")}) is None
    sql = query.sql_with({"pg_stat_statements": Extension('"My Schema"', "1.10")})
    assert sql is not None
    assert '"My Schema".pg_stat_statements(false)' in sql


@pytest.mark.parametrize(
    ("version", "newest", "not_yet"),
    [
        ("1.12", "s.parallel_workers_launched", "s.blk_read_time"),
        ("1.11", "s.local_blk_read_time", "s.wal_buffers_full"),
        ("1.10", "s.jit_generation_time", "s.stats_since"),
        ("1.9", "s.blk_read_time", "s.temp_blk_read_time"),
    ],
)
def test_an_upgraded_server_is_asked_what_its_extension_knows(
    version: str, newest: str, not_yet: str
) -> None:
    query = queries_for(180000)["statements"]
    sql = query.sql_with({"pg_stat_statements": Extension("public", version)})
    assert sql is not None
    assert newest in sql
    assert not_yet not in sql


def test_an_extension_that_was_not_updated_is_noted_with_the_line_that_updates_it() -> None:
    def reported(version: str) -> Check:
        found = check_extensions(180000, {"pg_stat_statements": Extension("public", version)})
        return next(check for check in found if check.name == "pg_stat_statements")

    assert reported("1.12").state == "ok"
    lacks = {"version": "1.10", "name": "statements", "floor": "1.12"}
    update = "ALTER EXTENSION pg_stat_statements UPDATE;"
    assert reported("1.10") == Check.noted(
        "pg_stat_statements", Note("trials/sampling/lacks-columns", lacks), update
    )
    too_old = Note.of("trials/sampling/extension-too-old", version="1.7", floor="1.8")
    assert reported("1.7") == Check.noted("pg_stat_statements", too_old, update)


def test_an_extension_whose_library_is_loaded_already_needs_no_restart() -> None:
    fixes = {check.name: check.fix for check in check_extensions(180000, {}, {"pg_wait_sampling"})}
    assert fixes["pg_wait_sampling"] == "CREATE EXTENSION pg_wait_sampling;"
    assert "restart, then CREATE EXTENSION" in fixes["pg_stat_statements"]
