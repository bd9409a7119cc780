"""A server that was found stopped: started for a run, and stopped when it is over.

Enters: the cluster that `target.data` names, a journal. Leaves: the server up, with the change that
says so on disk before it was made; after `put_down` it is stopped, as it was found. Never: stops a
server that somebody else has started since, or starts one that was not shut down.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target.access import Access
from pgassay.target.answering import POLL_S, is_up
from pgassay.target.by_data import (
    SHUT_DOWN,
    Cluster,
    control_of,
    look,
    pg_control,
    refuse_unstartable,
)
from pgassay.target.host import Host
from pgassay.target.located import Located, as_whom, output_of, running_in
from pgassay.target.own_lines import found_before
from pgassay.target.process_environment import STARTED_FOR
from pgassay.target.protocol import Change, Journal
from pgassay.target.seat import Seat
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service import APPEAR_LIMIT_S, Service, put_back_stopped
from pgassay.target.service_control import START_LOG, by_hand

RUN_LOG = "pgassay-run.log"
"""In the data directory: what a server says that has no logging collector, until it is stopped."""


class FoundStopped:
    """What a run does to the one server that `target.data` names, where that is stopped."""

    def __init__(self, access: Access, host: Host, journal: Journal) -> None:
        self._access, self._host = access, host
        # Of its own: it speaks of a server by what pg_control says, before there is a session.
        self._journal = RememberedJournal(journal)
        self._change: Change | None = None
        self._starting = False

    def bring_up(self, dsn: str) -> tuple[str, Access]:
        """Where SQL reaches the server, which is up then, and the access that restarts it."""
        cluster = look(dsn, self._access, self._host)
        if cluster.runs:
            return cluster.dsn, self._access
        refuse_start(cluster, self._access, self._host)
        change = _change(cluster, self._access, self._host)
        access = marked(self._access, change)
        self._journal.speaks_of(cluster.identity, Seat(data=change.started, host=change.host))
        self._change = change
        self._journal.record(change)
        self._starting = True
        try:
            service_of(change, access, self._host).start()
        except TargetError:
            self._starting = False
            raise
        self._starting = False
        if not is_ours(change, self._host):
            self._forget(change)
            raise TargetError(
                f"somebody else has started the server of {cluster.data} on {self._host.label} in"
                " this very moment; it is theirs, so run again, and it is taken as it runs"
            )
        return cluster.dsn, access

    def put_down(self, *, left: bool) -> None:
        """Stop what was started; with something `left` to undo the change stays, so that it is
        started again for that. RestoreFailed where it cannot be stopped, or is not ours any more.
        """
        change = self._change
        if change is None:
            return
        try:
            # What Ctrl-C has broken off may still bring it up.
            wait_s = APPEAR_LIMIT_S if self._starting else 0.0
            note = put_down(change, self._access, self._host, wait_s=wait_s)
        except TargetError as error:
            down = False
            with suppress(TargetError):  # it may be out of reach
                down = is_down(change, self._host)
            now = "is down, but not shut down" if down else "runs"
            by_hand = change.undo if now == "runs" else f"{change.do}, then {change.undo}"
            raise RestoreFailed(
                f"the server was found stopped and {now} ({error}); by hand: {by_hand}"
            ) from error
        self._change = None
        if not left:
            self._forget(change)
        if note:
            raise RestoreFailed(note)

    def _forget(self, change: Change) -> None:
        self._change = None
        self._journal.undone(change.id)


def refuse_start(cluster: Cluster, access: Access, host: Host) -> None:
    """TargetError where a run may not start it, or could not leave it as it was found."""
    refuse_unstartable(cluster, host)
    if not access.allow_restart:
        raise TargetError(
            f"target.data: the server of {cluster.data} on {host.label} is stopped; start it, or"
            " let the run start it and stop it again at its end: target.allow_restart = true"
        )
    if is_up(cluster.dsn):
        raise TargetError(
            f"target.data: no server runs in {cluster.data} of {host.label}, and another one"
            f" answers at {cluster.address}; stop that, or give this one another port"
        )


def marked(access: Access, change: Change) -> Access:
    """The access by which what is started is known as started for this change."""
    return replace(access, control=replace(control_of(access), started_for=change.id))


def is_ours(change: Change, host: Host) -> bool:
    """Whether the server that runs there was started for this change."""
    postmaster = running_in(host, Path(change.started))
    if postmaster is None:
        return False
    file = Path(f"/proc/{postmaster}/environ")
    try:
        words = host.read(file).split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError as error:
        # Root of a container may not look into the processes of others; their own account may.
        done = host.run(["cat", "--", file], user=_account_of(change, host))
        if done.returncode:
            # Neither ours nor somebody's: the change stays open until that can be told.
            raise TargetError(
                f"whose server runs in {change.started} of {host.label} cannot be told"
                f" ({file}: {error.strerror}); {as_whom(host)}"
            ) from None
        words = os.fsencode(done.stdout).split(b"\0")
    return f"{STARTED_FOR}={change.id}".encode() in words


def is_down(change: Change, host: Host) -> bool:
    """Whether no server runs there."""
    return running_in(host, Path(change.started)) is None


def _account_of(change: Change, host: Host) -> str:
    try:
        return host.facts(Path(change.started)).account
    except OSError as error:
        raise TargetError(
            f"{change.started} of {host.label} cannot be seen ({error.strerror})"
        ) from None


def service_of(change: Change, access: Access, host: Host) -> Service:
    """The server's service, as far as starting and stopping it takes."""
    data, account = Path(change.started), _account_of(change, host)
    log = Path(change.log) if change.log else None
    server = Located(data, account, 0, log, collects=not change.log)
    # Who may connect is asked later, and once.
    return Service(change.reached, host, control_of(access), server, logs_in=False)


