"""Split plots: hard factors change with the whole plot, and every order is as likely."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.errors import ExitCode
from pgassay.plan.description import order_of, plots_line, restarts_line
from pgassay.plan.model import Factor, Plan
from pgassay.plan.plots import is_hard_to_change
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from support.notes import codes_in
from support.runs.command import pgassay
from support.synthetic.designs import plan_of_factors

LEVELS = {
    "shared_buffers": ["64MB", "128MB", "256MB"],
    "max_connections": ["50", "100"],
    "work_mem": ["4MB", "8MB", "16MB"],
    "jit": ["on", "off"],
}
HARD = ("shared_buffers", "max_connections")


def plan_of(
    factors: dict[str, int], *, plots: str = "split", seed: int = 1, blocks: int = 6, dsn: str = ""
) -> Plan:
    levels = {name: LEVELS[name][:count] for name, count in factors.items()}
    existing = f'[target]\ndsn = "{dsn}"\nallow_changes = true' if dsn else ""
    design = f'plots = "{plots}"'
    return plan_of_factors(levels, least=blocks, seed=seed, more=existing, design=design)


mixed = st.fixed_dictionaries(
    {"shared_buffers": st.integers(2, 3), "work_mem": st.integers(2, 3)},
    optional={"max_connections": st.just(2), "jit": st.just(2)},
)


@given(mixed, st.integers(0, 2**62), st.integers(2, 12))
def test_a_whole_plot_has_each_of_its_arms_once_and_one_level_of_every_hard_factor(
    factors: dict[str, int], seed: int, blocks: int
) -> None:
    plan = plan_of(factors, seed=seed, blocks=blocks)
    assert plan.plots == "split"
    hard = [name for name in factors if name in HARD]
    plots_of = {arm.id: tuple(arm.levels[name] for name in hard) for arm in plan.arms}
    for block in range(1, blocks + 1):
        plots = plan.whole_plots(block)
        assert [trial.whole_plot for plot in plots for trial in plot] == sorted(
            number for number, plot in enumerate(plots, start=1) for _ in plot
        )
        held = [{plots_of[trial.arm] for trial in plot} for plot in plots]
        assert all(len(one) == 1 for one in held)
        assert len(set().union(*held)) == len(plots), "no whole plot comes twice"
        trials = plan.block(block)
        assert sorted(t.arm for t in trials) == sorted(arm.id for arm in plan.arms)
        assert [t.position for t in trials] == list(range(1, len(plan.arms) + 1))


@given(mixed, st.integers(0, 2**62))
def test_one_seed_gives_one_plan_and_it_survives_storage(
    factors: dict[str, int], seed: int
) -> None:
    plan = plan_of(factors, seed=seed)
    assert plan == plan_of(factors, seed=seed)
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_every_order_of_whole_plots_and_of_arms_in_them_is_drawn_about_as_often() -> None:
    plan = plan_of({"shared_buffers": 2, "work_mem": 2}, blocks=960, seed=11)
    orders = Counter(order_of(plan, block) for block in range(1, 961))
    possible = {
        f"[{' '.join(first)}] [{' '.join(second)}]"
        for one, two in ((("a1", "a2"), ("a3", "a4")), (("a3", "a4"), ("a1", "a2")))
        for first, second in itertools.product(
            itertools.permutations(one), itertools.permutations(two)
        )
    }
    assert set(orders) == possible
    # 120 expected of each; six standard deviations.
    assert all(55 < count < 185 for count in orders.values())


def test_every_whole_plot_begins_with_a_start_also_after_one_of_the_same_levels() -> None:
    """Two blocks that share a start are not independent."""
    plan = plan_of({"shared_buffers": 2, "work_mem": 2}, blocks=12)
    levels = [plan.arm(trial.arm).levels["shared_buffers"] for trial in plan.trials]
    follow = [number for number in range(4, 48, 4) if levels[number] == levels[number - 1]]
    assert follow
    assert all(plan.begins_plot(plan.trials[number]) for number in follow)
    assert sum(map(plan.begins_plot, plan.trials)) == 24


def test_a_plan_of_a_version_without_split_plots_is_read() -> None:
    plan = plan_of({"shared_buffers": 2}, plots="auto")
    stored = json.loads(json.dumps(plan_to_json(plan)))
    for name in ("combinations", "resolution", "plots", "hard", "plots_reason"):
        del stored[name]
    for trial in stored["trials"]:
        del trial["whole_plot"]
    old = plan_from_json(stored)
    assert (old.trials, old.plots, old.hard) == (plan.trials, "complete", ())
    assert same_design(old, plan)


def test_schema_variants_of_an_existing_server_take_no_restart() -> None:
    for kind in ("schema", "workload"):
        factor = Factor("idx", kind, ("a", "b"))
        assert is_hard_to_change(factor)
        assert not is_hard_to_change(factor, by_sql=True)


@pytest.mark.parametrize(
    ("factors", "dsn", "plots", "expected", "why"),
    [
        ({"shared_buffers": 2, "work_mem": 2}, "", "auto", "complete", "restarts-anyway"),
        ({"shared_buffers": 2, "work_mem": 2}, "", "split", "split", "split-as-asked"),
        ({"shared_buffers": 2, "work_mem": 2}, "service=lab", "auto", "split", "some-restart"),
        (
            {"shared_buffers": 2, "work_mem": 2},
            "service=lab",
            "complete",
            "complete",
            "complete-as-asked",
        ),
        (
            {"shared_buffers": 2, "max_connections": 2},
            "service=lab",
            "auto",
            "complete",
            "all-restart",
        ),
        ({"jit": 2, "work_mem": 2}, "service=lab", "auto", "complete", "none-restarts"),
        ({"shared_buffers": 2}, "service=lab", "auto", "complete", "one-factor"),
    ],
)
def test_plots_are_split_if_that_saves_restarts_or_the_file_asks_for_it(
    factors: dict[str, int], dsn: str, plots: str, expected: str, why: str
) -> None:
    plan = plan_of(factors, plots=plots, dsn=dsn)
    assert plan.plots == expected
    assert codes_in(plan.plots_reason) == [f"plan/{why}"]
    assert str(plan.plots_reason) in plots_line(plan)
    if expected == "complete":
        assert all(trial.whole_plot is None for trial in plan.trials)


def test_restarts_are_counted_by_whole_plot() -> None:
    split = plan_of({"shared_buffers": 3, "work_mem": 2}, dsn="service=lab", plots="auto")
    assert len(split.whole_plots(1)) == 3
    assert restarts_line(split, every_trial=False).startswith("3 a block at most")
    assert restarts_line(split, every_trial=True).startswith("6 a block")


@pytest.mark.parametrize(
    ("kind", "name", "hard"),
    [
        ("postgres", "shared_buffers", True),
        ("postgres", "work_mem", False),
        ("postgres", "checkpoint_timeout", False),
        ("postgres", "pg_stat_statements.max", True),
        ("host", "vm.swappiness", False),
        ("host", "transparent_hugepage.enabled", True),
        ("host", "vm.nr_hugepages", True),
        ("client", "protocol", False),
        ("target", "version", True),
    ],
)
def test_factors_that_take_a_restart_are_hard_to_change(kind: str, name: str, hard: bool) -> None:
    assert is_hard_to_change(Factor(name, kind, ("1", "2"))) is hard


def test_the_first_trial_of_each_whole_plot_begins_it() -> None:
    plan = plan_of({"shared_buffers": 3, "work_mem": 2})
    begin = [trial for trial in plan.block(2) if plan.begins_plot(trial)]
    assert [plot[0] for plot in plan.whole_plots(2)] == begin
    assert plan.begins_plot(plan.again(plan.block(2)[1], 7))
    complete = plan_of({"shared_buffers": 3, "work_mem": 2}, plots="complete")
    assert all(complete.begins_plot(trial) for trial in complete.block(1))


def test_a_trial_run_again_is_in_no_whole_plot() -> None:
    plan = plan_of({"shared_buffers": 2, "work_mem": 2})
    first = plan.trials[0]
    assert first.whole_plot == 1
    again = plan.again(first, 5)
    assert (again.repeats, again.whole_plot) == (first.number, None)


def test_a_plan_of_several_factors_shows_design_aliases_plots_and_restarts(tmp_path: Path) -> None:
    spec = tmp_path / "several.toml"
    spec.write_text(
        "[workload]\nuse = 'payments-write'\n"
        "[factors.postgres]\nshared_buffers = ['64MB', '1GB']\njit = ['on', 'off']\n"
        "work_mem = ['4MB', '8MB']\n[design]\ncombinations = 'fraction'\nresolution = 3\n"
        "plots = 'split'\nseed = 2\n"
    )
    shown = pgassay("plan", str(spec)).stdout
    assert "resolution III, 4 of 8" in shown
    assert "alias     shared_buffers = −jit × work_mem" in shown
    assert re.search(r"2 whole plots of 2 arms.* shared_buffers", shown)
    assert "restarts  4 a block" in shown
    assert re.search(r"1  \[a\d a\d\] \[a\d a\d\]", shown)
    design = json.loads(pgassay("plan", str(spec), "--json").stdout)["design"]
    assert len(design["alias"]) == 3
    assert design["restarts"].startswith("4 a block")
    spec.write_text(spec.read_text().replace("resolution = 3", "resolution = 5"))
    refused = pgassay("plan", str(spec))
    assert refused.returncode == ExitCode.USAGE
    assert "several.toml" in refused.stderr
    assert "design.combinations" in refused.stderr
    assert "resolution = 3" in refused.stderr
