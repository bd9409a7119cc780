"""Files of a log are read in any form and compressed; what is none is refused in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pgassay.draw.log.drawing import draw_log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.trace import write_trace
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.load.trace_file import METADATA

LINE = "2026-11-27 16:00:00.{ms} UTC [7] u@d LOG:  duration: 1.000 ms  statement: SELECT {ms}\n"
LOG = "".join(LINE.format(ms=ms) for ms in range(100, 120))


def test_a_compressed_log_is_drawn_as_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    (scenario,) = draw_log([path], LogOptions()).scenarios
    assert scenario.transactions == 20
    assert scenario.statements[0].text == "SELECT :p1"


@pytest.mark.parametrize("prefix", ["%m [%p] %b %q%u@%d ", "%m [%p] %u@%d %b "])
def test_a_type_of_process_is_no_part_of_a_users_name(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "server.log"
    places = ("client backend u@d", "u@d client backend")
    path.write_text(LOG.replace("u@d", places["%b %q" not in prefix]))
    drawing = draw_log([path], LogOptions(prefix=prefix, user="u"))
    assert (drawing.role, drawing.figures.database) == ("u", "d")


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("", LogOptions(), "log-empty"),
        ("\0\1 garbage\n" * 9, LogOptions(), "log-prefix-unknown"),
        (LOG, LogOptions(prefix="%m "), "log-prefix-without-session"),
        (LOG, LogOptions(prefix="[%p] "), "log-prefix-without-time"),
        (LOG, LogOptions(application="shop"), "log-prefix-without-name"),
        (LOG, LogOptions(prefix="%t [%p] user=%u "), "log-prefix-unfit"),
        (LOG, LogOptions(user="nobody"), "log-without-statements"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_a_code(
    tmp_path: Path, text: str, options: LogOptions, code: str
) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)
    with pytest.raises(SetupRefused) as refused:
        draw_log([path], options)
    assert refused.value.code == code


def other(ms: int, sql: bytes) -> bytes:
    return LINE.format(ms=ms).encode().replace(b"SELECT %d" % ms, sql)


@pytest.mark.parametrize(
    ("log", "transactions", "said"),
    [
        (LOG.encode()[30:-40], 18, "unread"),
        (LOG.encode() + bytes(range(256)) * 9 + b"\n" + LOG.encode(), 40, "unread"),
        (LOG.encode() + LOG.replace("16:00", "15:59").encode(), 40, "times-back"),
        (LOG.encode() + other(130, b"SELECT 'caf\xe9'"), 21, "values-cut"),
        (LOG.encode() + other(130, b"SELECT '" + b"x" * 1_000_000 + b"'"), 21, None),
        (LOG.encode() + other(130, b"SELECT " + b"1 + " * 250_000 + b"1"), 20, "unparsable"),
        (LOG.encode() + other(130, b"SELECT " + b"a + " * 300 + b"a"), 20, "unparsable"),
    ],
    ids=["cut", "garbage", "times back", "other encoding", "1 MB value", "1 MB text", "nested"],
)
def test_of_a_damaged_log_the_rest_is_drawn_and_the_loss_is_said(
    tmp_path: Path, log: bytes, transactions: int, said: str | None
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(log)
    drawing = draw_log([path], LogOptions())
    assert sum(one.transactions for one in drawing.scenarios) == transactions
    found = [code for code, _ in drawing.notes] + [lost.reason for lost in drawing.lost]
    assert found == ([f"draw/log/{said}"] if said else [])


def test_a_compressed_log_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(LOG.encode())[:-20])
    with pytest.raises(SetupRefused) as refused:
        draw_log([path], LogOptions())
    assert refused.value.code == "log-unreadable"


def texts_of(tmp_path: Path, sql: str, detail: str = "", **options: float) -> list[str]:
    """The texts of scripts, drawn from a log with as many of the statement as it has lines."""
    sent = f"execute <unnamed>: {sql}" if detail else f"statement: {sql}"
    lines = LOG.splitlines()
    path = tmp_path / "server.log"
    path.write_text(
        "".join(
            f"{line.partition('statement: ')[0]}{sent}\n"
            + (f"{line.partition('LOG:')[0]}DETAIL:  {detail}\n" if detail else "")
            for line in lines
        )
    )
    (scenario,) = draw_log([path], LogOptions(**options)).scenarios  # type: ignore[arg-type]
    return [one.text for one in scenario.statements]


@pytest.mark.parametrize(
    ("sql", "detail", "text"),
    [
        (
            "SELECT 1 FROM t WHERE email = 'alice@x.org' LIMIT 5",
            "",
            "SELECT 1 FROM t WHERE email = :email LIMIT 5",
        ),
        (
            "SELECT 1 FROM t WHERE about -> 'a' ->> 'kind' = 'folk'",
            "",
            "SELECT 1 FROM t WHERE about -> 'a' ->> 'kind' = :about",
        ),
        (
            "SELECT 1 FROM t WHERE state = 'open' AND api_token = 'sk_live' AND id = $1",
            "Parameters: $1 = '7'",
            "SELECT 1 FROM t WHERE state = 'open' AND api_token = :api_token AND id = :id",
        ),
    ],
)
def test_a_constant_stays_in_a_script_only_beside_parameters_and_no_secret_does(
    tmp_path: Path, sql: str, detail: str, text: str
) -> None:
    assert texts_of(tmp_path, sql, detail) == [text]


def test_what_a_sampled_log_has_drawn_and_lost_is_scaled_alike(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    copy = "".join(LOG.replace("SELECT", "COPY t FROM STDIN --"))
    path.write_text(LOG + copy)
    drawing = draw_log([path], LogOptions(sampled=0.1))
    (scenario,), (lost,) = drawing.scenarios, drawing.lost
    figures = scenario.statements[0].figures
    assert (figures.calls, round(figures.time_ms)) == (200, 200)
    assert (lost.calls, round(lost.time_ms)) == (200, 200)


def test_beyond_the_limit_of_scenarios_statements_are_drawn_with_their_own_values(
    tmp_path: Path,
) -> None:
    path = tmp_path / "server.log"
    log = LOG * 2
    for ms in range(200, 210):
        log += other(ms, b"BEGIN").decode()
        log += other(ms, b"SELECT %d FROM a" % ms).decode()
        log += other(ms, b"UPDATE b SET c = %d" % (ms + 100)).decode()
        log += other(ms, b"COMMIT").decode()
    path.write_text(log)
    drawing = draw_log([path], LogOptions(most_scenarios=1))
    assert [one.statements[0].text for one in drawing.scenarios] == [
        "SELECT :p1",
        "SELECT :p1 FROM a",
    ]
    single = drawing.scenarios[1]
    assert single.parameters is not None
    assert single.parameters["p1"].to_pylist() == [*range(200, 210)]
    assert [one.text for one in drawing.lost] == ["UPDATE b SET c = $1"]
    assert ("draw/log/singles", {"count": 1, "most": 1}) in drawing.notes


def test_pieces_of_transactions_are_said_to_be_pieces(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(LOG.encode() + other(130 + ms, b"COMMIT") for ms in range(5)))
    notes = dict(draw_log([path], LogOptions()).notes)
    note = notes["draw/log/partial"]
    assert note["percent"] == pytest.approx(100 * 5 / 85)


@pytest.mark.parametrize(
    "sql",
    [
        b"/* why */ ALTER ROLE a PASSWORD 'tiger'",
        b"BEGIN; ALTER ROLE a PASSWORD 'tiger'",
        b"SELECT dblink('host=b password=tiger', 'SELECT 1')",
    ],
)
def test_a_trace_has_no_statement_that_gives_a_password(tmp_path: Path, sql: bytes) -> None:
    log, trace = tmp_path / "server.log", tmp_path / "trace.parquet"
    log.write_bytes(LOG.encode() + other(130, sql) + other(140, b"SELECT password FROM a"))
    write_trace([log], trace, LogOptions())
    statements = pq.read_table(trace)["statement"].to_pylist()
    assert [one for one in statements if one and "password" in one.lower()] == [
        "SELECT password FROM a"
    ]
    about = json.loads(pq.read_schema(trace).metadata[METADATA])
    assert (about["statements"], about["left_out"]) == (21, 1)


def test_transactions_with_a_temporary_table_are_lost_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    insert = b"INSERT INTO work VALUES (1)"
    path.write_bytes(
        LOG.encode() * 20 + other(130, b"CREATE TEMP TABLE work (id int)") + other(140, insert) * 99
    )
    drawing = draw_log([path], LogOptions())
    assert [one.statements[0].text for one in drawing.scenarios] == ["SELECT :p1"]
    reasons = {one.text: one.reason for one in drawing.lost}
    assert reasons["INSERT INTO work VALUES ($1)"] == "draw/log/temporary-table"
