"""Profiles of arms: time per transaction by function, and what may be said of a difference."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.profiles.functions import profiles_of
from pgassay.analysis.profiles.model import Profiles
from pgassay.errors import RunDirectoryError
from pgassay.notes import legacy
from pgassay.report.flame_graphs import linked_from
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.samples.profiles import ProfileDirectory, StoredProfiles
from pgassay.trials.profile.files import difference_files, files_of
from pgassay.trials.profile.model import Profile, difference_stem
from pgassay.workflows.reporting import analyse_run
from support.synthetic.directories import synthetic_run
from support.synthetic.profiles import STACKS, profile

HOSTILE = "</iframe><script>alert(1)</script>"


def compared(tmp_path: Path, *profiles: Profile) -> Profiles:
    _, _, plan = synthetic_run(tmp_path / "run", blocks=2)
    of_arm = {arm.id: (one,) for arm, one in zip(plan.arms, profiles, strict=False)}
    found = profiles_of(StoredProfiles(of_arm), plan, {plan.arms[0].id: 120.0})
    assert found is not None
    return found


def test_time_is_divided_by_transactions_and_a_function_that_calls_itself_counts_once(
    tmp_path: Path,
) -> None:
    (arm,) = compared(tmp_path, profile()).arms
    # 1000 samples of 10 ms in 1000 transactions.
    assert arm.us_per_tx == pytest.approx(10_000)
    assert (arm.tps, arm.measured_tps, arm.perf_cpu_share) == (100.0, 120.0, 0.05)
    functions = {one.name: one for one in arm.functions}
    assert functions["cmp"].self_us_per_tx == pytest.approx(5_000)
    assert "ExecSort" not in functions or functions["ExecSort"].total_us_per_tx == 4_000
    assert {(one.process, one.name): one.us_per_tx for one in arm.parts} == {
        ("client backend", "scenario pay"): pytest.approx(9_000),
        ("walwriter", ""): pytest.approx(1_000),
    }
    assert "[stack cut off]" not in functions


def test_a_difference_is_listed_only_beyond_the_error_of_sampling(tmp_path: Path) -> None:
    # As many samples of everything, but for fsync, which has none; half as many transactions more.
    without = STACKS.replace("fsync_[k] 400", "fsync_[k] 0").replace("cmp 100", "cmp 110")
    (one,) = compared(tmp_path, profile(), profile(without)).differences
    assert [of.name for of in one.own] == ["fsync_[k]"]
    assert one.own[0].difference_us_per_tx == pytest.approx(-4_000)
    assert one.own[0].sampling_error_us_per_tx == pytest.approx(200)
    assert {of.name for of in one.total} == {"CommitTransaction", "PostgresMain"}
    assert one.difference_us_per_tx == pytest.approx(-3_900)


def test_twice_the_samples_of_twice_the_transactions_are_no_difference(tmp_path: Path) -> None:
    lines = (line.rpartition(" ") for line in STACKS.splitlines())
    double = "".join(f"{stack} {2 * int(weight)}\n" for stack, _, weight in lines)
    found = compared(tmp_path, profile(), profile(double, transactions=2000))
    assert found.differences[0].own == ()
    assert found.differences[0].difference_us_per_tx == pytest.approx(0)


def test_of_waits_those_of_sessions_count_by_the_function_that_asked_the_kernel(
    tmp_path: Path,
) -> None:
    (arm,) = compared(tmp_path, profile(kind="off-cpu")).arms
    assert {one.name: one.self_us_per_tx for one in arm.functions} == {
        "cmp": pytest.approx(5_000),
        "CommitTransaction": pytest.approx(4_000),
    }
    assert [one.process for one in arm.parts] == ["client backend"]


def test_the_report_shows_profiles_and_no_name_in_them_becomes_markup(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=2)
    first, second = (arm.id for arm in plan.arms)
    before = profile(STACKS.replace("ExecSort", HOSTILE))
    after = replace(profile(STACKS.replace("400", "900")), notes=(legacy(f"a note {HOSTILE}"),))
    folder = run.profiles()
    for arm, one in ((first, before), (second, after)):
        folder.write_files(files_of(one, HOSTILE), arm)
    stem = difference_stem(first, second, "cpu")
    folder.write_files(difference_files(before, after, ("x", "y"), stem))
    folder.finish({first: (before,), second: (after,)}, [])
    context = analyse_run(run)
    assert context.analysis.explanation.profiles is not None
    assert [graph.baseline for graph in context.flame_graphs] == [first, "", ""]
    page = render_html(context)
    assert page.count("<iframe") == 3
    assert "<script>alert" not in page
    assert f"profiles/{stem}.svg" in page
    # Inside the frame the names are still escaped, and there is nothing to run.
    assert all("<script" not in graph.svg for graph in context.flame_graphs)
    text = render_markdown(context)
    assert "By function" in text
    assert f"profiles/{stem}.svg" in text
    # A page elsewhere links to where the drawings are.
    elsewhere = tmp_path / "my pages" / "report.html"
    elsewhere.parent.mkdir()
    linked = linked_from(elsewhere, run.path, context.flame_graphs)
    assert {(elsewhere.parent / one.file).resolve() for one in linked} == {
        (run.path / one.file).resolve() for one in context.flame_graphs
    }
    beside = linked_from(run.path / "report.ru.html", run.path, context.flame_graphs)
    assert beside == context.flame_graphs


def test_what_could_not_be_profiled_is_said_in_the_report(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    assert "By function" not in render_html(analyse_run(run)), "nothing was asked for"
    why = legacy("no profiles: perf is not installed")
    run.profiles().finish({}, [why])
    context = analyse_run(run)
    assert str(why) in render_html(context)
    assert str(why) in render_markdown(context)


def test_profiles_are_read_back_as_they_were_stored(tmp_path: Path) -> None:
    folder = ProfileDirectory(tmp_path / "profiles")
    assert folder.read() == StoredProfiles()
    one, two = profile(), profile(kind="off-cpu")
    for each in (one, two):
        folder.write_files(files_of(each, "arm"), "a1")
    folder.finish({"a1": (one, two)}, [legacy("a note")])
    assert folder.read() == StoredProfiles({"a1": (one, two)}, (legacy("a note"),))
    assert {path.name for path in (folder.path / "a1").iterdir()} == {
        f"{kind}{ending}"
        for kind in ("cpu", "off-cpu")
        for ending in (".folded", ".svg", "-inline.svg", ".speedscope.json", ".pb.gz")
    }


def test_damaged_profiles_are_refused_by_name(tmp_path: Path) -> None:
    folder = ProfileDirectory(tmp_path / "profiles")
    folder.finish({"a1": (profile(),)}, [])
    with pytest.raises(RunDirectoryError, match=r"cpu\.folded"):
        folder.read()
    index = folder.path / "profiles.json"
    found = json.loads(index.read_text())
    del found["profiles"][0]["unit_ns"]
    index.write_text(json.dumps(found))
    with pytest.raises(RunDirectoryError, match="unit_ns"):
        folder.read()
