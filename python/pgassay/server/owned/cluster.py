"""One owned cluster: made, configured, started, frozen and thawed, and its frozen copies by name.

Enters: an installation, an account, a workspace; names of schema variants. Leaves: a server that
listens on one socket; copies that can be put back, also by another cluster that can read them.
Never: listens on the network by itself, writes a file as root, turns fsync off, makes a file name
of a variant's name, or starts a copy that the disk has no room for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts import page_cache
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.placement import Place, confirm_place, run_in
from pgassay.server.owned.installation import Installation
from pgassay.server.owned.postmaster import START_LIMIT_S, end_servers, failure, start, working_in
from pgassay.server.owned.workspace import Workspace, free_bytes
from pgassay.server.protocol import NOTHING, ConnectionParameters
from pgassay.server.settings.auto_conf import quoted

SUPERUSER = "postgres"
DATABASE = "bench"
PORT = 5432
INITDB_LIMIT_S = 180.0
COPY_LIMIT_S = 6 * 3600.0
STOP_LIMIT_S = 300.0
BASE_FILE = "pgassay.conf"
QUERY_IDS_FROM = 140000


@dataclass
class Cluster:
    """The data directory of a server of pgassay's own, and the postmaster that runs on it."""

    installation: Installation
    workspace: Workspace
    place: Place | None = None
    """Processors and priority of the postmaster; its children inherit them."""
    cached_outside: float | None = 0.0
    """Share of the data that the host's cache held at the last start, and that so is not charged to
    the server's control group; None where that is unknown."""
    _copied: bool = False
    """Whether the data were copied since the last start, by a process outside of that group."""

    def create(self, settings: Mapping[str, str] = NOTHING) -> None:
        """Replace the data directory by a new one from initdb, with the settings pgassay needs,
        and others."""
        # C and not the machine's locale: the same order of text, at the same cost, everywhere
        # and in every version.
        self.make_files(["-U", SUPERUSER, "--encoding=UTF8", "--locale=C"])
        self._write(self._data / BASE_FILE, self._base_configuration() + lines(settings))
        self._append(self._data / "postgresql.conf", f"include = '{BASE_FILE}'\n")

    def make_files(self, options: Sequence[str]) -> None:
        """Replace the data directory by a new one from initdb with these options."""
        self._copied = True
        self._remove(self._data)
        command: list[str | Path] = [self.installation.program("initdb"), "-D", self._data]
        # Not synced here: the first checkpoint and `freeze` see to it.
        command += [*options, "--auth-local=trust", "--auth-host=reject", "--no-sync"]
        result = self.workspace.account.run(
            command, limit_s=INITDB_LIMIT_S, libraries=self.installation.libraries
        )
        if result.returncode != 0:
            reason, _ = failure(result.stderr)
            raise TargetRefused("initdb-failed", why=reason or last_line(result))

    def take_over(self, settings: Mapping[str, str]) -> None:
        """Replace the configuration files in a data directory that was copied from another server.

        `settings` are those of the other server; what pgassay needs overrides them. Subscriptions
        stay idle: their publisher would take the copy for the subscriber that it knows.
        """
        self._copied = True
        ours = self._base_configuration()
        files = {
            "postgresql.conf": f"{lines(settings)}include = '{BASE_FILE}'\n",
            BASE_FILE: f"{ours}max_logical_replication_workers = 0\n",
            "postgresql.auto.conf": "",
            "pg_hba.conf": "local all all trust\n",
            "pg_ident.conf": "",
        }
        for name, text in files.items():
            self._write(self._data / name, text)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Write settings as ALTER SYSTEM does; they take effect at the next start or reload.

        The socket is named anew: a snapshot may have been taken in another workspace.
        """
        here = {"unix_socket_directories": listed(self.workspace.socket_directory)}
        self._write(self._data / "postgresql.auto.conf", lines({**here, **settings}))

    def start(self, limit_s: int = START_LIMIT_S) -> None:
        space = self.workspace
        # A killed postmaster that was not reaped still counts as alive to who reads the lock file.
        for left in space.socket_directory.glob(".s.PGSQL.*"):
            left.unlink(missing_ok=True)
        enters = None if space.memory is None else space.memory.entrance
        if enters is not None and self._copied:
            # What the server would find cached it would read without being charged for it.
            page_cache.drop([self._data])
            self.cached_outside = page_cache.cached_share([self._data])
        self._copied = False
        run_in(
            self.place,
            lambda: start(
                self.installation, space.account, self._data, space.log_file, limit_s, enters
            ),
        )

    def limit_memory(self, *, lifted: bool = False) -> None:
        """Puts the limit of the server's memory in force, where it has one, or lifts it."""
        if self.workspace.memory is not None:
            self.workspace.memory.limit(lifted=lifted)

    def placed(self) -> dict[str, str]:
        """Where the server's processes run, confirmed to be the place that was asked for."""
        if self.place is None:
            return {}
        tasks, memory = working_in(self._data), self.workspace.memory
        limited = {} if memory is None else memory.confirmed(tasks)
        return confirm_place("server", self.place, tasks) | limited

    def stop(self, *, gently: bool) -> None:
        """Stops the server with a shutdown checkpoint, or at once where the data will be replaced
        anyway."""
        end_servers(self._data, gentle_s=STOP_LIMIT_S if gently else 0.0)

    def freeze(self, snapshot: Path) -> Path:
        """Copy the stopped server's data directory to a snapshot, whose path is returned."""
        self._remove(snapshot)
        self._copy(self._data, snapshot)
        return snapshot

    def thaw(self, snapshot: Path) -> None:
        """Replace the data directory by a copy of a snapshot, of this or another workspace; the
        server is down."""
        self._copied = True
        self._remove(self._data)
        self._copy(snapshot, self._data)

    def discard(self) -> None:
        """Remove the data directory, where a snapshot will be put back; the server is down."""
        self._remove(self._data)

    def refusal(self, name: str, value: str) -> str | None:
        """Why the server would not start with a value, as far as that is known without a start."""
        command: list[str | Path] = [self.installation.program("postgres"), "-D", self._data]
        command += ["-c", f"{name}={value}", "-C", name]
        result = self.workspace.account.run(
            command, limit_s=30, libraries=self.installation.libraries
        )
        if result.returncode == 0:
            return None
        reason, _ = failure(result.stderr)
        return reason or last_line(result)

    def parameters(self, dbname: str = DATABASE) -> ConnectionParameters:
        host = str(self.workspace.socket_directory)
        return ConnectionParameters(host, PORT, SUPERUSER, dbname, sslmode="disable")

    @property
    def _data(self) -> Path:
        return self.workspace.data

    def _base_configuration(self) -> str:
        return base_configuration(self.workspace.socket_directory, self.installation.version_num)

    def _copy(self, source: Path, destination: Path) -> None:
        account = self.workspace.account
        command: list[str | Path] = ["cp", "-a", "--reflink=auto", source, destination]
        result = account.run(command, limit_s=COPY_LIMIT_S)
        if result.returncode != 0:
            free = free_bytes(self.workspace.directory) / 2**30
            raise TargetRefused("snapshot-failed", source=source, said=last_line(result), free=free)
        # The copy's write-back would otherwise fall into the trial.
        # Of the whole file system: that is one journal commit, where thousands of fsync are many.
        account.require(["sync", "-f", destination], limit_s=COPY_LIMIT_S)

    def _remove(self, directory: Path) -> None:
        self.workspace.account.unlink_files(directory, COPY_LIMIT_S)
        self.workspace.account.require(["rm", "-rf", directory], limit_s=COPY_LIMIT_S)

    def _write(self, path: Path, text: str) -> None:
        self.workspace.account.require(["tee", path], text=text, limit_s=60)

    def _append(self, path: Path, text: str) -> None:
        self.workspace.account.require(["tee", "-a", path], text=text, limit_s=60)


