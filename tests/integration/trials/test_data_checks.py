"""Checks of a workload's data on real servers: what breaks a rule is found, named, not counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.notes import Note
from pgassay.server.connection.session import resolve
from pgassay.spec.workload.folder import DataCheck
from pgassay.trials.guards.invariants import Consistency, check_data
from support.runs.command import pgassay, shop_workload
from support.servers.lab import LabServer, scalar

HOSTILE = "=cmd()\n\x1b[31m\u202e<script>"


@pytest.fixture
def purse(lab_server: LabServer) -> Iterator[LabServer]:
    with lab_server.admin() as session:
        session.execute('CREATE TABLE purse (id int, amount int, "<b>\u202e" text)')
        session.execute("INSERT INTO purse VALUES (1, 5, %s), (2, -7, %s)", (HOSTILE, HOSTILE))
    yield lab_server
    with lab_server.admin() as session:
        session.execute("DROP TABLE purse")


def found_by(server: LabServer, **limits: float) -> Consistency:
    texts = {
        "no-debt": "SELECT * FROM purse WHERE amount < 0; -- in the red",
        "known": "SELECT id FROM purse WHERE amount IS NULL",
        "endless": "SELECT count(*) FROM generate_series(1, 10000000000) AS n",
        "wrong": "SELECT nothing FROM purse",
        "writes": "DELETE FROM purse",
        "last": "SELECT id FROM purse WHERE id = 2",
    }
    checks = [DataCheck(name, f"{name}.sql", text) for name, text in texts.items()]
    return check_data(checks, resolve(server.dsn()), **limits)


def test_a_violated_check_has_its_first_row_and_one_that_says_nothing_a_note(
    purse: LabServer,
) -> None:
    found = found_by(purse, limit_s=0.3)
    assert found.held == ["known"]
    assert list(found.violations) == ["no-debt", "last"]
    assert found.violations["no-debt"].startswith("id = 2, amount = -7, ")
    assert found.violations["no-debt"].isprintable()
    assert found.violations["last"] == "id = 2"
    endless, wrong, writes = found.notes
    assert endless == Note.of("trials/guards/check-too-long", name="endless", limit_s=0.3)
    assert (wrong.code, wrong.values["name"]) == ("trials/guards/check-refused", "wrong")
    assert str(wrong.values["error"]).startswith('column "nothing" does not')
    assert (writes.code, writes.values["name"]) == ("trials/guards/check-refused", "writes")
    with purse.admin() as session:
        assert scalar(session, "SELECT count(*) FROM purse") == 2


def test_checks_do_not_begin_after_the_time_for_all_and_an_unreachable_server_is_one_note(
    purse: LabServer,
) -> None:
    late = found_by(purse, all_limit_s=0.0)
    assert late.violations == {}
    assert {note.code for note in late.notes} == {"trials/guards/check-not-run"}
    nowhere = check_data(
        [DataCheck("one", "one.sql", "SELECT 1")], replace(resolve(purse.dsn()), port=1)
    )
    (note,) = nowhere.notes
    assert note.code == "trials/guards/checks-unfinished"


@pytest.mark.usefixtures("own_base")
def test_a_trial_whose_load_breaks_a_rule_of_the_data_does_not_count_and_says_which(
    tmp_path: Path,
) -> None:
    folder = shop_workload(tmp_path, "UPDATE item SET id = id WHERE id = 7;")
    with (folder / "workload.toml").open("a") as file:
        file.write("[checks]\nno-debt = 'no-debt.sql'\nall-there = 'all-there.sql'\n")
    (folder / "no-debt.sql").write_text("SELECT id AS item FROM item WHERE id < 0 ORDER BY id")
    (folder / "all-there.sql").write_text("SELECT 1 WHERE (SELECT count(*) FROM item) <> :scale")
    (tmp_path / "break.sql").write_text("UPDATE item SET id = -7 WHERE id = 7;")
    (tmp_path / "x.toml").write_text(
        "[workload]\nuse = './shop'\nscale = 9\n[factors.scenarios]\nbuy = ['', 'break.sql']\n"
        "[load]\nclients = 1\nrate = 100\nstep = '0.3s'\nwarmup = '0.1s'\n"
        "[design]\nmin_blocks = 2\nmax_blocks = 2\nseed = 1\n"
    )
    run = tmp_path / "run"
    done = pgassay("run", tmp_path / "x.toml", "--out", run)
    said = "the data are inconsistent after the load, as checks of the workload found: "
    assert f"{said}no-debt (item = -7)" in done.stderr
    assert done.returncode == 0, done.stderr
    trials = [json.loads(file.read_text()) for file in sorted(run.glob("trials/*/trial.json"))]
    for trial in trials:
        broken = trial["levels"]["buy"] == "break"
        assert trial["validity"]["valid"] is not broken
        held = ["all-there"] if broken else ["no-debt", "all-there"]
        assert trial["fingerprint"]["checks_held"] == held
    assert any(trial["validity"]["valid"] for trial in trials)
    assert f"{said}no-debt" in (run / "report.html").read_text()
