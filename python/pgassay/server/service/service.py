"""The service of an existing server: restarts it, and starts it again where it did not come up.

Enters: a server's process, its host, how it is restarted. Leaves: the server up again and shown to
be the same one, started anew; or a StartError with the reason from the server's log.
Never: stops or starts a server in any way but its own service's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import psycopg

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.refusals.refusal import RestoreRefused, TargetRefused
from pgassay.server.connection.answering import POLL_S, Attempts, is_up
from pgassay.server.connection.session import connect, identity, resolve
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.host import Finished, Host
from pgassay.server.hosts.server_process import (
    ServerProcess,
    has_processes_left,
    output_of,
    running_in,
)
from pgassay.server.owned.postmaster import StartError
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.service.control import Control, RestartCommand, command_on
from pgassay.server.service.restartable import refuse_other_program
from pgassay.server.service.start_log import StartLog
from pgassay.server.settings import auto_conf

READY_LIMIT_S = 300.0
APPEAR_LIMIT_S = 5.0
"""Some services say that they have started before their server has written its pid file."""
ENDING_LIMIT_S = 30.0


@dataclass(frozen=True)
class _Start:
    """One start of one server, as SQL shows it."""

    at: datetime
    system: str
    """The system identifier; empty where this user may not see it."""


class Service:
    """The service of one existing server on its host, by which a run restarts it."""

    def __init__(
        self,
        reached: str | ConnectionParameters,
        host: Host,
        control: Control,
        server: ServerProcess,
        *,
        system: str = "",
    ) -> None:
        """`reached` is where libpq finds the server, `system` its system identifier if known."""
        self._reached = reached
        self._host = host
        self._control = control
        self._system = system
        self.server = server

    @property
    def command(self) -> str:
        """The command that a person would type to restart the server."""
        return command_on(self._control, self._host.name)

    def for_journal(self) -> Mapping[str, str]:
        """Returns the fields of a `Change` that recovery needs to start the server where it is
        down."""
        log = self.server.output
        return {
            "host": self._host.name,
            "data": str(self.server.data),
            "log": "" if log is None else str(log),
        }

    def restart(self) -> None:
        """Restart the server and wait until it takes connections; StartError where it does not."""
        self._bring_up(stopped=False)

    def left_down(self) -> str:
        """Returns what a person reads who breaks off a restart; empty where the server is up."""
        if is_up(self._reached):
            return ""
        return f"the server is down; start it with `{self.command}`"

    def is_down(self) -> bool:
        """Returns whether no postmaster runs on the server's data directory."""
        return running_in(self._host, self.server.data) is None

    def wait_for_restart(self) -> None:
        """Wait some seconds for a server that is down: another user may be restarting it."""
        began = time.monotonic()
        while self.is_down() and time.monotonic() - began < APPEAR_LIMIT_S:
            time.sleep(POLL_S)

    def refuse_other_program(self, session: Connection) -> None:
        """Raises PendingChanges where the next start would run another version of PostgreSQL."""
        postmaster = running_in(self._host, self.server.data)
        if postmaster is not None:
            refuse_other_program(session, self._host, self.server.account, postmaster)

    def auto_conf(self) -> str:
        """Returns the text of postgresql.auto.conf."""
        try:
            return self._host.read(self._file).decode("utf-8")
        except OSError as error:
            raise TargetRefused(
                "server-file-unreadable", file=self._file, host=self._host.label, why=error.strerror
            ) from None
        except UnicodeDecodeError:
            raise TargetRefused(
                "server-file-not-utf8", file=self._file, host=self._host.label
            ) from None

    def start_with(self, values: Mapping[str, str | None]) -> None:
        """Start the server where it is down, with these values in postgresql.auto.conf; None
        removes a line."""
        if self.comes_up():
            return
        now = self.auto_conf()
        wanted = auto_conf.with_values(now, values)
        if wanted != now:
            try:
                self._host.replace(self._file, wanted, user=self.server.account)
            except OSError as error:
                raise TargetRefused(
                    "server-file-not-writable",
                    file=self._file,
                    host=self._host.label,
                    why=error.strerror,
                ) from None
        self._bring_up(stopped=True)

    def comes_up(self) -> bool:
        """Whether the server is up, or comes up while this waits; False where it is down.

        TargetError where it is up and refuses this user for good.
        """
        began, attempts = time.monotonic(), Attempts(self._reached)
        while True:
            if self.is_down():
                self._wait_for_processes_left()
                # Its service may have brought it up meanwhile.
                if self.is_down():
                    return False
            if self._accepts_us(attempts):
                return True
            if time.monotonic() - began > READY_LIMIT_S:
                raise TargetRefused("server-not-ready", command=self.command)
            time.sleep(POLL_S)

    def _bring_up(self, *, stopped: bool) -> None:
        before = None if stopped else self._current_start()
        self._note_output()
        log = StartLog(self._host, self._control, self.server)
        action = self._control.start if stopped else self._control.restart
        done = action(self._host, self.server)
        began, attempts = time.monotonic(), Attempts(self._reached)
        has_run = False
        while True:
            waited_s = time.monotonic() - began
            late = waited_s > APPEAR_LIMIT_S
            if running_in(self._host, self.server.data) is None:
                if has_run or done.returncode or late:
                    self._raise_down(done, log)
            else:
                has_run = True
                if self._accepts_us(attempts):
                    if self._is_new(before):
                        break
                    if done.returncode or late:
                        raise TargetRefused(
                            "restart-failed", command=self.command, said=last_line(done)
                        )
                elif waited_s > READY_LIMIT_S:
                    raise TargetRefused(
                        "restart-without-server", seconds=READY_LIMIT_S, command=self.command
                    )
            time.sleep(POLL_S)
        self._refuse_lost_log()

    def _is_new(self, before: _Start | None) -> bool:
        """Whether the server that lets us in has started since; TargetError where it is another
        cluster."""
        now = self._current_start()
        if now is None:
            return False
        known = self._system or ("" if before is None else before.system)
        if known and now.system and now.system != known:
            raise TargetRefused(
                "restart-of-another-server", command=self.command, system=now.system, known=known
            )
        return before is None or now.at > before.at

    def _current_start(self) -> _Start | None:
        """None where the server does not answer."""
        try:
            where = resolve(self._reached) if isinstance(self._reached, str) else self._reached
            with connect(where) as session:
                row = session.execute("SELECT pg_postmaster_start_time()").fetchone()
                return None if row is None else _Start(row[0], identity(session))
        except (ConnectionRefused, psycopg.Error):
            return None

    def _accepts_us(self, attempts: Attempts) -> bool:
        try:
            return attempts.succeed()
        except ConnectionRefused as refused:
            raise TargetRefused("restart-refuses-us", why=refused) from None

    def _wait_for_processes_left(self) -> None:
        """Processes of a killed server end within moments; a start before that would fail."""
        began = time.monotonic()
        while has_processes_left(self._host, self.server):
            if time.monotonic() - began > ENDING_LIMIT_S:
                return
            time.sleep(POLL_S)

    @property
    def _file(self) -> Path:
        return self.server.data / auto_conf.NAME

    def _note_output(self) -> None:
        """Where the server that runs now writes: another user may have started it anew."""
        postmaster = running_in(self._host, self.server.data)
        if postmaster is not None:
            output = output_of(self._host, postmaster) or self.server.output
            self.server = replace(self.server, output=output)

    def _refuse_lost_log(self) -> None:
        """TargetError where the server writes its log into the output of the user's command."""
        postmaster = running_in(self._host, self.server.data)
        if not isinstance(self._control, RestartCommand) or postmaster is None:
            return
        done = self._host.run(["readlink", f"/proc/{postmaster}/fd/2"], user=self.server.account)
        if done.stdout.rstrip("\n").endswith(" (deleted)") and not self.server.collects:
            raise TargetRefused("restart-loses-the-log")

    def _raise_down(self, done: Finished, log: StartLog) -> NoReturn:
        reason, words = log.reason([done.stdout, done.stderr])
        if not reason:
            reason = last_line(done) if done.returncode else "its log does not say why"
        raise StartError(reason, words)


def put_back_stopped(service: Service, values: Mapping[str, str | None]) -> None:
    """Start a server that stayed down, with these values in its file; RestoreFailed where it still
    does not start."""
    try:
        service.start_with(values)
    except TargetError as error:
        raise RestoreRefused("server-down", why=error, command=service.command) from error
