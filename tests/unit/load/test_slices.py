"""Slices, from the file to the engine and from a trial's rows to the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.analysis.measures.variants import measure_variants, summarise_variants
from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.samples.forms.trial import Slice
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.load.slices import engine_slices, with_variants
from pgassay.trials.load.trial_load import engine_request
from support.refusals import refused
from support.runs.command import shop_workload
from support.synthetic.stored_trials import slice_of

JIT = '[{name = "on", settings = {jit = true}}, {name = "off", settings = {jit = "off"}}]'


def parsed(text: str, beside: Path = Path()) -> Spec:
    return parse_spec(text, source="lab.toml", beside=beside)


def sliced(slices: str, load: str = "", rest: str = "") -> str:
    return f"{rest}\n[load]\n{load}\n[load.slices]\n{slices}"


def test_variants_alternate_as_written_and_reset_what_others_set() -> None:
    spec = parsed(
        sliced(
            """
            length = "500ms"
            schedule = ["plain", "sorted", "sorted", "plain"]
            [[load.slices.variants]]
            name = "plain"
            [[load.slices.variants]]
            name = "sorted"
            settings = { work_mem = "64MB", "my.flag" = "it's" }
            sql = ["SELECT 1"]
            length = "2s"
            """
        )
    )
    slices = spec.file.load.slices
    assert slices is not None
    assert slices.round_s == 5.0
    found = engine_slices(slices)
    assert found["schedule"] == [[0, 0.5], [1, 2.0], [1, 2.0], [0, 0.5]]
    plain, sorted_ = (variant["sql"] for variant in found["variants"])
    assert plain == [
        "SELECT pg_catalog.set_config('my.flag', NULL, false)",
        "SELECT pg_catalog.set_config('work_mem', NULL, false)",
        "DISCARD PLANS",
    ]
    assert sorted_ == [
        "SELECT pg_catalog.set_config('my.flag', 'it''s', false)",
        "SELECT pg_catalog.set_config('work_mem', '64MB', false)",
        "DISCARD PLANS",
        "SELECT 1",
    ]
    plan = make_plan(spec)
    assert engine_request(plan.trials[0], spec, plan).slices == slices


def test_sessions_plan_anew_only_where_something_may_have_changed() -> None:
    def sql(second: str) -> list[list[str]]:
        variants = f"variants = [{{name = 'a'}}, {{name = 'b', {second}}}]"
        slices = parsed(sliced(variants)).file.load.slices
        assert slices is not None
        return [variant["sql"] for variant in engine_slices(slices)["variants"]]

    assert sql("sql = ['SET jit = on']") == [["DISCARD PLANS"], ["DISCARD PLANS", "SET jit = on"]]
    assert sql("length = '2s'") == [[], []]


def test_a_variant_may_have_other_scripts(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;")
    rest = f'[workload]\nuse = "{folder}"'
    names = [scenario.name for scenario in parsed(rest).workload.scenarios]
    variants = f'variants = [{{name = "a"}}, {{name = "b", scenarios = ["{names[0]}"]}}]'
    slices = parsed(sliced(variants, rest=rest)).file.load.slices
    assert slices is not None
    assert [v["scenarios"] for v in engine_slices(slices)["variants"]] == [None, [names[0]]]
    with pytest.raises(Refusal) as caught:
        parsed(sliced(variants.replace(f'"{names[0]}"', '"z"'), rest=rest))
    assert caught.value.key == "load.slices.variants.1.scenarios"
    assert (caught.value.code, caught.value.values["name"]) == ("no-scenario", "z")


@pytest.mark.parametrize(
    ("slices", "load", "rest", "expected"),
    [
        (
            f"length = '100ms'\nvariants = {JIT}",
            "",
            "",
            refused("not-a-slice-length", "load.slices.length", "lab.toml", value="100ms"),
        ),
        (
            "variants = [{name = 'a'}]",
            "",
            "",
            refused("not-of-its-type", "load.slices.variants", "lab.toml"),
        ),
        (
            "variants = [{name = 'a'}, {name = 'a'}]",
            "",
            "",
            refused("variants-called-alike", "load.slices", "lab.toml", name="a"),
        ),
        (
            f"schedule = ['on', 'of']\nvariants = {JIT}",
            "",
            "",
            refused("no-such-variant", "load.slices", name="of", near="did you mean off?"),
        ),
        (
            f"schedule = ['on']\nvariants = {JIT}",
            "",
            "",
            refused("variant-never-run", "load.slices", name="off"),
        ),
        (
            "variants = [{name = 'a', setting = {}}, {name = 'b'}]",
            "",
            "",
            refused("unknown-key", "load.slices.variants.0.setting", near="did you mean settings?"),
        ),
        (
            "variants = [{name = 'a', settings = {jitt = 'on'}}, {name = 'b'}]",
            "",
            "",
            refused(
                "setting-unknown",
                "load.slices.variants.0.settings.jitt",
                where="PostgreSQL 18",
                near="did you mean jit?",
            ),
        ),
        (
            "variants = [{name = 'a', settings = {work_mem = '64mb'}}, {name = 'b'}]",
            "",
            "",
            refused("unit-misspelt", suffix="mb", near="MB"),
        ),
        (
            "variants = [{name = 'a', settings = {shared_buffers = '1GB'}}, {name = 'b'}]",
            "",
            "",
            refused(
                "setting-not-of-slices",
                "load.slices.variants.0.settings.shared_buffers",
                name="shared_buffers",
            ),
        ),
        (
            "variants = [{name = 'a', settings = {max_wal_size = '1GB'}}, {name = 'b'}]",
            "",
            "",
            refused("setting-not-of-slices"),
        ),
        (
            "variants = [{name = 'a'}, {name = 'b', settings = {post_auth_delay = 1}}]",
            "",
            "",
            refused("setting-not-of-slices", name="post_auth_delay"),
        ),
        (
            "variants = [{name = 'a', settings = {transaction_read_only = true}}, {name = 'b'}]",
            "",
            "",
            refused("setting-of-a-transaction", name="transaction_read_only"),
        ),
        (
            "variants = [{name = 'a', settings = {application_name = 'x'}}, {name = 'b'}]",
            "",
            "",
            refused("setting-cannot-vary", why="pgassay recognises sessions by it"),
        ),
        (
            f"variants = {JIT}",
            "",
            "[settings.postgres]\njit = 'on'",
            refused("slice-and-experiment", "load.slices.variants.0.settings.jit"),
        ),
        (
            f"length = '2s'\nvariants = {JIT}",
            "step = '3s'",
            "",
            refused("round-longer-than-step", "load", "lab.toml", round_s=4.0, shortest=3.0),
        ),
        (
            f"length = '2s'\nvariants = {JIT}",
            "stages = '10s:2,3s:4'",
            "",
            refused("round-longer-than-step", round_s=4.0, shortest=3.0),
        ),
        (
            f"variants = {JIT}",
            "command = ['k6']",
            "",
            refused("not-with-command", key="slices"),
        ),
    ],
)
def test_what_cannot_alternate_is_refused(
    slices: str, load: str, rest: str, expected: refused
) -> None:
    with expected as caught:
        parsed(sliced(slices, load, rest))
    assert "\n" not in str(caught.value)


def a_slice(variant: str, transactions: int, mean: float | None, crossing: int) -> Slice:
    return slice_of(
        variant=variant,
        end_ns=500_000_000,
        transactions=transactions,
        crossing=crossing,
        latency_ms={"mean": mean},
    )


def test_a_trials_variants_are_sums_of_their_slices() -> None:
    slices = [a_slice("a", 30, 2.0, 0), a_slice("b", 0, None, 4), a_slice("a", 10, 6.0, 1)]
    a, b = measure_variants(slices)
    assert (a.variant, a.slices, a.transactions, a.crossing) == ("a", 2, 40, 1)
    assert (a.tps, a.latency_mean_ms) == (40.0, 3.0)
    assert (b.tps, b.latency_mean_ms, b.crossing) == (0.0, None, 4)
    assert measure_variants([]) == ()
    assert summarise_variants([]) == ()


def test_rows_of_transactions_that_cross_an_edge_have_no_variant() -> None:
    result = {"slices": [{"variant": "a"}, {"variant": "b"}]}
    columns = with_variants({"slice": [None, 0, 1, None]}, result)
    assert columns["variant"] == [None, "a", "b", None]
    assert with_variants({"slice": [None]}, {"slices": []}) == {"slice": [None]}
