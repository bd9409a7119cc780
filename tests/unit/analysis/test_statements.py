"""What statements take: shares, the vital few, and differences only under correction for many."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.statements import TrialStatements
from pgassay.analysis.observation.statements import StatementSums
from pgassay.analysis.reading.own_statements import is_own, own_among
from pgassay.analysis.statements.use import statement_use
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.spec.parse import parse_spec
from pgassay.trials.sampling.queries import all_queries
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC

PLAN = plan_of_spec(SPEC)


def trial(block: int, arm: str, exec_ms: Mapping[str, float]) -> TrialStatements:
    """Of 1000 transactions, in which each statement ran twice each."""
    grown = {
        queryid: {"calls": 2000.0, "exec_time_ms": ms, "rows": 6000.0, "wal_bytes": 2e5}
        for queryid, ms in exec_ms.items()
    }
    return TrialStatements(block, arm, 1000, grown)


def run(slow: Mapping[str, float], fast: Mapping[str, float]) -> list[TrialStatements]:
    """Four blocks whose trials differ by a per cent."""
    source = np.random.default_rng(1)
    return [
        trial(block, arm, {q: ms * (1 + 0.01 * source.standard_normal()) for q, ms in own.items()})
        for block in range(1, 5)
        for arm, own in (("a1", slow), ("a2", fast))
    ]


def test_figures_are_per_call_and_per_transaction() -> None:
    (one,) = statement_use(PLAN, [trial(1, "a1", {"1": 500.0})], [], {"1": "SELECT 1"})
    (costs,) = one.by_arm
    assert (one.text, one.ranked, one.of_the_80_pct) == ("SELECT 1", 1, True)
    assert (costs.calls_per_tx, costs.mean_ms, costs.ms_per_tx) == (2.0, 0.25, 0.5)
    assert (costs.rows_per_call, costs.wal_bytes_per_call, costs.share_pct) == (3.0, 100.0, 100.0)


def test_the_vital_few_take_80_per_cent_and_what_takes_less_than_one_is_left_out() -> None:
    times = {"big": 700.0, "second": 200.0, "third": 95.0, "tiny": 5.0, "(others)": 50.0}
    found = statement_use(PLAN, run(times, times), [], {})
    assert [one.queryid for one in found] == ["big", "second", "third"]
    assert [one.of_the_80_pct for one in found] == [True, True, False]


def test_a_difference_is_clear_only_if_it_is_under_the_correction_for_many() -> None:
    same = {str(number): 100.0 for number in range(20)}
    found = statement_use(PLAN, run(same, same | {"7": 40.0}), [], {})
    clear = {one.queryid: one.effects[0] for one in found if one.effects[0].clear}
    assert list(clear) == ["7"]
    effect = clear["7"]
    assert effect.difference_ms == pytest.approx(-0.06, rel=0.05)
    assert effect.ci95_ms is not None
    assert effect.ci95_ms[1] < 0.0
    assert effect.p_by is not None
    assert effect.p_t is not None
    assert effect.p_by > effect.p_t


def test_differences_of_a_withdrawn_level_are_not_clear_and_arms_that_alternate_have_none() -> None:
    trials = run({"1": 100.0}, {"1": 40.0})
    (one,) = statement_use(PLAN, trials, [], {}, {("max_wal_size", "4GB")})
    assert (one.effects[0].clear, one.effects[0].ci95_ms) == (False, None)
    switchback = make_plan(
        parse_spec(
            SPEC.replace('max_wal_size = ["32MB", "4GB"]', 'work_mem = ["4MB", "8MB"]').replace(
                "[design]", '[design]\nmode = "switchback"\nslice = "250ms"'
            ),
            source="spec.toml",
            beside=Path(),
        )
    )
    (all_arms,) = statement_use(switchback, [trial(1, ALL_ARMS, {"1": 5.0})], [], {})
    assert all_arms.effects == ()
    assert [costs.arm for costs in all_arms.by_arm] == [ALL_ARMS]


def test_pgassays_own_statements_are_no_part_of_the_load() -> None:
    sampler = next(query.sql for query in all_queries() if query.name == "waits")
    as_stored = sampler.replace("'pgassay %'", "$7").replace("1000000", "$2")
    assert is_own(as_stored)
    asked = "SELECT s.queryid::pg_catalog.text, min(pg_catalog.left(s.query, $1)) FROM {}.{} AS s"
    for schema in ("public", '"My Extensions"'):
        assert is_own(asked.format(schema, "pg_stat_statements"))
    lifted = "SELECT pg_catalog.set_config(name, $1, $2) FROM pg_catalog.pg_settings WHERE name IN "
    assert is_own(lifted + "($3 /*, ... */)")
    assert is_own(lifted + "($3, $4)")
    assert not is_own("SELECT balance FROM account WHERE id = $1")
    assert not is_own("COMMIT")
    times = {"own": 900.0, "load": 100.0}
    (one,) = statement_use(PLAN, run(times, times), [], {"own": as_stored})
    assert (one.queryid, one.by_arm[0].share_pct) == ("load", 100.0)


def test_waits_of_a_statement_are_ranked_without_those_for_the_client() -> None:
    def signals(events: Mapping[str, float]) -> TrialSignals:
        return TrialSignals(
            1, 1, "a1", 10.0, 1000, {("query", "1", name): value for name, value in events.items()}
        )

    sampled = [signals({"CPU": 1.0, "IO:DataFileRead": 3.0, "Client:ClientRead": 9.0})]
    (one,) = statement_use(plan_of_one_arm(), [trial(1, "a1", {"1": 5.0})], sampled, {})
    assert one.by_arm[0].waits == (("IO:DataFileRead", 3.0), ("CPU", 1.0))


def plan_of_one_arm() -> Plan:
    text = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
    return plan_of_spec(text)


def test_statements_of_pgassay_itself_are_no_part_of_an_observation() -> None:
    own = next(query.sql for query in all_queries() if query.name == "waits")
    texts = {"1": "SELECT note FROM item WHERE code = $1", "2": own}
    sums = StatementSums(own_among(texts))
    rows = [
        (at, "statements", queryid, "calls", calls)
        for at, calls in ((1, 10.0), (2, 30.0))
        for queryid in texts
    ]
    names = ("time_ns", "source", "object", "name", "value")
    sums.add(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    assert [(one.queryid, one.calls) for one in sums.ranked()] == [("1", 20.0)]
    assert sums.totals()["calls"] == 20.0
