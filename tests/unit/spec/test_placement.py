"""CPU lists are read as the kernel writes them, and started processes stay on their CPUs."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.plan.design import make_plan
from pgassay.server.hosts.placement import (
    Place,
    Placement,
    confirm_place,
    resolve_placement,
    run_in,
)
from pgassay.spec.parse import parse_spec
from pgassay.spec.server.placement import PlacementTable, as_list, cpus_in
from pgassay.trials.load.trial_load import engine_request
from support.refusals import refused
from support.runs.command import pgassay


def table(text: str, before: str = "") -> PlacementTable:
    text = f"{before}\n[placement]\n{text}"
    return parse_spec(text, source="lab.toml", beside=Path()).file.placement


@given(st.frozensets(st.integers(0, 300), min_size=1))
def test_a_cpu_list_reads_back_unchanged(cpus: frozenset[int]) -> None:
    assert cpus_in(as_list(cpus)) == cpus


def test_lists_ranges_nodes_and_single_cpus_are_taken() -> None:
    taken = table("server = '0-3, 8'\nclient = 'node:1'\nsampler = 5\nserver_nice = -5")
    assert cpus_in(str(taken.server)) == {0, 1, 2, 3, 8}
    assert (taken.client, taken.sampler, taken.server_nice) == ("node:1", "5", -5)


@pytest.mark.parametrize("wrong", ["''", "'3-1'", "'a'", "'0,'", "'node:'", "true", "'0-99999999'"])
def test_an_invalid_cpu_list_is_refused(wrong: str) -> None:
    with refused("place-form", "placement.client"):
        table(f"client = {wrong}")


def test_placement_of_an_existing_server_is_refused() -> None:
    for line in ("server = '0'", "server_nice = 3", "server_memory = '1GB'"):
        with refused("place-of-an-existing-server", f"placement.{line.split()[0]}"):
            table(line, "[target]\ndsn = 'service=lab'")
    assert table("client = '0'", "[target]\ndsn = 'service=lab'").client == "0"


def test_a_client_with_its_own_cpus_polls_by_default() -> None:
    def asked(load: str, client: set[int]) -> float | None:
        spec = parse_spec(f"[load]\n{load}", source="lab.toml", beside=Path())
        plan = make_plan(spec)
        placement = Placement(Place(frozenset({0, 1})), Place(frozenset(client)))
        return engine_request(plan.trials[0], spec, plan, placement).busy_poll_s

    assert asked("", {2}) == 50e-6
    assert asked("", {1, 2}) is None
    assert asked("threads = 2", {2}) is None
    assert asked("threads = 2", {2, 3}) == 50e-6
    assert asked("busy_poll = 'off'", {2}) == 0.0
    assert asked("busy_poll = '10us'", {1}) == 10e-6


def test_unknown_cpus_and_nodes_are_refused() -> None:
    with refused("no-such-cpu", "placement.client", missing="8000"):
        resolve_placement(table("client = 8000"))
    with refused("no-such-node", "placement.server", node=900):
        resolve_placement(table("server = 'node:900'"))


def test_plan_reports_server_and_client_on_one_cpu_as_a_risk(tmp_path: Path) -> None:
    own = min(os.sched_getaffinity(0))
    file = tmp_path / "lab.toml"
    file.write_text(
        "[workload]\nuse = 'payments-write'\n"
        f"[placement]\nserver = {own}\nclient = {own}\nsampler_nice = 3\n"
    )
    shown = pgassay("plan", file)
    assert shown.returncode == 0, shown.stderr
    assert f"place     server: CPUs {own}" in shown.stdout
    assert "place     sampler: nice 3" in shown.stdout
    assert f"server and client share CPU {own}" in " ".join(shown.stdout.split())


def test_niceness_with_autogroups_is_a_risk() -> None:
    grouping = "kernel.sched_autogroup_enabled"
    nice = table("server_nice = 3")
    (doubt,) = resolve_placement(nice, {grouping: "1"}).warnings
    assert grouping in doubt
    assert resolve_placement(nice, {grouping: "0"}).warnings == ()


def test_threads_and_processes_start_on_their_cpus() -> None:
    place = Place(frozenset({max(os.sched_getaffinity(0))}), nice=os.nice(0) + 2)
    before, niceness = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    run_in(place, thread.start)
    try:
        seen = confirm_place("client", place, [thread.native_id or 0])
        assert seen == {"cpus": as_list(place.cpus or ()), "nice": str(place.nice), "tasks": "1"}
    finally:
        done.set()
        thread.join()
    command = ["grep", "Cpus_allowed_list", "/proc/self/status"]
    said = run_in(place, lambda: subprocess.run(command, capture_output=True, check=True).stdout)
    assert said.split()[-1].decode() == as_list(place.cpus or ())
    assert os.sched_getaffinity(0) == before
    assert os.getpriority(os.PRIO_PROCESS, 0) == niceness


def test_a_process_on_other_cpus_is_reported() -> None:
    elsewhere = Place(nice=os.nice(0) + 7)
    with refused("place-not-taken", "placement.server", asked=elsewhere.label):
        confirm_place("server", elsewhere, [os.getpid()])


def test_an_error_in_a_placed_call_reaches_the_caller() -> None:
    def fail() -> None:
        raise ValueError("as it was")

    with pytest.raises(ValueError, match="as it was"):
        run_in(Place(nice=os.nice(0)), fail)
