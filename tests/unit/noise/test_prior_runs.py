"""What a plan can expect, from earlier runs on this host."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, make_design, make_trials
from bench.validate.looks import conclude
from bench.validate.whole_trials import adverse_conditions, false_positives

from pgassay.analysis.analyse import answer_of, noise_of
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.compare.simulated_runs import Spreading
from pgassay.analysis.model import IntervalKind, Verdict
from pgassay.analysis.noise.model import NoiseFloor
from pgassay.analysis.noise.power import blocks_for, blocks_spreading, outlook
from pgassay.analysis.noise.prior_runs import (
    Expectation,
    conditions_of,
    expect,
    record_of,
    runs_of,
    timed,
)
from pgassay.analysis.verdicts.run_caveats import (
    EARLIER_RUNS,
    earlier_runs,
    repeated_run_caveats,
)
from pgassay.findings.noise.forecast import expectation_lines, found_here
from pgassay.notes import Importance, Note
from pgassay.plan.description import run_lengths
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.samples.noise_history import (
    MOST_KEPT,
    add_noise_record,
    noise_folder,
    noise_records,
)
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.environment.description import measured_by
from pgassay.workflows.reporting import report_run
from support.notes import codes_in
from support.runs.command import pgassay
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.environments import environment_of
from support.synthetic.report_contexts import synthetic_context
from support.synthetic.stored_trials import trial_file

pytestmark = pytest.mark.slow

RULE = "findings/noise/forecast/before."
SEQUENTIAL = SPEC.replace("max_blocks = 6", "max_blocks = 24")


def spec_of(text: str = SEQUENTIAL) -> Spec:
    return parse_spec(text, source="spec.toml", beside=Path())


def expected(text: str, records: list[dict[str, object]]) -> Expectation:
    spec = spec_of(text)
    found = expect(conditions_of(spec), make_plan(spec), records)
    assert found is not None
    return found


@pytest.fixture
def floor(tmp_path: Path) -> NoiseFloor:
    found = synthetic_context(tmp_path / "earlier", noise=0.01).analysis.noise.floor
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_an_earlier_run_of_the_load_says_what_to_expect(floor: NoiseFloor) -> None:
    record = json.loads(json.dumps(record_of(conditions_of(spec_of()), floor)))
    found = expected(SEQUENTIAL, [record])
    assert (found.known_from, found.runs, len(found.cases)) == ("this load", 1, 1)
    tps = next(noise for noise in floor.metrics if noise.metric == "tps")
    assert found.cases[0].trial_sd == pytest.approx(tps.trial_sd, rel=0.01)
    assert found.cases[0].outlook.difference_sd == pytest.approx(math.sqrt(2) * tps.trial_sd, 0.01)


def test_runs_of_the_same_file_are_counted_and_the_report_says_what_their_number_means(
    floor: NoiseFloor, tmp_path: Path
) -> None:
    here = conditions_of(spec_of())
    same, other, blank = (record_of(here, floor, experiment=of) for of in ("this", "other", ""))
    aa = record_of(here, floor, experiment="this", calibrates=True)
    early = {"load": "of an early version"}
    assert runs_of("this", [same, other, blank, same, aa, early]) == 2
    run, _, _ = synthetic_run(tmp_path / "third", effects={"a2": 0.12})
    run.write_json("environment.json", {**run.environment().given, EARLIER_RUNS: 2})
    context = report_run(run).context
    found = context.analysis
    (caveat,) = [one for one in found.warnings if one.kind == "repeated-run"]
    assert caveat.importance is Importance.DETAIL, "beside a difference that holds for three runs"
    (verdict,) = (one for one in found.answer.verdicts() if one.step is None)
    weak = replace(verdict, p_t=0.03, p_looks=None)
    (caveat,) = repeated_run_caveats(run.environment(), [weak])
    assert caveat.importance is Importance.SIZE, "beside a verdict of better"
    assert caveat.note.code == "analysis/verdicts/repeated-run"
    assert caveat.note.values == {"number": 3, "share": pytest.approx(14.3, abs=0.05)}
    assert earlier_runs(context.environment) == 2
    assert not [*repeated_run_caveats(environment_of(), found.answer.verdicts())]
    assert earlier_runs(environment_of(earlier_runs=10**400)) < 10**6


def test_a_run_of_the_same_file_that_measures_another_build_is_no_repetition(
    tmp_path: Path,
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "postgres"
    program.write_text("a build")
    text = SEQUENTIAL + '[target]\nbin = "bin"\n'
    (tmp_path / "one.sql").write_text("CREATE INDEX ON account (id);")
    levels = '[factors.schema]\nindex = ["", "one.sql"]\n'

    def of(more: str = "", version: str = "PostgreSQL 19devel") -> str:
        spec = parse_spec(text + more, source="spec.toml", beside=tmp_path)
        return measured_by(spec, {"server": {"version": version}})

    first = of()
    assert of() == first
    assert of(version="PostgreSQL 19beta1") != first
    assert of("\n# another file\n") != first
    program.write_text("the next build, which says the same version")
    assert of() != first
    by_script = of(levels)
    assert of(levels) == by_script
    (tmp_path / "one.sql").write_text("CREATE INDEX ON account USING brin (id);")
    assert of(levels) != by_script


def test_the_factor_does_not_matter_but_the_load_does(floor: NoiseFloor) -> None:
    record = record_of(conditions_of(spec_of()), floor)
    other_factor = SEQUENTIAL.replace('max_wal_size = ["32MB", "4GB"]', 'jit = ["on", "off"]')
    assert expected(other_factor, [record]).known_from == "this load"
    other_load = SEQUENTIAL.replace("clients = 8", "clients = 2")
    assert expected(other_load, [record]).known_from == "other loads"


def test_of_many_other_loads_the_middle_half_counts(floor: NoiseFloor) -> None:
    record = record_of(conditions_of(spec_of()), floor)
    tps = record["metrics"]["tps"]
    others = [
        {**record, "metrics": {"tps": {**tps, "trial_sd": sd, "second_sd": None, "start_sd": None}}}
        for sd in (0.0004, 0.01, 0.02, 0.56)
    ]
    found = expected(SEQUENTIAL.replace("clients = 8", "clients = 2"), others)
    assert found.runs == 4
    assert [case.trial_sd for case in found.cases] == pytest.approx([0.01, 0.02], rel=0.01)


TURNS = SEQUENTIAL.replace('max_wal_size = ["32MB", "4GB"]', 'work_mem = ["4MB", "64MB"]').replace(
    "[design]", '[design]\nmode = "switchback"\nslice = 0.25'
)
DUET = """
[factors.target]
version = [16, 18]
[load]
step = "{seconds}s"
[design]
mode = "duet"
seed = 3
"""


def left_by(plan: Plan, world: World) -> NoiseFloor:
    """What a run of that plan leaves for later ones."""
    trials = make_trials(plan, world, np.random.default_rng(1))
    answer = answer_of("?", plan, trials)
    assert answer.comparisons
    lasting = trial_file(started_ns=0, ended_ns=30 * 10**9)
    floor = noise_of(plan, answer, [], [lasting]).floor
    assert floor is not None
    return floor


def test_a_switchback_leaves_how_the_difference_of_its_arms_scatters() -> None:
    plan = make_design(12, 12, 20, 1)
    floor = left_by(plan, World("a host that forgets", memory=0.0))
    assert floor.metrics == (), "rounds of slices are no trials"
    turns = floor.turns
    assert turns is not None
    assert (turns.mode, turns.slice_s, turns.measured_s, turns.trials) == (
        "switchback",
        1.0,
        20,
        12,
    )
    # A slice of 1 s has the host's 3 % and its own 2 %, its kept part of three quarters more.
    one_round = math.sqrt(2) * math.hypot(0.03, 0.02 / math.sqrt(0.75))
    assert turns.trial_sd == pytest.approx(one_round / math.sqrt(10), rel=0.35)


def test_a_switchback_is_forecast_from_prior_ones_with_its_slices_scaled_to_its_trials() -> None:
    spec = spec_of(TURNS)
    plan = make_plan(spec)
    floor = left_by(plan, World("a host that forgets", memory=0.0))
    record = json.loads(json.dumps(record_of(conditions_of(spec), floor)))
    found = expected(TURNS, [record])
    assert floor.turns is not None
    assert (found.known_from, found.runs) == ("this load", 1)
    assert [case.trial_sd for case in found.cases] == [pytest.approx(floor.turns.trial_sd)]
    lines = dict(expectation_lines(found, plan))
    assert codes_in(lines["noise"])[:2] == [f"{RULE}one_run", f"{RULE}differences"]
    assert {"expect", "finds"} <= lines.keys()
    four_times = expected(TURNS.replace('step = "10s"', 'step = "40s"'), [record])
    assert four_times.cases[0].trial_sd == pytest.approx(floor.turns.trial_sd / 2)
    p99 = TURNS.replace("[design]", '[design]\nmetric = "latency_p99"')
    assert expect(conditions_of(spec_of(p99)), make_plan(spec_of(p99)), []) is None, "nobody knows"
    other_slices = expected(TURNS.replace("slice = 0.25", "slice = 0.5"), [record])
    assert other_slices.known_from == "others"


def test_noise_of_blocks_forecasts_no_switchback_and_that_of_a_switchback_no_blocks(
    floor: NoiseFloor,
) -> None:
    assert expected(TURNS, [record_of(conditions_of(spec_of(TURNS)), floor)]).known_from == "others"
    turns = left_by(make_plan(spec_of(TURNS)), World("a host that forgets", memory=0.0))
    assert expected(SEQUENTIAL, [record_of(conditions_of(spec_of()), turns)]).known_from == "others"
    assert [case.trial_sd for case in expected(TURNS, []).cases] == [
        pytest.approx(share * math.sqrt(128 / make_plan(spec_of(TURNS)).measured_s))
        for share in (0.0024, 0.02)
    ]


def test_a_duet_is_forecast_from_prior_duets_on_this_host() -> None:
    spec = spec_of(DUET.format(seconds=16))
    plan = make_plan(spec)
    assert expect(conditions_of(spec), plan, []) is None
    ((label, sentence),) = expectation_lines(None, plan)
    assert (label, sentence) == ("expect", Note(f"{RULE}duet"))
    floor = left_by(plan, World("lucky starts", memory=0.0, between=0.03))
    assert floor.turns is not None
    assert floor.turns.trial_sd == pytest.approx(0.03, rel=0.5)
    record = record_of(conditions_of(spec), floor)
    (same,) = expected(DUET.format(seconds=16), [record]).cases
    (longer,) = expected(DUET.format(seconds=1600), [record]).cases
    assert same.trial_sd == pytest.approx(floor.turns.trial_sd)
    assert 0.02 < longer.trial_sd < same.trial_sd, "no length makes the luck less"


def test_records_that_may_be_of_rounds_of_slices_are_not_believed() -> None:
    assert add_noise_record({"n": 1})
    (kept,) = noise_folder().iterdir()
    kept.write_text(kept.read_text().replace("pgassay.noise/2", "pgassay.noise/1"))
    assert noise_records() == []


def test_prior_runs_of_owned_servers_say_nothing_of_an_existing_server(floor: NoiseFloor) -> None:
    record = record_of(conditions_of(spec_of()), floor)
    text = f"[target]\ndsn = 'service=lab'\nallow_changes = true\n{SEQUENTIAL.strip()}"
    assert expected(text.replace('question = "', "#", 1), [record]).known_from == "others"


def test_without_prior_runs_the_forecast_is_the_general_range() -> None:
    found = expected(SEQUENTIAL, [])
    assert found.known_from == "others"
    assert [case.trial_sd for case in found.cases] == [0.005, 0.025]
    plan = make_plan(spec_of())
    assert dict(expectation_lines(found, plan))["noise"].code == f"{RULE}others"
    assert timed(plan, conditions_of(spec_of()), []) == plan
    assert len(plan.block(1)) * plan.trial_s == pytest.approx(found.block_s)


def test_a_plan_takes_as_long_as_prior_runs_with_their_set_up(floor: NoiseFloor) -> None:
    spec = spec_of()
    plan, conditions = make_plan(spec), conditions_of(spec)
    measured = replace(floor, overhead_s=9.0)
    early, known = (record_of(conditions, measured, outside_s=s) for s in (None, 20.0))
    shown = timed(plan, conditions, [early])
    assert (shown.trial_s, shown.outside_s) == (plan.measured_s + 9.0, None)
    trials_s = len(plan.block(1)) * shown.trial_s
    assert run_lengths(shown) == (6 * trials_s, 24 * trials_s)
    shown = timed(plan, conditions, [early, known])
    assert run_lengths(shown) == (6 * trials_s + 20.0, 24 * trials_s + 20.0)
    found = expect(conditions, plan, [known])
    assert found is not None
    assert (found.block_s, found.outside_s) == (trials_s, 20.0)
    other = spec_of(SEQUENTIAL.replace("clients = 8", "clients = 2"))
    elsewhere = timed(make_plan(other), conditions_of(other), [known])
    assert (elsewhere.trial_s, elsewhere.outside_s) == (shown.trial_s, None), "other data"


@pytest.mark.parametrize(
    "broken",
    [{}, {"metrics": 3}, {"metrics": {"tps": {"trial_sd": "x"}}}, {"turns": {"trial_sd": "x"}}],
)
def test_a_record_of_another_make_is_as_none(broken: dict[str, object]) -> None:
    stored = {"target": ["embedded", "18"], "overhead_s": 1.0, **broken}
    assert expected(SEQUENTIAL, [stored]).known_from == "others"


def test_records_are_their_owners_and_their_number_is_bounded() -> None:
    first = datetime(2026, 1, 1, tzinfo=UTC)
    for at in range(MOST_KEPT + 5):
        assert add_noise_record({"n": at}, first + timedelta(seconds=at))
    kept = noise_records()
    assert [record["n"] for record in kept[:2]] == [MOST_KEPT + 4, MOST_KEPT + 3]
    assert len(kept) == MOST_KEPT
    modes = {path.stat().st_mode & 0o777 for path in noise_folder().iterdir()}
    assert modes == {0o600}
    assert noise_folder().stat().st_mode & 0o777 == 0o700


def test_a_state_that_cannot_be_used_stops_nothing() -> None:
    noise_folder().parent.mkdir(parents=True)
    noise_folder().write_text("not a folder")
    assert not add_noise_record({})
    assert noise_records() == []


def test_a_record_that_cannot_be_written_leaves_nothing() -> None:
    assert not add_noise_record({"overhead_s": math.nan})
    assert list(noise_folder().iterdir()) == []


def test_what_is_expected_is_what_the_validation_saw() -> None:
    # docs/measured/validation.md: trial noise of 1.5 %, 6 to 24 blocks.
    rule = Rule(IntervalKind.BOUNDED, 0.02, 1, tuple(range(6, 25)))
    found = outlook(rule, Spreading(math.sqrt(2) * 0.015), 6, 24)
    assert found.if_different.decided == pytest.approx(0.99, abs=0.02)
    assert found.if_same.decided == pytest.approx(0.97, abs=0.03)
    assert found.if_different.blocks in range(10, 14)


def test_the_detectable_effect_of_a_t_test_is_the_textbooks() -> None:
    # 12 pairs, two-sided 5 %, power 90 %: 1.0277 standard deviations (noncentral t).
    rule = Rule(IntervalKind.T, 0.001, 1)
    found = outlook(rule, Spreading(0.01), 12, 12)
    assert found.detectable == pytest.approx(math.expm1(0.010277), rel=0.03)


@pytest.mark.parametrize(
    "blocks", [4, *(pytest.param(blocks, marks=pytest.mark.heavy) for blocks in (6, 8))]
)
def test_nine_of_ten_runs_find_the_detectable_effect(blocks: int) -> None:
    """The position in the block takes a degree of freedom, which few blocks miss most."""
    rule = false_positives.Rule("", blocks, blocks)
    plan = false_positives.plan_of(rule, 0, 2)
    found = outlook(
        rule_of(plan), blocks_spreading(plan, adverse_conditions.SCATTER), blocks, blocks
    )
    assert found.detectable is not None
    source, hits = np.random.default_rng(blocks), 0
    for seed in range(400):
        plan = false_positives.plan_of(rule, seed, 2)
        values = adverse_conditions.noise(adverse_conditions.World("normal"), plan, source)
        analysis, _ = conclude(plan, adverse_conditions.trials_of(plan, values, found.detectable))
        hits += analysis.verdicts()[0].verdict is Verdict.BETTER
    # Four standard deviations.
    assert 0.84 < hits / 400 < 0.96


def test_quieter_hosts_need_fewer_blocks() -> None:
    for kind in IntervalKind:
        looks = {
            IntervalKind.GROUP: (6, 12, 18, 24),
            IntervalKind.BOUNDED: tuple(range(6, 25)),
        }.get(kind, ())
        rule = Rule(kind, 0.02, 1, looks)
        needed = [blocks_for(rule, Spreading(sd), 6, 200) for sd in (0.005, 0.02, 0.04)]
        assert all(needed)
        assert needed == sorted(needed, key=lambda blocks: blocks or 0)
        assert blocks_for(rule, Spreading(1.0), 6, 200) is None


def test_a_run_with_fewer_blocks_than_any_advice_is_advised_too() -> None:
    rule = Rule(IntervalKind.BOUNDED, 0.02, 1, (2, 3, 4))
    advised = blocks_for(rule, Spreading(0.01), 6, 200)
    assert advised is not None
    assert advised >= 6


def test_plan_shows_the_forecast_and_its_json_contains_it(
    tmp_path: Path, floor: NoiseFloor
) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SEQUENTIAL + '[workload]\nuse = "payments-write"\n')
    add_noise_record(record_of(conditions_of(spec_of()), floor))
    printed = pgassay("plan", path).stdout
    assert {"noise", "finds", "expect"} <= {*printed.split()}
    told = json.loads(pgassay("plan", path, "--json").stdout)
    assert (told["expected"]["known_from"], told["expected"]["runs"]) == ("this load", 1)
    assert told["expected"]["cases"][0]["outlook"]["if_same"]["blocks"]


def test_the_first_line_of_a_run_says_what_it_finds_also_where_that_is_large(
    floor: NoiseFloor,
) -> None:
    record = record_of(conditions_of(spec_of()), floor)
    known = expected(SEQUENTIAL, [record])
    (case,) = known.cases

    def codes(detectable: float | None) -> list[str]:
        outlook = replace(case.outlook, detectable=detectable)
        note = found_here(replace(known, cases=(replace(case, outlook=outlook),)))
        assert note is not None
        return codes_in(note)

    brief = "findings/noise/forecast/detectable.brief"
    assert codes(0.15) == [brief]
    assert codes(7.8) == [f"{brief}_large"]
    assert codes(None) == [f"{brief}_none"]
    assert found_here(expected(SEQUENTIAL, [])) is None
    others = found_here(expected(SEQUENTIAL, [{**record, "load": "another"}]))
    assert others is not None
    assert codes_in(others)[:1] == [f"{brief}_others"]
