"""Three ways to restart a server that is not ours: systemd, Debian's pg_ctlcluster, pg_ctl.

Enters: a unit, a cluster's name, or a bin directory. Leaves: commands run on the server's host,
and what it takes to see that they mean the right server. Never: judges whether the server is up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgassay.errors import TargetError
from pgassay.target.account import last_line
from pgassay.target.host import Finished, Host
from pgassay.target.located import Located, running_in
from pgassay.target.process_bounds import as_before, refuse_other_bounds
from pgassay.target.process_environment import STARTED_FOR, as_script
from pgassay.target.server_build import refuse_other_build, running_program
from pgassay.target.server_output import refuse_unopenable
from pgassay.target.start_directory import (
    ENV,
    last_options,
    repeated_options,
    start_directory,
)
from pgassay.target.system_unit import refuse_leaving_unit

RESTART_LIMIT_S = 600.0
"""A shutdown checkpoint of a large server takes minutes."""
LOG_LINES = 200
_NO_CLUSTER = "does not exist"
"""pg_conftool's own words; they are not translated."""
START_LOG = "pgassay-start.log"
"""In the data directory: what a server says before its logging collector listens."""


class Control(Protocol):
    """How one server is restarted."""

    @property
    def label(self) -> str:
        """What a person would type to restart it."""
        ...

    def refuse_other(self, host: Host, server: Located) -> None:
        """TargetError where this is not the service of that server. Changes nothing."""
        ...

    def restart(self, host: Host, server: Located) -> Finished: ...

    def start(self, host: Host, server: Located) -> Finished:
        """Start it where it is down."""
        ...

    def stop(self, host: Host, server: Located) -> Finished:
        """Stop it, ending every session."""
        ...

    def journal(self, host: Host, since_s: int) -> str:
        """What the host's journal has of it since a Unix time, where it has one."""
        ...


def by_hand(control: Control, host: str) -> str:
    """What a person would type to restart a server; `host` as ssh knows it, empty for this one."""
    return f"{control.label} (on {host})" if host else control.label


@dataclass(frozen=True)
class SystemdUnit:
    """A unit of systemd."""

    unit: str

    @property
    def label(self) -> str:
        return f"systemctl restart {self.unit}"

    def refuse_other(self, host: Host, server: Located) -> None:
        done = host.run(["systemctl", "show", "--property=LoadState,MainPID", "--", self.unit])
        said = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if done.returncode:
            raise TargetError(f"target.service: systemctl on {host.label}: {last_line(done)}")
        if said.get("LoadState") != "loaded":
            raise TargetError(
                f"target.service: {host.label} has no unit {self.unit}; "
                "systemctl list-units 'postgres*' there shows what it has"
            )
        pid = said.get("MainPID", "0")
        if pid != str(server.postmaster):
            what = "has no main process" if pid == "0" else f"runs process {pid}"
            raise TargetError(
                f"target.service: {self.unit} {what}, the server is {server.postmaster}; name the"
                " unit of this very server (on Debian postgresql@VERSION-NAME)"
            )

    def restart(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "restart")

    def start(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "start")

    def stop(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "stop")

    def journal(self, host: Host, since_s: int) -> str:
        words = ["journalctl", "--no-pager", "--quiet", "--output=cat", f"--lines={LOG_LINES}"]
        done = host.run([*words, f"--unit={self.unit}", f"--since=@{since_s}"])
        return done.stdout if done.returncode == 0 else ""

    def _asked(self, host: Host, action: str) -> Finished:
        # systemd refuses a unit that failed several times within seconds.
        host.run(["systemctl", "reset-failed", "--", self.unit])
        return host.run(["systemctl", action, "--", self.unit], limit_s=RESTART_LIMIT_S)


@dataclass(frozen=True)
class DebianCluster:
    """A cluster of Debian's postgresql-common."""

    version: str
    name: str

    @property
    def label(self) -> str:
        return f"pg_ctlcluster {self.version} {self.name} restart"

    def refuse_other(self, host: Host, server: Located) -> None:
        data = self._data(host)
        try:
            same = host.resolve(data) == host.resolve(server.data)
        except OSError:
            same = data == server.data
        if not same:
            raise TargetError(
                f"target.cluster: {self.version}/{self.name} has its data in {data}, the server "
                f"in {server.data}; name the cluster of this very server"
            )
        # Only root's pg_ctlcluster goes through systemd.
        own = f"postgresql@{self.version}-{self.name}.service" if host.uid == 0 else ""
        refuse_leaving_unit(host, server, "cluster", own)

    def restart(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "restart", server)

    def start(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "start", server)

    def stop(self, host: Host, server: Located) -> Finished:
        return self._asked(host, "stop", server)

    def journal(self, host: Host, since_s: int) -> str:
        return ""

    def _asked(self, host: Host, action: str, server: Located) -> Finished:
        # Root stays root: it lets pg_ctlcluster make the directory of the socket, and go
        # through systemd where that is in charge.
        user = None if host.uid == 0 else server.account
        words = ["pg_ctlcluster", self.version, self.name, action]
        return host.run(words, user=user, limit_s=RESTART_LIMIT_S)

    def _data(self, host: Host) -> Path:
        """Its data directory: the one value asked for, where pg_lsclusters has columns that any
        name with a blank would move."""
        words = ["pg_conftool", "-s", "-v", self.version, self.name, "show", "data_directory"]
        done = host.run(words)
        if done.returncode == 0:
            return Path(done.stdout.removesuffix("\n"))
        if _NO_CLUSTER in done.stderr:
            raise TargetError(
                f"target.cluster: {host.label} has no cluster {self.version}/{self.name}; "
                "pg_lsclusters there shows what it has"
            )
        raise TargetError(f"target.cluster: pg_conftool on {host.label}: {last_line(done)}")


