"""`pgassay study`: the list, the texts and the files of the ready studies; wrong calls."""

from __future__ import annotations

import json
import re

import pytest

from pgassay.analysis.noise.model import Noise, NoiseFloor
from pgassay.analysis.noise.prior_runs import conditions_of, record_of, timed
from pgassay.cli.study.shown import takes
from pgassay.plan.description import run_lengths, time_range
from pgassay.plan.design import make_plan
from pgassay.studies.catalogue import Form, names, study
from support.runs.command import pgassay
from support.runs.json_page import documented

NAME = "checkpoint-timeout-write-heavy"


def test_the_list_has_every_study_with_its_time_and_its_source() -> None:
    shown = pgassay("study", "list").stdout
    assert [line.split()[0] for line in shown.splitlines() if line[0] != " "] == names()
    assert re.search(r"checkpoint_timeout under a write-heavy load; about \d+ min", shown)
    assert "Postgres DBA (Dzen)" in shown


def test_a_study_takes_as_long_as_prior_runs_of_its_load_on_this_host() -> None:
    one = study(NAME)
    spec = one.spec(Form.QUICK)
    noise = Noise("tps", 12, 5, 60.0, 0.01, None, None, None, None, None)
    record = record_of(conditions_of(spec), NoiseFloor((noise,), 100.0), outside_s=1800.0)
    plan = make_plan(spec)
    trials = sum(plan.sizes[block] for block in range(1, plan.min_blocks + 1))
    least_s = 1800.0 + trials * (plan.measured_s + 100.0)
    expected = timed(plan, conditions_of(spec), [record])
    assert run_lengths(expected)[0] == pytest.approx(least_s)
    assert takes(one, Form.QUICK, [record]) == time_range(expected)


def test_a_study_is_shown_with_what_is_expected_what_was_found_and_how_to_run_it() -> None:
    shown = pgassay("study", "show", NAME).stdout
    for label in ("question", "hypothesis", "mechanism", "found there", "its errors", "limits"):
        assert f"\n{label} " in shown
    assert f"pgassay study run {NAME} --full" in shown


def test_the_file_of_a_form_is_printed_alone_and_has_no_open_size() -> None:
    printed = pgassay("study", "show", NAME, "--file", "full").stdout
    assert printed.startswith("question = ")
    assert "{{" not in printed


def test_the_keys_of_studies_as_json_are_the_documented_ones() -> None:
    found = json.loads(pgassay("study", "list", "--json").stdout)
    assert set(found) == {"schema", "studies"}
    assert [one["name"] for one in found["studies"]] == names()
    assert set(found["studies"][0]) == documented("`studies[]`", found["schema"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run"], "no study is named"),
        (["show", "nothing-like-it"], "there is no study 'nothing-like-it'"),
        (["list", NAME], "`study list` takes no name"),
        (["list", "--full"], "`study list` takes no --full; drop it"),
        (["show", NAME, "--out", "x"], "`study show` takes no --out; drop it"),
        (["run", NAME, "--file", "quick"], "`study run` takes no --file; drop it"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_one_line(
    arguments: list[str], problem: str
) -> None:
    done = pgassay("study", *arguments)
    assert done.returncode == 1
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
