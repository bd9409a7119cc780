"""The command line names a mistake in one line and exits with the code of its kind."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgassay import _core
from pgassay.cli.connection import connection_string
from pgassay.cli.main import app
from pgassay.errors import ExitCode, PgassayError
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.scripts import builtin_script, read_script
from support.refusals import refused
from support.runs.command import pgassay, shop_workload

STUB = Path(_core.__file__).parent / "_core.pyi"


REFUSED = {
    "a file is missing": (["run", "absent.toml"], "file-missing", None),
    "not a run": (["report", "/"], "is-another-kind", "/"),
    "no format": (["report", "/", "--out", "x.pdf"], "file-without-format", "--out x.pdf"),
    "a folder of no format": (["report", "/", "--out", "x"], "file-without-format", "--out x"),
    "not a format of comparisons": (
        ["compare", "a", "b", "--out", "x.csv"],
        "file-without-format",
        "--out x.csv",
    ),
    "not a folder": (["list", "/no/such"], "no-such-folder", "/no/such"),
    "options contradict": (["run", "x.toml", "--accept", "jit"], "option-of-resume", None),
    "two databases": (["load", "-d", "a", "b"], "two-databases", None),
    "a file cannot be written": (
        ["load", "--intervals", "/no/x.csv"],
        "folder-not-writable",
        "--intervals /no/x.csv",
    ),
    "pgbench's, not ours": (["load", "-nSF", "50"], "option-of-pgbench", None),
    "no file": (["run"], "no-file-named", None),
    "no run": (["show"], "no-run-named", None),
    "in the file": (["run", "x.toml", "--dsn", "host=h"], "option-elsewhere", None),
    "a key of the file": (["plan", "x.toml", "-c", "4"], "option-elsewhere", None),
    "not a time": (["load", "-T", "3q"], "unit-unknown", "-T"),
    "not a word of libpq": (
        ["load", "--dsn", "host=h prot=1"],
        "unknown-word-of-connection",
        "database",
    ),
    "not a word of libpq in a URI": (
        ["load", "--dsn", "postgres://h/db?sslmod=require"],
        "unknown-word-of-connection",
        "database",
    ),
    "not a whole number": (["load", "-c", "many"], "answer-not-whole", "-c"),
    "not a number": (["load", "-P", "x"], "not-a-number", "-P"),
    "a number is too small": (["load", "-j", "0"], "number-too-small", "-j"),
    "a number is too large": (["load", "-c", "99999999999"], "number-too-large", "-c"),
    "not a choice": (["load", "--arrivals", "burst"], "not-a-choice", "--arrivals"),
    "not an action": (["study", "foo"], "not-a-choice", "action"),
    "not a builtin": (["load", "--show-script", "foo"], "no-such-builtin", None),
    "not a step": (["init", "-I", "dtx"], "not-init-steps", "-I dtx"),
    "not partitioned": (["init", "--partition-method", "hash"], "partition-method-alone", None),
    "not a duration": (["observe", "--duration", "soon"], "not-a-number-with-unit", "--duration"),
    "out of range": (["observe", "--every", "1ms"], "seconds-out-of-range", "--every"),
    "not a size": (["observe", "--max-disk", "lots"], "size-form", "--max-disk"),
}
MISTAKES = {
    "an argument is missing": (["study"], "Missing argument 'action'"),
    "no such command": (["rnu"], "No such command 'rnu'. Did you mean 'run'?"),
    "no such option": (
        ["load", "--no-such-flag"],
        "load --help` shows what it takes",
    ),
    "no server": (["load", "-h", "127.0.0.1", "-p", "1"], "this server is not running; start it"),
}
"""Those that the parser of the command line, or libpq, puts into words."""


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_is_refused_is_one_line_and_exit_code_one(mistake: str) -> None:
    arguments, code, key = REFUSED[mistake]
    with refused(code, key) as found:
        app(arguments, standalone_mode=False)
    check_one_line(arguments, str(found.value))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_one(mistake: str) -> None:
    check_one_line(*MISTAKES[mistake])


def check_one_line(arguments: Sequence[str], message: str) -> None:
    done = pgassay(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_schema_and_the_plan_are_json(tmp_path: Path) -> None:
    assert json.loads(pgassay("schema").stdout)["title"] == "pgassay experiment"
    spec = tmp_path / "lab.toml"
    spec.write_text(
        "[workload]\nuse = 'payments-write'\n"
        "[factors.postgres]\nfsync = ['on', 'off']\n[design]\nseed = 4\n"
    )
    plan = json.loads(pgassay("plan", str(spec), "--json").stdout)
    assert plan["schema"] == "pgassay.plan/1"
    assert len(plan["trials"]) == 2 * plan["max_blocks"]
    shown = pgassay("plan", str(spec)).stdout
    assert "arm a2    fsync = off" in shown
    assert "if still undecided" in shown


def test_a_plan_as_json_has_settings_that_all_arms_share_and_the_placement(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(
        "[workload]\nuse = 'payments-write'\n"
        "[target]\nallow_host_changes = true\n"
        "[settings.postgres]\nwork_mem = '5MB'\n"
        "[settings.host]\n'vm.swappiness' = 10\n[placement]\nclient = '0'\n"
    )
    plan = json.loads(pgassay("plan", str(spec), "--json").stdout)
    assert plan["held"] == {"postgres": {"work_mem": "5MB"}, "host": {"vm.swappiness": "10"}}
    assert plan["placement"] == {"client": "CPUs 0"}


def test_a_workload_with_a_password_is_refused_by_file_and_line(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n")
    spec = tmp_path / "lab.toml"
    spec.write_text("[workload]\nuse = 'shop'\n")
    (folder / "schema.sql").write_text("CREATE TABLE t ();\nCREATE ROLE x PASSWORD 'canary';\n")
    done = pgassay("plan", str(spec))
    assert done.returncode == ExitCode.USAGE
    with refused("password-in-sql", line=2) as found:
        app(["plan", str(spec)], standalone_mode=False)
    assert str(found.value) in done.stderr
    assert "schema.sql" in str(found.value)
    assert "canary" not in done.stderr
    (folder / "schema.sql").write_text("CREATE TABLE t (password text);\n")
    (folder / "data.sql").write_text("UPDATE t SET password = 'canary';\n")
    done = pgassay("plan", str(spec), "--json")
    assert done.returncode == ExitCode.DONE
    (risk,) = json.loads(done.stdout)["notes"]
    assert risk == {"code": "plan/password", "values": {"name": "data.sql", "line": 1}}


def test_a_plan_names_file_and_line_of_a_wrong_script(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n\\set x random(1\n")
    spec = tmp_path / "lab.toml"
    spec.write_text("[workload]\nuse = 'shop'\n")
    done = pgassay("plan", str(spec))
    assert done.returncode == ExitCode.USAGE
    assert "buy.sql:2:16: syntax error" in done.stderr
    assert done.stderr.splitlines()[-2:] == ["\\set x random(1", "               ^"]
    (folder / "buy.sql").write_text("SELECT :who;\n")
    assert "buy.sql: reads :who, which nothing sets" in pgassay("plan", str(spec)).stderr
    (folder / "buy.sql").write_text("SELECT 'x' AS who \\gset\nSELECT ':who';\n")
    assert "buy.sql:2:9: in quotes :who is replaced" in pgassay("plan", str(spec)).stderr


def test_a_plan_refuses_what_only_psql_could_run_of_a_dump(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n")
    spec = tmp_path / "lab.toml"
    spec.write_text("[workload]\nuse = 'shop'\n[factors.schema.index]\nnone = ''\nb = 'b.sql'\n")
    (folder / "b.sql").write_text("CREATE INDEX i ON t (a);\n")
    for file, text, place in (
        ("schema.sql", "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n", "schema.sql:5:1"),
        ("data.sql", "SET x = 1;\nCOPY public.t (a) FROM stdin;\nit's\n\\.\n", "data.sql:2:1"),
        ("b.sql", "\\set x 1\n", "factors.schema.index.b:1:1"),
    ):
        before = (folder / file).read_text()
        (folder / file).write_text(text)
        done = pgassay("plan", str(spec))
        assert done.returncode == ExitCode.USAGE
        assert f"{place}: " in done.stderr
        assert "but this file goes to the server without it: write SQL only" in done.stderr
        (folder / file).write_text(before)


def test_every_error_has_an_exit_code() -> None:
    def family(kind: type[PgassayError]) -> set[type[PgassayError]]:
        return {kind}.union(*(family(child) for child in kind.__subclasses__()))

    assert {kind.exit_code for kind in family(PgassayError)} <= set(ExitCode)


def test_no_warning_of_a_library_reaches_the_user() -> None:
    # As root without a login session, where platformdirs would warn about XDG_RUNTIME_DIR.
    done = subprocess.run(
        [sys.executable, "-m", "pgassay", "doctor"],
        env=os.environ | {"XDG_RUNTIME_DIR": "", "PYTHONWARNINGS": "always"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""


def test_the_native_module_has_what_its_stub_declares() -> None:
    tree = ast.parse(STUB.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(_core, node.name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert hasattr(_core, node.target.id)
        if isinstance(node, ast.ClassDef):
            native = getattr(_core, node.name)
            declared = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            declared |= {
                n.target.id
                for n in node.body
                if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            }
            public = {name for name in vars(native) if not name.startswith("_")}
            assert {name for name in declared if not name.startswith("_")} >= public
            assert all(hasattr(native, name) for name in declared)


def test_connection_options_become_one_libpq_string() -> None:
    assert connection_string(None, None, None, None) == ""
    assert connection_string("db", "h", 5, "u") == "dbname=db host=h port=5 user=u"
    assert connection_string("postgresql://h/x", None, None, None) == "postgresql://h/x"
    # As in psql and pgbench, what the string says wins.
    said = conninfo_to_dict(connection_string("host=h dbname=x", "other", 5, None))
    assert said == {"host": "h", "port": "5", "dbname": "x"}
    said = conninfo_to_dict(connection_string("postgresql://u@h:6/x", "other", 5, "v"))
    assert said == {"host": "h", "port": "6", "user": "u", "dbname": "x"}
    with refused("password-in-value"):
        connection_string("host=h password=p", None, None, None)
    with refused("name-not-utf8", name="caf\\xe9"):
        connection_string("caf\udce9", None, None, None)


def test_scripts_take_weights_as_pgbench_does(tmp_path: Path) -> None:
    script = tmp_path / "a@b.sql"
    script.write_text("SELECT 1;")
    assert read_script(f"{script}@3").weight == 3.0
    assert read_script(str(script)).weight == 1.0
    assert builtin_script("sel@0.5").name == "select-only"
    assert read_script(f"{script}@0").weight == 0.0
    with refused("not-a-script-weight", weight="1e9"):
        read_script(f"{script}@1e9")


def test_a_script_is_read_as_psql_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "ünï codé.sql"
    script.write_bytes(b"\xef\xbb\xbfSELECT 1;\r\n")
    assert read_script(str(script)).script == "SELECT 1;\r\n"
    script.write_bytes(b"SELECT 1;\nSELECT '\xe9';\n")
    found = read_script(str(script))
    assert found.script == "SELECT 1;\nSELECT '\\xe9';\n"
    assert found.script_bytes == script.read_bytes()
    with refused("file-missing"):
        read_script("nowhere.sql")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"SELECT 2;")))
    assert read_script("-@3") == Scenario("stdin", "-", "SELECT 2;", 3.0)
