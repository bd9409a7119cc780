"""Our engine runs scripts as pgbench runs them; both run each script here."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pgassay import _core
from pgassay.server.hosts.account import Account
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.owned.workspace import make_workspace, new_name
from pgassay.server.protocol import ConnectionParameters
from support.load.script_cases import DEFINED, EXPRESSIONS, SCRIPTS, Script
from support.load.script_mistakes import FAILING, FAULT_DEFINED, FAULTS, MISORDERED, REFUSED
from support.servers.lab import installation_named, started_on_a_free_port
from support.servers.sessions import connect

SEED = 42
FILE = "case.sql"
LIMIT_S = 30.0


@dataclass
class Lab:
    """One server, and the two programs that run scripts on it."""

    parameters: ConnectionParameters
    pgbench: Path
    scratch: Path

    def got(self) -> list[str]:
        """The rows of the table in order; the table is empty afterwards."""
        with connect(self.parameters) as session:
            rows = session.execute("SELECT coalesce(v, 'NULL') FROM got ORDER BY n").fetchall()
            session.execute("TRUNCATE got")
        return [row[0] for row in rows]

    def by_pgbench(
        self, script: str, mode: str, transactions: int = 1, define: Mapping[str, str] | None = None
    ) -> str:
        """Run a script with pgbench; returns its errors."""
        (self.scratch / FILE).write_text(script, newline="")
        at = self.parameters
        done = subprocess.run(
            [
                *(self.pgbench, "-n", "-h", at.host, "-p", str(at.port), "-U", at.user),
                *("-t", str(transactions), "-M", mode, f"--random-seed={SEED}", "-f", FILE),
                *(f"-D{name}={value}" for name, value in (define or {}).items()),
                at.dbname,
            ],
            cwd=self.scratch,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return "\n".join(
            line
            for line in done.stderr.splitlines()
            if line.startswith(("pgbench: error: ", "debug("))
        )

    def by_us(
        self, script: str, mode: str, transactions: int = 1, define: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Run a script with our engine; returns the result."""
        load = _core.Load(
            json.dumps(
                {
                    "connection": self.parameters.for_core(),
                    "application_name": "test",
                    "scenarios": [{"name": "s", "file": FILE, "script": script, "weight": 1}],
                    "steps": [{"clients": 1, "measured": True}],
                    "transactions_per_client": transactions,
                    "protocol": mode,
                    "threads": 1,
                    "seed": SEED,
                    "interval_s": 1.0,
                    "variables": dict(define or {}),
                    "allow_shell": True,
                }
            )
        )
        load.connect()
        load.start()
        assert load.wait(LIMIT_S)
        result: dict[str, Any] = json.loads(load.result())
        return result

    def fault_by_us(self, script: str, mode: str, define: Mapping[str, str] | None = None) -> str:
        result = self.by_us(script, mode, define=define)
        assert (result["transactions"], result["failed"]) == (0, 1), script
        message: str = result["first_error"]["message"]
        return message


