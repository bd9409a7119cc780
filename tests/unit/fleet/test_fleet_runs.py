"""Blocks over several servers: whole, in order, none lost with a server."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pgassay.analysis.measures.within_run import RUN_AGAIN
from pgassay.cluster.calls import ActorLost
from pgassay.errors import LimitPassed, TrialError
from pgassay.fleet.member import OpenedMember
from pgassay.fleet.run import is_over, kept_trials, opened_members, run_blocks
from pgassay.fleet.schedule import Kept, Schedule, block_on, is_finished
from pgassay.notes import legacy
from pgassay.server.hosts.placement import Placement
from pgassay.server.protocol import ServerFacts
from pgassay.spec.parse import parse_spec
from pgassay.trials.model.record import Validity
from pgassay.workflows.pipeline import carry_out
from pgassay.workflows.reporting import analyse_run
from support.refusals import refused
from support.synthetic.directories import SPEC
from support.synthetic.fleet_members import BROKEN, Heard, MadeUpMember, empty_run, servers_by_trial

pytestmark = pytest.mark.slow

SEQUENTIAL = SPEC.replace("min_blocks = 6\nmax_blocks = 6", "min_blocks = 3\nmax_blocks = 12")
LOOKS = SPEC.replace(
    "min_blocks = 6\nmax_blocks = 6", 'stopping = "group-sequential"\nlooks = [3, 6, 12]'
)


def test_each_block_runs_on_one_server_and_all_are_reported_together(tmp_path: Path) -> None:
    readings = empty_run(tmp_path / "run", SPEC)
    plan, run = readings.plan, readings.run
    members = [MadeUpMember(name, plan, effects={"a2": 0.1}) for name in ("north", "south")]
    heard = Heard()
    run_blocks(members, run, heard, readings)
    servers = servers_by_trial(run)
    assert sorted(servers) == [trial.number for trial in plan.trials]
    for block in range(1, 7):
        assert len({servers[trial.number] for trial in plan.block(block)}) == 1
    assert sorted(heard.stored) == sorted(servers.items())
    assert analyse_run(run).analysis.answer.blocks == 6
    assert is_over(readings)


def test_the_block_of_a_lost_server_runs_again_whole_and_no_finished_trial_is_lost(
    tmp_path: Path,
) -> None:
    readings = empty_run(tmp_path / "run", SPEC)
    plan, run = readings.plan, readings.run
    north = MadeUpMember("north", plan, lost_at=2, effects={"a2": 0.1})
    south = MadeUpMember("south", plan, effects={"a2": 0.1})
    heard = Heard()
    run_blocks([north, south], run, heard, readings)
    first, second = north.ran
    servers = servers_by_trial(run)
    assert servers[first.number] == "north"
    again = [trial for trial in south.ran if trial.block == first.block]
    assert [(one.number, one.repeats) for one in again] == [
        (len(plan.trials) + first.number, first.number),
        (second.number, None),
    ]
    (failed,) = run.failed()
    assert failed.reason is not None
    assert (failed.number, failed.reason.values["server"]) == (second.number, "north")
    assert any("north is lost" in text for text in heard.warnings)
    context = analyse_run(run)
    assert context.analysis.answer.blocks == 6
    assert [one.number for one in context.analysis.answer.invalid_trials] == [first.number]
    assert context.analysis.answer.invalid_trials[0].invalid == (RUN_AGAIN,)


def test_an_invalid_trial_is_repeated_on_its_server(tmp_path: Path) -> None:
    readings = empty_run(tmp_path / "run", SPEC)
    plan, run = readings.plan, readings.run
    members = [MadeUpMember(name, plan, invalid={3}) for name in ("north", "south")]
    run_blocks(members, run, Heard(), readings)
    servers, again = servers_by_trial(run), len(plan.trials) + 3
    assert servers[again] == servers[3]
    assert run.trial(again).summary().repeats == 3


def test_a_run_without_servers_ends_with_a_line_and_goes_on_later(tmp_path: Path) -> None:
    readings = empty_run(tmp_path / "run", SPEC)
    plan, run = readings.plan, readings.run
    north, south = (MadeUpMember(name, plan, lost_at=4) for name in ("north", "south"))
    with refused("no-server-left"):
        run_blocks([north, south], run, Heard(), readings)
    done = servers_by_trial(run)
    assert not is_over(readings)
    back = [MadeUpMember(name, plan) for name in ("north", "west")]
    run_blocks(back, run, Heard(), readings)
    after = servers_by_trial(run)
    assert done.items() <= after.items(), "a finished trial stays as it is"
    kept = kept_trials(run)
    assert all(is_finished(block, plan, kept) for block in range(1, 7))
    # North goes on with its own half block; that of south is run again, whole.
    (half,) = {trial.block for trial in north.ran[-1:]}
    assert not [n for n in after if n > len(plan.trials) and (n - 1) % 12 // 2 + 1 == half]
    assert analyse_run(run).analysis.answer.blocks == 6


def test_a_trial_that_fails_by_itself_ends_the_run_and_others_finish_their_blocks(
    tmp_path: Path,
) -> None:
    readings = empty_run(tmp_path / "run", SPEC)
    plan, run = readings.plan, readings.run
    north, south = MadeUpMember("north", plan, broken_at=1), MadeUpMember("south", plan)
    with pytest.raises(TrialError, match=BROKEN):
        run_blocks([north, south], run, Heard(), readings)
    assert len(run.finished()) % 2 == 0


def test_a_limit_that_ends_the_run_reports_the_finished_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_a_fleet = SPEC + '[target.fleet]\nnodes = "all"\n[workload]\nuse = "payments-write"\n'
    spec = parse_spec(of_a_fleet, source="lab.toml", beside=tmp_path)
    readings = empty_run(tmp_path / "run", of_a_fleet)
    error = LimitPassed("guard.other_latency = 1 ms: passed")

    def on_fleet(*_: object) -> None:
        run_blocks([MadeUpMember("north", readings.plan)], readings.run, Heard(), readings)
        raise error

    monkeypatch.setattr("pgassay.fleet.run.run_on_fleet", on_fleet)
    with pytest.raises(LimitPassed):
        carry_out(spec, readings.run, Heard(), Placement(), readings)
    assert readings.run.has("report.html")


def test_a_slow_server_does_not_decide_by_finishing_late(tmp_path: Path) -> None:
    """The block that began first is judged first, whatever finished before it."""
    readings = empty_run(tmp_path / "run", SEQUENTIAL)
    plan, run = readings.plan, readings.run
    released = threading.Event()
    slow = MadeUpMember("a-slow", plan, effects={"a2": 0.2}, waits_for=released)
    fast = MadeUpMember("fast", plan, effects={"a2": 0.2})

    class Releasing(Heard):
        def trial_of_fleet(self, *arguments: object) -> None:
            # All blocks but the first are done by the fast one: without the first none decides.
            if len(run.finished()) == len(plan.trials) - 2:
                released.set()

    run_blocks([slow, fast], run, Releasing(), readings)
    assert {trial.block for trial in slow.ran} == {1}
    assert {trial.block for trial in fast.ran} == set(range(2, 13))


def test_no_block_begins_when_the_question_is_answered(tmp_path: Path) -> None:
    readings = empty_run(tmp_path / "run", SEQUENTIAL)
    members = [MadeUpMember(n, readings.plan, effects={"a2": 0.2}) for n in ("north", "south")]
    run_blocks(members, readings.run, Heard(), readings)
    assert 3 <= analyse_run(readings.run).analysis.answer.blocks <= 7


def test_no_block_begins_beyond_a_look_that_was_fixed_beforehand(tmp_path: Path) -> None:
    plan = empty_run(tmp_path / "run", LOOKS).plan
    schedule = Schedule(plan, ("a", "b", "c", "d"), {})
    assert [schedule.begin(server) for server in "abcd"] == [1, 2, 3, None]
    for server in "abc":
        schedule.finished(server)
    assert list(schedule.to_judge()) == [1, 2, 3]
    assert schedule.begin("d") == 4


def test_blocks_are_judged_in_their_order(tmp_path: Path) -> None:
    plan = empty_run(tmp_path / "run", SEQUENTIAL).plan
    schedule = Schedule(plan, ("a", "b"), {})
    assert (schedule.begin("a"), schedule.begin("b")) == (1, 2)
    schedule.finished("b")
    assert list(schedule.to_judge()) == []
    assert schedule.begin("b") == 3
    schedule.finished("a")
    assert list(schedule.to_judge()) == [1, 2]
    assert schedule.lost("b") == 3
    assert schedule.begin("a") == 3


def test_numbers_of_trials_are_never_used_twice(tmp_path: Path) -> None:
    plan = empty_run(tmp_path / "run", SPEC).plan
    first = plan.block(1)[0]
    bad = Validity((legacy("the server restarted"),))
    kept = {
        first.number: Kept("north", bad),
        first.number + 12: Kept("north", Validity()),
    }
    assert not is_finished(1, plan, kept)
    south = MadeUpMember("south", plan)
    ran = [
        trial.number
        for trial, _ in block_on(
            1, plan, "south", kept, lambda trial, resumed: south.run(trial, frozenset(), resumed)
        )
    ]
    assert ran == [first.number + 24, plan.block(1)[1].number]


def test_a_machine_lost_while_servers_are_opened_is_left_out_with_a_warning() -> None:
    facts = ServerFacts(180000, "18.0", None, is_local=True, log_file=None, settings={})
    opened, lost = (
        OpenedMember(facts, {}, ("the disk is slow",)),
        ActorLost("actor-ended", why="the node died"),
    )
    heard = Heard()
    assert opened_members({"north": lost, "south": opened}, heard) == {"south": opened}
    of_north, of_south = heard.warnings
    assert of_north.startswith(f"north is lost: {lost}")
    assert of_south == f"south: {opened.warnings[0]}"
    with refused("no-server-opened", each=f"north is lost: {lost}"):
        opened_members({"north": lost}, heard)


TWO = '[target.fleet]\nservers = ["host=a", "host=b"]\n'


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("[target.fleet]\nnodes = 1\n", refused("not-one-of")),
        (
            '[target.fleet]\nray = "ray://head:10001"\n',
            refused("cluster-address-form"),
        ),
        ('[target.fleet]\nray = "local"\n', refused("cluster-address-form")),
        ('[target.fleet]\nservers = ["host=a"]\n', refused("fleet-of-one", "target.fleet.servers")),
        (TWO.replace("host=b", "host=b password=x"), refused("password-in-value")),
        (TWO.replace("host=b", "host=a"), refused("server-twice", dsn="host=a")),
        (TWO + "nodes = 2\n", refused("nodes-beside-servers")),
        ('[target]\nssh = "db1"\n' + TWO, refused("access-beside-fleet", key="ssh")),
        (
            "[target]\nallow_changes = true\n[target.fleet]\n",
            refused("not-without-server", wanted="fleet.servers too"),
        ),
    ],
)
def test_what_a_fleet_cannot_give_is_refused_by_the_file(more: str, expected: refused) -> None:
    with expected:
        parse_spec(SPEC + more, source="spec.toml", beside=Path())


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[target]\ndsn = "service=lab"\n[target.fleet]\n', "target.dsn"),
        ("[target.fleet]\n[factors.target]\nversion = [16, 18]\n", "factors.target"),
        ("[target.fleet]\n[profile]\nseconds = 5\n", "profile"),
        ("[target.fleet]\n[load.generators]\n", "load.generators"),
        ("[target]\nversion = 18\n" + TWO, "target.version"),
        (TWO + '[reset]\nlevel = "snapshot"\n', "reset.level"),
    ],
)
def test_what_does_not_go_with_a_fleet_is_refused_by_its_key(more: str, key: str) -> None:
    code = "not-with-existing-servers-of-a-fleet" if TWO in more else "not-with-a-fleet"
    with refused(code, key):
        parse_spec(SPEC + more, source="spec.toml", beside=Path())