def put_down(change: Change, access: Access, host: Host, *, wait_s: float = 0.0) -> str:
    """The server stopped, as it was found; a sentence where it is somebody's by now.

    `wait_s` is for a start that a killed run has asked for and that may still be on its way.
    """
    marking = marked(access, change)
    service = service_of(change, marking, host)
    data, began = Path(change.started), time.monotonic()
    while service.is_down() and time.monotonic() - began < wait_s:
        time.sleep(POLL_S)
    if service.is_down():
        _, state = pg_control(control_of(access).bin_directory, data, service.server.account, host)
        if state != SHUT_DOWN:
            # It was killed after we had started it, and is to be found shut down.
            service.start()
    notes: list[str] = []
    theirs = None if service.is_down() or is_ours(change, host) else running_in(host, data)
    if theirs is None:
        service.stop()
    else:
        notes.append(
            f"the server of {data} on {host.label} was found stopped, and somebody else has"
            f" started it since the run did: left running; stopping it would be {change.undo}"
        )
    return "; ".join([*notes, *_logs_removed(data, host, theirs)])


def _logs_removed(data: Path, host: Host, theirs: int | None) -> Iterator[str]:
    """What a run's servers have said there goes, but for a file that somebody's writes to now."""
    used = None if theirs is None else output_of(host, theirs)
    for log in (data / RUN_LOG, data / START_LOG):
        if used == log:
            yield f"{log} was the run's, and that server writes its own log to it: left there"
            continue
        try:
            host.remove(log)
        except OSError as error:
            yield f"{log} of {host.label} could not be removed ({error.strerror})"


def start_left(change: Change, others: Sequence[Change], access: Access, host: Host) -> None:
    """Up, for what a killed run has left to undo, without the lines of that run that might keep it
    down."""
    service = service_of(change, access, host)
    service.give_time()
    lying = [one for one in others if one.data]
    put_back_stopped(service, found_before(lying, service.auto_conf()))


def settle_left(change: Change, access: Access, host: Host) -> str:
    """The same for a run that was killed, perhaps while the server was just starting."""
    return put_down(change, access, host, wait_s=APPEAR_LIMIT_S)


def _change(cluster: Cluster, access: Access, host: Host) -> Change:
    control = control_of(access)
    program = control.bin_directory / "pg_ctl"
    where = f" (on {host.name})" if host.name else ""
    return Change(
        id=uuid.uuid4().hex,
        what=f"server of {cluster.data}, which was stopped",
        do=f"{program} start -D {cluster.data}{where}",
        undo=f"{program} stop -m fast -D {cluster.data}{where}",
        server=cluster.identity,
        host=host.name,
        log="" if cluster.collects else str(cluster.data / RUN_LOG),
        started=str(host.resolve(cluster.data)),
        reached=cluster.dsn,
        restarted_by=by_hand(control, host.name),
    )
