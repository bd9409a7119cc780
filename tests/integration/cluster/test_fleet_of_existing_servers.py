"""Blocks of one experiment on existing servers, each driven from a Ray node of its own: whatever is
killed, every server is left as it was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import psutil
import pytest

from pgassay.errors import RestoreFailed
from pgassay.fleet.existing import found_servers
from pgassay.plan.model import PlannedTrial
from pgassay.recovery import undo_what_is_left
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.spec.parse import parse_spec
from pgassay.workflows.pipeline import run_experiment
from pgassay.workflows.resume import resume
from support.cluster.ray_nodes import RayNodes
from support.refusals import refused
from support.runs.broken import assert_nothing_open, watched
from support.runs.command import last_line, pgassay
from support.servers.existing import auto_conf
from support.servers.lab import SECRET, LabServer, running_lab_server, scalar, wait_until
from support.synthetic.fleet_members import Heard, servers_by_trial

SPEC = """
question = "Does work_mem matter at this rate?"
[target]
allow_changes = true
accept = ["commits", "sessions"]
[target.fleet]
servers = [{servers}]
ray = "{ray}"
[workload]
use = "payments-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 1
rate = 50
step = "2s"
warmup = "0.5s"
[design]
min_blocks = 4
max_blocks = 4
seed = 5
"""
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


def spec_text(servers: list[LabServer], ray: str) -> str:
    return SPEC.format(servers=", ".join(f'"{one.place()}"' for one in servers), ray=ray)


def contents(server: LabServer) -> tuple[bytes, object]:
    """Its file of ALTER SYSTEM, byte for byte, and whether our schema is there."""
    file = server.cluster.workspace.data / "postgresql.auto.conf"
    with server.admin() as session:
        return file.read_bytes(), scalar(session, "SELECT to_regnamespace('pgassay')")


def is_free(server: LabServer) -> bool:
    with server.admin() as session:
        return int(scalar(session, LOCKS)) == 0


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[RayNodes]:
    # Nodes find the password as libpq does, in their own environment.
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with RayNodes(cpus=(1, 1), resources=({}, {})) as nodes:
        yield nodes
    assert list((tmp_path / "state").rglob("*.json")) == [], "what was changed is forgotten"


@pytest.fixture
def servers(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[list[LabServer]]:
    """Two, each with a setting of its owner's; afterwards both are as they were."""
    with (
        running_lab_server(server_installation, account, servers_base) as first,
        running_lab_server(server_installation, account, servers_base) as second,
    ):
        both = [first, second]
        for number, one in enumerate(both):
            with one.admin() as session:
                session.execute(f"ALTER SYSTEM SET work_mem = '{6 + number}MB'".encode())
                session.execute("SELECT pg_reload_conf()")
        before = [contents(one) for one in both]
        yield both
        assert [contents(one) for one in both] == before


class _At(Heard):
    """Does something when so many trials are stored."""

    def __init__(self, actions: Mapping[int, Callable[[], None]]) -> None:
        super().__init__()
        self._actions = actions

    def trial_of_fleet(
        self, trial: PlannedTrial, label: str, server: str, tps: float | None
    ) -> None:
        super().trial_of_fleet(trial, label, server, tps)
        self._actions.get(len(self.stored), lambda: None)()


def interrupt() -> None:
    raise KeyboardInterrupt


def members() -> list[psutil.Process]:
    """Processes of Ray's that drive a server of a fleet."""
    own = psutil.Process().children(recursive=True)
    return [one for one in own if "ray::Member" in " ".join(one.cmdline())]


@pytest.mark.heavy
def test_a_member_that_is_killed_loses_no_trial_and_its_server_is_put_back(
    tmp_path: Path, nodes: RayNodes, servers: list[LabServer]
) -> None:
    text = spec_text(servers, nodes.address)
    spec = parse_spec(text, source="s.toml", beside=tmp_path)
    run = RunDirectory.create(tmp_path / "run")

    heard = _At({1: lambda: members()[-1].kill()})
    outcome = run_experiment(spec, run, heard)
    assert any("is lost" in text for text in heard.warnings), heard.warnings
    assert outcome.context.analysis.answer.blocks == 4
    names = {f"127.0.0.1:{one.port}" for one in servers}
    assert set(run.environment().fleet) == names
    assert set(servers_by_trial(run).values()) <= names
    assert set(run.environment().settings_that_differ) == {"work_mem"}
    assert_nothing_open(run.path)


@pytest.mark.heavy
def test_a_run_that_is_killed_is_recovered_from_its_directory_and_goes_on(
    tmp_path: Path, nodes: RayNodes, servers: list[LabServer]
) -> None:
    spec, run = tmp_path / "fleet.toml", tmp_path / "run"
    spec.write_text(spec_text(servers, nodes.address))
    before = [auto_conf(one) for one in servers]
    planned = json.loads(pgassay("plan", spec, "--json").stdout)["servers"]
    assert list(planned) == [f"127.0.0.1:{one.port}" for one in servers]
    assert not any(one["refusals"] for one in planned.values())
    with watched(run, spec) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.wait_for(
            lambda: all(auto_conf(one) != b for one, b in zip(servers, before, strict=True)),
            "changes on both servers",
        )
        tool.kill()
    for one in servers:
        wait_until(partial(is_free, one), "its member has ended")
    following = pgassay("run", spec, "--out", tmp_path / "next")
    assert f"`pgassay recover {run}` puts it back" in last_line(following.stderr)
    recovered = pgassay("recover", run)
    assert recovered.returncode == 0, recovered.stderr
    assert [auto_conf(one) for one in servers] == before
    assert_nothing_open(run)
    resumed = pgassay("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert_nothing_open(run)


@pytest.mark.heavy
def test_a_server_that_dies_is_left_to_recover_and_the_run_goes_on_without_it(
    tmp_path: Path, nodes: RayNodes, servers: list[LabServer]
) -> None:
    spec = parse_spec(spec_text(servers, nodes.address), source="s.toml", beside=tmp_path)
    run = RunDirectory.create(tmp_path / "run")
    victim = servers[1]
    heard = _At({1: lambda: victim.cluster.stop(gently=False), 3: interrupt})
    says = rf"port={victim.port} .*pgassay recover"
    with pytest.raises(RestoreFailed, match=says):
        run_experiment(spec, run, heard)
    assert any("is lost" in text for text in heard.warnings), heard.warnings
    heard = _At({})
    with pytest.raises(RestoreFailed, match=says):
        resume(run, None, (), heard)
    assert any("goes on without a server" in text for text in heard.warnings), heard.warnings
    assert run.has("report.html"), "the verdict needs no dead server"
    survivor = f"127.0.0.1:{servers[0].port}"
    assert list(servers_by_trial(run).values()).count(survivor) >= 7
    victim.cluster.start()
    undone, _ = undo_what_is_left(run)
    assert undone
    assert_nothing_open(run.path)


def test_two_strings_that_lead_to_one_server_are_refused(
    lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with refused("one-server-twice"):
        found_servers([lab_server.place(), lab_server.place(dbname="other")])
