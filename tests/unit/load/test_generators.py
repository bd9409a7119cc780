"""Several load generators as one: clocks, progress, caveats and what the file may not ask."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pgassay.notes import Importance, Note
from pgassay.spec.parse import load_spec
from pgassay.trials.load.caveats import generator_notes, lost_generators
from pgassay.trials.load.engine_load import whole_progress
from pgassay.trials.load.generators.on_ray import (
    AT_A_TIME,
    EXCHANGES,
    measured_offset,
    measured_offsets,
)
from support.refusals import refused


def test_the_fastest_exchange_of_clocks_counts_and_bounds_the_error() -> None:
    slow = [0, 900, 1000]  # sent, read there, received; the message there took nine tenths
    fast = [2000, 2010, 2020]
    times = iter(slow + fast + [3000, 3200, 3300] * (EXCHANGES - 2))
    offset = measured_offset(lambda: next(times), lambda: next(times) + 5_000_000)
    assert offset.theirs_minus_ours_ns == 5_000_000
    assert offset.error_ns == 11


def test_clocks_of_more_machines_than_are_asked_at_a_time_are_in_their_order() -> None:
    ahead_ns = 1_000_000_000
    offsets = measured_offsets(
        time.time_ns, lambda place: time.time_ns() + place * ahead_ns, 3 * AT_A_TIME
    )
    found = [round(one.theirs_minus_ours_ns / ahead_ns) for one in offsets]
    assert found == list(range(3 * AT_A_TIME))


def test_progress_is_summed_and_the_step_is_that_of_the_furthest() -> None:
    sums = dict.fromkeys(
        ("failed", "skipped", "retried", "retries", "latency_ms", "latency_ms2", "lag_ms", "tps"), 1
    )
    first = {"elapsed_s": 1.0, "step": 0, "clients": 9, "transactions": 5, "ended": True, **sums}
    second = {"elapsed_s": 1.2, "step": 1, "clients": 9, "transactions": 7, "ended": False, **sums}
    whole = whole_progress([first, second])
    assert (whole["transactions"], whole["tps"], whole["step"], whole["clients"]) == (12, 2, 1, 9)


def test_caveats_name_the_machine() -> None:
    def one(name: str, skew_ms: float, *, limited: bool) -> dict[str, object]:
        return {
            "name": name,
            "start_skew_ms": skew_ms,
            "clock_error_ms": 2.0,
            "client_limited": limited,
        }

    assert generator_notes([one("a", 0.0, limited=False), one("b", 17.0, limited=False)]) == []
    limit, late = generator_notes([one("a", 0.0, limited=True), one("b", 30.0, limited=False)])
    assert limit == Note("trials/load/generators-limited", {"limited": ("a",)})
    assert limit.importance is Importance.VERDICT
    assert late == Note("trials/load/generator-late", {"name": "b", "within_ms": 32.0})
    assert lost_generators(()) == []
    (lost,) = lost_generators(("c",))
    assert lost == Note("trials/load/generators-lost", {"names": ("c",)})


EXISTING = 'dsn = "service=lab"\nallow_changes = true'


@pytest.mark.parametrize(
    ("target", "more", "code"),
    [
        ("", "", "generators-cannot-reach"),
        (EXISTING, "[design]\nmode = 'switchback'", "generators-of-alternating-arms"),
        (EXISTING, "[profile]", "generators-and-profile"),
        (EXISTING, "[placement]\nclient = '0'", "generators-and-placement"),
        (EXISTING, "[load]\ncommand = ['true']", "not-with-command"),
    ],
)
def test_what_generators_cannot_do_is_refused_with_a_line(
    tmp_path: Path, target: str, more: str, code: str
) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(
        f"[target]\n{target}\n[workload]\nuse = 'payments'\n{more}\n"
        "[load.generators]\nray = 'auto'\n[factors.postgres]\nwork_mem = ['4MB', '8MB']\n"
    )
    with refused(code):
        load_spec(spec)


def test_an_address_of_ray_is_one_that_it_takes(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(
        f"[target]\n{EXISTING}\n[workload]\nuse = 'payments'\n"
        "[load.generators]\nray = 'ray://lab'\n[factors.postgres]\nwork_mem = ['4MB', '8MB']\n"
    )
    with refused("cluster-address-or-local-form", "load.generators.ray"):
        load_spec(spec)
