"""What a query is sent as, and which queries cannot be run."""

from __future__ import annotations

import pytest

from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import ParameterColumn, ParameterFile
from pgassay.trials.load.query_set.texts import sent
from support.refusals import refused

FILE = ParameterFile("/q.csv", "random", "", 9, (ParameterColumn("x", "int"),))


def query(text: str, parameters: ParameterFile | None = None) -> Scenario:
    return Scenario("q", "q.sql", text, 1.0, parameters=parameters)


def test_a_query_without_variables_is_sent_as_it_is_written() -> None:
    text = "-- top\n/* ; */ SELECT a[1:2], ':x', $$;$$, 'a'::text /* :x */;\n-- end\n"
    found = sent(query(text))
    assert (found.text.decode(), found.variables, found.is_explained) == (text, (), True)


def test_a_parameter_is_no_part_of_a_text_a_name_or_a_comment() -> None:
    text = """SELECT E'\\'$1', "$1", a$1, $$ $1 $$, $b$ $2 $b$ -- $1\n/* $1 */"""
    assert sent(query(text)).text.decode() == text


def test_variables_are_numbered_in_the_order_of_the_text() -> None:
    found = sent(query("-- :x\nSELECT :x, '$1', ':x', (:x)::int /* $2 */;", FILE))
    assert found.text.decode().startswith("SELECT $1, '$1', ':x', ($2)::int")
    assert found.variables == ("x", "x")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1; SELECT 2",
        "SHOW work_mem",
        "EXPLAIN ANALYZE SELECT 1",
        "CREATE TABLE a AS SELECT 1",
    ],
)
def test_what_explain_does_not_take_is_sent_alone(text: str) -> None:
    assert not sent(query(text)).is_explained


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "query-of-nothing"),
        ("-- SELECT 1\n/* nothing */ ;", "query-of-nothing"),
        ("SELECT 1; /* so */ commit; DELETE FROM t", "query-not-possible"),
        ("SET  TRANSACTION READ WRITE", "query-not-possible"),
        ("COPY t TO STDOUT", "query-not-possible"),
        ("PREPARE p AS SELECT 1; EXECUTE p", "query-not-possible"),
        ("ANALYZE t", "query-not-possible"),
        ("SELECT 1 \\gset", "script-wrong"),
        ("SELECT :x", "query-variable-without-file"),
        ("\\d t", "script-wrong"),
        ("SELECT '$1' FROM t WHERE id = $1", "query-with-marks"),
    ],
)
def test_what_cannot_be_rolled_back_or_sent_is_refused(text: str, code: str) -> None:
    with refused(code):
        sent(query(text))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT :y", "query-variable-not-in-file"),
        ("SELECT 1; SELECT :x", "parameters-of-several-statements"),
    ],
)
def test_variables_fit_their_file(text: str, code: str) -> None:
    with refused(code):
        sent(query(text, FILE))