@pytest.fixture(scope="module")
def lab(
    account: Account, servers_base: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    original = installation_named("embedded-18")
    installation = runnable_by(original, account)
    cluster = Cluster(installation, make_workspace(account, servers_base, new_name()))
    try:
        cluster.create()
        port = started_on_a_free_port(cluster)
        host = cluster.parameters("postgres").host
        parameters = ConnectionParameters(host, port, "postgres", "postgres")
        with connect(parameters) as session:
            session.execute("CREATE TABLE got (v text, n serial)")
        yield Lab(parameters, original.program("pgbench"), tmp_path_factory.mktemp("scripts"))
    finally:
        cluster.stop(gently=False)
        cluster.workspace.remove()


@pytest.fixture(autouse=True)
def empty(lab: Lab) -> None:
    lab.got()


def reason(complaint: str) -> str:
    """The error of pgbench without the numbers of client, script and command."""
    first, *rest = complaint.removeprefix("pgbench: error: ").split("\npgbench: error: ")
    if first.startswith(("client 0 aborted in command", "client 0 aborted:")):
        return re.sub(r"^client 0 aborted(?: in command .*?;|:) ", "", first)
    first = re.sub(r"^client 0 script 0 command \d+ ", "", first)
    first = re.sub(r"^client 0 script 0 aborted in command \d+ query \d+: ERROR: +", "", first)
    # For \setshell pgbench names the program, our engine the command.
    first = re.sub(r"^(sleep|echo|true): ", "", first)
    assert first, rest
    return first.replace('\n")', '")')


def test_the_tables_are_large_enough() -> None:
    assert len(set(EXPRESSIONS)) >= 150
    assert len(SCRIPTS) + len(FAILING) + len(REFUSED) >= 40


@pytest.mark.parametrize("mode", ["simple", "prepared"])
def test_every_expression_has_the_value_it_has_in_pgbench(lab: Lab, mode: str) -> None:
    value = "':v'" if mode == "simple" else ":v::text"
    lines = ["\\set x 5", "\\set y 2.5"]
    for number, expression in enumerate(EXPRESSIONS):
        lines += [
            f"\\set i {number}",
            f"\\set v {expression}",
            f"INSERT INTO got VALUES (:i || '=' || coalesce({value}, 'NULL'));",
        ]
    script = "\n".join(lines)
    complaint = lab.by_pgbench(script, mode, define=DEFINED)
    assert "pgbench: error" not in complaint
    expected = lab.got()
    assert len(expected) == len(EXPRESSIONS)
    result = lab.by_us(script, mode, define=DEFINED)
    assert result["first_error"] is None
    found = lab.got()
    assert list(zip(EXPRESSIONS, found, strict=True)) == list(
        zip(EXPRESSIONS, expected, strict=True)
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_every_script_does_what_it_does_in_pgbench(lab: Lab, script: Script) -> None:
    for mode in script.modes:
        assert lab.by_pgbench(script.text, mode, script.transactions) == ""
        expected = lab.got()
        result = lab.by_us(script.text, mode, script.transactions)
        assert result["first_error"] is None, mode
        assert lab.got() == expected, mode


def test_an_error_in_an_expression_has_the_words_of_pgbench(lab: Lab) -> None:
    for expression in FAULTS:
        script = f"SELECT 1;\n\\set v {expression}"
        complaint = reason(lab.by_pgbench(script, "simple", define=FAULT_DEFINED))
        message = lab.fault_by_us(script, "simple", define=FAULT_DEFINED)
        assert message == f"{FILE}:2: {complaint}", expression


@pytest.mark.parametrize(("script", "mode", "line"), FAILING, ids=range(len(FAILING)))
def test_a_failing_script_has_the_error_of_pgbench(
    lab: Lab, script: str, mode: str, line: int
) -> None:
    complaint = reason(lab.by_pgbench(script, mode))
    message = lab.fault_by_us(script, mode)
    assert message.startswith(f"{FILE}:{line}: ")
    assert complaint in message


def test_a_script_that_does_not_parse_is_refused_at_the_line_that_pgbench_names(lab: Lab) -> None:
    for script, line in REFUSED:
        complaint = lab.by_pgbench(script, "simple").removeprefix("pgbench: error: ")
        phrase = re.fullmatch(rf"{FILE}:{line}: (.*?)( in command \".*\")?", complaint)
        assert phrase is not None, (script, complaint)
        with pytest.raises(_core.ScriptError) as raised:
            lab.by_us(script, "simple")
        message = str(raised.value)
        assert message.startswith(f"{FILE}:{line}:"), script
        # After \\gset pgbench shows the command before it.
        assert phrase[1].partition(" (\\set")[0] in message, script
        shown, caret = raised.value.excerpt.split("\n")
        assert shown == script.split("\n")[line - 1]
        column = int(message.split(":")[2])
        assert caret == " " * (column - 1) + "^"


def test_misplaced_conditions_are_refused_in_the_words_of_pgbench(lab: Lab) -> None:
    for script in MISORDERED:
        complaint = lab.by_pgbench(script, "simple")
        _, _, phrase = complaint.partition(re.search(r"command \d+: ", complaint)[0])  # type: ignore[index]
        with pytest.raises(_core.ScriptError, match=re.escape(phrase)):
            lab.by_us(script, "simple")


def test_debug_prints_values_as_pgbench_does(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    script = (
        "\\set x debug(1 + 1)\nSELECT 1;\n\\if debug(null)\n\\elif debug(true)\n"
        "\\set x debug(1.5) + debug(1e300 * 1e300)\n\\endif"
    )
    expected = lab.by_pgbench(script, "simple")
    assert expected.count("debug(") == 5
    lab.by_us(script, "simple")
    assert capfd.readouterr().err.strip() == expected


def test_a_seed_gives_each_client_the_random_numbers_of_pgbench(lab: Lab) -> None:
    script = (
        "\\set x random(1, 1000000)\n"
        "INSERT INTO got VALUES (:client_id || ' ' || :x || ' ' || :default_seed);"
    )
    at = lab.parameters
    (lab.scratch / FILE).write_text(script)
    subprocess.run(
        [
            *(lab.pgbench, "-n", "-h", at.host, "-p", str(at.port), "-U", at.user, "-c", "5"),
            *("-t", "3", f"--random-seed={SEED}", "-f", FILE, at.dbname),
        ],
        cwd=lab.scratch,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    expected = sorted(lab.got())
    load = _core.Load(
        json.dumps(
            {
                "connection": at.for_core(),
                "application_name": "test",
                "scenarios": [{"name": "s", "file": FILE, "script": script, "weight": 1}],
                "steps": [{"clients": 5, "measured": True}],
                "transactions_per_client": 3,
                "protocol": "simple",
                "threads": 2,
                "seed": SEED,
                "interval_s": 1.0,
            }
        )
    )
    load.connect()
    load.start()
    assert load.wait(LIMIT_S)
    assert sorted(lab.got()) == expected


def test_a_client_continues_after_a_failure_at_any_place_of_a_script(lab: Lab) -> None:
    for fails in (
        "\\set x 1 / 0",
        "SELECT 1/0;",
        "SELECT 1 AS y WHERE false \\gset",
        "BEGIN;\n\\set x 1 / 0",
        "BEGIN;\nSELECT 1/0;",
        "\\startpipeline\nBEGIN;\nSELECT 1;\n\\set x 1 / 0\n\\endpipeline",
        "\\startpipeline\nSELECT 1/0;\n\\syncpipeline\nSELECT 2;\n\\sleep 1 ms\n\\endpipeline",
        "\\startpipeline\nSELECT 1;\n\\syncpipeline\n\\sleep 1 ms\n\\startpipeline",
        "\\startpipeline\nINSERT INTO got VALUES ('lost');",
        "SELECT 1\\; SELECT 2;",
    ):
        script = (
            f"\\set n :n + 1\n\\if :n % 2 = 0\n{fails}\n\\endif\nINSERT INTO got VALUES (:n::text);"
        )
        result = lab.by_us(script, "prepared", transactions=5, define={"n": "0"})
        assert (result["transactions"], result["failed"]) == (3, 2), fails
        assert lab.got() == ["1", "3", "5"], fails


def test_copy_from_stdin_fails_and_keeps_the_connection(lab: Lab) -> None:
    copy, end = "COPY got (v) FROM STDIN;", "\\endpipeline"
    for mode, lines in (
        ("simple", [copy]),
        ("extended", [copy]),
        ("prepared", ["\\startpipeline", copy, end]),
        ("extended", ["\\startpipeline", "SELECT 1;", copy, "\\syncpipeline", end]),
        ("prepared", ["\\startpipeline", copy, "\\sleep 300 ms", "SELECT 1;", end]),
    ):
        script = "\n".join(lines)
        assert lab.by_pgbench(script, mode).startswith("pgbench: error: COPY is not supported")
        result = lab.by_us(script, mode, transactions=3)
        outcome = (result["failed"], result["lost_connections"], result["first_error"]["sqlstate"])
        assert outcome == (3, 0, "57014"), lines
    # The server reads the next message as data and closes the session, in pgbench too.
    script = "\n".join(["\\startpipeline", copy, "SELECT 1;", end])
    complaint = "unexpected message type 0x42 during COPY from stdin"
    result = lab.by_us(script, "prepared", transactions=3)
    assert (result["failed"], result["lost_connections"]) == (1, 1)
    assert complaint in result["first_error"]["message"]
    assert lab.got() == []


def test_a_statement_that_cannot_be_prepared_at_first_is_prepared_later(lab: Lab) -> None:
    for begin, end in (("", ""), ("\\startpipeline\n", "\n\\endpipeline")):
        script = (
            f"{begin}CREATE TABLE IF NOT EXISTS late AS SELECT 0 AS i;\n"
            f"INSERT INTO late SELECT 1;{end}\nINSERT INTO got SELECT count(*) FROM late;\n"
        )
        result = lab.by_us(script, "prepared", transactions=3)
        assert result["first_error"] is None
        assert lab.got() == ["2", "3", "4"]
        with connect(lab.parameters) as session:
            session.execute("DROP TABLE late")


class TestDeliberateDeviations:
    """Scripts for which pgbench sends something else than is written; see docs/scripts.md."""

    def test_a_variable_that_nothing_sets_is_refused_before_the_run(self, lab: Lab) -> None:
        for script in ("SELECT :undefined;", "\\set x :undefined + 1"):
            with pytest.raises(_core.ScriptError, match='undefined variable "undefined"'):
                lab.by_us(script, "prepared")
        assert reason(lab.by_pgbench("\\set x :undefined", "simple")) == (
            'undefined variable "undefined"'
        )

    def test_a_variable_that_gset_may_set_is_checked_during_the_run(self, lab: Lab) -> None:
        script = "SELECT 1 AS a WHERE false \\aset\n\\set x :a"
        message = lab.fault_by_us(script, "prepared")
        assert message == f"{FILE}:2: {reason(lab.by_pgbench(script, 'prepared'))}"

    def test_null_is_null_and_not_a_word_in_a_parameter(self, lab: Lab) -> None:
        script = "\\set x null\nINSERT INTO got VALUES ((:x::int IS NULL)::text);"
        assert 'invalid input syntax for type integer: "NULL"' in lab.by_pgbench(script, "prepared")
        assert lab.by_us(script, "prepared")["failed"] == 0
        assert lab.got() == ["true"]

    def test_a_variable_in_quotes_is_refused_where_it_cannot_be_replaced(self, lab: Lab) -> None:
        script = "\\set x 5\nSELECT ':x';"
        assert "bind message supplies 1 parameters" in lab.by_pgbench(script, "prepared")
        with pytest.raises(_core.ScriptError, match="in quotes :x is replaced in the simple"):
            lab.by_us(script, "prepared")

    def test_a_variable_in_quotes_that_gset_may_set_is_refused_too(self, lab: Lab) -> None:
        for capture in ("\\gset", "\\aset", "\\gset n"):
            script = f"SELECT 'x' AS name {capture}\nINSERT INTO got VALUES (':name');"
            for mode in ("extended", "prepared"):
                complaint = lab.by_pgbench(script, mode)
                assert "bind message supplies 1 parameters" in complaint
                with pytest.raises(_core.ScriptError, match=rf"^{FILE}:2:26: in quotes :name"):
                    lab.by_us(script, mode)
                with pytest.raises(_core.ScriptError, match="or use the simple protocol"):
                    _core.check_script(FILE, script.encode(), binds=True)
            assert lab.by_pgbench(script, "simple") == ""
            expected = lab.got()
            assert lab.by_us(script, "simple")["failed"] == 0
            assert lab.got() == expected

    def test_a_colon_in_quotes_that_names_no_variable_is_kept(self, lab: Lab) -> None:
        script = "INSERT INTO got VALUES ('{\"a\":true}') /* :x */;"
        assert "bind message supplies" in lab.by_pgbench(script, "prepared")
        assert lab.by_us(script, "prepared")["failed"] == 0
        assert lab.got() == ['{"a":true}']

    def test_programs_run_only_where_allowed(self) -> None:
        for script in ("\\shell true", "\\setshell x echo 1"):
            with pytest.raises(_core.ScriptError, match="--allow-shell"):
                _core.check_script(FILE, script.encode())
            assert _core.check_script(FILE, script.encode(), allow_shell=True) == []

    def test_a_pipeline_in_the_simple_protocol_is_refused_before_the_run(self, lab: Lab) -> None:
        script = "\\startpipeline\n\\endpipeline"
        with pytest.raises(_core.ScriptError) as raised:
            lab.by_us(script, "simple")
        assert reason(lab.by_pgbench(script, "simple")) in str(raised.value)
