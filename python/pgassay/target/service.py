"""The service of an existing server: restarted, and brought back where it did not come up.

Enters: a located server, its host, its control. Leaves: the server up again under another
postmaster; or a StartError in the server's own words, and its settings put back without it.
Never: ends a server in any way but its own service's.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from pgassay.errors import ConnectionRefused, RestoreFailed, TargetError
from pgassay.target import auto_conf
from pgassay.target.account import last_line
from pgassay.target.answering import POLL_S, Door
from pgassay.target.host import Finished, Host
from pgassay.target.located import (
    Located,
    collected_log,
    has_remains,
    output_of,
    running_in,
)
from pgassay.target.postmaster import StartError, failure
from pgassay.target.process_bounds import bounds_of
from pgassay.target.process_environment import environment_of, keepable
from pgassay.target.protocol import Connection, ConnectionParameters
from pgassay.target.server_output import refuse_unopenable
from pgassay.target.server_program import refuse_other_program
from pgassay.target.service_control import START_LOG, Control, PgCtl, by_hand

READY_LIMIT_S = 300.0
APPEAR_LIMIT_S = 5.0
"""Some units count as started before their server has written its pid file."""
GONE_LIMIT_S = 5.0
REMAINS_LIMIT_S = 30.0
COLLECTED_LIMIT_S = 3.0
"""A logging collector writes what it was handed after its postmaster is gone."""
LOG_END = 1 << 16
"""As much of a log as is read where it is not known how long it was before."""
# What every stop makes sessions say; it tells nothing of a start.
_STOPPING = re.compile(
    r"^.*FATAL:\s+(?:terminating |the database system is (?:starting up|shutting down)).*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class _Before:
    """What is remembered from before a restart, to tell it from what comes after."""

    since_s: int
    sizes: Mapping[Path, int]


class Service:
    """One server's service on its host."""

    def __init__(
        self,
        reached: str | ConnectionParameters,
        host: Host,
        control: Control,
        server: Located,
        *,
        logs_in: bool = True,
    ) -> None:
        """`reached` is where libpq finds it; `logs_in`, whether it must let us in to be up."""
        self._reached, self._logs_in = reached, logs_in
        self._host = host
        self._control = control
        self._found_output = server.output
        self.server = server

    @property
    def host(self) -> str:
        """As ssh knows it; empty for this one."""
        return self._host.name

    @property
    def by_hand(self) -> str:
        """What a person would type to restart it."""
        return by_hand(self._control, self._host.name)

    def lies(self, reached: str) -> dict[str, Any]:
        """For a change: what it takes to bring the server up where it is down by then; `reached` is
        its address."""
        server = self.server
        kept, left_out = keepable(server.environment or {})
        takes_ours = isinstance(self._control, PgCtl)
        return {
            "host": self.host,
            "data": str(server.data),
            "log": "" if server.output is None else str(server.output),
            "reached": reached,
            "restarted_by": self.by_hand,
            "environment": kept if takes_ours else {},
            "environment_left_out": ", ".join(left_out) if takes_ours else "",
        }

    def restart(self) -> None:
        """Restart it and wait until it takes connections; StartError where it does not."""
        self._renew(stopped=False)

    def stop(self) -> None:
        """Stop it where it runs, and wait until no process of it is left."""
        if self.is_down():
            self._wait_for_remains()
            return
        self._see_running()
        done = self._control.stop(self._host, self.server)
        began = time.monotonic()
        while not self.is_down():
            # One that was going down by itself refuses to be stopped, and is gone in a moment.
            limit_s = GONE_LIMIT_S if done.returncode else READY_LIMIT_S
            if time.monotonic() - began > limit_s:
                raise TargetError(f"the server did not stop: {last_line(done)}")
            time.sleep(POLL_S)

    def start(self) -> None:
        """Start it where it is down, or will be once it has stopped; StartError where it stays."""
        if not self.comes_up():
            self._renew(stopped=True)

    def is_down(self) -> bool:
        """Whether no postmaster runs on its data directory."""
        return running_in(self._host, self.server.data) is None

    def give_time(self) -> None:
        """Wait some seconds for one that is down: a restart by somebody is a stop and a start, and
        the start must not find ours in its way."""
        began = time.monotonic()
        while self.is_down() and time.monotonic() - began < APPEAR_LIMIT_S:
            time.sleep(POLL_S)

    def refuse_other_program(self, session: Connection) -> None:
        """OthersWait where the next start would run another version than the session's server."""
        postmaster = running_in(self._host, self.server.data)
        if postmaster is not None:
            refuse_other_program(
                session, self._host, self.server.account, postmaster, self._control
            )

    def auto_conf(self) -> str:
        """postgresql.auto.conf as it is now."""
        try:
            return self._host.read(self._file).decode("utf-8")
        except OSError as error:
            raise TargetError(
                f"{self._file} of {self._host.label} cannot be read ({error.strerror})"
            ) from None
        except UnicodeDecodeError:
            raise TargetError(
                f"{self._file} of {self._host.label} is not UTF-8, so it could not be mended while "
                "the server is down; take the line out with ALTER SYSTEM RESET"
            ) from None

    def start_with(self, values: Mapping[str, str | None]) -> None:
        """`start`, with these lines in postgresql.auto.conf; None is no line."""
        if self.comes_up():
            return
        now = self.auto_conf()
        wanted = auto_conf.with_values(now, values)
        if wanted != now:
            try:
                self._host.replace(self._file, wanted, user=self.server.account)
            except OSError as error:
                raise TargetError(
                    f"{self._file} of {self._host.label} cannot be written ({error.strerror})"
                ) from None
        self._renew(stopped=True)

    def comes_up(self) -> bool:
        """Whether it is up, or has come up while we waited; not so where it is down.

        TargetError where it is up and refuses us for good.
        """
        began, door = time.monotonic(), Door(self._reached, logs_in=self._logs_in)
        while True:
            if self.is_down():
                self._wait_for_remains()
                # Its service may have brought it up meanwhile.
                if self.is_down():
                    return False
            if self._lets_in(door):
                return True
            if time.monotonic() - began > READY_LIMIT_S:
                raise TargetError(f"the server takes no connections; see its log, {self.by_hand}")
            time.sleep(POLL_S)

    def _lets_in(self, door: Door) -> bool:
        try:
            return door.opens()
        except ConnectionRefused as refused:
            raise TargetError(f"the server is up, and refuses us: {refused}") from None

    def _wait_for_remains(self) -> None:
        """What a killed server has left is gone in a moment; else the start says so itself."""
        began = time.monotonic()
        while has_remains(self._host, self.server):
            if time.monotonic() - began > REMAINS_LIMIT_S:
                return
            time.sleep(POLL_S)

    @property
    def _file(self) -> Path:
        return self.server.data / auto_conf.NAME

    def _renew(self, *, stopped: bool) -> None:
        old = self._see_running()
        if stopped:
            self.server = self._startable()
        before = self._look()
        action = self._control.start if stopped else self._control.restart
        done = action(self._host, self.server)
        began, door = time.monotonic(), Door(self._reached, logs_in=self._logs_in)
        seen = False
        while True:
            new = running_in(self._host, self.server.data)
            waited_s = time.monotonic() - began
            if new is None:
                if seen or done.returncode or waited_s > APPEAR_LIMIT_S:
                    self._raise_down(done, before)
                time.sleep(POLL_S)
                continue
            seen = True
            # Up since we looked is as good as started: a restart that was under way, as of a run
            # that was killed, came first.
            if new == old and not stopped:
                raise TargetError(f"`{self.by_hand}` did not restart the server: {last_line(done)}")
            if self._lets_in(door):
                break
            if waited_s > READY_LIMIT_S:
                raise TargetError(
                    f"the server takes no connections {READY_LIMIT_S:g} s after "
                    f"`{self.by_hand}`; see its log"
                )
            time.sleep(POLL_S)
        with suppress(OSError):
            self._host.remove(self._start_log)

    def _startable(self) -> Located:
        """One that is down and whose output pg_ctl could not open again, as somebody's restart in
        a terminal leaves it: with the log that it had when it was found."""
        if isinstance(self._control, PgCtl):
            try:
                refuse_unopenable(self._host, self.server)
            except TargetError:
                return replace(self.server, output=self._found_output)
        return self.server

    def _see_running(self) -> int | None:
        """The postmaster that runs, if one does; what it was started with, and where its output
        goes, are known from here on: somebody may have started it anew."""
        postmaster = running_in(self._host, self.server.data)
        if postmaster is not None:
            seen = environment_of(self._host, postmaster) or self.server.environment
            output = output_of(self._host, postmaster) or self.server.output
            bounds = bounds_of(self._host, postmaster) or self.server.bounds
            self.server = replace(self.server, environment=seen, output=output, bounds=bounds)
        return postmaster

    def _raise_down(self, done: Finished, before: _Before) -> NoReturn:
        around = [self._control.journal(self._host, before.since_s), done.stdout, done.stderr]
        began = time.monotonic()
        while True:
            text = "\n".join([*(self._gained(path, before) for path in self._logs()), *around])
            reason, words = failure(_STOPPING.sub("", text))
            waited_s = time.monotonic() - began
            if reason or not self.server.collects or waited_s > COLLECTED_LIMIT_S:
                break
            time.sleep(POLL_S)
        with suppress(OSError):
            self._host.remove(self._start_log)
        if not reason:
            reason = last_line(done) if done.returncode else "its log does not say why"
        raise StartError(f"the server did not start: {reason}", words)

    def _look(self) -> _Before:
        sizes = {path: self._size(path) for path in self._logs()}
        said = self._host.run(["date", "+%s"]).stdout.strip()
        return _Before(int(said) if said.isdigit() else 0, sizes)

    def _logs(self) -> list[Path]:
        """Where it may say something of a start."""
        output = [] if self.server.output is None else [self.server.output]
        collected = collected_log(self._host, self.server)
        return [*output, self._start_log, *([] if collected is None else [collected])]

    def _size(self, path: Path) -> int:
        try:
            return self._host.facts(path).size
        except OSError:
            return 0

    def _gained(self, path: Path, before: _Before) -> str:
        size = before.sizes.get(path)
        try:
            offset = max(0, self._size(path) - LOG_END) if size is None else size
            return self._host.read(path, offset).decode("utf-8", "replace")
        except OSError:
            return ""

    @property
    def _start_log(self) -> Path:
        return self.server.data / START_LOG


def put_back_stopped(service: Service, values: Mapping[str, str | None]) -> None:
    """Bring a server that does not start back to what it was; RestoreFailed where that fails."""
    try:
        service.start_with(values)
    except TargetError as error:
        raise RestoreFailed(
            f"the server is down and did not come back: {error}; mend it by hand, then "
            f"{service.by_hand}"
        ) from error
