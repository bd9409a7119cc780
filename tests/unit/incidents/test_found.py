"""Incidents are found with their first sign, size and place, and quiet days have hardly any."""

from __future__ import annotations

import pytest
from bench.validate.within_trials.quiet_days import (
    DAY,
    FIRST,
    LENGTH,
    PART,
    PROVOKED,
    START_NS,
    WIDTH_S,
    plan_change,
    quiet,
    statement_change,
)

from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.incidents.model import Incident
from pgassay.analysis.observation.slices import NO_SLICES, Slices


def at_its_place(slices: Slices) -> Incident | None:
    middle = START_NS + round((FIRST + LENGTH / 2) * WIDTH_S * 1e9)
    found = [i for i in find_incidents(slices).found if i.start_ns <= middle < i.end_ns]
    return found[0] if found else None


@pytest.mark.parametrize("kind", PROVOKED)
def test_what_was_put_in_is_the_first_sign(kind: str) -> None:
    for seed in range(3):
        slices = quiet(seed, 0.5, nightly=False)
        found = at_its_place(PROVOKED[kind](slices))
        assert found is not None
        assert found.kind == kind
        assert abs(found.start_ns - START_NS - FIRST * WIDTH_S * 1e9) <= 2 * WIDTH_S * 1e9


def test_an_incident_has_its_size_and_the_statement_that_was_busy() -> None:
    slices = quiet(1, 0.5, nightly=False)
    plan_change(slices)
    found = at_its_place(slices)
    assert found is not None
    assert found.signs[0].objects == ("orders",)
    assert found.statements[0].queryid == "8"
    assert found.seconds == pytest.approx(LENGTH * WIDTH_S, abs=3 * WIDTH_S)
    lost = (found.usual_tps - found.tps) * found.seconds
    assert found.lost_transactions == pytest.approx(lost, rel=0.01)
    assert found.extra_session_s == pytest.approx(9.0 * LENGTH * WIDTH_S, rel=0.4)
    assert not found.is_open


def test_a_statement_whose_plan_changed_is_named_with_its_time() -> None:
    found = at_its_place(statement_change(quiet(4, 0.5, nightly=False)))
    assert found is not None
    (sign,) = (one for one in found.signs if one.kind == "statement-change")
    assert sign.objects == ("8",)
    assert sign.value == pytest.approx(30.0, rel=0.3)
    assert sign.usual == pytest.approx(3.0, rel=0.3)


def test_where_all_statements_read_more_no_plan_of_one_has_changed() -> None:
    slices = statement_change(quiet(4, 0.5, nightly=False))
    near = slice(FIRST - 6, FIRST + LENGTH + 6)
    for queryid in ("7", "9"):
        slices.values["statements", queryid, "shared_blks_hit"][near] *= 60.0
    found = at_its_place(slices)
    assert found is not None
    assert "statement-change" not in [one.kind for one in found.signs]


def test_what_a_server_does_each_night_is_no_incident_and_on_one_night_only_is() -> None:
    slices = quiet(2, 5.0)
    assert not find_incidents(slices).found
    slices.values["database", "", "temp_bytes"][PART] = 3e7
    assert [one.kind for one in find_incidents(slices).found] == ["temp-spill"]


@pytest.mark.heavy
def test_quiet_hours_have_at_most_one_incident_in_a_day() -> None:
    days, false = 0.0, 0
    for seed in range(1):
        for inertia, sd in ((0.0, 0.1), (0.8, 0.12), (0.95, 0.25)):
            false += len(find_incidents(quiet(seed, 7.0, inertia=inertia, sd=sd)).found)
            days += 7.0
    assert false <= 0.5 * days


def test_too_few_slices_have_no_incident() -> None:
    assert find_incidents(NO_SLICES).found == ()
    short = quiet(1, 11 / DAY, nightly=False)
    assert find_incidents(short).found == ()
