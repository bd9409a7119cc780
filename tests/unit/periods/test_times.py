"""The periods that options name, by the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from pgassay.cli.observe.times import Asked, Span, spans_of, words_of
from support.refusals import refused

HOUR_NS = 3600 * 10**9


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e9)


WHOLE: Span = (at("2026-10-20 00:00+02:00"), at("2026-10-27 12:00+01:00"))


@pytest.mark.parametrize(
    ("asked", "first", "second"),
    [
        (("09:00", "10:00", "yesterday"), "2026-10-26T09:00+01:00", "2026-10-27T09:00+01:00"),
        (("09:00", "10:00", "last-week"), "2026-10-20T09:00+02:00", "2026-10-27T09:00+01:00"),
        (("13:00", "14:00", None), "2026-10-26T12:00+01:00", "2026-10-26T13:00+01:00"),
        (("11:00", None, None), "2026-10-27T10:00+01:00", "2026-10-27T11:00+01:00"),
        (("09:00", "10:00", "07:30"), "2026-10-27T07:30+01:00", "2026-10-27T09:00+01:00"),
        (
            ("2026-10-24 09:00", "10:00", "2026-10-22T08:00:00+00:00"),
            "2026-10-22T10:00+02:00",
            "2026-10-24T09:00+02:00",
        ),
    ],
)
def test_periods_are_those_of_the_clock(
    asked: tuple[str, str | None, str | None], first: str, second: str
) -> None:
    spans = spans_of(Asked(*asked), WHOLE)
    assert spans == tuple((at(one), at(one) + HOUR_NS) for one in (first, second))


def test_a_time_that_is_none_or_ends_first_is_refused() -> None:
    with refused("period-without-begin"):
        spans_of(Asked(end="10:00"), WHOLE)
    with refused("period-form", "--from nine"):
        spans_of(Asked("nine"), WHOLE)
    with refused("period-ends-first"):
        spans_of(Asked("2026-10-24 09:00", "2026-10-24 08:00"), WHOLE)
    with refused("period-with-itself"):
        spans_of(Asked("09:00", "10:00", "09:00"), WHOLE)


def test_a_period_is_named_by_its_day_and_hours() -> None:
    assert words_of((WHOLE[1] - HOUR_NS, WHOLE[1])) == "2026-10-27 11:00 – 12:00"
