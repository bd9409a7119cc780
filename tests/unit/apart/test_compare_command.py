"""`pgassay compare` refuses what is meaningless, and never lets runs made apart look randomised."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pgassay.analysis.apart.compare import Question
from pgassay.analysis.gates.model import GateOutcome
from pgassay.language import in_language
from pgassay.notes import Note, Value
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.apart import render_apart_json
from pgassay.report.sections.apart.record import condition_table, sentence
from pgassay.report.summaries.apart import spreads
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.comparing import compare_stored
from support.refusals import refused
from support.runs.command import last_line, pgassay
from support.runs.json_page import documented
from support.synthetic import directories
from support.synthetic.directories import synthetic_run
from support.synthetic.hostile import AT, FORMULA, MARKUP

SPEC = directories.SPEC.replace('step = "10s"', 'step = "2s"').replace("_blocks = 6", "_blocks = 4")
"""Short, because all of it is written as Parquet and read again."""
SINGLE = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")

RULE = "analysis/apart/"
LEFT_OUT = [f"max_wal_size = {level}" for level in ("32MB", "4GB", "1GB", "2GB")]
_SEEDS = itertools.count(100)


def run_of(path: Path, text: str = SPEC, **how: object) -> Path:
    """Each with figures of its own: equal figures are a copy's."""
    how = {"seed": next(_SEEDS), **how}
    run, _, _ = synthetic_run(path, spec_text=text, **how)  # type: ignore[arg-type]
    return run.path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Yesterday's run, today's as fast, and one whose first arm is far slower."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        "yesterday": run_of(folder / "yesterday", seed=1),
        "today": run_of(folder / "today", seed=2),
        "slow": run_of(folder / "slow", effects={"a1": -0.4}, seed=3),
    }


def test_the_page_draws_every_change_with_both_intervals(runs: dict[str, Path]) -> None:
    page = render_html(compare_stored([runs["yesterday"], runs["slow"]], Question()))
    drawing = page.split('data-chart="differences"', 1)[1].split("</svg>", 1)[0]
    assert drawing.count('stroke-width="8"') == drawing.count('stroke-width="3.5"') == 4
    assert "max_wal_size = 32MB: p99 latency" in drawing


def test_arms_with_the_same_levels_are_compared_and_labelled_not_randomised(
    runs: dict[str, Path],
) -> None:
    done = pgassay("compare", runs["yesterday"], runs["slow"], "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["randomised"]) == ("pgassay.compare/1", False)
    first, second = found["verdicts"]
    assert (first["arm"], first["badge"]) == ("max_wal_size = 32MB", "worse, not randomised")
    assert (second["arm"], second["badge"]) == (
        "max_wal_size = 4GB", "undecided, not randomised",
    )  # fmt: skip
    assert (first["spread"]["from"], first["spread"]["sd"]) == ("assumed", 0.05)
    assert [one["metric"] for one in first["endpoints"]] == ["latency_p99"]
    whole = pgassay("compare", runs["yesterday"], runs["slow"], "--out", "-").stdout
    assert whole.startswith("<!doctype html>")
    shown = pgassay("compare", runs["yesterday"], runs["slow"]).stdout
    assert "WORSE, NOT RANDOMISED" in shown
    (spread,) = spreads(compare_stored([runs["yesterday"], runs["slow"]], Question()))
    assert spread in " ".join(shown.split())


def test_the_keys_are_the_documented_ones(runs: dict[str, Path]) -> None:
    gate = ("--gate", "throughput>-2%")
    done = pgassay("compare", runs["yesterday"], runs["today"], "--format", "json", *gate)
    found = json.loads(done.stdout)
    schema = found["schema"]
    assert set(found) == documented("the comparison", schema)
    assert set(found["runs"][0]) == documented("`runs[]` of a comparison", schema)
    verdict = found["verdicts"][0]
    only_here = {"badge", "endpoints", "collapses"}
    assert set(verdict) - only_here == documented("`comparisons[]` of runs", schema)
    assert set(verdict["spread"]) == documented("`spread`", schema)


def outcomes_of(done: subprocess.CompletedProcess[str]) -> list[GateOutcome]:
    """What the rows of gates say, from any row."""
    rows = done.stdout.partition("\nGates\n")[2]
    return [one for one in GateOutcome if re.search(rf"  {one}\b", rows)]


def test_each_gate_ends_with_its_status(runs: dict[str, Path]) -> None:
    gate = ("--gate", "throughput>-2%")
    failed = pgassay("compare", runs["yesterday"], runs["slow"], *gate)
    assert failed.returncode == 3
    assert "throughput>-2%: " in last_line(failed.stderr)
    open_ = pgassay("compare", runs["yesterday"], runs["today"], *gate)
    assert (open_.returncode, outcomes_of(open_)) == (0, [GateOutcome.UNDECIDED])
    demanded = pgassay(
        "compare", runs["yesterday"], runs["today"], *gate, "--gate-undecided", "fail"
    )
    assert demanded.returncode == 4
    known = ("--run-spread", "0.3%")
    held = pgassay("compare", runs["yesterday"], runs["today"], "--gate", "throughput>-5%", *known)
    assert (held.returncode, GateOutcome.HOLDS in outcomes_of(held)) == (0, True)


def other(what: str, one: Value, another: Value) -> Note:
    return Note.of(f"{RULE}other-{what}", one=one, another=another)


def clients(number: int, duration_s: float) -> Note:
    return Note.of(f"{RULE}clients", clients=number, duration_s=duration_s)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (SPEC.replace("clients = 8", "clients = 4"), other("load", clients(8, 2), clients(4, 2))),
        (SPEC.replace('step = "2s"', 'step = "3s"'), other("load", clients(8, 2), clients(8, 3))),
        (SPEC + "[workload]\nscale = 7\n", other("scale", 1, 7)),
        (
            SPEC + "[workload]\nuse = 'payments-read'\n",
            other("workload", "payments-write", "payments-read"),
        ),
        (SPEC + "metric = 'latency_p95'\n", other("metric", "tps", "latency_p95")),
        (
            SPEC.replace('"32MB", "4GB"', '"1GB", "2GB"'),
            Note.of(f"{RULE}no-common-arm", left_out=" | ".join(LEFT_OUT)),
        ),
    ],
)
def test_a_meaningless_comparison_is_refused_in_one_line_unless_forced(
    tmp_path: Path, runs: dict[str, Path], changed: str, why: Note
) -> None:
    another = run_of(tmp_path / "other", changed, blocks=1)
    with refused("not-comparable", why=Note.of(f"{RULE}reasons", reasons=(why,))):
        compare_stored([runs["yesterday"], another], Question())
    forced = compare_stored([runs["yesterday"], another], Question(force=True))
    assert forced.analysis.forced == (why,)
    stored = json.loads(render_apart_json(forced))
    assert [one["code"] for one in stored["forced_coded"]] == [why.code]
    assert stored["warnings_coded"][0]["code"] == "findings/apart/verdicts/caveats.forced"
    page = render_markdown(forced)
    assert "**FORCED** " in page
    assert str(why).partition(" (")[0] in page
    assert ", NOT COMPARABLE**" in page
    assert "NOT RANDOMISED**" not in page


