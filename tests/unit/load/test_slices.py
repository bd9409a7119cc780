"""Slices, from the file to the engine and from a trial's rows to the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.analysis.measures.variants import measure_variants, summarise_variants
from pgassay.errors import SpecError
from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.samples.forms.trial import Slice
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.load.slices import engine_slices, with_variants
from pgassay.trials.load.trial_load import engine_request
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
    with pytest.raises(Refusal) as refused:
        parsed(sliced(variants.replace(f'"{names[0]}"', '"z"'), rest=rest))
    assert refused.value.key == "load.slices.variants.1.scenarios"
    assert (refused.value.code, refused.value.values["name"]) == ("no-scenario", "z")


@pytest.mark.parametrize(
    ("slices", "load", "rest", "message"),
    [
        (
            f"length = '100ms'\nvariants = {JIT}",
            "",
            "",
            "lab.toml: load.slices.length: '100ms' is not a length for a slice; write 250ms to 1d",
        ),
        (
            "variants = [{name = 'a'}]",
            "",
            "",
            "lab.toml: load.slices.variants",
        ),
        (
            "variants = [{name = 'a'}, {name = 'a'}]",
            "",
            "",
            "lab.toml: load.slices: two variants are named 'a'; rename one",
        ),
        (
            f"schedule = ['on', 'of']\nvariants = {JIT}",
            "",
            "",
            "load.slices: schedule: no variant is named 'of'; did you mean off?",
        ),
        (
            f"schedule = ['on']\nvariants = {JIT}",
            "",
            "",
            "load.slices: the schedule never runs 'off'; add it, or drop the variant",
        ),
        (
            "variants = [{name = 'a', setting = {}}, {name = 'b'}]",
            "",
            "",
            "load.slices.variants.0.setting: unknown key; did you mean settings?",
        ),
        (
            "variants = [{name = 'a', settings = {jitt = 'on'}}, {name = 'b'}]",
            "",
            "",
            "load.slices.variants.0.settings.jitt: unknown setting of PostgreSQL 18;"
            " did you mean jit?",
        ),
        (
            "variants = [{name = 'a', settings = {work_mem = '64mb'}}, {name = 'b'}]",
            "",
            "",
            "'mb' is not a unit here; did you mean MB?",
        ),
        (
            "variants = [{name = 'a', settings = {shared_buffers = '1GB'}}, {name = 'b'}]",
            "",
            "",
            "load.slices.variants.0.settings.shared_buffers: changes only by a restart of the"
            " server, so slices cannot alternate it; make it a factor: [factors.postgres]"
            " shared_buffers = [...]",
        ),
        (
            "variants = [{name = 'a', settings = {max_wal_size = '1GB'}}, {name = 'b'}]",
            "",
            "",
            "changes for the whole server, so slices cannot alternate it; make it a factor",
        ),
        (
            "variants = [{name = 'a'}, {name = 'b', settings = {post_auth_delay = 1}}]",
            "",
            "",
            "variants.1.settings.post_auth_delay: is fixed when a session begins",
        ),
        (
            "variants = [{name = 'a', settings = {transaction_read_only = true}}, {name = 'b'}]",
            "",
            "",
            "belongs to one transaction; use default_transaction_read_only",
        ),
        (
            "variants = [{name = 'a', settings = {application_name = 'x'}}, {name = 'b'}]",
            "",
            "",
            "cannot be set here: pgassay recognises sessions by it",
        ),
        (
            f"variants = {JIT}",
            "",
            "[settings.postgres]\njit = 'on'",
            "load.slices.variants.0.settings.jit: is also set by the experiment, as a factor",
        ),
        (
            f"length = '2s'\nvariants = {JIT}",
            "step = '3s'",
            "",
            "lab.toml: load: one round of slices takes 4 s, longer than a step of 3 s;",
        ),
        (
            f"length = '2s'\nvariants = {JIT}",
            "stages = '10s:2,3s:4'",
            "",
            "one round of slices takes 4 s, longer than a step of 3 s",
        ),
        (
            f"variants = {JIT}",
            "command = ['k6']",
            "",
            "slices is an option of pgassay's engine, which command replaces; drop one of the two",
        ),
    ],
)
def test_what_cannot_alternate_is_refused(slices: str, load: str, rest: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parsed(sliced(slices, load, rest))
    assert message in str(caught.value)
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
