"""The ready studies: their files are right, quick and described, and mistakes are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.studies.kept import RESULTS
from tools.studies.pages import PAGES, index, page

from pgassay.language import Language
from pgassay.plan.design import make_plan
from pgassay.spec.workload.folder import ready_workloads
from pgassay.studies import catalogue
from pgassay.studies.catalogue import Form, names, study
from pgassay.studies.for_this_host import for_this_host
from support.refusals import refused

LEAST_S, MOST_S = 4 * 60, 60 * 60
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|tmp|var|work|opt|usr)/")
"""A path of a machine, in what is kept of a run."""


@pytest.mark.parametrize("name", names())
def test_a_study_has_two_experiments_on_ready_workloads_that_ask_its_question(name: str) -> None:
    one = study(name)
    for form in Form:
        spec = one.spec(form)
        assert spec.file.question == one.texts.question
        used = [spec.workload, *spec.variants.workloads.values()]
        assert {workload.name for workload in used} <= set(ready_workloads())
        assert spec.file.design.seed is not None


@pytest.mark.parametrize("name", names())
def test_a_quick_form_takes_minutes_and_a_full_one_longer(name: str) -> None:
    quick, full = (make_plan(study(name).spec(form)) for form in Form)
    assert LEAST_S <= quick.min_blocks * len(quick.block(1)) * quick.trial_s <= MOST_S
    assert quick.last_block * len(quick.block(1)) * quick.trial_s <= MOST_S
    assert full.trial_s > 2 * quick.trial_s


@pytest.mark.parametrize("spoken", PAGES)
@pytest.mark.parametrize("name", names())
def test_the_page_of_a_study_is_what_make_studies_writes(name: str, spoken: Language) -> None:
    assert (PAGES[spoken] / f"{name}.md").read_text("utf-8") == page(study(name), spoken)


@pytest.mark.parametrize("spoken", ["ru", "zh"])
def test_the_index_in_another_language_is_what_make_studies_writes(spoken: Language) -> None:
    assert (PAGES[spoken] / "README.md").read_text("utf-8") == index(spoken)


def test_every_study_has_a_row_and_every_page_and_kept_run_is_of_a_study() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| (.+) \|$", _index(), re.MULTILINE)
    assert rows == [(name, study(name).texts.question) for name in names()]
    for folder in PAGES.values():
        assert {file.stem for file in folder.glob("*.md")} - {"README"} == set(names())
    assert {file.stem for file in RESULTS.glob("*.*")} <= set(names())


def test_what_is_kept_of_a_run_names_no_path_of_its_machine() -> None:
    kept = {file.name: file.read_text("utf-8") for file in RESULTS.glob("*.*")}
    assert {name: found[0] for name, text in kept.items() if (found := MACHINE.search(text))} == {}


def test_a_size_is_a_share_of_this_hosts_memory() -> None:
    whole, half = for_this_host("{{ megabytes(1) }} {{ memory(0.5) }}", file="x.toml").split()
    assert half.endswith("MB")
    assert abs(int(half.removesuffix("MB")) - int(whole) / 2) <= 1


@pytest.mark.parametrize("text", ["{{ memory( }}", "{{ disk(1) }}"])
def test_a_size_that_cannot_be_filled_in_is_said_with_its_file(text: str) -> None:
    with refused("size-not-filled-in", None, "x.toml"):
        for_this_host(text, file="x.toml")


def test_a_wrong_study_file_is_said_with_file_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "study.toml").write_text('tittle = "x"')
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with refused("unknown-key", "tittle", "mine/study.toml"):
        study("mine")


def test_a_study_that_there_is_not_is_said_with_one_that_is_alike() -> None:
    with refused("no-such-study", name="checkpoint-timeout-write-hevy"):
        study("checkpoint-timeout-write-hevy")
    with refused("no-such-study", name="tiny", near="did you mean tiny-table-index?"):
        study("tiny")


def _index() -> str:
    return (PAGES["en"] / "README.md").read_text("utf-8")
