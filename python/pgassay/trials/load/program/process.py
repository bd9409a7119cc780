"""Runs a user's program to its end.

Enters: the command line, the connection, variables of the trial. Leaves: its output in a log, or an
error for a bad exit status. Never: passes a password except in a file that only its user can read,
and never leaves the program or its children running.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pgassay.interruption import interruptions_deferred
from pgassay.notes import Note
from pgassay.refusals.refusal import Refusal, SetupRefused, TrialRefused
from pgassay.server.hosts.placement import Place, confirm_place, run_in
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.secrets.redaction import redacted

_VARIABLE = re.compile(r"\$(?:\{(PGASSAY_\w+)\}|(PGASSAY_\w+))")
_DIVERTING = (
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGOPTIONS",
    "PGTARGETSESSIONATTRS",
    "PGLOADBALANCEHOSTS",
)
"""Variables of the caller that could send the program elsewhere, or hand it a password."""
_POLL_S = 0.1
_GRACE_S = 5.0


@dataclass(frozen=True)
class Ended:
    """How a program ended, and its stdout."""

    output: str
    cpu_s: float
    placed: Mapping[str, str]
    """Where it ran, as read back; empty where no place was asked for."""


def check_program(words: Sequence[str], beside: Path, key: str, known: Sequence[str]) -> None:
    """Refuses a missing program or an unknown variable, before anything is changed."""
    program = words[0]
    path = str(beside / program) if "/" in program else program
    if shutil.which(path) is None:
        raise SetupRefused("no-such-program", key, program=program)
    for word in words:
        for match in _VARIABLE.finditer(word):
            name = match[1] or match[2]
            if name not in known:
                among = ", ".join(known)
                raise Refusal("no-such-variable", key, name=name, known=among)


def expanded(words: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """Returns the words of a command with the values of `$PGASSAY_…`; the program runs without a
    shell."""
    return [_VARIABLE.sub(lambda match: given[match[1] or match[2]], word) for word in words]


def _session_variables(connection: ConnectionParameters) -> dict[str, str]:
    """What makes the program's sessions those of the load's kind: the server reached, its TLS."""
    given = {
        **connection.libpq,
        "hostaddr": connection.hostaddr,
        "client_encoding": connection.client_encoding,
        "sslmode": connection.sslmode,
    }
    from psycopg.pq import Conninfo  # `plan`, which checks programs, needs none

    named = {
        option.keyword.decode(): option.envvar.decode()
        for option in Conninfo.get_defaults()
        if option.envvar
    }
    return {named[key]: value for key, value in given.items() if value and key in named}


@contextmanager
def environment(
    connection: ConnectionParameters, given: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Provides the program's environment; the password file is gone when this ends."""
    kept = {name: value for name, value in os.environ.items() if name not in _DIVERTING}
    kept |= {
        "PGHOST": connection.host,
        "PGPORT": str(connection.port),
        "PGUSER": connection.user,
        "PGDATABASE": connection.dbname,
        **_session_variables(connection),
        **given,
    }
    if connection.all_options:
        kept["PGOPTIONS"] = connection.all_options
    # Not in the run directory: what is killed here leaves nothing secret with the results.
    with tempfile.TemporaryDirectory(prefix="pgassay-") as folder:
        passfile = Path(folder) / "pgpass"
        descriptor = os.open(passfile, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if connection.password:
                escaped = connection.password.replace("\\", "\\\\").replace(":", "\\:")
                file.write(f"*:*:*:*:{escaped}\n")
        yield kept | {"PGPASSFILE": str(passfile)}


def run_program(
    words: Sequence[str],
    *,
    named: str,
    variables: Mapping[str, str],
    folder: Path,
    log: Path,
    limit_s: float,
    watch: Callable[[float], None],
    place: Place | None = None,
    secret: str | None = None,
) -> Ended:
    """Runs a program in `folder` to its end; TrialError where it fails or outlasts `limit_s`.

    Its output is stored without the password.
    """
    before = _children_cpu_s()
    started: list[subprocess.Popen[bytes]] = []
    # Files without a name: what is killed here leaves nothing that was not looked through.
    with (
        tempfile.TemporaryFile(dir=log.parent) as standard,
        tempfile.TemporaryFile(dir=log.parent) as errors,
    ):
        try:
            placed = _start(started, words, variables, folder, (standard, errors), named, place)
            status = _supervised(started[0], limit_s, watch, named)
            _end_group(started[0])
            started.clear()
            output = _text(standard)
            if status != 0:
                last = _last_line(_text(errors)) or _last_line(output)
                said = redacted(last, secret) if last else Note("trials/load/said-nothing")
                raise _failed(named, status, said, log)
            return Ended(output, _children_cpu_s() - before, placed)
        finally:
            for process in started:
                _end_group(process)
            _append(log, words, {"stdout": standard, "stderr": errors}, secret)


def _failed(named: str, status: int, said: str | Note, log: Path) -> TrialRefused:
    """A negative status is the number of the signal that ended the program."""
    if status > 0:
        return TrialRefused("command-failed", named, status=status, said=said, log=log)
    by = signal.Signals(-status).name
    return TrialRefused("command-killed", named, signal=by, said=said, log=log)


def _start(
    started: list[subprocess.Popen[bytes]],
    words: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    streams: tuple[IO[bytes], IO[bytes]],
    named: str,
    place: Place | None,
) -> dict[str, str]:
    """Add the process to `started`, and return where it was placed.

    The caller ends what is in the list, so a Ctrl-C at any point finds the process there.
    """
    placed: dict[str, str] = {}

    def start() -> None:
        # In a new process group: Ctrl-C reaches it through us, with its children.
        started.append(
            subprocess.Popen(
                list(words),
                stdin=subprocess.DEVNULL,
                stdout=streams[0],
                stderr=streams[1],
                cwd=folder,
                env=dict(variables),
                start_new_session=True,
                umask=0o077,
            )
        )
        # Not reaped yet, so it can be asked even where it has ended.
        placed.update(confirm_place("client", place, [started[0].pid]))

    try:
        with interruptions_deferred():
            run_in(place, start)
    except OSError as error:
        raise TrialRefused(
            "command-not-started", named, program=words[0], why=error.strerror
        ) from None
    return placed


def _supervised(
    process: subprocess.Popen[bytes], limit_s: float, watch: Callable[[float], None], named: str
) -> int:
    began = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_S)
        elapsed = time.monotonic() - began
        if elapsed > limit_s:
            raise TrialRefused("command-too-long", named, limit_s=limit_s)
        watch(elapsed)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask, then kill; children that outlive their parent are still in the group."""
    for number, patience_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        end = time.monotonic() + patience_s
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
    process.wait()


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", errors="replace")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _append(
    log: Path, words: Sequence[str], streams: Mapping[str, IO[bytes]], secret: str | None
) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "wb") as kept:
        os.fchmod(descriptor, 0o600)
        kept.write(f"$ {redacted(' '.join(words), secret)}\n".encode())
        for title, stream in streams.items():
            kept.write(f"--- {title}\n".encode())
            stream.seek(0)
            for line in stream:
                text = line.decode("utf-8", errors="surrogateescape")
                kept.write(redacted(text, secret).encode("utf-8", errors="surrogateescape"))
