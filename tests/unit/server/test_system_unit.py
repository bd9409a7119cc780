"""The unit that a process belongs to is read from its control group."""

from __future__ import annotations

import pytest

from pgassay.server.service.restartable import unit_in

DEBIANS = "postgresql@15-main.service"
V1 = """\
12:pids:/system.slice/system-postgresql.slice/postgresql@15-main.service
9:memory:/system.slice/system-postgresql.slice/postgresql@15-main.service
4:cpu,cpuacct:/system.slice
1:name=systemd:/system.slice/system-postgresql.slice/postgresql@15-main.service
"""
HYBRID = """\
5:memory:/system.slice/patroni.service
1:name=systemd:/system.slice/patroni.service
0::/system.slice/patroni.service
"""
OF_A_USER = "/user.slice/user-1000.slice/user@1000.service"
V1_SESSION = """\
5:pids:/user.slice/user-0.slice/session-4.scope
1:name=systemd:/user.slice/user-0.slice/session-4.scope
0::/user.slice/user-0.slice/session-4.scope
"""
V1_CONTAINER = """\
5:memory:/docker/4f0c5d
1:name=systemd:/docker/4f0c5d
0::/system.slice/containerd.service
"""


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (f"0::/system.slice/system-postgresql.slice/{DEBIANS}", DEBIANS),
        ("0::/system.slice/postgresql-16.service\n", "postgresql-16.service"),
        ("0::/system.slice/patroni.service/workers", "patroni.service"),
        ("0::/lab.slice/db.service", "db.service"),
        (V1, DEBIANS),
        (HYBRID, "patroni.service"),
        # A server started by hand, wherever from.
        (V1_SESSION, ""),
        ("0::/user.slice/user-1000.slice/session-c2.scope", ""),
        (f"0::{OF_A_USER}/app.slice/run-u7.service", ""),
        (f"0::{OF_A_USER}/init.scope", ""),
        ("0::/system.slice/ssh.service", ""),
        ("0::/system.slice/system-sshd.slice/sshd@3-10.0.0.1:22-10.0.0.2:41522.service", ""),
        ("0::/system.slice/cron.service", ""),
        ("0::/system.slice/system-serial\\\\x2dgetty.slice/serial-getty@ttyS0.service", ""),
        # In a container.
        ("0::/", ""),
        ("0::/system.slice/docker-4f0c5d.scope", ""),
        ("0::/system.slice/k3s.service/kubepods.slice/cri-containerd-4f0c5d.scope", ""),
        ("0::/../../init.scope", ""),
        # What cannot be read, or is no such file.
        ("", ""),
        ("nonsense", ""),
        ("0:", ""),
    ],
)  # fmt: skip
def test_a_services_name_is_found_and_no_other(text: str, unit: str) -> None:
    assert unit_in(text) == unit


def test_a_container_that_sees_its_engines_service_is_read_by_the_tree_of_systemd() -> None:
    assert unit_in(V1_CONTAINER) == "containerd.service", "which is ours too, so nothing is refused"
