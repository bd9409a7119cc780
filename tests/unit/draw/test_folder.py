"""A drawn workload is a folder that `plan` takes, private to its owner, and honest about itself."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgassay.draw.model import Drawing, DrawnScenario, Origin, Source
from pgassay.draw.stored import DrawingFile, script_hash
from pgassay.draw.writing.experiment_file import FirstQuestion
from pgassay.draw.writing.folder import Writing, write_folder
from pgassay.plan.design import make_plan
from pgassay.samples.storage.json_files import stored_file
from pgassay.spec.parse import load_spec
from pgassay.spec.workload.folder import InstalledTables
from support.draw.drawings import LOOK, LOOKS, PAY, PAYS, STATISTICS
from support.refusals import refused

QUESTION = FirstQuestion("random_page_cost", ("4", "1.1"))


def write(drawing: Drawing, out: Path, writing: Writing | None = None) -> Path:
    write_folder(drawing, out, writing or Writing("service=prod", QUESTION))
    return out


def with_scenarios(*scenarios: DrawnScenario) -> Drawing:
    return replace(STATISTICS, scenarios=scenarios)


def test_the_folder_is_a_workload_with_an_experiment_that_plan_takes(tmp_path: Path) -> None:
    out = write(STATISTICS, tmp_path / "shop")
    spec = load_spec(out / "experiment.toml")
    assert make_plan(spec).factors[0].levels == ("4", "1.1")
    assert spec.workload.installed == InstalledTables(("orders",))
    assert [(one.name, one.weight) for one in spec.workload.scenarios] == [
        ("select-orders", 900.0),
        ("pay-and-look", 100.0),
    ]
    text = (out / "experiment.toml").read_text()
    assert "So many statements (or groups of --transactions) began each second" in text
    table = tomllib.loads(text)
    assert table["target"] == {"dsn": "service=prod"}
    assert table["load"] == {"protocol": "prepared", "rate": 16.7, "clients": 12, "step": "60s"}
    assert pq.read_table(out / "parameters" / "pay-and-look.parquet").equals(PAYS.parameters)


def test_everything_is_for_the_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        out = write(STATISTICS, tmp_path / "shop")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(one.stat().st_mode) for one in out.rglob("*") if one.is_file()}
    folders = {stat.S_IMODE(one.stat().st_mode) for one in (out, out / "parameters")}
    assert (modes, folders) == ({0o600}, {0o700})


def test_a_folder_that_holds_anything_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with refused("already-exists"):
        write(STATISTICS, tmp_path)


def test_no_value_stands_outside_of_the_parameters_and_no_file_is_of_another_name(
    tmp_path: Path,
) -> None:
    out = write(STATISTICS, tmp_path / "shop")
    for file in out.iterdir():
        if file.is_file():
            assert not {"333", "4444", "2026-01-0", "20.25"} & set(file.read_text().split()), file
    assert sorted(one.name for one in out.iterdir()) == [
        "FIDELITY.md",
        "drawing.json",
        "experiment.toml",
        "parameters",
        "pay-and-look.sql",
        "select-orders.sql",
        "workload.toml",
    ]


def test_drawing_json_has_figures_origins_and_the_hashes_of_scripts(tmp_path: Path) -> None:
    out = write(STATISTICS, tmp_path / "shop")
    stored = stored_file(out / "drawing.json", DrawingFile)
    look, pay = stored.scenarios
    assert look.statements[0].figures.blocks_found == 3600
    assert look.statements[0].query_id == -11
    assert look.statements[0].parameters[0].origin == "rows"
    assert look.rows == 3
    assert pay.script_sha256 == script_hash((out / "pay-and-look.sql").read_text())
    assert stored.figures.waits == {"CPU": 0.3, "IO": 0.2}
    assert json.loads((out / "drawing.json").read_text())["masked"] is False


def test_a_script_has_its_transaction_and_pauses_only_where_they_are_asked_for(
    tmp_path: Path,
) -> None:
    plain = (write(STATISTICS, tmp_path / "plain") / "pay-and-look.sql").read_text()
    assert plain.splitlines()[1] == "BEGIN;"
    assert plain.splitlines()[-1] == "COMMIT;"
    assert "\\sleep" not in plain
    writing = Writing("service=prod", QUESTION, think_times=True)
    paused = (write(STATISTICS, tmp_path / "paused", writing) / "pay-and-look.sql").read_text()
    assert "\\set tenth_1 random(0, 9)" in paused
    assert "WHEN :tenth_1 = 9 THEN random(900, 1000)" in paused
    assert "\\sleep :pause_1 us" in paused
    load_spec(tmp_path / "paused" / "experiment.toml")


def test_fidelity_says_first_what_is_covered_then_what_will_differ_and_why(
    tmp_path: Path,
) -> None:
    text = (write(STATISTICS, tmp_path / "shop") / "FIDELITY.md").read_text()
    plain = " ".join(text.split())
    assert "**99.1 % of the calls** and **96.1 % of the execution time**" in plain
    assert "10 calls with 3.88 % of the time are lost" in plain
    assert "Of 3 statements, 2 are expected to differ" in plain
    assert "how wide a range since asked for is not known from statistics" in plain
    assert "the values of amount are guessed" not in plain
    assert "| `customer` | `public.orders.customer` | bigint | `=` | rows of the table" in plain
    assert "The statement gives a password or a key to the server" in plain
    assert "--skew" in plain


def test_what_a_session_showed_is_no_guess_and_a_log_has_no_types(tmp_path: Path) -> None:
    most = replace(LOOK.parameters[2], origin=Origin.SESSIONS)
    nowhere = replace(LOOK.parameters[0], column=None)
    shown = replace(LOOK, parameters=(LOOK.parameters[0], most))
    again = replace(LOOK, parameters=(nowhere,))
    drawing = with_scenarios(replace(LOOKS, statements=(shown, again)))
    page = (write(drawing, tmp_path / "a") / "FIDELITY.md").read_text()
    assert "No statement is expected to differ" in page
    of_a_log = replace(drawing, source=Source.LOG)
    page = (write(of_a_log, tmp_path / "b") / "FIDELITY.md").read_text()
    assert "| `customer` | `public.orders.customer` | `=` | rows of the table" in page


def test_a_scenario_that_no_run_would_take_is_lost_with_its_reason(tmp_path: Path) -> None:
    secret = replace(LOOK, text="SELECT dblink('host=b password=tiger')", parameters=())
    unset = replace(LOOK, text="SELECT :nothing")
    drawing = with_scenarios(
        LOOKS,
        replace(LOOKS, name="secret", statements=(secret,)),
        replace(LOOKS, name="unset", statements=(unset,)),
    )
    out = write(drawing, tmp_path / "shop")
    stored = stored_file(out / "drawing.json", DrawingFile)
    assert [one.name for one in stored.scenarios] == ["select-orders"]
    assert [one.reason for one in stored.lost[1:]] == ["draw/secret-in-text", "draw/not-a-script"]
    assert "tiger" not in "".join(one.read_text() for one in out.iterdir() if one.is_file())


def test_a_drawing_without_scenarios_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with refused("nothing-drawn"):
        write(with_scenarios(), tmp_path / "shop")
    assert not (tmp_path / "shop").exists()


@pytest.mark.parametrize("column", ["public.users.password_hash", "public.users.api_key"])
def test_parameters_of_columns_that_hold_secrets_are_always_replaced(
    tmp_path: Path, column: str
) -> None:
    word = replace(LOOK.parameters[1], name="word", type="text", column=column)
    statement = replace(LOOK, text="SELECT 1 WHERE 'x' = :word", parameters=(word,))
    table = pa.table({"word": ["tiger", "tiger", "lion"]})
    scenario = replace(LOOKS, statements=(statement,), parameters=table)
    out = write(with_scenarios(scenario), tmp_path / "shop")
    first, second, third = pq.read_table(out / "parameters" / "select-orders.parquet")[
        "word"
    ].to_pylist()
    assert first == second != "tiger"
    assert (len(first), len(third)) == (5, 4)
    assert "select-orders.word" in (out / "FIDELITY.md").read_text()


def test_updates_among_many_rows_are_expected_to_differ_unless_the_skew_is_known(
    tmp_path: Path,
) -> None:
    many = pa.table({"amount": ["1"] * 200, "customer": pa.array(range(200), pa.int64())})
    drawing = with_scenarios(replace(PAYS, statements=(PAY,), parameters=many, pauses_us=()))
    said = "how often each customer is changed is not known"
    assert said in (write(drawing, tmp_path / "shop") / "FIDELITY.md").read_text()
    writing = Writing("service=prod", QUESTION, skew=True)
    assert said not in (write(drawing, tmp_path / "skewed", writing) / "FIDELITY.md").read_text()


def test_a_workload_that_commits_more_often_than_its_source_says_so(tmp_path: Path) -> None:
    calls = sum(one.figures.calls for each in STATISTICS.scenarios for one in each.statements)
    often = replace(STATISTICS.figures, commits=calls // 5, rollbacks=0)
    says = "Statements of a transaction, on average: 5.0 on the source"
    page = (write(replace(STATISTICS, figures=often), tmp_path / "a") / "FIDELITY.md").read_text()
    assert says in page
    own = sum(one.transactions for one in STATISTICS.scenarios)
    alike = replace(STATISTICS.figures, commits=own, rollbacks=0)
    page = (write(replace(STATISTICS, figures=alike), tmp_path / "b") / "FIDELITY.md").read_text()
    assert "Statements of a transaction" not in page


def test_a_masked_folder_does_not_name_the_server(tmp_path: Path) -> None:
    writing = Writing("host=db.example.org user=app", QUESTION, mask=True)
    named = replace(STATISTICS, figures=replace(STATISTICS.figures, database="acme example"))
    out = write(named, tmp_path / "shop", writing)
    assert not [one for one in out.rglob("*") if one.is_file() and b"example" in one.read_bytes()]
    load_spec(out / "experiment.toml")
    unnamed = write(named, tmp_path / "unnamed", Writing())
    table = tomllib.loads((unnamed / "experiment.toml").read_text())
    assert table["target"] == {"dsn": "dbname='acme example'"}


def test_tables_that_may_not_be_there_are_not_asked_for(tmp_path: Path) -> None:
    failed = replace(LOOK.figures, failed=LOOK.figures.calls)
    absent = replace(LOOK, figures=failed)
    out = write(with_scenarios(replace(LOOKS, statements=(absent,))), tmp_path / "shop")
    assert load_spec(out / "experiment.toml").workload.installed == InstalledTables(())


def test_a_short_log_is_drawn_longer_by_a_longer_log(tmp_path: Path) -> None:
    few = replace(LOOKS, transactions=3)
    drawing = replace(with_scenarios(few), source=Source.LOG)
    text = (write(drawing, tmp_path / "shop") / "FIDELITY.md").read_text()
    assert "a longer stretch of the log" in text
    assert "--for" not in text
