"""Constants are known from the texts that sessions showed."""

from __future__ import annotations

import pytest

from pgassay.draw.statements.seen import Seen, seen_in
from pgassay.draw.statistics.constants import Constants

KNOWN = (
    "SELECT extract($1 FROM at) FROM t WHERE a = $2 AND b > now() - interval $3"
    " AND c IN ($4 /*, ... */) AND d < $5 LIMIT $6"
)


def test_a_text_shows_its_constants_and_the_lengths_of_its_lists() -> None:
    text = (
        "select extract(year from at) from t -- why\n where a = 'it''s' and b > now() -"
        " interval '2 days' and c in (1, -2, 3) and d < -5 limit NULL;"
    )
    seen = seen_in(KNOWN, text)
    assert seen is not None
    assert seen.values == {1: "year", 2: "it's", 3: "2 days", 4: "1", 5: "-5", 6: None}
    assert (seen.mixed, seen.elements) == (False, [3])


def test_parameters_of_the_client_are_no_constants() -> None:
    seen = seen_in("SELECT 1 FROM t WHERE a = $1 AND b = $2", "SELECT 1 FROM t WHERE a=$1 AND b=7")
    assert seen == Seen({2: "7"}, True, [])


@pytest.mark.parametrize(
    "text", ["SELECT 1 FROM t WHERE a = 'cut", "SELECT 1 FROM t", "SELECT 1 FROM t WHERE a = 1, 2"]
)
def test_a_text_of_another_statement_or_a_cut_one_shows_nothing(text: str) -> None:
    assert seen_in("SELECT 1 FROM t WHERE a = $1", text) is None


def test_what_is_always_the_same_is_a_constant_of_the_program() -> None:
    varies = [Seen({1: str(n), 2: "open"}) for n in range(5)]
    assert Constants.of(varies).fixed == {2: "open"}
    assert Constants.of(varies).seen[1] == ["0", "1", "2", "3", "4"]
    assert Constants.of(varies[:4]).fixed == {}
    assert Constants.of([Seen({2: "10"}, mixed=True)]).fixed == {2: "10"}
