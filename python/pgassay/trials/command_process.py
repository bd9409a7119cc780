"""A program of the user's, run to its end.

Enters: its words, where it connects, what it is told of the trial. Leaves: its exit status judged,
its output in a log. Never: shows it a password except by a file only its user can read, and never
leaves it or its children running.
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

from psycopg.pq import Conninfo

from pgassay.errors import SetupError, SpecError, TrialError
from pgassay.target.placement import Place, confirm_place, run_in
from pgassay.target.protocol import ConnectionParameters

_VARIABLE = re.compile(r"\$(?:\{(PGASSAY_\w+)\}|(PGASSAY_\w+))")
_DIVERTING = (
    "PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGPASSFILE",
    "PGSERVICE", "PGSERVICEFILE", "PGOPTIONS", "PGTARGETSESSIONATTRS", "PGLOADBALANCEHOSTS",
)  # fmt: skip
"""What in the caller's environment could send the program elsewhere, or tell it a password."""
_POLL_S = 0.1
_GRACE_S = 5.0


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it said on stdout."""

    output: str
    cpu_s: float
    placed: Mapping[str, str]
    """Where it ran, as read back; empty where no place was asked for."""


def check_program(words: Sequence[str], beside: Path, key: str, known: Sequence[str]) -> None:
    """Refuse, before anything is touched, a program that is not there or an unknown variable."""
    program = words[0]
    path = str(beside / program) if "/" in program else program
    if shutil.which(path) is None:
        raise SetupError(f"{key}: there is no program {program!r} here; install it or fix its path")
    for word in words:
        for match in _VARIABLE.finditer(word):
            name = match[1] or match[2]
            if name not in known:
                raise SpecError(f"${name} is not told; known are {', '.join(known)}", key=key)


def expanded(words: Sequence[str], told: Mapping[str, str]) -> list[str]:
    """The words with `$PGASSAY_…` put in; there is no shell that would do it."""
    return [_VARIABLE.sub(lambda match: told[match[1] or match[2]], word) for word in words]


def _session_variables(connection: ConnectionParameters) -> dict[str, str]:
    """What makes the program's sessions those of the load's kind: the server reached, its TLS."""
    given = {
        **connection.libpq,
        "hostaddr": connection.hostaddr,
        "sslmode": connection.sslmode,
    }
    named = {
        option.keyword.decode(): option.envvar.decode()
        for option in Conninfo.get_defaults()
        if option.envvar
    }
    return {named[key]: value for key, value in given.items() if value and key in named}


@contextmanager
def environment(
    connection: ConnectionParameters, told: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """The program's environment; the password file is gone when this ends."""
    kept = {name: value for name, value in os.environ.items() if name not in _DIVERTING}
    kept |= {
        "PGHOST": connection.host,
        "PGPORT": str(connection.port),
        "PGUSER": connection.user,
        "PGDATABASE": connection.dbname,
        **_session_variables(connection),
        **told,
    }
    if connection.options:
        kept["PGOPTIONS"] = connection.options
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
) -> Ended:
    """Run it in `folder` to its end; TrialError where it fails or outlasts `limit_s`."""
    standard = log.with_name(f".{log.name}.out")
    errors = log.with_name(f".{log.name}.err")
    before = _children_cpu_s()
    try:
        with standard.open("wb") as out, errors.open("wb") as err:
            process, placed = _started(words, variables, folder, (out, err), named, place)
            status = _supervised(process, limit_s, watch, named)
        output = standard.read_text("utf-8", errors="replace")
        if status != 0:
            how = f"exit status {status}" if status > 0 else signal.Signals(-status).name
            last = _last_line(errors) or _last_line(standard) or "it said nothing"
            raise TrialError(f"{named}: {how}: {last}; all of its output is in {log}")
        return Ended(output, _children_cpu_s() - before, placed)
    finally:
        _append(log, words, standard, errors)


def _started(
    words: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    streams: tuple[IO[bytes], IO[bytes]],
    named: str,
    place: Place | None,
) -> tuple[subprocess.Popen[bytes], dict[str, str]]:
    started: list[subprocess.Popen[bytes]] = []
    placed: dict[str, str] = {}

    def start() -> None:
        # A group of its own: a terminal's Ctrl-C reaches it through us, with its children.
        process = subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=streams[0],
            stderr=streams[1],
            cwd=folder,
            env=dict(variables),
            start_new_session=True,
        )
        started.append(process)
        # Not reaped yet, so it can be asked even where it has ended.
        placed.update(confirm_place("client", place, [process.pid]))

    try:
        run_in(place, start)
    except OSError as error:
        raise TrialError(f"{named}: {words[0]} cannot be started: {error.strerror}") from None
    except BaseException:
        for process in started:
            _end_group(process)
        raise
    return started[0], placed


def _supervised(
    process: subprocess.Popen[bytes],
    limit_s: float,
    watch: Callable[[float], None],
    named: str,
) -> int:
    began = time.monotonic()
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_POLL_S)
            elapsed = time.monotonic() - began
            if elapsed > limit_s:
                raise TrialError(
                    f"{named}: did not end within load.time_limit ({limit_s:g} s) and was stopped"
                )
            watch(elapsed)
    finally:
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask, then kill; children that outlive their parent are of the group still."""
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


def _last_line(path: Path) -> str:
    lines = path.read_text("utf-8", errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _append(log: Path, words: Sequence[str], standard: Path, errors: Path) -> None:
    with log.open("ab") as kept:
        kept.write(f"$ {' '.join(words)}\n".encode())
        for title, part in (("stdout", standard), ("stderr", errors)):
            if part.exists():
                kept.write(f"--- {title}\n".encode())
                with part.open("rb") as source:
                    shutil.copyfileobj(source, kept)
                part.unlink()
