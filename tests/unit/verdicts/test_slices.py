"""What is read of the slices of a trial in which arms take turns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pgassay.analysis.measures.parts import measure_slices
from pgassay.samples.forms.trial import TrialFile
from pgassay.trials.model.columns import LOAD
from support.synthetic.stored_trials import slice_of, step_of, trial_file

SECOND = 1_000_000_000


def trial(
    order: str, quarters: dict[str, tuple[int, int, int, int]], *, last_s: float = 1.0
) -> tuple[TrialFile, pa.Table]:
    """Slices of a second in this order of arms, with so many transactions in their quarters."""
    slices, rows = [], []
    for index, arm in enumerate(order):
        start = index * SECOND
        length = SECOND if index < len(order) - 1 else round(last_s * SECOND)
        slices.append(
            slice_of(
                index=index,
                variant=arm,
                start_ns=start,
                end_ns=start + length,
                transactions=sum(quarters[arm]),
                failed=7,
            )
        )
        for quarter, count in enumerate(quarters[arm]):
            rows.append(
                {
                    **dict.fromkeys(LOAD.names),
                    "start_ns": start + quarter * SECOND // 4,
                    "step": 1,
                    "measured": True,
                    "scenario": "pay",
                    "transactions": count,
                    "failed": 0,
                    "latency_sum_ns": count * 2_000_000,
                    "latency_ns": [2_000_000],
                    "latency_count": [count],
                    "slice": index,
                    "variant": arm,
                }
            )
    # Who crosses an edge has a row of its own, without a slice.
    rows.append({**rows[-1], "slice": None, "variant": None, "transactions": 1000})
    load = {"steps": [step_of()], "slices": slices}
    return trial_file(arm="all", load=load), pa.Table.from_pylist(rows, schema=LOAD)


def test_the_first_quarter_of_a_slice_and_transactions_across_its_edge_are_left_out() -> None:
    found = measure_slices(*trial("ab", {"a": (900, 10, 20, 30), "b": (0, 5, 5, 5)}))
    assert [(turn.round, turn.arm) for turn in found] == [(0, "a"), (0, "b")]
    assert found[0].values["tps"] == pytest.approx(60 / 0.75)
    assert (found[0].transactions, found[0].failed) == (960, 7)
    assert found[0].values["latency_mean"] == pytest.approx(2.0)
    assert found[0].values["latency_p99"] == pytest.approx(2.0)
    assert found[0].early["tps"] == pytest.approx(10 / 0.25)
    assert found[0].late["tps"] == pytest.approx(30 / 0.25)
    assert found[1].values["tps"] == pytest.approx(15 / 0.75)


def test_incomplete_rounds_are_left_out() -> None:
    quarters = {"a": (1, 1, 1, 1), "b": (1, 1, 1, 1)}
    assert [turn.round for turn in measure_slices(*trial("abbaa", quarters))] == [0, 0, 1, 1]
    assert [turn.round for turn in measure_slices(*trial("abba", quarters, last_s=0.4))] == [0, 0]


def test_an_idle_slice_has_no_values() -> None:
    found = measure_slices(*trial("ab", {"a": (5, 0, 0, 0), "b": (1, 1, 1, 1)}))
    assert found[0].values == {}


def test_a_trial_of_one_arm_has_no_slices() -> None:
    _, load = trial("ab", {"a": (1, 1, 1, 1), "b": (1, 1, 1, 1)})
    assert measure_slices(trial_file(), load) == ()