def test_a_report_into_a_missing_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    out = tmp_path / "missing" / "report.html"
    done = pgassay("compare", "no-run", "no-other", "--out", out)
    assert done.returncode == 1
    assert f"there is no folder {out.parent}; make it first" in last_line(done.stderr)


def test_other_scripts_or_weights_of_the_same_workload_are_another_workload(
    tmp_path: Path, runs: dict[str, Path]
) -> None:
    scenario = {"name": "pay", "file": "pay.sql", "script": "SELECT 1;", "weight": 1.0}
    paths = []
    for name, change in (("a", {}), ("b", {"file": "moved.sql"}), ("c", {"weight": 2.0})):
        path = run_of(tmp_path / name, blocks=1)
        texts = {"name": "shop", "title": "", "schema_sql": "", "data_sql": ""}
        scenarios = [{**scenario, **change}]
        stored = {"schema": "pgassay.workload/1", **texts, "scenarios": scenarios}
        RunDirectory(path).write_json("workload.json", stored)
        paths.append(path)
    assert compare_stored(paths[:2], Question()), "the same text in another file"
    why = Note.of(f"{RULE}content-differs", one="shop")
    with refused("not-comparable", why=Note.of(f"{RULE}reasons", reasons=(why,))):
        compare_stored([paths[0], paths[2]], Question())


def test_what_differs_is_listed_as_a_candidate(tmp_path: Path) -> None:
    old, new = (run_of(tmp_path / name, SINGLE, blocks=1) for name in ("old", "new"))
    environment = RunDirectory(new).read_json("environment.json")
    environment["server"] = {
        "version": f"PostgreSQL 19 {MARKUP}",
        "settings": {"fsync": "on", "port": "6000"},
    }
    environment["host"]["kernel"] = "Linux 7.0"
    RunDirectory(new).write_json("environment.json", environment)
    found = compare_stored([old, new], Question())
    assert [(one.group, one.name) for one in found.analysis.conditions] == [
        ("Server", "version"), ("Host", "kernel"),
    ]  # fmt: skip
    assert [len(side) for one in found.analysis.conditions for side in one.values] == [1] * 4
    assert found.analysis.arms == ()
    page = render_html(found)
    assert str(sentence("each_of_these_is")) in page
    assert "<script>alert" not in page


def test_a_run_of_a_version_without_notes_does_not_differ_by_their_codes(tmp_path: Path) -> None:
    old, new = (run_of(tmp_path / name, SINGLE, blocks=1) for name in ("old", "new"))
    for path, codes in ((old, {}), (new, {"does_coded": {"code": "a/b", "values": {}}})):
        environment = RunDirectory(path).read_json("environment.json")
        environment["reset"] = {"level": "none", "does": "nothing", **codes}
        RunDirectory(path).write_json("environment.json", environment)
    assert compare_stored([old, new], Question()).analysis.conditions == ()


