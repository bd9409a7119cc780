"""The keys of [target] that reach a host: checked before a word gets to a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.errors import SettingRejected, SpecError
from pgassay.server.existing.access import Access, access_of, refuse_late_knobs
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.hosts.ssh_connection import SshConnection, quoted
from pgassay.server.service.control import DebianCluster, RestartCommand, SystemdUnit
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec

DSN = "[target]\ndsn = 'service=lab'\n"


def parsed(text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=Path())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DSN + "data = '/srv/pg/data'", "start the server, then name it by dsn"),
        (DSN + "bin = '/opt/pg/bin'", "name its service, its cluster, or a restart_command"),
        (DSN + 'restart_command = "one\\ntwo"', "restart_command: a shell command on one line"),
        (
            DSN + "restart_command = 'x'\nservice = 'pg'",
            "service and restart_command exclude each other",
        ),
        ("[target]\nrestart_command = 'x'", "restart_command belongs to an existing server"),
        ("[target]\nssh = 'db1'", "ssh belongs to an existing server; give dsn too"),
        ("[target]\ncluster = '15/main'", "cluster belongs to an existing server; give dsn too"),
        (DSN + "ssh = '-oProxyCommand=id'", "is not a host as ssh knows it"),
        (DSN + "ssh = 'db1; id'", "is not a host as ssh knows it"),
        (DSN + "service = '--force'", "is not the name of a systemd unit"),
        (DSN + "service = '$(id)'", "is not the name of a systemd unit"),
        (DSN + "cluster = 'main'", "is not VERSION/NAME"),
        (DSN + "cluster = '15/-x'", "is not VERSION/NAME"),
        (DSN + "cluster = '15/main'\nservice = 'pg'", "service and cluster exclude each other"),
        (DSN + "sudo = true", "sudo belongs to ssh"),
        (DSN + "allow_restart = true", "allow_restart needs to know how"),
        (
            DSN + "allow_restart = true\nservice = 'pg'",
            "allow_restart serves changes of settings; allow_changes = true too",
        ),
        ("[target]\nallow_restart = true", "allow_restart belongs to an existing server"),
        ("[target]\nsettings_at = 'role'", "settings_at belongs to an existing server"),
        (
            DSN + "settings_at = 'role'\nallow_restart = true\nservice = 'pg'",
            "a role has no settings that take a restart",
        ),
    ],
)
def test_a_wrong_key_is_one_line_with_its_fix(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parsed(text)
    assert message in str(caught.value)
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
    assert access.why_no_restart == (
        "which ends everybody's sessions: target.allow_restart = true allows it"
    )


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
    with pytest.raises(
        SettingRejected, match=r"vm\.nr_hugepages: it acts only on a server that starts later"
    ):
        refuse_late_knobs(knobs, Access())
    refuse_late_knobs(knobs[:1], Access())
    refuse_late_knobs(knobs, Access(control=DebianCluster("15", "main"), allow_restart=True))
