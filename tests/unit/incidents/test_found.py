"""Incidents are found with their first sign, size and place, and quiet days have hardly any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.incidents.model import Incident
from pgassay.analysis.observation.slices import NO_SLICES, Slices
from support.synthetic.slices import DAY, START_NS, WIDTH_S, quiet

FIRST, LENGTH = 3000, 12
PART = slice(FIRST, FIRST + LENGTH)


def lock_queue(slices: Slices) -> None:
    slices.values["sessions", "", "Lock:transactionid"][PART] = 20.0
    slices.values["class", "", "lock"][PART] = 20.0
    slices.values["metric", "", "tps"][PART] *= 0.1


def checkpoint_storm(slices: Slices) -> None:
    slices.values["checkpoints", "", "requested"][PART] = 6.0
    slices.values["class", "", "data_io"][FIRST + 1 : FIRST + LENGTH] += 8.0
    slices.values["metric", "", "tps"][PART] *= 0.5


def temp_spill(slices: Slices) -> None:
    slices.values["database", "", "temp_bytes"][PART] = 6e7
    slices.values["class", "", "data_io"][PART] += 3.0


def connection_flood(slices: Slices) -> None:
    slices.values["database", "", "sessions"][PART] = 150.0
    slices.values["class", "", "cpu"][PART] += 9.0


def plan_change(slices: Slices) -> None:
    slices.values["tables", "orders", "seq_tup_read"][PART] = 4e7
    slices.values["tables", "orders", "idx_scan"][PART] = 0.0
    slices.values["class", "", "cpu"][PART] += 9.0
    slices.values["query", "8", "CPU"][PART] += 9.0
    slices.values["metric", "", "tps"][PART] *= 0.3


def disk(slices: Slices) -> None:
    slices.values["class", "", "data_io"][PART] += 25.0
    slices.values["metric", "", "tps"][PART] *= 0.2


def vacuum(slices: Slices) -> None:
    # Held at its last value after it is done, until it comes again.
    done = np.full(len(slices), np.nan)
    done[FIRST : FIRST + LENGTH] = 1000.0 * np.arange(1, LENGTH + 1)
    done[FIRST + LENGTH :] = done[FIRST + LENGTH - 1]
    key = ("progress", "VACUUM/lab/orders/scanning heap/autovacuum", "done")
    slices.values[key] = done  # type: ignore[index]
    slices.values["class", "", "cpu"][PART] += 6.0
    slices.values["metric", "", "tps"][PART] *= 0.5


KINDS = (lock_queue, checkpoint_storm, temp_spill, connection_flood, plan_change, disk, vacuum)


def at_its_place(slices: Slices) -> Incident | None:
    middle = START_NS + round((FIRST + LENGTH / 2) * WIDTH_S * 1e9)
    found = [i for i in find_incidents(slices).found if i.start_ns <= middle < i.end_ns]
    return found[0] if found else None


@pytest.mark.parametrize("provoke", KINDS)
def test_what_was_put_in_is_the_first_sign(provoke: Callable[[Slices], None]) -> None:
    for seed in range(3):
        slices = quiet(seed, 0.5, nightly=False)
        provoke(slices)
        found = at_its_place(slices)
        assert found is not None
        assert found.kind == provoke.__name__.replace("_", "-")
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


def test_what_a_server_does_each_night_is_no_incident_and_on_one_night_only_is() -> None:
    slices = quiet(2, 7.0)
    assert not find_incidents(slices).found
    slices.values["database", "", "temp_bytes"][PART] = 3e7
    assert [one.kind for one in find_incidents(slices).found] == ["temp-spill"]


@pytest.mark.slow
def test_quiet_hours_have_at_most_one_incident_in_a_day() -> None:
    days, false = 0.0, 0
    for seed in range(2):
        for inertia, sd in ((0.0, 0.1), (0.8, 0.12), (0.95, 0.25)):
            false += len(find_incidents(quiet(seed, 7.0, inertia=inertia, sd=sd)).found)
            days += 7.0
    assert false <= 0.5 * days


def test_too_few_slices_have_no_incident() -> None:
    assert find_incidents(NO_SLICES).found == ()
    short = quiet(1, 11 / DAY, nightly=False)
    assert find_incidents(short).found == ()