@dataclass(frozen=True)
class PgCtl:
    """pg_ctl of a bin directory on the server's host, run as the server's account."""

    bin_directory: Path
    started_for: str = ""
    """The change by which a run started a server that it found stopped: every postmaster has it in
    its environment, so that it is told from one that somebody else has started since."""

    @property
    def label(self) -> str:
        return f"{self.bin_directory / 'pg_ctl'} restart"

    def refuse_other(self, host: Host, server: Located) -> None:
        program = self.bin_directory / "pg_ctl"
        done = host.run([program, "status", "-D", server.data], user=server.account)
        if done.returncode:
            raise TargetError(f"target.bin: {program} on {host.label}: {last_line(done)}")
        seen = running_program(host, server.account, server.postmaster)
        refuse_other_build(host, self.bin_directory, server.data, seen)
        refuse_unopenable(host, server)
        if server.environment is None:
            raise TargetError(
                "target.bin: the environment that the server was started with cannot be read"
                f" (/proc/{server.postmaster}/environ of {host.label}), so pg_ctl could not give it"
                " back after a restart; name its service or its cluster instead"
            )
        as_before(host, server.account, server.bounds)
        # TargetError where it was started in a directory that cannot be told.
        start_directory(host, server.data, last_options(host, server.data), server.environment)
        refuse_leaving_unit(host, server, "bin")

    def restart(self, host: Host, server: Located) -> Finished:
        # Looked at once more: somebody may have started it anew, and it must not stay down.
        refuse_unopenable(host, server)
        start = as_before(host, server.account, server.bounds)
        return self._brought_up(host, server, ["restart", "-m", "fast"], *start)

    def start(self, host: Host, server: Located) -> Finished:
        # "restart" would repeat the options of the last start by itself, and stop a server that
        # somebody has started in this very moment.
        words = ["start", "-o", repeated_options(host, server.data)]
        try:
            start = as_before(host, server.account, server.bounds)
        except TargetError:
            start = [], server.account  # better up with others, which is told, than down
        return self._brought_up(host, server, words, *start)

    def _brought_up(
        self, host: Host, server: Located, action: list[str], before: list[str], user: str | None
    ) -> Finished:
        through: list[str | Path] = []
        environment = server.environment
        directory = start_directory(host, server.data, last_options(host, server.data), environment)
        if directory is not None:
            through = ["-C", directory]
        if environment is not None and self.started_for:
            environment = {**environment, STARTED_FOR: self.started_for}
        elif self.started_for:
            through += [f"{STARTED_FOR}={self.started_for}"]
        words: list[str | Path] = [ENV, *through] if through else []
        words += [self.bin_directory / "pg_ctl", *action, "-D", server.data]
        words += ["-s", "-w", "-t", str(round(RESTART_LIMIT_S / 2))]
        words += ["-l", server.output or server.data / START_LOG]
        limit_s = RESTART_LIMIT_S
        if user is None and environment is not None:
            # Nothing that the server's account has chosen (LD_PRELOAD) may come to root's part.
            shell = [ENV, "-i", "/bin/sh", "-s", "--"]
            done = host.run([*before, *shell, *words], text=as_script(environment), limit_s=limit_s)
        else:
            words = [*before, *words]
            done = host.run(words, user=user, limit_s=limit_s, environment=environment)
        postmaster = running_in(host, server.data)
        if postmaster is not None:
            refuse_other_bounds(host, postmaster, server.bounds)
        return done

    def stop(self, host: Host, server: Located) -> Finished:
        words: list[str | Path] = [self.bin_directory / "pg_ctl", "stop", "-D", server.data]
        words += ["-s", "-w", "-t", str(round(RESTART_LIMIT_S / 2)), "-m", "fast"]
        return host.run(words, user=server.account, limit_s=RESTART_LIMIT_S)

    def journal(self, host: Host, since_s: int) -> str:
        return ""
