"""Constants become parameters where they decide values, and texts become what a script may hold."""

from __future__ import annotations

import pytest

from pgassay.draw.statements.constants import masked, without_constants
from pgassay.draw.statements.parsing import Unparsable, fingerprint, parsed
from pgassay.draw.statements.rewriting import (
    preparable,
    unsquashed,
    with_names,
    without_comments,
)


@pytest.mark.parametrize(
    ("text", "normalised", "values"),
    [
        (
            "SELECT ü FROM t WHERE a = 'é' AND b = -5 AND c = $1 AND d = true",
            "SELECT ü FROM t WHERE a = $2 AND b = $3 AND c = $1 AND d = $4",
            ("é", "-5", "true"),
        ),
        (
            "INSERT INTO t VALUES (NULL, 1.5, $$a'b$$, E'\\n')",
            "INSERT INTO t VALUES ($1, $2, $3, $4)",
            (None, "1.5", "a'b", "\n"),
        ),
        (
            "SELECT x - 1, extract(year FROM y), z::numeric(9, 2) FROM t"
            " WHERE y > now() - interval '1' day GROUP BY 1, a + 2 ORDER BY 1 LIMIT 10",
            "SELECT x - $1, extract(year FROM y), z::numeric(9, 2) FROM t"
            " WHERE y > now() - $2::interval day GROUP BY 1, a + $3 ORDER BY 1 LIMIT $4",
            ("1", "1", "2", "10"),
        ),
    ],
)
def test_constants_that_decide_values_become_parameters(
    text: str, normalised: str, values: tuple[str | None, ...]
) -> None:
    found = without_constants(text)
    assert (found.text, found.values) == (normalised, values)
    assert fingerprint(normalised) == fingerprint(text)


def test_a_masked_text_has_no_constant_whatever_it_is() -> None:
    assert masked("ALTER ROLE r PASSWORD 'secret' -- why") == "ALTER ROLE r PASSWORD $1"
    assert masked("SELECT 'cut in the mid") == "SELECT …"
    assert len(masked("SELECT " + "a, " * 200)) == 200


def test_a_text_of_the_statistics_is_made_such_that_a_server_prepares_it() -> None:
    text = "SELECT extract($1 FROM x), date $2 FROM t WHERE y > interval $3 day -- more;"
    made = preparable(text)
    assert made == ("SELECT pg_catalog.extract($1 , x), $2::date FROM t WHERE y > $3::interval day")
    parsed(made)


def test_what_clients_add_to_a_text_is_left_out_of_it() -> None:
    text = "/*+ SeqScan(t) */ SELECT $1 /*, ... */ FROM t /*traceparent='00-7'*/ -- user 7"
    assert without_comments(text) == "/*+ SeqScan(t) */ SELECT $1 /*, ... */ FROM t"


def test_a_list_cut_short_has_as_many_elements_as_asked_for() -> None:
    text = "SELECT 1 FROM t WHERE a IN ($1 /*, ... */) AND b = $2"
    assert unsquashed(text, 3) == ("SELECT 1 FROM t WHERE a IN ($1 , $3, $4) AND b = $2", 1)


def test_names_of_a_script_mean_what_the_parameters_meant() -> None:
    text = "SELECT a[$1:$2], b[1:n], c-$3, $4::int, '$5' FROM t"
    names = {1: "low", 2: "high", 3: "less", 4: "x"}
    assert with_names(text, names) == (
        "SELECT a[(:low):(:high)], b[1: n], c- :less, :x::int, '$5' FROM t"
    )


def test_what_is_no_statement_is_said_to_be_none() -> None:
    for text in ("SELECT 'cut", "SELEC 1", "SELECT 1; SELECT 2", "\x00\x01"):
        with pytest.raises(Unparsable):
            parsed(text)


def test_a_long_list_of_rows_is_read_and_what_would_end_the_parser_is_not() -> None:
    rows = ", ".join(f"(${number}, ${number + 1})" for number in range(1, 6000, 2))
    parsed(f"INSERT INTO t VALUES {rows}")
    for deep in ("+1" * 20_000, f"{'+(1' * 20_000}{')' * 20_000}", "+f(1, 1" * 9000):
        with pytest.raises(Unparsable):
            parsed(f"SELECT 1{deep}")
