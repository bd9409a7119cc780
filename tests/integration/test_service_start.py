"""A start that finds another's under way, as the restart of a run that was killed."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.target.local_host import HERE
from pgassay.target.located import locate
from pgassay.target.service import Service
from pgassay.target.service_control import DebianCluster
from support.services import CONF_ROOT, DebianServer


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