def base_configuration(socket_directory: Path, version_num: int) -> str:
    """Returns the settings of every server of pgassay's own; those of the experiment
    override them."""
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": listed(socket_directory),
        "port": str(PORT),
        "cluster_name": "pgassay",
        **({"compute_query_id": "on"} if version_num >= QUERY_IDS_FROM else {}),
        "log_destination": "stderr",
        "logging_collector": "off",
        "log_checkpoints": "on",
        # Epoch with milliseconds: the reader of the log needs no time zone. Errors come with their
        # SQLSTATE; after %q comes what only lines of a session have.
        "log_line_prefix": "%n [%p] %e %b %q%u@%d ",
        # Rare beside the load, and what explains a trial: a line for each.
        "log_autovacuum_min_duration": "0",
        "log_lock_waits": "on",
        "lc_messages": "C",
    }
    return lines(settings)


def lines(settings: Mapping[str, str]) -> str:
    """Returns settings as lines of a configuration file."""
    return "".join(f"{name} = {quoted(value)}\n" for name, value in settings.items())


def listed(directory: Path) -> str:
    """Returns a directory as an element of a setting that is a list of names."""
    return '"' + str(directory).replace('"', '""') + '"'


AS_BUILT = ""


class Snapshots:
    """Frozen copies of a data directory by name; the first is that of the data as they were
    built."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}
        self._taken = 0

    def __contains__(self, name: str) -> bool:
        return name in self._paths

    def __bool__(self) -> bool:
        return bool(self._paths)

    def freeze(self, cluster: Cluster, name: str = AS_BUILT) -> None:
        """Keeps a copy of the data directory under a name."""
        number = 0 if name == AS_BUILT else len(self._paths)  # 0 is as built
        before = free_bytes(cluster.workspace.directory)
        path = cluster.freeze(cluster.workspace.snapshot(number))
        # What a file system with reflinks takes for a copy is next to nothing.
        self._taken = max(self._taken, before - free_bytes(cluster.workspace.directory))
        self._paths[name] = path

    def thaw(self, cluster: Cluster, name: str = AS_BUILT) -> None:
        """Puts the copy of that name in the place of the data directory."""
        cluster.thaw(self._paths[name])

    def refuse_without_room(self, cluster: Cluster) -> None:
        """Raises an error if the disk has less room than an earlier copy took."""
        directory = cluster.workspace.directory
        free = free_bytes(directory)
        if self._taken > free:
            raise TargetRefused(
                "no-room-for-a-variant",
                str(directory),
                free=free / 2**30,
                needed=self._taken / 2**30,
            )
