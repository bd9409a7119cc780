"""The keys of [target] that reach a host: checked before a word gets to a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.existing.access import Access, access_of, refuse_late_knobs
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.hosts.ssh_connection import SshConnection, quoted
from pgassay.server.service.control import DebianCluster, RestartCommand, SystemdUnit
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from support.refusals import refused

DSN = "[target]\ndsn = 'service=lab'\n"


def parsed(text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=Path())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DSN + "data = '/srv/pg/data'", refused("data-is-no-key")),
        (DSN + "bin = '/opt/pg/bin'", refused("programs-of-an-existing-server")),
        (DSN + 'restart_command = "one\\ntwo"', refused("not-a-shell-command")),
        (
            DSN + "restart_command = 'x'\nservice = 'pg'",
            refused("exclude-each-other", given="service and restart_command"),
        ),
        (
            "[target]\nrestart_command = 'x'",
            refused("access-without-server", key="restart_command"),
        ),
        ("[target]\nssh = 'db1'", refused("access-without-server", key="ssh")),
        ("[target]\ncluster = '15/main'", refused("access-without-server", key="cluster")),
        (DSN + "ssh = '-oProxyCommand=id'", refused("not-a-host")),
        (DSN + "ssh = 'db1; id'", refused("not-a-host")),
        (DSN + "service = '--force'", refused("not-a-unit")),
        (DSN + "service = '$(id)'", refused("not-a-unit")),
        (DSN + "cluster = 'main'", refused("not-a-cluster")),
        (DSN + "cluster = '15/-x'", refused("not-a-cluster")),
        (
            DSN + "cluster = '15/main'\nservice = 'pg'",
            refused("exclude-each-other", given="service and cluster"),
        ),
        (DSN + "sudo = true", refused("sudo-without-ssh")),
        (DSN + "allow_restart = true", refused("no-way-to-restart")),
        (
            DSN + "allow_restart = true\nservice = 'pg'",
            refused("restart-without-permission"),
        ),
        ("[target]\nallow_restart = true", refused("access-without-server", key="allow_restart")),
        ("[target]\nsettings_at = 'role'", refused("settings-at-without-server")),
        (
            DSN + "settings_at = 'role'\nallow_restart = true\nservice = 'pg'",
            refused("restart-for-no-setting", place="role"),
        ),
    ],
)
def test_a_wrong_key_is_one_line_with_its_fix(text: str, expected: refused) -> None:
    with expected as caught:
        parsed(text)
    assert str(caught.value).startswith("lab.toml: target")


@pytest.mark.parametrize(
    ("text", "control", "label"),
    [
        ("cluster = '15/main'", DebianCluster("15", "main"), "pg_ctlcluster 15 main restart"),
        (
            "service = 'postgresql@15-main'",
            SystemdUnit("postgresql@15-main"),
            "systemctl restart postgresql@15-main",
        ),
        ("restart_command = 'svc pg restart'", RestartCommand("svc pg restart"), "svc pg restart"),
    ],
)
def test_each_way_to_restart_has_its_command(text: str, control: object, label: str) -> None:
    access = access_of(parsed(DSN + text).file.target)
    assert access.control == control
    assert access.control is not None
    assert access.control.label == label
    assert access.host() is HERE
    assert access.why_no_restart == "setting-without-leave-to-restart"


def test_a_bin_without_dsn_is_a_server_of_our_own() -> None:
    access = access_of(parsed("[target]\nbin = '/opt/pg/bin'").file.target)
    assert access.control is None
    assert not access.reaches_host


def test_a_host_over_ssh_is_not_reached_before_it_is_asked() -> None:
    access = access_of(parsed(DSN + "ssh = 'postgres@db1'\nsudo = true").file.target)
    host = access.host()
    assert isinstance(host, SshHost)
    assert host.label == "postgres@db1"
    host.close()


def test_words_stay_words_for_a_shell() -> None:
    assert quoted(["cat", "a b", "$(id)", Path("/x'y")]) == "cat 'a b' '$(id)' '/x'\"'\"'y'"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Host key verification failed.\n", "run `ssh db1` once yourself and accept its key"),
        ("me@db1: Permission denied (publickey).\n", "load the key into ssh-agent"),
        ("ssh: Could not resolve hostname db1: Name or service not known", "spelled as in"),
        ("", "ssh db1: the connection was lost; does `ssh db1` work in a shell?"),
    ],
)
def test_what_ssh_says_becomes_one_line_with_a_fix(said: str, words: str) -> None:
    message = str(SshConnection("db1").unreachable(said))
    assert words in message
    assert "\n" not in message


def test_a_knob_that_acts_at_the_next_start_needs_allow_restart() -> None:
    knobs = ["vm.swappiness", "vm.nr_hugepages"]
    with refused("knob-without-way-to-restart"):
        refuse_late_knobs(knobs, Access())
    refuse_late_knobs(knobs[:1], Access())
    refuse_late_knobs(knobs, Access(control=DebianCluster("15", "main"), allow_restart=True))
