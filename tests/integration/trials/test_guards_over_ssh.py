"""The guards watch the server's host also where it is behind ssh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from pgassay.errors import TargetError
from pgassay.server.hosts.local import HERE
from pgassay.server.knobs.knob_files import find_knob
from pgassay.server.protocol import ServerFacts
from pgassay.trials.guards.fingerprint import take_fingerprint
from pgassay.trials.guards.invariants import InvariantWatch
from support.hosts.sshd import Sshd
from support.runs.targets import existing
from support.servers.debian import DebianServer
from support.servers.lab import RecordingJournal
from support.synthetic.guard_results import said

SWAP = "vm.swappiness"


@contextmanager
def watched(
    server: DebianServer, request: pytest.FixtureRequest
) -> Iterator[tuple[InvariantWatch, ServerFacts]]:
    """A trial's watch whose first look was taken over ssh."""
    target = existing("ssh", server, RecordingJournal(), request)
    with closing(target):
        facts = target.open()
        yield InvariantWatch(target, facts, {}), facts


@pytest.mark.parametrize("kind", ["ssh", "ssh, no service"])
def test_a_fingerprint_over_ssh_has_what_one_on_the_host_has(
    kind: str, debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    fingerprints = {}
    for way in ("pg_ctlcluster", kind):
        with closing(existing(way, debian, journal, request)) as target:
            fingerprints[way] = take_fingerprint(target, target.open())
    here, there = fingerprints["pg_ctlcluster"], fingerprints[kind]
    assert there.postmaster == here.postmaster
    assert here.host is not None
    assert there.host is not None
    assert there.host.knobs.keys() == here.host.knobs.keys()
    assert there.host.disk_used == pytest.approx(here.host.disk_used, abs=0.05)
    assert there.host.pressure_us.keys() == here.host.pressure_us.keys()
    assert there.host_unseen == ""


def test_over_ssh_processor_time_is_split_and_the_load_is_not_foreign(
    debian: DebianServer, request: pytest.FixtureRequest
) -> None:
    with watched(debian, request) as (watch, _):
        with watch.processors_counted(), debian.admin() as session:
            session.execute("SELECT count(*) FROM generate_series(1, 3000000)")
            sum(range(3_000_000))
        split = watch._processors
    assert split is not None
    assert split.server_s > 0.0
    assert split.client_s > 0.0
    assert split.all_s >= split.server_s


def test_a_knob_that_changes_on_that_host_makes_the_trial_invalid(
    debian: DebianServer, request: pytest.FixtureRequest, knobs_alone: None
) -> None:
    knob = find_knob(SWAP, None, HERE)
    before = knob.read()
    try:
        knob.check(before)
    except TargetError as error:
        pytest.skip(f"knobs of this host cannot be set: {error}")
    with watched(debian, request) as (watch, _):
        knob.write(str(int(before) + 1))
        try:
            found = said(watch)
        finally:
            knob.write(before)
    assert f"{SWAP} {before} → {int(before) + 1}" in str(found["host-knobs"].note)


def test_a_host_that_is_unreachable_at_the_end_of_a_trial_is_a_caveat(
    debian: DebianServer, request: pytest.FixtureRequest, ssh_config: Sshd
) -> None:
    with watched(debian, request) as (watch, _):
        ssh_config.end()
        try:
            found = said(watch)
        finally:
            ssh_config.start()
    assert found["host-unseen"].grade == "doubt"
    assert str(found["host-unseen"].note.values["why"]).startswith("ssh lab-host: ")
