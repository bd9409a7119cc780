"""`pgassay new` writes an experiment file that `plan` takes, whatever is answered."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.cli.main import app
from pgassay.cli.new.answers import Answers
from pgassay.cli.new.command import new
from pgassay.cli.new.file_text import file_text
from pgassay.cli.new.offered import Offer, usual_levels
from pgassay.cli.new.terminal import questions
from pgassay.errors import ExitCode
from pgassay.spec.reading.tables import toml_key, toml_literal
from pgassay.spec.settings.catalogue import CATALOGUED, check_setting, names
from support.refusals import refused
from support.runs.command import pgassay, shop_workload
from support.runs.terminal import END, talk

# Quotes, markup, a mark of direction, an emoji, a formula, a comment that ends a line, DEL.
HOSTILE = "\"'<script>\\u0041 \u202e🐘 =cmd() # [target]\x7f"


def planned(file: Path) -> str:
    done = pgassay("plan", file)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flags_say_everything_and_the_next_commands_are_named(tmp_path: Path) -> None:
    file = tmp_path / "my wal.toml"
    done = pgassay(
        "new", file, "--vary", "wal_compression=off,pglz", "--vary", "work_mem=4MB, 64MB",
        "--workload", "pgbench", "--scale", "3", "--clients", "4,8", "--step", "30",
        "--smallest-effect", "5", "--question", "Does it?", "--postgres", "16",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert f"next      pgassay plan '{file}'\nnext      pgassay run '{file}'\n" in done.stdout
    assert "time      about 29 min to 1 h 57 min" in done.stdout
    assert tomllib.loads(file.read_text()) == {
        "question": "Does it?",
        "target": {"version": 16},
        "workload": {"use": "pgbench", "scale": 3},
        "factors": {"postgres": {"wal_compression": ["off", "pglz"], "work_mem": ["4MB", "64MB"]}},
        "load": {"clients": [4, 8], "step": "30s"},
        "design": {"smallest_effect": "5%"},
    }
    assert "29 min to 1 h 57 min" in planned(file)


def test_without_a_terminal_nothing_is_asked_and_defaults_make_a_file_that_plan_takes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "experiment.toml"
    done = pgassay("new", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing is varied" in done.stdout
    assert "arm a1" in planned(file)


def test_with_yes_nothing_is_asked_on_a_terminal(tmp_path: Path) -> None:
    shown, status = talk(["new", tmp_path / "x.toml", "--yes", "--vary", "jit=on,off"], [])
    assert status == 0
    assert not any(one["ask"] in shown for one in questions().values())


def test_every_question_has_a_flag() -> None:
    flags = {"server": "dsn", "levels": "vary", "changes": "allow_changes",
             "effect": "smallest_effect"}  # fmt: skip
    asked = {flags.get(name, name) for name in questions()}
    assert asked <= set(inspect.signature(new).parameters)


def test_questions_make_the_file_and_an_answer_that_does_not_fit_is_asked_again(
    tmp_path: Path,
) -> None:
    file = tmp_path / "q.toml"
    shown, status = talk(
        ["new"],
        [
            ("File to write", str(tmp_path)),
            ("this is a folder", str(file)),
            ("Server", "host=x password=secret"),
            ("a password may not be written here", ""),
            ("Setting to vary", "?wal_comp"),
            ("which of these?", "wal_compresion"),
            ("did you mean wal_compression?", "port"),
            ("cannot be set here", "WAL_Compression"),
            ("Values of wal_compression", "off"),
            ("needs at least two", "off,lz5"),
            ("is not a value of this setting", ""),
            ("Setting to vary", "wal_compression"),
            ("is varied already", ""),
            ("Workload", "payments-wrote"),
            ("did you mean payments-write?", ""),
            ("Scale", "0"),
            ("greater than or equal to 1", "2"),
            ("Clients", "many"),
            ("is not a whole number", "2..8 log 3"),
            ("Measured time", "soon"),
            ("is not a number", "5s"),
            ("Smallest effect", "200%"),
            ("less than 1", "3%"),
            ("Question", HOSTILE.replace("\x7f", "")),
        ],
    )
    assert status == 0, shown
    assert "secret" not in shown.replace("password=secret", "")
    found = tomllib.loads(file.read_text())
    assert found["factors"] == {"postgres": {"wal_compression": ["off", "pglz"]}}
    assert found["load"] == {"clients": "2..8 log 3", "step": "5s"}
    assert found["question"] == HOSTILE.replace("\x7f", "")
    planned(file)


def test_what_a_flag_says_is_not_asked(tmp_path: Path) -> None:
    flags = ["--postgres", "18", "--vary", "jit=on,off", "--workload", "payments", "--scale", "1",
             "--clients", "1", "--step", "5s", "--smallest-effect", "2%"]  # fmt: skip
    shown, status = talk(["new", tmp_path / "x.toml", *flags], [("Question", "")])
    assert status == 0
    assert [name for name, one in questions().items() if one["ask"] in shown] == ["question"]


def test_the_end_of_input_stops_and_writes_nothing(tmp_path: Path) -> None:
    _, status = talk(["new", tmp_path / "x.toml"], [("Server", END)])
    assert status == ExitCode.INTERRUPTED
    assert not any(tmp_path.iterdir())


def test_a_file_is_replaced_only_with_force(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("mine")
    refused = pgassay("new", file)
    assert "is there already" in refused.stderr
    assert file.read_text() == "mine"
    assert pgassay("new", file, "--force").returncode == 0
    planned(file)


DSN = ("--dsn", "host=/nowhere dbname=lab")
MISTAKES: dict[str, tuple[Sequence[str], str, dict[str, str]]] = {
    "unknown setting": (
        ["--vary", "wrk_mem=1MB,2MB"],
        "setting-unknown",
        {"near": "did you mean work_mem?"},
    ),
    "no values": (["--vary", "work_mem"], "factor-form", {}),
    "one value": (["--vary", "work_mem=4MB"], "too-few-levels", {}),
    "equal values": (
        ["--vary", "work_mem=4MB,4096kB"],
        "equal-levels",
        {"one": "4MB", "other": "4096kB"},
    ),
    "out of range": (
        ["--vary", "work_mem=1kB,4MB"],
        "setting-out-of-range-in-unit",
        {"value": "1kB", "least": "64"},
    ),
    "wrong unit": (["--vary", "work_mem=1Mb,4MB"], "unit-misspelt", {"near": "MB"}),
    "twice": (["--vary", "jit=on,off", "--vary", "JIT=on,off"], "varied-already", {"name": "jit"}),
    "of a newer version": (
        ["--postgres", "16", "--vary", "io_method=sync,worker"],
        "setting-unknown",
        {"near": "PostgreSQL 18 has it"},
    ),
    "two servers": (
        ["--postgres", "16", *DSN],
        "options-exclude-each-other",
        {"option": "--dsn", "other": "--postgres"},
    ),
    "no such version": (["--postgres", "12"], "no-such-postgres", {}),
    "a password": (["--dsn", "postgresql://u:pw@h/d"], "password-in-value", {}),
    "changes of nothing": (["--allow-changes"], "changes-without-dsn", {}),
    "changes not allowed": ([*DSN, "--vary", "max_wal_size=1GB,2GB"], "settings-not-varied", {}),
    "too short for slices": (
        [*DSN, "--vary", "work_mem=4MB,64MB", "--step", "3s"],
        "answers-of-no-switchback",
        {},
    ),
    "no folder": (["--workload", "absent/"], "no-such-workload", {"name": "'absent/'"}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_flag_is_refused_and_writes_nothing(mistake: str, tmp_path: Path) -> None:
    arguments, code, values = MISTAKES[mistake]
    with refused(code, **values) as found:
        app(["new", str(tmp_path / "x.toml"), *arguments], standalone_mode=False)
    assert found.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(found.value)
    assert "pw" not in str(found.value)
    assert getattr(found.value, "file", None) is None
    assert not any(tmp_path.iterdir())


def test_a_refusal_is_one_line_without_a_password(tmp_path: Path) -> None:
    for arguments in (["--dsn", "postgresql://u:pw@h/d"], [*DSN, "--connect"]):
        done = pgassay("new", tmp_path / "x.toml", *arguments)
        assert done.returncode == ExitCode.USAGE
        assert done.stderr.count("\n") == 1
        assert "pw" not in done.stderr
        assert not any(tmp_path.iterdir())
    assert "/nowhere/" in done.stderr


def test_settings_of_sessions_take_no_permission_on_an_existing_server(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    assert pgassay("new", file, *DSN, "--vary", "work_mem=4MB,64MB").returncode == 0
    found = tomllib.loads(file.read_text())
    assert found["design"]["mode"] == "switchback"
    assert "allow_changes" not in found["target"]


def test_a_setting_that_takes_a_restart_is_explained_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    done = pgassay("new", file, *DSN, "--allow-changes", "--vary", "shared_buffers=1GB,2GB")
    assert "takes a restart of that server" in done.stdout
    assert "# shared_buffers takes a restart" in file.read_text()
    assert tomllib.loads(file.read_text())["target"]["allow_changes"] is True


def test_a_workload_folder_is_found_from_the_folder_of_the_file(tmp_path: Path) -> None:
    shop = shop_workload(tmp_path, "SELECT 1;")
    (tmp_path / "specs").mkdir()
    file = tmp_path / "specs" / "x.toml"
    assert pgassay("new", file, "--workload", shop).returncode == 0
    assert tomllib.loads(file.read_text())["workload"]["use"] == "../shop/"
    planned(file)


def test_the_file_has_what_its_workload_needs(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    assert pgassay("new", file, "--workload", "airline").returncode == 0
    assert tomllib.loads(file.read_text())["load"]["pools"] == "per_scenario"
    planned(file)
    options = ("--workload", "airline-installed", "--dsn", "service=lab", "--no-connect", "--force")
    done = pgassay("new", file, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert tomllib.loads(file.read_text())["reset"] == {"level": "none"}
    with refused("installed-tables-without-server", name="airline-installed") as found:
        app(["new", str(file), "--workload", "airline-installed", "--force"], standalone_mode=False)
    assert found.value.exit_code == ExitCode.USAGE


@given(st.text(), st.text())
def test_any_text_comes_back_from_toml_as_it_was(name: str, value: str) -> None:
    written = f"{toml_key(name)} = {toml_literal([value, {name: value}])}"
    assert tomllib.loads(written) == {name: [value, {name: value}]}
    assert written.isprintable()


def test_no_answer_leaves_its_quotes_or_its_comment() -> None:
    factors = {"a.b\n[target]": [HOSTILE, "x\ny"]}
    answers = Answers(
        dsn=HOSTILE, factors=factors, workload=HOSTILE, step=HOSTILE, effect=HOSTILE,
        question=HOSTILE,
    )  # fmt: skip
    offer = Offer("x", "string", None, None, None, (), "user", now="now\n[target]")
    text = file_text(answers, dict.fromkeys(factors, offer), "run it\n[load]")
    found = tomllib.loads(text)
    assert found["factors"]["postgres"] == factors
    assert {found["question"], found["target"]["dsn"], found["workload"]["use"]} == {HOSTILE}
    assert set(found["target"]) == {"dsn"}


@pytest.mark.parametrize("major", CATALOGUED)
def test_the_values_that_are_offered_fit_every_version_that_has_the_setting(major: int) -> None:
    for name, levels in usual_levels().items():
        for level in levels if name in names(major) else ():
            check_setting(name, name, level, major)
