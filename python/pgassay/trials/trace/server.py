"""The server that is traced: its processes, its program, the names of its lightweight locks.

Enters: a session of a server on this host. Leaves: a `TracedServer`. Never: writes into a process,
or follows a path that only the server names.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import server_row
from pgassay.server.existing.requirements import is_here
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.server_process import children_of, fields_of, postmaster_of
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.trace.elf import Executable, read_executable, shift_of

_NAMES_IN_ORDER = ("IndividualLWLockNames", "BuiltinTrancheNames")
"""Arrays of names by tranche number (lwlock.c); before version 17 the first 48 were apart."""
_OF_EXTENSIONS, _HOW_MANY = "LWLockTrancheNames", "LWLockTrancheNamesAllocated"
_LWLOCK_CLASS = 1
"""The first byte of a wait event of class LWLock (wait_event.h)."""
_GROUP_UPDATE = "(group update)"
"""The semaphore has one other use: to wait while another process ends or records this process's
transaction (ProcArrayGroupClearXid, TransactionGroupUpdateXidStatus)."""
_LONGEST_NAME = 64


@dataclass(frozen=True)
class TracedServer:
    """A running server as a tracer sees it: processes, symbols and probes."""

    version: str
    version_num: int
    postmaster: int
    """Its children are traced, and no other process."""
    program: str
    points: Collection[str] = ()
    """Static probes that its program has."""
    functions: Collection[str] = ()
    """Symbols that its program has."""
    stepped: Collection[str] = ()
    """Functions on which a probe takes many times as long as on others (elf.py)."""
    wait_event_at: int = 0
    """The address of the pointer to a process's wait event."""
    tranches: tuple[str, ...] = ()
    """Names of lightweight locks by their number; empty where they cannot be read."""

    background: tuple[int, ...] = ()
    """Process numbers of checkpointer, background writer and WAL writer, 0 for one that is not
    known."""

    def lwlock(self, key: str) -> str:
        """Returns the name of a lock, from its name or from the wait event that a process
        showed."""
        if not key.isdigit():
            return key
        kind, number = divmod(int(key), 1 << 24)
        if kind != _LWLOCK_CLASS:
            return _GROUP_UPDATE
        return self.tranches[number] if number < len(self.tranches) else f"LWLock {number}"


def is_up(postmaster: int) -> bool:
    """Whether the postmaster still runs; what was restarted is another one. A zombie has no
    program."""
    return Path(f"/proc/{postmaster}/exe").exists()


def processor_time_ns(postmaster: int) -> int:
    """Returns the processor time of a server's children so far, in nanoseconds: the living
    (/proc/PID/schedstat), and those that have ended (cutime and cstime in /proc/PID/stat). Raises
    TargetError where it is gone."""
    ran = 0
    for child in children_of(postmaster):
        with suppress(OSError):  # it has ended meanwhile
            ran += int(Path(f"/proc/{child}/schedstat").read_text().split()[0])
    try:
        fields = fields_of(postmaster)
    except OSError:
        raise TargetRefused("server-ended", postmaster=postmaster) from None
    return ran + sum(map(int, fields[13:15])) * 10**9 // os.sysconf("SC_CLK_TCK")


def traced_server(session: Connection) -> TracedServer:
    """Returns the server of a session. Raises TargetError where it does not run on this host."""
    if not is_here(session):
        raise TargetRefused("trace-elsewhere", host=session.info.host, port=session.info.port)
    row = server_row(session)
    postmaster = postmaster_of(session, row.backend, HERE)
    executable = read_executable(Path(f"/proc/{postmaster}/exe"))
    with suppress(OSError):
        shift = shift_of(executable, postmaster)
        return TracedServer(
            row.version,
            row.version_num,
            postmaster,
            str(Path(f"/proc/{postmaster}/exe").readlink()),
            executable.points,
            executable.symbols.keys(),
            executable.stepped,
            executable.symbols.get("my_wait_event_info", (0, 0))[0] + shift,
            tuple(_tranche_names(executable, postmaster, shift)),
            _background(session),
        )
    raise TargetRefused("server-may-not-be-looked-at", postmaster=postmaster)


def _background(session: Connection) -> tuple[int, ...]:
    rows = session.execute(statement("trace/background")).fetchall()
    return tuple(int(row[0]) for row in rows)


def _tranche_names(executable: Executable, process: int, shift: int) -> list[str]:
    """Read out of the postmaster, whose children have them at the same place."""
    symbols: Mapping[str, tuple[int, int]] = executable.symbols
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:

        def at(address: int, size: int) -> bytes:
            memory.seek(address)
            return memory.read(size)

        def names(address: int, count: int) -> list[str]:
            found = struct.unpack(f"<{count}Q", at(address, 8 * count))
            return [
                at(one, _LONGEST_NAME).split(b"\0")[0].decode("utf-8", "replace") if one else ""
                for one in found
            ]

        found: list[str] = []
        for array in _NAMES_IN_ORDER:
            if array in symbols:
                address, size = symbols[array]
                found += names(address + shift, size // 8)
        if found and _OF_EXTENSIONS in symbols and _HOW_MANY in symbols:
            (count,) = struct.unpack("<I", at(symbols[_HOW_MANY][0] + shift, 4))
            (array_at,) = struct.unpack("<Q", at(symbols[_OF_EXTENSIONS][0] + shift, 8))
            if array_at and count < 1024:
                found += names(array_at, count)
        return found
