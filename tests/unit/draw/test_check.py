"""A check compares each statement of a run with the source, by its fingerprint or its query id."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.cli.draw.checking import check_object
from pgassay.draw.check.blocks import blocks_of, summary_of
from pgassay.draw.check.comparing import compared
from pgassay.draw.check.finding import FoundDrawing
from pgassay.draw.check.model import Checked, Pair
from pgassay.draw.check.reading import RunFigures
from pgassay.draw.model import Drawing, Figures, Source
from pgassay.draw.stored import drawing_file
from pgassay.report.formats.markdown import markdown_of
from support.draw.drawings import LOOK, PAY, STATISTICS
from support.runs.json_page import documented

PER_CALL = {"rows": 2.0, "shared_blks_hit": 3.5, "shared_blks_read": 0.2}
KNOWN = {"look": LOOK.fingerprint, "pay": PAY.fingerprint}


def run_of(look: dict[str, float], pay: dict[str, float]) -> RunFigures:
    return RunFigures(
        arm="a",
        trials=3,
        grown={"1": look, "2": pay, "3": {"calls": 99.0}},
        texts={"1": "look", "2": "pay", "3": "BEGIN"},
        commits=18.0,
        blocks_found=90.0,
        blocks_read=10.0,
        sessions={"CPU": 0.25, "LWLock": 0.1},
        plans={"look": "p1"},
    )


def calls(count: float, **more: float) -> dict[str, float]:
    per_call = {**PER_CALL, **more}
    return {"calls": count, "exec_time_ms": count, **{k: count * v for k, v in per_call.items()}}


def checked(
    run: RunFigures, drawing: Drawing = STATISTICS, plans: dict[str, str | None] | None = None
) -> Checked:
    scripts = dict.fromkeys((one.name for one in drawing.scenarios), "")
    file = drawing_file(drawing, scripts, (), masked=False)
    return compared(FoundDrawing(Path("shop"), file, ()), run, "run", KNOWN.get, plans)


PAY_AS_ON_THE_SOURCE = calls(100, shared_blks_hit=8.0, shared_blks_read=0.1)


def test_a_run_like_its_source_differs_in_nothing() -> None:
    found = checked(run_of(calls(1000, shared_blks_hit=3.6), PAY_AS_ON_THE_SOURCE))
    assert found.is_true
    pay, look = found.statements
    assert look.scenarios == ("select-orders", "pay-and-look")
    assert look.calls_share == Pair(1000 / 1100, 1000 / 1100)
    assert look.found == Pair(None, 3.6)
    assert (pay.found, pay.read) == (Pair(8.0, 8.0), Pair(0.1, 0.1))
    assert pay.wal_bytes == Pair(200.0, 0.0)
    assert found.commits == Pair(1100 / 60, 18.0)
    assert found.hit_ratio == Pair(0.95, 0.9)
    assert found.sessions == {
        "CPU": Pair(0.3, 0.25),
        "IO": Pair(0.2, 0.0),
        "LWLock": Pair(0.0, 0.1),
    }
    assert found.lost_share == pytest.approx(40 / 1030)
    summary = summary_of(found)
    assert (summary.code, summary.values["statements"]) == ("draw/check-true", 2)
    assert summary.values["percent"] == pytest.approx(100 * 990 / 1030)
    assert "3.88 % of the source's time is not in this workload" in markdown_of(blocks_of(found))


def test_a_log_whose_calls_agree_is_not_called_true() -> None:
    scenarios = tuple(
        replace(
            one,
            statements=tuple(
                replace(each, figures=Figures(each.figures.calls, each.figures.time_ms))
                for each in one.statements
            ),
        )
        for one in STATISTICS.scenarios
    )
    drawing = replace(STATISTICS, source=Source.LOG, scenarios=scenarios)
    run = run_of(calls(1000), PAY_AS_ON_THE_SOURCE)
    assert summary_of(checked(run, drawing)).code == "draw/check-calls"
    plans: dict[str, str | None] = {"look": "p1"}
    assert summary_of(checked(run, drawing, plans)).code == "draw/check-true"


@pytest.mark.parametrize(
    ("source", "run", "differs"),
    [
        (Source.LOG, calls(100, shared_blks_hit=9.5, shared_blks_read=0.1), ("blocks",)),
        (Source.STATISTICS, calls(100, shared_blks_hit=9.5, shared_blks_read=0.1), ()),
        (Source.STATISTICS, calls(100, shared_blks_hit=12.0), ("blocks",)),
        (Source.LOG, calls(132, shared_blks_hit=8.0, shared_blks_read=0.1), ("calls",)),
        (Source.STATISTICS, calls(132, shared_blks_hit=8.0, shared_blks_read=0.1), ()),
        (Source.LOG, {}, ("missing",)),
    ],
)
def test_limits_are_twice_as_wide_for_statistics(
    source: Source, run: dict[str, float], differs: tuple[str, ...]
) -> None:
    found = checked(run_of(calls(1000), run), replace(STATISTICS, source=source))
    assert found.statements[0].text == PAY.source_text
    assert found.statements[0].differs == differs
    assert found.is_true == (not differs)


def test_a_statement_whose_text_was_cut_is_known_by_its_query_id() -> None:
    run = run_of(calls(1000), PAY_AS_ON_THE_SOURCE)
    cut = replace(run, grown={"1": run.grown["1"], "12": run.grown["2"]}, texts={"1": "look"})
    assert checked(cut).statements[0].calls_share.run == pytest.approx(100 / 1100)
    # A log has no query id.
    text = "UPDATE orders SET amount = amount + $7 WHERE cust…"
    begun = replace(cut, grown={"1": run.grown["1"], "9": run.grown["2"]}, texts={"9": text})
    assert checked(begun).statements[0].calls_share.run == 1.0


def test_another_plan_is_a_difference_and_an_unknown_one_is_none() -> None:
    run = run_of(calls(1000), PAY_AS_ON_THE_SOURCE)
    pay, look = checked(run, plans={"look": "p2", "pay": "p3"}).statements
    assert (pay.differs, look.differs) == ((), ("plan",))


def test_the_table_has_source_and_run_in_each_cell() -> None:
    found = checked(run_of(calls(1000), calls(100, shared_blks_hit=12.0)))
    text = markdown_of(blocks_of(found))
    assert "beyond the limits: of the 2 statements" in text
    assert "8.00 → 12.0" in text
    assert "| CPU" in text or "Active sessions: CPU" in text


def test_the_keys_of_the_object_are_the_documented_ones() -> None:
    found = check_object(checked(run_of(calls(1000), PAY_AS_ON_THE_SOURCE)))
    assert set(found) == documented("the check", found["schema"])
    assert set(found["statements"][0]) == documented("`statements[]`", found["schema"])