def test_what_differs_is_a_raw_value_with_its_unit_and_shown_in_the_language_of_the_page(
    tmp_path: Path,
) -> None:
    warm = SINGLE.replace('warmup = "2s"', 'warmup = "5s"')
    texts = {"a": SINGLE, "b": warm}
    old, new = (run_of(tmp_path / name, text, blocks=1) for name, text in texts.items())
    for path, size in ((old, 147_969_727), (new, 200_000_000)):
        environment = RunDirectory(path).read_json("environment.json")
        environment["sizes"] = {"bank": {"total_bytes": size}}
        environment["target"] = None if path == old else "owned"
        RunDirectory(path).write_json("environment.json", environment)
    context = compare_stored([old, new], Question())
    found = {one.name: one for one in context.analysis.conditions}
    assert found["bank"].values == ((147_969_727,), (200_000_000,))
    assert (found["bank"].unit, found["warm-up"].unit) == ("bytes", "s")
    assert found["kind"].values == ((None,), ("owned",))
    with in_language("ru"):
        rows = [[cell.text for cell in row.cells] for row in condition_table(context).rows]
    assert ["Сервер", "тип", "неизвестно", "owned"] in rows
    assert ["Данные", "bank", "147\u202f969\u202f727 байт", "200\u202f000\u202f000 байт"] in rows
    stored = json.loads(render_apart_json(context))["differs"]
    sizes = ["147,969,727 bytes", "200,000,000 bytes"]
    assert {"group": "Data", "name": "bank", "values": sizes} in stored


def test_a_folder_of_runs_is_one_side_whose_unit_is_the_run(tmp_path: Path) -> None:
    for number in range(4):
        run_of(tmp_path / "old" / f"{number}", SINGLE, seed=number)
    new = run_of(tmp_path / "new", SINGLE, effects={"a1": -0.3}, seed=9)
    out = tmp_path / "page.md"
    done = pgassay("compare", tmp_path / "old", new, "--json", "--out", out)
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["runs"], verdict["trials"]) == ([4, 1], [16, 4])
    assert (verdict["spread"]["from"], verdict["spread"]["degrees"]) == ("repeated runs", 3)
    assert verdict["verdict"] == "worse"
    assert "The run is the unit." in out.read_text("utf-8")


def test_an_a_a_run_counts_as_a_run_of_the_baseline_arm(tmp_path: Path) -> None:
    same = run_of(tmp_path / "same", calibrates=True, blocks=1)
    other = run_of(tmp_path / "other", blocks=1)
    found = compare_stored([same, other], Question()).analysis
    assert (found.arms, found.left_out) == (("max_wal_size = 32MB",), ("max_wal_size = 4GB",))


def test_what_cannot_be_compared_is_said_in_one_line(tmp_path: Path, runs: dict[str, Path]) -> None:
    turns = run_of(tmp_path / "turns", SINGLE.replace("seed = 7", "seed = 8"))
    plan = RunDirectory(turns).read_json("plan.json")
    RunDirectory(turns).write_json("plan.json", {**plan, "mode": "switchback", "trials": []})
    again, away = runs["yesterday"], tmp_path / "away"
    copy = shutil.copytree(again, tmp_path / "elsewhere" / "copy")
    for arguments, said in (
        ((again,), "two runs or more"),
        ((again, again), "is named twice"),
        ((again, copy), "copy: is a copy of yesterday; a run cannot be compared with itself"),
        ((again, away), "does not exist"),
        ((again, tmp_path), "switchback"),
        ((again, runs["today"], "--run-spread", "none"), "--run-spread 'none': "),
        ((again, runs["today"], "--gate", "speed"), "--gate 'speed': "),
    ):
        done = pgassay("compare", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert said in done.stderr


def test_hostile_names_come_out_inert(tmp_path: Path) -> None:
    text = SPEC.replace('max_wal_size = ["32MB", "4GB"]', f'search_path = ["{FORMULA}", "{AT}"]')
    text = text.replace("Does a larger max_wal_size", f"{MARKUP} *bold* | cell")
    runs = [run_of(tmp_path / name / "x</h1>*y*|`z`[red]", blocks=1) for name in ("ONE", "two")]
    other = [run_of(tmp_path / name / "r", text, blocks=1) for name in ("three", "four")]
    for first, second in (runs, other):
        context = compare_stored([first, second], Question())
        page = render_html(context)
        assert page.count("<script>") == 1, "the page's own"
        assert "x</h1>" not in page
        markdown = render_markdown(context)
        assert "<script" not in markdown
        assert "</h1>" not in markdown
    environment = RunDirectory(runs[1]).read_json("environment.json")
    environment["host"]["kernel"] = "[bold]\x1b[31m"
    RunDirectory(runs[1]).write_json("environment.json", environment)
    shown = pgassay("compare", *runs).stdout
    assert "ONE/x</h1>*y*|`z`[red]" in shown
    assert "[bold]" in shown
    assert "\x1b" not in shown
