"""The servers of a duet: one copy of the data for all that can run on it, directories in turn."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.server.connection.session import user_path
from pgassay.server.owned.several_targets import SeveralTargets
from pgassay.server.protocol import ServerFacts
from pgassay.spec.parse import parse_spec
from pgassay.trials.environment.server_differences import contents_of
from pgassay.trials.run.preparing import Prepared, prepare
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.refusals.of_servers import refuse_arms
from pgassay.trials.run.reset_servers import TrialServer, describe_resets, reset_servers
from pgassay.trials.run.testbeds import Testbeds, target_of, testbeds_of
from support.runs.broken import assert_no_server_left, postmasters_below
from support.servers.lab import DEBIAN, RecordingJournal, installation_named, scalar

BUFFERS = "[factors.postgres]\nshared_buffers = ['16MB', '32MB', '64MB']"


@dataclass
class Duet:
    """A duet whose data are built."""

    plan: Plan
    target: SeveralTargets
    testbeds: Testbeds
    prepared: Prepared

    def reset(self, block: int) -> tuple[list[TrialServer], Mapping[str, Mapping[str, object]]]:
        """The servers of the block's trial, and what its trial.json says of each arm."""
        (trial,) = self.plan.block(block)
        servers = reset_servers(trial, self.plan, self.target, self.testbeds, resumed=False)
        return servers, describe_resets(trial, servers, self.testbeds)["arms"]


@contextmanager
def duet(factors: str, base: Path, more: str = "") -> Iterator[Duet]:
    text = (
        f"{factors}\n[workload]\nuse = 'payments'\n[load]\nclients = 1\nstep = '40s'\n"
        f"[design]\nmode = 'duet'\nseed = 4\n{more}"
    )
    spec = parse_spec(text, source="lab.toml", beside=Path())
    plan = make_plan(spec)
    testbeds, journal = testbeds_of(spec, plan), RecordingJournal()
    target = target_of(spec.file, spec.folder, testbeds, journal, None)
    assert isinstance(target, SeveralTargets)
    try:
        target.open()
        refuse_arms(spec, plan, target, testbeds)
        found = prepare(spec, plan, target, testbeds, ProgressListener())
        yield Duet(plan, target, testbeds, found)
    finally:
        target.close()
    assert journal.open == []
    assert_no_server_left(base)


def identifiers(servers: Sequence[TrialServer], program: Path) -> set[str]:
    """What pg_controldata says of the servers' data directories."""
    return {
        line
        for server in servers
        for line in subprocess.run(
            [program, "-D", data_of(server.facts)], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if line.startswith("Database system identifier")
    }


def data_of(facts: ServerFacts) -> str:
    assert facts.data_directory is not None
    return facts.data_directory


def test_arms_that_differ_in_settings_run_on_one_copy_in_directories_by_turns(
    own_base: Path,
) -> None:
    program = installation_named("embedded-18").program("pg_controldata")
    with duet(BUFFERS, own_base) as made:
        assert made.prepared.notes == ()
        assert [len(arms) for arms in made.prepared.copies.values()] == [3]
        assert len([*own_base.glob("run-*/snapshot*")]) == 1, "the data are built and frozen once"
        where: dict[int, set[str]] = {}
        for block in range(1, 4):
            servers, described = made.reset(block)
            (trial,) = made.plan.block(block)
            assert {arm: one["directory"] for arm, one in described.items()} == trial.directories
            assert len(postmasters_below(own_base)) == 3
            assert len(identifiers(servers, program)) == 1
            contents = []
            for server in servers:
                data = data_of(server.facts)
                where.setdefault(trial.directories[server.arm.id], set()).add(data)
                with server.target.connect() as session, user_path(session):
                    assert scalar(session, "SHOW data_directory") == data
                    assert (
                        scalar(session, "SHOW shared_buffers")
                        == server.arm.levels["shared_buffers"]
                    ), "settings go with the arm"
                    contents.append(contents_of(server.target))
                    session.execute("DELETE FROM till")
                assert server.facts.log_file is not None
                assert server.facts.log_file.parent == Path(data).parent
            assert contents == [contents[0]] * 3, "what a trial changes is in no other's data"
            assert contents[0]["public.till"]["rows"] == 10
        assert {len(paths) for paths in where.values()} == {1}
        assert len(set.union(*where.values())) == 3


def test_a_variant_of_the_schema_is_made_once_for_all_arms_that_have_it(own_base: Path) -> None:
    factors = """
[factors.postgres]
max_connections = [50, 60]
[factors.schema.index]
none = ""
b-tree = "CREATE INDEX by_branch ON account (branch)"
"""
    with duet(factors, own_base) as made:
        assert len([*own_base.glob("run-*/snapshot*")]) == 2, "as built, and with the index"
        for block in (1, 2):
            for server in made.reset(block)[0]:
                with server.target.connect() as session, user_path(session):
                    found = scalar(session, "SELECT to_regclass('by_branch') IS NOT NULL")
                assert found == (server.arm.levels["index"] == "b-tree")


def test_data_of_servers_that_cannot_run_on_each_others_files_are_named(
    own_base: Path,
) -> None:
    installation_named("debian-15")
    again = own_base / "again"
    again.symlink_to(embedded := installation_named("embedded-18").bin_directory)
    bins = [str(path) for path in (embedded, again, DEBIAN)]
    with duet(f"[factors.target]\nbin = {bins}", own_base) as made:
        names = [[arm.server for arm in arms] for arms in made.prepared.copies.values()]
        assert [len(group) for group in names] == [2, 1], "two builds that are alike share a copy"
        (apart,) = (one for one in made.prepared.notes if one.code == "plan/built-apart")
        assert apart.values["named"] == f"{', '.join(names[0])} / {names[1][0]}"
        for block in (1, 2, 3):
            versions = {
                server.arm.id: Path(data_of(server.facts), "PG_VERSION").read_text().strip()
                for server in made.reset(block)[0]
            }
            assert versions == {"a1": "18", "a2": "18", "a3": "15"}
