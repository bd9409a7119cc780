"""A cluster that `target.data` names: seen in its files, whether it runs or is stopped.

Enters: its data directory, the bin directory, what is given of a connection string. Leaves: a
`Cluster`: where SQL reaches it, whether it runs, whether it was shut down; or one line on what does
not fit together. Never: starts or changes anything, or reaches the server by SQL.

PostgreSQL documentation: postmaster.pid and postmaster.opts (storage-file-layout), postgres -C,
pg_controldata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.account import last_line
from pgassay.target.host import Host, is_there, text_of
from pgassay.target.installation import OLDEST_MAJOR
from pgassay.target.located import PID_FILE, Located, as_whom, running_in
from pgassay.target.protocol import Connection
from pgassay.target.server_build import refuse_other_build
from pgassay.target.service_control import PgCtl
from pgassay.target.start_directory import ENV, last_options, start_directory, words_of

SHUT_DOWN = "shut down"
"""pg_controldata's word for a cluster that nothing need be recovered in."""
_AS_STANDBY = ("standby.signal", "recovery.signal")
_ANY = {"": "localhost", "*": "localhost", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


@dataclass(frozen=True)
class Cluster:
    """A data directory and the server that it belongs to."""

    data: Path
    account: str
    version: str
    """Of the programs that start it."""
    identity: str
    """The system identifier, as `session.identity` tells it of one that runs."""
    state: str
    """As pg_control has it."""
    runs: bool
    dsn: str
    """Where SQL reaches it, or will: no password in it."""
    address: str
    """The same for people."""
    collects: bool = True
    """Of one that is stopped: whether its logging collector takes over its output."""


def control_of(access: Access) -> PgCtl:
    """How such a cluster is started and stopped."""
    assert isinstance(access.control, PgCtl)  # noqa: S101 (the spec sees to it)
    return access.control


def look(dsn: str, access: Access, host: Host) -> Cluster:
    """The cluster as it is now; TargetError where data, bin and dsn do not belong together."""
    assert access.data is not None  # noqa: S101 (asked only of such a target)
    data, directory = access.data, control_of(access).bin_directory
    account, major = _owner_and_major(data, host)
    version = _version(directory, account, major, host)
    said = pg_control(directory, data, account, host)
    if running_in(host, data) is None:
        return _stopped(Cluster(data, account, version, *said, False, dsn, ""), directory, host)
    lines = (text_of(host, data / PID_FILE) or "").split("\n")
    if len(lines) < 6:
        raise TargetError(
            f"target.data: the server of {data} on {host.label} is just starting; try again in a"
            " moment"
        )
    port, place = lines[3].strip(), lines[4].strip() or _name_of(lines[5].strip())
    return Cluster(data, account, version, *said, True, *reached_at(dsn, place, port, host))


def pg_control(directory: Path, data: Path, account: str, host: Host) -> tuple[str, str]:
    """System identifier and state, from pg_control."""
    done = host.run([directory / "pg_controldata", "-D", data], user=account)
    said = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    try:
        return said["Database system identifier"].strip(), said["Database cluster state"].strip()
    except KeyError:
        raise TargetError(
            f"target.data: pg_controldata cannot read {data} of {host.label}: {last_line(done)}"
        ) from None


def refuse_unstartable(cluster: Cluster, host: Host) -> None:
    """TargetError where a stopped cluster could not be started and then left as it was found."""
    data, where = cluster.data, f"{cluster.data} of {host.label}"
    signal = next((name for name in _AS_STANDBY if is_there(host, data / name)), None)
    if signal is not None:
        raise TargetError(
            f"target.data: {where} is a standby's ({signal}), where no data can be made; name its"
            " primary"
        )
    if cluster.state != SHUT_DOWN:
        raise TargetError(
            f"target.data: {where} was not shut down (pg_control: {cluster.state}) and no server"
            " runs in it here: a start would recover it from its WAL, which a run does not do"
            " unasked; see that it runs nowhere else, start it by hand, read its log, then name it"
            " again, stopped or running"
        )


def refuse_elsewhere_than(session: Connection, server: Located, access: Access, host: Host) -> None:
    """TargetError where dsn and data lead to two servers."""
    if access.data is not None and host.resolve(server.data) != host.resolve(access.data):
        info = session.info
        raise TargetError(
            f"target.dsn leads to {info.host}:{info.port}, whose data directory is {server.data},"
            f" not target.data = {access.data}; leave host and port out of dsn"
        )


def _owner_and_major(data: Path, host: Host) -> tuple[str, int]:
    where = f"{data} of {host.label}"
    try:
        owner = host.facts(data)
        text = host.read(data / "PG_VERSION").decode("ascii", "replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        raise TargetError(
            f"target.data: {where} is not the data directory of a cluster: no PG_VERSION in it; "
            "give the one that initdb made (SHOW data_directory; pg_lsclusters)"
        ) from None
    except OSError as error:
        raise TargetError(
            f"target.data: {where} cannot be read ({error.strerror}); {as_whom(host)}"
        ) from None
    if host.uid not in (0, owner.uid):
        raise TargetError(f"target.data: {where} belongs to {owner.account}; {as_whom(host)}")
    if not text.isdigit() or int(text) < OLDEST_MAJOR:
        raise TargetError(
            f"target.data: {where} is of PostgreSQL {text[:20]!r}; pgassay works with"
            f" {OLDEST_MAJOR} and later"
        )
    return owner.account, int(text)


def _version(directory: Path, account: str, major: int, host: Host) -> str:
    done = host.run([directory / "postgres", "--version"], user=account)
    found = re.search(r"\(PostgreSQL\) ((\d+)\S*)", done.stdout)
    if done.returncode or found is None:
        raise TargetError(
            f"target.bin: {directory} of {host.label} has no postgres that {account} can run"
            f" ({last_line(done)}); name the bin directory of PostgreSQL {major}"
        )
    if int(found[2]) != major:
        raise TargetError(
            f"target.bin: {directory} of {host.label} is PostgreSQL {found[1]}, and target.data is"
            f" of {major}; name the bin directory of PostgreSQL {major}"
        )
    return found[1]


def _stopped(cluster: Cluster, directory: Path, host: Host) -> Cluster:
    """With where it will be reached, by its configuration and the options it was last started
    with, which it is started with again."""
    said = last_options(host, cluster.data)
    options = words_of(said)
    _refuse_other_directory(cluster, options, host)
    refuse_other_build(host, directory, cluster.data, None)
    place = start_directory(host, cluster.data, said)
    there: list[str | Path] = [] if place is None else [ENV, "-C", place]

    def setting(name: str) -> str:
        words = [*there, directory / "postgres", "-D", cluster.data, *options, "-C", name]
        done = host.run(words, user=cluster.account)
        if done.returncode:
            raise TargetError(
                f"target.data: the configuration of {cluster.data} on {host.label} does not let"
                f" it start: {last_line(done)}"
            )
        return done.stdout.strip()

    port, sockets = setting("port"), setting("unix_socket_directories")
    listens = _first(sockets) or _name_of(_first(setting("listen_addresses")))
    way, address = reached_at(cluster.dsn, listens, port, host)
    collects = setting("logging_collector") == "on"
    parts = (cluster.data, cluster.account, cluster.version, cluster.identity, cluster.state)
    return Cluster(*parts, False, way, address, collects)


def _refuse_other_directory(cluster: Cluster, options: list[str], host: Host) -> None:
    for option, value in pairwise(options):
        if option != "-D" or not value.startswith("/"):
            continue
        try:
            same = host.resolve(Path(value)) == host.resolve(cluster.data)
        except OSError:
            same = False
        if not same:
            raise TargetError(
                f"target.data: {cluster.data} of {host.label} was last started with -D {value}"
                " (postmaster.opts), which is another directory; start it once by hand with"
                f" pg_ctl start -D {cluster.data}, or name the running server by dsn"
            )


def _first(listed: str) -> str:
    return listed.split(",")[0].strip().strip('"')


def _name_of(address: str) -> str:
    """Where a server that listens there is reached from its own host."""
    return _ANY.get(address, address)


def reached_at(dsn: str, place: str, port: str, host: Host) -> tuple[str, str]:
    """The whole connection string, and the address for people; what `dsn` names wins."""
    given = conninfo_to_dict(dsn)
    added = {}
    if "service" not in given:
        if not {"host", "hostaddr"} & given.keys():
            added["host"] = place
        if "port" not in given:
            added["port"] = port
    known = {**given, **added}
    if "service" in given:
        return dsn, f"service {given['service']}"
    at = known.get("host") or known.get("hostaddr")
    way = make_conninfo(dsn, **added)
    return way, f"{at}:{known.get('port')}{f' ({host.name})' if host.name else ''}"
