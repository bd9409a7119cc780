"""The keys of [target] that reach a host: checked before a word gets to a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.errors import SettingRejected, SpecError
from pgassay.spec.parse import Spec, parse_spec
from pgassay.target.access import Access, access_of, refuse_late_knobs
from pgassay.target.local_host import HERE
from pgassay.target.service_control import DebianCluster, PgCtl, SystemdUnit
from pgassay.target.ssh_connection import SshConnection, quoted
from pgassay.target.ssh_host import SshHost

DSN = "[target]\ndsn = 'service=lab'\n"


def parsed(text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=Path())


BY_DATA = "[target]\ndata = '/srv/pg/data'\nbin = '/opt/pg/bin'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[target]\ndata = '/srv/pg/data'", "data takes bin, the bin directory of that server's"),
        (
            "[target]\ndata = 'data'\nbin = '/opt/pg/bin'",
            "is not the whole path of a data directory",
        ),
        ("[target]\ndata = '/srv/my data'\nbin = '/opt/pg/bin'", "without blanks and quotes"),
        ('[target]\ndata = "/srv/it\'s"\nbin = "/opt/pg/bin"', "without blanks and quotes"),
        ("[target]\ndata = '/srv/größe'\nbin = '/opt/pg/bin'", "in ASCII without blanks"),
        ("[target]\ndata = '/srv/$(id)'\nbin = '/opt/pg/bin'", "is not the whole path"),
        ("[target]\ndata = '/'\nbin = '/opt/pg/bin'", "is not the whole path"),
        (
            "[target]\ndata = '/srv/data'\nbin = 'pg/bin'",
            "bin beside data is a path of the server's",
        ),
        (BY_DATA + "version = 18", "data names an existing server; leave out version"),
        (BY_DATA + "service = 'pg'", "service and bin exclude each other"),
        (BY_DATA + "ssh = 'db1'", "say in dsn how it gets there, such as 'host=db1'"),
        (BY_DATA + "ssh = 'db1'\ndsn = 'user=lab'", "say in dsn how it gets there"),
        (
            BY_DATA + "allow_restart = true\nallow_data_copy = true",
            "allow_restart serves changes of settings; allow_changes = true too",
        ),
        ("[target]\nssh = 'db1'", "ssh belongs to an existing server; give dsn too"),
        ("[target]\ncluster = '15/main'", "cluster belongs to an existing server; give dsn too"),
        (DSN + "ssh = '-oProxyCommand=id'", "is not a host as ssh knows it"),
        (DSN + "ssh = 'db1; id'", "is not a host as ssh knows it"),
        (DSN + "service = '--force'", "is not the name of a systemd unit"),
        (DSN + "service = '$(id)'", "is not the name of a systemd unit"),
        (DSN + "cluster = 'main'", "is not VERSION/NAME"),
        (DSN + "cluster = '15/-x'", "is not VERSION/NAME"),
        (DSN + "cluster = '15/main'\nservice = 'pg'", "service and cluster exclude each other"),
        (DSN + "bin = 'pg/bin'", "bin beside dsn is a path of the server's host"),
        (DSN + "sudo = true", "sudo belongs to ssh"),
        (DSN + "allow_restart = true", "allow_restart needs to know how"),
        (
            DSN + "allow_restart = true\nservice = 'pg'",
            "allow_restart serves changes of settings; allow_changes = true too",
        ),
        ("[target]\nallow_restart = true", "allow_restart belongs to an existing server"),
        (DSN + "allow_data_copy = true", "allow_data_copy takes restarts; allow_restart = true"),
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
        ("bin = '/opt/pg/bin'", PgCtl(Path("/opt/pg/bin")), "/opt/pg/bin/pg_ctl restart"),
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
    ("said", "told"),
    [
        ("Host key verification failed.\n", "check and accept its key once by hand: ssh db1"),
        ("me@db1: Permission denied (publickey).\n", "load the key into ssh-agent"),
        ("ssh: Could not resolve hostname db1: Name or service not known", "spelled as in"),
        ("", "ssh db1: the connection was lost; does ssh db1 work by hand?"),
    ],
)
def test_what_ssh_says_becomes_one_line_with_a_fix(said: str, told: str) -> None:
    message = str(SshConnection("db1").unreachable(said))
    assert told in message
    assert "\n" not in message


def test_a_knob_that_a_start_takes_up_needs_leave_to_restart() -> None:
    knobs = ["vm.swappiness", "vm.nr_hugepages"]
    with pytest.raises(SettingRejected, match=r"vm\.nr_hugepages: a server takes it up as it sta"):
        refuse_late_knobs(knobs, Access())
    refuse_late_knobs(knobs[:1], Access())
    refuse_late_knobs(knobs, Access(control=DebianCluster("15", "main"), allow_restart=True))


def test_data_and_bin_name_a_server_by_themselves() -> None:
    table = parsed(BY_DATA + "allow_restart = true").file.target
    access = access_of(table)
    assert table.is_existing
    assert table.way == ""
    assert access.data == Path("/srv/pg/data")
    assert access.control == PgCtl(Path("/opt/pg/bin"))
    assert access.why_no_restart == ""
    beside = parsed(BY_DATA + "dsn = 'user=lab'\nssh = 'db1'\n".replace("user", "host"))
    assert access_of(beside.file.target).ssh == "db1"
