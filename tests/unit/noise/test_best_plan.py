"""The length, number and warm-up of trials that decide soonest."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pgassay.analysis.noise.best_plan import BestPlan, best_plan
from pgassay.analysis.noise.model import Noise, NoiseFloor
from pgassay.analysis.noise.prior_runs import conditions_of, expect, record_of
from pgassay.findings.noise.forecast import best_plan_sentence, expectation_lines
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec
from support.notes import codes_in, values_in

RULE = "findings/noise/forecast/best_plan."

SPEC = """
question = "?"
[workload]
use = "payments"
[factors.postgres]
work_mem = ["4MB", "64MB"]
[load]
step = "60s"
warmup = "10s"
[design]
min_blocks = 6
max_blocks = 24
smallest_effect = "2%"
"""


def chosen(text: str = SPEC, *, start: float, second: float, **more: object) -> BestPlan:
    spec = parse_spec(text, source="spec.toml", beside=Path())
    options: dict[str, object] = {"reset_s": 5.0, "settled_s": None, **more}

    def sd_at(seconds: float) -> float:
        return math.hypot(start, second / math.sqrt(seconds))

    return best_plan(make_plan(spec), sd_at, **options)  # type: ignore[arg-type]


def test_where_only_starts_differ_the_shortest_trials_decide_soonest() -> None:
    found = chosen(start=0.012, second=0.0)
    assert found.best is not None
    assert found.best.step_s == 5.0
    assert found.best.blocks == found.written.blocks
    assert found.best.total_s == pytest.approx(found.written.total_s * 20 / 75)


def test_where_only_seconds_differ_few_long_trials_save_resets() -> None:
    found = chosen(SPEC.replace('"60s"', '"5s"'), start=0.0, second=0.05, reset_s=60.0)
    assert found.best is not None
    assert found.best.step_s >= 20.0
    assert found.best.total_s < found.written.total_s


def test_the_design_as_written_is_kept_where_little_is_to_be_gained() -> None:
    found = chosen(SPEC.replace('"60s"', '"5s"'), start=0.01, second=0.0)
    assert found.best is None
    assert codes_in(best_plan_sentence(found))[1:] == [f"{RULE}none", f"{RULE}written"]


def test_more_blocks_are_chosen_where_those_written_do_not_decide() -> None:
    text = SPEC.replace("max_blocks = 24", "max_blocks = 8")
    found = chosen(text, start=0.015, second=0.01)
    assert found.written.blocks is None
    assert found.best is not None
    assert found.best.max_blocks == 24
    said = values_in(best_plan_sentence(found))
    assert said[f"{RULE}late"]["most"] == 8
    assert f"{RULE}text" in said


def test_nothing_is_promised_where_no_design_decides() -> None:
    found = chosen(start=0.2, second=0.0)
    assert found.best is None
    assert f"{RULE}late_alone" in codes_in(best_plan_sentence(found))


def test_the_warm_up_after_which_earlier_trials_were_steady_is_taken() -> None:
    found = chosen(start=0.012, second=0.0, settled_s=4.0)
    assert found.best is not None
    assert found.best.warmup_s == 4.0
    said = values_in(best_plan_sentence(found))
    assert said[f"{RULE}text"].items() >= {"step": 5.0, "warmup": 4.0}.items()
    assert said["findings/noise/forecast/blocks.range"] == {"least": 6, "most": 24}


def test_trials_that_checkpoints_must_fit_into_are_not_shortened() -> None:
    found = chosen(start=0.012, second=0.0, in_cycles=True)
    assert found.best is None


def test_other_lengths_are_not_tried_where_their_noise_is_not_known() -> None:
    found = chosen(start=0.012, second=0.0, keeps_length=True)
    assert found.best is None
    codes = codes_in(best_plan_sentence(found))
    assert f"{RULE}unknown" in codes
    assert f"{RULE}none" not in codes


def test_a_fixed_number_of_blocks_may_be_replaced() -> None:
    text = SPEC.replace("min_blocks = 6\nmax_blocks = 24", "min_blocks = 40\nmax_blocks = 40")
    found = chosen(text, start=0.01, second=0.0)
    assert found.best is not None
    assert found.best.min_blocks == found.best.max_blocks == found.best.blocks
    assert found.best.max_blocks < 40


def test_a_prior_run_of_this_load_is_what_the_plan_is_chosen_by() -> None:
    spec = parse_spec(SPEC, source="spec.toml", beside=Path())
    noise = Noise("tps", 12, 6, 60.0, 0.012, 0.0, 0.012, 0.1, 1.0, None)
    floor = NoiseFloor((noise,), overhead_s=7.0)
    record = record_of(conditions_of(spec), floor, warmup_s=2.0, settled_s=3.0)
    plan = make_plan(spec)
    found = expect(conditions_of(spec), plan, [record])
    assert found is not None
    assert found.overhead_s == 15.0, "the reset's 5 s and the plan's own warm-up"
    said = values_in(dict(expectation_lines(found, plan))["best plan"])
    assert said[f"{RULE}text"].items() >= {"step": 5.0, "warmup": 3.0}.items()
    assert said["findings/noise/forecast/blocks.range"] == {"least": 6, "most": 24}
    without = expect(conditions_of(spec), plan, [])
    assert without is not None
    assert "best plan" not in dict(expectation_lines(without, plan))
    forecast = dict(expectation_lines(without, plan))["noise"]
    assert forecast.code == "findings/noise/forecast/before.others"
