"""Three ways to restart a server that pgassay did not start: systemd, pg_ctlcluster, a command.

Enters: a unit, a cluster's name, or the user's own command line. Leaves: commands run on the
server's host, and a check that the unit or cluster belongs to the server under test.
Never: judges whether the server is up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.host import Finished, Host
from pgassay.server.hosts.server_process import ServerProcess
from pgassay.server.service.restartable import refuse_leaving_unit

RESTART_LIMIT_S = 600.0
"""A shutdown checkpoint of a large server takes minutes."""
LOG_LINES = 200
_NO_CLUSTER = "does not exist"
"""pg_conftool's own words; they are not translated."""
# A server that the command starts keeps the command's output open, so that output is a file that
# this shell reads and removes: a pipe would be waited for until the server ends.
_RUN_COMMAND = (
    'out=$(mktemp) || exit; sh -c "$1" >"$out" 2>&1 </dev/null; status=$?;'
    ' tail -c 4096 "$out"; rm -f -- "$out"; exit $status'
)


class Control(Protocol):
    """How one existing server is restarted."""

    @property
    def label(self) -> str:
        """The command that a person would type to restart it."""
        ...

    def refuse_other(self, host: Host, server: ServerProcess) -> None:
        """Raises TargetError where this does not control that server; changes nothing."""
        ...

    def restart(self, host: Host, server: ServerProcess) -> Finished: ...

    def start(self, host: Host, server: ServerProcess) -> Finished:
        """Starts a server that is down."""
        ...

    def journal(self, host: Host, since_s: int) -> str:
        """Returns what the host's journal says of it since a Unix time; empty where it has no
        journal."""
        ...


def command_on(control: Control, host: str) -> str:
    """Returns what a person would type to restart a server; `host` as ssh knows it, empty for this
    one."""
    return f"{control.label} (on {host})" if host else control.label


@dataclass(frozen=True)
class SystemdUnit:
    """A server that a unit of systemd runs."""

    unit: str

    @property
    def label(self) -> str:
        return f"systemctl restart {self.unit}"

    def refuse_other(self, host: Host, server: ServerProcess) -> None:
        done = host.run(["systemctl", "show", "--property=LoadState,MainPID", "--", self.unit])
        said = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if done.returncode:
            raise TargetRefused("systemctl-failed", host=host.label, said=last_line(done))
        if said.get("LoadState") != "loaded":
            raise TargetRefused("no-such-unit", host=host.label, unit=self.unit)
        pid = said.get("MainPID", "0")
        if pid != str(server.postmaster):
            code = "unit-without-process" if pid == "0" else "unit-of-another-server"
            raise TargetRefused(code, unit=self.unit, pid=pid, postmaster=server.postmaster)

    def restart(self, host: Host, server: ServerProcess) -> Finished:
        return self._run(host, "restart")

    def start(self, host: Host, server: ServerProcess) -> Finished:
        return self._run(host, "start")

    def journal(self, host: Host, since_s: int) -> str:
        words = ["journalctl", "--no-pager", "--quiet", "--output=cat", f"--lines={LOG_LINES}"]
        done = host.run([*words, f"--unit={self.unit}", f"--since=@{since_s}"])
        return done.stdout if done.returncode == 0 else ""

    def _run(self, host: Host, action: str) -> Finished:
        # systemd refuses a unit that failed several times within seconds.
        host.run(["systemctl", "reset-failed", "--", self.unit])
        return host.run(["systemctl", action, "--", self.unit], limit_s=RESTART_LIMIT_S)


@dataclass(frozen=True)
class DebianCluster:
    """A server that is a cluster of Debian's postgresql-common."""

    version: str
    name: str

    @property
    def label(self) -> str:
        return f"pg_ctlcluster {self.version} {self.name} restart"

    def refuse_other(self, host: Host, server: ServerProcess) -> None:
        data = self._data(host)
        try:
            same = host.resolve(data) == host.resolve(server.data)
        except OSError:
            same = data == server.data
        if not same:
            raise TargetRefused(
                "cluster-of-another-server",
                version=self.version,
                name=self.name,
                data=data,
                own=server.data,
            )
        # Only root's pg_ctlcluster goes through systemd.
        own = f"postgresql@{self.version}-{self.name}.service" if host.uid == 0 else ""
        refuse_leaving_unit(host, server, "cluster", own)

    def restart(self, host: Host, server: ServerProcess) -> Finished:
        return self._run(host, "restart", server)

    def start(self, host: Host, server: ServerProcess) -> Finished:
        return self._run(host, "start", server)

    def journal(self, host: Host, since_s: int) -> str:
        return ""

    def _run(self, host: Host, action: str, server: ServerProcess) -> Finished:
        # Root stays root: it lets pg_ctlcluster make the directory of the socket, and go
        # through systemd where that is in charge.
        user = None if host.uid == 0 else server.account
        words = ["pg_ctlcluster", self.version, self.name, action]
        return host.run(words, user=user, limit_s=RESTART_LIMIT_S)

    def _data(self, host: Host) -> Path:
        # pg_lsclusters prints columns, which a directory with a blank in its name would shift.
        words = ["pg_conftool", "-s", "-v", self.version, self.name, "show", "data_directory"]
        done = host.run(words)
        if done.returncode == 0:
            return Path(done.stdout.removesuffix("\n"))
        if _NO_CLUSTER in done.stderr:
            raise TargetRefused(
                "no-such-cluster", host=host.label, version=self.version, name=self.name
            )
        raise TargetRefused("conftool-failed", host=host.label, said=last_line(done))


@dataclass(frozen=True)
class RestartCommand:
    """A command line of the user's, which starts the server also where it is down."""

    command: str

    @property
    def label(self) -> str:
        return self.command

    def refuse_other(self, host: Host, server: ServerProcess) -> None:
        """Nothing shows beforehand what a command restarts; `Service` checks it afterwards."""

    def restart(self, host: Host, server: ServerProcess) -> Finished:
        return host.run(["sh", "-c", _RUN_COMMAND, "sh", self.command], limit_s=RESTART_LIMIT_S)

    def start(self, host: Host, server: ServerProcess) -> Finished:
        return self.restart(host, server)

    def journal(self, host: Host, since_s: int) -> str:
        return ""
