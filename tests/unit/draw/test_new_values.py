"""New values lie where those of new rows would."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest

from pgassay.draw.tables.guesses import going_up, new_values, times_of_new_rows

NOW = datetime.now(UTC)
OLD = ["2025-12-31 23:00:00+00", "infinity", None, "2026-01-31 10:00:00.5+00", "0044-03-15 BC"]
ZONED = "timestamp with time zone"


def random() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize(
    ("known", "in_order", "begins"),
    [
        ([*OLD, str(NOW - timedelta(hours=1))], False, str(NOW)[:13]),
        (OLD, True, "2026-01-31 10:00:00.501000+00:00"),
        (OLD, False, None),
        ([*OLD, str(NOW + timedelta(days=90))], False, None),
        ([], True, None),
    ],
    ids=["recent", "in order", "neither", "due later", "unknown"],
)
def test_times_of_new_rows_follow_the_latest(
    known: list[str | None], in_order: bool, begins: str | None
) -> None:
    found = times_of_new_rows(ZONED, 3, known, is_in_order=in_order)
    assert (found is None) == (begins is None)
    if found is not None and begins is not None:
        assert str(found[0]).startswith(begins)
        assert sorted(set(map(str, found))) == found


def test_dates_of_new_rows_are_of_one_day() -> None:
    assert set(times_of_new_rows("date", 3, ["2026-01-31"], is_in_order=True) or []) == {
        "2026-01-31"
    }


def test_new_uuids_are_in_the_order_of_time_where_those_of_the_table_are() -> None:
    of_time = ["01890a5d-ac96-774b-bcce-b302099a8057", None, "01890a5d-ac97-774b-bcce-b302099a8057"]
    found = new_values("uuid", 100, 0, None, of_time, random())
    assert sorted(map(str, found)) == found
    assert {(UUID(str(one)).version, UUID(str(one)).variant) for one in found} == {
        (7, UUID(of_time[0] or "").variant)
    }
    by_chance = new_values("uuid", 100, 0, None, [str(uuid4())], random())
    assert {UUID(str(one)).version for one in by_chance} == {4}


def test_guessed_bounds_are_in_order_by_their_size_and_not_as_texts() -> None:
    assert going_up("numeric", [["9.10", "2"], ["12.34", "1"]]) == [("9.10", "1"), ("12.34", "2")]
    assert going_up("text", [["b"], ["a"]]) == [["b"], ["a"]]


def test_new_times_of_a_key_are_above_the_highest() -> None:
    later = str(NOW + timedelta(days=90))
    assert min(map(str, new_values(ZONED, 3, 0, later, [], random()))) > later


def test_new_texts_follow_each_other_where_those_of_the_table_do() -> None:
    like = ["A00001", "ZZZZZZ", "3F0K9Q"]
    spread = [str(one) for one in new_values("text", 500, 10, None, like, random())]
    assert len(set(spread)) == 500
    assert {len(one) for one in spread} == {6}
    assert sorted(spread) != spread
    in_order = new_values("text", 500, 10, None, like, random(), is_in_order=True)
    assert sorted(map(str, in_order)) == in_order
