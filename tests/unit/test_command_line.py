"""The command line says what is wrong in one line, with the exit code of its kind."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pgassay import _core
from pgassay.cli.connection import connection_string
from pgassay.errors import ExitCode, PgassayError, SpecError
from pgassay.spec.scripts import builtin_script, read_script
from pgassay.spec.workload import Scenario
from support.command import pgassay, shop_workload

STUB = Path(_core.__file__).parent / "_core.pyi"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument 'spec'"),
        (["run", "absent.toml"], "absent.toml: there is no such file"),
        (["rnu"], "No such command 'rnu'. Did you mean 'run'?"),
        (["report", "/"], "is not a run directory"),
        (["load", "-T", "1", "-t", "1"], "-t and -T exclude each other; keep one"),
        (["load", "--no-such-flag"], "No such option"),
        (["load", "-f", "absent.sql"], "absent.sql: there is no such file"),
        (
            ["load", "-b", "tpcz"],
            "known are select-only, simple-update, tpcb-like",
        ),
        (["load", "-i"], "-i is pgbench's and not `load`'s: tables are made by `pgassay init`"),
        (["load", "-nSF", "50"], "-F is pgbench's and not `load`'s"),
        (["load", "--partitions=3"], "--partitions is pgbench's and not `load`'s"),
        (["load", "-d", "a", "b"], "two databases, a and b; keep one"),
        (["load", "--search", "p99"], "--search p99: 'p99' is not a condition"),
        (["init", "-I", "dtx"], "-I dtx: the steps are letters of dtgGvpf"),
        (["init", "--partition-method", "hash"], "belongs to --partitions"),
        (["load", "-D", "x"], "-D x: write VARIABLE=VALUE"),
        (["load", "-M", "fast"], "-M fast: known are"),
        (["observe", "--every", "1ms"], "--every: 1ms: give 0.02 s to 60 s"),
        (["observe", "--duration", "soon"], "--duration: "),
        (["observe", "--max-disk", "lots"], "--max-disk: lots: write a size such as 500MB"),
        (["load", "-h", "127.0.0.1", "-p", "1"], "is the server running there"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_one(arguments: list[str], message: str) -> None:
    done = pgassay(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_schema_and_the_plan_are_json(tmp_path: Path) -> None:
    assert json.loads(pgassay("schema").stdout)["title"] == "pgassay experiment"
    spec = tmp_path / "lab.toml"
    spec.write_text("[factors.postgres]\nfsync = ['on', 'off']\n[design]\nseed = 4\n")
    plan = json.loads(pgassay("plan", str(spec), "--json").stdout)
    assert plan["schema"] == "pgassay.plan/1"
    assert len(plan["trials"]) == 2 * plan["max_blocks"]
    shown = pgassay("plan", str(spec)).stdout
    assert "arm a2    fsync = off" in shown
    assert "if still undecided" in shown


def test_a_plan_as_json_tells_what_is_held_and_where_everything_runs(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(
        "[target]\nallow_host_changes = true\n[settings.postgres]\nwork_mem = '5MB'\n"
        "[settings.host]\n'vm.swappiness' = 10\n[placement]\nclient = '0'\n"
    )
    plan = json.loads(pgassay("plan", str(spec), "--json").stdout)
    assert plan["held"] == {"postgres": {"work_mem": "5MB"}, "host": {"vm.swappiness": "10"}}
    assert plan["placement"] == {"client": "CPUs 0"}


def test_a_workload_that_holds_a_password_is_refused_by_file_and_line(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n")
    spec = tmp_path / "lab.toml"
    spec.write_text("[workload]\nuse = 'shop'\n")
    (folder / "schema.sql").write_text("CREATE TABLE t ();\nCREATE ROLE x PASSWORD 'canary';\n")
    done = pgassay("plan", str(spec))
    assert done.returncode == ExitCode.USAGE
    assert "schema.sql: line 2 holds a password" in done.stderr
    assert "canary" not in done.stderr
    (folder / "schema.sql").write_text("CREATE TABLE t (password text);\n")
    (folder / "data.sql").write_text("UPDATE t SET password = 'canary';\n")
    done = pgassay("plan", str(spec))
    assert done.returncode == ExitCode.DONE
    assert "data.sql line 1 holds what looks like a password" in " ".join(done.stdout.split())


def test_a_plan_with_a_broken_script_names_file_and_line(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n\\set x random(1\n")
    spec = tmp_path / "lab.toml"
    spec.write_text("[workload]\nuse = 'shop'\n")
    done = pgassay("plan", str(spec))
    assert done.returncode == ExitCode.USAGE
    assert "buy.sql:2:16: syntax error" in done.stderr
    assert done.stderr.splitlines()[-2:] == ["\\set x random(1", "               ^"]
    (folder / "buy.sql").write_text("SELECT :who;\n")
    assert "buy.sql: reads :who, which nothing sets" in pgassay("plan", str(spec)).stderr


def test_every_error_has_an_exit_code_and_help_names_every_command() -> None:
    def family(kind: type[PgassayError]) -> set[type[PgassayError]]:
        return {kind}.union(*(family(child) for child in kind.__subclasses__()))

    assert {kind.exit_code for kind in family(PgassayError)} <= set(ExitCode)
    shown = pgassay("--help").stdout
    for command in (
        "demo",
        "run",
        "plan",
        "report",
        "load",
        "init",
        "list",
        "show",
        "doctor",
        "recover",
    ):
        assert f" {command} " in shown


def test_a_load_does_not_wait_for_statistics_and_reports() -> None:
    code = "import sys; import pgassay.cli.main; from pgassay.cli.commands import Commands;"
    code += "Commands().get_command(None, 'load');"
    code += "print(*sorted({'scipy', 'plotly', 'pyarrow', 'statsmodels'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == ""


def test_the_native_module_is_what_its_stub_says() -> None:
    tree = ast.parse(STUB.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(_core, node.name))
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
    with pytest.raises(SpecError, match="a password has no place here"):
        connection_string("host=h password=p", None, None, None)


def test_scripts_take_weights_as_pgbench_does(tmp_path: Path) -> None:
    script = tmp_path / "a@b.sql"
    script.write_text("SELECT 1;")
    assert read_script(f"{script}@3").weight == 3.0
    assert read_script(str(script)).weight == 1.0
    assert builtin_script("sel@0.5").name == "select-only"
    assert read_script(f"{script}@0").weight == 0.0
    with pytest.raises(SpecError, match="a weight is a number from 0 on"):
        read_script(f"{script}@1e9")


def test_a_script_is_read_as_psql_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "ünï codé.sql"
    script.write_bytes(b"\xef\xbb\xbfSELECT 1;\r\n")
    assert read_script(str(script)).script == "SELECT 1;\r\n"
    script.write_bytes(b"SELECT 1;\nSELECT '\xe9';\n")
    with pytest.raises(SpecError, match=r"is not UTF-8 text \(line 2\); save it as UTF-8"):
        read_script(str(script))
    with pytest.raises(SpecError, match="there is no such file"):
        read_script("nowhere.sql")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"SELECT 2;")))
    assert read_script("-@3") == Scenario("stdin", "-", "SELECT 2;", 3.0)
