"""A start that finds another's under way, or the traces of one that somebody has made."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.target.local_host import HERE
from pgassay.target.located import locate, output_of, running_in
from pgassay.target.service import Service
from pgassay.target.service_control import DebianCluster, PgCtl
from support.existing_servers import nothing
from support.servers import RecordingJournal
from support.services import BIN, CONF_ROOT, DebianServer
from support.stopped_clusters import StoppedCluster
from support.targets import existing, state_of


@pytest.mark.parametrize(
    "moment", [(Service, "auto_conf"), (DebianCluster, "start")], ids=["as we look", "as we start"]
)
def test_a_start_that_comes_before_ours_will_do(
    debian: DebianServer, monkeypatch: pytest.MonkeyPatch, moment: tuple[type, str]
) -> None:
    monkeypatch.setenv(CONF_ROOT, str(debian.conf))
    with debian.admin() as session:
        server = locate(session, HERE)
    service = Service(debian.dsn(), HERE, DebianCluster("15", "lab"), server)
    service.stop()
    owner, name = moment
    ours = getattr(owner, name)

    def others_first(*arguments: Any) -> Any:
        debian.ctl("start")
        return ours(*arguments)

    monkeypatch.setattr(owner, name, others_first)
    service.start_with({"work_mem": None})
    assert not service.is_down()
    debian.admin().close()


def test_lines_that_somebodys_start_has_brought_into_force_are_undone_all_the_same(
    debian: DebianServer,
    journal: RecordingJournal,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    before = state_of(debian)
    target = existing("pg_ctlcluster", debian, journal, request)
    target.open()
    target.prepare(nothing, {"shared_buffers": "24MB", "work_mem": "8MB"})
    debian.ctl("stop")
    looked = Service.comes_up

    def started_meanwhile(service: Service) -> bool:
        up = looked(service)
        if not up:
            debian.ctl("start")
        return up

    monkeypatch.setattr(Service, "comes_up", started_meanwhile)
    target.close()
    assert state_of(debian) == before
    assert journal.open == []


def test_a_server_that_was_restarted_in_a_terminal_comes_up_with_the_log_it_had(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    cluster.start()
    way = f"user=lab dbname=lab host={cluster.sockets} port={cluster.port}"
    with closing(cluster.admin()) as session:
        service = Service(way, HERE, PgCtl(BIN), locate(session, HERE))
    had = service.server.output
    assert had is not None
    service.stop()
    service.server = replace(service.server, output=Path("/dev/tty"))
    service.start()
    postmaster = running_in(HERE, cluster.data)
    assert postmaster is not None
    assert output_of(HERE, postmaster) == had
    cluster.stop()
